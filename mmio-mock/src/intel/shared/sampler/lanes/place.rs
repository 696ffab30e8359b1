//! Where texels lie: levels, address modes and offsets of eight pixels at once.
//!
//! PRM: volume 4, 4.2.3.1, 4.2.3.2. Each function gives what its namesake of [`super::super::address`] gives pixel by pixel.

use jit::eight::Eight;
use mem::{BitSixSwizzle, Tiling};

use crate::intel::shared::sampler::address::Mode;
use crate::intel::shared::sampler::lod::LodControl;
use crate::intel::surface::{Geometry, MAX_LEVELS, Surface};

/// Levels that a table has at most.
const LEVELS: usize = 16;

/// Bytes that a surface has at most: offsets are signed numbers.
const LARGEST: u64 = 1 << 31;

/// Places and sizes of the levels that a sampler can reach.
#[derive(Clone, Debug)]
pub(super) struct Levels {
    first: u32,
    count: u32,
    left: [u32; LEVELS],
    top: [u32; LEVELS],
    width: [u32; LEVELS],
    height: [u32; LEVELS],
    /// Rows from a slice to the next.
    step: [u32; LEVELS],
    /// The one slice that there is; `None` of arrays.
    slice: Option<u32>,
}

/// The level of each pixel: its place in the surface, and its size.
#[derive(Clone, Copy)]
pub(super) struct Place<E: Eight> {
    pub left: E::I,
    pub top: E::I,
    pub width: E::I,
    pub height: E::I,
}

impl Levels {
    /// `None` where there are too many, or slices lie side by side.
    pub fn new(surface: &Surface, control: &LodControl) -> Option<Self> {
        let (least, most) = control.range();
        // CAST: saturates.
        let (first, last) = (least.floor() as u32, least.max(most).ceil() as u32);
        let count = last.checked_sub(first)?.checked_add(1)?;
        let array = surface.depth > 1;
        // CAST: no slice is below 0.
        let slice = surface.array_slice(0.0) as u32;
        let mut levels = Levels {
            first,
            count,
            left: [0; LEVELS],
            top: [0; LEVELS],
            width: [0; LEVELS],
            height: [0; LEVELS],
            step: [0; LEVELS],
            slice: (!array).then_some(slice),
        };
        if count as usize > LEVELS {
            return None;
        }
        for (n, level) in (first..=last).enumerate() {
            let place = &surface.geometry.levels[(level as usize).min(MAX_LEVELS - 1)];
            if array && place.across != 0 {
                return None;
            }
            let start = if array { 0 } else { slice };
            (levels.left[n], levels.top[n]) = surface.geometry.origin(start, level);
            levels.width[n] = surface.level_width(level);
            levels.height[n] = surface.level_height(level);
            levels.step[n] = place.step_y;
        }
        Some(levels)
    }

    /// The entries of a column of the table for levels; `at` counts from the first.
    #[inline(always)]
    fn entries<E: Eight>(&self, e: E, column: &[u32; LEVELS], at: E::I) -> E::I {
        if self.count == 1 {
            return e.all(column[0]);
        }
        let [low, high] = column.as_chunks::<8>().0 else {
            return e.all(column[0]);
        };
        let entries = e.pick(e.load(low), at);
        if self.count <= 8 {
            return entries;
        }
        e.select(e.more(at, e.all(7)), e.pick(e.load(high), at), entries)
    }

    /// Places and sizes of levels; `slice` counts where there are several.
    #[inline(always)]
    pub fn place<E: Eight>(&self, e: E, level: E::I, slice: E::I) -> Place<E> {
        // No level is beyond the last, whatever state says.
        let last = e.all(self.count - 1);
        let at = e.min(e.max(e.sub(level, e.all(self.first)), e.all(0)), last);
        let mut place = Place {
            left: self.entries(e, &self.left, at),
            top: self.entries(e, &self.top, at),
            width: self.entries(e, &self.width, at),
            height: self.entries(e, &self.height, at),
        };
        if self.slice.is_none() {
            let step = self.entries(e, &self.step, at);
            place.top = e.add(place.top, e.mul(slice, step));
        }
        place
    }

    /// Bytes from the first one of the surface to behind the last that its levels may have; `None` where that is no simple question.
    pub fn extent(&self, surface: &Surface) -> Option<u64> {
        let geometry = &surface.geometry;
        let (width, height) = (geometry.tiling.tile_width(), geometry.tiling.tile_height());
        let plain = geometry.pitch.is_multiple_of(width.max(geometry.bytes))
            && geometry.base.0.is_multiple_of(geometry.bytes.max(1).into())
            && !(geometry.by_samples || geometry.buffer)
            && (geometry.line_stride, geometry.line_offset) == (0, 0);
        if !plain {
            return None;
        }
        // CAST: no slice is below 0.
        let last = surface.array_slice(surface.depth as f32) as u32;
        let mut end = 0;
        for n in 0..self.count as usize {
            let (left, top) = match self.slice {
                Some(_) => (self.left[n], self.top[n]),
                None => {
                    let below = u64::from(last) * u64::from(self.step[n]);
                    let top = u64::from(self.top[n]).checked_add(below)?;
                    (self.left[n], u32::try_from(top).ok()?)
                }
            };
            let column = u64::from(left) + u64::from(self.width[n]);
            let row = u64::from(top) + u64::from(self.height[n]);
            // Whole tiles: all bytes of a tile lie before the end of the one below and to the right.
            let bytes = (column * u64::from(geometry.bytes)).next_multiple_of(width.into());
            let rows = row.next_multiple_of(height.into());
            let across = bytes * u64::from(height);
            let down = (rows - u64::from(height)) * u64::from(geometry.pitch);
            end = end.max(down.checked_add(across)?);
        }
        (end < LARGEST).then_some(end)
    }
}

/// Numbers rounded down, as integers.
#[inline(always)]
pub(super) fn floor<E: Eight>(e: E, x: E::F) -> E::I {
    let whole = e.whole(x);
    // All ones are minus one.
    e.add(whole, e.less(x, e.number(whole)))
}

/// Coordinates in texels.
#[inline(always)]
fn texels<E: Eight>(e: E, mode: Mode, coord: E::F, size: E::F) -> E::F {
    let folded = match mode {
        Mode::Wrap => e.sub_f(coord, e.number(floor(e, coord))),
        Mode::Mirror => {
            let period = floor(e, e.mul_f(coord, e.all_f(0.5)));
            let t = e.sub_f(coord, e.mul_f(e.all_f(2.0), e.number(period)));
            let back = e.less(e.all_f(1.0), t);
            e.select_f(back, e.sub_f(e.all_f(2.0), t), t)
        }
        Mode::MirrorOnce => {
            let positive = e.float(e.and(e.bits(coord), e.all(0x7fff_ffff)));
            e.min_f(positive, e.all_f(1.0))
        }
        Mode::Clamp | Mode::Cube | Mode::ClampBorder => coord,
    };
    e.mul_f(folded, size)
}

/// Numbers of texels brought back into the map; negative ones are texels of the border.
#[inline(always)]
fn fold<E: Eight>(e: E, mode: Mode, texel: E::I, size: E::I) -> E::I {
    let last = e.sub(size, e.all(1));
    match mode {
        Mode::Wrap => {
            let low = e.select(texel, last, texel);
            e.and_not(e.more(low, last), low)
        }
        Mode::ClampBorder => e.or(texel, e.more(texel, last)),
        _ => e.min(e.max(texel, e.all(0)), last),
    }
}

/// The texels nearest to coordinates; negative ones are texels of the border.
#[inline(always)]
pub(super) fn nearest<E: Eight>(e: E, mode: Mode, coord: E::F, size: E::I) -> E::I {
    let texel = floor(e, texels(e, mode, coord, e.number(size)));
    match mode {
        Mode::Wrap => fold(e, Mode::Clamp, texel, size),
        _ => fold(e, mode, texel, size),
    }
}

/// First texels, second texels, weights of the second; negative texels are of the border.
#[inline(always)]
pub(super) fn linear<E: Eight>(e: E, mode: Mode, coord: E::F, size: E::I) -> ([E::I; 2], E::F) {
    let at = e.sub_f(texels(e, mode, coord, e.number(size)), e.all_f(0.5));
    let first = floor(e, at);
    let weight = e.sub_f(at, e.number(first));
    let weight = e.min_f(e.max_f(weight, e.all_f(0.0)), e.all_f(1.0));
    // The largest number stays.
    let second = e.add(e.min(first, e.all(i32::MAX as u32 - 1)), e.all(1));
    let folded = [fold(e, mode, first, size), fold(e, mode, second, size)];
    (folded, weight)
}

/// What columns add to offsets; of `odd` surfaces pixel by pixel.
#[inline(always)]
pub(super) fn columns<E: Eight>(
    e: E,
    (geometry, odd): (&Geometry, bool),
    size: u32,
    x: E::I,
) -> E::I {
    if odd {
        return e.load(&geometry.columns(&e.array(x)));
    }
    let x = e.shl(x, size);
    // Tiles, or columns in them, that are 2^`shift` times as far apart as they are wide.
    let (below, shift) = match geometry.tiling {
        Tiling::Linear => return x,
        Tiling::X => (511, 3),
        // Columns of sixteen bytes are 512 bytes apart, in a tile and from tile to tile.
        Tiling::Y => (15, 5),
    };
    let inside = e.all(below);
    e.add(e.shl(e.and_not(inside, x), shift), e.and(x, inside))
}

/// What rows add to offsets; of `odd` surfaces pixel by pixel.
#[inline(always)]
pub(super) fn rows<E: Eight>(e: E, (geometry, odd): (&Geometry, bool), y: E::I) -> E::I {
    if odd {
        return e.load(&geometry.rows(&e.array(y)));
    }
    let pitch = e.all(geometry.pitch);
    // Rows of a tile, and bytes from one to the next as a power of two.
    let (below, shift) = match geometry.tiling {
        Tiling::Linear => return e.mul(y, pitch),
        Tiling::X => (7, 9),
        Tiling::Y => (31, 4),
    };
    let inside = e.all(below);
    let tiles = e.mul(e.and_not(inside, y), pitch);
    e.add(tiles, e.shl(e.and(y, inside), shift))
}

/// Offsets from the first byte of the surface.
#[inline(always)]
pub(super) fn offsets<E: Eight>(e: E, geometry: &Geometry, columns: E::I, rows: E::I) -> E::I {
    let at = e.add(columns, rows);
    if geometry.tiling == Tiling::Linear {
        return at;
    }
    // Those bits, moved to bit 6.
    let [nine, ten, eleven] = match geometry.swizzle {
        BitSixSwizzle::None => return at,
        BitSixSwizzle::Nine => [64, 0, 0],
        BitSixSwizzle::NineTen => [64, 64, 0],
        BitSixSwizzle::NineEleven => [64, 0, 64],
        BitSixSwizzle::NineTenEleven => [64, 64, 64],
    };
    let fold = e.and(e.shr(at, 3), e.all(nine));
    let fold = e.xor(fold, e.and(e.shr(at, 4), e.all(ten)));
    e.xor(at, e.xor(fold, e.and(e.shr(at, 5), e.all(eleven))))
}
