//! Plain state of the colour calculator.
//!
//! PRM: volume 2, windower (COLOR_CALC_STATE, CC_VIEWPORT).

use super::blend::Equation;
use super::compare::Compare;
use super::logic::LogicOp;
use super::stencil::Face;

/// A state with reserved encodings in a field that is in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CcError {
    /// Blend factor.
    #[error("{which} blend factor {raw} is reserved")]
    Factor {
        /// Which of the four.
        which: &'static str,
        /// The field.
        raw: u32,
    },
    /// Blend function.
    #[error("{which} blend function {raw} is reserved")]
    Function {
        /// Colour or alpha.
        which: &'static str,
        /// The field.
        raw: u32,
    },
    /// Clamp range.
    #[error("colour clamp range {0} is reserved")]
    ClampRange(u32),
}

/// What the alpha test compares.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum AlphaReference {
    /// Alpha rounded to UNORM8.
    Unorm8(u8),
    /// Alpha as a float.
    Float(f32),
}

/// The alpha test.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AlphaTest {
    /// Comparison of the pixel's alpha with the reference.
    pub function: Compare,
    /// Reference value.
    pub reference: AlphaReference,
}

/// Range that colours are clamped to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ClampRange {
    /// 0..=1.
    #[default]
    Unorm,
    /// -1..=1.
    Snorm,
    /// What the render target's format can hold.
    TargetFormat,
}

/// Depth test and write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DepthState {
    /// The test is made; otherwise all pixels pass.
    pub test: bool,
    /// Passing pixels write their depth.
    pub write: bool,
    /// Comparison of the pixel's depth with the buffer's.
    pub function: Compare,
}

/// Stencil test and update.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StencilState {
    /// The test is made; otherwise all pixels pass and stencil stays.
    pub test: bool,
    /// Stencil is written.
    pub write: bool,
    /// Back-facing pixels use `back`.
    pub double_sided: bool,
    /// Front face, and back face when not double-sided.
    pub front: Face,
    /// Back face.
    pub back: Face,
}

/// The colour calculator's state.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CcState {
    /// Alpha test, when enabled.
    pub alpha_test: Option<AlphaTest>,
    /// Colour equation, when blending is enabled.
    pub blend: Option<Equation>,
    /// Alpha's equation: its own, or the colour's.
    pub blend_alpha: Equation,
    /// Blend constant: R, G, B, A.
    pub constant: [f32; 4],
    /// Logic op, when enabled.
    pub logic_op: Option<LogicOp>,
    /// Dither offsets (x, y), when enabled.
    pub dither: Option<(u32, u32)>,
    /// Clamp sources before blending.
    pub pre_clamp: bool,
    /// Clamp after blending.
    pub post_clamp: bool,
    /// Range of both clamps.
    pub clamp_range: ClampRange,
    /// Depth.
    pub depth: DepthState,
    /// Stencil.
    pub stencil: StencilState,
    /// Depth range of CC_VIEWPORT; `None` before one was loaded: no clamp.
    pub depth_range: Option<(f32, f32)>,
    /// Passing pixels are counted (PS_DEPTH_COUNT).
    pub statistics: bool,
    /// CC_VIEWPORT, relative to the general state base.
    pub viewport_offset: u32,
    /// Channels that are not written, whatever the surface says: bit 0 red .. bit 3 alpha.
    pub write_disables: u32,
    /// Alpha decides how many samples of a pixel are written.
    pub alpha_to_coverage: bool,
    /// Alpha is 1 when it is written.
    pub alpha_to_one: bool,
}

/// Where states of the colour calculator lie, relative to the base of dynamic state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CcPointers {
    /// COLOR_CALC_STATE.
    pub color_calc: u32,
    /// BLEND_STATE, where a generation has it apart: an entry a render target.
    pub blend: u32,
    /// DEPTH_STENCIL_STATE, likewise.
    pub depth_stencil: u32,
    /// CC_VIEWPORTs, likewise.
    pub viewports: u32,
}

/// Which state of the colour calculator pixels are written with.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct CcRequest {
    /// Where the structures lie.
    pub pointers: CcPointers,
    /// Viewport.
    pub viewport: u32,
    /// Render target, by its place in BLEND_STATE.
    pub target: u32,
    /// Blend constant, where a command sets it.
    pub constant: [f32; 4],
}

impl CcState {
    /// Whether a test or write needs 3DSTATE_DEPTH_BUFFER.
    pub const fn uses_depth_buffer(&self) -> bool {
        self.depth.test || self.depth.write || self.stencil.test
    }
}
