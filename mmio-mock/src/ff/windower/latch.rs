//! State structures in memory to the plain values that the windower works with.
//!
//! PRM: volume 2 (WM_STATE, COLOR_CALC_STATE, 3DSTATE_*); fields from the tables of `regs`.

use regs::gen40::{SfState, State3dLineStipple};

use crate::cc::state::CcState;
use crate::debug::DebugRegs;
use crate::fault::UnitFault;
use crate::ff::state::{DrawState, PipelineState};
use crate::ff::wiz::{
    DrawingRectangle, LineStipple, PixelRect, PointRule, PolyStipple, RasterState, WizState,
    WmState,
};
use crate::surface::SurfaceKind;
use crate::surface::depth::DepthBuffer;
use mem::{GpuAddr, Memory};

/// Line widths and end caps of WM_STATE's two-bit codes, in pixels (genxml gen4).
const REGION_WIDTH: [f32; 4] = [0.5, 1.0, 2.0, 4.0];

/// Gathers the windower's state for a draw.
pub fn latch(
    mem: &Memory,
    debug: &DebugRegs,
    state: &PipelineState,
    draw: &DrawState,
    wm: &[u32; 8],
    cc_pointer: u32,
) -> Result<WizState, UnitFault> {
    let [
        mut x_min,
        mut y_min,
        mut x_max,
        mut y_max,
        origin_x,
        origin_y,
    ] = state.drawing_rectangle;
    if let Some(r) = debug.sf_clip_rectangle() {
        // CAST: 16-bit fields.
        [x_min, y_min, x_max, y_max] = [r.xmin, r.ymin, r.xmax, r.ymax].map(|v| v as i32);
    }
    let sf = &draw.sf_state;
    let scissor = sf.scissor_rectangle_enable().then(|| {
        let r = draw.sf_viewport.scissor_rectangle();
        PixelRect {
            x_min: r.scissor_rectangle_x_min() as i32,
            y_min: r.scissor_rectangle_y_min() as i32,
            x_max: r.scissor_rectangle_x_max() as i32,
            y_max: r.scissor_rectangle_y_max() as i32,
        }
    });
    Ok(WizState {
        wm: wm_state(wm),
        raster: raster_state(sf),
        drawing_rectangle: DrawingRectangle {
            clip: PixelRect {
                x_min,
                y_min,
                x_max,
                y_max,
            },
            origin_x,
            origin_y,
        },
        scissor,
        depth_buffer: depth_buffer(mem, state)?,
        cc: CcState::load(
            mem,
            GpuAddr(state.bases.general_state_base.wrapping_add(cc_pointer)),
            state.bases.general_state_base,
            state.constant_color,
        )?,
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
    let stipple = State3dLineStipple::from_dwords(&[0, pattern, repeat]);
    LineStipple {
        // CAST: a 16-bit field.
        pattern: stipple.line_stipple_pattern() as u16,
        repeat_count: stipple.line_stipple_repeat_count(),
        current_index: stipple.current_stipple_index(),
        current_repeat: stipple.current_repeat_counter(),
    }
}

fn wm_state(dwords: &[u32; 8]) -> WmState {
    let s = regs::gen40::WmState::from_dwords(dwords);
    WmState {
        kernel_start_pointer: s.kernel_start_pointer_0(),
        grf_register_count: s.grf_register_count_0(),
        software_exception_enable: s.software_exception_enable(),
        mask_stack_exception_enable: s.mask_stack_exception_enable(),
        illegal_opcode_exception_enable: s.illegal_opcode_exception_enable(),
        depth_coefficient_urb_read_offset: s.depth_coefficient_urb_read_offset(),
        float_mode: if s.floating_point_mode() == 0 {
            eu::port::FloatMode::Ieee
        } else {
            eu::port::FloatMode::Alt
        },
        thread_priority: s.thread_priority() != 0,
        binding_table_entry_count: s.binding_table_entry_count(),
        single_program_flow: s.single_program_flow(),
        per_thread_scratch_space: s.per_thread_scratch_space(),
        scratch_space_base_pointer: s.scratch_space_base_pointer(),
        dispatch_grf_start_register: s.dispatch_grf_start_register_for_constant_setup_data_0(),
        setup_urb_entry_read_offset: s.setup_urb_entry_read_offset(),
        setup_urb_entry_read_length: s.setup_urb_entry_read_length(),
        constant_urb_entry_read_offset: s.constant_urb_entry_read_offset(),
        constant_urb_entry_read_length: s.constant_urb_entry_read_length(),
        statistics_enable: s.statistics_enable(),
        sampler_count: s.sampler_count(),
        sampler_state_pointer: s.sampler_state_pointer(),
        dispatch_8: s.n8_pixel_dispatch_enable(),
        dispatch_16: s.n16_pixel_dispatch_enable(),
        dispatch_32: s.n32_pixel_dispatch_enable(),
        legacy_global_depth_bias_enable: s.legacy_global_depth_bias_enable(),
        line_stipple_enable: s.line_stipple_enable(),
        global_depth_offset_enable: s.global_depth_offset_enable(),
        polygon_stipple_enable: s.polygon_stipple_enable(),
        line_antialiasing_region_width: REGION_WIDTH
            [(s.line_antialiasing_region_width() & 3) as usize],
        line_end_cap_antialiasing_region_width: REGION_WIDTH
            [(s.line_end_cap_antialiasing_region_width() & 3) as usize],
        early_depth_test_enable: s.early_depth_test_enable(),
        thread_dispatch_enable: s.thread_dispatch_enable(),
        pixel_shader_uses_source_depth: s.pixel_shader_uses_source_depth(),
        pixel_shader_computed_depth: s.pixel_shader_computed_depth(),
        pixel_shader_kills_pixel: s.pixel_shader_kills_pixel(),
        legacy_diamond_line_rasterization: s.legacy_diamond_line_rasterization(),
        maximum_number_of_threads: s.maximum_number_of_threads() + 1,
        global_depth_offset_constant: s.global_depth_offset_constant(),
        global_depth_offset_scale: s.global_depth_offset_scale(),
    }
}

fn raster_state(sf: &SfState) -> RasterState {
    RasterState {
        origin_bias_x: sf.destination_origin_horizontal_bias(),
        origin_bias_y: sf.destination_origin_vertical_bias(),
        subpixel_bits: if sf.vertex_sub_pixel_precision_select() == 0 {
            8
        } else {
            4
        },
        last_pixel_enable: sf.last_pixel_enable(),
        antialiasing_enable: sf.antialiasing_enable(),
        point_rule: if sf.point_rasterization_rule() == 0 {
            PointRule::UpperLeft
        } else {
            PointRule::UpperRight
        },
    }
}

fn depth_buffer(mem: &Memory, state: &PipelineState) -> Result<Option<DepthBuffer>, UnitFault> {
    let base = GpuAddr(state.depth_buffer.surface_base_address());
    let buffer = DepthBuffer::load(mem, state.depth_buffer.dwords())
        .map_err(|e| e.at("WIZ depth buffer", base))?;
    Ok((buffer.kind != SurfaceKind::Null).then_some(buffer))
}
