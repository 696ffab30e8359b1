//! The depth buffer: formats, addresses, and access by pairs of pixels.
//!
//! PRM: volume 2 (3DSTATE_DEPTH_BUFFER); volume 1 (tiling). A pair is two pixels of one subspan
//! side by side: in every tiling they are adjacent bytes of one page.
//!
//! Not modelled: software tiled rendering, hierarchical depth.

use mem::tiling::{self, Tiling};
use mem::{Fault, GpuAddr, Memory};

/// Surface Format of 3DSTATE_DEPTH_BUFFER.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DepthFormat {
    /// D32_FLOAT_S8X24_UINT: float, then a dword with stencil in its lowest byte.
    D32FloatS8X24,
    /// D32_FLOAT.
    D32Float,
    /// D24_UNORM_S8_UINT: stencil in bits 31:24.
    #[default]
    D24UnormS8,
    /// D24_UNORM_X8_UINT.
    D24UnormX8,
    /// D16_UNORM.
    D16Unorm,
}

impl DepthFormat {
    /// The format of a code (genxml gen4); `None` for reserved codes.
    pub const fn from_code(code: u32) -> Option<Self> {
        Some(match code {
            0 => DepthFormat::D32FloatS8X24,
            1 => DepthFormat::D32Float,
            2 => DepthFormat::D24UnormS8,
            3 => DepthFormat::D24UnormX8,
            5 => DepthFormat::D16Unorm,
            _ => return None,
        })
    }

    /// Bytes of a pixel.
    pub const fn bytes(self) -> u32 {
        match self {
            DepthFormat::D32FloatS8X24 => 8,
            DepthFormat::D32Float | DepthFormat::D24UnormS8 | DepthFormat::D24UnormX8 => 4,
            DepthFormat::D16Unorm => 2,
        }
    }

    /// Whether the format has stencil.
    pub const fn has_stencil(self) -> bool {
        matches!(self, DepthFormat::D32FloatS8X24 | DepthFormat::D24UnormS8)
    }

    /// Whether depth is a float.
    pub const fn is_float(self) -> bool {
        matches!(self, DepthFormat::D32FloatS8X24 | DepthFormat::D32Float)
    }

    /// A depth value in the format: an unsigned normalised integer or the float's bits.
    #[inline]
    pub fn encode(self, z: f32) -> u32 {
        let unorm = |max: f64| (f64::from(z.clamp(0.0, 1.0)) * max + 0.5) as u32;
        match self {
            DepthFormat::D32FloatS8X24 | DepthFormat::D32Float => z.to_bits(),
            // CAST: 0..=2^24 - 1; a NaN gives 0.
            DepthFormat::D24UnormS8 | DepthFormat::D24UnormX8 => unorm(16_777_215.0),
            DepthFormat::D16Unorm => unorm(65_535.0),
        }
    }

    /// Smallest step of depth near `z`: what a Global Depth Offset Constant of 1 adds.
    pub fn resolution(self, z: f32) -> f64 {
        match self {
            DepthFormat::D24UnormS8 | DepthFormat::D24UnormX8 => 2f64.powi(-24),
            DepthFormat::D16Unorm => 2f64.powi(-16),
            DepthFormat::D32FloatS8X24 | DepthFormat::D32Float => {
                let exponent = i32::from((z.abs().to_bits() >> 23) as u8);
                2f64.powi(exponent - 127 - 23)
            }
        }
    }
}

/// Depth and stencil of two pixels side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    /// Depth in the buffer's format.
    pub depth: [u32; 2],
    /// Stencil; zero when the format has none.
    pub stencil: [u8; 2],
}

/// 3DSTATE_DEPTH_BUFFER.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthBuffer {
    /// Not SURFTYPE_NULL.
    pub present: bool,
    /// Surface Base Address.
    pub base: u32,
    /// Bytes of a row.
    pub pitch: u32,
    /// Format.
    pub format: DepthFormat,
    /// Tiling; depth buffers are linear or Y-major on this device.
    pub tiling: Tiling,
    /// Columns of the level.
    pub width: u32,
    /// Rows of the level.
    pub height: u32,
    /// Where the level and slice start in the surface, in pixels.
    pub x_offset: u32,
    /// Where the level and slice start in the surface, in rows.
    pub y_offset: u32,
    /// Depth Buffer Coordinate Offset Disable: the drawing rectangle's origin is not added.
    pub coordinate_offset_disable: bool,
}

impl Default for DepthBuffer {
    fn default() -> Self {
        DepthBuffer {
            present: false,
            base: 0,
            pitch: 0,
            format: DepthFormat::default(),
            tiling: Tiling::Y,
            width: 0,
            height: 0,
            x_offset: 0,
            y_offset: 0,
            coordinate_offset_disable: false,
        }
    }
}

impl DepthBuffer {
    /// Address of a pixel; `None` outside the surface.
    #[inline]
    pub fn address(&self, mem: &Memory, x: u32, y: u32) -> Option<GpuAddr> {
        if x >= self.width || y >= self.height {
            return None;
        }
        let x = x
            .wrapping_add(self.x_offset)
            .wrapping_mul(self.format.bytes());
        let y = y.wrapping_add(self.y_offset);
        let at = self
            .base
            .wrapping_add(tiling::offset(self.tiling, self.pitch, x, y));
        Some(GpuAddr(mem.swizzle(self.tiling).apply(at)))
    }

    /// The pair whose left pixel is at `at`.
    #[inline]
    pub fn load(&self, mem: &Memory, at: GpuAddr) -> Result<Pair, Fault> {
        Ok(match self.format {
            DepthFormat::D24UnormS8 => {
                let raw = mem.read_u64(at)?;
                Pair {
                    depth: [raw as u32 & 0xff_ffff, (raw >> 32) as u32 & 0xff_ffff],
                    stencil: [(raw >> 24) as u8, (raw >> 56) as u8],
                }
            }
            DepthFormat::D24UnormX8 => {
                let raw = mem.read_u64(at)?;
                Pair {
                    depth: [raw as u32 & 0xff_ffff, (raw >> 32) as u32 & 0xff_ffff],
                    stencil: [0; 2],
                }
            }
            DepthFormat::D32Float => {
                let raw = mem.read_u64(at)?;
                Pair {
                    depth: [raw as u32, (raw >> 32) as u32],
                    stencil: [0; 2],
                }
            }
            DepthFormat::D16Unorm => {
                let raw = mem.read_u32(at)?;
                Pair {
                    depth: [raw & 0xffff, raw >> 16],
                    stencil: [0; 2],
                }
            }
            DepthFormat::D32FloatS8X24 => {
                let (a, b) = (mem.read_u64(at)?, mem.read_u64(at.offset(8))?);
                Pair {
                    depth: [a as u32, b as u32],
                    stencil: [(a >> 32) as u8, (b >> 32) as u8],
                }
            }
        })
    }

    /// Stores one pixel of a pair, `right` or left; padding bits become zero.
    #[inline]
    pub fn store(
        &self,
        mem: &mut Memory,
        at: GpuAddr,
        right: bool,
        depth: u32,
        stencil: u8,
    ) -> Result<(), Fault> {
        let at = at.offset(u32::from(right) * self.format.bytes());
        match self.format {
            DepthFormat::D24UnormS8 => {
                mem.write_u32(at, u32::from(stencil) << 24 | (depth & 0xff_ffff))
            }
            DepthFormat::D24UnormX8 => mem.write_u32(at, depth & 0xff_ffff),
            DepthFormat::D32Float => mem.write_u32(at, depth),
            DepthFormat::D16Unorm => mem.write_u16(at, depth as u16),
            DepthFormat::D32FloatS8X24 => {
                mem.write_u64(at, u64::from(stencil) << 32 | u64::from(depth))
            }
        }
    }
}
