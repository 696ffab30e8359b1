//! cmp and cmpn: compare, set flags, write all ones or zero.
//!
//! PRM: volume 4, 10.3.1.3, 10.3.1.4, 11.7, 14.2.6, 14.2.7.

use crate::class::{Load, by_class};
use crate::decoded::{Decoded, Handler, Next};
use crate::exec::bits;
use crate::thread::Thread;
use isa::Opcode;
use isa::inst::CondMod;

pub(crate) fn select_float(d: &Decoded, wide: bool) -> Handler {
    if d.op == Opcode::Cmpn {
        by_class!(float, d, wide, true)
    } else {
        by_class!(float, d, wide, false)
    }
}

fn float<const N: usize, A: Load, B: Load, const NAN: bool>(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let a = A::get::<N>(t, &d.src[0]);
    let b = B::get::<N>(t, &d.src[1]);
    let mut set = match d.cond {
        CondMod::None | CondMod::R | CondMod::O => 0,
        CondMod::Z => bits::<N>(|i| a[i] == b[i]),
        CondMod::Nz => bits::<N>(|i| a[i] != b[i]),
        CondMod::G => bits::<N>(|i| a[i] > b[i]),
        CondMod::Ge => bits::<N>(|i| a[i] >= b[i]),
        CondMod::L => bits::<N>(|i| a[i] < b[i]),
        CondMod::Le => bits::<N>(|i| a[i] <= b[i]),
        CondMod::U => bits::<N>(|i| a[i].is_nan() || b[i].is_nan()),
    };
    if NAN {
        // A NaN in source 1 makes every comparison true but `.ne`, which it makes false.
        let nan = bits::<N>(|i| b[i].is_nan());
        match d.cond {
            CondMod::Z | CondMod::G | CondMod::Ge | CondMod::L | CondMod::Le => set |= nan,
            CondMod::Nz => set &= !nan,
            CondMod::None | CondMod::R | CondMod::O | CondMod::U => {}
        }
    }
    finish::<N>(t, d, mask, set)
}

pub(crate) fn int(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.write_mask(d);
    let a = t.load_int::<16>(&d.src[0]);
    let b = t.load_int::<16>(&d.src[1]);
    let set = compare_ints(d.cond, &a, &b);
    finish::<16>(t, d, mask, set)
}

/// The comparison of `sel`, `if` and `while` (Sandy Bridge PRM volume 4 part 2, 8.3): as `cmpn` for floats, so that a
/// minimum or maximum with NaN is the other source.
pub(crate) fn compare(t: &Thread, d: &Decoded, float: bool) -> u16 {
    if float {
        let a = t.load_float::<16>(&d.src[0]);
        let b = t.load_float::<16>(&d.src[1]);
        compare_floats(d.compare, &a, &b)
    } else {
        let a = t.load_int::<16>(&d.src[0]);
        let b = t.load_int::<16>(&d.src[1]);
        compare_ints(d.compare, &a, &b)
    }
}

/// As `cmpn` does.
#[inline(always)]
pub(crate) fn compare_floats<const N: usize>(cond: CondMod, a: &[f64; N], b: &[f64; N]) -> u16 {
    let nan = bits::<N>(|i| b[i].is_nan());
    match cond {
        CondMod::None | CondMod::R | CondMod::O => 0,
        CondMod::Z => bits::<N>(|i| a[i] == b[i]) | nan,
        CondMod::Nz => bits::<N>(|i| a[i] != b[i]) & !nan,
        CondMod::G => bits::<N>(|i| a[i] > b[i]) | nan,
        CondMod::Ge => bits::<N>(|i| a[i] >= b[i]) | nan,
        CondMod::L => bits::<N>(|i| a[i] < b[i]) | nan,
        CondMod::Le => bits::<N>(|i| a[i] <= b[i]) | nan,
        CondMod::U => bits::<N>(|i| a[i].is_nan()) | nan,
    }
}

/// Signed or unsigned by their types.
pub(crate) fn compare_ints<const N: usize>(cond: CondMod, a: &[i64; N], b: &[i64; N]) -> u16 {
    match cond {
        CondMod::None | CondMod::R | CondMod::O | CondMod::U => 0,
        CondMod::Z => bits::<N>(|i| a[i] == b[i]),
        CondMod::Nz => bits::<N>(|i| a[i] != b[i]),
        CondMod::G => bits::<N>(|i| a[i] > b[i]),
        CondMod::Ge => bits::<N>(|i| a[i] >= b[i]),
        CondMod::L => bits::<N>(|i| a[i] < b[i]),
        CondMod::Le => bits::<N>(|i| a[i] <= b[i]),
    }
}

/// Flags and the all-ones or zero result.
#[inline(always)]
pub(crate) fn finish<const N: usize>(t: &mut Thread, d: &Decoded, mask: u16, set: u16) -> Next {
    t.set_flags(d, mask, set);
    let mut r = [0; N];
    for (i, v) in r.iter_mut().enumerate() {
        *v = 0u32.wrapping_sub(u32::from(set >> i) & 1);
    }
    t.store_raw(&d.dst, mask, &r);
    Next::Seq
}
