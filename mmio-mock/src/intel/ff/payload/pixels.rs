//! Pixels on their way into a thread: subspans, groups, registers.
//!
//! PRM: volume 2, pixel shader thread payload; volume 4, 3.3.9.

use eu::Grf;

use super::interpolation::{Interpolation, Plane};
use crate::intel::shared::context::SAMPLES;
use crate::intel::shared::interpolator::{self, Planes};

/// Registers of the longest payload before constants and setup data: a header, and for each of two halves of 16 pixels the
/// subspans, six kinds of weights, depth, w, offsets and covered samples.
pub const MAX_REGISTERS: usize = 1 + 2 * (1 + 6 * 4 + 2 + 2 + 1 + 2);

/// Subspans of the widest thread.
pub const MAX_SUBSPANS: usize = 8;

/// A 2x2 block of pixels on its way into a thread. Pixels are numbered upper left, upper right,
/// lower left, lower right (PRM vol4 5.10.6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Subspan {
    /// Column of the upper left pixel.
    pub x: u16,
    /// Row of the upper left pixel.
    pub y: u16,
    /// Lit pixels, one bit each.
    pub mask: u8,
    /// Source depth.
    pub depth: [f32; 4],
    /// Destination depth in the depth buffer's format, without stencil.
    pub destination_depth: [u32; 4],
    /// Destination stencil, a byte a pixel, pixel 0 lowest.
    pub destination_stencil: u32,
    /// Antialias alpha as U0.4, a nibble a pixel, pixel 0 lowest.
    pub alpha: u16,
    /// Lit pixels by samples, where a pixel has several.
    pub coverage: [u8; SAMPLES],
    /// Source depth by samples, where a pixel has several.
    pub sample_depth: [[f32; 4]; SAMPLES],
    /// The sample that it is for, where threads are for single samples.
    pub sample: Option<u8>,
}

impl Subspan {
    /// The samples of a pixel that are lit, one bit each: what a kernel gets as its input coverage mask.
    #[must_use]
    pub fn lit_samples(&self, pixel: usize) -> u32 {
        let bit = |lit: u8| u32::from(lit) >> (pixel & 3) & 1;
        let each = self.coverage.iter().zip(0..);
        let samples = each.fold(0, |all, (lit, sample)| all | bit(*lit) << sample);
        // A pixel of one sample says nothing there.
        if samples == 0 {
            bit(self.mask)
        } else {
            samples
        }
    }

    /// Becomes a subspan of pixels of one sample each, with nothing besides. Depths by sample stay what they were: nobody asks
    /// for them then.
    #[inline]
    pub fn set(&mut self, (x, y): (u16, u16), mask: u8, depth: [f32; 4]) {
        (self.x, self.y) = (x, y);
        self.mask = mask;
        self.depth = depth;
        self.destination_depth = [0; 4];
        self.destination_stencil = 0;
        self.alpha = 0;
        self.coverage = [0; SAMPLES];
        self.sample = None;
    }
}

/// Up to eight subspans of one primitive.
#[derive(Clone, Copy, Debug, Default)]
pub struct PixelGroup {
    subspans: [Subspan; MAX_SUBSPANS],
    count: usize,
}

impl PixelGroup {
    /// Lit subspans, by their upper left pixels.
    pub fn whole(origins: &[(u16, u16); 4]) -> PixelGroup {
        let mut group = PixelGroup::default();
        for &at in origins {
            let mut subspan = Subspan::default();
            subspan.set(at, 15, [0.0; 4]);
            group.push(subspan);
        }
        group
    }

    /// Adds a subspan; a full group ignores it.
    #[inline]
    pub fn push(&mut self, subspan: Subspan) {
        if let Some(slot) = self.slot() {
            *slot = subspan;
            self.keep();
        }
    }

    /// The slot of the next subspan, to be filled in place; none when the group is full.
    #[inline]
    pub fn slot(&mut self) -> Option<&mut Subspan> {
        self.subspans.get_mut(self.count)
    }

    /// Takes the slot into the group.
    #[inline]
    pub fn keep(&mut self) {
        self.count = (self.count + 1).min(MAX_SUBSPANS);
    }

    /// Forgets the subspans.
    #[inline]
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// The upper left pixel, when the group is a whole square of four by four pixels.
    #[inline]
    pub fn square(&self) -> Option<(u16, u16)> {
        let [a, b, c, d] = self.subspans() else {
            return None;
        };
        let lit = a.mask & b.mask & c.mask & d.mask == 15;
        let at = |s: &Subspan| (s.x.wrapping_sub(a.x), s.y.wrapping_sub(a.y));
        let square = at(b) == (2, 0) && at(c) == (0, 2) && at(d) == (2, 2);
        (lit && square).then_some((a.x, a.y))
    }

    /// The subspans, in the order of their slots.
    #[inline]
    pub fn subspans(&self) -> &[Subspan] {
        // PANIC: count never exceeds the array (see `keep`).
        &self.subspans[..self.count]
    }

    /// Lit pixels: four bits a subspan.
    #[inline]
    pub fn pixel_mask(&self) -> u32 {
        let each = self.subspans().iter().enumerate();
        each.fold(0, |mask, (i, s)| mask | u32::from(s.mask & 15) << (i * 4))
    }

    /// Channels of the thread: all four pixels of every subspan that is there, so that kernels
    /// can take differences between neighbours.
    #[inline]
    pub fn dispatch_mask(&self) -> u32 {
        // CAST: 32 bits for the eight that a group has at most.
        ((1u64 << (self.count * 4)) - 1) as u32
    }
}

/// The parts of the payload that do not depend on the pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PayloadState<'a> {
    /// Colour calculator state, relative to General State Base Address.
    pub color_calc_state: u32,
    /// Sampler state table, relative to General State Base Address.
    pub sampler_state: u32,
    /// Per-Thread Scratch Space as in the unit state.
    pub scratch_space: u32,
    /// Scratch space base, relative to General State Base Address.
    pub scratch_base: u32,
    /// Binding table, relative to Surface State Base Address.
    pub binding_table: u32,
    /// Fixed function thread ID.
    pub fftid: u8,
    /// Debug dwords r0.6 and r0.7: thread number, primitive sequence number, snapshot flag.
    pub debug: [u32; 2],
    /// Start vertex, where the setup planes have their origin, as pixel coordinates whose integers
    /// are sample points.
    pub start: [f32; 2],
    /// The back side is seen.
    pub back_facing: bool,
    /// Primitive topology type (R1.6 bits 4:0).
    pub topology: u8,
    /// Antialias alpha is sent on (R1.6 bit 26).
    pub antialias: bool,
    /// Viewport index.
    pub viewport_index: u8,
    /// Render target array index.
    pub render_target_array_index: u16,
    /// What of depth and stencil the payload holds.
    pub parts: PixelParts,
    /// Channels of the kernel: 8, 16 or 32.
    pub width: u8,
    /// What changes over the primitive, where the thread gets weights.
    pub weights: Option<&'a PixelWeights>,
}

/// Where in a pixel a value is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Location {
    /// At its centre, or its upper left corner: the sample point of a target with one sample.
    #[default]
    Pixel,
    /// At a place that the object covers.
    Centroid,
    /// At the sample that the thread is for.
    Sample,
}

/// What threads get of the weights of a primitive's vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PixelWeights {
    /// Planes of the primitive.
    pub planes: Interpolation,
    /// Added to a pixel's coordinates to find its sample point on the screen that the planes are for.
    pub origin: [f64; 2],
    /// Barycentric Interpolation Mode: which weights, with regard to w and without, each at three locations.
    pub modes: u8,
    /// The payload has w.
    pub w: bool,
    /// Where depth and w are taken.
    pub depth_location: Location,
    /// The payload has the distance of each place from the pixel's upper left corner.
    pub offsets: Option<Location>,
    /// The payload has the samples of each pixel that are lit.
    pub coverage: bool,
    /// Places of the samples, in pixels from the upper left corner.
    pub samples: [[f32; 2]; SAMPLES],
    /// Samples of a pixel.
    pub sample_count: u8,
    /// The sample point, in pixels from the upper left corner.
    pub pixel: [f32; 2],
    /// Kernels may ask the pixel interpolator for more.
    pub asked: bool,
}

impl PixelWeights {
    /// What the pixel interpolator has to know, where kernels may ask it.
    #[inline]
    pub fn asked(&self) -> Option<Planes> {
        let plane = |plane: Plane| interpolator::Plane {
            slope: plane.slope,
            base: plane.base,
        };
        let planes = &self.planes;
        self.asked.then(|| Planes {
            rhw: plane(planes.rhw),
            weights: planes.weights.map(plane),
            linear: planes.linear.map(plane),
            origin: self.origin,
            pixel: self.pixel,
            samples: self.samples,
            sample_count: self.sample_count,
        })
    }

    /// A place in a pixel of a subspan, in pixels from its upper left corner.
    #[inline]
    pub fn place(&self, subspan: &Subspan, pixel: usize, at: Location) -> [f32; 2] {
        let sample = |n: u8| self.samples.get(usize::from(n)).copied();
        match at {
            _ if self.sample_count <= 1 => self.pixel,
            Location::Pixel => self.pixel,
            Location::Sample => sample(subspan.sample.unwrap_or(0)).unwrap_or(self.pixel),
            Location::Centroid => {
                let lit = |s: &u8| subspan.coverage[usize::from(*s)] >> pixel & 1 != 0;
                // PANIC: as many as there are at most.
                let samples = 0..self.sample_count.min(SAMPLES as u8);
                let all = samples.clone().all(|s| lit(&s));
                let first = samples.clone().find(lit);
                match first {
                    // Covered whole, or not at all: the pixel's own place.
                    Some(first) if !all => sample(first).unwrap_or(self.pixel),
                    _ => self.pixel,
                }
            }
        }
    }

    /// Whether all locations are the pixel's own: it has one sample.
    #[inline]
    pub fn one_location(&self) -> bool {
        self.sample_count <= 1
    }

    /// Columns and rows of [`Self::point`] for the pixels of subspans one after another, `N` at most; what lies behind the last
    /// stays.
    #[inline(always)]
    pub fn points<const N: usize>(
        &self,
        subspans: &[Subspan],
        at: Location,
        [x, y]: &mut [[f64; N]; 2],
    ) {
        let (columns, _) = x.as_chunks_mut::<4>();
        let (rows, _) = y.as_chunks_mut::<4>();
        for ((x, y), s) in columns.iter_mut().zip(rows).zip(subspans) {
            if self.one_location() {
                (*x, *y) = self.corners((s.x, s.y));
            } else {
                for (pixel, (x, y)) in x.iter_mut().zip(y).enumerate() {
                    [*x, *y] = self.point(s, pixel, at);
                }
            }
        }
    }

    /// Columns and rows of the pixels of a subspan, where each has one location.
    #[inline(always)]
    pub fn corners(&self, (x, y): (u16, u16)) -> ([f64; 4], [f64; 4]) {
        let column = self.across(f64::from(x), 0);
        let next = self.across(f64::from(x) + 1.0, 0);
        let row = self.across(f64::from(y), 1);
        let below = self.across(f64::from(y) + 1.0, 1);
        ([column, next, column, next], [row, row, below, below])
    }

    /// The sample point of a pixel with one sample, in one direction: [`Self::point`] of its column or row.
    #[inline(always)]
    fn across(&self, coordinate: f64, direction: usize) -> f64 {
        let pixel = f64::from(self.pixel[direction]);
        coordinate + self.origin[direction] + pixel - pixel
    }

    /// A place in a pixel, on the screen that the planes are for.
    #[inline]
    pub fn point(&self, subspan: &Subspan, pixel: usize, at: Location) -> [f64; 2] {
        let place = self.place(subspan, pixel, at);
        let column = f64::from(subspan.x) + (pixel % 2) as f64;
        let row = f64::from(subspan.y) + (pixel / 2) as f64;
        let from = |coordinate: f64, i: usize| {
            coordinate + self.origin[i] + f64::from(place[i]) - f64::from(self.pixel[i])
        };
        [from(column, 0), from(row, 1)]
    }
}

/// Which values of depth and stencil threads get and send on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PixelParts {
    /// The payload has source depth.
    pub source_depth: bool,
    /// The render target write has source depth (R1.6 bit 29).
    pub source_depth_to_target: bool,
    /// The payload and the render target write have destination depth (R1.6 bit 28).
    pub destination_depth: bool,
    /// The payload and the render target write have destination stencil (R1.6 bit 27).
    pub destination_stencil: bool,
}

/// A payload on its way into registers, from r0 on.
#[derive(Debug)]
pub struct Payload<'a> {
    registers: &'a mut [Grf],
    count: usize,
}

impl<'a> Payload<'a> {
    /// An empty one that goes into these registers.
    #[inline]
    pub fn into(registers: &'a mut [Grf]) -> Self {
        Payload {
            registers,
            count: 0,
        }
    }

    /// How many registers it has: those for which there is no place count as well.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Adds a register.
    #[inline]
    pub fn push(&mut self, register: Grf) {
        if let Some(slot) = self.registers.get_mut(self.count) {
            *slot = register;
        }
        self.count += 1;
    }

    /// Adds two registers with four dwords of each subspan.
    pub fn push_pairs(&mut self, group: &PixelGroup, of: impl Fn(&Subspan) -> [u32; 4]) {
        let mut pair = [[0; 8]; 2];
        let places = pair.iter_mut().flat_map(|r| r.chunks_exact_mut(4));
        for (to, s) in places.zip(group.subspans()) {
            to.copy_from_slice(&of(s));
        }
        self.push(pair[0]);
        self.push(pair[1]);
    }
}
