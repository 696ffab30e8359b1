//! Ordered dithering of narrow colour channels.
//!
//! PRM: volume 2, windower (colour dithering: a 4x4 matrix by pixel position and offset, added to
//! the bits that truncation drops). The matrix itself is not published: the usual Bayer one
//! stands in. Not modelled: any dithering of channels of 8 and more bits.

/// Sixteenths of the last kept bit, by row and column.
const MATRIX: [[u8; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];

/// Channels narrower than this are dithered.
pub const WIDTH_LIMIT: u32 = 8;

/// The dither value (0..16) at a pixel with the state's offsets.
#[inline]
pub const fn value(x: u32, y: u32, offset: (u32, u32)) -> u32 {
    let column = x.wrapping_add(offset.0) & 3;
    let row = y.wrapping_add(offset.1) & 3;
    MATRIX[row as usize][column as usize] as u32
}

/// A colour moved so that rounding to `bits` bits gives the dithered, truncated field.
#[inline]
pub fn apply(v: f32, bits: u32, value: u32) -> f32 {
    let max = num::norm::max_unsigned(bits) as f32;
    let field = (num::saturate(v) * max + value as f32 / 16.0)
        .floor()
        .min(max);
    field / max
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_matrix_holds_each_value_once() {
        let mut seen = [false; 16];
        for y in 0..4 {
            for x in 0..4 {
                seen[value(x, y, (1, 2)) as usize] = true;
            }
        }
        assert!(seen.iter().all(|&s| s));
    }

    #[test]
    fn the_average_keeps_the_colour() {
        for i in 0..=64u32 {
            let v = i as f32 / 64.0;
            let sum: f32 = (0..16).map(|d| apply(v, 5, d)).sum();
            assert!((sum / 16.0 - v).abs() <= 1.0 / 31.0 / 16.0 + 1e-6, "{v}");
        }
        for d in 0..16 {
            assert_eq!(apply(1.0, 5, d), 1.0);
            assert_eq!(apply(0.0, 5, d), 0.0);
        }
    }
}
