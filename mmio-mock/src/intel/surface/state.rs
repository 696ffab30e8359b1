//! Resolving a described surface, with an error for each rule that it can break.
//!
//! PRM: volume 4 4.7.2. Not modelled: rules whose breach the hardware leaves undefined but
//! harmless, such as must-be-zero bits.

use super::control::Control;
use super::format::{Class, Codec, codes};
use super::mip::{Arrangement, Spec, layout};
use super::samples;
use super::{Capability, Format, Geometry, Surface, SurfaceDesc, SurfaceKind};
use crate::UnitFault;
use mem::{BitSixSwizzle, GpuAddr, Memory, Tiling};

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
    /// Several samples a pixel have 2D surfaces alone.
    #[error("a surface of type {0} has several samples a pixel")]
    MultisampledKind(u32),
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

/// What a surface is resolved for: decides which rules are checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// The sampler reads texels.
    Sampler,
    /// The render cache writes pixels.
    RenderTarget,
    /// Messages read and write texels by channel, in any tiling.
    Typed,
    /// Messages that move bytes and ignore the format (OWords, DWords, media blocks).
    Raw,
}

/// A format for surfaces whose own is ignored: one byte a texel.
const RAW_FORMAT: u32 = codes::R8_UINT;

impl Surface {
    /// Resolves a surface for a use, with the memory's bit-6 swizzle.
    pub fn new(mem: &Memory, s: &SurfaceDesc, usage: Use) -> Result<Surface, SurfaceError> {
        let mut surface = Surface::resolve(s, usage)?;
        surface.geometry.swizzle = mem.swizzle(surface.geometry.tiling);
        if let Some(control) = &mut surface.control {
            control.swizzle(mem);
        }
        Ok(surface)
    }

    /// Resolves a surface without swizzle.
    pub fn resolve(s: &SurfaceDesc, usage: Use) -> Result<Surface, SurfaceError> {
        let kind = s.kind.map_err(SurfaceError::ReservedType)?;
        let format = match s.format {
            Some(f) if usage != Use::Raw => f,
            _ if usage == Use::Raw || kind == SurfaceKind::Null => {
                Format::layout(RAW_FORMAT).ok_or(SurfaceError::UnknownFormat(RAW_FORMAT))?
            }
            _ => return Err(SurfaceError::UnknownFormat(s.format_code)),
        };
        let (field, most) = s.depth_field;
        if field > most {
            let kind = kind as u32;
            return Err(SurfaceError::DepthRange { kind, field, most });
        }
        let (width, height, depth) = match kind {
            SurfaceKind::Buffer => (s.entries, 1, 1),
            SurfaceKind::Cube if s.cube_array => (s.width, s.height, s.depth.saturating_mul(6)),
            SurfaceKind::Cube => (s.width, s.height, 6),
            SurfaceKind::OneD => (s.width, 1, s.depth),
            _ => (s.width, s.height, s.depth),
        };
        let block = (format.block.0 as u32, format.block.1 as u32);
        let arrangement = match kind {
            SurfaceKind::ThreeD => Arrangement::Volume,
            SurfaceKind::Cube if !s.faces_as_slices => Arrangement::Volume,
            SurfaceKind::TwoD | SurfaceKind::Cube if s.levels_right => Arrangement::Right,
            _ => Arrangement::Below,
        };
        if s.samples > 1 && kind != SurfaceKind::TwoD && kind != SurfaceKind::Null {
            return Err(SurfaceError::MultisampledKind(kind as u32));
        }
        let samples = s.samples.max(1);
        let interleaved = if s.sample_slices { 1 } else { samples };
        let (placed_width, placed_height) = samples::extent(interleaved, width, height);
        let mut levels = layout(&Spec {
            arrangement,
            width: placed_width,
            height: placed_height,
            depth,
            depth_shrinks: kind == SurfaceKind::ThreeD,
            block,
            compressed: format.is_compressed(),
            align: s.align,
            nearer: match usage {
                Use::RenderTarget | Use::Raw if s.align.nearer => {
                    samples::nearer(interleaved, height)
                }
                _ => 0,
            },
        });
        for level in &mut levels {
            level.x = level.x.wrapping_add(s.offset.0 / block.0.max(1));
            level.y = level.y.wrapping_add(s.offset.1 / block.1.max(1));
        }
        let surface = Surface {
            kind,
            format,
            width,
            height,
            depth,
            geometry: Geometry {
                base: s.base,
                pitch: s.pitch,
                tiling: s.tiling,
                swizzle: BitSixSwizzle::None,
                bytes: format.bytes as u32,
                block_shift: (block.0.trailing_zeros(), block.1.trailing_zeros()),
                line_stride: s.line_stride as u32,
                line_offset: (s.line_stride && s.line_offset) as u32,
                by_samples: false,
                buffer: kind == SurfaceKind::Buffer,
                levels,
            },
            samples,
            sample_slices: samples > 1 && s.sample_slices,
            control: None,
            clear: clear(format, s.clear),
            array: s.array,
            resource_min_lod: s.resource_min_lod,
            mip_count: s.lod + 1,
            render_lod: s.lod,
            min_lod: s.min_lod,
            min_array_element: s.min_array_element,
            view_extent: s.view_extent,
            cube_faces: s.cube_faces,
            blend_enable: s.blend_enable,
            write_channels: s.write_channels,
            return_s1_14: s.return_s1_14,
            render_cache_read_write: s.render_cache_read_write,
        };
        surface.check(usage)?;
        let g = &surface.geometry;
        if usage == Use::RenderTarget && g.tiling == Tiling::Y && g.bytes == 16 && !s.wide_y_tiles {
            return Err(SurfaceError::WideYTiled(format.name));
        }
        let control = s
            .control
            .and_then(|desc| Control::new(&desc, &surface, s.align.gap));
        Ok(Surface { control, ..surface })
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
            Use::RenderTarget | Use::Typed => Capability::RenderTarget,
            _ => Capability::Sampling,
        };
        if !self.format.has(capability) {
            return Err(SurfaceError::MissingCapability { name, capability });
        }
        let need = samples::extent(self.interleaved(), self.width, self.height)
            .0
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
            // For YCRCB the pair of elements that must be whole.
            let need = g.bytes.max(1);
            let pairs = matches!(self.format.codec, Codec::Ycrcb { .. });
            if pairs && (self.width & 1 == 1 || self.render_lod != 0 || self.write_channels != 15) {
                return Err(SurfaceError::YcrcbTarget(name));
            }
            if g.tiling == Tiling::Linear {
                if !g.base.0.is_multiple_of(need.into()) {
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

/// Register bits of the colour that cleared parts of a surface have.
fn clear(format: &Format, ones: [bool; 4]) -> [u32; 4] {
    let one = match format.class {
        Class::Float => 1f32.to_bits(),
        Class::Uint | Class::Sint => 1,
    };
    ones.map(|is_one| if is_one { one } else { 0 })
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
