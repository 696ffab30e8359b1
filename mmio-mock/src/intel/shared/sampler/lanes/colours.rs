//! Texels to colours: decoding, comparing and blending of eight pixels at once.
//!
//! PRM: volume 4, 4.4.
#![expect(
    clippy::needless_range_loop,
    reason = "loops over vectors are by number: iterators are functions that are not always inlined"
)]

use eu::Grf;
use jit::eight::{Eight, each};

use super::Compare;
use super::form::{Blend, Channel, Field, Values, byte, encoded};
use super::kernel::{Kernel, Texel};
use super::source::Source;
use crate::intel::shared::sampler::s1_14;

impl<S: Source, const H: usize, const SIZE: u32, const D: usize, const PLAIN: bool>
    Kernel<'_, S, H, SIZE, D, PLAIN>
{
    /// Each stored value of texels, blended.
    #[inline(always)]
    pub(super) fn values<E: Eight, const T: usize>(
        &self,
        e: E,
        texels: &[Texel<E, D>; T],
        reference: E::F,
        blend: impl Fn([E::F; T]) -> E::F,
    ) -> Values<E> {
        let dword = each(
            texels,
            e.all(0),
            #[inline(always)]
            |texel| texel.dwords[0],
        );
        if PLAIN {
            return [
                blend(byte::<E, 0, T>(e, &dword)),
                blend(byte::<E, 1, T>(e, &dword)),
                blend(byte::<E, 2, T>(e, &dword)),
                blend(byte::<E, 3, T>(e, &dword)),
            ];
        }
        let mut values = [e.all_f(0.0); 4];
        match &self.lanes.form.blend {
            Blend::Bytes { encoded: false } => {
                values = [
                    blend(byte::<E, 0, T>(e, &dword)),
                    blend(byte::<E, 1, T>(e, &dword)),
                    blend(byte::<E, 2, T>(e, &dword)),
                    blend(byte::<E, 3, T>(e, &dword)),
                ];
            }
            Blend::Bytes { encoded: true } => {
                values = [
                    blend(encoded::<E, 0, T>(e, &dword)),
                    blend(encoded::<E, 1, T>(e, &dword)),
                    blend(encoded::<E, 2, T>(e, &dword)),
                    blend(byte::<E, 3, T>(e, &dword)),
                ];
            }
            Blend::Fields(fields, count) => {
                for n in 0..*count {
                    let mut of = self.decoded(e, (&fields[n], n), texels);
                    if self.compares() {
                        of = self.lanes.compare.lit(e, &fields[n], of, reference);
                    }
                    values[n] = blend(of);
                }
            }
        }
        values
    }

    /// A stored value of texels, which is that of a field.
    #[inline(always)]
    fn decoded<E: Eight, const T: usize>(
        &self,
        e: E,
        (field, n): (&Field, usize),
        texels: &[Texel<E, D>; T],
    ) -> [E::F; T] {
        let dwords = each(
            texels,
            [e.all(0); D],
            #[inline(always)]
            |texel| texel.dwords,
        );
        let mut of = field.decode(e, &dwords);
        if let Some(border) = self.border() {
            for t in 0..T {
                of[t] = e.select_f(texels[t].border, e.all_f(border[n]), of[t]);
            }
        }
        of
    }

    /// One of the stored values of texels whose format has fields, or what comparing it gives.
    #[inline(always)]
    pub(super) fn value<E: Eight, const T: usize>(
        &self,
        e: E,
        texels: &[Texel<E, D>; T],
        n: usize,
        reference: E::F,
    ) -> [E::F; T] {
        match &self.lanes.form.blend {
            Blend::Fields(fields, _) => {
                let field = &fields[n & 3];
                let of = self.decoded(e, (field, n & 3), texels);
                if !self.compares() {
                    return of;
                }
                self.lanes.compare.lit(e, field, of, reference)
            }
            Blend::Bytes { .. } => [e.all_f(0.0); T],
        }
    }

    /// Values as the bits of colours.
    #[inline(always)]
    pub(super) fn finished<E: Eight>(&self, e: E, mut values: Values<E>) -> [Grf; 4] {
        let lanes = self.lanes;
        if PLAIN {
            let [red, blue] = match lanes.form.channels[0] {
                Channel::Value(2) => [values[2], values[0]],
                _ => [values[0], values[2]],
            };
            let alpha = match lanes.form.channels[3] {
                Channel::Value(_) => self.scaled(e, values[3]),
                Channel::Constant(bits) => e.float(e.all(bits)),
            };
            let [red, green, blue] = [
                self.scaled(e, red),
                self.scaled(e, values[1]),
                self.scaled(e, blue),
            ];
            return [
                e.array(e.bits(red)),
                e.array(e.bits(green)),
                e.array(e.bits(blue)),
                e.array(e.bits(alpha)),
            ];
        }
        if let Blend::Bytes { encoded } = lanes.form.blend {
            for n in if encoded { 3 } else { 0 }..4 {
                values[n] = self.scaled(e, values[n]);
            }
        }
        let mut planes = [[0; 8]; 4];
        for (plane, channel) in planes.iter_mut().zip(&lanes.form.channels) {
            *plane = match channel {
                Channel::Value(n) => e.array(e.bits(values[n & 3])),
                Channel::Constant(bits) => [*bits; 8],
            };
            if lanes.surface.return_s1_14 {
                *plane = plane.map(|bits| s1_14(f32::from_bits(bits)).to_bits());
            }
        }
        planes
    }

    /// Parts of 255 as parts of one.
    #[inline(always)]
    fn scaled<E: Eight>(&self, e: E, value: E::F) -> E::F {
        let by = 255.0;
        match self.brings() {
            // Weights that a message brings may be so small that the quotient is a denormal.
            Some(_) => e.div_f(value, e.all_f(by)),
            None => e.quotient(value, (by, 1.0 / by)),
        }
    }
}

impl Compare {
    /// 0 where a texel passes, else 1 (PRM 4.4).
    #[inline(always)]
    fn lit<E: Eight, const T: usize>(
        self,
        e: E,
        field: &Field,
        texels: [E::F; T],
        reference: E::F,
    ) -> [E::F; T] {
        let (zero, one) = (e.all_f(0.0), e.all_f(1.0));
        let reference = if field.is_unorm() {
            // A NaN stays one.
            e.min_f(one, e.max_f(zero, reference))
        } else {
            reference
        };
        each(
            &texels,
            zero,
            #[inline(always)]
            |texel| match self.function {
                0 => zero,
                1 => one,
                2 => e.select_f(e.less(texel, reference), zero, one),
                3 => e.select_f(e.same(texel, reference), zero, one),
                4 => e.select_f(e.at_most(texel, reference), zero, one),
                5 => e.select_f(e.less(reference, texel), zero, one),
                6 => e.select_f(e.same(texel, reference), one, zero),
                _ => e.select_f(e.at_most(reference, texel), zero, one),
            },
        )
    }
}

/// What lies between two values.
#[inline(always)]
pub(super) fn mix<E: Eight>(e: E, a: E::F, b: E::F, weight: E::F) -> E::F {
    e.add_f(a, e.mul_f(e.sub_f(b, a), weight))
}
