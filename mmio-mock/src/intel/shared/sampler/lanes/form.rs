//! How the texels of a format become numbers, for eight pixels at once.
//!
//! PRM: volume 4, 4.7.2.1.1, 4.7.2.1.2.

use jit::eight::{Eight, each};

use crate::intel::shared::sampler::texel::{constants, layout};
use crate::intel::surface::Format;
use crate::intel::surface::format::Codec;
use crate::intel::surface::format::channel::{Kind, Source};

/// Surface format codes of the four byte orders (PRM 4.7.2.1.1).
const B8G8R8A8: u16 = 0x0c0;
const R8G8B8A8: u16 = 0x0c7;
const B8G8R8X8: u16 = 0x0e9;
const R8G8B8X8: u16 = 0x0eb;

/// Values of a texel, as it is stored.
pub(super) type Values<E> = [<E as Eight>::F; 4];

/// What a stored value is a number of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// A part of the largest value, which is one; that value, and the float nearest to its inverse.
    Unorm((f32, f32)),
    /// The same with a sign; no less than minus one.
    Snorm((f32, f32)),
    /// A byte of the sRGB curve.
    Encoded,
    /// A float with a sign, five bits of exponent and ten of mantissa.
    Half,
    /// A float of five bits of exponent and so many of mantissa.
    Unsigned(u32),
    /// A float.
    Single,
    /// An integer with a sign or without, as it is.
    Integer(bool),
}

/// Where a stored value lies in a texel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Field {
    dword: usize,
    shift: u32,
    bits: u32,
    number: Number,
}

impl Default for Field {
    fn default() -> Self {
        Field {
            dword: 0,
            shift: 0,
            bits: 32,
            number: Number::Single,
        }
    }
}

/// Where a channel of the result comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Channel {
    /// One of the values.
    Value(usize),
    /// A constant, as register bits.
    Constant(u32),
}

/// How texels are blended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Blend {
    /// Four bytes, as whole numbers: they are scaled to 0..1 behind all filters. Of sRGB, the first three as what they become.
    Bytes {
        /// They are sRGB.
        encoded: bool,
    },
    /// The values of fields.
    Fields([Field; 4], usize),
}

/// How the texels of a format become numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Form {
    /// Bytes of a texel as a power of two.
    pub size: u32,
    pub blend: Blend,
    pub channels: [Channel; 4],
}

impl Form {
    /// `None` for formats that are not served. `encoded`: colours are sRGB. `whole`: bytes may be blended as they are.
    pub fn new(format: &Format, encoded: bool, whole: bool) -> Option<Form> {
        let order = match format.code {
            B8G8R8A8 => Some((true, false)),
            R8G8B8A8 => Some((false, false)),
            B8G8R8X8 => Some((true, true)),
            R8G8B8X8 => Some((false, true)),
            _ => None,
        };
        if whole && let Some((swapped, opaque)) = order {
            let [red, blue] = if swapped { [2, 0] } else { [0, 2] };
            let [red, green, blue] = [red, 1, blue].map(Channel::Value);
            let alpha = if opaque {
                Channel::Constant(1f32.to_bits())
            } else {
                Channel::Value(3)
            };
            return Some(Form {
                size: 2,
                blend: Blend::Bytes { encoded },
                channels: [red, green, blue, alpha],
            });
        }
        Form::fields(format, encoded)
    }

    /// The general case of plain formats.
    fn fields(format: &Format, encoded: bool) -> Option<Form> {
        let Codec::Channels(sources) = &format.codec else {
            return None;
        };
        if !matches!(format.bytes, 1 | 2 | 4 | 8 | 16) {
            return None;
        }
        let (layout, constants) = (layout(format), constants(format));
        let mut form = Form {
            size: u32::from(format.bytes).trailing_zeros(),
            blend: Blend::Fields([Field::default(); 4], 0),
            channels: constants.map(Channel::Constant),
        };
        let (mut fields, mut count) = ([Field::default(); 4], 0);
        let mut known = [usize::MAX; 4];
        for (channel, from) in layout.into_iter().enumerate() {
            let Some(from) = from else {
                continue;
            };
            let colour = encoded && channel < 3;
            if encoded && channel == 3 && layout[..3].contains(&Some(from)) {
                return None;
            }
            let place = known.iter().position(|&known| known == from);
            let place = place.unwrap_or(count);
            if place == count {
                // PANIC: one for each channel at most.
                (fields[count], known[count]) = (field(sources[from], colour)?, from);
                count += 1;
            }
            form.channels[channel] = Channel::Value(place);
        }
        form.blend = Blend::Fields(fields, count);
        Some(form)
    }

    /// How many values of a texel there are.
    #[inline(always)]
    pub fn count(&self) -> usize {
        match self.blend {
            Blend::Bytes { .. } => 4,
            Blend::Fields(_, count) => count,
        }
    }

    /// Four bytes that are whole numbers.
    pub fn is_plain(&self) -> bool {
        self.blend == Blend::Bytes { encoded: false }
    }

    /// Values are integers, which no filter blends.
    pub fn is_integer(&self) -> bool {
        match &self.blend {
            Blend::Bytes { .. } => false,
            Blend::Fields(fields, count) => {
                (fields.iter().take(*count)).any(|field| matches!(field.number, Number::Integer(_)))
            }
        }
    }

    /// The channel that shows a value.
    pub fn shown(&self, value: usize) -> usize {
        let shows = |channel: &Channel| *channel == Channel::Value(value);
        self.channels.iter().position(shows).unwrap_or(0)
    }
}

/// A field that is served.
fn field(source: Source, encoded: bool) -> Option<Field> {
    let Source::Field { shift, bits, kind } = source else {
        return None;
    };
    let (shift, bits) = (u32::from(shift), u32::from(bits));
    // A maximum of 24 bits is a float.
    let scale = |bits: u32| {
        let most = num::norm::max_unsigned(bits) as f32;
        (most, 1.0 / most)
    };
    let number = match kind {
        Kind::Unorm if encoded => (bits == 8).then_some(Number::Encoded)?,
        _ if encoded => return None,
        Kind::Unorm if bits <= 24 => Number::Unorm(scale(bits)),
        Kind::Snorm if (2..=24).contains(&bits) => Number::Snorm(scale(bits - 1)),
        Kind::Uint if bits <= 32 => Number::Integer(false),
        Kind::Sint if bits <= 32 => Number::Integer(true),
        Kind::Float => match bits {
            32 => Number::Single,
            16 => Number::Half,
            11 => Number::Unsigned(6),
            10 => Number::Unsigned(5),
            _ => return None,
        },
        _ => return None,
    };
    (shift % 32 + bits <= 32).then_some(Field {
        dword: shift as usize / 32,
        shift: shift % 32,
        bits,
        number,
    })
}

impl Field {
    /// The number of a value that is a UNORM.
    pub fn is_unorm(&self) -> bool {
        matches!(self.number, Number::Unorm(_))
    }

    /// The values of several texels of eight pixels.
    #[inline(always)]
    pub fn decode<E: Eight, const D: usize, const T: usize>(
        &self,
        e: E,
        texels: &[[E::I; D]; T],
    ) -> [E::F; T] {
        let zero = e.all_f(0.0);
        let raw = each(
            texels,
            e.all(0),
            #[inline(always)]
            |texel| self.raw(e, texel),
        );
        match self.number {
            Number::Unorm(by) => each(
                &raw,
                zero,
                #[inline(always)]
                |raw| e.quotient(e.number(raw), by),
            ),
            Number::Snorm(by) => each(
                &raw,
                zero,
                #[inline(always)]
                |raw| {
                    let sign = e.all(1 << (self.bits - 1));
                    // The sign's bit counts down.
                    let value = e.sub(e.xor(raw, sign), sign);
                    e.max_f(e.quotient(e.number(value), by), e.all_f(-1.0))
                },
            ),
            Number::Encoded => each(
                &raw,
                zero,
                #[inline(always)]
                |raw| e.look_up(num::srgb::linear_of_bytes(), raw),
            ),
            Number::Half => each(
                &raw,
                zero,
                #[inline(always)]
                |raw| {
                    let magnitude = widened(e, e.and(raw, e.all(0x7fff)), 10);
                    let sign = e.shl(e.and(raw, e.all(0x8000)), 16);
                    e.float(e.or(magnitude, sign))
                },
            ),
            Number::Unsigned(mantissa) => each(
                &raw,
                zero,
                #[inline(always)]
                |raw| e.float(widened(e, raw, mantissa)),
            ),
            Number::Integer(true) => each(
                &raw,
                zero,
                #[inline(always)]
                |raw| {
                    let sign = e.all(1 << (self.bits - 1));
                    e.float(e.sub(e.xor(raw, sign), sign))
                },
            ),
            Number::Single | Number::Integer(false) => each(
                &raw,
                zero,
                #[inline(always)]
                |raw| e.float(raw),
            ),
        }
    }

    /// The bits of the value.
    #[inline(always)]
    fn raw<E: Eight, const D: usize>(&self, e: E, texel: [E::I; D]) -> E::I {
        let mask = u32::MAX.checked_shr(32 - self.bits).unwrap_or(0);
        // PANIC: a remainder by the length.
        let dword = if D == 1 {
            texel[0]
        } else {
            texel[self.dword % D]
        };
        e.and(e.shr(dword, self.shift), e.all(mask))
    }
}

/// The floats of magnitudes with five bits of exponent, as `num::minifloat` widens them.
#[inline(always)]
fn widened<E: Eight>(e: E, value: E::I, mantissa: u32) -> E::I {
    let wide = e.shl(value, 23 - mantissa);
    let infinite = e.more(value, e.all((31 << mantissa) - 1));
    let denormal = e.more(e.all(1 << mantissa), value);
    let normal = e.add(wide, e.all(112 << 23));
    // A half of the smallest normal number has this exponent.
    let step = f32::from_bits((127 - 14 - mantissa) << 23);
    let small = e.mul_f(e.number(value), e.all_f(step));
    let out = e.select(denormal, e.bits(small), normal);
    e.select(infinite, e.or(wide, e.all(0x7f80_0000)), out)
}

/// A byte of several texels as a whole number.
#[inline(always)]
pub(super) fn byte<E: Eight, const BYTE: u32, const T: usize>(
    e: E,
    texels: &[E::I; T],
) -> [E::F; T] {
    each(
        texels,
        e.all_f(0.0),
        #[inline(always)]
        |texel| match BYTE {
            0 => e.number(e.and(texel, e.all(0xff))),
            3 => e.number(e.shr(texel, 24)),
            _ => e.number(e.and(e.shr(texel, BYTE * 8), e.all(0xff))),
        },
    )
}

/// A byte of several texels that is a colour of sRGB.
#[inline(always)]
pub(super) fn encoded<E: Eight, const BYTE: u32, const T: usize>(
    e: E,
    texels: &[E::I; T],
) -> [E::F; T] {
    each(
        texels,
        e.all_f(0.0),
        #[inline(always)]
        |texel| e.look_up(num::srgb::linear_of_bytes(), e.shr(texel, BYTE * 8)),
    )
}
