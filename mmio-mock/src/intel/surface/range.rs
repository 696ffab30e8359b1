//! Which addresses a surface may take up: all that it has, in whole rows of tiles.

use mem::{Access, GpuAddr, Memory, PAGE_SIZE};

use super::mip::MAX_LEVELS;
use super::{DepthBuffer, Geometry, Surface, SurfaceKind};

/// Faces of a cube, of surfaces that may be one.
const FACES: u32 = 6;

/// Addresses in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first.
    pub base: GpuAddr,
    /// How many.
    pub bytes: u64,
}

impl Range {
    /// Whole rows of tiles of a buffer.
    fn rows(geometry: &Geometry, rows: u64) -> Range {
        let rows = rows.next_multiple_of(geometry.tiling.tile_height().into());
        Range {
            base: geometry.base,
            bytes: rows.saturating_mul(geometry.pitch.into()),
        }
    }

    fn places(&self) -> impl Iterator<Item = GpuAddr> {
        let before = self.base.in_page() as u64;
        let first = GpuAddr(self.base.0 - before);
        let count = (before + self.bytes).div_ceil(PAGE_SIZE as u64);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        (0..count).map(move |n| first.after(n * PAGE_SIZE))
    }

    /// Whether all of it can be accessed.
    #[must_use]
    pub fn is_there(&self, mem: &Memory, access: Access) -> bool {
        self.places().all(|at| mem.translate(at, access).is_ok())
    }

    /// Adds the pages of memory that it lies in, as far as there are some; `false` when it has more than `most`.
    #[must_use]
    pub fn pages(&self, mem: &Memory, most: usize, pages: &mut Vec<usize>) -> bool {
        let places = self.places();
        if places.size_hint().0 > most {
            return false;
        }
        let found = places.filter_map(|at| mem.translate(at, Access::Read).ok());
        pages.extend(found.map(|index| index / PAGE_SIZE));
        true
    }
}

/// Rows below its own that a row of so many elements reaches: what does not fit into the pitch lies in the next rows of tiles.
fn below(geometry: &Geometry, columns: u64) -> u64 {
    let bytes = (columns * u64::from(geometry.bytes)).saturating_sub(1);
    bytes / u64::from(geometry.pitch.max(1)) * u64::from(geometry.tiling.tile_height())
}

impl Surface {
    /// The addresses of all levels, slices and samples.
    #[must_use]
    pub fn range(&self) -> Range {
        let geometry = &self.geometry;
        if geometry.buffer {
            return Range {
                base: geometry.base,
                bytes: self.buffer_bytes() + u64::from(geometry.bytes),
            };
        }
        let slices = match self.kind {
            SurfaceKind::Cube => self.depth.max(FACES),
            _ => self.depth.max(self.view_extent).max(1),
        };
        let mut last = self.min_array_element.saturating_add(slices - 1);
        if self.sample_slices {
            last = last.saturating_add(1).saturating_mul(self.samples) - 1;
        }
        let (across, down) = geometry.block_shift;
        let blocks = |texels: u32, shift: u32| u64::from(texels).div_ceil(1 << shift.min(31));
        // CAST: fifteen.
        let levels = self.mip_count.clamp(1, MAX_LEVELS as u32);
        // Levels lie beside others, and slices of a volume to the right of later ones: of each level, as far down as the last
        // slice and as far to the right as any.
        let end = (0..levels).map(|lod| {
            let (left, top) = geometry.corner(last, lod);
            let columns = u64::from(left) + blocks(self.level_width(lod), across);
            let rows = u64::from(top) + blocks(self.level_height(lod), down);
            rows + below(geometry, columns)
        });
        let mut rows = end.max().unwrap_or(0) << geometry.line_stride.min(1);
        rows += u64::from(geometry.line_offset);
        if self.interleaved() > 1 || geometry.by_samples {
            rows *= 2;
        }
        Range::rows(geometry, rows)
    }
}

impl DepthBuffer {
    /// The addresses of depth, stencil and marks.
    #[must_use]
    pub fn ranges(&self) -> Vec<Range> {
        if self.kind == SurfaceKind::Null {
            return Vec::new();
        }
        let last = self
            .min_array_element
            .saturating_add(self.depth.max(self.view_extent).max(1).saturating_sub(1));
        let (left, top) = self.geometry.origin(last, self.lod);
        let (width, height) = self.extent();
        let samples = if self.samples > 1 { 2 } else { 1 };
        let more = below(&self.geometry, u64::from(left) + u64::from(width));
        let rows = (u64::from(top) + u64::from(height) + more) * samples;
        let depth = Range::rows(&self.geometry, rows);
        let stencil = self
            .stencil
            .map(|stencil| stencil.range(u64::from(height) * samples, last));
        let marks = self
            .hierarchical
            .map(|marks| marks.range(u64::from(height) * samples, last));
        [Some(depth), stencil, marks]
            .into_iter()
            .flatten()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn pages_are_those_that_the_addresses_lie_in() {
        let mut mem = Memory::new(1 << 20, 64);
        mem.alloc_mapped(GpuAddr::from(0x4000), 0x3000).unwrap();
        let page = |at: u32| mem.translate(at.into(), Access::Read).unwrap() / PAGE_SIZE;
        let pages = |base: u32, bytes| {
            let mut pages = Vec::new();
            let range = Range {
                base: base.into(),
                bytes,
            };
            range.pages(&mem, 3, &mut pages).then_some(pages)
        };
        let there = |base: u32, bytes| {
            let base = base.into();
            Range { base, bytes }.is_there(&mem, Access::Read)
        };
        assert!(there(0x4000, 0x3000) && there(0x6fff, 1));
        assert!(!there(0x4000, 0x3001) && !there(0x3fff, 2));
        assert_eq!(pages(0x4ffc, 4), Some(vec![page(0x4000)]));
        assert_eq!(pages(0x4ffc, 5), Some(vec![page(0x4000), page(0x5000)]));
        // Behind the last page there is nothing.
        assert_eq!(pages(0x6000, 0x2000), Some(vec![page(0x6000)]));
        assert_eq!(pages(0x4000, 0x3001), None);
        assert_eq!(pages(0x4000, u64::MAX / 2), None);
    }
}
