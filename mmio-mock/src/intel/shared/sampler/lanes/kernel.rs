//! One message: coordinates to colours, eight pixels at a time.

use eu::Grf;
use jit::eight::{Eight, Loops, each};

use super::form::{Blend, Channel, Field, Values, byte, encoded};
use super::levels::{Chosen, base_lods, levels};
use super::place::{Place, columns, linear, nearest, offsets, rows};
use super::source::Source;
use super::{Compare, Lanes};
use crate::intel::shared::sampler::message::{Op, Params, Request, write_registers};
use crate::intel::shared::sampler::s1_14;
use crate::intel::shared::sampler::state::Filter;
use crate::intel::surface::Geometry;

/// A message of `H` times eight pixels, on texels of `1 << SIZE` bytes, which are `D` dwords or a part of one. `PLAIN`: of a surface under a sampler that are [plain](Lanes::plain).
pub(super) struct Kernel<'a, S, const H: usize, const SIZE: u32, const D: usize, const PLAIN: bool>
{
    pub lanes: &'a Lanes,
    pub request: &'a Request,
    pub params: &'a Params<'a>,
    pub active: u16,
    pub source: S,
    pub response: &'a mut [Grf],
}

/// What eight pixels sample.
struct Pixels<E: Eight> {
    coords: [E::F; 2],
    chosen: Chosen<E>,
    slice: E::I,
    reference: E::F,
    lit: u8,
}

/// Texels of one place of each pixel.
#[derive(Clone, Copy)]
struct Texel<E: Eight, const D: usize> {
    dwords: [E::I; D],
    /// The highest bit is set where it is of the border.
    border: E::I,
}

impl<S: Source, const H: usize, const SIZE: u32, const D: usize, const PLAIN: bool> Loops
    for Kernel<'_, S, H, SIZE, D, PLAIN>
{
    /// `None`: a texel cannot be read, and nothing has been written.
    type Out = Option<()>;

    #[inline(always)]
    fn run<E: Eight>(mut self, e: E) -> Option<()> {
        let coords = self.coords(e);
        let chosen = self.choose(e, &coords);
        let compares = self.compares();
        let zero = e.all_f(0.0);
        let mut colours = [[zero; 4]; H];
        for half in 0..H {
            // CAST: eight pixels.
            let lit = (self.active >> (half * 8)) as u8;
            if lit == 0 {
                continue;
            }
            let pixels = Pixels {
                coords: coords[half],
                chosen: chosen[half],
                slice: self.slice(e, half),
                reference: if compares {
                    self.float(e, self.request.order.reference, half)
                } else {
                    zero
                },
                lit,
            };
            colours[half] = self.blended(e, &pixels)?;
        }
        // Loops over vectors are by number: iterators are functions that are not always inlined.
        for half in 0..H {
            let lit = (self.active >> (half * 8)) as u8;
            let planes = self.finished(e, colours[half]);
            write_registers::<H>(self.request, (half, lit), &planes, self.response);
        }
        Some(())
    }
}

impl<S: Source, const H: usize, const SIZE: u32, const D: usize, const PLAIN: bool>
    Kernel<'_, S, H, SIZE, D, PLAIN>
{
    /// A parameter of eight pixels.
    #[inline(always)]
    fn float<E: Eight>(&self, e: E, index: u8, half: usize) -> E::F {
        e.float(e.load(&self.params.register::<H>(index, half)))
    }

    /// Coordinates of all pixels, normalized.
    #[inline(always)]
    fn coords<E: Eight>(&self, e: E) -> [[E::F; 2]; H] {
        let mut coords = [[e.all_f(0.0); 2]; H];
        for half in 0..H {
            let mut uv = [self.float(e, 0, half), self.float(e, 1, half)];
            if !PLAIN && self.lanes.unnormalized {
                let [width, height] = self.lanes.size();
                uv = [
                    e.div_f(uv[0], e.all_f(width)),
                    e.div_f(uv[1], e.all_f(height)),
                ];
            }
            coords[half] = uv;
        }
        coords
    }

    /// Whether texels are compared.
    #[inline(always)]
    fn compares(&self) -> bool {
        !PLAIN && self.lanes.compare.serves
    }

    /// Whether texels may be of the border.
    #[inline(always)]
    fn border(&self) -> Option<&[f32; 4]> {
        self.lanes.border.as_ref().filter(|_| !PLAIN)
    }

    /// How the surface lies in memory, and whether offsets take more than shifts and products.
    #[inline(always)]
    fn geometry(&self) -> (&Geometry, bool) {
        let geometry = &self.lanes.surface.geometry;
        (geometry, !PLAIN && is_odd(geometry))
    }

    /// Whether the message brings a bias or a LOD.
    #[inline(always)]
    fn brings(&self) -> Option<bool> {
        match self.request.shape.op {
            Op::SampleBias | Op::SampleBiasCompare => Some(false),
            Op::SampleLod | Op::SampleLodCompare => Some(true),
            _ => None,
        }
    }

    /// Levels of all pixels.
    #[inline(always)]
    fn choose<E: Eight>(&self, e: E, coords: &[[E::F; 2]; H]) -> [Chosen<E>; H] {
        if let Some(levels) = self.lanes.fixed {
            let mag = if levels.mag { u32::MAX } else { 0 };
            return [Chosen {
                level: e.all(levels.level),
                beta: e.all_f(levels.beta),
                mag: e.all(mag),
            }; H];
        }
        let control = &self.lanes.control;
        let bias = e.all_f(control.bias);
        let brings = self.brings();
        let mut lods = [e.all_f(0.0); H];
        if brings != Some(true) && !self.request.force_lod_zero {
            lods = base_lods(e, coords, self.lanes.size());
        }
        let mut chosen = [Chosen {
            level: e.all(0),
            beta: bias,
            mag: e.all(0),
        }; H];
        for half in 0..H {
            let second = self.float(e, self.request.order.lod, half);
            let lod = match brings {
                Some(true) => {
                    let lod = e.add_f(bias, second);
                    e.add_f(lod, e.all_f(control.surface_min))
                }
                Some(false) => e.add_f(e.add_f(lods[half], bias), second),
                None => e.add_f(e.add_f(lods[half], bias), e.all_f(0.0)),
            };
            chosen[half] = levels(e, control, lod);
        }
        chosen
    }

    /// Slices by array indices.
    #[inline(always)]
    fn slice<E: Eight>(&self, e: E, half: usize) -> E::I {
        let surface = &self.lanes.surface;
        if PLAIN || surface.depth <= 1 {
            return e.all(0);
        }
        let index = self.float(e, self.request.order.r, half);
        let last = e.all_f((surface.depth - 1) as f32);
        let index = e.add_f(index, e.all_f(0.5));
        let index = e.min_f(e.max_f(index, e.all_f(0.0)), last);
        e.add(e.whole(index), e.all(surface.min_array_element))
    }

    /// One level or two, each under the filter of its pixel.
    #[inline(always)]
    fn blended<E: Eight>(&mut self, e: E, pixels: &Pixels<E>) -> Option<Values<E>> {
        let Pixels { chosen, lit, .. } = pixels;
        let (min, mag) = (self.lanes.min, self.lanes.mag);
        let magnified = e.mask(chosen.mag) & lit;
        let behind = e.less(e.all_f(0.0), chosen.beta);
        let between = e.mask(behind) & lit;
        let (first, second) = if min == mag || magnified == 0 {
            ((min, *lit), None)
        } else if magnified == *lit {
            ((mag, *lit), None)
        } else {
            ((min, lit & !magnified), Some((mag, magnified)))
        };
        let mut colours = [e.all_f(0.0); 4];
        // One place for all, so that the filters are there once.
        for step in 0..3 {
            let (filter, lit, ahead) = match (step, second) {
                (0, _) => (first.0, first.1, 0),
                (1, Some((filter, lit))) => (filter, lit, 0),
                (2, _) if between != 0 => (min, between, 1),
                _ => continue,
            };
            let level = e.add(chosen.level, e.all(ahead));
            let place = self.lanes.levels.place(e, level, pixels.slice);
            let values = self.level(e, filter, pixels, &place, lit)?;
            for n in 0..4 {
                let (colour, value) = (colours[n], values[n]);
                colours[n] = match step {
                    0 => value,
                    1 => e.select_f(chosen.mag, value, colour),
                    _ => e.select_f(behind, mix(e, colour, value, chosen.beta), colour),
                };
            }
        }
        Some(colours)
    }

    /// Samples the lit pixels, each on its level; what others get is of no account.
    #[inline(always)]
    fn level<E: Eight>(
        &mut self,
        e: E,
        filter: Filter,
        pixels: &Pixels<E>,
        place: &Place<E>,
        lit: u8,
    ) -> Option<Values<E>> {
        let [u, v] = pixels.coords;
        let modes = self.lanes.modes;
        if filter == Filter::Nearest {
            let x = nearest(e, modes[0], u, place.width);
            let y = nearest(e, modes[1], v, place.height);
            let [column] = self.columns(e, place, [x]);
            let [row] = self.rows(e, place, [y]);
            let texel = self.texel(e, [(x, column), (y, row)], lit)?;
            return Some(self.values(
                e,
                &[texel],
                pixels.reference,
                #[inline(always)]
                |[value]| value,
            ));
        }
        let (x, fx) = linear(e, modes[0], u, place.width);
        let (y, fy) = linear(e, modes[1], v, place.height);
        let columns = self.columns(e, place, x);
        let rows = self.rows(e, place, y);
        let [left, right] = [(x[0], columns[0]), (x[1], columns[1])];
        let [upper, lower] = [(y[0], rows[0]), (y[1], rows[1])];
        let texels = [
            self.texel(e, [left, upper], lit)?,
            self.texel(e, [right, upper], lit)?,
            self.texel(e, [left, lower], lit)?,
            self.texel(e, [right, lower], lit)?,
        ];
        Some(self.values(
            e,
            &texels,
            pixels.reference,
            #[inline(always)]
            |[a, b, c, d]| mix(e, mix(e, a, b, fx), mix(e, c, d, fx), fy),
        ))
    }

    /// What columns of a level add to offsets.
    #[inline(always)]
    fn columns<E: Eight, const T: usize>(&self, e: E, place: &Place<E>, x: [E::I; T]) -> [E::I; T] {
        let geometry = self.geometry();
        each(
            &x,
            e.all(0),
            #[inline(always)]
            |x| columns(e, geometry, SIZE, e.add(place.left, self.inside(e, x))),
        )
    }

    /// What rows of a level add to offsets.
    #[inline(always)]
    fn rows<E: Eight, const T: usize>(&self, e: E, place: &Place<E>, y: [E::I; T]) -> [E::I; T] {
        let geometry = self.geometry();
        each(
            &y,
            e.all(0),
            #[inline(always)]
            |y| rows(e, geometry, e.add(place.top, self.inside(e, y))),
        )
    }

    /// The first texel for those of the border.
    #[inline(always)]
    fn inside<E: Eight>(&self, e: E, texel: E::I) -> E::I {
        if self.border().is_none() {
            return texel;
        }
        e.max(texel, e.all(0))
    }

    #[inline(always)]
    fn texel<E: Eight>(
        &mut self,
        e: E,
        [(x, column), (y, row)]: [(E::I, E::I); 2],
        lit: u8,
    ) -> Option<Texel<E, D>> {
        let at = offsets(e, &self.lanes.surface.geometry, column, row);
        let (border, lit) = if self.border().is_some() {
            let border = e.or(x, y);
            (border, lit & !e.mask(border))
        } else {
            (e.all(0), lit)
        };
        let dwords = self.source.read::<E, SIZE, D>(e, at, lit)?;
        Some(Texel { dwords, border })
    }

    /// Each stored value of texels, blended.
    #[inline(always)]
    fn values<E: Eight, const T: usize>(
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
                let dwords = each(
                    texels,
                    [e.all(0); D],
                    #[inline(always)]
                    |texel| texel.dwords,
                );
                for n in 0..*count {
                    let mut of = fields[n].decode(e, &dwords);
                    if let Some(border) = self.border() {
                        for t in 0..T {
                            of[t] = e.select_f(texels[t].border, e.all_f(border[n]), of[t]);
                        }
                    }
                    if self.compares() {
                        of = self.lanes.compare.lit(e, &fields[n], of, reference);
                    }
                    values[n] = blend(of);
                }
            }
        }
        values
    }

    /// Values as the bits of colours.
    #[inline(always)]
    fn finished<E: Eight>(&self, e: E, mut values: Values<E>) -> [Grf; 4] {
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

/// Whether offsets take more than shifts and products.
pub(super) fn is_odd(geometry: &Geometry) -> bool {
    geometry.by_samples || geometry.line_stride != 0 || geometry.line_offset != 0
}

impl Compare {
    /// 0 where a texel passes, else 1 (PRM 4.4).
    #[inline(always)]
    fn lit<E: Eight, const T: usize>(
        &self,
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

#[inline(always)]
fn mix<E: Eight>(e: E, a: E::F, b: E::F, weight: E::F) -> E::F {
    e.add_f(a, e.mul_f(e.sub_f(b, a), weight))
}
