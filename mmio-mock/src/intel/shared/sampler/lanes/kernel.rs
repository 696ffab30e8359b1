//! One message: coordinates to colours, eight pixels at a time.
#![expect(
    clippy::needless_range_loop,
    reason = "loops over vectors are by number: iterators are functions that are not always inlined"
)]

use eu::Grf;
use jit::eight::{Eight, Loops, each};

use super::Lanes;
use super::colours::mix;
use super::form::Values;
use super::layout::Place;
use super::levels::{Chosen, base_lods, levels};
use super::place::{columns, linear, nearest, offsets, rows};
use super::source::Source;
use crate::intel::shared::sampler::message::{Op, Params, Request, write_registers};
use crate::intel::shared::sampler::state::Filter;
use crate::intel::surface::Geometry;

/// The size of texels that are of any.
pub(super) const ANY: u32 = u32::MAX;

/// A message of `H` times eight pixels, on texels of `1 << SIZE` bytes, or of [`ANY`] number, which are `D` dwords at most. `PLAIN`: of a surface under a sampler that are [plain](Lanes::plain).
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
    slice: E::I,
    reference: E::F,
}

/// Texels of one place of each pixel.
#[derive(Clone, Copy)]
pub(super) struct Texel<E: Eight, const D: usize> {
    pub dwords: [E::I; D],
    /// The highest bit is set where it is of the border.
    pub border: E::I,
}

impl<S: Source, const H: usize, const SIZE: u32, const D: usize, const PLAIN: bool> Loops
    for Kernel<'_, S, H, SIZE, D, PLAIN>
{
    /// `None`: a texel cannot be read, and nothing has been written.
    type Out = Option<()>;

    #[inline(always)]
    fn run<E: Eight>(mut self, e: E) -> Option<()> {
        let coords = self.coords(e);
        let chosen = self.choose(
            e,
            #[inline(always)]
            |kernel| base_lods(e, &coords, kernel.lanes.size()),
        );
        let filters = (self.lanes.min, self.lanes.mag);
        let zero = e.all_f(0.0);
        let mut colours = [[zero; 4]; H];
        for half in 0..H {
            // CAST: eight pixels.
            let lit = (self.active >> (half * 8)) as u8;
            if lit == 0 {
                continue;
            }
            let [u, v, _] = self.counted(e, [coords[half][0], coords[half][1], zero], half);
            let pixels = Pixels {
                coords: [u, v],
                slice: self.slice(e, half),
                reference: self.reference(e, half),
            };
            colours[half] = self.blended(
                e,
                (&chosen[half], filters, lit),
                #[inline(always)]
                |kernel, filter, level, lit| kernel.level(e, filter, &pixels, level, lit),
            )?;
        }
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
    /// Bytes of a texel as a power of two.
    #[inline(always)]
    fn size(&self) -> u32 {
        match SIZE {
            ANY => self.lanes.form.size,
            size => size,
        }
    }

    /// A parameter of eight pixels.
    #[inline(always)]
    pub(super) fn float<E: Eight>(&self, e: E, index: u8, half: usize) -> E::F {
        e.float(e.load(&self.params.register::<H>(index, half)))
    }

    /// Coordinates of all pixels, normalized.
    #[inline(always)]
    fn coords<E: Eight>(&self, e: E) -> [[E::F; 2]; H] {
        let mut coords = [[e.all_f(0.0); 2]; H];
        for half in 0..H {
            let order = self.request.order;
            let mut uv = [self.float(e, order.u, half), self.float(e, order.v, half)];
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

    /// Coordinates as filters take them, of normalized ones: those that count texels are the message's again.
    #[inline(always)]
    pub(super) fn counted<E: Eight>(&self, e: E, normal: [E::F; 3], half: usize) -> [E::F; 3] {
        let mut coords = normal;
        if !PLAIN && self.lanes.unnormalized {
            let order = self.request.order;
            for (d, index) in [order.u, order.v, order.r].into_iter().enumerate() {
                if self.lanes.unit[d] != 1.0 {
                    coords[d] = self.float(e, index, half);
                }
            }
        }
        coords
    }

    /// A dimension of `size` texels, for filters.
    #[inline(always)]
    pub(super) fn axis<E: Eight>(&self, e: E, d: usize, size: E::I) -> (E::I, E::F) {
        let scale = e.number(size);
        if PLAIN || !self.lanes.unnormalized {
            return (size, scale);
        }
        (size, e.div_f(scale, e.all_f(self.lanes.unit[d])))
    }

    /// What texels of eight pixels are compared with.
    #[inline(always)]
    pub(super) fn reference<E: Eight>(&self, e: E, half: usize) -> E::F {
        if self.compares() {
            self.float(e, self.request.order.reference, half)
        } else {
            e.all_f(0.0)
        }
    }

    /// Whether texels are compared.
    #[inline(always)]
    pub(super) fn compares(&self) -> bool {
        !PLAIN && self.lanes.compare.serves
    }

    /// Whether texels may be of the border.
    #[inline(always)]
    pub(super) fn border(&self) -> Option<&[f32; 4]> {
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
    pub(super) fn brings(&self) -> Option<bool> {
        match self.request.shape.op {
            Op::SampleBias | Op::SampleBiasCompare => Some(false),
            Op::SampleLod | Op::SampleLodCompare => Some(true),
            _ => None,
        }
    }

    /// Levels of all pixels, by the LODs of their gradients where these count.
    #[inline(always)]
    pub(super) fn choose<E: Eight>(
        &self,
        e: E,
        base: impl FnOnce(&Self) -> [E::F; H],
    ) -> [Chosen<E>; H] {
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
            lods = base(self);
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
        let element = element(e, index, surface.depth - 1);
        e.add(element, e.all(surface.min_array_element))
    }

    /// One level or two of lit pixels, each under the filter of its pixel: what `sample` makes of them.
    #[inline(always)]
    pub(super) fn blended<E: Eight>(
        &mut self,
        e: E,
        (chosen, (min, mag), lit): (&Chosen<E>, (Filter, Filter), u8),
        sample: impl Fn(&mut Self, Filter, E::I, u8) -> Option<Values<E>>,
    ) -> Option<Values<E>> {
        let magnified = e.mask(chosen.mag) & lit;
        let behind = e.less(e.all_f(0.0), chosen.beta);
        let between = e.mask(behind) & lit;
        let (first, second) = if min == mag || magnified == 0 {
            ((min, lit), None)
        } else if magnified == lit {
            ((mag, lit), None)
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
            let values = sample(self, filter, level, lit)?;
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
        level: E::I,
        lit: u8,
    ) -> Option<Values<E>> {
        let place = self.lanes.levels.level(e, level);
        let place = self.lanes.levels.slice(e, &place, pixels.slice);
        let [u, v] = pixels.coords;
        let modes = self.lanes.modes;
        let across = self.axis(e, 0, place.width);
        let down = self.axis(e, 1, place.height);
        if filter == Filter::Nearest {
            let x = nearest(e, modes[0], u, across);
            let y = nearest(e, modes[1], v, down);
            let [column] = self.columns(e, &place, [x]);
            let [row] = self.rows(e, &place, [y]);
            let texel = self.texel(e, [(x, column), (y, row)], lit)?;
            return Some(self.values(
                e,
                &[texel],
                pixels.reference,
                #[inline(always)]
                |[value]| value,
            ));
        }
        let (x, fx) = linear(e, modes[0], u, across);
        let (y, fy) = linear(e, modes[1], v, down);
        let columns = self.columns(e, &place, x);
        let rows = self.rows(e, &place, y);
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
    pub(super) fn columns<E: Eight, const T: usize>(
        &self,
        e: E,
        place: &Place<E>,
        x: [E::I; T],
    ) -> [E::I; T] {
        let geometry = self.geometry();
        each(
            &x,
            e.all(0),
            #[inline(always)]
            |x| {
                columns(
                    e,
                    geometry,
                    self.size(),
                    e.add(place.left, self.inside(e, x)),
                )
            },
        )
    }

    /// What rows of a level add to offsets.
    #[inline(always)]
    pub(super) fn rows<E: Eight, const T: usize>(
        &self,
        e: E,
        place: &Place<E>,
        y: [E::I; T],
    ) -> [E::I; T] {
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
    pub(super) fn inside<E: Eight>(&self, e: E, texel: E::I) -> E::I {
        if self.border().is_none() {
            return texel;
        }
        e.max(texel, e.all(0))
    }

    /// Texels by numbers, of which negative ones are of the border, and by what these add to offsets.
    #[inline(always)]
    pub(super) fn texel<E: Eight>(
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
        let dwords = self.source.read::<E, D>(e, at, lit, self.size())?;
        Some(Texel { dwords, border })
    }
}

/// The elements of an array that are nearest to indices.
#[inline(always)]
pub(super) fn element<E: Eight>(e: E, index: E::F, last: u32) -> E::I {
    let index = e.add_f(index, e.all_f(0.5));
    let index = e.min_f(e.max_f(index, e.all_f(0.0)), e.all_f(last as f32));
    e.whole(index)
}

/// Whether offsets take more than shifts and products.
pub(super) fn is_odd(geometry: &Geometry) -> bool {
    geometry.by_samples || geometry.line_stride != 0 || geometry.line_offset != 0
}
