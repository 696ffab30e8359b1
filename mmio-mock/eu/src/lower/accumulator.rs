//! Lowering of accumulators: lanes of operands, instructions that update them.
//!
//! PRM: volume 4, 11.3.4.5.

use crate::region::Rel;
use isa::operand::{Addr, RegFile};
use isa::{Inst, Opcode};

/// Number of the accumulator that is the destination or source 0.
pub(super) fn explicit_acc(inst: &Inst) -> Option<u8> {
    let of = |file, addr| match (file, addr) {
        (RegFile::Arf, Addr::Direct { nr, .. }) if nr >> 4 == 2 => Some(nr),
        _ => None,
    };
    let source = &inst.src[0];
    of(inst.dst.file, inst.dst.addr).or_else(|| of(source.file, source.addr))
}

/// Accumulator lanes: a register has eight dword channels or sixteen word channels. The first eight
/// of either are the same lanes, the other words lie behind both registers.
pub(super) fn acc_lanes(nr: u8, rel: Rel, size: usize) -> [u8; 16] {
    let per_reg = if size == 4 { 8 } else { 16 };
    let base = i32::from(nr & 1) * per_reg;
    rel.map(|r| {
        let channel = (base + r / size.max(2) as i32).rem_euclid(2 * per_reg);
        let (reg, channel) = (channel / per_reg, channel % per_reg);
        (reg * 8 + channel % 8 + channel / 8 * 16) as u8
    })
}

/// Arithmetic instructions update the accumulator implicitly (PRM 11.3.4.5): on these parts the
/// whole group from `add` to `line`.
pub(super) fn writes_acc(op: Opcode) -> bool {
    use Opcode::{
        Add, Avg, Dp2, Dp3, Dp4, Dph, Frc, Line, Lzd, Mac, Mach, Mul, Pln, Rndd, Rnde, Rndu, Rndz,
        Sad2, Sada2,
    };
    matches!(
        op,
        Add | Mul
            | Avg
            | Frc
            | Rndu
            | Rndd
            | Rnde
            | Rndz
            | Mac
            | Mach
            | Lzd
            | Sad2
            | Sada2
            | Dp4
            | Dph
            | Dp3
            | Dp2
            | Line
            | Pln
    )
}
