//! The depth buffer: 3DSTATE_DEPTH_BUFFER resolved, and its depth values.
//!
//! PRM: volume 2 (3DSTATE_DEPTH_BUFFER; fields from genxml), volume 4 5.10.6.8 (depth payload).
//! Not modelled: hierarchical depth, software tiled rendering modes.

use super::mip::{Arrangement, Spec, layout};
use super::state::{SurfaceError, check_tiling, kind_of, tiling_of};
use super::{Geometry, SurfaceKind, minify};
use mem::{BitSixSwizzle, Fault, GpuAddr, Memory, Tiling};
use regs::gen40::{self as regs_table, values};

/// Format of a depth buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DepthFormat {
    /// Float depth in dword 0, stencil in bits 7:0 of dword 1.
    D32FloatS8X24,
    /// Float depth.
    D32Float,
    /// UNORM depth in bits 23:0, stencil in 31:24.
    D24UnormS8,
    /// UNORM depth in bits 23:0.
    D24UnormX8,
    /// UNORM depth.
    D16Unorm,
}

impl DepthFormat {
    /// Bytes of a pixel.
    #[inline]
    pub const fn bytes(self) -> u32 {
        match self {
            DepthFormat::D32FloatS8X24 => 8,
            DepthFormat::D16Unorm => 2,
            _ => 4,
        }
    }

    /// Whether pixels carry stencil.
    #[inline]
    pub const fn has_stencil(self) -> bool {
        matches!(self, DepthFormat::D32FloatS8X24 | DepthFormat::D24UnormS8)
    }

    /// The depth field of a window depth: UNORM formats clamp to 0..=1 and round to nearest,
    /// float formats keep the bits.
    #[inline]
    pub fn encode(self, z: f32) -> u32 {
        match self {
            DepthFormat::D32FloatS8X24 | DepthFormat::D32Float => z.to_bits(),
            DepthFormat::D24UnormS8 | DepthFormat::D24UnormX8 => num::f32_to_unorm(z, 24),
            DepthFormat::D16Unorm => num::f32_to_unorm(z, 16),
        }
    }

    /// The depth of a field.
    #[inline]
    pub fn decode(self, field: u32) -> f32 {
        match self {
            DepthFormat::D32FloatS8X24 | DepthFormat::D32Float => f32::from_bits(field),
            DepthFormat::D24UnormS8 | DepthFormat::D24UnormX8 => num::unorm_to_f32(field, 24),
            DepthFormat::D16Unorm => num::unorm_to_f32(field, 16),
        }
    }

    /// Splits a pixel's raw bits into depth field and stencil.
    #[inline]
    pub const fn split(self, raw: u64) -> (u32, u8) {
        match self {
            DepthFormat::D32FloatS8X24 => (raw as u32, (raw >> 32) as u8),
            DepthFormat::D24UnormS8 => (raw as u32 & 0xff_ffff, (raw >> 24) as u8),
            DepthFormat::D24UnormX8 => (raw as u32 & 0xff_ffff, 0),
            DepthFormat::D32Float | DepthFormat::D16Unorm => (raw as u32, 0),
        }
    }

    /// A pixel's raw bits with depth field and stencil put in; unused bits of `old` stay.
    #[inline]
    pub const fn join(self, old: u64, depth: u32, stencil: u8) -> u64 {
        match self {
            DepthFormat::D32FloatS8X24 => {
                old & !0xff_ffff_ffff | depth as u64 | (stencil as u64) << 32
            }
            DepthFormat::D24UnormS8 => (depth & 0xff_ffff) as u64 | (stencil as u64) << 24,
            DepthFormat::D24UnormX8 => old & 0xff00_0000 | (depth & 0xff_ffff) as u64,
            DepthFormat::D32Float | DepthFormat::D16Unorm => depth as u64,
        }
    }
}

/// The depth buffer as 3DSTATE_DEPTH_BUFFER describes it.
#[derive(Clone, Debug)]
pub struct DepthBuffer {
    /// Type; `Null` when there is no depth buffer: tests pass, writes go nowhere.
    pub kind: SurfaceKind,
    /// Format of pixels.
    pub format: DepthFormat,
    /// Width of level 0.
    pub width: u32,
    /// Height of level 0.
    pub height: u32,
    /// Slices of level 0.
    pub depth: u32,
    /// Level that is rendered to.
    pub lod: u32,
    /// First slice.
    pub min_array_element: u32,
    /// Slices of a volume that can be rendered to.
    pub view_extent: u32,
    /// The drawing rectangle's origin is not added to coordinates.
    pub coordinate_offset_disable: bool,
    /// Where pixels lie.
    pub geometry: Geometry,
}

impl DepthBuffer {
    /// Resolves the command's dwords (header included), with the memory's bit-6 swizzle.
    pub fn load(mem: &Memory, command: &[u32]) -> Result<Self, SurfaceError> {
        let mut d = DepthBuffer::resolve(command)?;
        d.geometry.swizzle = mem.swizzle(d.geometry.tiling);
        Ok(d)
    }

    /// Resolves the command's dwords (header included) without swizzle.
    pub fn resolve(command: &[u32]) -> Result<Self, SurfaceError> {
        let c = regs_table::State3dDepthBuffer::from_dwords(command);
        let kind = kind_of(c.surface_type())?;
        if kind == SurfaceKind::Buffer {
            return Err(SurfaceError::DepthType(c.surface_type()));
        }
        let format = match DepthFormat::from_field(c.surface_format()) {
            Err(_) if kind == SurfaceKind::Null => DepthFormat::D32Float,
            other => other?,
        };
        let (width, height) = (c.width() + 1, c.height() + 1);
        let depth = if kind == SurfaceKind::Cube {
            6
        } else {
            c.depth() + 1
        };
        let arrangement = match kind {
            SurfaceKind::ThreeD | SurfaceKind::Cube => Arrangement::Volume,
            _ if c.mip_map_layout_mode() == values::miplayout::MIPLAYOUT_RIGHT => {
                Arrangement::Right
            }
            _ => Arrangement::Below,
        };
        let levels = layout(&Spec {
            arrangement,
            width,
            height,
            depth,
            depth_shrinks: kind == SurfaceKind::ThreeD,
            block: (1, 1),
            compressed: false,
        });
        let d = DepthBuffer {
            kind,
            format,
            width,
            height,
            depth,
            lod: c.lod(),
            min_array_element: c.minimum_array_element(),
            view_extent: c.render_target_view_extent() + 1,
            coordinate_offset_disable: c.depth_buffer_coordinate_offset_disable(),
            geometry: Geometry {
                base: GpuAddr(c.surface_base_address()),
                pitch: c.surface_pitch() + 1,
                tiling: tiling_of(c.tiled_surface(), c.tile_walk()),
                swizzle: BitSixSwizzle::None,
                bytes: format.bytes(),
                block_shift: (0, 0),
                line_stride: 0,
                line_offset: 0,
                buffer: false,
                levels,
            },
        };
        d.check()?;
        Ok(d)
    }

    fn check(&self) -> Result<(), SurfaceError> {
        if self.kind == SurfaceKind::Null {
            return Ok(());
        }
        let g = &self.geometry;
        match g.tiling {
            Tiling::X => return Err(SurfaceError::DepthTileWalk),
            Tiling::Linear if !g.base.0.is_multiple_of(64) => {
                return Err(SurfaceError::MisalignedBase {
                    base: g.base,
                    need: 64,
                });
            }
            _ => {}
        }
        check_tiling(g)?;
        let need = self.width.wrapping_mul(g.bytes);
        if need > g.pitch {
            return Err(SurfaceError::PitchTooSmall {
                pitch: g.pitch,
                width: self.width,
                format: "the depth buffer",
                need,
            });
        }
        Ok(())
    }

    /// Size of the level that is rendered to.
    #[inline]
    pub fn extent(&self) -> (u32, u32) {
        (minify(self.width, self.lod), minify(self.height, self.lod))
    }

    /// The slice of memory for a render target array index; see
    /// [`Surface::target_slice`](super::Surface::target_slice).
    #[inline]
    pub fn target_slice(&self, index: u32) -> u32 {
        let extent = match self.kind {
            SurfaceKind::ThreeD => self.view_extent,
            SurfaceKind::Cube => 6,
            _ => self.depth,
        };
        let index = if index < extent { index } else { 0 };
        index.wrapping_add(self.min_array_element)
    }

    /// Raw bits of the pixel at `addr`.
    #[inline]
    pub fn read(&self, mem: &Memory, addr: GpuAddr) -> Result<u64, Fault> {
        match self.format.bytes() {
            2 => Ok(mem.read_u16(addr)? as u64),
            4 => Ok(mem.read_u32(addr)? as u64),
            _ => mem.read_u64(addr),
        }
    }

    /// Writes the raw bits of the pixel at `addr`.
    #[inline]
    pub fn write(&self, mem: &mut Memory, addr: GpuAddr, raw: u64) -> Result<(), Fault> {
        match self.format.bytes() {
            2 => mem.write_u16(addr, raw as u16),
            4 => mem.write_u32(addr, raw as u32),
            _ => mem.write_u64(addr, raw),
        }
    }
}
