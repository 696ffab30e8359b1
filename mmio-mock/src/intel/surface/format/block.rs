//! Block-compressed colours: BC1, BC2 and BC3 (S3TC), BC4 and BC5 (RGTC).
//!
//! PRM: volume 4 4.7.2.1.1 (BC1..BC3); the encodings are those of EXT_texture_compression_s3tc and
//! ARB_texture_compression_rgtc.
//! Not modelled: the hardware's own rounding of the interpolated colours.

use num::{srgb8_to_linear, unorm8_to_f32};

/// An endpoint of 5:6:5 bits widened to bytes by repeating its top bits.
const fn widen565(c: u16) -> [u32; 3] {
    let (r, g, b) = (c as u32 >> 11, c as u32 >> 5 & 63, c as u32 & 31);
    [r << 3 | r >> 2, g << 2 | g >> 4, b << 3 | b >> 2]
}

const fn le16(block: &[u8; 16], at: usize) -> u16 {
    block[at] as u16 | (block[at + 1] as u16) << 8
}

const fn le32(block: &[u8; 16], at: usize) -> u32 {
    le16(block, at) as u32 | (le16(block, at + 2) as u32) << 16
}

/// RGB bytes of texel `i` (row-major, 0..16) of the colour half at `at`, and whether it is the
/// transparent black of three-colour mode.
fn colour(block: &[u8; 16], at: usize, i: u32, four_colours: bool) -> ([u32; 3], bool) {
    let (c0, c1) = (le16(block, at), le16(block, at + 2));
    let code = le32(block, at + 4) >> (2 * i) & 3;
    let (a, b) = (widen565(c0), widen565(c1));
    let mix = |wa: u32, wb: u32, div: u32| [0, 1, 2].map(|k: usize| (wa * a[k] + wb * b[k]) / div);
    match code {
        0 => (a, false),
        1 => (b, false),
        2 if four_colours || c0 > c1 => (mix(2, 1, 3), false),
        2 => (mix(1, 1, 2), false),
        _ if four_colours || c0 > c1 => (mix(1, 2, 3), false),
        _ => ([0; 3], true),
    }
}

fn to_bits(rgb: [u32; 3], alpha: u32, srgb: bool) -> [u32; 4] {
    let f = |v: u32| {
        if srgb {
            srgb8_to_linear(v as u8)
        } else {
            unorm8_to_f32(v as u8)
        }
    };
    [
        f(rgb[0]).to_bits(),
        f(rgb[1]).to_bits(),
        f(rgb[2]).to_bits(),
        unorm8_to_f32(alpha as u8).to_bits(),
    ]
}

/// Texel `i` of a BC1 block (8 bytes); `opaque` for the RGB form whose black is not transparent.
pub fn bc1(block: &[u8; 16], i: u32, srgb: bool, opaque: bool) -> [u32; 4] {
    let (rgb, clear) = colour(block, 0, i & 15, false);
    to_bits(rgb, if clear && !opaque { 0 } else { 255 }, srgb)
}

/// Texel `i` of a BC2 block: 4-bit alpha, then colours.
pub fn bc2(block: &[u8; 16], i: u32, srgb: bool) -> [u32; 4] {
    let i = i & 15;
    let nibble = block[(i / 2) as usize] as u32 >> (4 * (i & 1)) & 15;
    let (rgb, _) = colour(block, 8, i, true);
    to_bits(rgb, nibble * 17, srgb)
}

/// Texel `i` of a BC3 block: interpolated alpha, then colours.
pub fn bc3(block: &[u8; 16], i: u32, srgb: bool) -> [u32; 4] {
    let i = i & 15;
    let (a0, a1) = (block[0] as u32, block[1] as u32);
    let codes = le32(block, 2) as u64 | (le16(block, 6) as u64) << 32;
    let code = (codes >> (3 * i) & 7) as u32;
    let alpha = match code {
        0 => a0,
        1 => a1,
        c if a0 > a1 => ((8 - c) * a0 + (c - 1) * a1) / 7,
        6 => 0,
        7 => 255,
        c => ((6 - c) * a0 + (c - 1) * a1) / 5,
    };
    let (rgb, _) = colour(block, 8, i, true);
    to_bits(rgb, alpha, srgb)
}

/// Channel of texel `i` of a BC4 block, or of half a BC5 block, that starts at byte `at` (0 or 8).
pub fn bc4(block: &[u8; 16], at: usize, i: u32, signed: bool) -> u32 {
    let at = at & 8;
    let (b0, b1) = (block[at], block[at + 1]);
    let codes = le32(block, at + 2) as u64 | (le16(block, at + 6) as u64) << 32;
    let code = (codes >> (3 * (i & 15)) & 7) as u8;
    // The lowest two codes of signed bytes are both -1.
    let widen = |b: u8| {
        if signed {
            (b.cast_signed() as f32 / 127.0).max(-1.0)
        } else {
            unorm8_to_f32(b)
        }
    };
    let (c0, c1) = (widen(b0), widen(b1));
    let mix = |n: u8, of: u8| ((of - n) as f32 * c0 + n as f32 * c1) / of as f32;
    let value = match code {
        0 => c0,
        1 => c1,
        c if c0 > c1 => mix(c - 1, 7),
        6 if signed => -1.0,
        6 => 0.0,
        7 => 1.0,
        c => mix(c - 1, 5),
    };
    value.to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rgba(bits: [u32; 4]) -> [u32; 4] {
        bits.map(|b| (f32::from_bits(b) * 255.0 + 0.5) as u32)
    }

    /// Red and blue endpoints; the row of codes 0, 1, 2, 3 of each mode by the extension's text.
    #[test]
    fn bc1_modes() {
        let mut b = [0u8; 16];
        b[..8].copy_from_slice(&[0x00, 0xf8, 0x1f, 0x00, 0b1110_0100, 0, 0, 0]);
        let t = |i| rgba(bc1(&b, i, false, false));
        assert_eq!(t(0), [255, 0, 0, 255]);
        assert_eq!(t(1), [0, 0, 255, 255]);
        assert_eq!(t(2), [170, 0, 85, 255]);
        assert_eq!(t(3), [85, 0, 170, 255]);
        // Endpoints swapped: three colours and transparent black.
        b[..4].copy_from_slice(&[0x1f, 0x00, 0x00, 0xf8]);
        let t = |i, opaque| rgba(bc1(&b, i, false, opaque));
        assert_eq!(t(2, false), [127, 0, 127, 255]);
        assert_eq!(t(3, false), [0, 0, 0, 0]);
        assert_eq!(t(3, true), [0, 0, 0, 255]);
    }

    #[test]
    fn bc2_alpha_nibbles() {
        let mut b = [0u8; 16];
        b[0] = 0xf3;
        assert_eq!(rgba(bc2(&b, 0, false))[3], 51);
        assert_eq!(rgba(bc2(&b, 1, false))[3], 255);
    }

    #[test]
    fn bc3_alpha_ramps() {
        let mut b = [0u8; 16];
        // Codes 0..7 for texels 0..7.
        let codes: u64 = (0..8).fold(0, |acc, i| acc | i << (3 * i));
        b[2..8].copy_from_slice(&codes.to_le_bytes()[..6]);
        (b[0], b[1]) = (255, 0);
        let ramp: Vec<u32> = (0..8).map(|i| rgba(bc3(&b, i, false))[3]).collect();
        assert_eq!(ramp, [255, 0, 218, 182, 145, 109, 72, 36]);
        (b[0], b[1]) = (0, 255);
        let ramp: Vec<u32> = (0..8).map(|i| rgba(bc3(&b, i, false))[3]).collect();
        assert_eq!(ramp, [0, 255, 51, 102, 153, 204, 0, 255]);
    }

    /// The ramps of RED_RGTC1, whose weights the extension writes out.
    #[test]
    fn bc4_ramps() {
        let mut b = [0u8; 16];
        let codes: u64 = (0..8).fold(0, |acc, i| acc | i << (3 * i));
        b[10..].copy_from_slice(&codes.to_le_bytes()[..6]);
        let ramp = |b: &[u8; 16], signed| -> Vec<i32> {
            let value = |i| f32::from_bits(bc4(b, 8, i, signed));
            (0..8).map(|i| (value(i) * 35.0).round() as i32).collect()
        };
        (b[8], b[9]) = (255, 0);
        assert_eq!(ramp(&b, false), [35, 0, 30, 25, 20, 15, 10, 5]);
        // As signed bytes these are -1/127 and 0: six steps.
        assert_eq!(ramp(&b, true), [0, 0, 0, 0, 0, 0, -35, 35]);
        (b[8], b[9]) = (0, 255);
        assert_eq!(ramp(&b, false), [0, 35, 7, 14, 21, 28, 0, 35]);
        (b[8], b[9]) = (127, 129);
        assert_eq!(ramp(&b, true), [35, -35, 25, 15, 5, -5, -15, -25]);
        // -128 is -1 too.
        (b[8], b[9]) = (128, 127);
        assert_eq!(ramp(&b, true), [-35, 35, -21, -7, 7, 21, -35, 35]);
    }
}
