//! Float mov, sel, add, mul, mac.
//!
//! PRM: volume 4, 10.3, 14.2.1, 14.2.24, 14.2.28. Lanes compute in double precision, standing
//! for the 54-bit mantissa of the hardware's adder, and round toward zero at the destination.

use crate::decoded::{Decoded, Handler, Next};
use crate::exec::{finish_float, illegal};
use crate::thread::Thread;
use isa::Opcode;

pub(crate) fn select(op: Opcode, wide: bool) -> Handler {
    match (op, wide) {
        (Opcode::Add, false) => add::<8>,
        (Opcode::Add, true) => add::<16>,
        (Opcode::Mul, false) => mul::<8>,
        (Opcode::Mul, true) => mul::<16>,
        (Opcode::Mac, false) => mac::<8>,
        (Opcode::Mac, true) => mac::<16>,
        _ => illegal,
    }
}

pub(crate) fn mov<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let r = t.load_float::<N>(&d.src[0]);
    finish_float(t, d, mask, r)
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
    let enabled = if d.no_mask { 0xffff } else { t.emask } >> d.shift;
    (enabled & d.lanes, t.predicate(d))
}

fn add<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let mut r = t.load_float::<N>(&d.src[0]);
    let b = t.load_float::<N>(&d.src[1]);
    for i in 0..N {
        r[i] += b[i];
    }
    finish_float(t, d, mask, r)
}

fn mul<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let mut r = t.load_float::<N>(&d.src[0]);
    let b = t.load_float::<N>(&d.src[1]);
    for i in 0..N {
        r[i] *= b[i];
    }
    finish_float(t, d, mask, r)
}

fn mac<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let acc = t.acc.floats::<N>(d.acc_lane);
    let mut r = t.load_float::<N>(&d.src[0]);
    let b = t.load_float::<N>(&d.src[1]);
    for i in 0..N {
        r[i] = acc[i] + r[i] * b[i];
    }
    finish_float(t, d, mask, r)
}
