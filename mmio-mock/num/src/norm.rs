//! Normalised integers: UNORM and SNORM of any width.
//!
//! PRM: volume 4 4.7.2.1.1 (UNORM, SNORM formats); conversion to integers rounds to nearest even.
//! Not modelled: the hardware's intermediate fixed point of the sampler (S1.14).

/// `num / den` rounded once to the nearest `f32` (`num <= den < 2^32`, `den` not 0).
fn ratio(num: u32, den: u32) -> f32 {
    if num == 0 {
        return 0.0;
    }
    // Scale the quotient to at least 2^26 so that integer rounding sees all bits, then keep a
    // sticky bit: the conversion from u64 rounds to nearest even.
    let shift = 26 + num.leading_zeros();
    let wide = (num as u128) << shift;
    let quotient = (wide / den as u128) as u64;
    let sticky = !wide.is_multiple_of(den as u128) as u64;
    // Exact: a power of two of moderate size.
    ((quotient << 1) | sticky) as f32 * f32::from_bits((127 - shift - 1) << 23)
}

/// The largest value of an unsigned field of `bits` bits (1..=32).
#[inline]
pub const fn max_unsigned(bits: u32) -> u32 {
    u32::MAX >> (32 - bits)
}

/// UNORM of `bits` bits (1..=32) to float: `v / (2^bits - 1)`, correctly rounded.
#[inline]
pub fn unorm_to_f32(v: u32, bits: u32) -> f32 {
    let max = max_unsigned(bits);
    if bits <= 24 {
        // Both are exact floats, so one IEEE division rounds once.
        (v & max) as f32 / max as f32
    } else {
        ratio(v & max, max)
    }
}

/// UNORM8 to float.
#[inline]
pub fn unorm8_to_f32(v: u8) -> f32 {
    v as f32 / 255.0
}

/// SNORM of `bits` bits (2..=32) to float: `v / (2^(bits-1) - 1)`, at least -1.
#[inline]
pub fn snorm_to_f32(v: u32, bits: u32) -> f32 {
    let max = max_unsigned(bits - 1);
    let v = crate::sign_extend(v, bits);
    if bits <= 24 {
        (v as f32 / max as f32).max(-1.0)
    } else {
        let magnitude = ratio(v.unsigned_abs().min(max), max);
        if v < 0 { -magnitude } else { magnitude }
    }
}

/// `v * max` rounded to the nearest even integer, for `v` in 0..=1.
#[inline]
fn scale(v: f32, max: u32) -> u32 {
    if max <= 0x0fff_ffff {
        // Exact product in f64 (24 + 28 bits); adding 2^52 rounds it to an integer in the low bits.
        const MAGIC: f64 = 4_503_599_627_370_496.0;
        return (v as f64 * max as f64 + MAGIC).to_bits() as u32;
    }
    let bits = v.to_bits();
    let exponent = bits >> 23;
    if exponent == 0 {
        return 0;
    }
    let product = ((bits & 0x7f_ffff) | 0x80_0000) as u128 * max as u128;
    // v = mantissa * 2^(exponent - 150); v <= 1, so the shift is at least 23.
    let shift = 150u32.saturating_sub(exponent);
    if shift > 64 {
        return 0;
    }
    let floor = (product >> shift) as u32;
    let rest = product & ((1 << shift) - 1);
    let half = 1u128 << (shift - 1);
    let up = rest > half || (rest == half && floor & 1 == 1);
    floor.wrapping_add(up as u32)
}

/// Float to UNORM of `bits` bits (1..=32): clamped to 0..=1 (NaN is 0), nearest even.
#[inline]
pub fn f32_to_unorm(v: f32, bits: u32) -> u32 {
    scale(crate::saturate(v), max_unsigned(bits))
}

/// Float to SNORM of `bits` bits (2..=32) in the low bits: clamped to -1..=1 (NaN is 0).
#[inline]
pub fn f32_to_snorm(v: f32, bits: u32) -> u32 {
    let magnitude = scale(crate::saturate(v.abs()), max_unsigned(bits - 1));
    let signed = if v < 0.0 {
        magnitude.wrapping_neg()
    } else {
        magnitude
    };
    signed & max_unsigned(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_unorm_equals_host_division() {
        for bits in 1..=16 {
            let max = (1u64 << bits) - 1;
            for v in 0..=max {
                let want = (v as f64 / max as f64) as f32;
                assert_eq!(unorm_to_f32(v as u32, bits), want);
                assert_eq!(f32_to_unorm(want, bits), v as u32, "{v}/{bits}");
            }
        }
    }

    #[test]
    fn snorm_equals_host_division_and_clamps() {
        for bits in 2..=16u32 {
            let max = (1i64 << (bits - 1)) - 1;
            for v in -max - 1..=max {
                let want = ((v as f64 / max as f64) as f32).max(-1.0);
                let raw = v as u32 & max_unsigned(bits);
                assert_eq!(snorm_to_f32(raw, bits), want);
                let back = v.max(-max) as u32 & max_unsigned(bits);
                assert_eq!(f32_to_snorm(want, bits), back);
            }
        }
    }

    #[test]
    fn rounding_is_to_nearest_even() {
        // Every float whose product with 255 lies near a boundary, against f64 arithmetic.
        for k in 0..255u32 {
            let boundary = ((k as f64 + 0.5) / 255.0) as f32;
            for step in -3i32..=3 {
                let v = f32::from_bits(boundary.to_bits().wrapping_add_signed(step));
                let want = (v as f64 * 255.0).round_ties_even() as u32;
                assert_eq!(f32_to_unorm(v, 8), want);
                assert_eq!(
                    f32_to_unorm(v, 24),
                    (v as f64 * 16_777_215.0).round_ties_even() as u32
                );
            }
        }
        assert_eq!(f32_to_unorm(0.5, 8), 128);
        assert_eq!(f32_to_unorm(0.5, 1), 0, "0.5 ties to even");
        assert_eq!(f32_to_unorm(0.5, 32), 0x8000_0000);
    }

    #[test]
    fn edges() {
        for bits in [1, 2, 8, 10, 16, 24, 29, 32] {
            assert_eq!(f32_to_unorm(f32::NAN, bits), 0);
            assert_eq!(f32_to_unorm(-1.0, bits), 0);
            assert_eq!(f32_to_unorm(f32::INFINITY, bits), max_unsigned(bits));
            assert_eq!(unorm_to_f32(max_unsigned(bits), bits), 1.0);
            assert_eq!(f32_to_unorm(f32::from_bits(1), bits), 0);
        }
        assert_eq!(f32_to_snorm(f32::NEG_INFINITY, 8), 0x81);
        assert_eq!(f32_to_snorm(f32::NAN, 8), 0);
        assert_eq!(f32_to_snorm(-1.0, 32), 0x8000_0001);
        assert_eq!(snorm_to_f32(0x8000_0000, 32), -1.0);
    }

    #[test]
    fn wide_unorm_against_exact_integers() {
        // Half an ulp either side, checked by cross multiplication in u128.
        let den = u32::MAX as u128;
        let mut v = 1u32;
        for _ in 0..20_000 {
            v = v.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let f = unorm_to_f32(v, 32);
            let exact_error = |x: f32| {
                // |x - v/den| scaled by den * 2^60
                let scaled = (x as f64 * 2f64.powi(60)) as u128 * den;
                scaled.abs_diff((v as u128) << 60)
            };
            let e = exact_error(f);
            assert!(e <= exact_error(f32::from_bits(f.to_bits() + 1)));
            assert!(e <= exact_error(f32::from_bits(f.to_bits() - 1)));
            // Float to UNORM32 against exact f64: v as f32 is m * 2^e, product needs 56 bits.
            let g = f32_to_unorm(f, 32) as i128;
            let p = (f as f64 * 2f64.powi(60)) as u128 * den; // exact: f has 24 bits above 2^-60
            let err = ((g as u128) << 60).abs_diff(p);
            assert!(err <= 1 << 59, "{v:#x}");
        }
    }
}
