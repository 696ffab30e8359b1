//! R9G9B9E5: three 9-bit mantissas with one 5-bit exponent.
//!
//! PRM: volume 4 4.7.2.1.1 (R9G9B9E5_SHAREDEXP; encoding of EXT_texture_shared_exponent).
//! Not modelled: nothing; the format is sampled and never rendered to.

/// Largest value: 511/512 * 2^16.
const MAX: f32 = 65408.0;

/// The colours of a packed word.
#[inline]
pub fn rgb9e5_to_f32x3(v: u32) -> [f32; 3] {
    // Bias 15 and 9 fraction bits: scale 2^(e - 24).
    let scale = f32::from_bits(((v >> 27) + 127 - 24) << 23);
    [v, v >> 9, v >> 18].map(|c| (c & 0x1ff) as f32 * scale)
}

/// Packs colours: clamped to 0..=65408, NaN is 0, mantissas rounded as the extension says.
#[expect(
    clippy::manual_clamp,
    reason = "max returns 0 for a NaN, clamp does not"
)]
pub fn f32x3_to_rgb9e5(rgb: [f32; 3]) -> u32 {
    let rgb = rgb.map(|c| c.max(0.0).min(MAX));
    let max = rgb[0].max(rgb[1]).max(rgb[2]);
    // Biased exponent of the largest, at least -16.
    let floor_log2 = ((max.to_bits() >> 23) as i32 - 127).max(-16);
    let mut exponent = floor_log2 + 1 + 15;
    let scale = |e: i32| 2f64.powi(24 - e);
    if (max as f64 * scale(exponent) + 0.5).floor() as u32 == 512 {
        exponent += 1;
    }
    let m = rgb.map(|c| (c as f64 * scale(exponent) + 0.5).floor() as u32);
    (exponent as u32) << 27 | m[2] << 18 | m[1] << 9 | m[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_the_extension() {
        assert_eq!(rgb9e5_to_f32x3(0), [0.0; 3]);
        // Exponent 16, mantissa 256: 256/512 * 2^(16-15) = 1.
        assert_eq!(rgb9e5_to_f32x3(16 << 27 | 256), [1.0, 0.0, 0.0]);
        assert_eq!(rgb9e5_to_f32x3(u32::MAX), [65408.0; 3]);
        assert_eq!(
            f32x3_to_rgb9e5([1.0, 0.5, 0.25]),
            16 << 27 | 64 << 18 | 128 << 9 | 256
        );
        assert_eq!(
            f32x3_to_rgb9e5([f32::INFINITY, -1.0, f32::NAN]),
            31 << 27 | 511
        );
        // 511.5/512 rounds to 512: the exponent steps up.
        assert_eq!(
            f32x3_to_rgb9e5([1.0 - 1.0 / 2048.0, 0.0, 0.0]),
            16 << 27 | 256
        );
    }

    #[test]
    fn normalised_words_survive_the_round_trip() {
        for e in 0..32u32 {
            for m in 0..512u32 {
                // The largest mantissa has its top bit set, except at exponent 0.
                let word = e << 27 | 300 << 18 | m << 9 | (511 - m);
                assert_eq!(f32x3_to_rgb9e5(rgb9e5_to_f32x3(word)), word);
            }
        }
    }
}
