//! Resolving SURFACE_STATE, with an error for each rule that a state can break.
//!
//! PRM: volume 4 4.7.2. Not modelled: rules whose breach the hardware leaves undefined but
//! harmless, such as must-be-zero bits.

use super::depth::DepthFormat;
use super::format::Codec;
use super::mip::{Arrangement, Spec, layout};
use super::{Capability, Format, Geometry, Surface, SurfaceKind};
use crate::UnitFault;
use mem::{BitSixSwizzle, GpuAddr, Memory, Tiling};
use regs::gen40::{self as regs_table, values};

/// A state that describes no usable surface.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SurfaceError {
    /// Types 5 and 6.
    #[error("surface type {0} is reserved")]
    ReservedType(u32),
    /// Not in the table.
    #[error("surface format {0:#05x} does not exist")]
    UnknownFormat(u32),
    /// The table lacks the capability.
    #[error("surface format {name} has no capability {capability:?}")]
    MissingCapability {
        /// Format.
        name: &'static str,
        /// What it was to be used for.
        capability: Capability,
    },
    /// Depth format 4, 6 or 7.
    #[error("depth buffer format {0} is reserved")]
    ReservedDepthFormat(u32),
    /// A type that a depth buffer cannot have.
    #[error("a depth buffer cannot be of surface type {0}")]
    DepthType(u32),
    /// A depth buffer in X-major tiles.
    #[error("a depth buffer cannot be X-tiled")]
    DepthTileWalk,
    /// Buffers are linear.
    #[error("a buffer surface is marked as tiled")]
    TiledBuffer,
    /// Tiled surfaces start at a page; linear render targets at an element.
    #[error("base {base} is not aligned to {need} bytes")]
    MisalignedBase {
        /// Base address.
        base: GpuAddr,
        /// Alignment.
        need: u32,
    },
    /// A tiled pitch is a whole number of tiles; a linear target's of elements.
    #[error("pitch {pitch} is not a multiple of {need} bytes")]
    MisalignedPitch {
        /// Bytes of a row.
        pitch: u32,
        /// Alignment.
        need: u32,
    },
    /// A row does not fit the pitch.
    #[error("pitch {pitch} is too small for {width} texels of {format}: {need} bytes")]
    PitchTooSmall {
        /// Bytes of a row.
        pitch: u32,
        /// Texels of a row.
        width: u32,
        /// Format.
        format: &'static str,
        /// Bytes that a row needs.
        need: u32,
    },
    /// 128-bit render targets cannot be Y-tiled.
    #[error("render target of 128 bits an element ({0}) in Y tiles")]
    WideYTiled(&'static str),
    /// Targets whose pixels share chroma have whole pairs, one level, and no channel masks.
    #[error("{0} render target of odd width, with a level or with write disables")]
    YcrcbTarget(&'static str),
    /// Arrays have 512 elements, cubes none; of a buffer's size seven bits are in Depth.
    #[error("depth field {field} is more than {most}, all that surfaces of type {kind} have")]
    DepthRange {
        /// Surface type.
        kind: u32,
        /// What stood there.
        field: u32,
        /// The end of the range.
        most: u32,
    },
    /// Cubes are square.
    #[error("cube map of {width}x{height} texels")]
    CubeNotSquare {
        /// Texels across.
        width: u32,
        /// Texels down.
        height: u32,
    },
}

impl SurfaceError {
    /// The fault that `unit` reports for the state at `addr`.
    pub fn at(self, unit: &'static str, addr: GpuAddr) -> UnitFault {
        UnitFault::State {
            unit,
            addr,
            what: self.to_string(),
        }
    }
}

/// Dwords of SURFACE_STATE.
pub const DWORDS: usize = regs_table::SurfaceState::LEN;

pub(super) fn kind_of(raw: u32) -> Result<SurfaceKind, SurfaceError> {
    use values::surftype as t;
    Ok(match raw {
        t::SURFTYPE_1D => SurfaceKind::OneD,
        t::SURFTYPE_2D => SurfaceKind::TwoD,
        t::SURFTYPE_3D => SurfaceKind::ThreeD,
        t::SURFTYPE_CUBE => SurfaceKind::Cube,
        t::SURFTYPE_BUFFER => SurfaceKind::Buffer,
        t::SURFTYPE_NULL => SurfaceKind::Null,
        raw => return Err(SurfaceError::ReservedType(raw)),
    })
}

pub(super) const fn tiling_of(tiled: bool, walk: u32) -> Tiling {
    match (tiled, walk) {
        (false, _) => Tiling::Linear,
        (true, 0) => Tiling::X,
        (true, _) => Tiling::Y,
    }
}

/// What a surface is resolved for: decides which rules are checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// The sampler reads texels.
    Sampler,
    /// The render cache writes pixels.
    RenderTarget,
    /// Messages that move bytes and ignore the format (OWords, DWords, media blocks).
    Raw,
}

/// A format for surfaces whose own is ignored: one byte a texel.
const RAW_FORMAT: u32 = values::surface_format::R8_UINT;

impl Surface {
    /// Reads SURFACE_STATE at `addr` and resolves it for a use, with the memory's bit-6 swizzle.
    pub fn load(
        mem: &Memory,
        addr: GpuAddr,
        unit: &'static str,
        usage: Use,
    ) -> Result<Surface, UnitFault> {
        let raw: regs_table::SurfaceState = mem.read_struct(addr)?;
        let mut surface = Surface::resolve(raw.dwords(), usage).map_err(|e| e.at(unit, addr))?;
        surface.geometry.swizzle = mem.swizzle(surface.geometry.tiling);
        Ok(surface)
    }

    /// Resolves state dwords (missing ones are 0) without swizzle.
    pub fn resolve(dwords: &[u32], usage: Use) -> Result<Surface, SurfaceError> {
        let s = regs_table::SurfaceState::from_dwords(dwords);
        let kind = kind_of(s.surface_type())?;
        let format = match Format::lookup(s.surface_format()) {
            Some(f) if usage != Use::Raw => f,
            _ if usage == Use::Raw || kind == SurfaceKind::Null => {
                Format::lookup(RAW_FORMAT).ok_or(SurfaceError::UnknownFormat(RAW_FORMAT))?
            }
            _ => return Err(SurfaceError::UnknownFormat(s.surface_format())),
        };
        check_depth(kind, &s)?;
        let (width, height, depth) = match kind {
            // Entries less one: bits 6:0 in Width, 19:7 in Height, 26:20 in Depth.
            SurfaceKind::Buffer => {
                let entries = (s.width() & 0x7f) | (s.height() << 7) | (s.depth() << 20);
                (entries + 1, 1, 1)
            }
            SurfaceKind::Cube => (s.width() + 1, s.height() + 1, 6),
            SurfaceKind::OneD => (s.width() + 1, 1, s.depth() + 1),
            _ => (s.width() + 1, s.height() + 1, s.depth() + 1),
        };
        let block = (format.block.0 as u32, format.block.1 as u32);
        let arrangement = match kind {
            SurfaceKind::ThreeD | SurfaceKind::Cube => Arrangement::Volume,
            SurfaceKind::TwoD if s.mip_map_layout_mode() == values::miplayout::MIPLAYOUT_RIGHT => {
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
            block,
            compressed: format.is_compressed(),
        });
        let disables = s.color_buffer_component_write_disables();
        let surface = Surface {
            kind,
            format,
            width,
            height,
            depth,
            geometry: Geometry {
                base: GpuAddr(s.surface_base_address()),
                pitch: s.surface_pitch() + 1,
                tiling: tiling_of(s.tiled_surface(), s.tile_walk()),
                swizzle: BitSixSwizzle::None,
                bytes: format.bytes as u32,
                block_shift: (block.0.trailing_zeros(), block.1.trailing_zeros()),
                line_stride: s.vertical_line_stride() as u32,
                line_offset: (s.vertical_line_stride() && s.vertical_line_stride_offset()) as u32,
                buffer: kind == SurfaceKind::Buffer,
                levels,
            },
            mip_count: s.mip_count_lod() + 1,
            render_lod: s.mip_count_lod(),
            min_lod: s.surface_min_lod(),
            min_array_element: s.minimum_array_element(),
            view_extent: s.render_target_view_extent() + 1,
            cube_faces: s.dwords()[0] & 0x3f,
            blend_enable: s.color_blend_enable(),
            // Disables are A R G B from bit 3 down; ours are R G B A from bit 0 up.
            write_channels: !(disables >> 2 & 1
                | (disables >> 1 & 1) << 1
                | (disables & 1) << 2
                | disables & 8)
                & 15,
            return_s1_14: s.data_return_format() != 0,
            render_cache_read_write: s.render_cache_read_write_mode() != 0,
            media_boundary: s.media_boundary_pixel_mode(),
        };
        surface.check(usage)?;
        Ok(surface)
    }

    fn check(&self, usage: Use) -> Result<(), SurfaceError> {
        let g = &self.geometry;
        match self.kind {
            SurfaceKind::Null => return Ok(()),
            SurfaceKind::Buffer if g.tiling != Tiling::Linear => {
                return Err(SurfaceError::TiledBuffer);
            }
            SurfaceKind::Cube if self.width != self.height => {
                return Err(SurfaceError::CubeNotSquare {
                    width: self.width,
                    height: self.height,
                });
            }
            _ => {}
        }
        check_tiling(g)?;
        if usage == Use::Raw {
            return Ok(());
        }
        let name = self.format.name;
        let capability = match usage {
            Use::RenderTarget => Capability::RenderTarget,
            _ => Capability::Sampling,
        };
        if !self.format.has(capability) {
            return Err(SurfaceError::MissingCapability { name, capability });
        }
        let need = self
            .width
            .div_ceil(1 << g.block_shift.0)
            .wrapping_mul(g.bytes);
        if self.kind != SurfaceKind::Buffer && need > g.pitch {
            return Err(SurfaceError::PitchTooSmall {
                pitch: g.pitch,
                width: self.width,
                format: name,
                need,
            });
        }
        if usage == Use::RenderTarget {
            if g.tiling == Tiling::Y && g.bytes == 16 {
                return Err(SurfaceError::WideYTiled(name));
            }
            // For YCRCB the pair of elements that must be whole.
            let need = g.bytes.max(1);
            let pairs = matches!(self.format.codec, Codec::Ycrcb { .. });
            if pairs && (self.width & 1 == 1 || self.render_lod != 0 || self.write_channels != 15) {
                return Err(SurfaceError::YcrcbTarget(name));
            }
            if g.tiling == Tiling::Linear {
                if !g.base.0.is_multiple_of(need) {
                    return Err(SurfaceError::MisalignedBase { base: g.base, need });
                }
                if self.kind != SurfaceKind::Buffer && !g.pitch.is_multiple_of(need) {
                    return Err(SurfaceError::MisalignedPitch {
                        pitch: g.pitch,
                        need,
                    });
                }
            }
        }
        Ok(())
    }
}

/// The ranges of the Depth field by surface type; a volume has all eleven bits.
fn check_depth(kind: SurfaceKind, s: &regs_table::SurfaceState) -> Result<(), SurfaceError> {
    let most = match kind {
        SurfaceKind::OneD | SurfaceKind::TwoD => 511,
        SurfaceKind::Buffer => 127,
        SurfaceKind::Cube => 0,
        SurfaceKind::ThreeD | SurfaceKind::Null => return Ok(()),
    };
    if s.depth() > most {
        return Err(SurfaceError::DepthRange {
            kind: s.surface_type(),
            field: s.depth(),
            most,
        });
    }
    Ok(())
}

/// The rules of tiled surfaces: base at a page, pitch whole tiles.
pub(super) fn check_tiling(g: &Geometry) -> Result<(), SurfaceError> {
    if g.tiling == Tiling::Linear {
        return Ok(());
    }
    if g.base.0 & 0xfff != 0 {
        return Err(SurfaceError::MisalignedBase {
            base: g.base,
            need: 4096,
        });
    }
    let need = g.tiling.tile_width();
    if !g.pitch.is_multiple_of(need) {
        return Err(SurfaceError::MisalignedPitch {
            pitch: g.pitch,
            need,
        });
    }
    Ok(())
}

impl DepthFormat {
    /// The format of the 3DSTATE_DEPTH_BUFFER field.
    pub fn from_field(raw: u32) -> Result<Self, SurfaceError> {
        use values::surface_format as f;
        Ok(match raw {
            f::D32_FLOAT_S8X24_UINT => DepthFormat::D32FloatS8X24,
            f::D32_FLOAT => DepthFormat::D32Float,
            f::D24_UNORM_S8_UINT => DepthFormat::D24UnormS8,
            f::D24_UNORM_X8_UINT => DepthFormat::D24UnormX8,
            f::D16_UNORM => DepthFormat::D16Unorm,
            raw => return Err(SurfaceError::ReservedDepthFormat(raw)),
        })
    }
}
