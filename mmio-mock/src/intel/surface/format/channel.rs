//! Channels of plain formats: where they lie, and their conversion both ways.
//!
//! PRM: volume 4 4.7.2.1.1 and 4.7.2.1.2.
//! Not modelled: the sampler's S1.14 intermediate and any rounding but to nearest even.

use num::{minifloat, norm, srgb};

/// Number format of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// 0..=1.
    Unorm,
    /// -1..=1.
    Snorm,
    /// Unsigned integer; the shader sees U32.
    Uint,
    /// Signed integer; the shader sees S31.
    Sint,
    /// Unsigned integer turned into a float.
    Uscaled,
    /// Signed integer turned into a float.
    Sscaled,
    /// Signed number with sixteen bits behind the point.
    Sfixed,
    /// Float of 64, 32, 16, 11 or 10 bits.
    Float,
    /// UNORM along the sRGB curve.
    Srgb,
}

/// Where a channel of the shader comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// A constant, as register bits.
    Const(u32),
    /// A field of the element.
    Field {
        /// Lowest bit.
        shift: u16,
        /// Width.
        bits: u8,
        /// Number format.
        kind: Kind,
    },
}

/// 0, as float or integer.
pub const ZERO: Source = Source::Const(0);
/// 1.0.
pub const ONE: Source = Source::Const(0x3f80_0000);
/// Integer 1.
pub const ONE_INT: Source = Source::Const(1);

/// The field of `bits` bits (1..=64) at `shift` of a little-endian element; bytes past the end are 0.
#[inline]
fn extract(element: &[u8], shift: u16, bits: u8) -> u64 {
    let mut raw = [0u8; 8];
    let from = (shift / 8) as usize;
    let bytes = element.get(from..).unwrap_or_default();
    let n = bytes.len().min(8);
    raw[..n].copy_from_slice(&bytes[..n]);
    let v = u64::from_le_bytes(raw) >> (shift % 8);
    v & (u64::MAX >> (64 - bits as u32))
}

/// Register bits of a field's value.
#[inline]
fn decode(v: u64, bits: u32, kind: Kind) -> u32 {
    // CAST: only 64-bit floats have more than 32 bits.
    let low = v as u32;
    match kind {
        Kind::Unorm => norm::unorm_to_f32(low, bits).to_bits(),
        Kind::Snorm => norm::snorm_to_f32(low, bits).to_bits(),
        Kind::Uint => low,
        Kind::Sint => num::sign_extend(low, bits) as u32,
        Kind::Uscaled => (low as f32).to_bits(),
        Kind::Sscaled => (num::sign_extend(low, bits) as f32).to_bits(),
        // CAST: the one rounding.
        Kind::Sfixed => ((f64::from(num::sign_extend(low, bits)) / 65536.0) as f32).to_bits(),
        Kind::Srgb => srgb::srgb_to_linear(low, bits).to_bits(),
        Kind::Float => match bits {
            64 => (f64::from_bits(v) as f32).to_bits(),
            32 => low,
            16 => minifloat::f16_to_f32(low as u16).to_bits(),
            11 => minifloat::f11_to_f32(low).to_bits(),
            _ => minifloat::f10_to_f32(low).to_bits(),
        },
    }
}

/// The field of register bits `v`.
#[inline]
fn encode(v: u32, bits: u32, kind: Kind) -> u64 {
    let f = f32::from_bits(v);
    let max = norm::max_unsigned(bits.min(32));
    let field = match kind {
        // Direct3D 10 adds a half and drops the fraction. Only here is that not nearest even: with more
        // bits the only float half-way between two codes is 0.5, and the upper code is even.
        Kind::Unorm if bits == 1 => (f >= 0.5) as u32,
        Kind::Unorm => norm::f32_to_unorm(f, bits),
        Kind::Snorm => norm::f32_to_snorm(f, bits),
        Kind::Uint => v.min(max),
        Kind::Sint => {
            let limit = (max >> 1) as i32;
            (v as i32).clamp(-limit - 1, limit) as u32 & max
        }
        Kind::Uscaled => num::fixed::f32_to_ufixed(f, bits, 0),
        Kind::Sscaled => num::fixed::f32_to_sfixed(f, bits, 0),
        Kind::Sfixed => num::fixed::f32_to_sfixed(f, bits, 16),
        Kind::Srgb => srgb::linear_to_srgb(f, bits),
        Kind::Float => match bits {
            64 => return (f as f64).to_bits(),
            32 => v,
            16 => minifloat::f32_to_f16(f) as u32,
            11 => minifloat::f32_to_f11(f),
            _ => minifloat::f32_to_f10(f),
        },
    };
    field as u64
}

/// The four channels of an element as register bits.
pub fn unpack(sources: &[Source; 4], element: &[u8]) -> [u32; 4] {
    sources.map(|s| match s {
        Source::Const(v) => v,
        Source::Field { shift, bits, kind } => {
            decode(extract(element, shift, bits), bits as u32, kind)
        }
    })
}

/// The element (up to 16 bytes) of four channels. Bits that no channel owns are 0; of channels
/// that share a field the last wins.
pub fn pack(sources: &[Source; 4], colour: [u32; 4]) -> [u8; 16] {
    let mut word = 0u128;
    for (s, v) in sources.iter().zip(colour) {
        if let Source::Field { shift, bits, kind } = *s
            && shift < 128
        {
            let mask = (u64::MAX >> (64 - bits as u32)) as u128;
            word &= !(mask << shift);
            word |= (encode(v, bits as u32, kind) as u128) << shift;
        }
    }
    word.to_le_bytes()
}

/// The bits of the element that belong to the channels whose bit (R = 0 .. A = 3) is set.
pub const fn mask(sources: &[Source; 4], channels: u32) -> u128 {
    let mut out = 0u128;
    let mut i = 0;
    while i < 4 {
        if let Source::Field { shift, bits, .. } = sources[i]
            && channels >> i & 1 == 1
            && shift < 128
        {
            out |= ((u64::MAX >> (64 - bits as u32)) as u128) << shift;
        }
        i += 1;
    }
    out
}
