//! Fence registers: tiled ranges of the aperture as the CPU sees them.
//!
//! PRM: Intel 965 Express Chipset Family, volume 1 (FENCE table registers; i915 `I965_FENCE_*`).
//! Not modelled: fences for GPU accesses, which come tiled by their surface state.

use crate::tiling::Tiling;

/// First bit of the pitch in a fence register of the first generations.
pub const PITCH_SHIFT: u32 = 2;

/// Fence registers of the 965 family.
pub const FENCE_COUNT: usize = 16;

/// A 64-bit fence register: bits 63:44 last page, 31:12 first page, 11:2 pitch in 128-byte units
/// less one, bit 1 Y-major walk, bit 0 valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fence(pub u64);

impl Fence {
    /// A valid fence over `start..=last_page` (page addresses) with `pitch` bytes a row.
    pub const fn new(start: u32, last_page: u32, pitch: u32, tiling: Tiling) -> Self {
        let y = matches!(tiling, Tiling::Y) as u64;
        let units = ((pitch / 128).wrapping_sub(1) & 0x3ff) as u64;
        Fence(
            ((last_page & 0xffff_f000) as u64) << 32
                | (start & 0xffff_f000) as u64
                | units << 2
                | y << 1
                | 1,
        )
    }

    /// Whether the fence is in force.
    pub const fn is_valid(self) -> bool {
        self.0 & 1 != 0
    }

    /// First byte of the range.
    pub const fn start(self) -> u32 {
        self.0 as u32 & 0xffff_f000
    }

    /// Address of the last page of the range.
    pub const fn last_page(self) -> u32 {
        (self.0 >> 32) as u32 & 0xffff_f000
    }

    /// Bytes of a row of the surface.
    pub const fn pitch(self) -> u32 {
        (((self.0 >> 2) as u32 & 0x3ff) + 1) * 128
    }

    /// The walk.
    pub const fn tiling(self) -> Tiling {
        if self.0 & 2 != 0 {
            Tiling::Y
        } else {
            Tiling::X
        }
    }

    /// Whether the aperture offset lies in the range.
    pub const fn covers(self, offset: u32) -> bool {
        self.is_valid() && self.start() <= offset && offset & 0xffff_f000 <= self.last_page()
    }

    /// Bytes of a row where the pitch begins at another bit: that of Sandy Bridge has twelve bits from bit 32 on
    /// (i915 gt/intel_ggtt_fencing.c `i965_write_fence_reg`).
    pub const fn pitch_at(self, shift: u32) -> u32 {
        if shift == PITCH_SHIFT {
            return self.pitch();
        }
        (((self.0 >> shift) as u32 & 0xfff) + 1) * 128
    }

    /// The byte of the tiled surface that the linear aperture offset stands for, as an aperture
    /// offset. `offset` must be covered.
    pub const fn detile(self, offset: u32) -> u32 {
        self.detile_by(offset, self.pitch())
    }

    /// The same with rows of `pitch` bytes.
    pub const fn detile_by(self, offset: u32, pitch: u32) -> u32 {
        let rel = offset.wrapping_sub(self.start());
        let tiled = crate::tiling::offset(self.tiling(), pitch, rel % pitch, rel / pitch);
        self.start().wrapping_add(tiled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_register_value() {
        // i915 i965_write_fence_reg for 1 MiB at 0x0040_0000, stride 2048, tiling Y:
        // upper 0x004ff000; lower start | (2048/128 - 1) << 2 | 2 | 1.
        let raw = 0x004f_f000_0040_003f;
        let f = Fence(raw);
        assert_eq!(Fence::new(0x0040_0000, 0x004f_f000, 2048, Tiling::Y), f);
        assert_eq!(
            (f.start(), f.last_page(), f.pitch()),
            (0x40_0000, 0x4f_f000, 2048)
        );
        assert_eq!(f.tiling(), Tiling::Y);
        assert!(f.covers(0x40_0000) && f.covers(0x4f_ffff));
        assert!(!f.covers(0x3f_ffff) && !f.covers(0x50_0000));
    }

    /// i915 `i965_write_fence_reg` of generation 6: the same range and stride, 2048/128 - 1 from bit 32 on.
    #[test]
    fn the_pitch_may_stand_in_the_upper_half() {
        let f = Fence(0x004f_f00f_0040_0003);
        assert_eq!(f.pitch_at(32), 2048);
        assert_eq!((f.start(), f.last_page()), (0x40_0000, 0x4f_f000));
        assert_eq!(f.detile_by(0x40_0000 + 2048, f.pitch_at(32)), 0x40_0010);
        assert_eq!(Fence(0x004f_f000_0040_003f).pitch_at(PITCH_SHIFT), 2048);
    }

    #[test]
    fn second_row_of_an_x_tile_is_512_bytes_on() {
        let f = Fence::new(0, 0xf000, 1024, Tiling::X);
        assert_eq!(f.detile(1024), 512);
        assert_eq!(f.detile(512), 4096);
    }
}
