//! Small floats: half (1-5-10), 11-bit (5-6) and 10-bit (5-5).
//!
//! PRM: volume 4 4.7.2.1.1 (R16_FLOAT, R11G11B10_FLOAT), which has no rule for rounding. Direct3D 10, for which these
//! parts were made, has one (its data conversion rules): from float to a smaller float towards zero, so that a finite
//! value too large becomes the largest finite one. EXT_packed_float allows that and the nearest.
//! Not modelled: flushing of denormals, which no unit of these formats does.

use std::cmp::Ordering;

/// The magnitude bits of a finite float with 5 exponent bits and `mantissa` mantissa bits, towards zero.
#[inline]
fn narrow(magnitude: u32, mantissa: u32) -> u32 {
    let drop = 23 - mantissa;
    let largest = (31 << mantissa) - 1;
    // Exponent 112 is where a 5-bit exponent becomes 0.
    if magnitude >= 113 << 23 {
        return ((magnitude - (112 << 23)) >> drop).min(largest);
    }
    // Denormal result: shift the mantissa with its hidden bit. A denormal float is below all of them.
    let shift = drop + 113 - (magnitude >> 23);
    let full = (magnitude & 0x7f_ffff) | 0x80_0000;
    full.checked_shr(shift).unwrap_or(0)
}

/// The float of magnitude bits with 5 exponent bits and `mantissa` mantissa bits.
#[inline]
fn widen(v: u32, mantissa: u32) -> f32 {
    let shift = 23 - mantissa;
    let exponent = v >> mantissa;
    match exponent {
        0 => (v & ((1 << mantissa) - 1)) as f32 * f32::from_bits((127 - 14 - mantissa) << 23),
        31 => f32::from_bits((v << shift) | 0x7f80_0000),
        _ => f32::from_bits((v << shift) + (112 << 23)),
    }
}

/// Float to half, towards zero: too large is 65504. NaNs stay NaNs (quiet, upper payload bits kept).
#[inline]
pub fn f32_to_f16(v: f32) -> u16 {
    let bits = v.to_bits();
    let sign = (bits >> 16) & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    let out = match magnitude.cmp(&0x7f80_0000) {
        Ordering::Greater => 0x7e00 | ((magnitude >> 13) & 0x3ff),
        Ordering::Equal => 0x7c00,
        Ordering::Less => narrow(magnitude, 10),
    };
    (sign | out) as u16
}

/// Half to float, exact. A signalling NaN keeps its payload.
#[inline]
pub fn f16_to_f32(v: u16) -> f32 {
    let sign = ((v & 0x8000) as u32) << 16;
    f32::from_bits(widen((v & 0x7fff) as u32, 10).to_bits() | sign)
}

fn to_unsigned(v: f32, mantissa: u32) -> u32 {
    let infinity = 31 << mantissa;
    if v.is_nan() {
        return infinity | 1;
    }
    if v <= 0.0 {
        return 0;
    }
    if v.is_infinite() {
        return infinity;
    }
    narrow(v.to_bits(), mantissa)
}

/// Float to an unsigned 11-bit float: negatives are 0, too large is 65024.
#[inline]
pub fn f32_to_f11(v: f32) -> u32 {
    to_unsigned(v, 6)
}

/// Float to an unsigned 10-bit float: negatives are 0, too large is 64512.
#[inline]
pub fn f32_to_f10(v: f32) -> u32 {
    to_unsigned(v, 5)
}

/// Unsigned 11-bit float (low bits) to float, exact.
#[inline]
pub fn f11_to_f32(v: u32) -> f32 {
    widen(v & 0x7ff, 6)
}

/// Unsigned 10-bit float (low bits) to float, exact.
#[inline]
pub fn f10_to_f32(v: u32) -> f32 {
    widen(v & 0x3ff, 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// IEEE value of a small float by its definition, in f64.
    fn by_definition(v: u32, mantissa: i32) -> f64 {
        let e = (v >> mantissa) as i32;
        let m = (v & ((1 << mantissa) - 1)) as f64;
        match e {
            0 => m * 2f64.powi(-14 - mantissa),
            31 if m == 0.0 => f64::INFINITY,
            31 => f64::NAN,
            _ => (1.0 + m * 2f64.powi(-mantissa)) * 2f64.powi(e - 15),
        }
    }

    #[test]
    fn widening_is_exact() {
        for v in 0..0x800 {
            let (a, b) = (f11_to_f32(v) as f64, by_definition(v, 6));
            assert!(a == b || (a.is_nan() && b.is_nan()));
            let (a, b) = (f10_to_f32(v) as f64, by_definition(v & 0x3ff, 5));
            assert!(a == b || (a.is_nan() && b.is_nan()));
        }
        for v in 0..=u16::MAX {
            let h = half::f16::from_bits(v);
            let (a, b) = (f16_to_f32(v), h.to_f32());
            assert!(a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()));
        }
    }

    /// The half nearest to a float by another program, then towards zero.
    fn truncated(f: f32) -> half::f16 {
        let nearest = half::f16::from_f32(f);
        let too_far = nearest.to_f32().abs() > f.abs();
        // The bits of a magnitude count upwards from zero to infinity.
        half::f16::from_bits(nearest.to_bits() - u16::from(too_far))
    }

    #[test]
    fn halves_are_cut() {
        // Every 251st float of all, and every float next to a half and to a midpoint.
        let check = |bits: u32| {
            let f = f32::from_bits(bits);
            let want = truncated(f);
            let got = f32_to_f16(f);
            assert!(
                got == want.to_bits() || (f.is_nan() && half::f16::from_bits(got).is_nan()),
                "{bits:#010x}: {got:#06x}"
            );
        };
        for bits in (0..=u32::MAX).step_by(251) {
            check(bits);
        }
        for v in 0..0x7c00u16 {
            let here = f16_to_f32(v).to_bits();
            let mid = f32::midpoint(f16_to_f32(v), f16_to_f32(v + 1)).to_bits();
            for at in [here, mid] {
                for step in -2..=2 {
                    check(at.wrapping_add_signed(step));
                }
            }
        }
        assert_eq!(f32_to_f16(1e30), 0x7bff);
        assert_eq!(f32_to_f16(f32::NEG_INFINITY), 0xfc00);
    }

    #[test]
    fn unsigned_floats_are_cut() {
        for (mantissa, max, to) in [
            (6, 0x7bfu32, f32_to_f11 as fn(f32) -> u32),
            (5, 0x3df, f32_to_f10),
        ] {
            for v in 0..max {
                let (lo, hi) = (by_definition(v, mantissa), by_definition(v + 1, mantissa));
                let mid = f64::midpoint(lo, hi) as f32;
                assert_eq!(to(lo as f32), v);
                assert_eq!(to(mid), v);
                assert_eq!(to(f32::from_bits((hi as f32).to_bits() - 1)), v);
            }
            assert_eq!(to(1e30), max);
            assert_eq!(to(f32::INFINITY), max + 1);
            assert_eq!(to(-3.0), 0);
            assert_eq!(to(f32::NEG_INFINITY), 0);
            assert!(to(f32::NAN) > max + 1);
        }
        assert_eq!(f11_to_f32(0x7bf), 65024.0);
        assert_eq!(f10_to_f32(0x3df), 64512.0);
    }
}
