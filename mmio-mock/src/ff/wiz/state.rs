//! State that the windower latches: what a primitive is rasterised and tested with.
//!
//! PRM: volume 2 (WM_STATE, COLOR_CALC_STATE, 3DSTATE_*); fields as in genxml gen4. Plain values,
//! so that the owner of the state pointers decodes once per state change.
//!
//! Not modelled: software tiled rendering.

use eu::port::FloatMode;

/// WM_STATE.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WmState {
    /// Kernel Start Pointer 0, relative to General State Base Address.
    pub kernel_start_pointer: u32,
    /// GRF Register Count 0 as written: blocks of 16 registers, less one.
    pub grf_register_count: u32,
    /// Software Exception Enable.
    pub software_exception_enable: bool,
    /// Mask Stack Exception Enable.
    pub mask_stack_exception_enable: bool,
    /// Illegal Opcode Exception Enable.
    pub illegal_opcode_exception_enable: bool,
    /// Depth Coefficient URB Read Offset, in 256-bit rows of the setup entry.
    pub depth_coefficient_urb_read_offset: u32,
    /// Floating Point Mode.
    pub float_mode: FloatMode,
    /// Thread Priority: high.
    pub thread_priority: bool,
    /// Binding Table Entry Count (prefetch only).
    pub binding_table_entry_count: u32,
    /// Single Program Flow.
    pub single_program_flow: bool,
    /// Per-Thread Scratch Space as written: log2 of 1 KB units.
    pub per_thread_scratch_space: u32,
    /// Scratch Space Base Pointer, relative to General State Base Address.
    pub scratch_space_base_pointer: u32,
    /// Dispatch GRF Start Register For Constant/Setup Data 0.
    pub dispatch_grf_start_register: u32,
    /// Setup URB Entry Read Offset, in 256-bit rows.
    pub setup_urb_entry_read_offset: u32,
    /// Setup URB Entry Read Length, in 256-bit rows.
    pub setup_urb_entry_read_length: u32,
    /// Constant URB Entry Read Offset, in 256-bit rows.
    pub constant_urb_entry_read_offset: u32,
    /// Constant URB Entry Read Length, in 256-bit rows.
    pub constant_urb_entry_read_length: u32,
    /// Statistics Enable: PS_INVOCATION_COUNT and PS_DEPTH_COUNT.
    pub statistics_enable: bool,
    /// Sampler Count (prefetch only).
    pub sampler_count: u32,
    /// Sampler State Pointer, relative to General State Base Address.
    pub sampler_state_pointer: u32,
    /// 8 Pixel Dispatch Enable.
    pub dispatch_8: bool,
    /// 16 Pixel Dispatch Enable.
    pub dispatch_16: bool,
    /// 32 Pixel Dispatch Enable (contiguous mode).
    pub dispatch_32: bool,
    /// Legacy Global Depth Bias Enable: the constant is added unscaled.
    pub legacy_global_depth_bias_enable: bool,
    /// Line Stipple Enable.
    pub line_stipple_enable: bool,
    /// Global Depth Offset Enable.
    pub global_depth_offset_enable: bool,
    /// Polygon Stipple Enable.
    pub polygon_stipple_enable: bool,
    /// Line Antialiasing Region Width, in pixels.
    pub line_antialiasing_region_width: f32,
    /// Line End Cap Antialiasing Region Width, in pixels.
    pub line_end_cap_antialiasing_region_width: f32,
    /// Early Depth Test Enable.
    pub early_depth_test_enable: bool,
    /// Thread Dispatch Enable; without it only depth and stencil are written.
    pub thread_dispatch_enable: bool,
    /// Pixel Shader Uses Source Depth.
    pub pixel_shader_uses_source_depth: bool,
    /// Pixel Shader Computed Depth.
    pub pixel_shader_computed_depth: bool,
    /// Pixel Shader Kills Pixel.
    pub pixel_shader_kills_pixel: bool,
    /// Legacy Diamond Line Rasterization.
    pub legacy_diamond_line_rasterization: bool,
    /// Maximum Number of Threads as written: threads less one.
    pub maximum_number_of_threads: u32,
    /// Global Depth Offset Constant.
    pub global_depth_offset_constant: f32,
    /// Global Depth Offset Scale.
    pub global_depth_offset_scale: f32,
}

/// Where a point's inclusive corner lies (SF_STATE, Point Rasterization Rule).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PointRule {
    /// The upper and left sides belong to the point.
    #[default]
    UpperLeft,
    /// The upper and right sides belong to the point.
    UpperRight,
}

/// The fields of SF_STATE that decide which pixels a primitive covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RasterState {
    /// Destination Origin Horizontal Bias: the sample point in a pixel, from its left side.
    pub origin_bias_x: f32,
    /// Destination Origin Vertical Bias: the sample point in a pixel, from its upper side.
    pub origin_bias_y: f32,
    /// Vertex Sub Pixel Precision Select as a number of bits: 8 or 4.
    pub subpixel_bits: u8,
    /// Last Pixel Enable: lines own their last pixel.
    pub last_pixel_enable: bool,
    /// Antialiasing Enable (lines).
    pub antialiasing_enable: bool,
    /// Point Rasterization Rule.
    pub point_rule: PointRule,
}

impl Default for RasterState {
    fn default() -> Self {
        RasterState {
            origin_bias_x: 0.0,
            origin_bias_y: 0.0,
            subpixel_bits: 8,
            last_pixel_enable: false,
            antialiasing_enable: false,
            point_rule: PointRule::UpperLeft,
        }
    }
}

/// A rectangle of pixels with inclusive corners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelRect {
    /// Leftmost column.
    pub x_min: i32,
    /// Topmost row.
    pub y_min: i32,
    /// Rightmost column; less than `x_min` when the rectangle is empty.
    pub x_max: i32,
    /// Lowest row; less than `y_min` when the rectangle is empty.
    pub y_max: i32,
}

impl PixelRect {
    /// The pixels that lie in both rectangles.
    #[must_use]
    pub fn intersect(self, other: PixelRect) -> PixelRect {
        PixelRect {
            x_min: self.x_min.max(other.x_min),
            y_min: self.y_min.max(other.y_min),
            x_max: self.x_max.min(other.x_max),
            y_max: self.y_max.min(other.y_max),
        }
    }

    /// Whether no pixel lies in the rectangle.
    pub fn is_empty(self) -> bool {
        self.x_max < self.x_min || self.y_max < self.y_min
    }

    /// Whether the pixel lies in the rectangle.
    #[inline]
    pub fn contains(self, x: i32, y: i32) -> bool {
        x >= self.x_min && x <= self.x_max && y >= self.y_min && y <= self.y_max
    }
}

/// 3DSTATE_DRAWING_RECTANGLE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawingRectangle {
    /// Clipped Drawing Rectangle, in pixels of the destination.
    pub clip: PixelRect,
    /// Drawing Rectangle Origin X, added to every coordinate.
    pub origin_x: i32,
    /// Drawing Rectangle Origin Y, added to every coordinate.
    pub origin_y: i32,
}

impl Default for DrawingRectangle {
    fn default() -> Self {
        DrawingRectangle {
            clip: PixelRect {
                x_min: 0,
                y_min: 0,
                x_max: 0,
                y_max: 0,
            },
            origin_x: 0,
            origin_y: 0,
        }
    }
}

/// 3DSTATE_POLY_STIPPLE_PATTERN and 3DSTATE_POLY_STIPPLE_OFFSET.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolyStipple {
    /// Rows of the pattern; bit 31 is the leftmost pixel.
    pub pattern: [u32; 32],
    /// Polygon Stipple X Offset.
    pub x_offset: u32,
    /// Polygon Stipple Y Offset.
    pub y_offset: u32,
}

impl Default for PolyStipple {
    fn default() -> Self {
        PolyStipple {
            pattern: [u32::MAX; 32],
            x_offset: 0,
            y_offset: 0,
        }
    }
}

/// 3DSTATE_LINE_STIPPLE; the two `current` fields are also the running state of the unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineStipple {
    /// Line Stipple Pattern; bit 0 comes first.
    pub pattern: u16,
    /// Line Stipple Repeat Count: pixels per bit.
    pub repeat_count: u32,
    /// Current Stipple Index, loaded when the command has Modify Enable.
    pub current_index: u32,
    /// Current Repeat Counter, loaded when the command has Modify Enable.
    pub current_repeat: u32,
}
