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
        let row = |n: u32| {
            (swizzle
                .apply(plain.wrapping_add(n * step))
                .wrapping_sub(first)
                >> 4) as u8
        };
        Some(Square {
            first: base.offset(first),
            rows: [0, row(1), row(2), row(3)],
        })
    }

    /// Address of its first byte.
    #[inline]
    #[must_use]
    pub const fn first(&self) -> GpuAddr {
        self.first
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const SWIZZLES: [BitSixSwizzle; 5] = [
        BitSixSwizzle::None,
        BitSixSwizzle::Nine,
        BitSixSwizzle::NineTen,
        BitSixSwizzle::NineEleven,
        BitSixSwizzle::NineTenEleven,
    ];
    const BASE: GpuAddr = GpuAddr(0x1_0000);
    const PITCH: u32 = 1024;
    const HEIGHT: u32 = 64;

    fn memory() -> Memory {
        let mut mem = Memory::new(1 << 20, 64);
        let bytes = (PITCH * HEIGHT) as usize;
        mem.alloc_mapped(BASE, bytes).unwrap();
        for at in (0..PITCH * HEIGHT).step_by(4) {
            mem.write_u32(BASE.offset(at), at.wrapping_mul(0x9e37_79b9))
                .unwrap();
        }
        mem
    }

    /// The row of a square by the address of each of its bytes.
    fn row(mem: &Memory, how: (Tiling, BitSixSwizzle), x: u32, y: u32) -> [u8; ROW] {
        std::array::from_fn(|i| {
            let at = tiling::offset(how.0, PITCH, x + i as u32, y);
            mem.read_u8(BASE.offset(how.1.apply(at))).unwrap()
        })
    }

    #[test]
    fn a_square_is_its_bytes_one_by_one() {
        for tiling in [Tiling::X, Tiling::Y] {
            for swizzle in SWIZZLES {
                let how = (tiling, swizzle);
                let mut mem = memory();
                for y in (0..HEIGHT).step_by(4) {
                    for x in (0..PITCH).step_by(16) {
                        let place = Square::new(how, (BASE, PITCH), (x, y)).unwrap();
                        let want = [0, 1, 2, 3].map(|n| row(&mem, how, x, y + n));
                        assert_eq!(mem.read_square(&place).unwrap(), want, "{how:?} {x} {y}");
                        let inverted = want.map(|row| row.map(|byte| !byte));
                        mem.write_square(&place, &inverted).unwrap();
                        let found = [0, 1, 2, 3].map(|n| row(&mem, how, x, y + n));
                        assert_eq!(found, inverted, "{how:?} {x} {y}");
                    }
                }
                // Each byte was written once.
                let before = memory();
                for at in (0..PITCH * HEIGHT).step_by(4) {
                    let (now, then) = (
                        mem.read_u32(BASE.offset(at)),
                        before.read_u32(BASE.offset(at)),
                    );
                    assert_eq!(now.unwrap(), !then.unwrap(), "{how:?} {at:#x}");
                }
            }
        }
    }

    #[test]
    fn what_does_not_lie_in_one_tile_is_no_square() {
        let plain = BitSixSwizzle::None;
        let square = |tiling, base, at| Square::new((tiling, plain), (base, PITCH), at);
        assert_eq!(square(Tiling::Linear, BASE, (0, 0)), None);
        assert_eq!(square(Tiling::X, BASE, (8, 0)), None);
        assert_eq!(square(Tiling::Y, BASE, (16, 2)), None);
        assert_eq!(square(Tiling::Y, BASE.offset(64), (16, 4)), None);
        assert!(square(Tiling::Y, BASE, (!15, !3)).is_some());
    }

    #[test]
    fn a_fault_names_the_first_row_and_writes_nothing() {
        let mut mem = memory();
        let how = (Tiling::X, BitSixSwizzle::Nine);
        let place = Square::new(how, (GpuAddr(0x3_0000), PITCH), (16, 4)).unwrap();
        let at = BitSixSwizzle::Nine.apply(tiling::offset(Tiling::X, PITCH, 16, 4));
        let read = mem.read_square(&place).unwrap_err();
        assert_eq!(read.addr, GpuAddr(0x3_0000).offset(at));
        let write = mem.write_square(&place, &[[1; ROW]; ROWS]).unwrap_err();
        assert_eq!(
            (write.addr, write.access),
            (read.addr, crate::Access::Write)
        );
    }
}
