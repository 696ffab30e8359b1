//! What the data port refuses, and the bits of its error word that say so.
//!
//! PRM: volume 4, 3.4.7.1 (error word), 5.10. Not modelled: bit 10 (no chapter says which access
//! crosses the stateless boundary) and bit 2 (the data port gets no message with another function's ID). Bit 3
//! is the message router's.

use eu::Message;

use crate::UnitFault;
use crate::shared::error::refuse;

/// No header register.
pub const HEADER: &str = "data port message without a header (PRM 5.10.1.2)";
/// End of thread on anything but a render target write.
pub const EOT: &str = "end of thread at the data port without a render target write (PRM 5.10.1)";
/// Target cache 11, or the data cache for a media block.
pub const CACHE: &str = "target cache that the message cannot use (PRM 5.10.1.1, 5.10.4)";
/// Buffer messages take buffers, media blocks 2D surfaces, render targets frames.
pub const SURFACE: &str = "surface type that the message cannot use (PRM 5.10.2 to 5.10.6)";
/// A tiled buffer.
pub const TILED: &str = "buffer message on a tiled surface (PRM 5.10.2)";
/// Block size, or the height of a media block.
pub const BLOCK_SIZE: &str = "block size that the message does not have (PRM 5.10.2 to 5.10.5)";
/// Base address, or place and width of a media block.
pub const ALIGNMENT: &str = "misaligned base address or media block (PRM 5.10.2 to 5.10.5)";
/// Registers that do not fit the descriptor.
pub const LENGTH: &str = "message length does not fit the descriptor (PRM 5.10)";
/// Index 255 where there is no stateless form, or the part does not allow it.
pub const STATELESS: &str = "message without a stateless form at index 255 (PRM 5.10.4, 5.10.6)";
/// A dual source message on a device that has none, or not for these slots.
pub const DUAL_SOURCE: &str = "dual source message that the device does not have (PRM 5.10.6.2)";
/// Colours are blended in a format that can only be written.
pub const BLEND_FORMAT: &str = "blending in a format without it (PRM 5.10.6)";
/// Registers expected that the function does not send, or the other way round.
pub const RESPONSE: &str = "response length does not fit the descriptor (PRM 5.10.1.3)";
/// A render target of a format that is none.
pub const FORMAT: &str = "format that no render target has (PRM 4.7.2.1.1, 5.10.6)";

/// Bits of the error word by rule (PRM 3.4.7.1).
const BITS: [(&str, u32); 12] = [
    (HEADER, 0),
    (EOT, 1),
    (CACHE, 4),
    (SURFACE, 5),
    (TILED, 5),
    (BLOCK_SIZE, 6),
    (ALIGNMENT, 7),
    (LENGTH, 8),
    (STATELESS, 9),
    (BLEND_FORMAT, 12),
    (FORMAT, 12),
    (RESPONSE, 13),
];

/// The error word's bits for a broken rule; 0 when the manual has none for it.
#[must_use]
pub fn error_bits(what: &str) -> u32 {
    let known = BITS.iter().find(|(rule, _)| *rule == what);
    known.map_or(0, |(_, bit)| 1 << bit)
}

/// Refuses a message that breaks `rule` unless `kept`.
#[inline]
pub fn ask(kept: bool, msg: &Message<'_>, rule: &'static str) -> Result<(), UnitFault> {
    if kept {
        Ok(())
    } else {
        Err(refuse("DP", msg, rule))
    }
}

/// Lengths of message and response, in registers.
#[inline]
pub fn lengths(msg: &Message<'_>, message: usize, response: usize) -> Result<(), UnitFault> {
    ask(msg.payload.len() == message, msg, LENGTH)?;
    ask(usize::from(msg.response_length) == response, msg, RESPONSE)
}

/// Registers that a write answers with: one when it asks for a commit (PRM 5.10.1.3).
#[inline]
pub fn commit(msg: &Message<'_>) -> usize {
    usize::from(msg.function_control >> 15)
}
