//! Texels by integer address, eight pixels at once.
//!
//! PRM: volume 4, 4.8.1.4, 4.8.1.5 (`ld`). Gives what [`super::super::info`] gives pixel by pixel.
#![expect(
    clippy::needless_range_loop,
    reason = "loops over vectors are by number: iterators are functions that are not always inlined"
)]

use eu::Grf;
use jit::eight::{Eight, Loops, eight};
use mem::Memory;

use super::form::{Blend, Channel, Form};
use super::kernel::is_odd;
use super::layout::{LARGEST, Levels};
use super::place::{columns, offsets, rows};
use super::source::{Once, Pages, Source};
use crate::intel::shared::sampler::message::{Op, Params, Request, Simd, write_registers};
use crate::intel::shared::sampler::quirks::Quirks;
use crate::intel::shared::sampler::texel::outside;
use crate::intel::surface::{Control, Surface, SurfaceKind};

/// A surface whose texels this path fetches.
#[derive(Clone, Debug)]
pub struct Fetch {
    surface: Surface,
    form: Form,
    levels: Levels,
    /// What there is outside of the map.
    outside: [u32; 4],
    /// Red, green and blue are sRGB and become linear.
    pub linearize: bool,
}

impl Fetch {
    /// `None` where this path does not serve. `encoded`: the colours of the surface are sRGB.
    #[must_use]
    pub fn new(surface: &Surface, encoded: bool) -> Option<Self> {
        if surface.kind == SurfaceKind::Null {
            return None;
        }
        let least = surface.min_lod;
        // Eight samples that lie interleaved are few: those of depth and stencil.
        if surface.interleaved() > 4 {
            return None;
        }
        let range = match surface.samples {
            ..=1 => (least, least.checked_add(surface.mip_count.checked_sub(1)?)?),
            // There is one level.
            _ => (0, 0),
        };
        Some(Fetch {
            form: Form::new(surface.format, encoded, false)?,
            levels: Levels::new(surface, range)?,
            outside: outside(surface.format),
            linearize: encoded,
            surface: surface.clone(),
        })
    }

    /// Whether a message is one that this path may serve.
    #[must_use]
    pub fn serves(request: &Request, quirks: &Quirks) -> bool {
        let shape = request.shape;
        let op = matches!(shape.op, Op::Ld | Op::LdSample | Op::LdSlice);
        op && shape.simd != Simd::Simd4x2 && !quirks.ld_without_alpha
    }

    /// Where the pages of the surface lie; `None` where they have to be looked up message by message.
    #[must_use]
    pub fn pages(&self, mem: &Memory) -> Option<Pages> {
        let geometry = &self.surface.geometry;
        let bytes = if geometry.buffer {
            let whole = geometry.pitch.is_multiple_of(geometry.bytes.max(1))
                && geometry.base.0.is_multiple_of(geometry.bytes.max(1).into());
            let bytes = self.surface.buffer_bytes() + u64::from(geometry.bytes);
            (whole && bytes < LARGEST).then_some(bytes)?
        } else {
            self.levels.extent(&self.surface)?
        };
        Pages::new(mem, geometry.base, bytes)
    }

    /// Serves a message. `None`: a texel cannot be read, and nothing has been written; the general path tells the fault. `pages` are those that
    /// [`pages`](Self::pages) gives.
    #[must_use]
    pub fn run(
        &self,
        (request, params): (&Request, &Params<'_>),
        active: u16,
        (mem, pages): (&Memory, Option<&Pages>),
        response: &mut [Grf],
    ) -> Option<()> {
        if request.shape.op != Op::Ld && self.surface.samples <= 1 {
            return None;
        }
        let message = Served {
            fetch: self,
            request,
            params,
            active,
            response,
        };
        if let Some(pages) = pages {
            if let Some(run) = pages.run(mem) {
                return message.from(run);
            }
            if let Some(scattered) = pages.scattered(mem) {
                return message.from(scattered);
            }
        }
        message.from(Once::new(mem, self.surface.geometry.base))
    }
}

/// A message that is served.
struct Served<'a> {
    fetch: &'a Fetch,
    request: &'a Request,
    params: &'a Params<'a>,
    active: u16,
    response: &'a mut [Grf],
}

impl Served<'_> {
    #[inline(always)]
    fn from<S: Source>(self, source: S) -> Option<()> {
        match self.request.shape.simd {
            Simd::Simd16 => eight(Kernel::<S, 2>(self, source)),
            Simd::Simd8 => eight(Kernel::<S, 1>(self, source)),
            Simd::Simd4x2 => None,
        }
    }
}

/// A message of `H` times eight pixels.
struct Kernel<'a, S, const H: usize>(Served<'a>, S);

impl<S: Source, const H: usize> Loops for Kernel<'_, S, H> {
    /// `None`: a texel cannot be read, and nothing has been written.
    type Out = Option<()>;

    #[inline(always)]
    fn run<E: Eight>(mut self, e: E) -> Option<()> {
        let mut planes = [[[0; 8]; 4]; H];
        for half in 0..H {
            // CAST: eight pixels.
            let lit = (self.0.active >> (half * 8)) as u8;
            if lit == 0 {
                continue;
            }
            let (at, inside, cleared) = self.place(e, half);
            let some = lit & e.mask(inside);
            let form = &self.0.fetch.form;
            let texel = self.1.read::<E, 4>(e, at, some, form.size)?;
            let mut values = [e.all(0); 4];
            if let Blend::Fields(fields, count) = &form.blend {
                for n in 0..4 {
                    if n < *count {
                        let [value] = fields[n].decode(e, &[texel]);
                        values[n] = e.bits(value);
                    }
                }
            }
            for n in 0..4 {
                let value = match form.channels[n] {
                    Channel::Value(at) => values[at & 3],
                    Channel::Constant(bits) => e.all(bits),
                };
                let value = match cleared {
                    Some(cleared) => e.select(cleared, e.all(self.0.fetch.surface.clear[n]), value),
                    None => value,
                };
                let outside = e.all(self.0.fetch.outside[n]);
                planes[half][n] = e.array(e.select(inside, value, outside));
            }
        }
        let Served {
            request,
            active,
            response,
            ..
        } = self.0;
        for half in 0..H {
            let lit = (active >> (half * 8)) as u8;
            write_registers::<H>(request, (half, lit), &planes[half], response);
        }
        Some(())
    }
}

impl<S: Source, const H: usize> Kernel<'_, S, H> {
    /// A parameter of eight pixels.
    #[inline(always)]
    fn integer<E: Eight>(&self, e: E, index: u8, half: usize) -> E::I {
        e.load(&self.0.params.register::<H>(index, half))
    }

    /// The slice among those of a pixel's samples that a sample is stored in, and where the highest bit is set, those that are
    /// cleared.
    #[inline(always)]
    fn stored<E: Eight>(&self, e: E, sample: E::I, half: usize) -> (E::I, Option<E::I>) {
        let Served { fetch, request, .. } = &self.0;
        let Some(Control::Samples(control)) = &fetch.surface.control else {
            return (sample, None);
        };
        if request.shape.op != Op::LdSample {
            return (sample, None);
        }
        let element = self.integer(e, request.order.control, half);
        let (bits, mask) = control.fields();
        let stored = e.and(e.shr_each(element, e.mul(sample, e.all(bits))), e.all(mask));
        (stored, Some(e.equal(element, e.all(control.cleared()))))
    }

    /// Offsets of texels from the first byte of the surface, and where the highest bit is set, those that there are, and of them those
    /// that are cleared.
    #[inline(always)]
    fn place<E: Eight>(&self, e: E, half: usize) -> (E::I, E::I, Option<E::I>) {
        let Served { fetch, request, .. } = &self.0;
        let (surface, order) = (&fetch.surface, request.order);
        let geometry = &surface.geometry;
        let zero = e.all(0);
        let x = self.integer(e, order.u, half);
        let mut y = self.integer(e, order.v, half);
        let mut z = self.integer(e, order.r, half);
        if geometry.buffer {
            let inside = below(e, x, e.all(surface.width));
            return (e.mul(x, e.all(geometry.pitch)), inside, None);
        }
        let lod = self.integer(e, order.lod, half);
        let in_levels = below(e, lod, e.all(surface.mip_count));
        let plain = request.shape.op == Op::Ld;
        let is_array = if plain {
            request.indexed || surface.depth > 1
        } else {
            surface.array
        };
        let moved = match surface.kind {
            SurfaceKind::OneD => {
                z = if is_array { y } else { zero };
                y = zero;
                1
            }
            SurfaceKind::TwoD => {
                z = if is_array { z } else { zero };
                2
            }
            SurfaceKind::ThreeD => 3,
            _ => 0,
        };
        let mut at = [x, y, z];
        for d in 0..3 {
            if d < moved && plain {
                // CAST: the bits of a signed number.
                let by = i32::from(request.offsets[d]).cast_unsigned();
                at[d] = e.add(at[d], e.all(by));
            }
        }
        let [mut x, mut y, z] = at;
        let mut inside = in_levels;
        let mut level = e.add(lod, e.all(surface.min_lod));
        let (mut stored, mut cleared) = (zero, None);
        if surface.samples > 1 {
            // The level of a message is of no account.
            let sample = self.integer(e, order.sample, half);
            inside = below(e, sample, e.all(surface.samples));
            inside = e.and(inside, below(e, x, e.all(surface.width)));
            inside = e.and(inside, below(e, y, e.all(surface.height)));
            level = zero;
            if surface.sample_slices {
                let sample = e.and(sample, e.all(surface.samples - 1));
                (stored, cleared) = self.stored(e, sample, half);
            } else {
                x = e.or(first_sample(e, x), e.shl(e.and(sample, e.all(1)), 1));
                y = e.or(first_sample(e, y), e.and(sample, e.all(2)));
            }
        }
        let place = fetch.levels.level(e, level);
        if surface.samples <= 1 {
            inside = e.and(inside, below(e, x, place.width));
            inside = e.and(inside, below(e, y, place.height));
        }
        inside = e.and(inside, below(e, z, fetch.levels.depth(e, &place)));
        let mut slice = z;
        if matches!(surface.kind, SurfaceKind::OneD | SurfaceKind::TwoD) {
            slice = e.add(slice, e.all(surface.min_array_element));
        }
        if surface.sample_slices {
            slice = e.add(e.mul(slice, e.all(surface.samples)), stored);
        }
        let place = fetch.levels.slice(e, &place, slice);
        let geometry = (geometry, is_odd(geometry));
        let size = fetch.form.size;
        let column = columns(e, geometry, size, e.add(place.left, x));
        let row = rows(e, geometry, e.add(place.top, y));
        (offsets(e, geometry.0, column, row), inside, cleared)
    }
}

/// Column or row of the first sample of pixels, as [`samples::place`](crate::intel::surface::samples::place) has it.
#[inline(always)]
fn first_sample<E: Eight>(e: E, n: E::I) -> E::I {
    e.or(e.shl(e.and(n, e.all(!1)), 1), e.and(n, e.all(1)))
}

/// Where the highest bit is set, a number is below a limit; the limit is below 2^31.
#[inline(always)]
fn below<E: Eight>(e: E, number: E::I, limit: E::I) -> E::I {
    e.and_not(number, e.more(limit, number))
}
