//! Channels of sixteen elements at once: from floats to fields and back.
//!
//! PRM: volume 4 4.7.2.1.1. The numbers are those of `format::channel`.

use num::{minifloat, norm, srgb};

use crate::intel::surface::Format;
use crate::intel::surface::format::Codec;
use crate::intel::surface::format::channel::{Kind, Source};

/// The dwords of sixteen elements: the first of each, then the second of each.
pub type Words<const WORDS: usize> = [[u32; 16]; WORDS];

/// A channel that can be made of sixteen elements at once.
#[derive(Clone, Copy, Debug)]
pub struct Channel {
    source: Source,
    /// The dword of the element that the field lies in, and where in the dword.
    word: usize,
    shift: u32,
}

/// The channels of a format; `None` when there is one that cannot be made at once, or when two share a field.
pub fn channels(format: &Format) -> Option<[Channel; 4]> {
    let Codec::Channels(sources) = &format.codec else {
        return None;
    };
    let mut taken = 0u128;
    for (n, source) in sources.iter().enumerate() {
        let Source::Field { shift, bits, kind } = *source else {
            continue;
        };
        let field = format.channel_mask(1 << n);
        let served = match kind {
            Kind::Unorm => bits <= 16,
            Kind::Snorm => bits == 8 || bits == 16,
            Kind::Srgb => bits == 8,
            Kind::Float => matches!(bits, 10 | 11 | 16 | 32),
            Kind::Uint | Kind::Sint => bits <= 32,
            Kind::Uscaled | Kind::Sscaled | Kind::Sfixed => false,
        };
        if !served || taken & field != 0 || shift % 32 + u16::from(bits) > 32 {
            return None;
        }
        taken |= field;
    }
    Some(sources.map(|source| {
        let at = match source {
            Source::Field { shift, .. } => u32::from(shift),
            Source::Const(_) => 0,
        };
        Channel {
            source,
            // CAST: four at most.
            word: (at / 32) as usize,
            shift: at % 32,
        }
    }))
}

impl Channel {
    /// Bits of the field, if there is one.
    #[inline]
    pub fn bits(&self) -> u32 {
        match self.source {
            Source::Field { bits, .. } => u32::from(bits),
            Source::Const(_) => 0,
        }
    }

    /// Whether the field, if there is one, has values from 0 to 1.
    pub fn is_normalised(&self) -> bool {
        matches!(
            self.source,
            Source::Const(_)
                | Source::Field {
                    kind: Kind::Unorm | Kind::Srgb,
                    ..
                }
        )
    }

    /// Puts the fields of sixteen colours into elements; integers are the bits of a colour. `FUSED`: the host has FMA.
    #[inline(always)]
    pub fn encode<const FUSED: bool, const WORDS: usize>(
        &self,
        plane: &[f32; 16],
        words: &mut Words<WORDS>,
    ) {
        let Source::Field { bits, kind, .. } = self.source else {
            return;
        };
        let bits = u32::from(bits);
        let Some(words) = words.get_mut(self.word) else {
            return;
        };
        let shift = self.shift;
        if kind == Kind::Unorm && bits > 1 {
            // The commonest by far, in one loop.
            if FUSED {
                // CAST: exact, 16 bits.
                let max = norm::max_unsigned(bits) as f32;
                for i in 0..16 {
                    words[i] |= unorm_fused(plane[i], max) << shift;
                }
            } else {
                let max = f64::from(norm::max_unsigned(bits));
                for i in 0..16 {
                    words[i] |= unorm(plane[i], max) << shift;
                }
            }
            return;
        }
        let fields = fields(kind, bits, plane);
        for i in 0..16 {
            words[i] |= fields[i] << shift;
        }
    }

    /// The colours of sixteen elements, which are no integers.
    #[inline(always)]
    pub fn decode<const FUSED: bool, const WORDS: usize>(
        &self,
        words: &Words<WORDS>,
        plane: &mut [f32; 16],
    ) {
        let (bits, kind) = match self.source {
            Source::Field { bits, kind, .. } => (u32::from(bits), kind),
            Source::Const(value) => {
                *plane = [f32::from_bits(value); 16];
                return;
            }
        };
        let Some(words) = words.get(self.word) else {
            return;
        };
        let (shift, max) = (self.shift, norm::max_unsigned(bits));
        if kind == Kind::Unorm {
            if FUSED {
                let inverse = Inverse::of(max);
                for i in 0..16 {
                    plane[i] = inverse.times(words[i] >> shift & max);
                }
            } else {
                for i in 0..16 {
                    // CAST: 16 bits; signed conversions are the cheap ones.
                    plane[i] = (words[i] >> shift & max) as i32 as f32 / max as f32;
                }
            }
            return;
        }
        let mut fields = [0; 16];
        for i in 0..16 {
            fields[i] = words[i] >> shift & max;
        }
        values(kind, bits, &fields, plane);
    }
}

/// The fields of sixteen colours in one of the rarer kinds.
#[inline(never)]
fn fields(kind: Kind, bits: u32, plane: &[f32; 16]) -> [u32; 16] {
    let mut fields = [0; 16];
    match (kind, bits) {
        (Kind::Unorm, _) => each(&mut fields, |i| u32::from(plane[i] >= 0.5)),
        (Kind::Snorm, _) => each(&mut fields, |i| norm::f32_to_snorm(plane[i], bits)),
        (Kind::Srgb, _) => each(&mut fields, |i| srgb::linear_to_srgb8(plane[i]).into()),
        (Kind::Float, 32) => each(&mut fields, |i| plane[i].to_bits()),
        (Kind::Float, 16) => each(&mut fields, |i| minifloat::f32_to_f16(plane[i]).into()),
        (Kind::Float, 11) => each(&mut fields, |i| minifloat::f32_to_f11(plane[i])),
        (Kind::Float, _) => each(&mut fields, |i| minifloat::f32_to_f10(plane[i])),
        (Kind::Uint, _) => {
            let max = norm::max_unsigned(bits);
            each(&mut fields, |i| plane[i].to_bits().min(max));
        }
        (Kind::Sint, _) => {
            let max = norm::max_unsigned(bits);
            // CAST: half of the values, and the bits of an integer.
            let limit = (max >> 1) as i32;
            each(&mut fields, |i| {
                (plane[i].to_bits() as i32).clamp(-limit - 1, limit) as u32 & max
            });
        }
        (Kind::Uscaled | Kind::Sscaled | Kind::Sfixed, _) => {}
    }
    fields
}

/// The values of sixteen fields of one of the rarer kinds.
#[inline(never)]
fn values(kind: Kind, bits: u32, fields: &[u32; 16], plane: &mut [f32; 16]) {
    match (kind, bits) {
        (Kind::Snorm, _) => each(plane, |i| norm::snorm_to_f32(fields[i], bits)),
        // CAST: a byte, and below it sixteen bits.
        (Kind::Srgb, _) => each(plane, |i| srgb::srgb8_to_linear(fields[i] as u8)),
        (Kind::Float, 32) => each(plane, |i| f32::from_bits(fields[i])),
        (Kind::Float, 16) => each(plane, |i| minifloat::f16_to_f32(fields[i] as u16)),
        (Kind::Float, 11) => each(plane, |i| minifloat::f11_to_f32(fields[i])),
        (Kind::Float, _) => each(plane, |i| minifloat::f10_to_f32(fields[i])),
        _ => {}
    }
}

/// A loop for each kind of channel, of which the compiler makes vectors.
#[inline(always)]
fn each<T>(out: &mut [T; 16], value: impl Fn(usize) -> T) {
    for (i, out) in out.iter_mut().enumerate() {
        *out = value(i);
    }
}

#[inline(always)]
fn saturate(v: f32) -> f32 {
    let v = if v > 0.0 { v } else { 0.0 };
    if v < 1.0 { v } else { 1.0 }
}

/// `num::f32_to_unorm` in a form that vectorises: exact in double precision, and 2^52 leaves no room for a fraction.
#[inline(always)]
fn unorm(v: f32, max: f64) -> u32 {
    const MAGIC: f64 = 4_503_599_627_370_496.0;
    (f64::from(saturate(v)) * max + MAGIC).to_bits() as u32
}

/// The same of 16 bits at most, by one rounding of a product and a sum.
#[inline(always)]
fn unorm_fused(v: f32, max: f32) -> u32 {
    const MAGIC: f32 = 8_388_608.0;
    saturate(v).mul_add(max, MAGIC).to_bits() & 0x7f_ffff
}

/// What a field of 16 bits at most is multiplied with in place of a division: the quotient in two parts, and one rounding. The
/// tests ask every field.
#[derive(Clone, Copy)]
struct Inverse {
    high: f32,
    low: f32,
}

impl Inverse {
    #[inline(always)]
    fn of(max: u32) -> Inverse {
        let exact = 1.0 / f64::from(max);
        // CAST: the two roundings that make the parts.
        let high = exact as f32;
        let low = (exact - f64::from(high)) as f32;
        Inverse { high, low }
    }

    #[inline(always)]
    fn times(self, field: u32) -> f32 {
        // CAST: 16 bits; signed conversions are the cheap ones.
        let v = field as i32 as f32;
        v.mul_add(self.high, v * self.low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_of_two_parts_is_the_quotient() {
        for bits in 1..=16 {
            let max = norm::max_unsigned(bits);
            for field in 0..=max {
                let want = norm::unorm_to_f32(field, bits);
                assert_eq!(Inverse::of(max).times(field), want, "{field}/{max}");
            }
        }
    }

    #[test]
    fn fields_are_those_of_the_general_conversion() {
        let mut seed = 9u32;
        for bits in 2..=16 {
            let max = norm::max_unsigned(bits);
            let check = |v: f32| {
                let want = norm::f32_to_unorm(v, bits);
                assert_eq!(unorm(v, f64::from(max)), want, "{v} {bits}");
                assert_eq!(unorm_fused(v, max as f32), want, "{v} {bits}");
            };
            // Around values that lie half-way between two results.
            for step in (0..=max).step_by((max as usize >> 10).max(1)) {
                let tie = ((f64::from(step) + 0.5) / f64::from(max)) as f32;
                for near in tie.to_bits() - 3..tie.to_bits() + 3 {
                    check(f32::from_bits(near));
                }
            }
            for _ in 0..20_000 {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                check(f32::from_bits(seed));
            }
        }
    }
}
