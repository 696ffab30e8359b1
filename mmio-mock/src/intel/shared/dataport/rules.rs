//! What the data port refuses, and the bits of its error word that say so.
//!
//! PRM: volume 4, 3.4.7.1 (error word), 5.10. Not modelled: bit 10 (no chapter says which access
//! crosses the stateless boundary) and bit 2 (the data port gets no message with another function's ID). Bit 3
//! is the message router's.

use eu::Message;

use crate::UnitFault;
use crate::intel::shared::error::{Rule, refuse};

/// No header register.
pub const HEADER: Rule = Rule::new("data port message without a header (PRM 5.10.1.2)", 1 << 0);
/// End of thread on anything but a render target write.
pub const EOT: Rule = Rule::new(
    "end of thread at the data port without a render target write (PRM 5.10.1)",
    1 << 1,
);
/// Target cache 11, or the data cache for a media block.
pub const CACHE: Rule = Rule::new(
    "target cache that the message cannot use (PRM 5.10.1.1, 5.10.4)",
    1 << 4,
);
/// Buffer messages take buffers, media blocks 2D surfaces, render targets frames.
pub const SURFACE: Rule = Rule::new(
    "surface type that the message cannot use (PRM 5.10.2 to 5.10.6)",
    1 << 5,
);
/// A tiled buffer.
pub const TILED: Rule = Rule::new("buffer message on a tiled surface (PRM 5.10.2)", 1 << 5);
/// Block size, or the height of a media block.
pub const BLOCK_SIZE: Rule = Rule::new(
    "block size that the message does not have (PRM 5.10.2 to 5.10.5)",
    1 << 6,
);
/// Base address, or place and width of a media block.
pub const ALIGNMENT: Rule = Rule::new(
    "misaligned base address or media block (PRM 5.10.2 to 5.10.5)",
    1 << 7,
);
/// Registers that do not fit the descriptor.
pub const LENGTH: Rule = Rule::new(
    "message length does not fit the descriptor (PRM 5.10)",
    1 << 8,
);
/// Index 255 where there is no stateless form, or the part does not allow it.
pub const STATELESS: Rule = Rule::new(
    "message without a stateless form at index 255 (PRM 5.10.4, 5.10.6)",
    1 << 9,
);
/// A dual source message on a device that has none, or not for these slots.
pub const DUAL_SOURCE: Rule = Rule::new(
    "dual source message that the device does not have (PRM 5.10.6.2)",
    0,
);
/// Colours are blended in a format that can only be written.
pub const BLEND_FORMAT: Rule = Rule::new("blending in a format without it (PRM 5.10.6)", 1 << 12);
/// Registers expected that the function does not send, or the other way round.
pub const RESPONSE: Rule = Rule::new(
    "response length does not fit the descriptor (PRM 5.10.1.3)",
    1 << 13,
);
/// A render target of a format that is none.
pub const FORMAT: Rule = Rule::new(
    "format that no render target has (PRM 4.7.2.1.1, 5.10.6)",
    1 << 12,
);

/// Typed reads take R32, R8_UINT and R16_UINT, typed atomic operations the integers of R32.
pub const TEXEL: Rule = Rule::new(
    "surface format that a typed message cannot use (PRM 5.10)",
    1 << 12,
);

/// Refuses a message that breaks `rule` unless `kept`.
#[inline]
pub fn ask(kept: bool, msg: &Message<'_>, rule: impl Into<Rule>) -> Result<(), UnitFault> {
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
pub fn commit(commit: bool) -> usize {
    usize::from(commit)
}
