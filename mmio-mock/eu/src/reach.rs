//! How far an instruction's results reach into the general registers.
//!
//! PRM: volume 4, 11.3.2. A thread starts with zeros in the registers that it was not given; only those that earlier
//! threads may have written have to be cleared for it.

use crate::decoded::{Decoded, DstKind, More};
use crate::grf::{BYTES, DWORDS, GRF_COUNT};
use isa::Opcode;

/// Channels of the widest handler.
const LANES: usize = 16;

/// General registers from r0 on that an instruction may write.
pub(crate) fn registers(d: &Decoded) -> usize {
    let all = GRF_COUNT;
    // Behind the general registers lie others, which are cleared always or never read.
    let until = |first: usize, end: usize| if first < all { end.min(all) } else { 0 };
    if matches!(d.op, Opcode::Send | Opcode::Sendc) {
        let op = &d.send;
        return match (op.dst, op.desc) {
            (None, _) => 0,
            (Some(_), None) => all,
            (Some(nr), Some(desc)) => {
                let response = desc >> (op.response_at & 31) & u32::from(op.response_max);
                // The second of two messages answers one register further on.
                (usize::from(nr) + response as usize + 1).min(all)
            }
        };
    }
    match &d.dst.kind {
        DstKind::Indirect(_) => all,
        DstKind::Null | DstKind::Arf(..) | DstKind::Acc(..) => 0,
        DstKind::Vec(_) | DstKind::Table(_) if matches!(d.more, More::Halves(_)) => all,
        DstKind::Vec(off) => {
            let off = usize::from(*off);
            until(off / DWORDS, (off + LANES).div_ceil(DWORDS))
        }
        DstKind::Table(lanes) => {
            let registers = lanes.iter().map(|at| usize::from(*at) / BYTES);
            registers.map(|nr| until(nr, nr + 1)).max().unwrap_or(0)
        }
    }
}
