//! Message errors: what a shared function latches when it refuses a message.
//!
//! PRM: volume 4, 2.6.11 and 3.7.1.1. The first error since the last clear stays; the registers
//! that show it and the interrupt belong to the status unit.

use eu::{Grf, Message, ThreadId};
use regs::any::{DpErrorHeader, MathErrorHeader, SamplerErrorHeader, UrbErrorHeader};

use super::context::sfid;
use crate::intel::debug::{ErrorWords, SharedUnit};

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
    /// What the unit's error word says of it: flags or a number, as the unit has it.
    pub code: u32,
}

impl MessageError {
    /// Records what `msg` was.
    #[must_use]
    pub fn new(msg: &Message<'_>, what: &'static str, code: u32) -> Self {
        MessageError {
            sfid: msg.sfid,
            what,
            thread: msg.thread,
            desc: msg.desc,
            message_length: msg.payload.len() as u8,
            response_length: msg.response_length,
            header: msg.payload.first().copied().unwrap_or_default(),
            ip: msg.ip,
            code,
        }
    }
}

impl MessageError {
    /// The unit's error register and what it shows: sender and lengths, and dwords 6 and 7 of the
    /// header (PRM 3.4.2, 3.4.6, 3.4.7, 3.4.9). `None` for functions without such a register.
    #[must_use]
    pub fn words(&self) -> Option<(SharedUnit, ErrorWords)> {
        let (ffid, tid) = (u32::from(self.thread.ffid), u32::from(self.thread.slot));
        let euid = u32::from(self.thread.eu);
        let (unit, header) = match self.sfid {
            sfid::MATH => {
                let header = MathErrorHeader::default()
                    .with_bad_length(self.code & 1 != 0)
                    .with_invalid_opcode(self.code & 2 != 0)
                    .with_eot_detected(self.code & 4 != 0)
                    .with_error_bit_detected(self.code & 8 != 0)
                    .with_opcode(self.desc & 0xf)
                    .with_message_length(u32::from(self.message_length))
                    .with_response_length(u32::from(self.response_length))
                    .with_euid(euid)
                    .with_tid(tid)
                    .with_ffid(ffid);
                // Each row of four EUs has its own math unit (PRM 2.2).
                (SharedUnit::Math(euid / 4), header.0[0])
            }
            sfid::SAMPLER => {
                let header = SamplerErrorHeader::default().with_error_code(self.code);
                let header = header.with_euid(euid).with_tid(tid).with_ffid(ffid);
                (SharedUnit::Sampler, header.0[0])
            }
            sfid::DATAPORT_READ | sfid::DATAPORT_WRITE => {
                // Fourteen bits, which leave the sender's fields alone.
                let header = DpErrorHeader::from_dwords(&[self.code & 0x3fff]);
                let header = header.with_euid(euid).with_tid(tid).with_ffid(ffid);
                (SharedUnit::DataPort, header.0[0])
            }
            // The URB decodes numbers that no function has (PRM 3.7.1.1).
            sfid::URB | 8.. => {
                let header = UrbErrorHeader::default().with_error_code(self.code);
                let header = header.with_euid(euid).with_tid(tid).with_ffid(ffid);
                (SharedUnit::Urb, header.0[0])
            }
            _ => return None,
        };
        let [.., dword6, dword7] = self.header;
        Some((
            unit,
            ErrorWords {
                header,
                dword6,
                dword7,
            },
        ))
    }
}

/// A rule for messages, and what the error word of the shared function says when it is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The rule in words.
    pub what: &'static str,
    /// Flags or a number, as the function has it; 0 when the error word says nothing.
    pub error: u32,
}

impl Rule {
    /// A rule that the error word knows.
    pub const fn new(what: &'static str, error: u32) -> Self {
        Rule { what, error }
    }
}

impl From<&'static str> for Rule {
    /// A rule that no error word knows.
    fn from(what: &'static str) -> Self {
        Rule { what, error: 0 }
    }
}

/// The refusal of `unit` as a fault that the router turns into a [`MessageError`].
pub fn refuse(unit: &'static str, msg: &Message<'_>, rule: impl Into<Rule>) -> crate::UnitFault {
    let Rule { what, error } = rule.into();
    crate::UnitFault::Message {
        unit,
        desc: msg.desc,
        what,
        error,
    }
}
