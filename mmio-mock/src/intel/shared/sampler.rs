//! Sampling engine: coordinates, levels, texels, filters.
//!
//! PRM: volume 4, chapter 4. Not modelled: texture caches and the fixed-point widths inside.

pub mod address;
pub mod blocks;
pub mod cube;
pub mod filter;
pub mod gamma;
mod gathers;
mod gradients;
pub mod info;
pub mod lanes;
pub mod lod;
pub mod message;
pub mod quirks;
mod ready;
pub mod state;
pub mod texel;

use eu::{Grf, Message};
use mem::{GpuAddr, Memory};

use super::binding;
use super::context::ThreadContext;
use super::error::refuse;
use super::reader::FunctionReader;
use crate::UnitFault;
use crate::intel::surface::state::Use;
use crate::intel::surface::{Capability, Range, Surface, SurfaceKind};
pub use blocks::BlockReader;
use blocks::Scaler;
use cube::OnFace;
use filter::{Plan, Point};
use gamma::{Curve, Gamma};
use info::Unfiltered;
use lanes::{Class, Fetch, Lanes};
use lod::{Levels, LodControl};
use message::{Op, Params, Request, SamplerRequest, Simd, write_back};
use quirks::Quirks;
pub use ready::Ready;
pub use state::SamplerDesc;
use state::{Sampler, Tables};
use texel::Texels;

/// Surfaces and samplers kept until the next [`SamplingEngine::invalidate`].
const KEPT: usize = 64;

/// Places of a surface and a sampler among those that are kept, for messages of a class.
type Pair = (usize, usize, Class);

/// The sampling engine.
#[derive(Clone, Debug)]
pub struct SamplingEngine {
    reader: &'static dyn FunctionReader,
    /// Chroma keys and palette, written by their commands.
    pub tables: Tables,
    /// Errata and doubtful readings that are in force.
    pub quirks: Quirks,
    /// Odd texels of subsampled formats get the mean of their neighbours' chrominance rather than that of the
    /// left one (SVG_WORK_CTL bit 0, PRM 3.3.3.3).
    pub interpolate_chroma: bool,
    /// Pixels sampled since reset.
    pub samples: u64,
    /// Comparisons since reset of formats that are no shadow maps, whose result the manual leaves open (PRM 4.4, 4.8.1.4).
    pub open_comparisons: u64,
    /// The format of the first of them since the last
    /// [`SharedFunctions::take_notes`](super::SharedFunctions::take_notes).
    pub open_comparison: Option<&'static str>,
    /// Texels of the general path since the router took the count.
    pub texels: u64,
    surfaces: Vec<(GpuAddr, Surface, bool)>,
    samplers: Vec<((GpuAddr, u8), Sampler)>,
    /// The filters of those that messages of SIMD32/64 name.
    scalers: Vec<((GpuAddr, u8), Box<Scaler>)>,
    /// What pairs of them, by their places, are for pixels at once.
    lanes: Vec<(Pair, Option<Box<Lanes>>)>,
    /// What surfaces, by their places, are for pixels at once that need no sampler.
    fetches: Vec<(usize, Option<Box<Fetch>>)>,
}

impl SamplingEngine {
    /// An engine after reset, for the structures of a generation.
    pub fn new(reader: &'static dyn FunctionReader) -> Self {
        SamplingEngine {
            reader,
            tables: Tables::default(),
            quirks: Quirks::default(),
            interpolate_chroma: false,
            samples: 0,
            open_comparisons: 0,
            open_comparison: None,
            texels: 0,
            surfaces: Vec::new(),
            samplers: Vec::new(),
            scalers: Vec::new(),
            lanes: Vec::new(),
            fetches: Vec::new(),
        }
    }

    /// Forgets everything derived from state in memory.
    pub fn invalidate(&mut self) {
        self.surfaces.clear();
        self.samplers.clear();
        self.scalers.clear();
        self.lanes.clear();
        self.fetches.clear();
    }

    fn surface(&mut self, mem: &Memory, at: GpuAddr) -> Result<usize, UnitFault> {
        if let Some(found) = self.surfaces.iter().position(|(key, ..)| *key == at) {
            return Ok(found);
        }
        let desc = self.reader.surface_at(mem, at)?;
        let surface = Surface::new(mem, &desc, Use::Sampler);
        let mut surface = surface.map_err(|e| e.at("sampler", at))?;
        // Keys look at texels as stored; gamma has its own place.
        let stored = gamma::stored(surface.format);
        surface.format = stored.unwrap_or(surface.format);
        if self.surfaces.len() >= KEPT {
            self.surfaces.clear();
            self.lanes.clear();
            self.fetches.clear();
        }
        self.surfaces.push((at, surface, stored.is_some()));
        Ok(self.surfaces.len() - 1)
    }

    fn sampler(
        &mut self,
        mem: &Memory,
        dynamic_base: u32,
        at: (GpuAddr, u8),
    ) -> Result<usize, UnitFault> {
        if let Some(found) = self.samplers.iter().position(|(key, _)| *key == at) {
            return Ok(found);
        }
        let sampler = Sampler::load(mem, self.reader, dynamic_base, at, &self.tables)?;
        if self.samplers.len() >= KEPT {
            self.samplers.clear();
            self.lanes.clear();
        }
        self.samplers.push((at, sampler));
        Ok(self.samplers.len() - 1)
    }

    /// The path for pixels at once, where it serves a surface under a sampler for messages of a class.
    fn lanes(&mut self, pair: Pair) -> Option<&Lanes> {
        let known = self.lanes.iter().position(|(key, _)| *key == pair);
        let at = known.unwrap_or_else(|| {
            // PANIC: both are positions that were found or made for this message.
            let (_, surface, encoded) = &self.surfaces[pair.0];
            let (_, sampler) = &self.samplers[pair.1];
            let lanes = Lanes::new(surface, sampler, *encoded, pair.2).map(Box::new);
            if self.lanes.len() >= KEPT {
                self.lanes.clear();
            }
            self.lanes.push((pair, lanes));
            self.lanes.len() - 1
        });
        let lanes = self.lanes.get(at)?.1.as_deref();
        lanes.filter(|lanes| self.converts(lanes.linearize))
    }

    /// Whether the path for pixels at once converts colours as the engine is to, where it does so.
    fn converts(&self, linearize: bool) -> bool {
        !linearize || self.quirks.gamma == Gamma::Linear
    }

    /// The path for pixels at once, where it serves fetches from a surface.
    fn fetch(&mut self, at: usize) -> Option<&Fetch> {
        let known = self.fetches.iter().position(|(key, _)| *key == at);
        let place = known.unwrap_or_else(|| {
            // PANIC: a position that was found or made for this message.
            let (_, surface, encoded) = &self.surfaces[at];
            let fetch = Fetch::new(surface, *encoded).map(Box::new);
            self.fetches.push((at, fetch));
            self.fetches.len() - 1
        });
        let fetch = self.fetches.get(place)?.1.as_deref();
        fetch.filter(|fetch| self.converts(fetch.linearize))
    }

    /// What serves a message without a sampler pixel by pixel.
    fn unfiltered<'a>(
        &'a self,
        at: usize,
        (request, params): (&'a Request, &'a Params<'a>),
    ) -> Unfiltered<'a> {
        // PANIC: a position that was found or made for this message.
        let (_, surface, encoded) = &self.surfaces[at];
        Unfiltered {
            request,
            params,
            surface,
            palettes: &self.tables.palettes,
            gamma: encoded.then(|| Curve::new(self.quirks.gamma, surface.format)),
            quirks: &self.quirks,
            interpolate_chroma: self.interpolate_chroma,
        }
    }

    /// The addresses that messages may read of the surface that is kept of a surface state.
    #[must_use]
    pub fn range(&self, at: GpuAddr) -> Option<Range> {
        let mut kept = self.surfaces.iter();
        let (_, surface, _) = kept.find(|(key, ..)| *key == at)?;
        // Levels are counted from the least one.
        let levels = surface.mip_count.saturating_add(surface.min_lod);
        let surface = Surface {
            mip_count: levels,
            ..surface.clone()
        };
        Some(surface.range())
    }

    /// Serves one message.
    pub fn execute(
        &mut self,
        request: &SamplerRequest,
        msg: &Message<'_>,
        response: &mut [Grf],
        mem: &Memory,
        ctx: &ThreadContext,
    ) -> Result<(), UnitFault> {
        let header = request.header;
        let request = Request::decode(request, msg, ctx.sampler_state_pointer);
        let request = request.map_err(|rule| refuse("sampler", msg, rule))?;
        let params = Params::new(msg, request.shape, header);
        let active = request.shape.active(msg.exec_mask);
        self.samples += u64::from(active.count_ones());
        let at = binding::surface_address(mem, ctx, request.surface)?;
        let surface = self.surface(mem, at)?;
        if request.shape.op.is_unfiltered() {
            if Fetch::serves(&request, &self.quirks)
                && let Some(fetch) = self.fetch(surface)
                && fetch
                    .run((&request, &params), active, (mem, None), response)
                    .is_some()
            {
                return Ok(());
            }
            let job = self.unfiltered(surface, (&request, &params));
            return job.run(mem, active, response);
        }
        let base = ctx.bases.dynamic();
        let table = mem.on_bus(GpuAddr::from(base).offset(request.sampler_pointer));
        let sampler = self.sampler(mem, base, (table, request.sampler))?;
        if Lanes::serves(&request, &self.quirks)
            && let Some(lanes) = self.lanes((surface, sampler, Class::of(&request)))
            && lanes.takes(&request)
            && lanes
                .run((&request, &params), active, (mem, None), response)
                .is_some()
        {
            kill_mask(&request, 0, response);
            return Ok(());
        }
        // PANIC: `surface` is the position that `Self::surface` has just given.
        let (_, surface, encoded) = &self.surfaces[surface];
        let gamma = encoded.then(|| Curve::new(self.quirks.gamma, surface.format));
        // PANIC: `sampler` is the position that `Self::sampler` has just given.
        let sampler = &self.samplers[sampler].1;
        if sampler.disabled || surface.kind == SurfaceKind::Null {
            for slot in slots(active) {
                write_back(&request, slot, [0; 4], response);
            }
            kill_mask(&request, 0, response);
            return Ok(());
        }
        if surface.kind == SurfaceKind::Buffer {
            return Err(refuse("sampler", msg, "sample of a buffer (PRM 4.8.1.4)"));
        }
        if request.shape.simd == Simd::Simd4x2
            && request.shape.op == Op::SampleCompare
            && !request.force_lod_zero
        {
            return Err(refuse(
                "sampler",
                msg,
                "SIMD4x2 sample_c without LOD (PRM 4.8.1.4)",
            ));
        }
        if request.shape.compares() && !surface.format.has(Capability::Shadow) {
            self.open_comparison.get_or_insert(surface.format.name);
            self.open_comparisons += 1;
        }
        let by_samples = (surface.samples > 1).then(|| surface.by_samples());
        let surface = by_samples.as_ref().unwrap_or(surface);
        let mut job = Job::new(&request, &params, (surface, &self.tables), sampler, mem);
        job.convert(gamma);
        job.texels.quirks = self.quirks;
        job.texels.interpolate_chroma = self.interpolate_chroma;
        self.texels += job.run(active, response)?;
        Ok(())
    }
}

/// Set bits of a mask as numbers.
fn slots(mask: u16) -> impl Iterator<Item = usize> {
    (0..16).filter(move |slot| mask & 1 << slot != 0)
}

/// The mask register behind the colours of sample+killpix (PRM 4.8.2.2).
fn kill_mask(request: &Request, killed: u16, response: &mut [Grf]) {
    if request.shape.op == Op::SampleKillpix
        && let Some(w) = response.get_mut(4)
    {
        w[0] = 0xffff_0000 | u32::from(!killed);
    }
}

/// One filtered message.
struct Job<'a> {
    request: &'a Request,
    params: &'a Params<'a>,
    sampler: &'a Sampler,
    control: LodControl,
    plan: Plan,
    texels: Texels<'a>,
    /// Conversion of the filtered colour, for sRGB formats as the manual prints it.
    gamma: Option<Curve>,
    /// Size of level 0 in texels, for gradients.
    size: [f32; 3],
    /// Channels return as S1.14 (PRM 4.7.2, Data Return Format).
    narrow: bool,
}

impl<'a> Job<'a> {
    fn new(
        request: &'a Request,
        params: &'a Params<'a>,
        (surface, tables): (&'a Surface, &'a Tables),
        sampler: &'a Sampler,
        mem: &'a Memory,
    ) -> Self {
        let compare = request.shape.compares();
        let size = [surface.width, surface.height, surface.depth].map(|n| n as f32);
        let mut plan = Plan::new(surface.kind, sampler, request.offsets);
        if sampler.unnormalized {
            plan = plan.counting(surface);
        }
        let texels = Texels::new(mem, surface, tables, sampler, compare);
        Job {
            request,
            params,
            sampler,
            control: sampler.lod_control(surface),
            plan,
            texels,
            gamma: None,
            size,
            narrow: surface.return_s1_14 && request.shape.simd != Simd::Simd4x2,
        }
    }

    /// Puts the conversion of an sRGB format where it belongs.
    fn convert(&mut self, gamma: Option<Curve>) {
        let (filtered, texel) = match gamma {
            Some(gamma) if gamma.behind_the_filter() => (Some(gamma), None),
            other => (None, other),
        };
        self.gamma = filtered;
        self.texels.gamma = texel;
    }

    /// What happens to a filtered colour: gamma as printed (PRM 4.6), return format.
    #[inline]
    fn finish(&self, rgba: [f32; 4]) -> [f32; 4] {
        let rgba = match &self.gamma {
            Some(gamma) => gamma.convert(rgba),
            None => rgba,
        };
        if self.narrow { rgba.map(s1_14) } else { rgba }
    }

    /// Fills the response and says how many texels the general path has looked at.
    fn run(mut self, active: u16, response: &mut [Grf]) -> Result<u64, UnitFault> {
        let mut killed = 0;
        // Gradients of a message are each pixel's own.
        let group = match self.request.shape {
            message::Shape {
                simd: Simd::Simd4x2,
                ..
            }
            | message::Shape {
                op: Op::SampleGradients,
                ..
            } => 1,
            _ => 4,
        };
        for first in (0..self.request.shape.slots()).step_by(group) {
            let lit = active >> first & ((1 << group) - 1);
            if lit == 0 {
                continue;
            }
            let mut face = self.face(first);
            let (mut lod, mut footprint) = self.base_lod(first, face);
            for slot in slots(lit).map(|n| first + n) {
                if self.face(slot) != face {
                    face = self.face(slot);
                    (lod, footprint) = self.base_lod(first, face);
                }
                if self.request.shape.op == Op::Lod {
                    let queried = self.control.queried(lod).map(f32::to_bits);
                    write_back(self.request, slot, queried, response);
                    continue;
                }
                let levels = self.levels(slot, lod);
                let point = self.point(slot);
                self.texels.reference = self.reference(slot);
                self.texels.killed = false;
                if self.request.shape.op.gathers() {
                    let level = levels.level;
                    let plan = self.gather_plan(slot);
                    let how = (&plan, self.channel());
                    let four = filter::gather(&mut self.texels, how, &point, level)?;
                    write_back(self.request, slot, four.map(f32::to_bits), response);
                    continue;
                }
                let rgba = filter::sample(
                    &mut self.texels,
                    self.sampler,
                    &self.plan,
                    &point,
                    levels,
                    footprint.as_ref(),
                )?;
                killed |= u16::from(self.texels.killed) << slot;
                let rgba = self.finish(rgba);
                write_back(self.request, slot, rgba.map(f32::to_bits), response);
            }
        }
        kill_mask(self.request, killed, response);
        Ok(u64::from(self.texels.fetched))
    }

    /// Coordinates of a pixel, normalized; array indices as they are.
    #[inline]
    fn coords(&self, slot: usize) -> [f32; 3] {
        self.coords_by(slot, [1.0; 3])
    }

    /// Coordinates of a pixel; where those of the message count texels, they do so as well if `unit` is not 1.
    #[inline]
    fn coords_by(&self, slot: usize, unit: [f32; 3]) -> [f32; 3] {
        let order = self.request.order;
        let mut coords = [order.u, order.v, order.r].map(|n| self.params.float(n, slot));
        if self.sampler.unnormalized {
            for d in 0..self.plan.dimensions {
                if unit[d] == 1.0 {
                    coords[d] /= self.size[d];
                }
            }
        }
        coords
    }

    /// The first slice of a pixel's cube; face 0 of the only one, where there is no array.
    #[inline]
    fn cube(&self, slot: usize) -> i32 {
        let surface = self.texels.surface;
        // CAST: eleven bits.
        let first = surface.min_array_element as i32;
        if surface.depth <= 6 {
            return first;
        }
        let last = (surface.depth / 6).saturating_sub(1) as f32;
        let index = self.params.float(self.request.order.cube, slot);
        // CAST: clamped to the surface's cubes.
        let index = (index + 0.5).floor().max(0.0).min(last) as i32;
        first + index * 6
    }

    #[inline]
    fn point(&self, slot: usize) -> Point {
        let c = self.coords_by(slot, self.plan.unit);
        match self.texels.surface.kind {
            SurfaceKind::OneD => Point {
                coord: [c[0], 0.0, 0.0],
                slice: self.texels.array_slice(c[1]),
            },
            SurfaceKind::ThreeD => Point { coord: c, slice: 0 },
            SurfaceKind::Cube if self.request.shape.op == Op::SampleGradients => {
                // Already on its face: s, t in -1..1 and the face number (PRM 4.8.1.4).
                let face = c[2].clamp(0.0, 5.0) as u32;
                let point = Point::on_face(OnFace {
                    face,
                    s: c[0],
                    t: c[1],
                });
                Point {
                    slice: point.slice + self.cube(slot),
                    ..point
                }
            }
            SurfaceKind::Cube => {
                let point = Point::on_face(cube::locate(c));
                Point {
                    slice: point.slice + self.cube(slot),
                    ..point
                }
            }
            _ => Point {
                coord: [c[0], c[1], 0.0],
                slice: self.texels.array_slice(c[2]),
            },
        }
    }

    #[inline]
    fn reference(&self, slot: usize) -> f32 {
        self.params.float(self.request.order.reference, slot)
    }

    fn levels(&self, slot: usize, lod: f32) -> Levels {
        let second = self.params.float(self.request.order.lod, slot);
        match self.request.shape.op {
            Op::SampleLod | Op::SampleLodCompare => self.control.given(second),
            op if op.gathers() => self.control.given(0.0),
            Op::SampleBias | Op::SampleBiasCompare => self.control.computed(lod, second),
            _ => self.control.computed(lod, 0.0),
        }
    }
}

/// Rounds to the sixteen bits of S1.14.
fn s1_14(value: f32) -> f32 {
    let steps = (value * 16384.0).round_ties_even();
    steps.clamp(-32768.0, 32767.0) / 16384.0
}

#[cfg(test)]
mod tests;
