//! From a set-up primitive to the shape that is walked.
//!
//! PRM: volume 2, strips-and-fans and windower (primitive kinds, drawing rectangle, point rules).
//!
//! Not modelled: rectangles that are turned against the axes as more than a parallelogram.

use super::fixed::{ONE, Point, snap};
use super::line::{Diamond, SharpLine, SmoothLine};
use super::polygon::{EdgeRule, Polygon};
use super::samples::lines_are_rectangles;
use super::shape::Shape;
use super::{PrimitiveKind, ScreenVertex, SetupPrimitive, WizState};
use crate::intel::ff::state::windower::{PixelRect, PointRule};

/// A primitive's outline on the subpixel grid.
#[derive(Clone, Copy, Debug)]
pub struct Outline {
    /// What is covered.
    pub shape: Shape,
    /// Snapped vertices; a line's in drawing order.
    pub points: [Point; 3],
    /// The shape carries antialias alpha.
    pub smooth: bool,
}

/// Pixels that may be drawn at all: drawing rectangle and scissor.
pub fn clip(state: &WizState, viewport: u8) -> PixelRect {
    let rect = &state.drawing_rectangle;
    let mut clip = rect.clip;
    let scissor = match state.limits(viewport) {
        Some(limits) => limits.scissor,
        None => state.scissor,
    };
    if let Some(scissor) = scissor {
        clip = clip.intersect(PixelRect {
            x_min: scissor.x_min.saturating_add(rect.origin_x),
            y_min: scissor.y_min.saturating_add(rect.origin_y),
            x_max: scissor.x_max.saturating_add(rect.origin_x),
            y_max: scissor.y_max.saturating_add(rect.origin_y),
        });
    }
    // Subspan coordinates in the payload are U16.
    clip.intersect(PixelRect {
        x_min: 0,
        y_min: 0,
        x_max: 0xffff,
        y_max: 0xffff,
    })
}

fn point(state: &WizState, v: &ScreenVertex, place: [f32; 2]) -> Option<Point> {
    let raster = &state.raster;
    let rect = &state.drawing_rectangle;
    Some(Point {
        x: snap(v.x, place[0], raster.subpixel_bits)? + i64::from(rect.origin_x) * ONE,
        y: snap(v.y, place[1], raster.subpixel_bits)? + i64::from(rect.origin_y) * ONE,
    })
}

/// A rectangle around a line.
fn around(points: &[Point; 3], width: f32) -> Option<Polygon> {
    let [from, to, _] = *points;
    let (dx, dy) = ((to.x - from.x) as f64, (to.y - from.y) as f64);
    let length = dx.hypot(dy);
    if length == 0.0 {
        return None;
    }
    let half = f64::from(width.max(1.0)) * ONE as f64 / 2.0 / length;
    // CAST: a line is at most eight pixels wide.
    let (across, down) = ((-dy * half).round() as i64, (dx * half).round() as i64);
    let at = |p: Point, side: i64| Point {
        x: p.x + side * across,
        y: p.y + side * down,
    };
    let corners = [at(from, -1), at(to, -1), at(to, 1), at(from, 1)];
    Polygon::new(&corners, EdgeRule::TopLeft)
}

/// The origin of the setup planes as the payload carries it in r1.0 and r1.1: in coordinates whose
/// integers are sample points, not snapped.
pub fn start(state: &WizState, primitive: &SetupPrimitive) -> [f32; 2] {
    let [v, ..] = &primitive.v;
    let rect = &state.drawing_rectangle;
    // The planes of a point start at its upper left corner: setup kernels let sprite coordinates begin
    // with their constant and grow by 1/width a pixel (Mesa brw_compile_sf.c).
    let corner = match primitive.kind {
        PrimitiveKind::Point => point_width(primitive.point_width) / 2.0,
        _ => 0.0,
    };
    [
        v.x - corner - state.raster.origin_bias_x + rect.origin_x as f32,
        v.y - corner - state.raster.origin_bias_y + rect.origin_y as f32,
    ]
}

/// Points have a width between one pixel and what U8.3 holds.
fn point_width(width: f32) -> f32 {
    width.clamp(1.0, 255.875)
}

fn rectangle(points: &[Point; 3]) -> Option<Polygon> {
    let [a, b, c] = *points;
    let (left, right) = (a.x.min(b.x).min(c.x), a.x.max(b.x).max(c.x));
    let (top, bottom) = (a.y.min(b.y).min(c.y), a.y.max(b.y).max(c.y));
    let aligned = points
        .iter()
        .all(|p| (p.x == left || p.x == right) && (p.y == top || p.y == bottom));
    let corners = if aligned {
        [
            Point { x: left, y: top },
            Point { x: right, y: top },
            Point {
                x: right,
                y: bottom,
            },
            Point { x: left, y: bottom },
        ]
    } else {
        let d = Point {
            x: a.x + c.x - b.x,
            y: a.y + c.y - b.y,
        };
        [a, b, c, d]
    };
    Polygon::new(&corners, EdgeRule::TopLeft)
}

fn square(center: Point, width: f32, rule: PointRule) -> Option<Polygon> {
    let width = f64::from(point_width(width));
    let half = (width * f64::from(ONE as i32) / 2.0).round() as i64;
    let at = |sx: i64, sy: i64| Point {
        x: center.x + sx * half,
        y: center.y + sy * half,
    };
    let rule = match rule {
        PointRule::UpperLeft => EdgeRule::TopLeft,
        PointRule::UpperRight => EdgeRule::TopRight,
    };
    Polygon::new(&[at(-1, -1), at(1, -1), at(1, 1), at(-1, 1)], rule)
}

/// The outline of a primitive; `None` when it covers nothing or has a NaN in it.
pub fn outline(state: &WizState, primitive: &SetupPrimitive) -> Option<Outline> {
    let raster = &state.raster;
    outline_at(
        state,
        primitive,
        [raster.origin_bias_x, raster.origin_bias_y],
    )
}

/// The outline where the places of samples have whole coordinates: `place` is that of pixel (0, 0).
pub fn outline_at(
    state: &WizState,
    primitive: &SetupPrimitive,
    place: [f32; 2],
) -> Option<Outline> {
    let mut points = [Point::default(); 3];
    let used = match primitive.kind {
        PrimitiveKind::Triangle | PrimitiveKind::Rectangle => 3,
        PrimitiveKind::Line => 2,
        PrimitiveKind::Point => 1,
    };
    for (to, v) in points.iter_mut().zip(&primitive.v).take(used) {
        *to = point(state, v, place)?;
    }
    let mut smooth = false;
    let shape = match primitive.kind {
        PrimitiveKind::Triangle => Shape::Polygon(Polygon::new(&points, EdgeRule::TopLeft)?),
        PrimitiveKind::Rectangle => Shape::Polygon(rectangle(&points)?),
        PrimitiveKind::Point => {
            let rule = state.raster.point_rule;
            Shape::Polygon(square(points[0], primitive.point_width, rule)?)
        }
        PrimitiveKind::Line if lines_are_rectangles(state, primitive.kind) => {
            Shape::Polygon(around(&points, primitive.line_width)?)
        }
        PrimitiveKind::Line => {
            if primitive.reversed {
                points.swap(0, 1);
            }
            let [from, to, _] = points;
            let width = primitive.line_width;
            // Zero width is a line of one pixel, antialiased or not; so is a NaN.
            if state.raster.antialiasing_enable && width > 0.0 {
                smooth = true;
                let wm = &state.wm;
                Shape::Smooth(SmoothLine::new(
                    from,
                    to,
                    width,
                    wm.line_antialiasing_region_width,
                    wm.line_end_cap_antialiasing_region_width,
                )?)
            } else {
                // The manual speaks of zero width; width 1 covers the same pixels on hardware (a G41 and piglit's
                // vs-clip-vertex-primitives).
                let diamond = if state.wm.legacy_diamond_line_rasterization {
                    Diamond::OpenGl
                } else {
                    Diamond::Direct3d10
                };
                // CAST: saturates; OpenGL 2.1, 3.4.2.1: rounded to a whole number.
                let width = width.round() as u32;
                let last = state.raster.last_pixel_enable;
                Shape::Sharp(SharpLine::new(from, to, diamond, width, last))
            }
        }
    };
    Some(Outline {
        shape,
        points,
        smooth,
    })
}
