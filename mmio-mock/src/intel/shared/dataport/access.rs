//! Accesses by channel: dwords, texels, atomic operations, bytes, scratch.
//!
//! Messages: Mesa 22.3.6 brw_eu_defines.h (`GFX7_DATAPORT_*`), brw_eu.h (`brw_dp_untyped_surface_rw_desc` and its neighbours),
//! brw_lower_logical_sends.cpp `lower_surface_logical_send`. Not modelled: caches; each access sees memory as it is, so that a fence has
//! nothing to wait for. Channels act one after another, from the lowest on.

pub mod atomic;
mod bytes;
mod raw;
mod scratch;
mod store;
mod typed;
mod untyped;

#[cfg(test)]
mod tests;

use eu::{Grf, Message};
use mem::{GpuAddr, Memory};

pub use atomic::AtomicOp;
use bytes::Scattered;
pub use raw::Raw;
pub use typed::Texels;

use super::buffer::Lost;
use super::request::OwordBlock;
use super::{DataPort, STATELESS, buffer, rules};
use crate::UnitFault;
use crate::intel::shared::binding;
use crate::intel::shared::context::ThreadContext;
use crate::intel::shared::error::refuse;
use store::Store;

/// Binding table index that selects the shared local memory of the sender's group (Mesa `GFX7_BTI_SLM`).
pub const LOCAL: u8 = 254;

/// Surfaces of each kind that are kept at most.
const KEPT: usize = 64;

/// How the channels of a message lie in its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// Two slots, each with four dwords side by side.
    Simd4x2,
    /// Eight channels, a register for each parameter.
    Simd8,
    /// Sixteen channels, two registers for each parameter.
    Simd16,
}

impl Lanes {
    /// Registers of one parameter.
    const fn registers(self) -> usize {
        match self {
            Lanes::Simd4x2 | Lanes::Simd8 => 1,
            Lanes::Simd16 => 2,
        }
    }
}

/// A message, wherever a generation's descriptor has its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Binding table index.
    pub surface: u8,
    /// A header register comes first.
    pub header: bool,
    /// What is asked for. `None` in it stands for a reserved code.
    pub kind: AccessKind,
}

impl Access {
    /// Whether it changes the surface that it names; `None` when it names none in the binding table.
    #[must_use]
    pub const fn writes(&self) -> Option<bool> {
        if self.surface == LOCAL || self.surface == STATELESS {
            return None;
        }
        match self.kind {
            AccessKind::Fence { .. } | AccessKind::Scratch { .. } => None,
            AccessKind::Read { .. } | AccessKind::TypedRead { .. } | AccessKind::Unaligned(_) => {
                Some(false)
            }
            AccessKind::Write { .. }
            | AccessKind::Atomic { .. }
            | AccessKind::TypedWrite { .. }
            | AccessKind::TypedAtomic { .. } => Some(true),
            AccessKind::Bytes { write, .. } | AccessKind::Dwords { write, .. } => Some(write),
        }
    }
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// Reads up to four dwords for each channel.
    Read {
        /// Channels.
        lanes: Option<Lanes>,
        /// Dwords that are read, bit 0 the first.
        parts: u8,
    },
    /// Writes them.
    Write {
        /// Channels.
        lanes: Option<Lanes>,
        /// Dwords that are written, bit 0 the first.
        parts: u8,
    },
    /// Changes a dword for each channel.
    Atomic {
        /// Channels.
        lanes: Option<Lanes>,
        /// What is done with it.
        op: Option<AtomicOp>,
        /// The sender wants to know a value of it.
        answer: bool,
    },
    /// Reads a texel for each of eight channels.
    TypedRead {
        /// The pixel mask of channels 8 to 15 counts.
        upper: bool,
        /// Red, green, blue and alpha, from bit 0 on.
        parts: u8,
    },
    /// Writes them.
    TypedWrite {
        /// The pixel mask of channels 8 to 15 counts.
        upper: bool,
        /// Red, green, blue and alpha, from bit 0 on.
        parts: u8,
    },
    /// Changes a texel for each of eight channels.
    TypedAtomic {
        /// The pixel mask of channels 8 to 15 counts.
        upper: bool,
        /// What is done with it.
        op: Option<AtomicOp>,
        /// The sender wants to know a value of it.
        answer: bool,
    },
    /// Reads or writes an integer of so many bytes, 1, 2 or 4, for each channel.
    Bytes {
        /// It writes.
        write: bool,
        /// Channels.
        lanes: Lanes,
        /// Bytes of the integer.
        size: Option<u8>,
    },
    /// Reads or writes a dword for each channel; offsets count dwords.
    Dwords {
        /// It writes.
        write: bool,
        /// Channels.
        lanes: Lanes,
    },
    /// Reads or writes registers in the scratch space of the thread.
    Scratch {
        /// It writes.
        write: bool,
        /// Registers: 1, 2 or 4.
        registers: Option<u8>,
        /// Where the first lies, in registers.
        offset: u16,
        /// Channels count each for itself, and not by four.
        dwords: bool,
    },
    /// Reads OWords from a place that is a multiple of four bytes.
    Unaligned(Option<OwordBlock>),
    /// Waits until accesses before it can be seen.
    Fence {
        /// The sender waits for an answer.
        answer: bool,
    },
}

/// Dwords of a message behind its header, and the channels that count.
struct Body<'a> {
    registers: &'a [Grf],
    mask: u16,
}

/// Registers behind the header; with it, the pixel mask in M0.7 counts beside the channels of the instruction.
fn body<'a>(access: Access, msg: &Message<'a>) -> Result<Body<'a>, UnitFault> {
    if !access.header {
        return Ok(Body {
            registers: msg.payload,
            mask: msg.exec_mask,
        });
    }
    let (m0, registers) = msg
        .payload
        .split_first()
        .ok_or_else(|| refuse("DP", msg, rules::HEADER))?;
    Ok(Body {
        registers,
        // CAST: sixteen channels.
        mask: msg.exec_mask & m0[7] as u16,
    })
}

/// Lengths of a message of at least so many registers behind its header, and of exactly this response.
fn lengths(
    msg: &Message<'_>,
    body: &Body<'_>,
    registers: usize,
    response: usize,
) -> Result<(), UnitFault> {
    rules::ask(body.registers.len() >= registers, msg, rules::LENGTH)?;
    let answer = usize::from(msg.response_length) == response;
    rules::ask(answer, msg, rules::RESPONSE)
}

impl DataPort {
    /// Serves such a message. `local`: the shared local memory of the sender's group.
    pub fn access(
        &mut self,
        access: Access,
        msg: &Message<'_>,
        response: &mut [Grf],
        (mem, local): (&mut Memory, Option<&mut [u8]>),
        ctx: &ThreadContext,
    ) -> Result<(), UnitFault> {
        rules::ask(!msg.eot, msg, rules::EOT)?;
        let (lost, writes) = match access.kind {
            AccessKind::Fence { answer } => {
                return rules::lengths(msg, 1, usize::from(answer));
            }
            AccessKind::Scratch {
                write,
                registers,
                offset,
                dwords,
            } => {
                let block = scratch::Block {
                    registers,
                    offset,
                    dwords,
                };
                let lost = if write {
                    scratch::write(block, mem, msg, ctx)?
                } else {
                    scratch::read(block, mem, msg, ctx, response)?
                };
                (lost, write)
            }
            AccessKind::Unaligned(size) => {
                let view = self.view(access.surface, msg, mem, ctx, 4)?;
                (
                    buffer::read_unaligned(view, size, mem, msg, response)?,
                    false,
                )
            }
            AccessKind::TypedRead { .. }
            | AccessKind::TypedWrite { .. }
            | AccessKind::TypedAtomic { .. } => {
                self.typed(access, msg, response, mem, ctx)?;
                return Ok(());
            }
            AccessKind::Read { .. }
            | AccessKind::Write { .. }
            | AccessKind::Atomic { .. }
            | AccessKind::Dwords { .. }
            | AccessKind::Bytes { .. } => self.untyped(access, msg, response, (mem, local), ctx)?,
        };
        if lost != Lost::default() {
            let outside = self.outside(access.surface);
            if writes {
                outside.writes += u64::from(lost.0);
            } else {
                outside.reads += u64::from(lost.0);
            }
        }
        Ok(())
    }

    /// Messages about dwords and bytes; tells what lay past the end, and whether it was written.
    fn untyped(
        &mut self,
        access: Access,
        msg: &Message<'_>,
        response: &mut [Grf],
        (mem, local): (&mut Memory, Option<&mut [u8]>),
        ctx: &ThreadContext,
    ) -> Result<(Lost, bool), UnitFault> {
        let body = body(access, msg)?;
        let (raw, store) = match access.surface {
            LOCAL => {
                let local = local.unwrap_or_default();
                (Raw::local(local.len()), Store::Local(local))
            }
            STATELESS => {
                let kept = self.stateless_allowed || !self.stateless_gated;
                rules::ask(kept && access.header, msg, rules::STATELESS)?;
                let raw = Raw::stateless(&ctx.bases, buffer::header(msg)?);
                (raw, Store::Memory(mem))
            }
            index => {
                let raw = self.raw(index, msg, mem, ctx)?;
                (raw, Store::Memory(mem))
            }
        };
        let mut place = untyped::Place { raw, store };
        match access.kind {
            AccessKind::Read { lanes, parts } => {
                let lost = place.read((lanes, parts), msg, &body, response)?;
                Ok((lost, false))
            }
            AccessKind::Write { lanes, parts } => {
                Ok((place.write((lanes, parts), msg, &body)?, true))
            }
            AccessKind::Atomic { lanes, op, answer } => {
                let lost = place.atomic((lanes, op, answer), msg, &body, response)?;
                Ok((lost, true))
            }
            AccessKind::Bytes { write, lanes, size } => {
                let global = if access.header {
                    buffer::header(msg)?[2]
                } else {
                    0
                };
                let which = Scattered {
                    lanes,
                    size,
                    global,
                    unit: 1,
                };
                let lost = place.scattered(write, &which, msg, &body, response)?;
                Ok((lost, write))
            }
            AccessKind::Dwords { write, lanes } => {
                let which = Scattered {
                    lanes,
                    size: Some(4),
                    global: 0,
                    unit: 4,
                };
                let lost = place.scattered(write, &which, msg, &body, response)?;
                Ok((lost, write))
            }
            // None of these comes here.
            _ => Err(refuse("DP", msg, rules::SURFACE)),
        }
    }

    /// The bytes of a buffer, kept by the address of its surface state.
    fn raw(
        &mut self,
        index: u8,
        msg: &Message<'_>,
        mem: &Memory,
        ctx: &ThreadContext,
    ) -> Result<Raw, UnitFault> {
        let at = binding::surface_address(mem, ctx, index)?;
        if let Some((_, raw)) = self.raws.iter().find(|(key, _)| *key == at) {
            return Ok(*raw);
        }
        let desc = self.reader.surface_at(mem, at)?;
        let raw = Raw::new(&desc).map_err(|rule| refuse("DP", msg, rule))?;
        if self.raws.len() < KEPT {
            self.raws.push((at, raw));
        }
        Ok(raw)
    }

    /// The texels of a surface, kept in the same way: its place among those that are.
    fn texels(
        &mut self,
        index: u8,
        msg: &Message<'_>,
        mem: &Memory,
        ctx: &ThreadContext,
    ) -> Result<usize, UnitFault> {
        rules::ask(index != STATELESS && index != LOCAL, msg, rules::STATELESS)?;
        let at: GpuAddr = binding::surface_address(mem, ctx, index)?;
        let mut kept = self.texels.iter();
        if let Some(place) = kept.position(|(key, _)| *key == at) {
            return Ok(place);
        }
        let desc = self.reader.surface_at(mem, at)?;
        let texels = Texels::new(mem, &desc).map_err(|e| e.at("DP", at))?;
        if self.texels.len() >= KEPT {
            self.texels.clear();
        }
        self.texels.push((at, texels));
        Ok(self.texels.len() - 1)
    }

    fn typed(
        &mut self,
        access: Access,
        msg: &Message<'_>,
        response: &mut [Grf],
        mem: &mut Memory,
        ctx: &ThreadContext,
    ) -> Result<(), UnitFault> {
        rules::ask(access.header, msg, rules::HEADER)?;
        let place = self.texels(access.surface, msg, mem, ctx)?;
        let Some((_, texels)) = self.texels.get(place) else {
            return Err(refuse("DP", msg, rules::SURFACE));
        };
        let body = body(access, msg)?;
        // CAST: eight channels; a slot group counts by the pixel mask alone.
        let pixels = buffer::header(msg)?[7];
        let of = |upper: bool| {
            let pixels = if upper { pixels >> 8 } else { pixels };
            (msg.exec_mask & pixels as u16) as u8
        };
        match access.kind {
            AccessKind::TypedRead { upper, parts } => {
                texels.read(mem, (of(upper), parts), msg, body.registers, response)
            }
            AccessKind::TypedWrite { upper, parts } => {
                texels.write(mem, (of(upper), parts), msg, body.registers)
            }
            AccessKind::TypedAtomic { upper, op, answer } => {
                let which = (of(upper), op, answer);
                texels.atomic(mem, which, msg, body.registers, response)
            }
            _ => Err(refuse("DP", msg, rules::SURFACE)),
        }
    }
}
