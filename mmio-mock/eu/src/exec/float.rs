//! Float mov, sel, add, mul, mac.
//!
//! PRM: volume 4, 10.3, 14.2.1, 14.2.24, 14.2.28. Lanes compute in double precision, standing
//! for the 54-bit mantissa of the hardware's adder, and round at the destination: toward zero before Sandy Bridge, where the exact sum of
//! `add` is what is cut off.

use crate::class::{Load, by_exact_class};
use crate::decoded::{Decoded, DstKind, Handler, Next, Num, SrcKind};
use crate::exec::{finish_float, finish_sum, illegal};
use crate::operand::may_be_nan;
use crate::rounding::{Rounding, sum_to_odd, sum_toward_zero};
use crate::thread::Thread;
use isa::Opcode;

/// The sign of a single float.
const SIGN: u32 = 1 << 31;

pub(crate) fn select(d: &Decoded, wide: bool) -> Handler {
    match d.op {
        Opcode::Add => by_exact_class!(add, d, wide),
        Opcode::Mul => by_exact_class!(mul, d, wide),
        Opcode::Mac => by_exact_class!(mac, d, wide),
        _ => illegal,
    }
}

pub(crate) fn mov<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let r = t.load_float::<N>(&d.src[0]);
    if may_be_nan(&r) {
        return mov_nan(t, d, mask, r);
    }
    finish_float(t, d, mask, r)
}

/// Nothing is computed of a NaN that is moved: its bits go on, with the sign that the source's modifiers make of it. Compilers move
/// integers so (Mesa brw_fs_combine_constants.cpp finds -32 as the negative of the float 7fff_ffe0h).
#[cold]
#[inline(never)]
fn mov_nan<const N: usize>(t: &mut Thread, d: &Decoded, mask: u16, r: [f64; N]) -> Next {
    let s = &d.src[0];
    let singles = s.num == Num::F && d.dst.num == Num::F;
    let computed = matches!(s.kind, SrcKind::Acc(_)) || matches!(d.dst.kind, DstKind::Acc(..));
    if !singles || computed || d.saturate || t.alt {
        return finish_float(t, d, mask, r);
    }
    let mut bits = t.load_raw::<N>(s);
    let mut nans = 0;
    for i in 0..N {
        if s.abs {
            bits[i] &= !SIGN;
        }
        if s.negate {
            bits[i] ^= SIGN;
        }
        nans |= u16::from(r[i].is_nan()) << i;
    }
    let next = finish_float(t, d, mask, r);
    t.store_raw(&d.dst, mask & nans, &bits);
    next
}

pub(crate) fn sel<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let (mask, pred) = sel_masks(t, d);
    let a = t.load_float::<N>(&d.src[0]);
    let mut r = t.load_float::<N>(&d.src[1]);
    for i in 0..N {
        if pred >> i & 1 != 0 {
            r[i] = a[i];
        }
    }
    finish_float(t, d, mask, r)
}

/// `sel` writes every enabled channel; the predicate only chooses (PRM 14.2.40).
pub(crate) fn sel_masks(t: &Thread, d: &Decoded) -> (u16, u16) {
    (t.channel_mask(d) & d.lanes, t.predicate(d))
}

fn add<const N: usize, A: Load, B: Load>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let a = A::get::<N>(t, &d.src[0]);
    let b = B::get::<N>(t, &d.src[1]);
    let (mut sums, mut r) = ([0.0; N], [0.0; N]);
    for i in 0..N {
        sums[i] = a[i] + b[i];
        r[i] = sum_toward_zero(a[i], b[i]);
    }
    finish_sum(t, d, mask, (sums, r))
}

/// Sums where results are rounded: a mode that rounds to one side needs to know what the sum lacks.
pub(crate) fn select_rounded(d: &Decoded, wide: bool) -> Handler {
    match (d.op, wide) {
        (Opcode::Add, _) => by_exact_class!(add_rounded, d, wide),
        (Opcode::Mac, false) => mac_rounded::<8>,
        (Opcode::Mac, true) => mac_rounded::<16>,
        _ => select(d, wide),
    }
}

fn mac_rounded<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let acc = t.acc.floats::<N>(d.acc_lane);
    let mut r = t.load_float::<N>(&d.src[0]);
    let b = t.load_float::<N>(&d.src[1]);
    for i in 0..N {
        r[i] = sum_to_odd(acc[i], r[i] * b[i]);
    }
    finish_float(t, d, mask, r)
}

fn add_rounded<const N: usize, A: Load, B: Load>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let mut r = A::get::<N>(t, &d.src[0]);
    let b = B::get::<N>(t, &d.src[1]);
    if t.rounding == Rounding::Nearest {
        // Twice rounding to the nearest is as good as once: a double has more than twice the digits.
        for i in 0..N {
            r[i] += b[i];
        }
    } else {
        for i in 0..N {
            r[i] = sum_to_odd(r[i], b[i]);
        }
    }
    finish_float(t, d, mask, r)
}

fn mul<const N: usize, A: Load, B: Load>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let mut r = A::get::<N>(t, &d.src[0]);
    let b = B::get::<N>(t, &d.src[1]);
    for i in 0..N {
        r[i] *= b[i];
    }
    finish_float(t, d, mask, r)
}

fn mac<const N: usize, A: Load, B: Load>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let acc = t.acc.floats::<N>(d.acc_lane);
    let mut r = A::get::<N>(t, &d.src[0]);
    let b = B::get::<N>(t, &d.src[1]);
    for i in 0..N {
        r[i] = acc[i] + r[i] * b[i];
    }
    finish_float(t, d, mask, r)
}
