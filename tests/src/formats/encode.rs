//! Colours to memory by the definitions of OpenGL and Direct3D 10.
//!
//! PRM: volume 4 5.10.6 names the conversion of a render target write and gives no rule for it. Normalised numbers go by
//! Direct3D 10: clamped, NaN as 0, a half added away from 0, the fraction dropped. Small floats are cut: Direct3D 10 goes towards 0.

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

/// The last of the ascending codes of a small float that is not above `v`, by the values of halves.
fn cut(v: f64, codes: impl DoubleEndedIterator<Item = u16>, shift: u32) -> Vec<u64> {
    let value = |code: u16| f16::from_bits(code << shift).to_f64();
    let mut below = codes
        .rev()
        .filter(|&c| value(c) <= v && (value(c).is_finite() || v.is_infinite()));
    below.next().into_iter().map(u64::from).collect()
}

/// The code of an unsigned small float with `bits` bits (EXT_packed_float): negatives are 0, any NaN is one.
fn small_float(v: f32, bits: u32) -> Vec<u64> {
    let shift = if bits == 11 { 4 } else { 5 };
    let codes = 0..1u16 << bits;
    if v.is_nan() {
        let nan = |c: &u16| f16::from_bits(c << shift).is_nan();
        return codes.filter(nan).map(u64::from).collect();
    }
    cut(f64::from(v).max(0.0), codes, shift)
}

/// The code of a half; any NaN is one.
fn half(v: f32) -> Vec<u64> {
    if v.is_nan() {
        let nan = |c: &u16| f16::from_bits(*c).is_nan();
        return (0..=u16::MAX).filter(nan).map(u64::from).collect();
    }
    let sign = u64::from(v.to_bits() >> 31) << 15;
    let magnitude = cut(f64::from(v.abs()), 0..=0x7c00, 0);
    magnitude.into_iter().map(|code| code | sign).collect()
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
            16 => half(v),
            _ => small_float(v, bits),
        },
        Kind::Uscaled | Kind::Sscaled => panic!("no render target is scaled"),
    }
}
