//! The common case at speed: all pixels of a message at once.
//!
//! PRM: volume 4, 4.2.1, 4.2.3.1, 4.2.3.2. Serves textures of plain formats under nearest and linear filters.
//! Gives what the general filters give but for one rounding: in plain samples of two dimensions texels of four bytes that need no border are blended
//! as whole numbers and scaled to 0..1 once; those of sRGB formats are blended as they become.

mod colours;
mod faces;
mod fetch;
mod form;
mod kernel;
mod layout;
mod levels;
mod place;
mod source;
mod spatial;

use eu::Grf;
use jit::eight::eight;
use mem::Memory;

use super::address::Mode;
use super::filter::Plan;
use super::lod::{Levels, LodControl, MipFilter};
use super::message::{Op, Params, Request, Simd, gathers_second_as_third};
use super::quirks::Quirks;
use super::state::{Filter, Sampler};
use super::texel::spread;
use crate::intel::surface::{Capability, Surface, SurfaceKind};
use form::Form;
use kernel::{ANY, Kernel, is_odd};
use layout::Levels as Tables;
use source::{Once, Source};
use spatial::Spatial;

pub use fetch::Fetch;
pub use source::Pages;

/// A surface under a sampler, both of which this path serves.
#[derive(Clone, Debug)]
pub struct Lanes {
    surface: Surface,
    modes: [Mode; 3],
    min: Filter,
    mag: Filter,
    control: LodControl,
    /// The levels of all pixels, where no LOD changes them.
    fixed: Option<Levels>,
    levels: Tables,
    form: Form,
    /// The border colour, by stored values, where a mode needs it.
    border: Option<[f32; 4]>,
    compare: Compare,
    /// Coordinates count texels.
    unnormalized: bool,
    /// [`Plan::unit`].
    unit: [f32; 3],
    /// Four bytes a texel, one slice, and nothing beyond filters and address modes without a border.
    plain: bool,
    /// More than a plain sample of two dimensions.
    spatial: bool,
    /// Red, green and blue are sRGB and become linear texel by texel.
    pub linearize: bool,
}

/// What messages are alike in, for a surface under a sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// They compare texels.
    pub compares: bool,
    /// They are more than plain samples: texel offsets, given gradients, gathers.
    pub spatial: bool,
}

impl Class {
    /// That of a message.
    #[must_use]
    pub fn of(request: &Request) -> Class {
        let op = request.shape.op;
        Class {
            compares: request.shape.compares(),
            spatial: request.offsets != [0; 3] || op == Op::SampleGradients || op.gathers(),
        }
    }
}

/// How texels are compared with references.
#[derive(Clone, Copy, Debug)]
struct Compare {
    /// Messages that compare are served.
    serves: bool,
    /// Shadow function code.
    function: u32,
}

impl Lanes {
    /// `None` where this path does not serve messages of a class. `encoded`: the colours of the surface are sRGB.
    #[must_use]
    pub fn new(surface: &Surface, sampler: &Sampler, encoded: bool, class: Class) -> Option<Self> {
        let simple = |filter| matches!(filter, Filter::Nearest | Filter::Linear);
        let mut plan = Plan::new(surface.kind, sampler, [0; 3]);
        if sampler.unnormalized {
            plan = plan.counting(surface);
        }
        let Plan {
            modes, dimensions, ..
        } = plan;
        let kind = surface.kind;
        let compares = class.compares;
        let spatial = class.spatial || kind != SurfaceKind::TwoD;
        // PANIC: three dimensions at most.
        let borders = modes[..dimensions].contains(&Mode::ClampBorder);
        // A cube shows its border in the place of faces that are not there.
        let whole_cube = !borders && (0..6).all(|face| surface.face_enabled(face));
        let serves = !matches!(kind, SurfaceKind::Buffer | SurfaceKind::Null)
            && (kind != SurfaceKind::Cube || whole_cube)
            && sampler.key.is_none()
            && !sampler.disabled
            && simple(sampler.min)
            && simple(sampler.mag);
        if !serves {
            return None;
        }
        let surface = if surface.samples > 1 {
            surface.by_samples()
        } else {
            surface.clone()
        };
        let form = Form::new(surface.format, encoded, !(borders || compares || spatial))?;
        let blends = [sampler.min, sampler.mag].contains(&Filter::Linear)
            || sampler.lod.filter == MipFilter::Linear;
        if form.is_integer() && blends {
            return None;
        }
        // Of formats that are no shadow maps comparisons are counted, and some have more than one value.
        if compares && !(form.count() == 1 && surface.format.has(Capability::Shadow)) {
            return None;
        }
        let border = borders.then(|| {
            let colour = spread(surface.format, sampler.border.of(surface.format));
            [0, 1, 2, 3].map(|value| colour[form.shown(value)])
        });
        let control = sampler.lod_control(&surface);
        let (least, most) = control.range();
        // CAST: saturates.
        let range = (least.floor() as u32, least.max(most).ceil() as u32);
        let levels = Tables::new(&surface, range)?;
        let plain = form.is_plain()
            && surface.depth <= 1
            && !(borders || compares || sampler.unnormalized || surface.return_s1_14)
            && !is_odd(&surface.geometry);
        Some(Lanes {
            modes,
            min: sampler.min,
            mag: sampler.mag,
            control,
            fixed: (!sampler.needs_lod()).then(|| control.computed(0.0, 0.0)),
            levels,
            form,
            border,
            compare: Compare {
                serves: compares,
                function: sampler.shadow,
            },
            unnormalized: sampler.unnormalized,
            unit: plan.unit,
            plain,
            spatial,
            linearize: encoded,
            surface,
        })
    }

    /// Whether a message is one that this path may serve.
    #[must_use]
    pub fn serves(request: &Request, quirks: &Quirks) -> bool {
        let op = match request.shape.op {
            Op::Sample
            | Op::SampleKillpix
            | Op::SampleBias
            | Op::SampleLod
            | Op::SampleGradients
            | Op::Gather4 => true,
            Op::SampleCompare
            | Op::SampleBiasCompare
            | Op::SampleLodCompare
            | Op::Gather4Compare => !quirks.compare_nan && !quirks.compare_first_element,
            _ => false,
        };
        op && request.shape.simd != Simd::Simd4x2
    }

    /// Whether such a message may be sent to the surface.
    #[must_use]
    pub fn takes(&self, request: &Request) -> bool {
        let kind = self.surface.kind;
        match request.shape.op {
            // Gradients on the faces of cubes have coordinates of their own.
            Op::SampleGradients => kind != SurfaceKind::Cube,
            Op::Gather4 | Op::Gather4Compare => {
                let plain = matches!(kind, SurfaceKind::TwoD | SurfaceKind::Cube);
                plain && !gathers_second_as_third(self.surface.format)
            }
            _ => true,
        }
    }

    /// Texels of level 0 across and down.
    #[inline(always)]
    fn size(&self) -> [f32; 2] {
        [self.surface.width as f32, self.surface.height as f32]
    }

    /// Where the pages of the surface lie; `None` where they have to be looked up message by message.
    #[must_use]
    pub fn pages(&self, mem: &Memory) -> Option<Pages> {
        let bytes = self.levels.extent(&self.surface)?;
        Pages::new(mem, self.surface.geometry.base, bytes)
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
        debug_assert_eq!(request.shape.compares(), self.compare.serves);
        debug_assert!(self.spatial || !Class::of(request).spatial);
        let message = Served {
            lanes: self,
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
    lanes: &'a Lanes,
    request: &'a Request,
    params: &'a Params<'a>,
    active: u16,
    response: &'a mut [Grf],
}

impl<'a> Served<'a> {
    /// Takes texels from a source, as large as they are.
    #[inline(always)]
    fn from<S: Source>(self, source: S) -> Option<()> {
        if self.lanes.spatial {
            return match self.lanes.form.size {
                2 => self.spatial::<S, 2, 1>(source),
                _ => self.spatial::<S, ANY, 4>(source),
            };
        }
        match self.lanes.form.size {
            2 if self.lanes.plain => self.wide::<S, 2, 1, true>(source),
            0 => self.wide::<S, 0, 1, false>(source),
            1 => self.wide::<S, 1, 1, false>(source),
            2 => self.wide::<S, 2, 1, false>(source),
            3 => self.wide::<S, 3, 2, false>(source),
            4 => self.wide::<S, 4, 4, false>(source),
            _ => None,
        }
    }

    #[inline(always)]
    fn wide<S: Source, const SIZE: u32, const D: usize, const PLAIN: bool>(
        self,
        source: S,
    ) -> Option<()> {
        match self.request.shape.simd {
            Simd::Simd16 => self.kernel::<S, 2, SIZE, D, PLAIN>(source),
            Simd::Simd8 => self.kernel::<S, 1, SIZE, D, PLAIN>(source),
            Simd::Simd4x2 => None,
        }
    }

    #[inline(always)]
    fn spatial<S: Source, const SIZE: u32, const D: usize>(self, source: S) -> Option<()> {
        match self.request.shape.simd {
            Simd::Simd16 => eight(Spatial(self.resolved::<S, 2, SIZE, D, false>(source))),
            Simd::Simd8 => eight(Spatial(self.resolved::<S, 1, SIZE, D, false>(source))),
            Simd::Simd4x2 => None,
        }
    }

    #[inline(always)]
    fn kernel<S: Source, const H: usize, const SIZE: u32, const D: usize, const PLAIN: bool>(
        self,
        source: S,
    ) -> Option<()> {
        eight(self.resolved::<S, H, SIZE, D, PLAIN>(source))
    }

    #[inline(always)]
    fn resolved<S: Source, const H: usize, const SIZE: u32, const D: usize, const PLAIN: bool>(
        self,
        source: S,
    ) -> Kernel<'a, S, H, SIZE, D, PLAIN> {
        Kernel {
            lanes: self.lanes,
            request: self.request,
            params: self.params,
            active: self.active,
            source,
            response: self.response,
        }
    }
}
