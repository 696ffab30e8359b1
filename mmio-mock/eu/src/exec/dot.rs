//! Float dp4, dph, dp3, dp2 and line.
//!
//! PRM: volume 4, 14.2.10 to 14.2.13, 14.2.21. Sums keep extended precision (10.3.1.2).

use crate::decoded::{Decoded, Handler, Next, Src, SrcKind};
use crate::exec::{finish_float, illegal};
use crate::grf::{DWORDS, GRF_COUNT};
use crate::operand::widen;
use crate::region;
use crate::thread::Thread;
use isa::Opcode;

const DP4: u8 = 0;
const DPH: u8 = 1;
const DP3: u8 = 2;
const DP2: u8 = 3;

pub(crate) fn select(op: Opcode, wide: bool) -> Handler {
    match (op, wide) {
        (Opcode::Dp4, false) => dot::<8, DP4>,
        (Opcode::Dp4, true) => dot::<16, DP4>,
        (Opcode::Dph, false) => dot::<8, DPH>,
        (Opcode::Dph, true) => dot::<16, DPH>,
        (Opcode::Dp3, false) => dot::<8, DP3>,
        (Opcode::Dp3, true) => dot::<16, DP3>,
        (Opcode::Dp2, false) => dot::<8, DP2>,
        (Opcode::Dp2, true) => dot::<16, DP2>,
        _ => illegal,
    }
}

/// One dot product a group of four channels, in all four of them.
fn dot<const N: usize, const KIND: u8>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let a = t.load_float::<N>(&d.src[0]);
    let b = t.load_float::<N>(&d.src[1]);
    let mut r = [0.0; N];
    for g in (0..N).step_by(4) {
        let mut sum = a[g] * b[g] + a[g + 1] * b[g + 1];
        if KIND != DP2 {
            sum += a[g + 2] * b[g + 2];
        }
        if KIND == DP4 {
            sum += a[g + 3] * b[g + 3];
        }
        if KIND == DPH {
            sum += b[g + 3];
        }
        r[g..g + 4].fill(sum);
    }
    finish_float(t, d, mask, r)
}

/// `p * src1 + q`, p and q being components 0 and 3 of a scalar source 0.
pub(crate) fn line<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let s = &d.src[0];
    let mut r = t.load_float::<N>(&d.src[1]);
    if let SrcKind::Scalar(off) = s.kind {
        let p = widen(t.regs.dword(off), s.and, s.xor);
        let q = widen(t.regs.dword(off + 3), s.and, s.xor);
        for v in &mut r {
            *v = p * *v + q;
        }
    }
    finish_float(t, d, mask, r)
}

/// Whether `line` may read its coefficients as two dwords: floats, both inside the GRF.
pub(crate) fn line_applies(s: &Src) -> bool {
    let inside = |off| usize::from(off) + 3 < GRF_COUNT * DWORDS;
    s.fast_float && matches!(s.kind, SrcKind::Scalar(off) if inside(off))
}

/// `line` with any region of source 0: p and q of each group of four channels.
pub(crate) fn line_any<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let s = &d.src[0];
    let mut r = t.load_float::<N>(&d.src[1]);
    let first = t.load_float::<N>(s);
    let mut shifted = *s;
    let distance = 3 * u16::from(s.num.size());
    match &mut shifted.kind {
        SrcKind::Table(table) => {
            for b in table.iter_mut() {
                *b = region::advance(*b, distance);
            }
        }
        SrcKind::Indirect(ind) => ind.imm = ind.imm.wrapping_add(distance as i16),
        SrcKind::Null
        | SrcKind::Vec(_)
        | SrcKind::Scalar(_)
        | SrcKind::Imm(_)
        | SrcKind::Arf(..)
        | SrcKind::Acc(_) => {}
    }
    let fourth = t.load_float::<N>(&shifted);
    for i in 0..N {
        r[i] = first[i & !3] * r[i] + fourth[i & !3];
    }
    finish_float(t, d, mask, r)
}
