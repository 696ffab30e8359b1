//! `sel` with a condition: the comparison chooses, and the flags stay.
//!
//! PRM: Sandy Bridge volume 4 part 2, 8.3 (sel): `.l` is the minimum, `.ge` the maximum.

use crate::class::{Load, by_class};
use crate::decoded::{Decoded, Handler, Next};
use crate::exec::cmp::{compare_floats, compare_ints};
use crate::exec::{finish_float, finish_int};
use crate::lower::ExecType;
use crate::thread::Thread;

pub(crate) fn select(d: &Decoded, ty: ExecType, wide: bool) -> Handler {
    if ty == ExecType::Float {
        by_class!(float, d, wide)
    } else {
        int
    }
}

fn float<const N: usize, A: Load, B: Load>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let a = A::get::<N>(t, &d.src[0]);
    let mut r = B::get::<N>(t, &d.src[1]);
    let first = compare_floats(d.compare, &a, &r);
    for i in 0..N {
        if first >> i & 1 != 0 {
            r[i] = a[i];
        }
    }
    finish_float(t, d, mask, r)
}

fn int(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let a = t.load_int::<16>(&d.src[0]);
    let mut r = t.load_int::<16>(&d.src[1]);
    let first = compare_ints(d.compare, &a, &r);
    for i in 0..16 {
        if first >> i & 1 != 0 {
            r[i] = a[i];
        }
    }
    finish_int(t, d, mask, &r)
}
