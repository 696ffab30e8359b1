//! X-major and Y-major tiles and the bit-6 swizzle.
//!
//! PRM: Intel 965 Express Chipset Family, volume 1 (memory tiling; Mesa isl, i915 tiling notes).
//! W tiles, which stencil buffers alone have, stand apart from [`Tiling`]. Not modelled: 64 KiB tiles and the channel hash that bit-6 swizzling exists for.

use crate::{GpuAddr, PAGE_SIZE};

/// How the bytes of a surface are laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Tiling {
    /// Row after row.
    #[default]
    Linear,
    /// Tiles of 512 bytes by 8 rows, row after row.
    X,
    /// Tiles of 128 bytes by 32 rows, in columns of 16 bytes.
    Y,
}

impl Tiling {
    /// Bytes of a tile's row; for [`Tiling::Linear`] 1.
    pub const fn tile_width(self) -> u32 {
        match self {
            Tiling::Linear => 1,
            Tiling::X => 512,
            Tiling::Y => 128,
        }
    }

    /// Rows of a tile; for [`Tiling::Linear`] 1.
    pub const fn tile_height(self) -> u32 {
        match self {
            Tiling::Linear => 1,
            Tiling::X => 8,
            Tiling::Y => 32,
        }
    }
}

/// Which address bits are folded into bit 6 of a tiled address (`I915_BIT_6_SWIZZLE_*`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BitSixSwizzle {
    /// None: single channel, or channels not interleaved.
    #[default]
    None,
    /// Bit 9.
    Nine,
    /// Bits 9 and 10.
    NineTen,
    /// Bits 9 and 11.
    NineEleven,
    /// Bits 9, 10 and 11.
    NineTenEleven,
}

impl BitSixSwizzle {
    /// The address with bit 6 folded.
    #[inline]
    pub const fn apply(self, address: u32) -> u32 {
        let fold = match self {
            BitSixSwizzle::None => 0,
            BitSixSwizzle::Nine => address >> 3,
            BitSixSwizzle::NineTen => (address >> 3) ^ (address >> 4),
            BitSixSwizzle::NineEleven => (address >> 3) ^ (address >> 5),
            BitSixSwizzle::NineTenEleven => (address >> 3) ^ (address >> 4) ^ (address >> 5),
        };
        address ^ (fold & 64)
    }

    /// The same for a whole graphics address.
    #[inline]
    #[must_use]
    pub const fn apply_to(self, address: GpuAddr) -> GpuAddr {
        let low = address.low();
        GpuAddr(address.0 ^ (self.apply(low) ^ low) as u64)
    }
}

/// Byte offset of byte `x_bytes` of row `y` in a surface of `pitch` bytes a row.
///
/// A tiled surface's pitch is a whole number of tiles. All arithmetic wraps at 32 bits.
#[inline]
pub const fn offset(tiling: Tiling, pitch: u32, x_bytes: u32, y: u32) -> u32 {
    row(tiling, pitch, y).wrapping_add(column(tiling, x_bytes))
}

/// What byte `x_bytes` of a row adds to an [`offset`].
#[inline]
pub const fn column(tiling: Tiling, x_bytes: u32) -> u32 {
    match tiling {
        Tiling::Linear => x_bytes,
        Tiling::X => ((x_bytes >> 9) << 12).wrapping_add(x_bytes & 511),
        Tiling::Y => ((x_bytes >> 7) << 12).wrapping_add(((x_bytes & 0x70) << 5) | (x_bytes & 15)),
    }
}

/// What row `y` adds to an [`offset`].
#[inline]
pub const fn row(tiling: Tiling, pitch: u32, y: u32) -> u32 {
    match tiling {
        Tiling::Linear => y.wrapping_mul(pitch),
        Tiling::X => (y & !7).wrapping_mul(pitch).wrapping_add((y & 7) << 9),
        Tiling::Y => (y & !31).wrapping_mul(pitch).wrapping_add((y & 31) << 4),
    }
}

/// Byte offset of the byte in column `x` of row `y` of a stencil buffer in W tiles: tiles of 64 by 64 bytes, in which the bits
/// of column and row alternate (Mesa 22.3.6 isl.c `isl_tiling_get_info`; src/mesa `intel_offset_S8`).
///
/// `pitch` is that of the state, which counts two rows as one: twice the bytes of a row. All arithmetic wraps at 32 bits.
#[inline]
pub const fn w_offset(pitch: u32, x: u32, y: u32) -> u32 {
    const fn spread(n: u32, bit: u32, to: u32) -> u32 {
        (n >> bit & 1) << to
    }
    let inside = (x >> 3 & 7) << 9
        | (y >> 3 & 7) << 6
        | spread(y, 2, 5)
        | spread(x, 2, 4)
        | spread(y, 1, 3)
        | spread(x, 1, 2)
        | spread(y, 0, 1)
        | spread(x, 0, 0);
    (y >> 6)
        .wrapping_mul(pitch)
        .wrapping_mul(32)
        .wrapping_add((x >> 6) << 12)
        .wrapping_add(inside)
}

/// Bytes that a surface of `pitch` by `rows` takes up, tiles rounded up.
pub const fn size(tiling: Tiling, pitch: u32, rows: u32) -> usize {
    let height = tiling.tile_height();
    pitch as usize * (rows.div_ceil(height) * height) as usize
}

/// Bytes from `x` on that stay adjacent in a row of the tiling.
const fn run(tiling: Tiling, x: u32, width: u32) -> u32 {
    let left = width - x;
    let unit = match tiling {
        Tiling::Linear => return left,
        Tiling::X => 512 - (x & 511),
        Tiling::Y => 16 - (x & 15),
    };
    if unit < left { unit } else { left }
}

/// Copies `rows` rows of `width` bytes out of a tiled buffer into `linear` (`width` bytes a row).
/// Bytes that lie outside either buffer are skipped; the number of bytes copied comes back.
pub fn detile(tiling: Tiling, tiled: &[u8], pitch: u32, linear: &mut [u8], width: u32) -> usize {
    walk(tiling, pitch, width, linear.len(), |at, lin, n| {
        match (tiled.get(at..at + n), linear.get_mut(lin..lin + n)) {
            (Some(from), Some(to)) => {
                to.copy_from_slice(from);
                n
            }
            _ => 0,
        }
    })
}

/// The reverse of [`detile`].
pub fn tile(tiling: Tiling, linear: &[u8], width: u32, tiled: &mut [u8], pitch: u32) -> usize {
    walk(tiling, pitch, width, linear.len(), |at, lin, n| {
        match (linear.get(lin..lin + n), tiled.get_mut(at..at + n)) {
            (Some(from), Some(to)) => {
                to.copy_from_slice(from);
                n
            }
            _ => 0,
        }
    })
}

/// Calls `copy(tiled offset, linear offset, bytes)` for each run of whole rows of the linear side.
fn walk(
    tiling: Tiling,
    pitch: u32,
    width: u32,
    linear_len: usize,
    mut copy: impl FnMut(usize, usize, usize) -> usize,
) -> usize {
    if width == 0 {
        return 0;
    }
    let rows = (linear_len / width as usize) as u32;
    let mut copied = 0;
    for y in 0..rows {
        let mut x = 0;
        while x < width {
            let n = run(tiling, x, width);
            let at = offset(tiling, pitch, x, y) as usize;
            copied += copy(at, y as usize * width as usize + x as usize, n as usize);
            x += n;
        }
    }
    copied
}

const _: () = {
    let (x, y) = (Tiling::X, Tiling::Y);
    assert!((x.tile_width() * x.tile_height()) as usize == PAGE_SIZE);
    assert!((y.tile_width() * y.tile_height()) as usize == PAGE_SIZE);
};

#[cfg(test)]
mod tests {
    use super::*;

    /// The bit strings of the manuals: X: tile, y2..y0, x8..x0; Y: tile, x6..x4, y4..y0, x3..x0.
    #[test]
    fn tile_bit_order() {
        let bits = |name: &str, x: u32, y: u32| {
            name.split(' ').fold(0, |acc, b| {
                let (from, n) = b.split_at(1);
                let n: u32 = n.parse().unwrap_or(0);
                let v = if from == "x" { x } else { y };
                acc << 1 | ((v >> n) & 1)
            })
        };
        for y in 0..32 {
            for x in 0..512 {
                if y < 8 {
                    let want = bits("y2 y1 y0 x8 x7 x6 x5 x4 x3 x2 x1 x0", x, y);
                    assert_eq!(offset(Tiling::X, 1024, x, y), want);
                }
                if x < 128 {
                    let want = bits("x6 x5 x4 y4 y3 y2 y1 y0 x3 x2 x1 x0", x, y);
                    assert_eq!(offset(Tiling::Y, 1024, x, y), want);
                }
            }
        }
    }

    #[test]
    fn tiles_go_row_by_row() {
        // Surface of 1024 bytes a row: 2 X tiles or 8 Y tiles a row.
        assert_eq!(offset(Tiling::X, 1024, 512, 0), 4096);
        assert_eq!(offset(Tiling::X, 1024, 0, 8), 2 * 4096);
        assert_eq!(offset(Tiling::Y, 1024, 128, 0), 4096);
        assert_eq!(offset(Tiling::Y, 1024, 0, 32), 8 * 4096);
    }

    #[test]
    fn every_byte_of_a_surface_is_hit_once() {
        for (tiling, pitch, rows) in [(Tiling::X, 1536, 24), (Tiling::Y, 384, 64)] {
            let n = size(tiling, pitch, rows);
            let linear: Vec<u8> = (0..n).map(|i| (i * 7 + i / 251) as u8).collect();
            let mut tiled = vec![0; n];
            assert_eq!(tile(tiling, &linear, pitch, &mut tiled, pitch), n);
            let mut seen = vec![false; n];
            for y in 0..rows {
                for x in 0..pitch {
                    let at = offset(tiling, pitch, x, y) as usize;
                    assert!(!seen[at]);
                    seen[at] = true;
                    assert_eq!(tiled[at], linear[(y * pitch + x) as usize]);
                }
            }
            let mut back = vec![0; n];
            assert_eq!(detile(tiling, &tiled, pitch, &mut back, pitch), n);
            assert_eq!(back, linear);
        }
    }

    #[test]
    fn swizzle_folds_bits_as_i915_names_them() {
        assert_eq!(BitSixSwizzle::Nine.apply(0x200), 0x240);
        assert_eq!(BitSixSwizzle::NineTen.apply(0x600), 0x600);
        assert_eq!(BitSixSwizzle::NineTen.apply(0x400), 0x440);
        assert_eq!(BitSixSwizzle::NineEleven.apply(0x800), 0x840);
        assert_eq!(BitSixSwizzle::NineTenEleven.apply(0xe40), 0xe00);
        assert_eq!(BitSixSwizzle::None.apply(0xe40), 0xe40);
    }

    /// The sum of Mesa's `intel_offset_S8`, which works with divisions.
    // covers: V-0308, V-0685
    #[test]
    fn w_tiles_are_those_of_mesa() {
        let mesa = |stride: u32, x: u32, y: u32| {
            let row_size = 64 * stride / 2;
            let (tile_x, tile_y, byte_x, byte_y) = (x / 64, y / 64, x % 64, y % 64);
            tile_y * row_size
                + tile_x * 4096
                + 512 * (byte_x / 8)
                + 64 * (byte_y / 8)
                + 32 * ((byte_y / 4) % 2)
                + 16 * ((byte_x / 4) % 2)
                + 8 * ((byte_y / 2) % 2)
                + 4 * ((byte_x / 2) % 2)
                + 2 * (byte_y % 2)
                + byte_x % 2
        };
        for y in 0..130 {
            for x in 0..192 {
                assert_eq!(w_offset(384, x, y), mesa(384, x, y), "{x} {y}");
            }
        }
    }
}
