//! Compressed blocks: BC by the crate bcdec_rs, FXT1 by the text of its extension.
//!
//! PRM: volume 4 4.7.2.1.1 names the formats. Not decoded here: BC6 and BC7, which this family lacks.

use crestline_tests::formats::{Want, float, srgb_to_linear};

/// Texel of a BC block.
///
/// EXT_texture_compression_s3tc has real numbers; decoders with bytes round end points (bcdec_rs to the nearest, the
/// model by repeated bits) and what lies between in their own ways. So the former have a step of slack, the latter two.
pub fn bc(name: &str, element: &[u8], x: u32, y: u32) -> [Want; 4] {
    if name.starts_with("BC4") || name.starts_with("BC5") {
        return rgtc(name, element, x, y);
    }
    let mut texels = [0; 64];
    match &name[..3] {
        "BC1" => bcdec_rs::bc1(element, &mut texels, 16),
        "BC2" => bcdec_rs::bc2(element, &mut texels, 16),
        _ => bcdec_rs::bc3(element, &mut texels, 16),
    }
    let at = (y * 16 + x * 4) as usize;
    let texel = &texels[at..at + 4];
    let colours = &element[element.len() - 8..];
    // Codes 0 and 1 are the end points themselves; the transparent one of BC1 is black.
    let code = colours[4 + y as usize] >> (2 * x) & 3;
    let end = |i: usize| u16::from_le_bytes([colours[i], colours[i + 1]]);
    let black = name.starts_with("BC1") && code == 3 && end(0) <= end(2);
    let colour = |v: u8| {
        let exact = f64::from(v) / 255.0;
        let steps = match code {
            _ if black => 0.0,
            0 | 1 => 1.0,
            _ => 2.0,
        };
        let slack = steps / 255.0 + 1e-7;
        let place = |v: f64| {
            if name.ends_with("SRGB") {
                srgb_to_linear(v)
            } else {
                v
            }
        };
        let steepest = place((exact + slack).min(1.0)) - place(exact) + 3e-7;
        Want::Near(place(exact), steepest)
    };
    let alpha = if name.starts_with("BC1_RGB") {
        float(1.0)
    } else if name.starts_with("BC3") {
        Want::Near(f64::from(texel[3]) / 255.0, 1.01 / 255.0)
    } else {
        float(f64::from(texel[3]) / 255.0)
    };
    [colour(texel[0]), colour(texel[1]), colour(texel[2]), alpha]
}

/// Texel of a BC4 or BC5 block: red, or red and green, in real numbers.
fn rgtc(name: &str, element: &[u8], x: u32, y: u32) -> [Want; 4] {
    let signed = name.ends_with("SNORM");
    let channel = |half: &[u8]| {
        let mut texels = [0.0; 16];
        bcdec_rs::bc4_float(half, &mut texels, 4, signed);
        Want::Near(f64::from(texels[(y * 4 + x) as usize]), 1e-6)
    };
    let green = if name.starts_with("BC5") {
        channel(&element[8..])
    } else {
        float(0.0)
    };
    [channel(&element[..8]), green, float(0.0), float(1.0)]
}

/// A colour as the extension writes it: ARGB8888.
type Argb = [u8; 4];

/// Texel of an FXT1 block by the appendix of GL_3DFX_texture_compression_FXT1, bit for bit as it is written there.
pub fn fxt1(element: &[u8], x: u32, y: u32) -> [u8; 4] {
    let bit = |n: usize| element[n / 8] >> (n % 8) & 1;
    // {[high:low]}
    let range = |high: usize, low: usize| (low..=high).rev().fold(0u8, |v, n| v << 1 | bit(n));
    // {[high:low], [high:high-2]}
    let wide = |low: usize| range(low + 4, low) << 3 | range(low + 4, low + 2);
    let t = usize::from(y as u8 * 4 + x as u8 % 4 + if x < 4 { 0 } else { 16 });
    let opaque = |blue: usize| -> Argb { [255, wide(blue + 10), wide(blue + 5), wide(blue)] };
    let weighted = |a: Argb, wa: u32, b: Argb, wb: u32, plus: u32, by: u32| -> Argb {
        std::array::from_fn(|c| ((wa * u32::from(a[c]) + wb * u32::from(b[c]) + plus) / by) as u8)
    };
    let index = usize::from(range(2 * t + 1, 2 * t));
    let thirds =
        |a: Argb, b: Argb| [a, weighted(a, 2, b, 1, 1, 3), weighted(a, 1, b, 2, 1, 3), b][index];
    let [a, r, g, b] = if range(127, 126) == 0 {
        // CC_HI.
        let (color1, color0) = (opaque(111), opaque(96));
        match u32::from(range(3 * t + 2, 3 * t)) {
            0 => color0,
            6 => color1,
            7 => [0; 4],
            n => weighted(color0, 6 - n, color1, n, 3, 6),
        }
    } else if range(127, 125) == 0b010 {
        // CC_CHROMA.
        [opaque(64), opaque(79), opaque(94), opaque(109)][index]
    } else if range(127, 125) == 0b011 {
        // CC_ALPHA.
        let with = |low: usize, mut c: Argb| {
            c[0] = wide(low);
            c
        };
        let color2 = with(119, opaque(94));
        let color1 = with(114, opaque(79));
        let color0 = with(109, opaque(64));
        match (bit(124), t) {
            (0, _) => [color0, color1, color2, [0; 4]][index],
            (_, 0..16) => thirds(color0, color1),
            _ => thirds(color2, color1),
        }
    } else {
        // CC_MIXED.
        let green =
            |high: usize, lsb: u8| range(high, high - 4) << 3 | lsb << 2 | range(high, high - 1);
        let six = |blue: usize, lsb: u8| -> Argb {
            [255, wide(blue + 10), green(blue + 9, lsb), wide(blue)]
        };
        let clear = bit(124) == 1;
        let (low, high) = if t < 16 {
            let color1 = six(79, bit(125));
            let color0 = if clear {
                opaque(64)
            } else {
                six(64, bit(1) ^ bit(125))
            };
            (color0, color1)
        } else {
            let color3 = six(109, bit(126));
            let color2 = if clear {
                opaque(94)
            } else {
                six(94, bit(33) ^ bit(126))
            };
            (color2, color3)
        };
        if clear {
            [low, weighted(low, 1, high, 1, 0, 2), high, [0; 4]][index]
        } else {
            thirds(low, high)
        }
    };
    [r, g, b, a]
}
