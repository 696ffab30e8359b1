//! Message errors: what a shared function latches when it refuses a message.
//!
//! PRM: volume 4, 2.6.11 and 3.7.1.1. The first error since the last clear stays; the registers
//! that show it and the interrupt belong to the status unit.

use eu::{Grf, Message, ThreadId};

/// A refused message as it is kept for the error registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageError {
    /// Target of the message.
    pub sfid: u8,
    /// The rule that the message breaks.
    pub what: &'static str,
    /// Sender.
    pub thread: ThreadId,
    /// The descriptor dword.
    pub desc: u32,
    /// Registers sent.
    pub message_length: u8,
    /// Registers expected back.
    pub response_length: u8,
    /// First payload register (the r0 phase of most messages).
    pub header: Grf,
    /// Address of the `send`.
    pub ip: u32,
}

impl MessageError {
    /// Records what `msg` was.
    #[must_use]
    pub fn new(msg: &Message<'_>, what: &'static str) -> Self {
        MessageError {
            sfid: msg.sfid,
            what,
            thread: msg.thread,
            desc: msg.desc,
            message_length: msg.payload.len() as u8,
            response_length: msg.response_length,
            header: msg.payload.first().copied().unwrap_or_default(),
            ip: msg.ip,
        }
    }
}

/// The refusal of `unit` as a fault that the router turns into a [`MessageError`].
pub fn refuse(unit: &'static str, msg: &Message<'_>, what: &'static str) -> crate::UnitFault {
    crate::UnitFault::Message {
        unit,
        desc: msg.desc,
        what,
    }
}
