//! The common case at speed: all pixels of a message at once.
//!
//! PRM: volume 4, 4.2.1, 4.2.3.1, 4.2.3.2. Serves plain two-dimensional 8888 textures under nearest and linear filters.
//! Gives what the general filters give but for one rounding: texels are blended as whole numbers and scaled to 0..1 once;
//! those of sRGB formats are blended as they become.

mod texels;

use eu::Grf;
use jit::vectors;
use mem::Memory;

use super::address::{self, Mode, lanes};
use super::filter::Plan;
use super::lod::{self, Levels, LodControl};
use super::message::{Op, Params, Request, Simd, write_planes};
use super::s1_14;
use super::state::{Filter, Sampler};
use crate::intel::surface::{Surface, SurfaceKind};
use texels::Texels;

/// Surface format codes of the four byte orders (PRM 4.7.2.1.1).
const B8G8R8A8: u16 = 0x0c0;
const R8G8B8A8: u16 = 0x0c7;
const B8G8R8X8: u16 = 0x0e9;
const R8G8B8X8: u16 = 0x0eb;

/// Four channels of `N` pixels.
type Colours<const N: usize> = [[f32; N]; 4];

/// A surface under a sampler, both of which this path serves.
#[derive(Clone, Debug)]
pub struct Lanes {
    surface: Surface,
    modes: [Mode; 2],
    min: Filter,
    mag: Filter,
    control: LodControl,
    /// The levels of all pixels, where no LOD changes them.
    fixed: Option<Levels>,
    /// Blue is the lowest byte.
    swapped: bool,
    /// Alpha is 1.
    opaque: bool,
    /// Red, green and blue are sRGB and become linear texel by texel.
    pub linearize: bool,
}

/// The level of each pixel: its place in the surface, and its size.
struct Place<const N: usize> {
    left: [u32; N],
    top: [u32; N],
    width: [i32; N],
    height: [i32; N],
}

/// What each pixel samples.
struct Chosen<const N: usize> {
    slice: [u32; N],
    level: [u32; N],
    /// Weight of the level behind.
    beta: [f32; N],
    /// Pixels that are magnified.
    mag: u16,
}

impl Lanes {
    /// `None` where this path does not serve. `encoded`: the colours of the surface are sRGB.
    #[must_use]
    pub fn new(surface: &Surface, sampler: &Sampler, encoded: bool) -> Option<Self> {
        let (swapped, opaque) = match surface.format.code {
            B8G8R8A8 => (true, false),
            R8G8B8A8 => (false, false),
            B8G8R8X8 => (true, true),
            R8G8B8X8 => (false, true),
            _ => return None,
        };
        let simple = |filter| matches!(filter, Filter::Nearest | Filter::Linear);
        let modes = Plan::new(surface.kind, sampler, [0; 3]).modes;
        let serves = surface.kind == SurfaceKind::TwoD
            && sampler.key.is_none()
            && !sampler.unnormalized
            && !sampler.disabled
            && simple(sampler.min)
            && simple(sampler.mag)
            && modes[..2].iter().all(|&mode| mode != Mode::ClampBorder);
        if !serves {
            return None;
        }
        let surface = if surface.samples > 1 {
            surface.by_samples()
        } else {
            surface.clone()
        };
        let control = sampler.lod_control(&surface);
        Some(Lanes {
            surface,
            modes: [modes[0], modes[1]],
            min: sampler.min,
            mag: sampler.mag,
            control,
            fixed: (!sampler.needs_lod()).then(|| control.computed(0.0, 0.0)),
            swapped,
            opaque,
            linearize: encoded,
        })
    }

    /// Whether a message is one that this path serves.
    #[must_use]
    pub fn serves(request: &Request) -> bool {
        let op = matches!(
            request.shape.op,
            Op::Sample | Op::SampleKillpix | Op::SampleBias | Op::SampleLod
        );
        op && request.shape.simd != Simd::Simd4x2 && request.offsets == [0; 3]
    }

    /// Serves a message. `None`: a texel cannot be read, and nothing has been written; the general path tells the fault.
    #[must_use]
    pub fn run(
        &self,
        request: &Request,
        params: &Params<'_>,
        active: u16,
        mem: &Memory,
        response: &mut [Grf],
    ) -> Option<()> {
        match request.shape.simd {
            Simd::Simd16 => vectors(
                #[inline(always)]
                || self.pixels::<16>(request, params, active, mem, response),
            ),
            Simd::Simd8 => vectors(
                #[inline(always)]
                || self.pixels::<8>(request, params, active, mem, response),
            ),
            Simd::Simd4x2 => None,
        }
    }

    #[inline(always)]
    fn pixels<const N: usize>(
        &self,
        request: &Request,
        params: &Params<'_>,
        lit: u16,
        mem: &Memory,
        response: &mut [Grf],
    ) -> Option<()> {
        let [u, v] = [0, 1].map(|n| params.pixels::<N>(n).map(f32::from_bits));
        let mut texels = Texels::new(mem, &self.surface.geometry, self.linearize);
        let quad = if let Some(levels) = self.fixed
            && self.surface.depth <= 1
        {
            let slice = self.surface.array_slice(0.0) as u32;
            let place = self.place([slice; N], [levels.level; N]);
            self.level(self.min, [&u, &v], &place, lit, &mut texels)?
        } else {
            let chosen = self.choose(request, params, [&u, &v]);
            self.blended([&u, &v], &chosen, lit, &mut texels)?
        };
        let narrow = self.surface.return_s1_14;
        let planes = self.scaled(quad).map(|plane| {
            lanes::<_, N>(|i| {
                let value = if narrow { s1_14(plane[i]) } else { plane[i] };
                value.to_bits()
            })
        });
        write_planes(request, lit, &planes, response);
        Some(())
    }

    /// Levels and slices of the pixels.
    #[inline(always)]
    fn choose<const N: usize>(
        &self,
        request: &Request,
        params: &Params<'_>,
        [u, v]: [&[f32; N]; 2],
    ) -> Chosen<N> {
        let index = params.pixels::<N>(request.order.r).map(f32::from_bits);
        // CAST: no slice is below 0.
        let slice = if self.surface.depth <= 1 {
            [self.surface.array_slice(0.0) as u32; N]
        } else {
            index.map(|index| self.surface.array_slice(index) as u32)
        };
        let given = request.shape.op == Op::SampleLod;
        let second = match request.shape.op {
            Op::SampleBias | Op::SampleLod => Some(params.pixels::<N>(request.order.lod)),
            _ => None,
        };
        let mut chosen = Chosen {
            slice,
            level: [0; N],
            beta: [0.0; N],
            mag: 0,
        };
        let base = if given || request.force_lod_zero || self.fixed.is_some() {
            [0.0; 4]
        } else {
            self.base_lods([u, v])
        };
        let mut last = None;
        for i in 0..N {
            let lod = base[i / 4];
            let levels = match (&second, self.fixed) {
                (_, Some(levels)) => levels,
                (Some(second), _) if given => self.control.given(f32::from_bits(second[i])),
                (Some(second), _) => self.control.computed(lod, f32::from_bits(second[i])),
                // The same for the pixels of a subspan.
                (None, _) => match last {
                    Some(levels) if i % 4 != 0 => levels,
                    _ => self.control.computed(lod, 0.0),
                },
            };
            last = Some(levels);
            chosen.level[i] = levels.level;
            chosen.beta[i] = levels.beta;
            chosen.mag |= u16::from(levels.mag) << i;
        }
        chosen
    }

    /// The LOD of each subspan: how far texels are apart from its first pixel to its right and its lower neighbour.
    #[inline(always)]
    fn base_lods<const N: usize>(&self, [u, v]: [&[f32; N]; 2]) -> [f32; 4] {
        let size = [self.surface.width as f32, self.surface.height as f32];
        lanes(|subspan: usize| {
            let (Some(u), Some(v)) = (
                u.as_chunks::<4>().0.get(subspan),
                v.as_chunks::<4>().0.get(subspan),
            ) else {
                return 0.0;
            };
            let along = |n: usize| [(u[n] - u[0]) * size[0], (v[n] - v[0]) * size[1], 0.0];
            lod::from_gradients(along(1), along(2))
        })
    }

    #[inline(always)]
    fn place<const N: usize>(&self, slice: [u32; N], level: [u32; N]) -> Place<N> {
        let of = |slice, level| {
            let surface = &self.surface;
            let (left, top) = surface.geometry.origin(slice, level);
            let size = (surface.level_width(level), surface.level_height(level));
            // CAST: sizes have at most fourteen bits.
            (left, top, size.0 as i32, size.1 as i32)
        };
        let (left, top, width, height) = of(slice[0], level[0]);
        let mut place = Place {
            left: [left; N],
            top: [top; N],
            width: [width; N],
            height: [height; N],
        };
        if slice != [slice[0]; N] || level != [level[0]; N] {
            for i in 0..N {
                (place.left[i], place.top[i], place.width[i], place.height[i]) =
                    of(slice[i], level[i]);
            }
        }
        place
    }

    /// One level or two, each under the filter of its pixel.
    #[inline(always)]
    fn blended<const N: usize>(
        &self,
        at: [&[f32; N]; 2],
        chosen: &Chosen<N>,
        lit: u16,
        texels: &mut Texels<'_>,
    ) -> Option<Colours<N>> {
        let place = self.place(chosen.slice, chosen.level);
        let (mag, min) = (lit & chosen.mag, lit & !chosen.mag);
        let mut colours = if mag == 0 || self.min == self.mag {
            self.level(self.min, at, &place, lit, texels)?
        } else if min == 0 {
            self.level(self.mag, at, &place, lit, texels)?
        } else {
            let colours = self.level(self.min, at, &place, min, texels)?;
            let larger = self.level(self.mag, at, &place, mag, texels)?;
            let of = |c: usize| {
                lanes::<_, N>(|i| match mag >> i & 1 {
                    0 => colours[c][i],
                    _ => larger[c][i],
                })
            };
            [of(0), of(1), of(2), of(3)]
        };
        let between = lanes::<_, N>(|i| u16::from(chosen.beta[i] > 0.0) << i);
        let between = between.iter().fold(0, |all, bit| all | bit) & lit;
        if between != 0 {
            let next = lanes::<_, N>(|i| chosen.level[i].saturating_add(1));
            let place = self.place(chosen.slice, next);
            let next = self.level(self.min, at, &place, between, texels)?;
            for (colour, next) in colours.iter_mut().zip(&next) {
                // Where the weight is zero, nothing is added.
                *colour = mix(colour, next, &chosen.beta);
            }
        }
        Some(colours)
    }

    /// Samples the lit pixels, each on its level; what others get is of no account.
    #[inline(always)]
    fn level<const N: usize>(
        &self,
        filter: Filter,
        [u, v]: [&[f32; N]; 2],
        place: &Place<N>,
        lit: u16,
        texels: &mut Texels<'_>,
    ) -> Option<Colours<N>> {
        // CAST: texels of a level have no negative numbers; no border mode is served.
        if filter == Filter::Nearest {
            let x = address::nearest_lanes(self.modes[0], u, &place.width);
            let y = address::nearest_lanes(self.modes[1], v, &place.height);
            let x = lanes::<_, N>(|i| place.left[i].wrapping_add(x[i] as u32));
            let y = lanes::<_, N>(|i| place.top[i].wrapping_add(y[i] as u32));
            let at = texels.places(&texels.columns(&x), &texels.rows(&y));
            let read = texels.read(&at, lit)?;
            return Some(texels.numbers(&read));
        }
        let (x0, x1, fx) = address::linear_lanes(self.modes[0], u, &place.width);
        let (y0, y1, fy) = address::linear_lanes(self.modes[1], v, &place.height);
        let column = |x: &[i32; N]| lanes::<_, N>(|i| place.left[i].wrapping_add(x[i] as u32));
        let row = |y: &[i32; N]| lanes::<_, N>(|i| place.top[i].wrapping_add(y[i] as u32));
        let columns = [x0, x1].map(|x| texels.columns(&column(&x)));
        let mut rows = [[[0.0; N]; 4]; 2];
        for (colours, y) in rows.iter_mut().zip([y0, y1]) {
            let y = texels.rows(&row(&y));
            let at = [&columns[0], &columns[1]].map(|x| texels.places(x, &y));
            let [left, right] = texels.read_pairs(&at, lit)?;
            let [left, right] = [texels.numbers(&left), texels.numbers(&right)];
            for (c, colour) in colours.iter_mut().enumerate() {
                *colour = mix(&left[c], &right[c], &fx);
            }
        }
        let [upper, lower] = &rows;
        Some([0, 1, 2, 3].map(|c| mix(&upper[c], &lower[c], &fy)))
    }

    /// Bytes as colours, in their order.
    #[inline(always)]
    fn scaled<const N: usize>(&self, [a, g, c, alpha]: Colours<N>) -> Colours<N> {
        let by_byte = |plane: [f32; N]| lanes::<_, N>(|i| plane[i] / 255.0);
        let [a, g, c] = if self.linearize {
            [a, g, c]
        } else {
            [by_byte(a), by_byte(g), by_byte(c)]
        };
        let alpha = if self.opaque {
            [1.0; N]
        } else {
            by_byte(alpha)
        };
        if self.swapped {
            [c, g, a, alpha]
        } else {
            [a, g, c, alpha]
        }
    }
}

#[inline(always)]
fn mix<const N: usize>(a: &[f32; N], b: &[f32; N], weight: &[f32; N]) -> [f32; N] {
    lanes::<_, N>(|i| a[i] + (b[i] - a[i]) * weight[i])
}
