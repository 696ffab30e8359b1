//! WM_STATE, SF_STATE and 3DSTATE commands as the windower's plain state.
//!
//! PRM: volume 2 (WM_STATE, SF_STATE, COLOR_CALC_STATE, SF_VIEWPORT, 3DSTATE_*).

use mem::Memory;
use regs::gen40 as table;

use super::color_calc;
use super::units::{SCRATCH_POWER, pointer, read, sf_words};
use crate::core::fault::UnitFault;
use crate::intel::cc::state::{CcPointers, CcRequest};
use crate::intel::ff::payload::pixels::Location;
use crate::intel::ff::state::windower::{
    DrawingRectangle, LineStipple, PixelRect, PointRule, PolyStipple, RasterState, Samples,
    TestOrder, WmState,
};
use crate::intel::ff::state::{PipelineState, UnitConfig, WizState};
use crate::intel::shared::context::ThreadContext;
use crate::intel::status::Unit;
use crate::intel::surface::depth::DepthBuffer;
use crate::intel::surface::{DepthDesc, SurfaceKind};
use crate::intel::td::KernelState;

/// The windower in the order of 3DSTATE_PIPELINED_POINTERS; behind it stands the colour calculator.
pub const WM: usize = 4;
const CC: usize = 5;

/// Antialiasing region widths in pixels.
const REGION_WIDTHS: [f32; 4] = [0.5, 1.0, 2.0, 4.0];

/// An antialiasing region width in pixels.
pub fn region_width(code: u32) -> f32 {
    // PANIC: the index is masked to the array.
    REGION_WIDTHS[(code & 3) as usize]
}

/// Gathers the windower's state for a draw, with a depth buffer as a generation describes it.
pub fn windower(
    mem: &Memory,
    state: &PipelineState,
    depth: &DepthDesc,
) -> Result<WizState, UnitFault> {
    let words: table::WmState = read(mem, &state.bases, pointer(state, WM))?;
    gather(mem, state, depth, wm(&words, state))
}

/// The same with a WM_STATE that has been read.
pub fn gather(
    mem: &Memory,
    state: &PipelineState,
    depth: &DepthDesc,
    wm: WmState,
) -> Result<WizState, UnitFault> {
    let bases = &state.bases;
    let color_calc_state = pointer(state, CC);
    let (sf, viewport) = sf_words(mem, state)?;
    let request = CcRequest {
        pointers: CcPointers {
            color_calc: color_calc_state,
            ..CcPointers::default()
        },
        constant: state.constant_color,
        ..CcRequest::default()
    };
    let cc = color_calc::read(mem, bases.general_state_base, &request)?;
    Ok(WizState {
        wm,
        raster: raster(&sf),
        drawing_rectangle: drawing_rectangle(&state.drawing_rectangle),
        scissor: sf
            .scissor_rectangle_enable()
            .then(|| scissor(viewport.scissor_rectangle())),
        viewports: Vec::new(),
        depth_buffer: depth_buffer(mem, depth, cc.uses_depth_buffer())?,
        cc,
        color_calc_state,
        depth_offset_clamp: state.depth_offset_clamp,
        poly_stipple: PolyStipple {
            pattern: state.poly_stipple,
            x_offset: state.poly_stipple_offset.0,
            y_offset: state.poly_stipple_offset.1,
        },
        line_stipple: line_stipple(state),
    })
}

/// 3DSTATE_DEPTH_BUFFER. While no test or write needs a buffer it may be wrong or never sent (the X driver sends
/// none) and is as good as absent; a good one still says what a step of the depth offset is.
pub fn depth_buffer(
    mem: &Memory,
    desc: &DepthDesc,
    used: bool,
) -> Result<Option<DepthBuffer>, UnitFault> {
    match DepthBuffer::new(mem, desc) {
        Ok(buffer) => Ok((buffer.kind != SurfaceKind::Null).then_some(buffer)),
        Err(_) if !used => Ok(None),
        Err(e) => Err(e.at("WIZ depth buffer", desc.base)),
    }
}

/// WM_STATE.
pub fn wm(s: &table::WmState, state: &PipelineState) -> WmState {
    let scratch_power = s.per_thread_scratch_space();
    // CAST: fields of at most eight bits.
    let kernel = KernelState {
        ip: s.kernel_start_pointer_0(),
        grf_count: (s.grf_register_count_0() as u8 + 1) * 16,
        alt_float: s.floating_point_mode() != 0,
        single_program_flow: s.single_program_flow(),
        illegal_opcode_exception: s.illegal_opcode_exception_enable(),
        mask_stack_exception: s.mask_stack_exception_enable(),
        software_exception: s.software_exception_enable(),
        high_priority: s.thread_priority() != 0,
        urb_start: s.dispatch_grf_start_register_for_constant_setup_data_0() as u8,
    };
    WmState {
        unit: UnitConfig {
            kernel,
            context: ThreadContext {
                bases: state.bases,
                binding_table_pointer: state.binding_tables[WM],
                sampler_state_pointer: s.sampler_state_pointer(),
                scratch_base: s.scratch_space_base_pointer(),
                scratch_size: 1024 << scratch_power.min(SCRATCH_POWER),
                ffid: Unit::Wiz.ffid(),
            },
            read_offset: s.setup_urb_entry_read_offset() as u16,
            read_rows: s.setup_urb_entry_read_length() as u16,
            constant_offset: s.constant_urb_entry_read_offset() as u16,
            constant_rows: s.constant_urb_entry_read_length() as u16,
            pushed: None,
            // The windower has no entries of its own.
            urb_entries: 0,
            urb_entry_rows: 0,
            scratch_power,
            statistics: s.statistics_enable(),
            entry_on_request: false,
        },
        // One kernel serves both widths.
        kernel_16: kernel,
        kernel_32: None,
        narrowest: false,
        depth_coefficient_urb_read_offset: s.depth_coefficient_urb_read_offset() as u16,
        dispatch_8: s.n8_pixel_dispatch_enable(),
        dispatch_16: s.n16_pixel_dispatch_enable(),
        dispatch_32: s.n32_pixel_dispatch_enable(),
        legacy_global_depth_bias_enable: s.legacy_global_depth_bias_enable(),
        line_stipple_enable: s.line_stipple_enable(),
        global_depth_offset_enable: s.global_depth_offset_enable(),
        polygon_stipple_enable: s.polygon_stipple_enable(),
        line_antialiasing_region_width: region_width(s.line_antialiasing_region_width()),
        line_end_cap_antialiasing_region_width: region_width(
            s.line_end_cap_antialiasing_region_width(),
        ),
        early_depth_test_enable: s.early_depth_test_enable(),
        thread_dispatch_enable: s.thread_dispatch_enable(),
        pixel_shader_uses_source_depth: s.pixel_shader_uses_source_depth(),
        pixel_shader_computed_depth: s.pixel_shader_computed_depth(),
        pixel_shader_kills_pixel: s.pixel_shader_kills_pixel(),
        legacy_diamond_line_rasterization: s.legacy_diamond_line_rasterization(),
        maximum_threads: s.maximum_number_of_threads() + 1,
        global_depth_offset_constant: s.global_depth_offset_constant(),
        global_depth_offset_scale: s.global_depth_offset_scale(),
        barycentrics: 0,
        pixel_shader_uses_source_w: false,
        position_zw: Location::Pixel,
        position_xy_offset: None,
        input_coverage: false,
        interpolates: false,
        headerless: false,
        depth_clear: None,
        depth_resolve: None,
        samples: Samples::default(),
        test_order: TestOrder::Normal,
    }
}

fn raster(s: &table::SfState) -> RasterState {
    RasterState {
        origin_bias_x: s.destination_origin_horizontal_bias(),
        origin_bias_y: s.destination_origin_vertical_bias(),
        subpixel_bits: if s.vertex_sub_pixel_precision_select() == 0 {
            8
        } else {
            4
        },
        last_pixel_enable: s.last_pixel_enable(),
        antialiasing_enable: s.antialiasing_enable(),
        point_rule: if s.point_rasterization_rule() == 0 {
            PointRule::UpperLeft
        } else {
            PointRule::UpperRight
        },
    }
}

/// 3DSTATE_DRAWING_RECTANGLE.
pub fn drawing_rectangle(words: &[u32]) -> DrawingRectangle {
    let c = table::State3dDrawingRectangle::from_dwords(words);
    DrawingRectangle {
        // CAST: 16-bit fields.
        clip: PixelRect {
            x_min: c.clipped_drawing_rectangle_x_min() as i32,
            y_min: c.clipped_drawing_rectangle_y_min() as i32,
            x_max: c.clipped_drawing_rectangle_x_max() as i32,
            y_max: c.clipped_drawing_rectangle_y_max() as i32,
        },
        origin_x: c.drawing_rectangle_origin_x(),
        origin_y: c.drawing_rectangle_origin_y(),
    }
}

fn scissor(s: table::ScissorRect) -> PixelRect {
    // CAST: 16-bit fields.
    PixelRect {
        x_min: s.scissor_rectangle_x_min() as i32,
        y_min: s.scissor_rectangle_y_min() as i32,
        x_max: s.scissor_rectangle_x_max() as i32,
        y_max: s.scissor_rectangle_y_max() as i32,
    }
}

/// 3DSTATE_LINE_STIPPLE.
pub fn line_stipple(state: &PipelineState) -> LineStipple {
    let [pattern, repeat] = state.line_stipple;
    let c = table::State3dLineStipple::from_dwords(&[0, pattern, repeat]);
    LineStipple {
        // CAST: a 16-bit field.
        pattern: c.line_stipple_pattern() as u16,
        repeat_count: c.line_stipple_repeat_count(),
        current_index: c.current_stipple_index(),
        current_repeat: c.current_repeat_counter(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Literal words of a captured frame (GM965, depth-tested triangles) as two other decoders
    /// print them.
    #[test]
    fn captured_state_decodes() {
        let wm = wm(
            &table::WmState::from_dwords(&[
                0x0010_42ce,
                0x0004_0100,
                0,
                0x0000_1002,
                0x0011_2000,
                0x3e05_0002,
                0,
                0,
            ]),
            &PipelineState::default(),
        );
        assert_eq!(wm.kernel(4).0.ip, 0x0010_42c0);
        assert_eq!(wm.depth_coefficient_urb_read_offset, 1);
        assert_eq!(wm.kernel(4).0.urb_start, 2);
        assert_eq!(wm.unit.read_rows, 2);
        assert!(wm.dispatch_16 && !wm.dispatch_8 && !wm.thread_dispatch_enable);
        assert!(wm.early_depth_test_enable);
        assert_eq!(wm.line_end_cap_antialiasing_region_width, 1.0);
        assert_eq!(wm.maximum_threads, 32);
        let sf = raster(&table::SfState::from_dwords(&[
            0x0010_5240,
            0x0001_0000,
            0,
            0x0000_0813,
            0x0e08_4000,
            0x0011_2042,
            0x2013_1000,
            0x4c00_0800,
        ]));
        assert_eq!((sf.origin_bias_x, sf.origin_bias_y), (0.5, 0.5));
        assert_eq!(sf.subpixel_bits, 8);
        assert_eq!(sf.point_rule, PointRule::UpperRight);
    }
}
