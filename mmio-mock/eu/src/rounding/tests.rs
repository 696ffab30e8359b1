//! Rounding against the arithmetic of `rustc_apfloat` and of the host.
//!
//! PRM: Sandy Bridge volume 4 part 2, rounding of floats.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::{Rounding, int_to_odd, nearest_all, sum_to_odd, sum_toward_zero};
use crate::operand::narrow;
use rustc_apfloat::ieee::{Double, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

const MODES: [(Rounding, Round); 4] = [
    (Rounding::Nearest, Round::NearestTiesToEven),
    (Rounding::Up, Round::TowardPositive),
    (Rounding::Down, Round::TowardNegative),
    (Rounding::Zero, Round::TowardZero),
];

/// Single float bits without a denormal.
fn flushed(bits: u128) -> u32 {
    let bits = bits as u32;
    if bits & 0x7f80_0000 == 0 {
        bits & 0x8000_0000
    } else {
        bits
    }
}

/// Floats whose exponents are near each other, now and then far.
fn random(rng: &mut fastrand::Rng) -> f32 {
    let spread = if rng.u8(..4) == 0 { 254 } else { 60 };
    let exponent = 127 - spread / 2 + rng.u32(..spread);
    f32::from_bits(rng.u32(..) & 0x807f_ffff | exponent.clamp(1, 254) << 23)
}

#[test]
fn products_and_sums_round_once() {
    let mut rng = fastrand::Rng::with_seed(60);
    for _ in 0..200_000 {
        let (a, b, c) = (random(&mut rng), random(&mut rng), random(&mut rng));
        let (x, y, z) = (f64::from(a), f64::from(b), f64::from(c));
        let single = |v: f32| Single::from_bits(u128::from(v.to_bits()));
        for (ours, round) in MODES {
            let mad = single(a).mul_add_r(single(b), single(c), round).value;
            let got = ours.narrow(sum_to_odd(x * y, z));
            assert_eq!(
                got,
                flushed(mad.to_bits()),
                "{ours:?} {a:e} * {b:e} + {c:e}"
            );
            let add = single(a).add_r(single(c), round).value;
            let got = ours.narrow(sum_to_odd(x, z));
            assert_eq!(got, flushed(add.to_bits()), "{ours:?} {a:e} + {c:e}");
            if ours == Rounding::Zero {
                assert_eq!(narrow(sum_toward_zero(x, z)), got, "{a:e} + {c:e}");
            }
            let mul = single(a).mul_r(single(b), round).value;
            assert_eq!(
                ours.narrow(x * y),
                flushed(mul.to_bits()),
                "{ours:?} {a:e} * {b:e}"
            );
        }
        // Twice to the nearest is once to the nearest.
        let add = (a + c).to_bits();
        assert_eq!(nearest_all(&[x + z; 4]).unwrap()[0], flushed(add.into()));
    }
}

#[test]
fn doubles_narrow_in_each_mode() {
    let mut rng = fastrand::Rng::with_seed(61);
    for _ in 0..200_000 {
        let exponent = 1023 - 130 + rng.u64(..262);
        let bits = rng.u64(..) & !(0x7ff << 52) | exponent << 52;
        let x = f64::from_bits(bits);
        for (ours, round) in MODES {
            let wide = Double::from_bits(u128::from(bits));
            let narrow: Single = wide.convert_r(round, &mut false).value;
            let expected = flushed(narrow.to_bits());
            assert_eq!(ours.narrow(x), expected, "{ours:?} {x:e}");
        }
    }
}

#[test]
fn integers_round_once() {
    let mut rng = fastrand::Rng::with_seed(62);
    for _ in 0..100_000 {
        let v = rng.i64(..) >> rng.u32(..64);
        for (ours, round) in MODES {
            let expected = Single::from_i128_r(i128::from(v), round).value;
            assert_eq!(
                ours.narrow(int_to_odd(v)),
                expected.to_bits() as u32,
                "{ours:?} {v}"
            );
        }
    }
}

/// Mesa 22.3.6 `brw_eu_defines.h`: `BRW_RND_MODE_RTNE` 0, `RU` 1, `RD` 2, `RTZ` 3 in bits 5:4.
#[test]
fn control_register_chooses() {
    let modes = [0, 1, 2, 3].map(|mode| Rounding::of(mode << 4 | 1 << 15 | 1));
    assert_eq!(modes, MODES.map(|(ours, _)| ours));
}
