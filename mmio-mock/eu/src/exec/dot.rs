//! Float dp4, dph, dp3, dp2 and line.
//!
//! PRM: volume 4, 14.2.10 to 14.2.13, 14.2.21. Sums keep extended precision (10.3.1.2).

use crate::decoded::{Decoded, Handler, Next, SrcKind};
use crate::exec::{finish_float, illegal};
use crate::operand::widen;
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

/// `p * src1 + q`, p and q being components 0 and 3 of the source 0 vector.
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
    } else {
        let (p, q) = line_coefficients::<N>(t, d);
        for i in 0..N {
            r[i] = p[i] * r[i] + q[i];
        }
    }
    finish_float(t, d, mask, r)
}

/// p and q of each group of four channels, for any region of source 0.
fn line_coefficients<const N: usize>(t: &Thread, d: &Decoded) -> ([f64; N], [f64; N]) {
    let s = &d.src[0];
    let first = t.load_float::<N>(s);
    let mut shifted = *s;
    match &mut shifted.kind {
        SrcKind::Vec(off) => *off += 3,
        SrcKind::Table(table) => {
            for b in table.iter_mut() {
                *b += 12;
            }
        }
        SrcKind::Indirect(ind) => ind.imm = ind.imm.wrapping_add(12),
        SrcKind::Null
        | SrcKind::Scalar(_)
        | SrcKind::Imm(_)
        | SrcKind::Arf(..)
        | SrcKind::Acc(_) => {}
    }
    let fourth = t.load_float::<N>(&shifted);
    let mut p = [0.0; N];
    let mut q = [0.0; N];
    for i in 0..N {
        p[i] = first[i & !3];
        q[i] = fourth[i & !3];
    }
    (p, q)
}
