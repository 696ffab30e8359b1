//! Messages of kernels that run over registers alone.

use crate::decoded::{Decoded, SendOp};
use crate::graph::{Chooser, Group};
use crate::grf::RegFile;
use crate::port::{Delivery, FloatMode, Port, Stop, ThreadId};
use crate::send::{self, HALVES, Part, Sender, Target};
use crate::straight::Broken;
use crate::thread::Flags;
use isa::Opcode;

/// A message.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) op: SendOp,
    pub(crate) to: Target,
    pub(crate) part: Part,
    ip: u32,
    /// Channels that are masked off count as well.
    unmasked: bool,
    chooser: Chooser,
    shift: u8,
    lanes: u16,
}

/// The messages of an instruction, one or two; `None` for any other instruction, and for one that depends on more than
/// registers and flags.
pub(crate) fn sent(hot: &Decoded, ip: u32) -> Option<Vec<Sent>> {
    let message = matches!(hot.op, Opcode::Send | Opcode::Sendc) && !hot.empty && !hot.rare;
    if !message || hot.shift >= 16 || hot.no_mask && hot.no_cmask {
        return None;
    }
    let chooser = Chooser::of(hot)?;
    let to = send::target(&hot.send, hot.send.desc?);
    let parts = if send::in_halves(&hot.send, to) {
        HALVES.to_vec()
    } else {
        vec![send::whole(hot)]
    };
    let sent = |part| Sent {
        op: hot.send,
        to,
        part,
        ip,
        unmasked: hot.no_mask,
        chooser,
        shift: hot.shift,
        lanes: hot.lanes,
    };
    Some(parts.into_iter().map(sent).collect())
}

impl Sent {
    /// Whether it is for the same channels whatever the flags are.
    pub(crate) fn is_plain(&self) -> bool {
        self.chooser.group == Group::All
    }

    /// Hands it to the port, for a thread of which these channels execute.
    // Two callers, one of which has threads of few instructions: the call shows.
    #[inline(always)]
    pub(crate) fn deliver<P: Port>(
        &self,
        file: &mut RegFile,
        (enabled, flags): (u32, Flags),
        thread: ThreadId,
        port: &mut P,
    ) -> Result<(), Broken<P::Fault>> {
        let enabled = if self.unmasked {
            0xffff >> (self.shift & 15)
        } else {
            // CAST: a message has sixteen channels.
            (enabled >> self.shift) as u16
        };
        let chosen = self.chooser.channels(flags) >> (self.shift & 15);
        let sender = Sender {
            thread,
            float_mode: FloatMode::Ieee,
            ip: self.ip,
            channels: enabled & self.lanes & chosen,
        };
        match send::deliver(file, &self.op, &sender, port, (self.to, self.part)) {
            Ok((Delivery::Done, _)) => Ok(()),
            Err(Stop::Fault(fault)) => Err(Broken::Fault(fault)),
            Ok(_) | Err(_) => Err(Broken::Other),
        }
    }
}
