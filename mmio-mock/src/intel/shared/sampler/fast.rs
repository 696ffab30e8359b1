//! The common case at speed: plain 8888 textures, nearest or linear.
//!
//! PRM: volume 4, 4.2.3.1, 4.2.3.2. Gives what the general filters give but for one rounding:
//! texels are blended as whole numbers and scaled to 0..1 once; those of sRGB formats are blended as they become.

use mem::{Fault, Memory};

use super::address::{self, Mode};
use super::filter::Plan;
use super::lod::Levels;
use super::state::{Filter, Sampler};
use super::texel::Texels;
use crate::intel::surface::{Surface, SurfaceKind};

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
    /// Red, green and blue are sRGB and become linear texel by texel.
    pub linearize: bool,
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
            linearize: false,
            min: sampler.min,
            mag: sampler.mag,
        })
    }

    /// Samples the lit pixels of a subspan, all on the same levels and slice; others give zero.
    #[inline]
    pub fn sample(
        &self,
        coord: [[f32; 4]; 2],
        slice: u32,
        levels: Levels,
        lit: u16,
    ) -> Result<[[f32; 4]; 4], Fault> {
        let filter = if levels.mag { self.mag } else { self.min };
        let mut quad = self.level(filter, coord, slice, levels.level, lit)?;
        if levels.beta > 0.0 {
            let next = levels.level.saturating_add(1);
            let next = self.level(filter, coord, slice, next, lit)?;
            for (pixel, next) in quad.iter_mut().zip(next) {
                *pixel = mix(*pixel, next, levels.beta);
            }
        }
        Ok(quad.map(|sum| {
            let [a, g, c, alpha] = if self.linearize {
                [sum[0], sum[1], sum[2], sum[3] / 255.0]
            } else {
                sum.map(|value| value / 255.0)
            };
            let alpha = if self.opaque { 1.0 } else { alpha };
            if self.swapped {
                [c, g, a, alpha]
            } else {
                [a, g, c, alpha]
            }
        }))
    }

    #[inline]
    fn level(
        &self,
        filter: Filter,
        [u, v]: [[f32; 4]; 2],
        slice: u32,
        level: u32,
        lit: u16,
    ) -> Result<[[f32; 4]; 4], Fault> {
        let width = self.surface.level_width(level) as i32;
        let height = self.surface.level_height(level) as i32;
        let geometry = &self.surface.geometry;
        let (left, top) = geometry.origin(slice, level);
        let mut quad = [[0.0; 4]; 4];
        if filter == Filter::Nearest {
            let x = address::nearest4(self.modes[0], u, width);
            let y = address::nearest4(self.modes[1], v, height);
            for pixel in 0..4 {
                if lit & 1 << pixel != 0 {
                    let (x, y) = (x[pixel] as u32, y[pixel] as u32);
                    let at = geometry.element(left.wrapping_add(x), top.wrapping_add(y));
                    quad[pixel] = self.numbers(self.mem.read_u32(at)?);
                }
            }
            return Ok(quad);
        }
        let (x0, x1, fx) = address::linear4(self.modes[0], u, width);
        let (y0, y1, fy) = address::linear4(self.modes[1], v, height);
        // Magnified, the pixels of a subspan lie between the same texels more often than not.
        let mut place = [-1; 4];
        let mut texels = [[0.0; 4]; 4];
        for pixel in 0..4 {
            if lit & 1 << pixel == 0 {
                continue;
            }
            let here = [x0[pixel], x1[pixel], y0[pixel], y1[pixel]];
            if here != place {
                place = here;
                let x = (
                    left.wrapping_add(x0[pixel] as u32),
                    left.wrapping_add(x1[pixel] as u32),
                );
                let a = self.pair(x, top.wrapping_add(y0[pixel] as u32))?;
                let b = self.pair(x, top.wrapping_add(y1[pixel] as u32))?;
                texels = [a.0, a.1, b.0, b.1].map(|texel| self.numbers(texel));
            }
            let [a, b, c, d] = texels;
            let (upper, lower) = (mix(a, b, fx[pixel]), mix(c, d, fx[pixel]));
            quad[pixel] = mix(upper, lower, fy[pixel]);
        }
        Ok(quad)
    }

    /// A texel as it is blended: bytes as numbers, or linear colours beside the byte of alpha.
    #[inline(always)]
    fn numbers(&self, texel: u32) -> [f32; 4] {
        if self.linearize {
            linear(texel)
        } else {
            bytes(texel)
        }
    }

    /// Two texels of a row of the surface.
    #[inline]
    fn pair(&self, (x0, x1): (u32, u32), row: u32) -> Result<(u32, u32), Fault> {
        let geometry = &self.surface.geometry;
        let at = geometry.element(x0, row);
        // Sixteen aligned bytes stay together in every tiling.
        if x1 == x0.wrapping_add(1) && at.0 & 15 <= 8 && !geometry.by_samples {
            let both = self.mem.read_u64(at)?;
            return Ok((both as u32, (both >> 32) as u32));
        }
        let next = geometry.element(x1, row);
        Ok((self.mem.read_u32(at)?, self.mem.read_u32(next)?))
    }
}

/// Linear colours of a texel of sRGB, and the byte of alpha as a number.
#[inline(never)]
fn linear(texel: u32) -> [f32; 4] {
    let [a, g, c, alpha] = texel.to_le_bytes();
    let [a, g, c] = [a, g, c].map(num::srgb::srgb8_to_linear);
    [a, g, c, f32::from(alpha)]
}

/// The four bytes of a texel as numbers.
#[inline(always)]
fn bytes(texel: u32) -> [f32; 4] {
    // CAST: through i32, which converts in vectors on any x86-64.
    [texel, texel >> 8, texel >> 16, texel >> 24].map(|byte| (byte & 0xff) as i32 as f32)
}

#[inline]
fn mix(a: [f32; 4], b: [f32; 4], weight: f32) -> [f32; 4] {
    std::array::from_fn(|c| a[c] + (b[c] - a[c]) * weight)
}
