//! SURFACE_STATE and 3DSTATE_DEPTH_BUFFER as plain descriptions.
//!
//! PRM: volume 4 4.7.2; volume 2 (3DSTATE_DEPTH_BUFFER; fields from genxml gen4).

use mem::{GpuAddr, Tiling};
use regs::gen40::{self as table, values};

use crate::intel::surface::desc::{Boundary, DepthDesc, SurfaceDesc};
use crate::intel::surface::format::{Formats, table as formats};
use crate::intel::surface::mip::Align;
use crate::intel::surface::{DepthFormat, Format, SurfaceKind};

static ROWS: [Format; table::SURFACE_FORMATS.len()] = formats::rows(&table::SURFACE_FORMATS);
/// The formats of 965.
pub static FORMATS: Formats = Formats::new(&ROWS);

fn kind(code: u32) -> Result<SurfaceKind, u32> {
    use values::surftype as t;
    Ok(match code {
        t::SURFTYPE_1D => SurfaceKind::OneD,
        t::SURFTYPE_2D => SurfaceKind::TwoD,
        t::SURFTYPE_3D => SurfaceKind::ThreeD,
        t::SURFTYPE_CUBE => SurfaceKind::Cube,
        t::SURFTYPE_BUFFER => SurfaceKind::Buffer,
        t::SURFTYPE_NULL => SurfaceKind::Null,
        code => return Err(code),
    })
}

const fn tiling(tiled: bool, walk: u32) -> Tiling {
    match (tiled, walk) {
        (false, _) => Tiling::Linear,
        (true, values::tilewalk::TILEWALK_XMAJOR) => Tiling::X,
        (true, _) => Tiling::Y,
    }
}

/// SURFACE_STATE; missing dwords are zero.
pub fn surface(words: &[u32]) -> SurfaceDesc {
    let s = table::SurfaceState::from_dwords(words);
    let kind = kind(s.surface_type());
    let disables = s.color_buffer_component_write_disables();
    SurfaceDesc {
        kind,
        format: FORMATS.lookup(s.surface_format()),
        format_code: s.surface_format(),
        base: GpuAddr::from(s.surface_base_address()),
        offset: (0, 0),
        width: s.width() + 1,
        height: s.height() + 1,
        depth: s.depth() + 1,
        // Less one: bits 6:0 in Width, 19:7 in Height, 26:20 in Depth.
        entries: ((s.width() & 0x7f) | (s.height() << 7) | (s.depth() << 20)) + 1,
        depth_field: (
            s.depth(),
            match kind {
                Ok(SurfaceKind::OneD | SurfaceKind::TwoD) => 511,
                Ok(SurfaceKind::Buffer) => 127,
                Ok(SurfaceKind::Cube) => 0,
                // A volume has all eleven bits.
                Ok(SurfaceKind::ThreeD | SurfaceKind::Structured | SurfaceKind::Null) | Err(_) => {
                    u32::MAX
                }
            },
        ),
        pitch: s.surface_pitch() + 1,
        tiling: tiling(s.tiled_surface(), s.tile_walk()),
        levels_right: s.mip_map_layout_mode() == values::miplayout::MIPLAYOUT_RIGHT,
        faces_as_slices: false,
        lod: s.mip_count_lod(),
        min_lod: s.surface_min_lod(),
        min_array_element: s.minimum_array_element(),
        view_extent: s.render_target_view_extent() + 1,
        cube_faces: s.dwords()[0] & 0x3f,
        line_stride: s.vertical_line_stride(),
        line_offset: s.vertical_line_stride_offset(),
        blend_enable: s.color_blend_enable(),
        // Disables are A R G B from bit 3 down; ours are R G B A from bit 0 up.
        write_channels: !(disables >> 2 & 1
            | (disables >> 1 & 1) << 1
            | (disables & 1) << 2
            | disables & 8)
            & 15,
        return_s1_14: s.data_return_format() != 0,
        render_cache_read_write: s.render_cache_read_write_mode() != 0,
        boundary: match s.media_boundary_pixel_mode() {
            2 => Boundary::Progressive,
            3 => Boundary::Interlaced,
            _ => Boundary::Normal,
        },
        samples: 1,
        sample_slices: false,
        align: Align::FIRST,
        cube_array: false,
        array: s.depth() > 0,
        structured: false,
        wide_y_tiles: false,
        control: None,
        clear: [false; 4],
        resource_min_lod: 0.0,
    }
}

fn depth_format(code: u32) -> Result<DepthFormat, u32> {
    use values::surface_format as f;
    Ok(match code {
        f::D32_FLOAT_S8X24_UINT => DepthFormat::D32FloatS8X24,
        f::D32_FLOAT => DepthFormat::D32Float,
        f::D24_UNORM_S8_UINT => DepthFormat::D24UnormS8,
        f::D24_UNORM_X8_UINT => DepthFormat::D24UnormX8,
        f::D16_UNORM => DepthFormat::D16Unorm,
        code => return Err(code),
    })
}

/// 3DSTATE_DEPTH_BUFFER, header included; missing dwords are zero.
pub fn depth_buffer(command: &[u32]) -> DepthDesc {
    let c = table::State3dDepthBuffer::from_dwords(command);
    DepthDesc {
        kind: kind(c.surface_type()),
        format: depth_format(c.surface_format()),
        base: GpuAddr::from(c.surface_base_address()),
        offset: (0, 0),
        width: c.width() + 1,
        height: c.height() + 1,
        depth: c.depth() + 1,
        pitch: c.surface_pitch() + 1,
        tiling: tiling(c.tiled_surface(), c.tile_walk()),
        levels_right: c.mip_map_layout_mode() == values::miplayout::MIPLAYOUT_RIGHT,
        faces_as_slices: false,
        lod: c.lod(),
        min_array_element: c.minimum_array_element(),
        view_extent: c.render_target_view_extent() + 1,
        coordinate_offset_disable: c.depth_buffer_coordinate_offset_disable(),
        samples: 1,
        align: Align::FIRST,
        depth_write: true,
        stencil_write: true,
        stencil: None,
        hierarchical: None,
    }
}

/// A surface of words, resolved.
#[cfg(test)]
pub fn resolve(
    words: &[u32],
    usage: crate::intel::surface::state::Use,
) -> Result<crate::intel::surface::Surface, crate::intel::surface::SurfaceError> {
    crate::intel::surface::Surface::resolve(&surface(words), usage)
}

/// The surface whose state is at an address, resolved as `unit` does it.
#[cfg(test)]
pub fn load(
    mem: &mem::Memory,
    at: GpuAddr,
    unit: &'static str,
    usage: crate::intel::surface::state::Use,
) -> Result<crate::intel::surface::Surface, crate::UnitFault> {
    let state: table::SurfaceState = mem.read_struct(at)?;
    let desc = surface(state.dwords());
    crate::intel::surface::Surface::new(mem, &desc, usage).map_err(|e| e.at(unit, at))
}

/// A depth buffer of words, resolved.
#[cfg(test)]
pub fn resolve_depth(
    command: &[u32],
) -> Result<crate::intel::surface::DepthBuffer, crate::intel::surface::SurfaceError> {
    crate::intel::surface::DepthBuffer::resolve(&depth_buffer(command))
}
