//! Fixed-point screen coordinates.
//!
//! PRM: volume 2, strips-and-fans (Vertex Sub Pixel Precision Select, Destination Origin Bias).
//! Coordinates are biased so that the sample point of pixel (x, y) is exactly (x, y): with the
//! bias of 0.5 that OpenGL asks for, a vertex on a pixel's centre has integer coordinates.
//!
//! Not modelled: the range in which the hardware's own setup arithmetic is exact.

/// Fraction bits that the unit computes with; 4-bit precision keeps the lower four zero.
pub const FRACTION: u32 = 8;

/// One pixel.
pub const ONE: i64 = 1 << FRACTION;

/// Farthest coordinate in pixels: products of two differences stay within 64 bits.
pub const LIMIT: f64 = 524_288.0;

/// A point in 1/256 pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Point {
    /// To the right.
    pub x: i64,
    /// Downwards.
    pub y: i64,
}

/// Rounds a coordinate to the subpixel grid of `bits` fraction bits, with `bias` pixels taken off
/// first; `None` for a NaN. Coordinates beyond [`LIMIT`] are moved to it.
pub fn snap(value: f32, bias: f32, bits: u8) -> Option<i64> {
    if value.is_nan() {
        return None;
    }
    let bits = u32::from(bits).min(FRACTION);
    let scaled =
        (f64::from(value) - f64::from(bias)).clamp(-LIMIT, LIMIT) * f64::from(1u32 << bits);
    // CAST: clamped above, so the value fits with room to spare.
    Some((scaled.round() as i64) << (FRACTION - bits))
}

/// The first pixel at or after a coordinate.
pub const fn ceil(value: i64) -> i64 {
    -((-value) >> FRACTION)
}

/// The last pixel at or before a coordinate.
pub const fn floor(value: i64) -> i64 {
    value >> FRACTION
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_bit_precision_rounds_to_sixteenths() {
        assert_eq!(snap(1.0 + 3.0 / 64.0, 0.0, 4), Some(256 + 16));
        assert_eq!(snap(1.0 + 3.0 / 64.0, 0.0, 8), Some(256 + 12));
    }

    #[test]
    fn the_bias_puts_centres_on_integers() {
        assert_eq!(snap(7.5, 0.5, 8), Some(7 * ONE));
        assert_eq!((ceil(1), floor(1), ceil(-1), floor(-1)), (1, 0, 0, -1));
        assert_eq!((ceil(256), floor(256)), (1, 1));
    }

    #[test]
    fn no_number_is_too_large() {
        assert_eq!(snap(f32::NAN, 0.5, 8), None);
        assert_eq!(snap(f32::INFINITY, 0.5, 8), Some(524_288 * ONE));
        assert_eq!(snap(f32::MIN, 0.5, 8), Some(-524_288 * ONE));
    }
}
