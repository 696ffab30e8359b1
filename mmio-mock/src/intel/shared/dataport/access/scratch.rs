//! Scratch blocks: registers of a thread that lie in its scratch space.
//!
//! Mesa 22.3.6 brw_eu_emit.c `gfx7_block_read_scratch`, `gfx7_set_dp_scratch_message`: the base is in M0.5, the offset counts registers.
//! Not modelled: the size of the scratch space in M0.3, past which nothing is reached.

use eu::{Grf, Message};
use mem::Memory;

use super::super::buffer::{self, Lost, View};
use super::super::rules;
use crate::UnitFault;
use crate::intel::shared::context::ThreadContext;
use crate::intel::shared::error::refuse;

/// Bytes of a register.
const REGISTER: u32 = 32;

/// Which registers a message moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// How many.
    pub(super) registers: Option<u8>,
    /// Where the first lies, in registers.
    pub(super) offset: u16,
    /// Channels count each for itself, and not by four.
    pub(super) dwords: bool,
}

impl Block {
    /// Registers that are moved.
    fn count(self, msg: &Message<'_>) -> Result<usize, UnitFault> {
        let count = self.registers.map(usize::from);
        count.ok_or_else(|| refuse("DP", msg, rules::BLOCK_SIZE))
    }

    /// Dwords of a register that count. Those of sixteen channels lie in two registers, and the registers behind them repeat the channels.
    fn mask(self, msg: &Message<'_>, register: usize) -> u8 {
        let upper = msg.exec_size > 8 && register % 2 == 1;
        let channels = if upper {
            msg.exec_mask >> 8
        } else {
            msg.exec_mask
        };
        // CAST: eight channels.
        let channels = channels as u8;
        if self.dwords {
            return channels;
        }
        let half = |bits: u8| if channels & bits == 0 { 0 } else { bits };
        half(0x0f) | half(0xf0)
    }

    /// Where a dword of a register lies.
    fn at(self, register: usize, dword: usize) -> u32 {
        // CAST: eleven registers and twelve bits of offset at most.
        let register = u32::from(self.offset).wrapping_add(register as u32);
        register * REGISTER + dword as u32 * 4
    }
}

/// Scratch Block Read.
pub(super) fn read(
    block: Block,
    mem: &Memory,
    msg: &Message<'_>,
    ctx: &ThreadContext,
    response: &mut [Grf],
) -> Result<Lost, UnitFault> {
    let count = block.count(msg)?;
    rules::lengths(msg, 1, count)?;
    let view = View::stateless(&ctx.bases, buffer::header(msg)?);
    let mut lost = Lost::default();
    for (register, to) in response.iter_mut().enumerate().take(count) {
        let mask = block.mask(msg, register);
        for (dword, to) in to.iter_mut().enumerate() {
            if mask >> dword & 1 == 1 {
                *to = view.read_dword(mem, block.at(register, dword), &mut lost)?;
            }
        }
    }
    Ok(lost)
}

/// Scratch Block Write.
pub(super) fn write(
    block: Block,
    mem: &mut Memory,
    msg: &Message<'_>,
    ctx: &ThreadContext,
) -> Result<Lost, UnitFault> {
    let count = block.count(msg)?;
    rules::lengths(msg, 1 + count, 0)?;
    let view = View::stateless(&ctx.bases, buffer::header(msg)?);
    let mut lost = Lost::default();
    for (register, from) in msg.payload.iter().skip(1).enumerate() {
        let mask = block.mask(msg, register);
        for (dword, value) in from.iter().enumerate() {
            if mask >> dword & 1 == 1 {
                view.write_dword(mem, block.at(register, dword), *value, &mut lost)?;
            }
        }
    }
    Ok(lost)
}
