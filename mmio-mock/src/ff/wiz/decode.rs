//! State structures and commands of the tables as the windower's plain state.
//!
//! PRM: volume 2 (WM_STATE, SF_STATE, COLOR_CALC_STATE, SF_VIEWPORT, 3DSTATE_*).
//!
//! Not modelled: fields that only steer prefetching are kept but unused.

use eu::port::FloatMode;
use regs::gen40 as table;

use super::state::{
    DrawingRectangle, LineStipple, PixelRect, PointRule, PolyStipple, RasterState, WmState,
};

/// Antialiasing region widths in pixels.
const REGION_WIDTHS: [f32; 4] = [0.5, 1.0, 2.0, 4.0];

fn region_width(code: u32) -> f32 {
    // PANIC: the index is masked to the array.
    REGION_WIDTHS[(code & 3) as usize]
}

impl From<&table::WmState> for WmState {
    fn from(s: &table::WmState) -> WmState {
        WmState {
            kernel_start_pointer: s.kernel_start_pointer_0(),
            grf_register_count: s.grf_register_count_0(),
            software_exception_enable: s.software_exception_enable(),
            mask_stack_exception_enable: s.mask_stack_exception_enable(),
            illegal_opcode_exception_enable: s.illegal_opcode_exception_enable(),
            depth_coefficient_urb_read_offset: s.depth_coefficient_urb_read_offset(),
            float_mode: if s.floating_point_mode() == 0 {
                FloatMode::Ieee
            } else {
                FloatMode::Alt
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
            maximum_number_of_threads: s.maximum_number_of_threads(),
            global_depth_offset_constant: s.global_depth_offset_constant(),
            global_depth_offset_scale: s.global_depth_offset_scale(),
        }
    }
}

impl From<&table::SfState> for RasterState {
    fn from(s: &table::SfState) -> RasterState {
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
}

impl From<&table::State3dDrawingRectangle> for DrawingRectangle {
    fn from(c: &table::State3dDrawingRectangle) -> DrawingRectangle {
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
}

impl From<&table::ScissorRect> for PixelRect {
    fn from(s: &table::ScissorRect) -> PixelRect {
        // CAST: 16-bit fields.
        PixelRect {
            x_min: s.scissor_rectangle_x_min() as i32,
            y_min: s.scissor_rectangle_y_min() as i32,
            x_max: s.scissor_rectangle_x_max() as i32,
            y_max: s.scissor_rectangle_y_max() as i32,
        }
    }
}

impl From<&table::State3dLineStipple> for LineStipple {
    fn from(c: &table::State3dLineStipple) -> LineStipple {
        LineStipple {
            // CAST: a 16-bit field.
            pattern: c.line_stipple_pattern() as u16,
            repeat_count: c.line_stipple_repeat_count(),
            current_index: c.current_stipple_index(),
            current_repeat: c.current_repeat_counter(),
        }
    }
}

impl PolyStipple {
    /// The pattern of 3DSTATE_POLY_STIPPLE_PATTERN; the offsets stay.
    pub fn set_pattern(&mut self, c: &table::State3dPolyStipplePattern) {
        for (row, dword) in self.pattern.iter_mut().zip(c.dwords().iter().skip(1)) {
            *row = *dword;
        }
    }

    /// The offsets of 3DSTATE_POLY_STIPPLE_OFFSET; the pattern stays.
    pub fn set_offset(&mut self, c: &table::State3dPolyStippleOffset) {
        self.x_offset = c.polygon_stipple_x_offset();
        self.y_offset = c.polygon_stipple_y_offset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Literal words of a captured frame (GM965, depth-tested triangles) as two other decoders
    /// print them.
    #[test]
    fn captured_state_decodes() {
        let wm = WmState::from(&table::WmState::from_dwords(&[
            0x0010_42ce,
            0x0004_0100,
            0,
            0x0000_1002,
            0x0011_2000,
            0x3e05_0002,
            0,
            0,
        ]));
        assert_eq!(wm.kernel_start_pointer, 0x0010_42c0);
        assert_eq!(wm.depth_coefficient_urb_read_offset, 1);
        assert_eq!(wm.dispatch_grf_start_register, 2);
        assert_eq!(wm.setup_urb_entry_read_length, 2);
        assert!(wm.dispatch_16 && !wm.dispatch_8 && !wm.thread_dispatch_enable);
        assert!(wm.early_depth_test_enable);
        assert_eq!(wm.line_end_cap_antialiasing_region_width, 1.0);
        assert_eq!(wm.maximum_number_of_threads, 31);
        let sf = RasterState::from(&table::SfState::from_dwords(&[
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
