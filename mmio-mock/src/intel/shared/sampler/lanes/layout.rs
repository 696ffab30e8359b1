//! Levels and slices of a surface as tables, for eight pixels at once.
//!
//! PRM: volume 1 (surface layout). Each function gives what [`Geometry::origin`](crate::intel::surface::Geometry::origin) gives texel by texel.

use jit::eight::Eight;

use crate::intel::surface::{MAX_LEVELS, Surface, SurfaceKind, samples};

/// Levels that a table has at most.
const LEVELS: usize = 16;

/// Bytes that a surface has at most: offsets are signed numbers.
pub(super) const LARGEST: u64 = 1 << 31;

/// A number for each level.
type Column = [u32; LEVELS];

/// Places and sizes of levels in a row.
#[derive(Clone, Debug)]
pub(super) struct Levels {
    first: u32,
    count: u32,
    left: Column,
    top: Column,
    width: Column,
    height: Column,
    depth: Column,
    /// Columns from a slice to the next one beside it, and rows to the next one below.
    step: (Column, Column),
    /// Slices side by side, as a power of two and less one.
    across: (Column, Column),
    /// Some slices lie side by side.
    beside: bool,
    /// The one slice that there is; `None` of arrays, volumes and cubes.
    slice: Option<u32>,
}

/// The level of each pixel: its place in the surface, and its size.
#[derive(Clone, Copy)]
pub(super) struct Place<E: Eight> {
    /// Row of the tables.
    at: E::I,
    pub left: E::I,
    pub top: E::I,
    pub width: E::I,
    pub height: E::I,
}

impl Levels {
    /// The levels from the first to the last; `None` where there are too many.
    pub fn new(surface: &Surface, (first, last): (u32, u32)) -> Option<Self> {
        let count = last.checked_sub(first)?.checked_add(1)?;
        if count as usize > LEVELS {
            return None;
        }
        let slices = match surface.kind {
            SurfaceKind::OneD | SurfaceKind::TwoD => surface.depth > 1 || surface.sample_slices,
            _ => true,
        };
        // CAST: no slice is below 0.
        let slice = surface.array_slice(0.0) as u32;
        let none = [0; LEVELS];
        let mut levels = Levels {
            first,
            count,
            left: none,
            top: none,
            width: none,
            height: none,
            depth: none,
            step: (none, none),
            across: (none, none),
            beside: false,
            slice: (!slices).then_some(slice),
        };
        for (n, level) in (first..=last).enumerate() {
            let place = &surface.geometry.levels[(level as usize).min(MAX_LEVELS - 1)];
            let start = if slices { 0 } else { slice };
            (levels.left[n], levels.top[n]) = surface.geometry.origin(start, level);
            levels.width[n] = surface.level_width(level);
            levels.height[n] = surface.level_height(level);
            levels.depth[n] = surface.level_depth(level);
            (levels.step.0[n], levels.step.1[n]) = (place.step_x, place.step_y);
            (levels.across.0[n], levels.across.1[n]) = (place.across, (1 << place.across) - 1);
            levels.beside |= place.across != 0;
        }
        Some(levels)
    }

    /// The entries of a column of the table; `at` counts from the first.
    #[inline(always)]
    fn entries<E: Eight>(&self, e: E, column: &Column, at: E::I) -> E::I {
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

    /// Places and sizes of levels, of the first slice.
    #[inline(always)]
    pub fn level<E: Eight>(&self, e: E, level: E::I) -> Place<E> {
        // No level is beyond the last, whatever state says.
        let last = e.all(self.count - 1);
        let at = e.min(e.max(e.sub(level, e.all(self.first)), e.all(0)), last);
        Place {
            at,
            left: self.entries(e, &self.left, at),
            top: self.entries(e, &self.top, at),
            width: self.entries(e, &self.width, at),
            height: self.entries(e, &self.height, at),
        }
    }

    /// Slices of levels.
    #[inline(always)]
    pub fn depth<E: Eight>(&self, e: E, place: &Place<E>) -> E::I {
        self.entries(e, &self.depth, place.at)
    }

    /// The same level at other slices, where there are several.
    #[inline(always)]
    pub fn slice<E: Eight>(&self, e: E, place: &Place<E>, slice: E::I) -> Place<E> {
        let mut place = *place;
        if self.slice.is_some() {
            return place;
        }
        let mut row = slice;
        if self.beside {
            let column = e.and(slice, self.entries(e, &self.across.1, place.at));
            row = e.shr_each(slice, self.entries(e, &self.across.0, place.at));
            let step = self.entries(e, &self.step.0, place.at);
            place.left = e.add(place.left, e.mul(column, step));
        }
        let step = self.entries(e, &self.step.1, place.at);
        place.top = e.add(place.top, e.mul(row, step));
        place
    }

    /// Bytes from the first one of the surface to behind the last that its levels may have; `None` where that is no simple question.
    pub fn extent(&self, surface: &Surface) -> Option<u64> {
        let geometry = &surface.geometry;
        let (width, height) = (geometry.tiling.tile_width(), geometry.tiling.tile_height());
        let plain = geometry.pitch.is_multiple_of(width.max(geometry.bytes))
            && geometry.base.0.is_multiple_of(geometry.bytes.max(1).into())
            && !geometry.buffer
            && (geometry.line_stride, geometry.line_offset) == (0, 0);
        if !plain {
            return None;
        }
        let mut end = 0;
        for (n, level) in (self.first..).take(self.count as usize).enumerate() {
            let mut last = match surface.kind {
                // CAST: no slice is below 0.
                SurfaceKind::OneD | SurfaceKind::TwoD => {
                    surface.array_slice(surface.depth as f32) as u32
                }
                // Six faces or more, from the surface's first on.
                SurfaceKind::Cube => {
                    let slices = surface.min_array_element.saturating_add(self.depth[n]);
                    slices.saturating_sub(1)
                }
                _ => self.depth[n].saturating_sub(1),
            };
            if surface.sample_slices {
                last = last
                    .saturating_add(1)
                    .saturating_mul(surface.samples)
                    .saturating_sub(1);
            }
            let (left, top) = geometry.corner(last, level);
            let samples = surface.interleaved();
            let (texels, lines) = samples::extent(samples, self.width[n], self.height[n]);
            let mut column = u64::from(left) + u64::from(texels);
            let mut row = u64::from(top) + u64::from(lines);
            if geometry.by_samples {
                // Samples change places within four columns and four rows.
                (column, row) = (column.next_multiple_of(4), row.next_multiple_of(4));
            }
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
