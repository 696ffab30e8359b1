//! Why a request is ended, and how the log says it.
//!
//! i915 `intel_engine_heartbeat.c`, `kill_context`.
use alloc::format;
use alloc::string::String;

use kernel::time::Delta;

use crate::core::fence::Fence;

/// Why a request is ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// The engine stands still, or goes round in a loop.
    Hangs,
    /// Its file is closed, and the work of its process's closed files has gone on for so long since then.
    Closed(Delta),
    /// It has kept the engine for so long while others waited.
    Request(Delta),
    /// Its program has, with one request after another.
    Row(Delta),
    /// The processes of its family have.
    Family(Delta),
}

impl Why {
    /// What the log and the error state say of the request that a fence is of.
    pub(crate) fn reason(self, fence: &Fence) -> String {
        let (seqno, client) = (fence.seqno(), fence.timeline_name());
        match self {
            Why::Hangs => format!("GPU hang: request {seqno} of {client} stands still"),
            Why::Closed(grace) => format!(
                "request {seqno} of {client} is ended: the program has closed the device, \
                and its work has gone on for {grace} since then"
            ),
            Why::Request(limit) => format!(
                "request {seqno} of {client} is ended: it has kept the device for {limit} \
                while other programs waited"
            ),
            Why::Row(limit) => format!(
                "request {seqno} of {client} is ended: the program has kept the device for {limit} \
                with one request after another while others waited"
            ),
            Why::Family(limit) => format!(
                "request {seqno} of {client} is ended: the program and those that belong to it have \
                kept the device for {limit} while others waited"
            ),
        }
    }
}
