//! Structures and commands of surfaces, samplers and depth as plain state.
//!
//! genxml gen7; alignments, distances of slices and samples: Mesa 22.3.6 isl_gfx7.c, isl.c `isl_choose_array_pitch_span`,
//! `isl_calc_array_pitch_el_rows_gfx4_2d`, isl_surface_state.c; depth and stencil: isl_emit_depth_stencil.c; border colours:
//! crocus_state.c `crocus_upload_border_color`. Not modelled: rotated render targets, planes of U and V, append counters, the EWA
//! approximation and the quality of trilinear filters.

use mem::{Fault, GpuAddr, Memory, Tiling};
use regs::gen70 as table;
use regs::ids::CommandId;

use crate::intel::ff::state::PipelineState;
use crate::intel::shared::sampler::address::Mode;
use crate::intel::shared::sampler::lod::{LodControl, MipFilter};
use crate::intel::shared::sampler::state::{Filter, KeyUse, Sampler, SamplerDesc};
use crate::intel::surface::border::BorderColor;
use crate::intel::surface::desc::{Boundary, ControlDesc, StencilDesc};
use crate::intel::surface::format::{Formats, table as formats};
use crate::intel::surface::hierarchical::HierDesc;
use crate::intel::surface::mip::Align;
use crate::intel::surface::{DepthDesc, DepthFormat, Format, SurfaceDesc, SurfaceKind};

static ROWS: [Format; table::SURFACE_FORMATS.len()] = formats::rows(&table::SURFACE_FORMATS);
/// The formats of these parts.
pub static FORMATS: Formats = Formats::new(&ROWS);

/// Bytes without a format (Mesa isl.h ISL_FORMAT_RAW).
const RAW: u32 = 0x1ff;
/// A byte (isl.h ISL_FORMAT_R8_UINT).
const R8_UINT: u32 = 0x143;
/// Elements of an array have room for two levels and this many times the alignment down.
const GAP: u32 = 12;
/// Bytes of a tile's row in a control surface.
const TILE: u32 = 128;
/// Places that stand for a block of hierarchical depth and its neighbours: 16 by 8.
const HIERARCHICAL: Align = full(16, 8);
/// Stencil.
const STENCIL: Align = full(8, 8);
/// What is in Depth of an array, less one, at most.
const ELEMENTS: u32 = 2047;
/// Likewise of a cube: six slices each.
const CUBES: u32 = (ELEMENTS + 1) / 6 - 1;
/// Likewise of a buffer of typed entries, and of one of bytes or structures.
const ENTRIES: (u32, u32) = (63, 1023);

const fn full(columns: u32, rows: u32) -> Align {
    Align {
        columns,
        rows,
        gap: Some(GAP),
        nearer: false,
    }
}

/// The type, and whether entries of a buffer are structures.
fn kind(code: u32) -> (Result<SurfaceKind, u32>, bool) {
    let kind = match code {
        0 => SurfaceKind::OneD,
        1 => SurfaceKind::TwoD,
        2 => SurfaceKind::ThreeD,
        3 => SurfaceKind::Cube,
        4 => SurfaceKind::Buffer,
        5 => return (Ok(SurfaceKind::Structured), true),
        7 => SurfaceKind::Null,
        code => return (Err(code), false),
    };
    (Ok(kind), false)
}

const fn samples(code: u32) -> u32 {
    match code {
        2 => 4,
        3 => 8,
        _ => 1,
    }
}

/// RENDER_SURFACE_STATE; missing dwords are zero.
pub fn surface(words: &[u32]) -> SurfaceDesc {
    let s = table::SurfaceState::from_dwords(words);
    let (kind, structured) = kind(s.surface_type());
    let code = s.surface_format();
    // Without the bit there is one element.
    let alone = !s.surface_array() && kind != Ok(SurfaceKind::ThreeD);
    let raw = structured || code == RAW;
    SurfaceDesc {
        kind,
        // The size of such a buffer is asked for in bytes (Mesa SHADER_OPCODE_GET_BUFFER_SIZE).
        format: FORMATS.lookup(if code == RAW { R8_UINT } else { code }),
        format_code: code,
        base: GpuAddr::from(s.surface_base_address()),
        // Units of 4 pixels and 2 rows.
        offset: (s.x_offset() * 4, s.y_offset() * 2),
        width: s.width() + 1,
        height: s.height() + 1,
        depth: if alone { 1 } else { s.depth() + 1 },
        // Less one: bits 6:0 in Width, 20:7 in Height, 30:21 in Depth.
        entries: ((s.width() & 0x7f) | s.height() << 7 | (s.depth() & 0x3ff) << 21) + 1,
        depth_field: (
            s.depth(),
            match kind {
                Ok(SurfaceKind::Cube) => CUBES,
                Ok(SurfaceKind::Buffer | SurfaceKind::Structured) if raw => ENTRIES.1,
                Ok(SurfaceKind::Buffer) => ENTRIES.0,
                _ => ELEMENTS,
            },
        ),
        pitch: s.surface_pitch() + 1,
        tiling: match (s.tiled_surface(), s.tile_walk()) {
            (false, _) => Tiling::Linear,
            (true, 0) => Tiling::X,
            (true, _) => Tiling::Y,
        },
        levels_right: false,
        faces_as_slices: true,
        lod: s.mip_count_lod(),
        min_lod: s.surface_min_lod(),
        min_array_element: match kind {
            Ok(SurfaceKind::Buffer | SurfaceKind::Structured) => 0,
            _ => s.minimum_array_element(),
        },
        view_extent: s.render_target_view_extent() + 1,
        cube_faces: s.dwords()[0] & 0x3f,
        line_stride: s.vertical_line_stride(),
        line_offset: s.vertical_line_stride_offset(),
        // Blending and channels are the matter of BLEND_STATE.
        blend_enable: true,
        write_channels: 15,
        return_s1_14: false,
        render_cache_read_write: s.render_cache_read_write_mode() != 0,
        boundary: match s.media_boundary_pixel_mode() {
            2 => Boundary::Progressive,
            3 => Boundary::Interlaced,
            _ => Boundary::Normal,
        },
        samples: match kind {
            Ok(SurfaceKind::Buffer) => 1,
            _ => samples(s.number_of_multisamples()),
        },
        // MSFMT_MSS.
        sample_slices: s.multisampled_surface_storage_format() == 0,
        align: Align {
            columns: 4 << s.surface_horizontal_alignment(),
            rows: if s.surface_vertical_alignment() == 1 {
                4
            } else {
                2
            },
            // ARYSPC_LOD0 and ARYSPC_FULL.
            gap: (s.surface_array_spacing() == 0).then_some(GAP),
            nearer: false,
        },
        cube_array: true,
        array: s.surface_array(),
        structured,
        wide_y_tiles: true,
        control: s.mcs_enable().then(|| ControlDesc {
            base: GpuAddr::from(s.auxiliary_surface_base_address()),
            pitch: (s.auxiliary_surface_pitch() + 1) * TILE,
        }),
        clear: [
            s.red_clear_color() != 0,
            s.green_clear_color() != 0,
            s.blue_clear_color() != 0,
            s.alpha_clear_color() != 0,
        ],
        resource_min_lod: s.resource_min_lod(),
    }
}

const fn depth_format(code: u32) -> Result<DepthFormat, u32> {
    Ok(match code {
        1 => DepthFormat::D32Float,
        3 => DepthFormat::D24UnormX8,
        5 => DepthFormat::D16Unorm,
        code => return Err(code),
    })
}

/// 3DSTATE_DEPTH_BUFFER, header included; missing dwords are zero. It is in Y tiles, and stencil lies beside it.
pub fn depth_buffer(command: &[u32]) -> DepthDesc {
    let c = table::State3dDepthBuffer::from_dwords(command);
    let format = depth_format(c.surface_format());
    DepthDesc {
        kind: kind(c.surface_type()).0,
        format,
        base: GpuAddr::from(c.surface_base_address()),
        offset: (c.depth_coordinate_offset_x(), c.depth_coordinate_offset_y()),
        width: c.width() + 1,
        height: c.height() + 1,
        depth: c.depth() + 1,
        pitch: c.surface_pitch() + 1,
        tiling: Tiling::Y,
        levels_right: false,
        faces_as_slices: true,
        lod: c.lod(),
        min_array_element: c.minimum_array_element(),
        view_extent: c.render_target_view_extent() + 1,
        coordinate_offset_disable: false,
        samples: 1,
        align: match format {
            Ok(DepthFormat::D16Unorm) => full(8, 4),
            _ => full(4, 4),
        },
        depth_write: c.depth_write_enable(),
        stencil_write: c.stencil_write_enable(),
        stencil: None,
        hierarchical: None,
    }
}

/// The depth buffer of a draw: the commands of depth, stencil and samples together.
pub fn depth_of(state: &PipelineState) -> DepthDesc {
    let words = |id| state.kept.get(&id).map(Vec::as_slice).unwrap_or_default();
    let c = table::State3dDepthBuffer::from_dwords(&state.depth_buffer);
    let stencil = table::State3dStencilBuffer::from_dwords(words(CommandId::State3dStencilBuffer));
    let multisample = words(CommandId::State3dMultisample);
    let multisample = table::State3dMultisample::from_dwords(multisample);
    let hierarchical = words(CommandId::State3dHierDepthBuffer);
    let hierarchical = table::State3dHierDepthBuffer::from_dwords(hierarchical);
    // Drivers that have no stencil, or no hierarchical depth, leave the address 0 (isl_emit_depth_stencil.c).
    let base = stencil.surface_base_address();
    let beside = hierarchical.surface_base_address();
    DepthDesc {
        samples: samples(multisample.number_of_multisamples()),
        stencil: (base != 0).then(|| StencilDesc {
            base: GpuAddr::from(base),
            pitch: stencil.surface_pitch() + 1,
            levels: Some(STENCIL),
        }),
        hierarchical: (c.hierarchical_depth_buffer_enable() && beside != 0).then(|| HierDesc {
            base: GpuAddr::from(beside),
            pitch: hierarchical.surface_pitch() + 1,
            levels: Some(HIERARCHICAL),
        }),
        ..depth_buffer(&state.depth_buffer)
    }
}

fn filter(code: u32) -> Filter {
    match code {
        1 => Filter::Linear,
        2 => Filter::Anisotropic,
        6 => Filter::Mono,
        _ => Filter::Nearest,
    }
}

/// SAMPLER_STATE; missing dwords are zero.
pub fn sampler(words: &[u32]) -> SamplerDesc {
    let s = table::SamplerState::from_dwords(words);
    let key = s.chromakey_enable().then(|| KeyUse {
        // CAST: two bits.
        index: s.chromakey_index() as u8,
        replace: s.chromakey_mode() == 1,
    });
    SamplerDesc {
        sampler: Sampler {
            disabled: s.sampler_disable(),
            unnormalized: s.non_normalized_coordinate_enable(),
            min: filter(s.min_mode_filter()),
            mag: filter(s.mag_mode_filter()),
            modes: [
                Mode::from_bits(s.tcx_address_control_mode()),
                Mode::from_bits(s.tcy_address_control_mode()),
                Mode::from_bits(s.tcz_address_control_mode()),
            ],
            cube_override: s.cube_surface_control_mode() == 1,
            lod: LodControl {
                bias: s.texture_lod_bias(),
                min: s.min_lod(),
                max: s.max_lod(),
                base: s.base_mip_level(),
                filter: match s.mip_mode_filter() {
                    1 => MipFilter::Nearest,
                    3 => MipFilter::Linear,
                    _ => MipFilter::None,
                },
                preclamp: s.lod_preclamp_enable(),
                mip_count: 0.0,
                surface_min: 0.0,
            },
            shadow: s.shadow_function(),
            border: BorderColor::default(),
            max_anisotropy: (s.maximum_anisotropy() * 2 + 2) as f32,
            mono: [1, 1],
            key: None,
        },
        border: s.border_color_pointer(),
        border_bytes: s.texture_border_color_mode() == 1,
        key,
    }
}

/// Reads a SAMPLER_STATE of a table.
pub fn sampler_at(mem: &Memory, table: GpuAddr, number: u8) -> Result<SamplerDesc, Fault> {
    let at = table.offset(u32::from(number) * 16);
    let state: table::SamplerState = mem.read_struct(at)?;
    Ok(sampler(state.dwords()))
}

/// Reads a SAMPLER_BORDER_COLOR_STATE. Of integer formats the floats are the integers' bits.
pub fn border(mem: &Memory, at: GpuAddr) -> Result<BorderColor, Fault> {
    let s: table::SamplerBorderColorState = mem.read_struct(at)?;
    // CAST: fields of eight bits.
    let byte = |field: u32| num::unorm8_to_f32(field as u8);
    Ok(BorderColor {
        float: [
            s.border_color_float_red(),
            s.border_color_float_green(),
            s.border_color_float_blue(),
            s.border_color_float_alpha(),
        ],
        others: None,
        bytes: Some([
            byte(s.border_color_unorm_red()),
            byte(s.border_color_unorm_green()),
            byte(s.border_color_unorm_blue()),
            byte(s.border_color_unorm_alpha()),
        ]),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
