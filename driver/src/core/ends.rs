//! Requests that are ended: the reasons, and what follows for their programs.
//!
//! i915 `intel_engine_heartbeat.c`, `kill_context`, `mark_guilty`. Not modelled: preemption.
use alloc::format;
use alloc::string::String;

use kernel::time::{Delta, Ktime};

use crate::core::device::UserState;
use crate::core::fence::Fence;
use crate::core::program::{Program, has_program};
use crate::core::share::Share;
use crate::core::timeline::{Pending, Timeline, Work};

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

/// What the end of a request means for the program that has submitted it, just before the reset; whether the program's
/// process is banned by it.
pub(crate) fn settle<W: Work>(
    share: &Share,
    (user, timeline): (&UserState, &Timeline<W>),
    ended: &Pending<W>,
    (why, now): (Why, Ktime),
) -> bool {
    let Some(program) = ended.work.program() else {
        return false;
    };
    let account = program.account();
    let unfair = |limit| {
        user.ledger.note(&account, now);
        account.mark_unfair(now, limit)
    };
    match why {
        // It is found out late when the model is slow, or goes round for ever.
        Why::Hangs => match share.kept_from_others(ended.seqno) {
            Some(limit) => unfair(limit),
            None => false,
        },
        Why::Closed(_) => {
            // Each further file would have its time otherwise.
            let left =
                |other: &Program| other.client().is_closed() && other.is_of_process(&program);
            timeline.cancel(left);
            if has_program(user, timeline, |other| other.is_other_than(&program)) {
                user.ledger.note(&account, now);
            }
            false
        }
        Why::Row(limit) => {
            // What it has queued behind would be the next row.
            timeline.cancel(|other| other.is_of_process(&program));
            unfair(limit)
        }
        Why::Request(limit) | Why::Family(limit) => unfair(limit),
    }
}
