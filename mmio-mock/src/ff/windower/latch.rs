//! State structures in memory to the plain values that the windower works with.
//!
//! PRM: volume 2 (WM_STATE, COLOR_CALC_STATE, 3DSTATE_*); fields from the tables of `regs`.

use mem::{GpuAddr, Memory};
use regs::gen40::{State3dLineStipple, WmState};

use crate::cc::state::CcState;
use crate::debug::DebugRegs;
use crate::fault::UnitFault;
use crate::ff::state::{DrawState, PipelineState};
use crate::ff::wiz::{DrawingRectangle, LineStipple, PixelRect, PolyStipple, WizState};
use crate::surface::SurfaceKind;
use crate::surface::depth::DepthBuffer;

/// Gathers the windower's state for a draw.
pub fn latch(
    mem: &Memory,
    debug: &DebugRegs,
    state: &PipelineState,
    draw: &DrawState,
    wm: &WmState,
    cc_pointer: u32,
) -> Result<WizState, UnitFault> {
    let bases = &state.bases;
    let mut drawing_rectangle = DrawingRectangle::from(&state.drawing_rectangle);
    if let Some(r) = debug.sf_clip_rectangle() {
        // CAST: 16-bit fields.
        let [x_min, y_min, x_max, y_max] = [r.xmin, r.ymin, r.xmax, r.ymax].map(|v| v as i32);
        drawing_rectangle.clip = PixelRect {
            x_min,
            y_min,
            x_max,
            y_max,
        };
    }
    let scissor = draw
        .sf_state
        .scissor_rectangle_enable()
        .then(|| PixelRect::from(&draw.sf_viewport.scissor_rectangle()));
    let cc = CcState::load(
        mem,
        GpuAddr(bases.general_state_base.wrapping_add(cc_pointer)),
        bases.general_state_base,
        state.constant_color,
    )?;
    Ok(WizState {
        wm: wm.into(),
        raster: (&draw.sf_state).into(),
        drawing_rectangle,
        scissor,
        depth_buffer: depth_buffer(mem, state, cc.uses_depth_buffer())?,
        cc,
        color_calc_state: cc_pointer,
        depth_offset_clamp: state.depth_offset_clamp,
        poly_stipple: PolyStipple {
            pattern: state.poly_stipple,
            x_offset: state.poly_stipple_offset.0,
            y_offset: state.poly_stipple_offset.1,
        },
        line_stipple: line_stipple(state),
        binding_table_pointer: state.binding_tables[4],
    })
}

/// 3DSTATE_LINE_STIPPLE.
pub fn line_stipple(state: &PipelineState) -> LineStipple {
    let [pattern, repeat] = state.line_stipple;
    LineStipple::from(&State3dLineStipple::from_dwords(&[0, pattern, repeat]))
}

/// 3DSTATE_DEPTH_BUFFER. While no test or write needs a buffer it may be wrong or never sent (the X driver sends
/// none) and is as good as absent; a good one still says what a step of the depth offset is.
fn depth_buffer(
    mem: &Memory,
    state: &PipelineState,
    used: bool,
) -> Result<Option<DepthBuffer>, UnitFault> {
    let base = GpuAddr(state.depth_buffer.surface_base_address());
    match DepthBuffer::load(mem, state.depth_buffer.dwords()) {
        Ok(buffer) => Ok((buffer.kind != SurfaceKind::Null).then_some(buffer)),
        Err(_) if !used => Ok(None),
        Err(e) => Err(e.at("WIZ depth buffer", base)),
    }
}
