//! Control surfaces: samples that are alike, and blocks that are cleared.
//!
//! IVB PRM volume 2 part 1, 11.7 (MCS buffer for render targets); volume 4 part 1, multisample control surface. Sizes of blocks and
//! of elements: Mesa 22.3.6 isl_format_layout.csv (`MCS_*`, `GFX7_CCS_*`), isl.c `isl_surf_get_mcs_surf`, `isl_surf_get_ccs_surf`;
//! what a pixel of a clearing or resolving rectangle stands for: blorp_clear.c `get_fast_clear_rect`, `blorp_ccs_resolve`.
//! Which bits of an element of several samples belong to which sample, and where the bit of a block lies in its tile, is not
//! published: programs only compare elements with zero and with the value of a clear.

use mem::tiling::{self, Tiling};
use mem::{BitSixSwizzle, Fault, GpuAddr, Memory, PAGE_SIZE};

use super::desc::ControlDesc;
use super::{Surface, SurfaceKind};

/// Rows that slices of a control surface of several samples are multiples of.
const ALIGN: u32 = 4;
/// Bytes of a tile's row.
const TILE: u32 = 128;
/// Blocks of a tile across and down, one bit each.
const TILE_BLOCKS: (u32, u32) = (128, 256);

/// A rectangle of pixels: first column and row, and how many.
pub type Rect = ([u32; 2], [u32; 2]);

/// The control surface of a surface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    /// An element a pixel: in which slice each of its samples is stored.
    Samples(Samples),
    /// A bit a block of pixels of one sample: it is cleared, and memory has older values.
    Blocks(Blocks),
}

impl Control {
    /// The control surface of a surface; `None` where there can be none. `gap` is that of the surface's [`Align`](super::mip::Align).
    pub(super) fn new(desc: &ControlDesc, surface: &Surface, gap: Option<u32>) -> Option<Control> {
        if surface.kind != SurfaceKind::TwoD {
            return None;
        }
        let base = GpuAddr(desc.base.0 & !(PAGE_SIZE as u64 - 1));
        if surface.samples > 1 {
            if !surface.sample_slices {
                return None;
            }
            let rows = |height: u32| height.div_ceil(ALIGN).wrapping_mul(ALIGN);
            let slice_rows = match gap {
                None => rows(surface.height),
                Some(gap) => rows(surface.height)
                    .wrapping_add(rows(surface.level_height(1)))
                    .wrapping_add(gap.wrapping_mul(ALIGN)),
            };
            return Some(Control::Samples(Samples {
                base,
                pitch: desc.pitch,
                count: surface.samples,
                slice_rows,
                swizzle: BitSixSwizzle::None,
            }));
        }
        // A bit stands for one line of a cache of 128 bytes: two of 64.
        let bytes = surface.geometry.bytes.clamp(1, 16);
        let size = match surface.geometry.tiling {
            Tiling::Linear => return None,
            Tiling::X => [64 / bytes, 2],
            Tiling::Y => [32 / bytes, 4],
        };
        Some(Control::Blocks(Blocks {
            base,
            tiles: (desc.pitch / TILE).max(1),
            size,
        }))
    }

    /// Takes over the swizzle of memory.
    pub(super) fn swizzle(&mut self, mem: &Memory) {
        if let Control::Samples(samples) = self {
            samples.swizzle = mem.swizzle(Tiling::Y);
        }
    }
}

/// The element of a pixel each of whose so many samples is in its own slice.
#[inline]
#[must_use]
pub const fn apart(samples: u32) -> u32 {
    match samples {
        0 | 1 => 0,
        8 => 0x7654_3210,
        _ => 0xe4,
    }
}

/// An element a pixel, in Y tiles: of four samples a byte, of eight four bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Samples {
    base: GpuAddr,
    pitch: u32,
    count: u32,
    slice_rows: u32,
    swizzle: BitSixSwizzle,
}

impl Samples {
    /// The element of a pixel that is cleared.
    #[inline]
    pub const fn cleared(&self) -> u32 {
        if self.count > 4 { u32::MAX } else { 0xff }
    }

    /// The element of a pixel each of whose samples is in its own slice.
    #[inline]
    pub const fn apart(&self) -> u32 {
        apart(self.count)
    }

    /// The slice that a sample is stored in; `None`: it is cleared.
    #[inline]
    pub const fn stored(&self, element: u32, sample: u32) -> Option<u32> {
        if element == self.cleared() {
            return None;
        }
        let (bits, mask) = self.fields();
        // Samples there are no more than slices.
        Some(element >> ((sample & mask) * bits) & mask)
    }

    /// Bits of an element for each sample, and what of them says the slice.
    #[inline]
    #[must_use]
    pub const fn fields(&self) -> (u32, u32) {
        if self.count > 4 { (4, 7) } else { (2, 3) }
    }

    fn address(&self, (x, y, slice): (u32, u32, u32)) -> GpuAddr {
        let bytes = if self.count > 4 { 4 } else { 1 };
        let y = y.wrapping_add(slice.wrapping_mul(self.slice_rows));
        let at = tiling::offset(Tiling::Y, self.pitch, x.wrapping_mul(bytes), y);
        self.base.offset(self.swizzle.apply(at))
    }

    /// The element of pixel (`x`, `y`) of a slice.
    #[inline]
    pub fn read(&self, mem: &Memory, at: (u32, u32, u32)) -> Result<u32, Fault> {
        let at = self.address(at);
        if self.count > 4 {
            mem.read_u32(at)
        } else {
            Ok(mem.read_array::<1>(at)?[0].into())
        }
    }

    /// Writes it.
    #[inline]
    pub fn write(&self, mem: &mut Memory, at: (u32, u32, u32), element: u32) -> Result<(), Fault> {
        let at = self.address(at);
        if self.count > 4 {
            mem.write_u32(at, element)
        } else {
            // CAST: of four samples an element has eight bits.
            mem.write_array(at, [element as u8])
        }
    }

    /// The pixels that a pixel of a clearing rectangle stands for.
    #[must_use]
    pub const fn clears(&self, (x, y): (u32, u32)) -> Rect {
        let across = if self.count > 4 { 2 } else { 8 };
        ([x.wrapping_mul(across), y.wrapping_mul(2)], [across, 2])
    }
}

/// A bit a block of pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Blocks {
    base: GpuAddr,
    tiles: u32,
    /// Pixels of a block, across and down.
    size: [u32; 2],
}

impl Blocks {
    /// Pixels of a block, across and down.
    #[must_use]
    pub const fn size(&self) -> [u32; 2] {
        self.size
    }

    /// The tile of a block, the byte in it, and the bit of that.
    fn place(&self, x: u32, y: u32) -> (GpuAddr, u32, u32) {
        let (across, down) = TILE_BLOCKS;
        let tile = (y / down).wrapping_mul(self.tiles).wrapping_add(x / across);
        // CAST: a page.
        let tile = self.base.offset(tile.wrapping_mul(PAGE_SIZE as u32));
        let bit = y % down * across + x % across;
        (tile, bit / 8, bit % 8)
    }

    /// Marks the blocks that a pixel of a clearing rectangle stands for: 8 by 16 of them, in sixteen rows of one byte.
    pub fn clear(&self, mem: &mut Memory, (x, y): (u32, u32)) -> Result<(), Fault> {
        for row in 0..16 {
            let y = y.wrapping_mul(16).wrapping_add(row);
            let (tile, byte, _) = self.place(x.wrapping_mul(8), y);
            mem.write_array(tile.offset(byte), [0xff])?;
        }
        Ok(())
    }

    /// The block that a pixel of a resolving rectangle lies in: a pixel stands for a quarter of a block.
    #[must_use]
    pub const fn resolves(&self, (x, y): (u32, u32)) -> (u32, u32) {
        (x / 2, y / 2)
    }

    /// Takes away the mark of a block; whether there was one.
    pub fn take(&self, mem: &mut Memory, (x, y): (u32, u32)) -> Result<bool, Fault> {
        let (tile, byte, bit) = self.place(x, y);
        let at = tile.offset(byte);
        let [old] = mem.read_array::<1>(at)?;
        let marked = old >> bit & 1 != 0;
        if marked {
            mem.write_array(at, [old & !(1 << bit)])?;
        }
        Ok(marked)
    }

    /// The pixels of a block.
    #[must_use]
    pub const fn pixels(&self, (x, y): (u32, u32)) -> Rect {
        let [across, down] = self.size;
        ([x.wrapping_mul(across), y.wrapping_mul(down)], self.size)
    }

    /// The marked blocks among those of so many pixels. Tiles without any are passed at once.
    pub fn marked(&self, mem: &Memory, (width, height): (u32, u32)) -> Result<Marked, Fault> {
        let (columns, rows) = (width.div_ceil(self.size[0]), height.div_ceil(self.size[1]));
        let (across, down) = TILE_BLOCKS;
        let mut found = Vec::new();
        for y in (0..rows).step_by(down as usize) {
            for x in (0..columns).step_by(across as usize) {
                let page = mem.page(self.place(x, y).0)?;
                if page.iter().any(|byte| *byte != 0) {
                    found.push((x, y));
                }
            }
        }
        Ok(Marked {
            tiles: found,
            end: (columns, rows),
        })
    }
}

/// Tiles of a control surface in which some blocks are marked.
#[derive(Clone, Debug, Default)]
pub struct Marked {
    tiles: Vec<(u32, u32)>,
    end: (u32, u32),
}

impl Marked {
    /// The blocks of these tiles.
    pub fn blocks(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let (across, down) = TILE_BLOCKS;
        let tile = move |&(x, y): &(u32, u32)| {
            let rows = y..(y + down).min(self.end.1);
            rows.flat_map(move |y| (x..(x + across).min(self.end.0)).map(move |x| (x, y)))
        };
        self.tiles.iter().flat_map(tile)
    }
}

#[cfg(test)]
mod tests;
