//! Hierarchical depth: blocks that are cleared without being written.
//!
//! A block stands for 8x4 places of the depth buffer and has 16 bytes, in tiles of 16x16 blocks. Hardware knows one level: the
//! address is that of the level, and slices are as far apart as those of level 0 would be, without room for levels (Mesa 22.3.6
//! isl.c `isl_calc_phys_total_extent_el_gfx6_stencil_hiz` and `isl_tiling_get_info`, isl_format_layout.csv HIZ).
//! What hardware keeps in a block is not published. Here a mark and the depth that a clear gave it: until the block is written,
//! the depth buffer has older values. Not modelled: bounds of depth by which hardware refuses whole blocks.

use super::mip::{Align, Level};
use super::range::Range;
use mem::{Fault, GpuAddr, Memory};

/// Columns and rows of a block.
pub const BLOCK: (u32, u32) = (8, 4);
/// Blocks of a tile's row, and rows of a tile.
const TILE: u32 = 16;
const TILE_BYTES: u32 = 4096;
/// Bytes of pitch for each tile of a row.
const TILE_PITCH: u32 = 128;
const BLOCK_BYTES: usize = 16;
/// The low half of a cleared block's first quadword: what no buffer has by chance that nothing was cleared in. The high half
/// is the depth field.
const CLEARED: u32 = 0x5a43_4c52;

/// A 3DSTATE_HIER_DEPTH_BUFFER.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HierDesc {
    /// Address of the first byte.
    pub base: GpuAddr,
    /// Bytes from row to row of a tile.
    pub pitch: u32,
    /// The buffer has all levels, with sizes that are multiples of this many places. `None`: the address is that of the level, and
    /// slices have room for level 0 alone.
    pub levels: Option<Align>,
}

/// The buffer beside a depth buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HierBuffer {
    base: GpuAddr,
    tiles: u32,
    /// The level's first block.
    left: u32,
    top: u32,
    slice_rows: u32,
}

impl HierBuffer {
    /// The buffer beside a level of a depth buffer with so many rows of samples in a slice of level 0.
    pub fn new(desc: &HierDesc, rows: u32, level: Option<&Level>) -> Self {
        let (left, top, slice_rows) = match level {
            Some(level) => (level.x / BLOCK.0, level.y / BLOCK.1, level.step_y / BLOCK.1),
            None => (0, 0, rows.div_ceil(BLOCK.1)),
        };
        HierBuffer {
            // The buffer is tiled: it begins with a page.
            base: GpuAddr(desc.base.0 & !u64::from(TILE_BYTES - 1)),
            tiles: (desc.pitch / TILE_PITCH).max(1),
            left,
            top,
            slice_rows,
        }
    }

    /// Column and row, in the whole buffer, of a block of a slice.
    fn place(&self, x: u32, y: u32, slice: u32) -> (u32, u32) {
        let top = self.top.wrapping_add(slice.wrapping_mul(self.slice_rows));
        (self.left.wrapping_add(x), top.wrapping_add(y))
    }

    /// The addresses of all slices up to the `last`, which has so many rows of samples.
    #[must_use]
    pub fn range(&self, rows: u64, last: u32) -> Range {
        let blocks = rows.div_ceil(BLOCK.1.into())
            + u64::from(self.top)
            + u64::from(last) * u64::from(self.slice_rows);
        let tiles = blocks
            .div_ceil(TILE.into())
            .saturating_mul(self.tiles.into());
        Range {
            base: self.base,
            bytes: tiles.saturating_mul(TILE_BYTES.into()),
        }
    }

    /// The tile with a block of the whole buffer, and the place of the row's first block in it.
    fn row(&self, (x, y): (u32, u32)) -> (GpuAddr, usize) {
        let tile = (y / TILE)
            .wrapping_mul(self.tiles)
            .wrapping_add(x / TILE)
            .wrapping_mul(TILE_BYTES);
        // CAST: within a page.
        let row = (y % TILE * TILE) as usize * BLOCK_BYTES;
        (self.base.offset(tile), row)
    }

    /// Marks block (`x`, `y`) of a slice as cleared to a depth field, or as one that the depth buffer has.
    pub fn mark(
        &self,
        mem: &mut Memory,
        (x, y, slice): (u32, u32, u32),
        cleared: Option<u32>,
    ) -> Result<(), Fault> {
        let (x, y) = self.place(x, y, slice);
        let (tile, row) = self.row((x, y));
        // CAST: within a page.
        let at = tile.offset(row as u32 + x % TILE * BLOCK_BYTES as u32);
        let word = cleared.map_or(0, |field| u64::from(field) << 32 | u64::from(CLEARED));
        mem.write_u64(at, word)
    }

    /// The cleared blocks among sixteen of a row: those from the one on of which block `x` is the `x % TOGETHER`th.
    pub fn cleared(
        &self,
        mem: &Memory,
        (x, y, slice): (u32, u32, u32),
    ) -> Result<[Option<u32>; TILE as usize], Fault> {
        let (mut x, y) = self.place(x - x % TILE, y, slice);
        let mut found = [None; TILE as usize];
        let mut rest = &mut found[..];
        // Those of a level that does not begin with a tile lie in two.
        while !rest.is_empty() {
            let (tile, row) = self.row((x, y));
            let page = mem.page(tile)?;
            // CAST: within a tile.
            let first = (x % TILE) as usize;
            let blocks = page.get(row..).unwrap_or_default();
            let (blocks, _) = blocks.as_chunks::<BLOCK_BYTES>();
            let here = (TILE as usize - first).min(rest.len());
            let (now, later) = rest.split_at_mut(here);
            for (found, block) in now.iter_mut().zip(blocks.iter().skip(first)) {
                let [a, b, c, d, rest @ ..] = block;
                if u32::from_le_bytes([*a, *b, *c, *d]) == CLEARED {
                    let [a, b, c, d, ..] = rest;
                    *found = Some(u32::from_le_bytes([*a, *b, *c, *d]));
                }
            }
            rest = later;
            // CAST: sixteen at most.
            x = x.wrapping_add(here as u32);
            if !rest.is_empty() && mem.page(self.row((x, y)).0).is_err() {
                // Behind the last tile there are none.
                break;
            }
        }
        Ok(found)
    }

    /// Blocks that [`Self::cleared`] looks at together.
    pub const TOGETHER: u32 = TILE;
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use mem::PAGE_SIZE;

    /// Sizes by hand from isl: a surface of 300x70 with 3 layers has 38 columns of blocks in three tiles of 16, and 18 rows of blocks
    /// in a layer; row 17 of layer 2 is row 53, in the fourth row of tiles.
    #[test]
    fn blocks_lie_in_tiles_and_slices_without_gaps() {
        let desc = HierDesc {
            base: GpuAddr(0x10_0000),
            pitch: 3 * 128,
            levels: None,
        };
        let buffer = HierBuffer::new(&desc, 70, None);
        let mut mem = Memory::new(1 << 20, 1 << 16);
        mem.alloc_mapped(desc.base, 12 * PAGE_SIZE).unwrap();
        buffer.mark(&mut mem, (37, 17, 2), Some(7)).unwrap();
        let at = desc
            .base
            .offset((3 * 3 + 2) * 4096 + (53 % 16 * 16 + 5) * 16);
        assert_eq!(mem.read_u64(at).unwrap() >> 32, 7);
        let found = buffer.cleared(&mem, (32, 17, 2)).unwrap();
        assert_eq!(found.iter().flatten().count(), 1);
        assert_eq!(found[5], Some(7));
        // The last block of all is in the last page: the one below is not there.
        assert!(buffer.mark(&mut mem, (37, 64 - 36, 2), Some(7)).is_err());
        buffer.mark(&mut mem, (37, 17, 2), None).unwrap();
        assert_eq!(buffer.cleared(&mem, (47, 17, 2)).unwrap(), [None; 16]);
    }

    /// Real buffers have other contents, which no clear of the model's has left there.
    #[test]
    fn foreign_contents_are_no_clears() {
        let desc = HierDesc {
            base: GpuAddr(0x10_0000),
            pitch: 128,
            levels: None,
        };
        let buffer = HierBuffer::new(&desc, 4, None);
        let mut mem = Memory::new(1 << 20, 1 << 16);
        mem.alloc_mapped(desc.base, PAGE_SIZE).unwrap();
        for word in [0, u32::MAX, 0x3f80_0000] {
            mem.write_u32(desc.base, word).unwrap();
            assert_eq!(buffer.cleared(&mem, (0, 0, 0)).unwrap(), [None; 16]);
        }
    }
}
