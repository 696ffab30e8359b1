//! The depth buffer: 3DSTATE_DEPTH_BUFFER resolved, and its depth values.
//!
//! PRM: volume 2 (3DSTATE_DEPTH_BUFFER), volume 4 5.10.6.8 (depth payload).
//! Not modelled: software tiled rendering modes.

use super::desc::StencilDesc;
use super::hierarchical::HierBuffer;
use super::mip::{Align, Arrangement, Level, Spec, layout};
use super::range::Range;
use super::state::{SurfaceError, check_tiling};
use super::{DepthDesc, Geometry, SurfaceKind, minify, samples};
use mem::tiling::{self, Tiling};
use mem::{BitSixSwizzle, Fault, GpuAddr, Memory};

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
    /// Samples of a pixel, which lie interleaved: 1, 4 or 8.
    pub samples: u32,
    /// Depth may be written.
    pub depth_write: bool,
    /// Stencil may be written.
    pub stencil_write: bool,
    /// There is stencil alone: drivers describe a depth buffer whose rows have no room (Mesa isl_emit_depth_stencil.c), so that
    /// depth is neither read nor written.
    pub depthless: bool,
    /// The buffer of stencil, where it is not beside depth.
    pub stencil: Option<StencilBuffer>,
    /// The hierarchical buffer beside it.
    pub hierarchical: Option<HierBuffer>,
}

/// A buffer of stencil alone, in W tiles (Mesa 22.3.6 isl_emit_depth_stencil.c).
///
/// Where hardware knows one level of it, the address is that of the level, and slices are as far apart as those of level 0 would be
/// (isl.c `isl_calc_phys_total_extent_el_gfx6_stencil_hiz`). Otherwise levels lie as those of depth do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StencilBuffer {
    base: GpuAddr,
    pitch: u32,
    /// The level's first place.
    left: u32,
    top: u32,
    slice_rows: u32,
    samples: u32,
}

/// Rows that the height of a slice of a stencil buffer is a multiple of (isl_gfx6.c).
const STENCIL_ALIGN: u32 = 2;

impl StencilBuffer {
    /// The buffer beside a level of a depth buffer with so many rows of samples in a slice of level 0.
    fn new(desc: &StencilDesc, (samples, rows): (u32, u32), level: Option<&Level>) -> Self {
        let (left, top, slice_rows) = match level {
            Some(level) => (level.x, level.y, level.step_y),
            None => (0, 0, rows.next_multiple_of(STENCIL_ALIGN)),
        };
        StencilBuffer {
            base: desc.base,
            pitch: desc.pitch,
            left,
            top,
            slice_rows,
            samples,
        }
    }

    /// Row of the whole buffer.
    #[inline]
    fn row(&self, y: u32, slice: u32) -> u32 {
        let top = self.top.wrapping_add(slice.wrapping_mul(self.slice_rows));
        top.wrapping_add(y)
    }

    /// Address of the stencil of a sample of pixel (`x`, `y`).
    #[inline]
    pub fn address(&self, x: u32, y: u32, slice: u32, sample: u32) -> GpuAddr {
        let (x, y) = samples::place(self.samples, x, y, sample);
        let (x, y) = (self.left.wrapping_add(x), self.row(y, slice));
        self.base.offset(tiling::w_offset(self.pitch, x, y))
    }

    /// Address of the stencil of the square of four by four pixels at (`x`, `y`): sixteen bytes. `None` where they do not lie
    /// one behind the other, or in two pages.
    #[inline]
    pub fn square(&self, x: u32, y: u32, slice: u32) -> Option<GpuAddr> {
        let (x, row) = (self.left.wrapping_add(x), self.row(y, slice));
        if self.samples > 1 || (x | row) & 3 != 0 || !self.base.0.is_multiple_of(16) {
            return None;
        }
        Some(self.base.offset(tiling::w_offset(self.pitch, x, row)))
    }

    /// The addresses of all slices up to the `last`, which has so many rows.
    #[must_use]
    pub fn range(&self, rows: u64, last: u32) -> Range {
        let rows = rows + u64::from(self.top) + u64::from(last) * u64::from(self.slice_rows);
        // The pitch counts two rows as one.
        let bytes = rows.div_ceil(64).saturating_mul(32);
        Range {
            base: self.base,
            bytes: bytes.saturating_mul(self.pitch.into()),
        }
    }
}

impl DepthBuffer {
    /// Resolves a depth buffer, with the memory's bit-6 swizzle.
    pub fn new(mem: &Memory, desc: &DepthDesc) -> Result<Self, SurfaceError> {
        let mut d = DepthBuffer::resolve(desc)?;
        d.geometry.swizzle = mem.swizzle(d.geometry.tiling);
        Ok(d)
    }

    /// Resolves a depth buffer without swizzle.
    pub fn resolve(c: &DepthDesc) -> Result<Self, SurfaceError> {
        let kind = c.kind.map_err(SurfaceError::ReservedType)?;
        if kind == SurfaceKind::Buffer {
            return Err(SurfaceError::DepthType(kind as u32));
        }
        let format = match c.format {
            Err(_) if kind == SurfaceKind::Null => DepthFormat::D32Float,
            other => other.map_err(SurfaceError::ReservedDepthFormat)?,
        };
        let (width, height) = (c.width, c.height);
        let depth = if kind == SurfaceKind::Cube {
            6
        } else {
            c.depth
        };
        let arrangement = match kind {
            SurfaceKind::ThreeD => Arrangement::Volume,
            SurfaceKind::Cube if !c.faces_as_slices => Arrangement::Volume,
            _ if c.levels_right => Arrangement::Right,
            _ => Arrangement::Below,
        };
        let (placed_width, placed_height) = samples::extent(c.samples, width, height);
        let places = |align: Align| {
            layout(&Spec {
                arrangement,
                width: placed_width,
                height: placed_height,
                depth,
                depth_shrinks: kind == SurfaceKind::ThreeD,
                block: (1, 1),
                compressed: false,
                align,
                nearer: if align.nearer {
                    samples::nearer(c.samples, height)
                } else {
                    0
                },
            })
        };
        let mut levels = places(c.align);
        // The level that is rendered to, of what lies beside.
        let beside = |align: Option<Align>| {
            let levels = places(align?);
            levels.get(c.lod as usize).copied()
        };
        for level in &mut levels {
            level.x = level.x.wrapping_add_signed(c.offset.0);
            level.y = level.y.wrapping_add_signed(c.offset.1);
        }
        let bytes = placed_width.wrapping_mul(format.bytes());
        let d = DepthBuffer {
            kind,
            format,
            width,
            height,
            depth,
            lod: c.lod,
            min_array_element: c.min_array_element,
            view_extent: c.view_extent,
            coordinate_offset_disable: c.coordinate_offset_disable,
            geometry: Geometry {
                base: c.base,
                pitch: c.pitch,
                tiling: c.tiling,
                swizzle: BitSixSwizzle::None,
                bytes: format.bytes(),
                block_shift: (0, 0),
                line_stride: 0,
                line_offset: 0,
                by_samples: false,
                buffer: false,
                levels,
            },
            samples: c.samples.max(1),
            depth_write: c.depth_write,
            stencil_write: c.stencil_write,
            depthless: c.stencil.is_some() && c.pitch < bytes,
            stencil: c.stencil.map(|desc| {
                let level = beside(desc.levels);
                StencilBuffer::new(&desc, (c.samples, placed_height), level.as_ref())
            }),
            hierarchical: c.hierarchical.map(|desc| {
                let level = beside(desc.levels);
                HierBuffer::new(&desc, placed_height, level.as_ref())
            }),
        };
        d.check()?;
        Ok(d)
    }

    fn check(&self) -> Result<(), SurfaceError> {
        if self.kind == SurfaceKind::Null || self.depthless {
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
        let need = samples::extent(self.samples, self.width, self.height)
            .0
            .wrapping_mul(g.bytes);
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

    /// Whether pixels have stencil, beside depth or in a buffer of its own.
    #[inline]
    pub fn has_stencil(&self) -> bool {
        self.stencil.is_some() || self.format.has_stencil()
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
