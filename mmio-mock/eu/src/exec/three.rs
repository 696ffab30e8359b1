//! Float mad and lrp, of three sources.
//!
//! PRM: Sandy Bridge volume 4 part 2, 8.3 (mad, lrp). Not public: whether `mad` rounds its product; here it rounds once. The two
//! products of `lrp` are added in double precision.

use crate::class::{Any, Class, Load, Scalar, Vector, class};
use crate::decoded::{Decoded, Handler, More, Next};
use crate::exec::{finish_float, illegal};
use crate::operand::widen_all;
use crate::rounding::sum_to_odd;
use crate::thread::Thread;
use isa::Opcode;

pub(crate) fn select(d: &Decoded, wide: bool) -> Handler {
    match d.op {
        Opcode::Mad => {
            let [a, b] = [0, 1].map(|i| class(&d.src[i]));
            match (wide, a, b) {
                (false, Class::Vector, Class::Vector) => mad::<8, Vector, Vector>,
                (false, Class::Vector, Class::Scalar) => mad::<8, Vector, Scalar>,
                (false, Class::Scalar, Class::Vector) => mad::<8, Scalar, Vector>,
                (false, ..) => mad::<8, Any, Any>,
                (true, ..) => mad::<16, Any, Any>,
            }
        }
        Opcode::Lrp if wide => lrp::<16>,
        Opcode::Lrp => lrp::<8>,
        _ => illegal,
    }
}

/// Source 2.
#[inline(always)]
fn last<const N: usize>(t: &Thread, d: &Decoded) -> [f64; N] {
    let More::Third(s) = &d.more else {
        return [0.0; N];
    };
    let and = if s.abs { 0x7fff_ffff } else { u32::MAX };
    let xor = if s.negate { 0x8000_0000 } else { 0 };
    widen_all(t.third::<N>(s), and, xor)
}

/// Source 1 times source 2, and source 0. A product of single floats is exact.
fn mad<const N: usize, A: Load, B: Load>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let a = A::get::<N>(t, &d.src[0]);
    let b = B::get::<N>(t, &d.src[1]);
    let mut r = last::<N>(t, d);
    for i in 0..N {
        r[i] = sum_to_odd(r[i] * b[i], a[i]);
    }
    finish_float(t, d, mask, r)
}

/// Source 1 at 1 and source 2 at 0 of source 0.
fn lrp<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let a = t.load_float::<N>(&d.src[0]);
    let b = t.load_float::<N>(&d.src[1]);
    let mut r = last::<N>(t, d);
    for i in 0..N {
        r[i] = a[i] * b[i] + (1.0 - a[i]) * r[i];
    }
    finish_float(t, d, mask, r)
}
