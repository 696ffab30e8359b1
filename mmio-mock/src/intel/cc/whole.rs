//! Rows of whole pixels straight into four-byte UNORM targets.
//!
//! PRM: volume 4 5.10.6 (render target write). Threads that lie side by side have four subspans of two by two pixels each, all of them
//! lit. Their pixels are stored by squares of four by four, wherever the threads' borders lie.

use super::Origins;
use super::direct::{self, Pixels, by_row};
use super::pixel::PixelBlock;
use crate::intel::surface::Surface;
use mem::Memory;

/// The pixels of a thread as the target has them, subspan after subspan.
pub type Whole = [u32; 16];

/// The pixels of one thread, and where they go.
#[derive(Clone, Copy, Debug)]
pub struct WholeBlock {
    /// Slice of the target.
    pub slice: u32,
    /// Upper left pixels of the subspans.
    pub origins: Origins,
    /// The pixels.
    pub pixels: Whole,
}

/// Subspans of a square, and of a thread.
const SUBSPANS: usize = 4;
/// From the upper left pixel of a square to those of its subspans, in the order in which threads get them.
const ORDER: [(u16, u16); SUBSPANS] = [(0, 0), (2, 0), (0, 2), (2, 2)];

/// Where a row of threads goes.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// A target that [`direct::shifts`] accepts, under a state that [`direct::applies`] accepts.
    pub target: &'a Surface,
    /// Slice of the target.
    pub slice: u32,
    /// Upper left pixel of the first square.
    pub at: (u16, u16),
    /// The subspan of it that the first thread begins with.
    pub first: usize,
}

impl Row<'_> {
    /// Stores the pixels of threads. Comes back with how many threads were stored before a page could not be written, and how many
    /// pixels of them lie in the target.
    pub fn write(&self, mem: &mut Memory, threads: &[Whole]) -> (usize, u64) {
        let flat = threads.as_flattened();
        let (subspans, _) = flat.as_chunks::<4>();
        // Squares that are there whole; what is left and right of them goes by subspans.
        let before = (SUBSPANS - self.first) % SUBSPANS;
        let before = before.min(subspans.len());
        let (left, rest) = subspans.split_at(before);
        let (squares, right) = rest.as_chunks::<SUBSPANS>();
        let mut pixels = 0;
        let stored = |subspans: usize| subspans / SUBSPANS;
        for (n, subspan) in left.iter().enumerate() {
            match self.subspan(mem, self.first + n, subspan) {
                Some(lit) => pixels += lit,
                None => return (0, pixels),
            }
        }
        let begin = self.first + before;
        for (n, square) in squares.iter().enumerate() {
            match self.square(mem, begin + SUBSPANS * n, square) {
                Some(lit) => pixels += lit,
                None => return (stored(before + SUBSPANS * n), pixels),
            }
        }
        let behind = before + SUBSPANS * squares.len();
        for (n, subspan) in right.iter().enumerate() {
            match self.subspan(mem, self.first + behind + n, subspan) {
                Some(lit) => pixels += lit,
                None => return (stored(behind), pixels),
            }
        }
        (threads.len(), pixels)
    }

    /// Left column of the square that a subspan lies in.
    #[inline]
    fn column(&self, subspan: usize) -> u16 {
        // CAST: columns have sixteen bits.
        self.at.0.wrapping_add((4 * (subspan / SUBSPANS)) as u16)
    }

    /// Stores a square of which this is the first subspan.
    #[inline(always)]
    fn square(
        &self,
        mem: &mut Memory,
        subspan: usize,
        pixels: &[[u32; 4]; SUBSPANS],
    ) -> Option<u64> {
        let at = (self.column(subspan), self.at.1);
        if let Some(place) = direct::place(self.target, self.slice, at) {
            let dwords: &[u32; 16] = zerocopy::transmute_ref!(pixels);
            let rows = zerocopy::transmute!(by_row(dwords));
            mem.write_square(&place, &rows).ok()?;
            return Some(16);
        }
        let mut lit = 0;
        for (n, subspan_pixels) in pixels.iter().enumerate() {
            lit += self.subspan(mem, subspan + n, subspan_pixels)?;
        }
        Some(lit)
    }

    /// Stores a subspan.
    #[inline(never)]
    fn subspan(&self, mem: &mut Memory, subspan: usize, pixels: &[u32; 4]) -> Option<u64> {
        // PANIC: a remainder of four.
        let (dx, dy) = ORDER[subspan % SUBSPANS];
        let (x, y) = (self.column(subspan), self.at.1);
        let mut origins = Origins::default();
        origins[0] = (x.wrapping_add(dx), y.wrapping_add(dy));
        let mut dwords = [0; 16];
        dwords[..4].copy_from_slice(pixels);
        let block = PixelBlock {
            origins: &origins,
            mask: 15,
            colour: &[[0; 16]; 4],
            source1: None,
            sample: 0,
        };
        let stored = Pixels::new(self.target, self.slice, &block, &dwords);
        let written = stored.write(mem, self.target).ok()?;
        Some(written.count_ones().into())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::intel::surface::state::Use;
    use mem::GpuAddr;

    const BASE: GpuAddr = GpuAddr(0x1_0000);

    /// A target of 60 by 22 pixels of four bytes. Tiling: 0 linear, 2 X, 3 Y.
    fn target(tiling: u32) -> Surface {
        let words = [
            1 << 29 | 0x0c7 << 18,
            0x1_0000,
            59 << 6 | 21 << 19,
            511 << 3 | tiling,
            0,
        ];
        crate::intel::r#gen::gen40::surface::resolve(&words, Use::RenderTarget).unwrap()
    }

    fn memory() -> Memory {
        let mut mem = Memory::new(1 << 20, 64);
        mem.alloc_mapped(BASE, 0x8000).unwrap();
        mem
    }

    /// Pixel by pixel.
    fn plain(mem: &mut Memory, row: &Row<'_>, threads: &[Whole]) -> u64 {
        let mut lit = 0;
        for (n, pixel) in threads.as_flattened().iter().enumerate() {
            let subspan = row.first + n / 4;
            let (dx, dy) = [(0, 0), (2, 0), (0, 2), (2, 2)][subspan % 4];
            let x = u32::from(row.at.0) + (subspan / 4 * 4 + dx + n % 2) as u32;
            let y = u32::from(row.at.1) + (dy + n % 4 / 2) as u32;
            if x < 60 && y < 22 {
                let at = row.target.address(x, y, row.slice, 0);
                mem.write_u32(at, *pixel).unwrap();
                lit += 1;
            }
        }
        lit
    }

    #[test]
    fn rows_are_stored_as_their_pixels() {
        let mut rng = fastrand::Rng::with_seed(0x0b0e);
        for tiling in [0, 2, 3] {
            let target = target(tiling);
            for _ in 0..200 {
                let row = Row {
                    target: &target,
                    slice: 0,
                    at: (4 * rng.u16(..14), 4 * rng.u16(..6)),
                    first: rng.usize(..4),
                };
                let threads: Vec<Whole> = (0..=rng.usize(..9))
                    .map(|_| std::array::from_fn(|_| rng.u32(..)))
                    .collect();
                let (mut one, mut other) = (memory(), memory());
                let lit = plain(&mut one, &row, &threads);
                assert_eq!(row.write(&mut other, &threads), (threads.len(), lit));
                assert!(one.arena_bytes() == other.arena_bytes(), "{row:?}");
            }
        }
    }

    #[test]
    fn a_page_that_is_not_there_ends_a_row() {
        let target = target(3);
        let mut mem = memory();
        // Tiles of 32 columns: the first one stays.
        for page in 0x11..0x18 {
            mem.gtt_write(page, 0);
        }
        let row = Row {
            target: &target,
            slice: 0,
            at: (24, 4),
            first: 2,
        };
        let threads = [[7; 16]; 4];
        // Two subspans, a square in the first tile, and the one that fails.
        assert_eq!(row.write(&mut mem, &threads).0, 1);
        let there = target.address(31, 7, 0, 0);
        assert_eq!(mem.read_u32(there), Ok(7));
    }
}
