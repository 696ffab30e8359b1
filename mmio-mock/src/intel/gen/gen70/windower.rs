//! 3DSTATE_WM, 3DSTATE_PS and their neighbours as the windower's plain state.
//!
//! genxml gen7 (3DSTATE_WM, 3DSTATE_PS, 3DSTATE_SF, 3DSTATE_MULTISAMPLE, 3DSTATE_SAMPLE_MASK, 3DSTATE_CLEAR_PARAMS, SCISSOR_RECT,
//! CC_VIEWPORT). Not modelled: 3DSTATE_AA_LINE_PARAMETERS (coverage of antialiased lines is a linear ramp), Rounding Mode and
//! Denormal Mode of 3DSTATE_PS.

use mem::Memory;
use regs::gen70 as table;
use regs::ids::CommandId;

use super::units::{PS, context, pushed, sf};
use super::{color_calc, surface};
use crate::core::fault::UnitFault;
use crate::intel::cc::state::CcRequest;
use crate::intel::ff::state::setup::VIEWPORTS;
use crate::intel::ff::state::windower::{
    DepthResolve, PixelRect, PointRule, PolyStipple, RasterState, Samples, TestOrder,
    ViewportLimits, WmState,
};
use crate::intel::ff::state::{PipelineState, UnitConfig, WizState};
use crate::intel::r#gen::gen40::windower::{depth_buffer, drawing_rectangle, region_width};
use crate::intel::r#gen::gen60::color_calc::{read, read_without_blending};
use crate::intel::r#gen::gen60::units::{REGISTERS, array, words};
use crate::intel::r#gen::gen60::windower::{line_stipple, location};
use crate::intel::surface::{DepthDesc, DepthFormat};
use crate::intel::td::KernelState;

/// Gathers the windower's state for a draw.
pub fn windower(mem: &Memory, state: &PipelineState) -> Result<WizState, UnitFault> {
    let s = table::State3dWm::from_dwords(words(state, CommandId::State3dWm));
    let ps = table::State3dPs::from_dwords(words(state, CommandId::State3dPs));
    let sf = sf(state);
    let depth = surface::depth_of(state);
    let pointers = color_calc::pointers(state);
    let request = CcRequest {
        pointers,
        ..CcRequest::default()
    };
    let wm = wm(state, (&s, &ps), &sf, &depth);
    let cc = if wm.dispatches() {
        read(mem, &state.bases, &request)?
    } else {
        read_without_blending(mem, &state.bases, &request)?
    };
    let used = cc.uses_depth_buffer() || wm.depth_clear.is_some() || wm.depth_resolve.is_some();
    let limits = limits(mem, state, &sf)?;
    // One viewport needs no choice.
    let alone = limits.len() == 1;
    Ok(WizState {
        raster: raster(state, &sf, &s),
        drawing_rectangle: drawing_rectangle(&state.drawing_rectangle),
        scissor: limits
            .first()
            .filter(|_| alone)
            .and_then(|limits| limits.scissor),
        viewports: if alone { Vec::new() } else { limits },
        depth_buffer: depth_buffer(mem, &depth, used)?,
        cc,
        color_calc_state: pointers.color_calc,
        depth_offset_clamp: sf.global_depth_offset_clamp(),
        poly_stipple: PolyStipple {
            pattern: state.poly_stipple,
            x_offset: state.poly_stipple_offset.0,
            y_offset: state.poly_stipple_offset.1,
        },
        line_stipple: line_stipple(state),
        wm,
    })
}

/// Scissor rectangles and depth ranges of the viewports that can be chosen.
fn limits(
    mem: &Memory,
    state: &PipelineState,
    sf: &table::State3dSf,
) -> Result<Vec<ViewportLimits>, UnitFault> {
    let clip = table::State3dClip::from_dwords(words(state, CommandId::State3dClip));
    let maximum = clip.maximum_vp_index();
    let scissors = words(state, CommandId::State3dScissorStatePointers);
    let scissors = table::State3dScissorStatePointers::from_dwords(scissors);
    // CAST: 16-bit fields.
    let rectangle = |s: table::ScissorRect| {
        Some(PixelRect {
            x_min: s.scissor_rectangle_x_min() as i32,
            y_min: s.scissor_rectangle_y_min() as i32,
            x_max: s.scissor_rectangle_x_max() as i32,
            y_max: s.scissor_rectangle_y_max() as i32,
        })
    };
    let scissors = if sf.scissor_rectangle_enable() {
        array(
            (mem, state),
            (scissors.scissor_rect_pointer(), 8),
            maximum,
            rectangle,
        )?
    } else {
        [None; VIEWPORTS]
    };
    let range = |v: table::CcViewport| (v.minimum_depth(), v.maximum_depth());
    let viewports = color_calc::pointers(state).viewports;
    let depths = array((mem, state), (viewports, 8), maximum, range)?;
    let limit = |(scissor, depth)| ViewportLimits { scissor, depth };
    let all = scissors.into_iter().zip(depths).map(limit);
    Ok(all.take(maximum as usize + 1).collect())
}

/// The three kernels. Number 0 is the narrowest alone; beside 8 pixels, number 2 is that of 16 and number 1 that of 32 (Mesa
/// 22.3.6 brw_compiler.h `brw_fs_simd_width_for_ksp`).
fn kernels(s: &table::State3dPs) -> [KernelState; 3] {
    let kernel = |ip: u32, start: u32| KernelState {
        ip,
        grf_count: REGISTERS,
        alt_float: s.floating_point_mode() != 0,
        single_program_flow: s.single_program_flow(),
        illegal_opcode_exception: s.illegal_opcode_exception_enable(),
        mask_stack_exception: s.mask_stack_exception_enable(),
        software_exception: s.software_exception_enable(),
        high_priority: false,
        // CAST: a field of seven bits.
        urb_start: start as u8,
    };
    let first = kernel(
        s.kernel_start_pointer_0(),
        s.dispatch_grf_start_register_for_constant_setup_data_0(),
    );
    let second = kernel(
        s.kernel_start_pointer_1(),
        s.dispatch_grf_start_register_for_constant_setup_data_1(),
    );
    let third = kernel(
        s.kernel_start_pointer_2(),
        s.dispatch_grf_start_register_for_constant_setup_data_2(),
    );
    let widths = (
        s.n8_pixel_dispatch_enable(),
        s.n16_pixel_dispatch_enable(),
        s.n32_pixel_dispatch_enable(),
    );
    match widths {
        // One alone is number 0.
        (false, true, false) | (false, false, true) => [first; 3],
        _ => [first, third, second],
    }
}

fn wm(
    state: &PipelineState,
    (s, ps): (&table::State3dWm, &table::State3dPs),
    sf: &table::State3dSf,
    depth: &DepthDesc,
) -> WmState {
    let [kernel, kernel_16, kernel_32] = kernels(ps);
    let scratch = (
        ps.scratch_space_base_pointer(),
        ps.per_thread_scratch_space(),
    );
    // CAST: fields of at most seven bits.
    WmState {
        unit: UnitConfig {
            kernel,
            context: context(state, &PS, scratch),
            pushed: pushed(state, &PS).filter(|_| ps.push_constant_enable()),
            scratch_power: ps.per_thread_scratch_space(),
            statistics: s.statistics_enable(),
            ..UnitConfig::default()
        },
        kernel_16,
        kernel_32: Some(kernel_32),
        narrowest: true,
        dispatch_8: ps.n8_pixel_dispatch_enable(),
        dispatch_16: ps.n16_pixel_dispatch_enable(),
        dispatch_32: ps.n32_pixel_dispatch_enable(),
        legacy_global_depth_bias_enable: sf.legacy_global_depth_bias_enable(),
        line_stipple_enable: s.line_stipple_enable(),
        polygon_stipple_enable: s.polygon_stipple_enable(),
        line_antialiasing_region_width: region_width(s.line_antialiasing_region_width()),
        line_end_cap_antialiasing_region_width: region_width(
            s.line_end_cap_antialiasing_region_width(),
        ),
        early_depth_test_enable: true,
        thread_dispatch_enable: s.thread_dispatch_enable(),
        pixel_shader_uses_source_depth: s.pixel_shader_uses_source_depth(),
        pixel_shader_computed_depth: s.pixel_shader_computed_depth_mode() != 0,
        pixel_shader_kills_pixel: s.pixel_shader_kills_pixel(),
        legacy_diamond_line_rasterization: s.legacy_diamond_line_rasterization(),
        maximum_threads: ps.maximum_number_of_threads() + 1,
        global_depth_offset_constant: sf.global_depth_offset_constant(),
        global_depth_offset_scale: sf.global_depth_offset_scale(),
        barycentrics: s.barycentric_interpolation_mode() as u8,
        pixel_shader_uses_source_w: s.pixel_shader_uses_source_w(),
        position_zw: location(s.position_zw_interpolation_mode()).unwrap_or_default(),
        position_xy_offset: location(ps.position_xy_offset_select()),
        input_coverage: s.pixel_shader_uses_input_coverage_mask(),
        interpolates: true,
        headerless: true,
        depth_clear: s.depth_buffer_clear().then(|| clear_value(state, depth)),
        depth_resolve: if s.depth_buffer_resolve_enable() {
            Some(DepthResolve::Depth)
        } else {
            let hierarchical = s.hierarchical_depth_buffer_resolve_enable();
            hierarchical.then_some(DepthResolve::Hierarchical)
        },
        samples: samples(state, s),
        test_order: match s.early_depth_stencil_control() {
            1 => TestOrder::Behind,
            2 => TestOrder::Ahead,
            _ => TestOrder::Normal,
        },
        ..WmState::default()
    }
}

/// 3DSTATE_CLEAR_PARAMS: a depth in the buffer's format (Mesa isl_emit_depth_stencil.c).
fn clear_value(state: &PipelineState, depth: &DepthDesc) -> f32 {
    let c = table::State3dClearParams::from_dwords(words(state, CommandId::State3dClearParams));
    let raw = c.depth_clear_value();
    match depth.format {
        // CAST: 24 bits are a float exactly.
        Ok(format @ (DepthFormat::D24UnormS8 | DepthFormat::D24UnormX8)) => {
            format.decode(raw & 0xff_ffff)
        }
        Ok(format @ DepthFormat::D16Unorm) => format.decode(raw & 0xffff),
        _ => f32::from_bits(raw),
    }
}

/// 3DSTATE_MULTISAMPLE, 3DSTATE_SAMPLE_MASK and the modes of 3DSTATE_WM.
fn samples(state: &PipelineState, s: &table::State3dWm) -> Samples {
    let m = words(state, CommandId::State3dMultisample);
    let m = table::State3dMultisample::from_dwords(m);
    let mask = words(state, CommandId::State3dSampleMask);
    let count = match m.number_of_multisamples() {
        2 => 4,
        3 => 8,
        _ => 1,
    };
    // Places stand in sixteenths of a pixel.
    let places = [
        [m.sample0_x_offset(), m.sample0_y_offset()],
        [m.sample1_x_offset(), m.sample1_y_offset()],
        [m.sample2_x_offset(), m.sample2_y_offset()],
        [m.sample3_x_offset(), m.sample3_y_offset()],
        [m.sample4_x_offset(), m.sample4_y_offset()],
        [m.sample5_x_offset(), m.sample5_y_offset()],
        [m.sample6_x_offset(), m.sample6_y_offset()],
        [m.sample7_x_offset(), m.sample7_y_offset()],
    ];
    // CAST: a field of eight bits.
    let mask = match mask {
        // None was sent: all are written.
        [] => 0xff,
        words => table::State3dSampleMask::from_dwords(words).sample_mask() as u8,
    };
    // MSRASTMODE_OFF_PATTERN and MSRASTMODE_ON_PATTERN.
    let pattern = count > 1 && s.multisample_rasterization_mode() & 1 != 0;
    Samples {
        count,
        places,
        pattern,
        per_sample: count > 1 && s.multisample_dispatch_mode() == 0,
        mask,
    }
}

fn raster(state: &PipelineState, sf: &table::State3dSf, wm: &table::State3dWm) -> RasterState {
    let m = words(state, CommandId::State3dMultisample);
    let corner = table::State3dMultisample::from_dwords(m).pixel_location() != 0;
    let bias = if corner { 0.0 } else { 0.5 };
    RasterState {
        origin_bias_x: bias,
        origin_bias_y: bias,
        subpixel_bits: if sf.vertex_sub_pixel_precision_select() == 0 {
            8
        } else {
            4
        },
        last_pixel_enable: sf.last_pixel_enable(),
        antialiasing_enable: sf.antialiasing_enable(),
        point_rule: if wm.point_rasterization_rule() == 0 {
            PointRule::UpperLeft
        } else {
            PointRule::UpperRight
        },
    }
}

#[cfg(test)]
mod tests;
