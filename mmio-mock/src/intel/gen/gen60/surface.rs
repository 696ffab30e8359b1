//! Structures and commands of surfaces, samplers and depth as plain state.
//!
//! genxml gen6 beside genxml gen5; alignments and samples: Mesa 22.3.6 isl_gfx6.c; depth and stencil: isl_emit_depth_stencil.c.

use mem::GpuAddr;
use regs::gen60 as table;
use regs::ids::CommandId;

use crate::intel::ff::state::PipelineState;
use crate::intel::r#gen::gen40::sampler as gen40;
use crate::intel::r#gen::gen50::functions as gen50;
use crate::intel::shared::sampler::state::SamplerDesc;
use crate::intel::surface::desc::{Boundary, StencilDesc};
use crate::intel::surface::format::{Formats, table as formats};
use crate::intel::surface::hierarchical::HierDesc;
use crate::intel::surface::mip::Align;
use crate::intel::surface::{DepthDesc, DepthFormat, Format, SurfaceDesc, SurfaceKind};

static ROWS: [Format; table::SURFACE_FORMATS.len()] = formats::rows(&table::SURFACE_FORMATS);
/// The formats of these parts.
pub static FORMATS: Formats = Formats::new(&ROWS);

/// Most cubes of an array less one: arrays have 512 slices.
const CUBES: u32 = 512 / 6 - 1;
/// Sizes of levels where a surface does not ask for more.
const ALIGN_2: Align = Align {
    nearer: true,
    ..Align::FIRST
};
/// Those of depth buffers, and where a surface asks for it.
const ALIGN_4: Align = Align { rows: 4, ..ALIGN_2 };

const fn samples(code: u32) -> u32 {
    match code {
        2 => 4,
        _ => 1,
    }
}

/// SURFACE_STATE; missing dwords are zero.
pub fn surface(words: &[u32]) -> SurfaceDesc {
    let s = table::SurfaceState::from_dwords(words);
    let first = gen50::surface(words);
    let cube = first.kind == Ok(SurfaceKind::Cube);
    SurfaceDesc {
        format: FORMATS.lookup(first.format_code),
        boundary: match s.media_boundary_pixel_mode() {
            2 => Boundary::Progressive,
            3 => Boundary::Interlaced,
            _ => Boundary::Normal,
        },
        depth_field: match first.kind {
            Ok(SurfaceKind::Cube) => (first.depth_field.0, CUBES),
            _ => first.depth_field,
        },
        cube_array: cube,
        samples: samples(s.number_of_multisamples()),
        align: match s.surface_vertical_alignment() {
            0 => ALIGN_2,
            _ => ALIGN_4,
        },
        // Blending and channels are the matter of BLEND_STATE.
        blend_enable: true,
        write_channels: 15,
        ..first
    }
}

/// SAMPLER_STATE.
pub fn sampler(words: &[u32]) -> SamplerDesc {
    let s = table::SamplerState::from_dwords(words);
    let mut desc = gen40::resolve(&regs::gen50::SamplerState::from_dwords(words));
    desc.sampler.unnormalized = s.non_normalized_coordinate_enable();
    desc
}

/// 3DSTATE_DEPTH_BUFFER, header included; missing dwords are zero.
pub fn depth_buffer(command: &[u32]) -> DepthDesc {
    let c = table::State3dDepthBuffer::from_dwords(command);
    let first = gen50::depth_buffer(command);
    // Where stencil lies apart, the code of the packed format means depth of 24 bits alone.
    let format = match first.format {
        Ok(DepthFormat::D24UnormS8) if c.separate_stencil_buffer_enable() => {
            Ok(DepthFormat::D24UnormX8)
        }
        format => format,
    };
    DepthDesc {
        format,
        align: ALIGN_4,
        ..first
    }
}

/// The depth buffer of a draw: the commands of depth, stencil and samples together.
pub fn depth_of(state: &PipelineState) -> DepthDesc {
    let words = |id| state.kept.get(&id).map(Vec::as_slice).unwrap_or_default();
    let c = table::State3dDepthBuffer::from_dwords(&state.depth_buffer);
    let stencil = table::State3dStencilBuffer::from_dwords(words(CommandId::State3dStencilBuffer));
    let multisample = words(CommandId::State3dMultisample);
    let multisample = table::State3dMultisample::from_dwords(multisample);
    let base = stencil.surface_base_address();
    // Drivers that have no stencil, or no hierarchical depth, leave the address 0 (isl_emit_depth_stencil.c).
    let apart = c.separate_stencil_buffer_enable() && base != 0;
    let hierarchical = words(CommandId::State3dHierDepthBuffer);
    let hierarchical = table::State3dHierDepthBuffer::from_dwords(hierarchical);
    let hierarchical_base = hierarchical.surface_base_address();
    let beside = c.hierarchical_depth_buffer_enable() && hierarchical_base != 0;
    DepthDesc {
        samples: samples(multisample.number_of_multisamples()),
        stencil: apart.then(|| StencilDesc {
            base: GpuAddr::from(base),
            pitch: stencil.surface_pitch() + 1,
            levels: None,
        }),
        hierarchical: beside.then(|| HierDesc {
            base: GpuAddr::from(hierarchical_base),
            pitch: hierarchical.surface_pitch() + 1,
            levels: None,
        }),
        ..depth_buffer(&state.depth_buffer)
    }
}
