//! Filters within and between levels.
//!
//! PRM: volume 4, 4.2.2, 4.2.3, 4.5. Weights are floats; the hardware's number of weight bits is
//! not documented.

use mem::Fault;

use super::address::{self, Mode};
use super::cube::OnFace;
use super::lod::Levels;
use super::state::{Filter, Sampler};
use super::texel::Texels;
use crate::intel::surface::{Surface, SurfaceKind};

/// Where to sample: coordinates, and the slice of arrays and cubes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// u, v, r (of a cube: within the face), normalized but for [`Plan::unit`].
    pub coord: [f32; 3],
    /// Slice of an array or face of a cube; unused for volumes.
    pub slice: i32,
}

impl Point {
    /// A point on a cube face.
    #[must_use]
    pub fn on_face(p: OnFace) -> Self {
        Point {
            coord: [(p.s + 1.0) * 0.5, (p.t + 1.0) * 0.5, 0.0],
            slice: p.face as i32,
        }
    }
}

/// One way of sampling: everything that is the same for all pixels of a message.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Dimensions that are filtered: 1, 2 or 3.
    pub dimensions: usize,
    /// Address modes after the cube override.
    pub modes: [Mode; 3],
    /// Texel offsets.
    pub offsets: [i8; 3],
    /// What coordinates would be divided by to be normalized: texels of level 0 where they count these, 1 where they are normalized.
    pub unit: [f32; 3],
}

impl Plan {
    /// For a surface kind and sampler.
    #[must_use]
    pub fn new(kind: SurfaceKind, sampler: &Sampler, offsets: [i8; 3]) -> Self {
        let cube = kind == SurfaceKind::Cube;
        Plan {
            dimensions: match kind {
                SurfaceKind::OneD => 1,
                SurfaceKind::ThreeD => 3,
                _ => 2,
            },
            modes: if cube && sampler.cube_override {
                [Mode::Cube; 3]
            } else {
                // Without faces, cube mode has no neighbour to go to.
                sampler.modes.map(|mode| match mode {
                    Mode::Cube if !cube => Mode::Clamp,
                    mode => mode,
                })
            },
            offsets: if cube { [0; 3] } else { offsets },
            unit: [1.0; 3],
        }
    }

    /// For coordinates that count texels. They count those of the first level that may be sampled (Mesa blorp_genX_exec.h reads other
    /// levels than 0 so), and do so until they are addresses: divided and multiplied again, a whole number might miss its texel. Values
    /// outside the surface are clamped to it whatever the mode (PRM: volume 4, 4.8.1.5); mode border gives the border's colour.
    #[must_use]
    pub fn counting(mut self, surface: &Surface) -> Self {
        if surface.kind == SurfaceKind::Cube {
            return self;
        }
        let level = surface.min_lod;
        let size = [
            surface.level_width(level),
            surface.level_height(level),
            surface.level_depth(level),
        ];
        let dimensions = self.unit.iter_mut().zip(&mut self.modes).zip(size);
        for ((unit, mode), size) in dimensions.take(self.dimensions) {
            *unit = size as f32;
            if *mode != Mode::ClampBorder {
                *mode = Mode::Clamp;
            }
        }
        self
    }

    /// A dimension of `size` texels, for [`address`].
    #[inline]
    fn axis(&self, d: usize, size: i32) -> (i32, f32) {
        (size, size as f32 / self.unit[d])
    }
}

#[inline]
fn mix(a: [f32; 4], b: [f32; 4], weight: f32) -> [f32; 4] {
    std::array::from_fn(|c| a[c] + (b[c] - a[c]) * weight)
}

/// Texels of the level along each filtered dimension.
fn sizes(texels: &Texels<'_>, level: u32) -> [i32; 3] {
    let s = texels.surface;
    [
        s.level_width(level),
        s.level_height(level),
        s.level_depth(level),
    ]
    .map(|n| n as i32)
}

/// Coordinate of dimension `d` with its texel offset.
#[inline]
fn shifted(plan: &Plan, point: &Point, d: usize, size: i32) -> f32 {
    match plan.offsets[d] {
        0 => point.coord[d],
        n => point.coord[d] + f32::from(n) / plan.axis(d, size).1,
    }
}

/// The nearest texel of a level.
pub fn nearest(
    texels: &mut Texels<'_>,
    plan: &Plan,
    point: &Point,
    level: u32,
) -> Result<[f32; 4], Fault> {
    let sizes = sizes(texels, level);
    let mut at = [0, 0, point.slice];
    for d in 0..plan.dimensions {
        let coord = shifted(plan, point, d, sizes[d]);
        at[d] = address::nearest(plan.modes[d], coord, plan.axis(d, sizes[d]));
    }
    texels.texel(at, level)
}

/// Two, four or eight texels of a level.
pub fn linear(
    texels: &mut Texels<'_>,
    plan: &Plan,
    point: &Point,
    level: u32,
) -> Result<[f32; 4], Fault> {
    let sizes = sizes(texels, level);
    // Unfiltered dimensions: the same texel twice, no weight.
    let mut axis = [(0, 0, 0.0), (0, 0, 0.0), (point.slice, point.slice, 0.0)];
    for d in 0..plan.dimensions {
        let coord = shifted(plan, point, d, sizes[d]);
        axis[d] = address::linear(plan.modes[d], coord, plan.axis(d, sizes[d]));
    }
    let [(x0, x1, fx), (y0, y1, fy), (z0, z1, fz)] = axis;
    let mut row = |y, z| -> Result<[f32; 4], Fault> {
        Ok(mix(
            texels.texel([x0, y, z], level)?,
            texels.texel([x1, y, z], level)?,
            fx,
        ))
    };
    if plan.dimensions == 1 {
        return row(0, z0);
    }
    let front = mix(row(y0, z0)?, row(y1, z0)?, fy);
    if plan.dimensions == 2 {
        return Ok(front);
    }
    let back = mix(row(y0, z1)?, row(y1, z1)?, fy);
    Ok(mix(front, back, fz))
}

/// The first channel of the four texels around a point: lower left, lower right, upper right, upper left, as OpenGL has them
/// (ARB_texture_gather; rows go down).
pub fn gather(
    texels: &mut Texels<'_>,
    (plan, channel): (&Plan, usize),
    point: &Point,
    level: u32,
) -> Result<[f32; 4], Fault> {
    let sizes = sizes(texels, level);
    let [(x0, x1, _), (y0, y1, _)] = [0, 1].map(|d| {
        let coord = shifted(plan, point, d, sizes[d]);
        address::linear(plan.modes[d], coord, plan.axis(d, sizes[d]))
    });
    let mut four = [0.0; 4];
    for (to, (x, y)) in four
        .iter_mut()
        .zip([(x0, y1), (x1, y1), (x1, y0), (x0, y0)])
    {
        // PANIC: four channels.
        *to = texels.texel([x, y, point.slice], level)?[channel & 3];
    }
    Ok(four)
}

/// The footprint of a pixel for the anisotropic filter (PRM 4.2.3.3).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Footprint {
    /// Longer axis in normalized coordinates.
    pub axis: [f32; 2],
    /// Ratio of the axes, at least 1, at most the sampler's limit.
    pub ratio: f32,
}

impl Footprint {
    /// From gradients in texels of the base level; also gives the LOD of the minor axis.
    #[must_use]
    pub fn new(dx: [f32; 3], dy: [f32; 3], size: [f32; 3], limit: f32) -> (Self, f32) {
        let length = |d: [f32; 3]| (d[0] * d[0] + d[1] * d[1]).sqrt();
        let (x, y) = (length(dx), length(dy));
        let (major, minor, axis) = if x >= y { (x, y, dx) } else { (y, x, dy) };
        // NaN and 0/0 give the isotropic case.
        let ratio = (major / minor).min(limit).max(1.0);
        let footprint = Footprint {
            axis: [axis[0] / size[0], axis[1] / size[1]],
            ratio,
        };
        (footprint, num::elementary::log2_single(major / ratio))
    }
}

/// Linear samples along the longer axis, one texel of the minor axis apart, the two outermost
/// weighted so that the result changes continuously with the ratio.
pub fn anisotropic(
    texels: &mut Texels<'_>,
    plan: &Plan,
    point: &Point,
    level: u32,
    footprint: &Footprint,
) -> Result<[f32; 4], Fault> {
    if plan.dimensions != 2 || footprint.ratio <= 1.0 {
        return linear(texels, plan, point, level);
    }
    // The next even number above the ratio (PRM 4.2.3.3); the limit is 16.
    let half_ways = (footprint.ratio * 0.5).floor() as i32 + 1;
    let ways = half_ways * 2;
    let end = (footprint.ratio - (ways - 2) as f32) * 0.5;
    let mut sum = [0.0f32; 4];
    for way in 0..ways {
        let weight = if way == 0 || way == ways - 1 {
            end
        } else {
            1.0
        };
        if weight <= 0.0 {
            continue;
        }
        let step = (way as f32 - (ways - 1) as f32 * 0.5) / footprint.ratio;
        let mut there = *point;
        there.coord[0] += footprint.axis[0] * step * plan.unit[0];
        there.coord[1] += footprint.axis[1] * step * plan.unit[1];
        let sample = linear(texels, plan, &there, level)?;
        for (sum, value) in sum.iter_mut().zip(sample) {
            *sum += value * weight;
        }
    }
    Ok(sum.map(|value| value / footprint.ratio))
}

/// Area of set bits under a box of `size` texels around the point (PRM 4.2.3.4).
pub fn mono(
    texels: &mut Texels<'_>,
    plan: &Plan,
    point: &Point,
    level: u32,
    size: [u32; 2],
) -> Result<[f32; 4], Fault> {
    let map = sizes(texels, level);
    let start: [f32; 2] =
        std::array::from_fn(|d| point.coord[d] * plan.axis(d, map[d]).1 - size[d] as f32 * 0.5);
    let beta = start.map(|s| if s.is_finite() { s - s.floor() } else { 0.0 });
    let first = start.map(|s| s.floor() as i32);
    let mut sum = 0.0;
    // A texel at the edge of the kernel counts by the part of it that the box covers.
    let cover = |n: u32, size: u32, beta: f32| match n {
        0 => 1.0 - beta,
        n if n == size => beta,
        _ => 1.0,
    };
    for j in 0..=size[1] {
        for i in 0..=size[0] {
            let x = first[0].saturating_add(i as i32);
            let y = first[1].saturating_add(j as i32);
            // Outside, the border is 0 whatever the sampler says.
            if x < 0 || y < 0 || x >= map[0] || y >= map[1] {
                continue;
            }
            let bit = texels.texel([x, y, point.slice], level)?[0];
            sum += bit * cover(i, size[0], beta[0]) * cover(j, size[1], beta[1]);
        }
    }
    Ok([sum / (size[0] * size[1]) as f32; 4])
}

/// Samples one pixel on the levels chosen for it.
pub fn sample(
    texels: &mut Texels<'_>,
    sampler: &Sampler,
    plan: &Plan,
    point: &Point,
    levels: Levels,
    footprint: Option<&Footprint>,
) -> Result<[f32; 4], Fault> {
    let filter = if levels.mag { sampler.mag } else { sampler.min };
    let mut on = |level: u32| match (filter, footprint) {
        (Filter::Nearest, _) => nearest(texels, plan, point, level),
        (Filter::Anisotropic, Some(footprint)) => {
            anisotropic(texels, plan, point, level, footprint)
        }
        (Filter::Mono, _) => mono(texels, plan, point, level, sampler.mono),
        _ => linear(texels, plan, point, level),
    };
    let first = on(levels.level)?;
    if levels.beta <= 0.0 {
        return Ok(first);
    }
    Ok(mix(first, on(levels.level.saturating_add(1))?, levels.beta))
}
