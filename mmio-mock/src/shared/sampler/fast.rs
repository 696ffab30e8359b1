//! The common case at speed: plain 8888 textures, nearest or linear.
//!
//! PRM: volume 4, 4.2.3.1, 4.2.3.2. Gives what the general filters give but for one rounding:
//! texels are blended as whole numbers and scaled to 0..1 once.

use mem::{Fault, Memory};

use super::address::{self, Mode};
use super::filter::{Plan, Point};
use super::lod::Levels;
use super::state::{Filter, Sampler};
use super::texel::Texels;
use crate::surface::{Surface, SurfaceKind};

/// Surface format codes of the four byte orders (PRM 4.7.2.1.1).
const B8G8R8A8: u16 = 0x0c0;
const R8G8B8A8: u16 = 0x0c7;
const B8G8R8X8: u16 = 0x0e9;
const R8G8B8X8: u16 = 0x0eb;

/// A two-dimensional 8888 surface under plain filters.
pub struct Fast<'a> {
    mem: &'a Memory,
    surface: &'a Surface,
    modes: [Mode; 2],
    /// Blue is the lowest byte.
    swapped: bool,
    /// Alpha is 1.
    opaque: bool,
    min: Filter,
    mag: Filter,
}

impl<'a> Fast<'a> {
    /// The fast path for a message, when it is one of those that it serves.
    pub fn new(texels: &Texels<'a>, sampler: &Sampler, plan: &Plan) -> Option<Self> {
        let surface = texels.surface;
        let (swapped, opaque) = match surface.format.code {
            B8G8R8A8 => (true, false),
            R8G8B8A8 => (false, false),
            B8G8R8X8 => (true, true),
            R8G8B8X8 => (false, true),
            _ => return None,
        };
        let simple = |filter| matches!(filter, Filter::Nearest | Filter::Linear);
        let folds = |mode| mode != Mode::ClampBorder;
        (surface.kind == SurfaceKind::TwoD
            && texels.plain()
            && plan.offsets == [0; 3]
            && simple(sampler.min)
            && simple(sampler.mag)
            && plan.modes[..2].iter().all(|&mode| folds(mode)))
        .then(|| Fast {
            mem: texels.mem(),
            surface,
            // Without faces, cube mode has no neighbour to go to.
            modes: [plan.modes[0], plan.modes[1]].map(|mode| match mode {
                Mode::Cube => Mode::Clamp,
                mode => mode,
            }),
            swapped,
            opaque,
            min: sampler.min,
            mag: sampler.mag,
        })
    }

    /// Samples one pixel.
    #[inline]
    pub fn sample(&self, point: &Point, levels: Levels) -> Result<[f32; 4], Fault> {
        let filter = if levels.mag { self.mag } else { self.min };
        let mut sum = self.level(filter, point, levels.level)?;
        if levels.beta > 0.0 {
            let next = self.level(filter, point, levels.level.saturating_add(1))?;
            sum = mix(sum, next, levels.beta);
        }
        let [a, g, c, alpha] = sum.map(|value| value / 255.0);
        let alpha = if self.opaque { 1.0 } else { alpha };
        Ok(if self.swapped {
            [c, g, a, alpha]
        } else {
            [a, g, c, alpha]
        })
    }

    #[inline]
    fn level(&self, filter: Filter, point: &Point, level: u32) -> Result<[f32; 4], Fault> {
        let width = self.surface.level_width(level) as i32;
        let height = self.surface.level_height(level) as i32;
        let geometry = &self.surface.geometry;
        let (left, top) = geometry.origin(point.slice as u32, level);
        let [u, v, _] = point.coord;
        if filter == Filter::Nearest {
            let x = address::nearest(self.modes[0], u, width) as u32;
            let y = address::nearest(self.modes[1], v, height) as u32;
            let at = geometry.element(left.wrapping_add(x), top.wrapping_add(y));
            return Ok(bytes(self.mem.read_u32(at)?));
        }
        let (x0, x1, fx) = address::linear(self.modes[0], u, width);
        let (y0, y1, fy) = address::linear(self.modes[1], v, height);
        let row = |y: i32| -> Result<[f32; 4], Fault> {
            let y = top.wrapping_add(y as u32);
            let at = geometry.element(left.wrapping_add(x0 as u32), y);
            // Sixteen aligned bytes stay together in every tiling.
            let (a, b) = if x1 == x0 + 1 && at.0 & 15 <= 8 {
                let both = self.mem.read_u64(at)?;
                (both as u32, (both >> 32) as u32)
            } else {
                let next = geometry.element(left.wrapping_add(x1 as u32), y);
                (self.mem.read_u32(at)?, self.mem.read_u32(next)?)
            };
            Ok(mix(bytes(a), bytes(b), fx))
        };
        Ok(mix(row(y0)?, row(y1)?, fy))
    }
}

#[inline]
fn bytes(texel: u32) -> [f32; 4] {
    texel.to_le_bytes().map(f32::from)
}

#[inline]
fn mix(a: [f32; 4], b: [f32; 4], weight: f32) -> [f32; 4] {
    std::array::from_fn(|c| a[c] + (b[c] - a[c]) * weight)
}
