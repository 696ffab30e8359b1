//! Float frc, rndu, rndd, rnde, rndz.
//!
//! PRM: volume 4, 14.2.16, 14.2.34 to 14.2.37. Before Sandy Bridge rnde and rndz give the floor and
//! raise `.r` where one must be added, as compilers of the time expect (Mesa 22.3.6 `brw_fs_generator.cpp`, `brw_RNDE`).

use crate::decoded::{Decoded, Handler, Next};
use crate::exec::{bits, finish_float, illegal};
use crate::thread::Thread;
use isa::Opcode;
use isa::inst::CondMod;

pub(crate) fn select(op: Opcode, wide: bool) -> Handler {
    match (op, wide) {
        (Opcode::Frc, false) => frc::<8>,
        (Opcode::Frc, true) => frc::<16>,
        (Opcode::Rndu, false) => rndu::<8>,
        (Opcode::Rndu, true) => rndu::<16>,
        (Opcode::Rndd, false) => rndd::<8>,
        (Opcode::Rndd, true) => rndd::<16>,
        (Opcode::Rnde, false) => rnde::<8>,
        (Opcode::Rnde, true) => rnde::<16>,
        (Opcode::Rndz, false) => rndz::<8>,
        (Opcode::Rndz, true) => rndz::<16>,
        _ => illegal,
    }
}

/// `rnde` and `rndz` with nothing left to add; `frc` that is no nearer to one than the float below it.
pub(crate) fn select_whole(op: Opcode, wide: bool) -> Handler {
    match (op, wide) {
        (Opcode::Rnde, false) => whole_even::<8>,
        (Opcode::Rnde, true) => whole_even::<16>,
        (Opcode::Rndz, false) => whole_zero::<8>,
        (Opcode::Rndz, true) => whole_zero::<16>,
        (Opcode::Frc, false) => fraction::<8>,
        (Opcode::Frc, true) => fraction::<16>,
        _ => illegal,
    }
}

fn fraction<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    const BELOW_ONE: f64 = 1.0 - 1.0 / 16_777_216.0;
    // A comparison, as a minimum would lose NaN.
    unary::<N>(t, d, |v| match v - v.floor() {
        fraction if fraction > BELOW_ONE => BELOW_ONE,
        fraction => fraction,
    })
}

fn whole_even<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    unary::<N>(t, d, f64::round_ties_even)
}

fn whole_zero<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    unary::<N>(t, d, f64::trunc)
}

fn unary<const N: usize>(t: &mut Thread, d: &Decoded, f: impl Fn(f64) -> f64) -> Next {
    let mask = t.write_mask(d);
    let mut r = t.load_float::<N>(&d.src[0]);
    for v in &mut r {
        *v = f(*v);
    }
    finish_float(t, d, mask, r)
}

fn frc<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    // The double nearest to a fraction may be one, which is none.
    unary::<N>(t, d, |v| match v - v.floor() {
        1.0 => 1.0 - f64::EPSILON,
        fraction => fraction,
    })
}

fn rndu<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    unary::<N>(t, d, f64::ceil)
}

fn rndd<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    unary::<N>(t, d, f64::floor)
}

/// Floor, with the increment bit that `up` decides from value and floor.
fn two_step<const N: usize>(t: &mut Thread, d: &Decoded, up: impl Fn(f64, f64) -> bool) -> Next {
    let mask = t.write_mask(d);
    let v = t.load_float::<N>(&d.src[0]);
    let r = v.map(f64::floor);
    if d.cond == CondMod::R {
        t.set_flags(d, mask, bits::<N>(|i| up(v[i], r[i])));
    }
    finish_float(t, d, mask, r)
}

fn rnde<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    two_step::<N>(t, d, |v, floor| {
        let frac = v - floor;
        frac > 0.5 || (frac == 0.5 && floor % 2.0 != 0.0)
    })
}

fn rndz<const N: usize>(t: &mut Thread, d: &Decoded) -> Next {
    two_step::<N>(t, d, |v, floor| v < 0.0 && v != floor)
}
