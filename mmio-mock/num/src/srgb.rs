//! The sRGB transfer function, both ways.
//!
//! PRM: volume 4 4.7.2.1.1 (formats `*_SRGB`); the curve is IEC 61966-2-1.
//! Not modelled: the hardware's piecewise approximation, which is not published.

use std::sync::LazyLock;

/// The curve from encoded to linear, in f64.
pub fn decode(v: f64) -> f64 {
    if v <= 0.04045 {
        v / 12.92
    } else {
        ((v + 0.055) / 1.055).powf(2.4)
    }
}

/// The curve from linear to encoded, in f64.
pub fn encode(v: f64) -> f64 {
    if v <= 0.003_130_8 {
        v * 12.92
    } else {
        1.055 * v.powf(1.0 / 2.4) - 0.055
    }
}

static TO_LINEAR: LazyLock<[f32; 256]> =
    LazyLock::new(|| std::array::from_fn(|i| decode(i as f64 / 255.0) as f32));

/// `THRESHOLDS[i]` is the smallest float that encodes to `i + 1`.
static THRESHOLDS: LazyLock<[f32; 255]> = LazyLock::new(|| {
    std::array::from_fn(|i| {
        let (mut lo, mut hi) = (0u32, 1f32.to_bits());
        while lo < hi {
            let mid = u32::midpoint(lo, hi);
            if encode_exact(f32::from_bits(mid)) > i as u32 {
                hi = mid;
            } else {
                lo = mid + 1;
            }
        }
        f32::from_bits(lo)
    })
});

fn encode_exact(v: f32) -> u32 {
    (encode(v as f64) * 255.0).round_ties_even() as u32
}

/// An encoded byte as a linear float.
#[inline]
pub fn srgb8_to_linear(v: u8) -> f32 {
    TO_LINEAR[v as usize]
}

/// [`srgb8_to_linear`] of each byte.
#[inline]
#[must_use]
pub fn linear_of_bytes() -> &'static [f32; 256] {
    &TO_LINEAR
}

/// A linear float as an encoded byte: clamped (NaN is 0), nearest.
#[inline]
pub fn linear_to_srgb8(v: f32) -> u8 {
    let v = crate::saturate(v);
    THRESHOLDS.partition_point(|&t| t <= v) as u8
}

/// A linear float as an encoded field of `bits` bits (1..=16).
pub fn linear_to_srgb(v: f32, bits: u32) -> u32 {
    if bits == 8 {
        return linear_to_srgb8(v) as u32;
    }
    let max = crate::norm::max_unsigned(bits) as f64;
    (encode(crate::saturate(v) as f64) * max).round_ties_even() as u32
}

/// An encoded field of `bits` bits (1..=16) as a linear float.
pub fn srgb_to_linear(v: u32, bits: u32) -> f32 {
    if bits == 8 {
        return srgb8_to_linear(v as u8);
    }
    let max = crate::norm::max_unsigned(bits);
    decode((v & max) as f64 / max as f64) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values() {
        // IEC 61966-2-1: the knee is at 0.0031308; mid grey 0.5 is 188, byte 128 is 0.2158605.
        assert_eq!(linear_to_srgb8(0.5), 188);
        assert!((srgb8_to_linear(128) - 0.215_860_5).abs() < 1e-6);
        assert!((srgb8_to_linear(1) - 0.000_303_527).abs() < 1e-9);
        assert_eq!((linear_to_srgb8(0.0), linear_to_srgb8(1.0)), (0, 255));
        assert_eq!((linear_to_srgb8(f32::NAN), linear_to_srgb8(-4.0)), (0, 0));
        assert_eq!(linear_to_srgb8(9.0), 255);
    }

    #[test]
    fn bytes_survive_and_the_table_equals_the_curve() {
        for b in 0..=255 {
            assert_eq!(linear_to_srgb8(srgb8_to_linear(b)), b);
            assert_eq!(linear_to_srgb(srgb_to_linear(b as u32, 8), 8), b as u32);
        }
        for i in 0..=100_000 {
            let v = i as f32 / 100_000.0;
            assert_eq!(linear_to_srgb8(v) as u32, encode_exact(v));
        }
        for v in 0..1024 {
            assert_eq!(linear_to_srgb(srgb_to_linear(v, 10), 10), v);
        }
    }
}
