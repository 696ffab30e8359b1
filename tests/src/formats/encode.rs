//! Colours to memory by the definitions of OpenGL and Direct3D 10.
//!
//! PRM: volume 4 5.10.6 names the conversion of a render target write and gives no rule for it. Normalised numbers go by
//! Direct3D 10: clamped, NaN as 0, a half added away from 0, the fraction dropped. Small floats may take either neighbour.

use half::f16;

use super::{Channel, Kind};

/// The curve of IEC 61966-2-1 from linear to encoded.
#[must_use]
pub fn linear_to_srgb(c: f64) -> f64 {
    if c <= 0.003_130_8 {
        c * 12.92
    } else {
        1.055 * c.powf(1.0 / 2.4) - 0.055
    }
}

/// The whole number nearest to `v`, halves away from 0; two when it lies within `slack` of the middle.
fn nearest(v: f64, slack: f64) -> [f64; 2] {
    [(v + slack).round(), (v - slack).round()]
}

fn clamp(v: f32, low: f64) -> f64 {
    if v.is_nan() {
        0.0
    } else {
        f64::from(v).clamp(low, 1.0)
    }
}

/// Codes of an unsigned small float with `bits` bits that are nearest to `v` (EXT_packed_float).
fn small_float(v: f32, bits: u32) -> Vec<u64> {
    let shift = if bits == 11 { 4 } else { 5 };
    let value = |code: u16| f16::from_bits(code << shift).to_f64();
    let codes = 0..1u16 << bits;
    if v.is_nan() {
        return codes
            .filter(|&c| value(c).is_nan())
            .map(u64::from)
            .collect();
    }
    if v == f32::INFINITY {
        return codes
            .filter(|&c| value(c) == f64::INFINITY)
            .map(u64::from)
            .collect();
    }
    let v = f64::from(v).max(0.0);
    let finite: Vec<u16> = codes.filter(|&c| value(c).is_finite()).collect();
    let off = |c: &u16| (value(*c) - v).abs();
    let best = finite.iter().map(off).fold(f64::INFINITY, f64::min);
    finite
        .into_iter()
        .filter(|c| off(c) <= best)
        .map(u64::from)
        .collect()
}

/// The codes that a channel of a colour (register bits) may become; `slack` in codes of what was
/// calculated before.
#[must_use]
pub fn codes(channel: &Channel, colour: u32, slack: f64) -> Vec<u64> {
    let bits = channel.bits;
    let mask = u64::MAX >> (64 - bits);
    let v = f32::from_bits(colour);
    let unsigned = ((1u64 << bits.min(32)) - 1) as f64;
    let signed = ((1u64 << (bits - 1)) - 1) as f64;
    let whole = |values: [f64; 2]| values.map(|v| v as i64 as u64 & mask).to_vec();
    match channel.kind {
        Kind::Unorm => whole(nearest(clamp(v, 0.0) * unsigned, slack)),
        Kind::Snorm => whole(nearest(clamp(v, -1.0) * signed, slack)),
        Kind::Srgb => {
            // Single precision moves what lies close to a middle.
            whole(nearest(
                linear_to_srgb(clamp(v, 0.0)) * unsigned,
                slack + 1e-4,
            ))
        }
        Kind::Uint => vec![u64::from(colour).min(mask)],
        Kind::Sint => {
            let limit = (mask >> 1) as i64;
            let v = i64::from(colour as i32).clamp(-limit - 1, limit);
            vec![v as u64 & mask]
        }
        Kind::Float => match bits {
            32 => vec![u64::from(colour)],
            16 if v.is_nan() => {
                let nan = |c: &u16| f16::from_bits(*c).is_nan();
                (0..=u16::MAX).filter(nan).map(u64::from).collect()
            }
            16 => vec![u64::from(f16::from_f32(v).to_bits())],
            _ => small_float(v, bits),
        },
        Kind::Uscaled | Kind::Sscaled => panic!("no render target is scaled"),
    }
}
