//! Plain state of the windower: what a primitive is rasterised and tested with.
//!
//! PRM: volume 2 (WM_STATE, COLOR_CALC_STATE, 3DSTATE_*); fields as in genxml gen4.
//! Not modelled: software tiled rendering.

use crate::intel::cc::CcState;
use crate::intel::ff::payload::pixels::Location;
use crate::intel::ff::state::UnitConfig;
use crate::intel::shared::context::SAMPLES;
use crate::intel::surface::DepthBuffer;
use crate::intel::td::KernelState;

/// WM_STATE.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WmState {
    /// Threads. The kernel is that of 8-pixel threads; what they read of a URB entry is the setup entry.
    pub unit: UnitConfig,
    /// Kernel of 16-pixel threads.
    pub kernel_16: KernelState,
    /// Kernel of 32-pixel threads, where there are such.
    pub kernel_32: Option<KernelState>,
    /// Of several kernels, the narrowest that holds the pixels is started; otherwise the widest.
    pub narrowest: bool,
    /// Depth Coefficient URB Read Offset, in 256-bit rows of the setup entry.
    pub depth_coefficient_urb_read_offset: u16,
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
    /// Threads that may be alive at the same time.
    pub maximum_threads: u32,
    /// Global Depth Offset Constant.
    pub global_depth_offset_constant: f32,
    /// Global Depth Offset Scale.
    pub global_depth_offset_scale: f32,
    /// Barycentric Interpolation Mode: weights that threads get, with regard to w and without, each at three locations.
    pub barycentrics: u8,
    /// Pixel Shader Uses Source W.
    pub pixel_shader_uses_source_w: bool,
    /// Position ZW Interpolation Mode.
    pub position_zw: Location,
    /// Position XY Offset Select.
    pub position_xy_offset: Option<Location>,
    /// Pixel Shader Uses Input Coverage Mask.
    pub input_coverage: bool,
    /// Kernels may ask the pixel interpolator for weights of the vertices.
    pub interpolates: bool,
    /// Render target writes need no header, and make the tests that cannot be made before the kernel. Otherwise header and
    /// payload have what they need.
    pub headerless: bool,
    /// Depth Buffer Clear: the value that primitives write to the depth buffer, and nothing else.
    pub depth_clear: Option<f32>,
    /// Primitives stand for a resolve.
    pub depth_resolve: Option<DepthResolve>,
    /// Samples of a pixel.
    pub samples: Samples,
    /// Whether tests of depth and stencil wait for threads.
    pub test_order: TestOrder,
}

/// Where depth and stencil are tested (Early Depth/Stencil Control).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TestOrder {
    /// Behind the thread as far as can be seen: ahead of it where it decides nothing.
    #[default]
    Normal,
    /// Behind the thread, which runs also for pixels that fail.
    Behind,
    /// Ahead of the thread: what it kills has been written, and its depth is ignored.
    Ahead,
}

/// Which of two buffers gets what the other one knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepthResolve {
    /// Depth Buffer Resolve Enable.
    Depth,
    /// Hierarchical Depth Buffer Resolve Enable.
    Hierarchical,
}

/// Multisampling (3DSTATE_MULTISAMPLE, 3DSTATE_SAMPLE_MASK, and the modes of 3DSTATE_WM).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Samples {
    /// Samples of a pixel: 1, 4 or 8.
    pub count: u8,
    /// Their places, in pixels from the upper left corner.
    pub places: [[f32; 2]; SAMPLES],
    /// A sample is covered by itself; otherwise all are covered where the pixel is.
    pub pattern: bool,
    /// A thread is for single samples, not for whole pixels.
    pub per_sample: bool,
    /// Samples that are written.
    pub mask: u8,
}

impl Default for Samples {
    fn default() -> Self {
        Samples {
            count: 1,
            places: [[0.5; 2]; SAMPLES],
            pattern: false,
            per_sample: false,
            mask: 0xff,
        }
    }
}

impl WmState {
    /// Whether pixels start threads.
    pub fn dispatches(&self) -> bool {
        self.thread_dispatch_enable && (self.dispatch_8 || self.dispatch_16 || self.dispatch_32)
    }

    /// Pixels of the widest threads that may be started.
    #[inline]
    pub fn widest(&self) -> usize {
        if self.dispatch_32 && self.kernel_32.is_some() {
            32
        } else if self.dispatch_16 {
            16
        } else {
            8
        }
    }

    /// The kernel for so many subspans of four pixels, and the pixels of its threads.
    #[inline]
    pub fn kernel(&self, subspans: usize) -> (&KernelState, u8) {
        let fits = |width: usize| self.narrowest && subspans * 4 <= width;
        match (self.widest(), &self.kernel_32) {
            (16 | 32, _) if self.dispatch_8 && fits(8) => (&self.unit.kernel, 8),
            (32, _) if self.dispatch_16 && fits(16) => (&self.kernel_16, 16),
            (32, Some(kernel)) => (kernel, 32),
            (16, _) => (&self.kernel_16, 16),
            _ => (&self.unit.kernel, 8),
        }
    }
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

    /// The least rectangle with the pixels of both.
    #[must_use]
    pub fn union(self, other: PixelRect) -> PixelRect {
        match (self.is_empty(), other.is_empty()) {
            (true, _) => other,
            (false, true) => self,
            (false, false) => PixelRect {
                x_min: self.x_min.min(other.x_min),
                y_min: self.y_min.min(other.y_min),
                x_max: self.x_max.max(other.x_max),
                y_max: self.y_max.max(other.y_max),
            },
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

/// What a viewport limits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ViewportLimits {
    /// Scissor rectangle, when enabled.
    pub scissor: Option<PixelRect>,
    /// Least and greatest depth (CC_VIEWPORT).
    pub depth: (f32, f32),
}

/// Everything that the windower works with besides the primitive.
#[derive(Clone, Debug)]
pub struct WizState {
    /// WM_STATE.
    pub wm: WmState,
    /// Raster fields of SF_STATE.
    pub raster: RasterState,
    /// 3DSTATE_DRAWING_RECTANGLE.
    pub drawing_rectangle: DrawingRectangle,
    /// Scissor rectangle of SF_VIEWPORT, when enabled, relative to the drawing rectangle's origin.
    pub scissor: Option<PixelRect>,
    /// Scissor rectangles and depth ranges by viewport, where primitives choose among several.
    pub viewports: Vec<ViewportLimits>,
    /// 3DSTATE_DEPTH_BUFFER; none (or a null surface): nothing is tested or written.
    pub depth_buffer: Option<DepthBuffer>,
    /// COLOR_CALC_STATE and CC_VIEWPORT, resolved.
    pub cc: CcState,
    /// COLOR_CALC_STATE, relative to General State Base Address.
    pub color_calc_state: u32,
    /// 3DSTATE_GLOBAL_DEPTH_OFFSET_CLAMP.
    pub depth_offset_clamp: f32,
    /// Polygon stipple.
    pub poly_stipple: PolyStipple,
    /// Line stipple.
    pub line_stipple: LineStipple,
}

impl WizState {
    /// The limits of a primitive's viewport, where it chooses among several.
    pub fn limits(&self, viewport: u8) -> Option<&ViewportLimits> {
        self.viewports.get(usize::from(viewport))
    }
}

impl Default for WizState {
    fn default() -> Self {
        WizState {
            wm: WmState::default(),
            raster: RasterState::default(),
            drawing_rectangle: DrawingRectangle::default(),
            scissor: None,
            viewports: Vec::new(),
            depth_buffer: None,
            cc: CcState::default(),
            color_calc_state: 0,
            depth_offset_clamp: 0.0,
            poly_stipple: PolyStipple::default(),
            line_stipple: LineStipple::default(),
        }
    }
}
