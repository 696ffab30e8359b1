//! From texel coordinates to graphics addresses.
//!
//! PRM: volume 4 4.7.2 (pitch, tiling, line stride), volume 1 (tiling and surface layout).
//! Not modelled: wrapping of addresses at the end of the GTT other than modulo 2^32.

use super::mip::{Level, MAX_LEVELS};
use super::samples;
use mem::{BitSixSwizzle, GpuAddr, Square, Tiling, tiling};

/// How a surface lies in memory.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// First byte.
    pub base: GpuAddr,
    /// Bytes of a row; of an entry for buffers.
    pub pitch: u32,
    /// Tiling.
    pub tiling: Tiling,
    /// Bit-6 swizzle of tiled addresses.
    pub swizzle: BitSixSwizzle,
    /// Bytes of an element.
    pub bytes: u32,
    /// Texels of an element: as shifts, across and down.
    pub block_shift: (u32, u32),
    /// Lines to skip between lines: 0, or 1 for a field of a frame.
    pub line_stride: u32,
    /// First line of the field.
    pub line_offset: u32,
    /// Columns and rows are those of samples, four a pixel and side by side, which lie interleaved with their neighbours'.
    pub by_samples: bool,
    /// A buffer: entries `pitch` bytes apart, one row.
    pub buffer: bool,
    /// Places of the levels.
    pub levels: [Level; MAX_LEVELS],
}

impl Geometry {
    /// Column and row, in elements, of the first element of a slice of a level.
    #[inline]
    pub fn origin(&self, slice: u32, lod: u32) -> (u32, u32) {
        let level = &self.levels[(lod as usize).min(MAX_LEVELS - 1)];
        let column = slice & ((1 << level.across) - 1);
        let row = slice >> level.across;
        (
            level.x.wrapping_add(column.wrapping_mul(level.step_x)),
            level.y.wrapping_add(row.wrapping_mul(level.step_y)),
        )
    }

    /// The furthest column and the furthest row, in elements, at which slices of a level up to `last` begin.
    pub fn corner(&self, last: u32, lod: u32) -> (u32, u32) {
        let full = (1 << self.levels[(lod as usize).min(MAX_LEVELS - 1)].across) - 1;
        // The rows of slices above the last one are full.
        let slice = if last > full { last | full } else { last };
        self.origin(slice, lod)
    }

    /// Address of an element by column and row of the whole surface.
    #[inline]
    pub fn element(&self, column: u32, row: u32) -> GpuAddr {
        let (column, row) = if self.by_samples {
            (samples::interleaved(column), samples::interleaved(row))
        } else {
            (column, row)
        };
        let row = (row << self.line_stride).wrapping_add(self.line_offset);
        let at = tiling::offset(
            self.tiling,
            self.pitch,
            column.wrapping_mul(self.bytes),
            row,
        );
        if self.tiling == Tiling::Linear {
            return self.base.offset(at);
        }
        // The swizzle folds address bits; a tiled base is page aligned, so offsets do.
        self.base.offset(self.swizzle.apply(at))
    }

    /// What columns of the whole surface, in elements, add to [`offsets`](Self::offsets).
    #[inline(always)]
    pub fn columns<const N: usize>(&self, columns: &[u32; N]) -> [u32; N] {
        let mut at = *columns;
        if self.by_samples {
            at = at.map(samples::interleaved);
        }
        // A loop for each tiling, which the compiler makes vectors of.
        let by = |tiling| at.map(|x| tiling::column(tiling, x.wrapping_mul(self.bytes)));
        match self.tiling {
            Tiling::Linear => by(Tiling::Linear),
            Tiling::X => by(Tiling::X),
            Tiling::Y => by(Tiling::Y),
        }
    }

    /// What rows of the whole surface, in elements, add to [`offsets`](Self::offsets).
    #[inline(always)]
    pub fn rows<const N: usize>(&self, rows: &[u32; N]) -> [u32; N] {
        let mut at = *rows;
        if self.by_samples {
            at = at.map(samples::interleaved);
        }
        let line = |y: u32| (y << self.line_stride).wrapping_add(self.line_offset);
        let by = |tiling| at.map(|y| tiling::row(tiling, self.pitch, line(y)));
        match self.tiling {
            Tiling::Linear => by(Tiling::Linear),
            Tiling::X => by(Tiling::X),
            Tiling::Y => by(Tiling::Y),
        }
    }

    /// Offsets of elements from the first byte of the surface, of columns and rows together: [`element`](Self::element) for many.
    #[inline(always)]
    pub fn offsets<const N: usize>(&self, columns: &[u32; N], rows: &[u32; N]) -> [u32; N] {
        let mut at = *columns;
        for (at, row) in at.iter_mut().zip(rows) {
            *at = at.wrapping_add(*row);
        }
        if self.tiling != Tiling::Linear && self.swizzle != BitSixSwizzle::None {
            at = at.map(|at| self.swizzle.apply(at));
        }
        at
    }

    /// The square of four rows that begins with an element, sixteen bytes of each; `None` where it does not lie in one tile.
    #[inline]
    pub fn square(&self, column: u32, row: u32) -> Option<Square> {
        if self.line_stride != 0 || self.line_offset != 0 || self.by_samples {
            return None;
        }
        Square::new(
            (self.tiling, self.swizzle),
            (self.base, self.pitch),
            (column.wrapping_mul(self.bytes), row),
        )
    }

    /// Address of the element that holds texel (`x`, `y`).
    #[inline]
    pub fn address(&self, x: u32, y: u32, slice: u32, lod: u32) -> GpuAddr {
        if self.buffer {
            return self.base.offset(x.wrapping_mul(self.pitch));
        }
        let (left, top) = self.origin(slice, lod);
        self.element(
            left.wrapping_add(x >> self.block_shift.0),
            top.wrapping_add(y >> self.block_shift.1),
        )
    }
}
