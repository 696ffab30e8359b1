//! Where commands say that states of the colour calculator lie.
//!
//! genxml gen7: each state has a command of its own for its pointer. The states are those of Sandy Bridge.

use regs::gen70 as table;
use regs::ids::CommandId;

use crate::intel::cc::control::Pass;
use crate::intel::cc::state::CcPointers;
use crate::intel::ff::state::PipelineState;
use crate::intel::r#gen::gen60::units::words;
use crate::intel::shared::dataport::render::PixelBackend;

/// The pointers, relative to Dynamic State Base Address.
pub fn pointers(state: &PipelineState) -> CcPointers {
    let words = |id| words(state, id);
    CcPointers {
        color_calc: table::State3dCcStatePointers::from_dwords(words(
            CommandId::State3dCcStatePointers,
        ))
        .color_calc_state_pointer(),
        blend: table::State3dBlendStatePointers::from_dwords(words(
            CommandId::State3dBlendStatePointers,
        ))
        .blend_state_pointer(),
        depth_stencil: table::State3dDepthStencilStatePointers::from_dwords(words(
            CommandId::State3dDepthStencilStatePointers,
        ))
        .pointer_to_depth_stencil_state(),
        viewports: table::State3dViewportStatePointersCc::from_dwords(words(
            CommandId::State3dViewportStatePointersCc,
        ))
        .cc_viewport_pointer(),
    }
}

/// What the pixel back end takes from commands: pointers, and the parts of render target writes besides colours (3DSTATE_PS,
/// 3DSTATE_WM).
pub fn backend(state: &PipelineState) -> PixelBackend {
    let ps = table::State3dPs::from_dwords(words(state, CommandId::State3dPs));
    let wm = table::State3dWm::from_dwords(words(state, CommandId::State3dWm));
    PixelBackend {
        pointers: pointers(state),
        sample_mask: ps.omask_present_to_rendertarget(),
        // Mesa brw_fs.cpp, `brw_compile_fs`: after Gen6 a shader with a mask makes coverage of alpha by itself, as the hardware does not.
        mask_is_coverage: true,
        source_depth: wm.pixel_shader_computed_depth_mode() != 0,
        pass: if ps.render_target_fast_clear_enable() {
            Some(Pass::Clear)
        } else {
            let resolve = ps.render_target_resolve_enable();
            resolve.then_some(Pass::Resolve)
        },
        ..PixelBackend::default()
    }
}
