//! Float mad and lrp, of three sources.
//!
//! PRM: Sandy Bridge volume 4 part 2, 8.3 (mad, lrp). Not public: whether `mad` rounds its product; here it rounds once. The two
//! products of `lrp` are added in double precision.

use crate::class::{Any, Class, Load, Scalar, Vector, class};
use crate::decoded::{Decoded, Handler, Next};
use crate::exec::{finish_float, illegal};
use crate::rounding::sum_to_odd;
use crate::thread::Thread;
use isa::Opcode;

pub(crate) fn select(d: &Decoded, wide: bool) -> Handler {
    match d.op {
        Opcode::Mad => {
            let [a, b, c] = [0, 1, 2].map(|i| class(&d.src[i]));
            match (wide, a, b, c) {
                (false, Class::Vector, Class::Vector, Class::Vector) => {
                    mad::<8, Vector, Vector, Vector>
                }
                (false, Class::Vector, Class::Vector, Class::Scalar) => {
                    mad::<8, Vector, Vector, Scalar>
                }
                (false, Class::Vector, Class::Scalar, Class::Vector) => {
                    mad::<8, Vector, Scalar, Vector>
                }
                (false, Class::Scalar, Class::Vector, Class::Vector) => {
                    mad::<8, Scalar, Vector, Vector>
                }
                (false, Class::Scalar, Class::Vector, Class::Scalar) => {
                    mad::<8, Scalar, Vector, Scalar>
                }
                (false, ..) => mad::<8, Any, Any, Any>,
                (true, ..) => mad::<16, Any, Any, Any>,
            }
        }
        Opcode::Lrp if wide => lrp::<16>,
        Opcode::Lrp => lrp::<8>,
        _ => illegal,
    }
}

/// Source 1 times source 2, and source 0. A product of single floats is exact.
fn mad<const N: usize, A: Load, B: Load, C: Load>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let a = A::get::<N>(t, &d.src[0]);
    let b = B::get::<N>(t, &d.src[1]);
    let mut r = C::get::<N>(t, &d.src[2]);
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
    let mut r = t.load_float::<N>(&d.src[2]);
    for i in 0..N {
        r[i] = a[i] * b[i] + (1.0 - a[i]) * r[i];
    }
    finish_float(t, d, mask, r)
}
