//! Descriptors of the data port: four caches, each with messages of its own.
//!
//! Mesa 22.3.6 brw_eu_defines.h (`GFX7_DATAPORT_*`), brw_eu.h (`brw_dp_desc`, `brw_dp_surface_desc` and its neighbours), brw_inst.h
//! (`scratch_*`). Binding table index in 7:0, control in 13:8, type in 17:14, category in 18. Offsets count elements. Not modelled: transpose
//! reads, and atomic operation 0, which compares two dwords at once.

use crate::intel::r#gen::gen40::message as gen40;
use crate::intel::r#gen::gen50::message::HEADER;
use crate::intel::shared::context::sfid;
use crate::intel::shared::dataport::access::{self, Access, AccessKind, AtomicOp, Lanes};
use crate::intel::shared::dataport::request::{
    Cache, Form, PixelWrite, ReadKind, ReadRequest, WriteKind, WriteRequest,
};
use crate::intel::shared::dataport::rules;
use crate::intel::shared::message::Request;

/// Types of messages that read: sampler cache, constant cache, data cache.
mod read {
    pub const OWORD_BLOCK: u32 = 0;
    pub const UNALIGNED_OWORD_BLOCK: u32 = 1;
    pub const OWORD_DUAL_BLOCK: u32 = 2;
    pub const DWORD_SCATTERED: u32 = 3;
    /// Of the sampler cache.
    pub const MEDIA_BLOCK: u32 = 4;
}

/// Types of the data cache alone.
mod data {
    pub const BYTE_SCATTERED_READ: u32 = 4;
    pub const UNTYPED_READ: u32 = 5;
    pub const UNTYPED_ATOMIC: u32 = 6;
    pub const FENCE: u32 = 7;
    pub const OWORD_BLOCK_WRITE: u32 = 8;
    pub const OWORD_DUAL_BLOCK_WRITE: u32 = 10;
    pub const DWORD_SCATTERED_WRITE: u32 = 11;
    pub const BYTE_SCATTERED_WRITE: u32 = 12;
    pub const UNTYPED_WRITE: u32 = 13;
}

/// Types of the render cache.
mod render {
    pub const MEDIA_BLOCK_READ: u32 = 4;
    pub const TYPED_READ: u32 = 5;
    pub const TYPED_ATOMIC: u32 = 6;
    pub const FENCE: u32 = 7;
    pub const MEDIA_BLOCK_WRITE: u32 = 10;
    pub const RENDER_TARGET_WRITE: u32 = 12;
    pub const TYPED_WRITE: u32 = 13;
}

const fn bit(desc: u32, at: u32) -> bool {
    desc >> at & 1 == 1
}

const fn kind(desc: u32) -> u32 {
    desc >> 14 & 0xf
}

/// Red, green, blue and alpha of a message, whose bits are set where a part is left out.
const fn parts(desc: u32) -> u8 {
    // CAST: four bits.
    (!(desc >> 8) & 0xf) as u8
}

/// A request of the data port: sampler cache, render cache, constant cache or data cache; the error names a message that the model
/// does not have.
pub fn request(function: u8, desc: u32) -> Result<Request, &'static str> {
    match function {
        sfid::DATAPORT_READ => Ok(block_read(desc, Cache::Sampler)),
        sfid::CONSTANT_CACHE => Ok(block_read(desc, Cache::Data)),
        sfid::DATAPORT_WRITE => render(desc),
        sfid::DATA_CACHE => data(desc),
        _ => Ok(Request::Unknown),
    }
}

/// Block and scattered reads, which all caches but the render cache have.
fn block_read(desc: u32, cache: Cache) -> Request {
    let control = desc as u16;
    let kind = match kind(desc) {
        read::OWORD_BLOCK => ReadKind::Block(gen40::block(control)),
        read::UNALIGNED_OWORD_BLOCK => {
            return access(desc, AccessKind::Unaligned(gen40::block(control)));
        }
        read::OWORD_DUAL_BLOCK => ReadKind::DualBlock(gen40::dual_block(control)),
        read::DWORD_SCATTERED if desc & HEADER == 0 => {
            return dwords(desc, false).unwrap_or_else(|| reads(desc, cache, ReadKind::Reserved));
        }
        read::DWORD_SCATTERED => ReadKind::Scattered(gen40::scattered(control)),
        read::MEDIA_BLOCK if cache == Cache::Sampler => ReadKind::Media(gen40::lines(control)),
        _ => ReadKind::Reserved,
    };
    reads(desc, cache, kind)
}

fn reads(desc: u32, cache: Cache, kind: ReadKind) -> Request {
    let surface = desc as u8;
    if let Some(broken) = broken(desc, surface) {
        return broken;
    }
    Request::Read(ReadRequest {
        surface,
        cache,
        elements: true,
        kind,
    })
}

fn writes(desc: u32, kind: WriteKind) -> Request {
    let surface = desc as u8;
    if let Some(broken) = broken(desc, surface) {
        return broken;
    }
    Request::Write(WriteRequest {
        surface,
        commit: false,
        elements: true,
        kind,
    })
}

/// Block messages need a header, and local memory is for messages by channel alone.
const fn broken(desc: u32, surface: u8) -> Option<Request> {
    if desc & HEADER == 0 {
        return Some(Request::Broken("DP", rules::HEADER));
    }
    if surface == access::LOCAL {
        return Some(Request::Broken("DP", rules::SURFACE));
    }
    None
}

/// A message by channel. Those of typed surfaces and scratch space need a header, which the data port looks for.
fn access(desc: u32, kind: AccessKind) -> Request {
    let header = desc & HEADER != 0;
    let needs = match kind {
        AccessKind::Unaligned(_) => {
            return broken(desc, desc as u8).unwrap_or_else(|| made(desc, kind));
        }
        AccessKind::Scratch { .. } | AccessKind::Fence { .. } => true,
        _ => false,
    };
    if needs && !header {
        return Request::Broken("DP", rules::HEADER);
    }
    made(desc, kind)
}

const fn made(desc: u32, kind: AccessKind) -> Request {
    Request::Access(Access {
        surface: desc as u8,
        header: desc & HEADER != 0,
        kind,
    })
}

/// Number of an atomic operation in 11:8; 0 is one that the model does not have.
fn atomic(desc: u32) -> Result<Option<AtomicOp>, &'static str> {
    match desc >> 8 & 0xf {
        0 => Err("atomic operation 0, which compares two dwords"),
        number => Ok(AtomicOp::of(number)),
    }
}

/// Channels of an untyped read or write, in 13:12.
const fn lanes(desc: u32) -> Option<Lanes> {
    match desc >> 12 & 3 {
        0 => Some(Lanes::Simd4x2),
        1 => Some(Lanes::Simd16),
        2 => Some(Lanes::Simd8),
        _ => None,
    }
}

/// Byte scattered: sixteen channels in 8, the size in 11:10.
const fn bytes(desc: u32, write: bool) -> AccessKind {
    AccessKind::Bytes {
        write,
        lanes: if bit(desc, 8) {
            Lanes::Simd16
        } else {
            Lanes::Simd8
        },
        size: match desc >> 10 & 3 {
            0 => Some(1),
            1 => Some(2),
            2 => Some(4),
            _ => None,
        },
    }
}

/// DWord scattered without a header, for channels as many as in the form with one; `None` for a reserved number of them.
fn dwords(desc: u32, write: bool) -> Option<Request> {
    // CAST: the control bits.
    let lanes = match gen40::scattered(desc as u16)? {
        1 => Lanes::Simd8,
        _ => Lanes::Simd16,
    };
    Some(access(desc, AccessKind::Dwords { write, lanes }))
}

/// Scratch block: write in 17, channels by the dword in 16, registers less one in 13:12, offset in 11:0. Bit 15 lets the cache forget what
/// was read.
const fn scratch(desc: u32) -> AccessKind {
    AccessKind::Scratch {
        write: bit(desc, 17),
        registers: match desc >> 12 & 3 {
            0 => Some(1),
            1 => Some(2),
            3 => Some(4),
            _ => None,
        },
        // CAST: twelve bits.
        offset: (desc & 0xfff) as u16,
        dwords: bit(desc, 16),
    }
}

/// Data cache.
fn data(desc: u32) -> Result<Request, &'static str> {
    if bit(desc, 18) {
        // The stateless model alone; the index of the surface is part of the offset.
        return Ok(match access(desc, scratch(desc)) {
            Request::Access(access) => Request::Access(Access {
                surface: u8::MAX,
                ..access
            }),
            broken => broken,
        });
    }
    let control = desc as u16;
    let kind = match kind(desc) {
        data::BYTE_SCATTERED_READ => bytes(desc, false),
        data::BYTE_SCATTERED_WRITE => bytes(desc, true),
        data::UNTYPED_READ => AccessKind::Read {
            lanes: lanes(desc),
            parts: parts(desc),
        },
        data::UNTYPED_WRITE => AccessKind::Write {
            lanes: lanes(desc),
            parts: parts(desc),
        },
        data::UNTYPED_ATOMIC => AccessKind::Atomic {
            lanes: Some(if bit(desc, 12) {
                Lanes::Simd8
            } else {
                Lanes::Simd16
            }),
            op: atomic(desc)?,
            answer: bit(desc, 13),
        },
        data::FENCE => AccessKind::Fence {
            answer: bit(desc, 13),
        },
        data::OWORD_BLOCK_WRITE => {
            return Ok(writes(desc, WriteKind::Block(gen40::block(control))));
        }
        data::OWORD_DUAL_BLOCK_WRITE => {
            let kind = WriteKind::DualBlock(gen40::dual_block(control));
            return Ok(writes(desc, kind));
        }
        data::DWORD_SCATTERED_WRITE if desc & HEADER == 0 => {
            let kind = WriteKind::Reserved;
            return Ok(dwords(desc, true).unwrap_or_else(|| writes(desc, kind)));
        }
        data::DWORD_SCATTERED_WRITE => {
            let kind = WriteKind::Scattered(gen40::scattered(control));
            return Ok(writes(desc, kind));
        }
        _ => return Ok(block_read(desc, Cache::Data)),
    };
    Ok(access(desc, kind))
}

/// Render cache.
fn render(desc: u32) -> Result<Request, &'static str> {
    let control = desc as u16;
    let header = desc & HEADER != 0;
    let kind = match kind(desc) {
        render::RENDER_TARGET_WRITE => {
            return Ok(Request::Write(WriteRequest {
                surface: desc as u8,
                commit: false,
                elements: true,
                kind: WriteKind::Pixels(PixelWrite {
                    form: form(control),
                    last: bit(desc, 12),
                    header,
                    upper: bit(desc, 11),
                }),
            }));
        }
        render::MEDIA_BLOCK_READ => {
            let kind = ReadKind::Media(gen40::lines(control));
            return Ok(reads(desc, Cache::Render, kind));
        }
        render::MEDIA_BLOCK_WRITE => {
            return Ok(writes(desc, WriteKind::Media(gen40::lines(control))));
        }
        render::TYPED_READ => AccessKind::TypedRead {
            upper: bit(desc, 13),
            parts: parts(desc),
        },
        render::TYPED_WRITE => AccessKind::TypedWrite {
            upper: bit(desc, 13),
            parts: parts(desc),
        },
        render::TYPED_ATOMIC => AccessKind::TypedAtomic {
            upper: bit(desc, 12),
            op: atomic(desc)?,
            answer: bit(desc, 13),
        },
        render::FENCE => AccessKind::Fence {
            answer: bit(desc, 13),
        },
        _ => return Ok(writes(desc, WriteKind::Reserved)),
    };
    Ok(access(desc, kind))
}

/// Form of a render target write, in 10:8.
const fn form(control: u16) -> Option<Form> {
    Some(match control >> 8 & 7 {
        0 => Form::Single16,
        1 => Form::Replicated,
        2 => Form::Dual8 { upper: false },
        3 => Form::Dual8 { upper: true },
        4 => Form::Single8,
        _ => return None,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
