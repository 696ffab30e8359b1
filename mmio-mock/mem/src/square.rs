//! Squares of sixteen bytes by four rows, which lie in one tile.
//!
//! PRM: Intel 965 Express Chipset Family, volume 1 (memory tiling). A tile is a page, so that one look into the tables
//! serves four rows of four pixels. Not modelled here: squares across tiles, and linear surfaces; these are read row by row.

use crate::tiling::{self, BitSixSwizzle, Tiling};
use crate::{Fault, GpuAddr, Memory};

/// Bytes of a row.
pub const ROW: usize = 16;
/// Rows.
pub const ROWS: usize = 4;

/// Where a square lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Square {
    first: GpuAddr,
    /// From the first row to each row: in units of sixteen bytes.
    rows: [u8; ROWS],
}

impl Square {
    /// The square whose first byte is byte `x_bytes` of row `y` of a surface of `pitch` bytes a row at `base`. `None` when the
    /// surface is linear, when its base is not that of a page, and when the square begins elsewhere than at multiples of
    /// sixteen bytes and of four rows.
    #[inline(always)]
    #[must_use]
    pub fn new(
        (tiling, swizzle): (Tiling, BitSixSwizzle),
        (base, pitch): (GpuAddr, u32),
        (x_bytes, y): (u32, u32),
    ) -> Option<Square> {
        let step = match tiling {
            Tiling::Linear => return None,
            Tiling::X => 512,
            Tiling::Y => 16,
        };
        if x_bytes & 15 != 0 || y & 3 != 0 || base.in_page() != 0 {
            return None;
        }
        let plain = tiling::offset(tiling, pitch, x_bytes, y);
        let first = swizzle.apply(plain);
        // Rows of a tile come one after another, and the swizzle moves a row by 64 bytes: less than rows of X tiles are
        // apart, while the four rows of a Y tile are 64 bytes that it moves together.
        // CAST: within a page.
        let row = |n: u32| (swizzle.apply(plain.wrapping_add(n * step)).wrapping_sub(first) >> 4) as u8;
        Some(Square {
            first: base.offset(first),
            rows: [0, row(1), row(2), row(3)],
        })
    }
}

impl Memory {
    /// The rows of a square. The fault is that of its first row.
    #[inline(always)]
    pub fn read_square(&self, square: &Square) -> Result<[[u8; ROW]; ROWS], Fault> {
        let (page, _) = self.page(square.first)?.as_chunks::<ROW>();
        let mut out = [[0; ROW]; ROWS];
        for (out, &row) in out.iter_mut().zip(&square.rows) {
            if let Some(from) = page.get(usize::from(row)) {
                *out = *from;
            }
        }
        Ok(out)
    }

    /// Writes the rows of a square. The fault is that of its first row; nothing is written then.
    #[inline(always)]
    pub fn write_square(&mut self, square: &Square, rows: &[[u8; ROW]; ROWS]) -> Result<(), Fault> {
        let (page, _) = self.page_mut(square.first)?.as_chunks_mut::<ROW>();
        for (from, &row) in rows.iter().zip(&square.rows) {
            if let Some(to) = page.get_mut(usize::from(row)) {
                *to = *from;
            }
        }
        Ok(())
    }
}
