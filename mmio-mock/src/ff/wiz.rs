//! WIZ: the windower, which turns set-up primitives into pixel shader threads.
//!
//! PRM: volume 2, windower; volume 4, 3.3.9 (debug), 5.10.6 (what the pixel shader sends on).
//! Rasterisation is exact in fixed point; depth and stencil tests are made here when the state
//! allows it ("promoted"), otherwise the payload carries what the render target write needs.
//!
//! Not modelled: contiguous dispatch (32 pixels), software tiled rendering, threads that mix
//! subspans of several primitives.

pub mod fixed;
pub mod iz;
pub mod line;
pub mod polygon;
pub mod shape;
pub mod state;

pub use state::{
    Curbe, DrawingRectangle, LineStipple, PixelRect, PointRule, PolyStipple, RasterState, WmState,
};

use crate::urb::UrbHandle;

/// A vertex after the viewport transform, not yet snapped to the subpixel grid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScreenVertex {
    /// Pixels to the right of the drawing rectangle's origin.
    pub x: f32,
    /// Pixels below the drawing rectangle's origin.
    pub y: f32,
    /// Depth.
    pub z: f32,
    /// 1/w.
    pub rhw: f32,
}

/// What the vertices of a primitive mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrimitiveKind {
    /// Three corners.
    #[default]
    Triangle,
    /// Three corners of a rectangle along the axes.
    Rectangle,
    /// Two ends.
    Line,
    /// One centre.
    Point,
}

/// A primitive as strips-and-fans hands it over.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SetupPrimitive {
    /// Kind.
    pub kind: PrimitiveKind,
    /// Vertices in the order in which the setup thread saw them: `v[0]` is the start vertex, where
    /// the attribute and depth planes have their origin. Lines go from `v[0]` to `v[1]` unless
    /// [`Self::reversed`] is set.
    pub v: [ScreenVertex; 3],
    /// Strips-and-fans exchanged the ends of the line: it is drawn from `v[1]` to `v[0]`.
    pub reversed: bool,
    /// Point width in pixels.
    pub point_width: f32,
    /// Line width in pixels; 0 asks for one-pixel lines by the diamond rule.
    pub line_width: f32,
    /// The back side is seen.
    pub back_facing: bool,
    /// Polygon stipple applies (triangles of all topologies but TRIFAN_NOSTIPPLE).
    pub polygon_stipple: bool,
    /// The line stipple pattern starts anew (list lines, first line of a strip or loop).
    pub stipple_restart: bool,
    /// URB entry of the setup thread's result.
    pub setup_handle: UrbHandle,
    /// Primitive sequence number, 24 bits, for debugging.
    pub sequence: u32,
    /// The SF snapshot hit this primitive (PRM vol4 3.3.8).
    pub snapshot: bool,
    /// Viewport index.
    pub viewport_index: u8,
    /// Render target array index.
    pub render_target_array_index: u16,
}
