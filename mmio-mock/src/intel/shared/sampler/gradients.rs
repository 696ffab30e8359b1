//! Gradients between the pixels of a subspan, and the LOD that they give.
//!
//! PRM: volume 4, 4.2.1.1. Not modelled: the hardware's own approximation, which the manual leaves open.

use super::filter::Footprint;
use super::message::Op;
use super::state::Filter;
use super::{Job, cube, lod};
use crate::intel::surface::SurfaceKind;

impl Job<'_> {
    /// The face that a pixel is on; 0 for maps without faces and for gradients that a message brings.
    ///
    /// What neighbours on other faces mean for the LOD is open (PRM 4.2.1.1 speaks of "neighboring pixel texture
    /// coordinates", but they have been divided by another component). Here they count as projected on the plane of
    /// the pixel's own face. A G41 passes piglit's `cubemap`, `cubemap npot` and `fbo-cubemap`, which want the exact
    /// level at pixels whose neighbours in the subspan lie beyond the edges of their face, at whichever corner:
    /// differences as delivered, or on the face of the first pixel, miss it by half a level.
    #[inline]
    pub(super) fn face(&self, slot: usize) -> u32 {
        match self.texels.surface.kind {
            SurfaceKind::Cube if self.request.shape.op != Op::SampleGradients => {
                cube::face(self.coords(slot))
            }
            _ => 0,
        }
    }

    /// The LOD before bias of pixels on `face` in the group that starts at `first`, and their footprint for
    /// the anisotropic filter.
    pub(super) fn base_lod(&self, first: usize, face: u32) -> (f32, Option<Footprint>) {
        let op = self.request.shape.op;
        let given = matches!(op, Op::SampleLod | Op::SampleLodCompare) || op.gathers();
        let anisotropic =
            [self.sampler.min, self.sampler.mag].contains(&Filter::Anisotropic) && !given;
        let needed = self.sampler.needs_lod() || op == Op::Lod;
        if given || !anisotropic && (self.request.force_lod_zero || !needed) {
            return (0.0, None);
        }
        let (dx, dy) = self.gradients(first, face);
        let (lod, footprint) = if anisotropic && self.plan.dimensions == 2 {
            let (footprint, lod) = Footprint::new(dx, dy, self.size, self.sampler.max_anisotropy);
            (lod, Some(footprint))
        } else {
            (lod::from_gradients(dx, dy), None)
        };
        if self.request.force_lod_zero {
            return (0.0, footprint);
        }
        (lod, footprint)
    }

    /// Gradients along x and y in texels of level 0; of a cube: in the plane of `face`, in -1..1.
    fn gradients(&self, first: usize, face: u32) -> ([f32; 3], [f32; 3]) {
        let kind = self.texels.surface.kind;
        let mut scale = self.size;
        for unused in &mut scale[self.plan.dimensions..] {
            *unused = 0.0;
        }
        let (dx, dy) = if self.request.shape.op == Op::SampleGradients {
            if kind == SurfaceKind::Cube {
                scale = scale.map(|s| s * 0.5);
            }
            let order = self.request.order;
            let p = |n| self.params.float(n, first);
            (order.dx.map(p), order.dy.map(p))
        } else {
            let corner = |n| self.coords(first + n);
            let (origin, right, below) = (corner(0), corner(1), corner(2));
            if kind == SurfaceKind::Cube {
                scale = scale.map(|s| s * 0.5);
                let place = |v| {
                    let (s, t) = cube::project(face, v).unwrap_or_default();
                    [s, t, 0.0]
                };
                let start = place(origin);
                (minus(place(right), start), minus(place(below), start))
            } else {
                (minus(right, origin), minus(below, origin))
            }
        };
        let texels = |d: [f32; 3]| {
            std::array::from_fn(|n| {
                if scale[n] == 0.0 {
                    0.0
                } else {
                    d[n] * scale[n]
                }
            })
        };
        (texels(dx), texels(dy))
    }
}

fn minus(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    std::array::from_fn(|n| a[n] - b[n])
}
