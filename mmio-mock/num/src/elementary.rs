//! Logarithm, power of two, sine and cosine, the same on every host.
//!
//! Extended math promises 22 to 24 bits (PRM volume 4, 6.1); these have some 50, so that a result that is rounded to a
//! single float is nearly always the nearest one. They are sums and products of doubles in a fixed order. The host's own
//! functions differ from system to system, and on one system from processor to processor.

/// The first 28 bits of a quarter turn, the next 28, and the rest.
const QUARTER: [f64; 3] = [
    1.570_796_325_802_803,
    9.920_935_739_593_517e-10,
    5.721_188_726_109_832e-18,
];

/// The first 256 bits of two divided by pi, behind the point.
const QUARTERS: [u64; 4] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
];

/// From here on angles are reduced in integers: a quarter turn in three parts would not do.
const LARGE: f32 = 33_554_432.0;

/// Adding it rounds to an integer.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// A polynomial, its coefficients from the highest power down.
#[inline(always)]
fn polynomial<const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    let mut sum = 0.0;
    for c in coefficients {
        sum = sum * x + c;
    }
    sum
}

/// 1/n!, 1/(n-2)!, ... down to the factorial of 0 or 1, with changing signs so that the last is positive.
const fn alternating<const N: usize>(n: u32) -> [f64; N] {
    let mut out = [0.0; N];
    let (mut i, mut n) = (0, n);
    while i < N {
        let sign = if (N - 1 - i).is_multiple_of(2) {
            1.0
        } else {
            -1.0
        };
        out[i] = sign / factorial(n);
        i += 1;
        n = n.saturating_sub(2);
    }
    out
}

/// 1/n!, 1/(n-1)!, ... down to that of 0.
const fn reciprocals<const N: usize>(n: u32) -> [f64; N] {
    let mut out = [0.0; N];
    let (mut i, mut n) = (0, n);
    while i < N {
        out[i] = 1.0 / factorial(n);
        i += 1;
        n = n.saturating_sub(1);
    }
    out
}

/// Exact up to that of 18.
const fn factorial(n: u32) -> f64 {
    let (mut out, mut i) = (1.0, 2);
    while i <= n {
        out *= i as f64;
        i += 1;
    }
    out
}

/// 1/(2n-1), 1/(2n-3), ... down to 1.
const fn odd<const N: usize>() -> [f64; N] {
    let mut out = [0.0; N];
    let mut i = 0;
    while i < N {
        out[i] = 1.0 / (2 * (N - 1 - i) + 1) as f64;
        i += 1;
    }
    out
}

/// The logarithm to base 2. Of zero -infinity; of what is below, and of NaN, NaN.
#[inline]
#[must_use]
pub fn log2(x: f64) -> f64 {
    log2_by::<12>(x)
}

/// Coefficients of the series of [`log2_single`], from the highest power down: for loops that are to give the same.
pub const LOG2_SINGLE: [f64; 7] = odd();

/// The same of a single float, to some 38 bits before it is rounded: in less time.
#[inline]
#[must_use]
pub fn log2_single(x: f32) -> f32 {
    log2_by::<7>(x.into()) as f32
}

/// The logarithm by so many terms of its series.
#[inline(always)]
fn log2_by<const TERMS: usize>(x: f64) -> f64 {
    // The fraction lies between the roots of one half and of two, where the logarithm crosses zero.
    const ROOT: u64 = 0x3fe6_a09e_667f_3bcd;
    let bits = x.to_bits();
    let above = bits.wrapping_sub(ROOT);
    let exponent = (above as i64) >> 52;
    let fraction = f64::from_bits(bits.wrapping_sub((exponent as u64) << 52));
    let s = (fraction - 1.0) / (fraction + 1.0);
    let z = s * s;
    let natural = 2.0 * s * polynomial(z, const { odd::<TERMS>() });
    let result = natural * std::f64::consts::LOG2_E + exponent as f64;
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if (f64::MIN_POSITIVE..f64::INFINITY).contains(&x) {
        result
    } else if x > 0.0 && x < f64::INFINITY {
        // Denormal: with an exponent that it can have.
        log2_denormal(x)
    } else if x > 0.0 {
        x
    } else {
        f64::NAN
    }
}

#[cold]
fn log2_denormal(x: f64) -> f64 {
    log2(x * 2f64.powi(64)) - 64.0
}

/// Two to the power of x: zero below -1022.
#[inline]
#[must_use]
pub fn exp2(x: f64) -> f64 {
    // Beyond, all that singles can hold is infinite or zero. A NaN goes through.
    let near = x.clamp(-1022.0, 1023.0);
    let whole = (near + ROUND) - ROUND;
    let t = (near - whole) * std::f64::consts::LN_2;
    let power = polynomial(t, const { reciprocals::<15>(14) });
    // CAST: between -1022 and 1023; a NaN's is of no account.
    let scale = f64::from_bits(((whole as i64).wrapping_add(1023) as u64) << 52);
    let result = power * scale;
    if x > 1024.0 {
        f64::INFINITY
    } else if x < -1022.0 {
        0.0
    } else {
        result
    }
}

/// An angle as what is left of it beyond a number of quarter turns, between minus and plus an eighth; and that number, modulo
/// four.
#[inline]
fn reduced(x: f32) -> (f64, u32) {
    if x.abs() >= LARGE {
        return reduced_large(x);
    }
    let x = f64::from(x);
    let count = (x * std::f64::consts::FRAC_2_PI + ROUND) - ROUND;
    let [first, second, third] = QUARTER;
    let rest = ((x - count * first) - count * second) - count * third;
    // CAST: below 2^25; two's complement keeps the number modulo four.
    (rest, count as i64 as u32 & 3)
}

/// The same for large angles: as many bits of two divided by pi as matter, times the 24 of the angle.
#[cold]
fn reduced_large(x: f32) -> (f64, u32) {
    let bits = x.to_bits();
    let exponent = (bits >> 23 & 0xff) as i32 - 150;
    if exponent > 104 {
        // Infinite or NaN.
        return (f64::NAN, 0);
    }
    let mantissa = u128::from(bits & 0x7f_ffff | 0x80_0000);
    // Bits before these are multiples of four quarter turns. CAST: 0 to 102.
    let first = (exponent - 2).max(0) as u32;
    let word = |n: u32| u128::from(QUARTERS.get(n as usize).copied().unwrap_or(0));
    let at = first / 64;
    let (high, low) = (word(at) << 64 | word(at + 1), word(at + 2) << 64);
    let shift = first % 64;
    let window = high << shift | low.checked_shr(128 - shift).unwrap_or(0);
    let turns = window.wrapping_mul(mantissa);
    // Two bits of quarter turns, then their fraction; to the nearest of them.
    let count = (turns.wrapping_add(1 << 125) >> 126) as u32;
    let fraction = (turns << 2).cast_signed() as f64 * 2f64.powi(-128);
    let rest = fraction * std::f64::consts::FRAC_PI_2;
    if x < 0.0 {
        (-rest, count.wrapping_neg() & 3)
    } else {
        (rest, count & 3)
    }
}

/// The sine of an angle and of one a quarter turn on, by the number of quarter turns that were taken from the angle.
#[inline]
fn turned(rest: f64, count: u32) -> f64 {
    let z = rest * rest;
    let sine = rest * polynomial(z, const { alternating::<9>(17) });
    let cosine = polynomial(z, const { alternating::<10>(18) });
    let value = if count & 1 == 0 { sine } else { cosine };
    if count & 2 == 0 { value } else { -value }
}

/// The sine of radians; of what is infinite, NaN.
#[inline]
#[must_use]
pub fn sin(x: f32) -> f64 {
    let (rest, count) = reduced(x);
    turned(rest, count)
}

/// The cosine of radians; of what is infinite, NaN.
#[inline]
#[must_use]
pub fn cos(x: f32) -> f64 {
    let (rest, count) = reduced(x);
    turned(rest, count.wrapping_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every exponent, both signs, and what lies around multiples of an eighth of a turn.
    fn angles() -> Vec<f32> {
        let mut out = Vec::new();
        let mut seed = 1u32;
        for n in 0..400_000 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            out.push(f32::from_bits(seed));
            let eighth = f64::from(n) * std::f64::consts::FRAC_PI_4;
            out.push(eighth as f32);
            out.push((eighth as f32).next_up());
        }
        out.retain(|x| x.is_finite());
        out
    }

    /// How far a value is from what the host has, in units of its last place; the host is wrong by one at most.
    fn off(ours: f64, host: f64) -> f64 {
        if ours.to_bits() == host.to_bits() || ours.is_nan() && host.is_nan() {
            return 0.0;
        }
        let unit = (host.abs().next_up() - host.abs()).max(f64::MIN_POSITIVE);
        (ours - host).abs() / unit
    }

    /// Single floats that are not the host's: both are within a hair of half-way between two.
    fn compare(name: &str, values: &[f32], ours: impl Fn(f32) -> f64, host: impl Fn(f32) -> f64) {
        let (mut worst, mut singles) = (0.0f64, 0);
        for &x in values {
            let (a, b) = (ours(x), host(x));
            let distance = off(a, b);
            assert!(distance < 16.0, "{name}({x:e}): {a:e}, the host's {b:e}");
            worst = worst.max(distance);
            singles += u32::from((a as f32).to_bits() != (b as f32).to_bits() && !b.is_nan());
        }
        println!(
            "{name}: {worst} units of {} values, {singles} singles differ",
            values.len()
        );
        assert_eq!(singles, 0, "{name}");
    }

    #[test]
    fn results_are_those_of_the_host_within_a_few_units() {
        let angles = angles();
        compare("sin", &angles, sin, |x| f64::from(x).sin());
        compare("cos", &angles, cos, |x| f64::from(x).cos());
        let positive: Vec<f32> = angles.iter().map(|x| x.abs()).collect();
        compare(
            "log2",
            &positive,
            |x| log2(x.into()),
            |x| f64::from(x).log2(),
        );
        let powers: Vec<f32> = angles.iter().map(|x| x % 160.0).collect();
        compare("exp2", &powers, |x| exp2(x.into()), |x| f64::from(x).exp2());
    }

    #[test]
    fn the_short_logarithm_is_nearly_always_the_nearest_single() {
        let mut others = 0;
        let angles = angles();
        for x in angles.iter().map(|x| x.abs()) {
            let (ours, host) = (log2_single(x), f64::from(x).log2() as f32);
            if ours.to_bits() != host.to_bits() {
                assert!(ours == host.next_up() || ours == host.next_down(), "{x:e}");
                others += 1;
            }
        }
        assert!(others < angles.len() / 5000, "{others} of {}", angles.len());
        assert_eq!(log2_single(0.0), f32::NEG_INFINITY);
        assert_eq!(log2_single(f32::INFINITY), f32::INFINITY);
        assert!(log2_single(-1.0).is_nan() && log2_single(f32::NAN).is_nan());
        // The smallest denormal of a single is a normal double.
        assert_eq!(log2_single(f32::from_bits(1)), -149.0);
        assert_eq!(log2(f64::from_bits(1)), -1074.0);
    }

    #[test]
    fn the_neighbourhood_of_one_keeps_its_digits() {
        let near: Vec<f32> = (0..4000)
            .map(|n| f32::from_bits(0x3f80_0000 - 2000 + n))
            .collect();
        compare("log2", &near, |x| log2(x.into()), |x| f64::from(x).log2());
    }

    #[test]
    fn special_values() {
        assert_eq!(log2(0.0), f64::NEG_INFINITY);
        assert_eq!(log2(-0.0), f64::NEG_INFINITY);
        assert_eq!(log2(f64::INFINITY), f64::INFINITY);
        assert!(log2(-1.0).is_nan() && log2(f64::NAN).is_nan() && log2(f64::NEG_INFINITY).is_nan());
        assert_eq!((log2(1.0), log2(8.0), log2(0.125)), (0.0, 3.0, -3.0));
        assert_eq!(log2(f64::from_bits(1)), -1074.0);
        assert_eq!((exp2(0.0), exp2(-3.0), exp2(10.0)), (1.0, 0.125, 1024.0));
        assert_eq!(exp2(f64::INFINITY), f64::INFINITY);
        assert_eq!(exp2(f64::NEG_INFINITY), 0.0);
        assert_eq!((exp2(1e300), exp2(-1e300)), (f64::INFINITY, 0.0));
        assert!(exp2(f64::NAN).is_nan());
        assert_eq!(sin(0.0).to_bits(), 0);
        assert_eq!(sin(-0.0).to_bits(), (-0.0f64).to_bits());
        assert_eq!((cos(0.0), cos(-0.0)), (1.0, 1.0));
        for x in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            assert!(sin(x).is_nan() && cos(x).is_nan());
        }
    }

    /// Values with 70 digits by mpmath, as the nearest doubles; angles far out and beside zeros of their functions.
    #[test]
    fn known_bits() {
        let known = [
            (sin(1e30), 0xbfe9_5135_fcc7_c53c),
            (cos(3.4e38), 0x3fef_0839_462e_7fbd),
            (sin(33_554_432.0), 0xbfef_3fa1_3093_9baf),
            (cos(20_000_000.0), 0x3fe4_ae51_85bc_07f7),
            (sin(std::f32::consts::PI), 0xbe77_77a5_cf72_cec6),
            (cos(std::f32::consts::FRAC_PI_2), 0xbe67_77a5_cf72_cecc),
            (log2(f64::from(1.0f32.next_up())), 0x3e87_1547_4e16_3bb8),
            (exp2(-126.7), 0x3803_b2c4_7bff_831e),
        ];
        for (ours, bits) in known {
            assert!(
                ours.to_bits().abs_diff(bits) <= 3,
                "{ours:e} {:x} {bits:x}",
                ours.to_bits()
            );
        }
    }
}
