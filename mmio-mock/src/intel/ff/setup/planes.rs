//! Vertices on the screen, and the planes through them.
//!
//! PRM: volume 2, strips and fans (viewport transform). A triangle's weights are linear before they are divided by w, also
//! where a vertex lies behind the eye: they come from homogeneous coordinates (Olano and Greer, "Triangle scan conversion using
//! 2D homogeneous coordinates"), and no clipping changes them.

use crate::intel::ff::payload::interpolation::{Interpolation, Plane};
use crate::intel::ff::state::Viewport;
use crate::intel::ff::wiz::ScreenVertex;

/// A vertex after the viewport transform, not divided by w yet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Placed {
    x: f64,
    y: f64,
    z: f64,
    w: f64,
    /// 1/w as weights are divided by it: of a vertex that was on the screen before, what stands in the place of w.
    rhw: f64,
}

impl Placed {
    /// A vertex of the clipper. Without a viewport, coordinates are pixels.
    pub fn new(position: [f64; 4], viewport: Option<&Viewport>, divided: bool) -> Placed {
        let [x, y, z, last] = position;
        let (w, rhw) = if divided {
            (1.0, last)
        } else {
            (last, 1.0 / last)
        };
        let mut placed = Placed { x, y, z, w, rhw };
        if let Some(viewport) = viewport {
            let scale = viewport.scale.map(f64::from);
            let offset = viewport.offset.map(f64::from);
            placed.x = x * scale[0] + offset[0] * w;
            placed.y = y * scale[1] + offset[1] * w;
            placed.z = z * scale[2] + offset[2] * w;
        }
        placed
    }

    fn point(&self) -> [f64; 2] {
        [self.x / self.w, self.y / self.w]
    }

    fn depth(&self) -> f64 {
        self.z / self.w
    }

    /// The vertex as the windower takes it.
    pub fn screen(&self) -> ScreenVertex {
        let [x, y] = self.point();
        // CAST: the windower's precision.
        ScreenVertex {
            x: x as f32,
            y: y as f32,
            z: self.depth() as f32,
            rhw: self.rhw as f32,
        }
    }
}

/// A point: its weights are how far a pixel lies from its left and its upper side, in its width.
pub fn point(at: &Placed, width: f32) -> Interpolation {
    square(at.point(), (at.depth(), at.rhw), width)
}

/// A corner of a triangle that is drawn as a point, from what the triangle has there.
pub fn sprite(at: &Interpolation, [x, y]: [f64; 2], width: f32) -> Interpolation {
    square([x, y], (at.depth.at(x, y), at.rhw.at(x, y)), width)
}

fn square([x, y]: [f64; 2], (depth, rhw): (f64, f64), width: f32) -> Interpolation {
    let width = f64::from(width);
    let across = |side: f64, slope: [f64; 2]| Plane {
        slope: slope.map(|s| s / width),
        base: -side / width,
    };
    let linear = [
        across(x - width / 2.0, [1.0, 0.0]),
        across(y - width / 2.0, [0.0, 1.0]),
    ];
    Interpolation {
        depth: Plane::constant(depth),
        rhw: Plane::constant(rhw),
        weights: linear.map(|plane| scaled(plane, rhw)),
        linear,
    }
}

fn scaled(plane: Plane, by: f64) -> Plane {
    Plane {
        slope: plane.slope.map(|s| s * by),
        base: plane.base * by,
    }
}

/// The plane that changes along a line alone.
fn along([a, b]: [[f64; 2]; 2], [from, to]: [f64; 2]) -> Plane {
    let d = [b[0] - a[0], b[1] - a[1]];
    let length = d[0] * d[0] + d[1] * d[1];
    let slope = d.map(|d| d * (to - from) / length);
    Plane {
        slope,
        base: from - slope[0] * a[0] - slope[1] * a[1],
    }
}

/// A line between two vertices, of which the part between two corners is left: each with its place on the way between the
/// vertices. `None` for one of no length.
pub fn line(ends: [&Placed; 2], corners: [(&Placed, f64); 2]) -> Option<Interpolation> {
    let points = corners.map(|(corner, _)| corner.point());
    if points[0] == points[1] {
        return None;
    }
    let plane =
        |of: &dyn Fn(&Placed, f64) -> f64| along(points, corners.map(|(corner, t)| of(corner, t)));
    // A vertex behind the eye has no place on the screen.
    let places = ends.map(Placed::point);
    let linear = if ends.iter().all(|end| end.w > 0.0) && places[0] != places[1] {
        along(places, [0.0, 1.0])
    } else {
        plane(&|_, t| t)
    };
    Some(Interpolation {
        depth: plane(&|corner, _| corner.depth()),
        rhw: plane(&|corner, _| corner.rhw),
        weights: [plane(&|corner, t| corner.rhw * t), Plane::default()],
        linear: [linear, Plane::default()],
    })
}

/// The cross product.
fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// For each of three columns, the plane that is 1 there and 0 at both others; and their determinant.
fn weights(columns: [[f64; 3]; 3]) -> Option<(f64, [Plane; 3])> {
    let [a, b, c] = columns;
    let normals = [cross(b, c), cross(c, a), cross(a, b)];
    let area = a.iter().zip(&normals[0]).map(|(a, n)| a * n).sum::<f64>();
    if area == 0.0 || !area.is_finite() {
        return None;
    }
    let plane = |[x, y, base]: [f64; 3]| Plane {
        slope: [x / area, y / area],
        base: base / area,
    };
    Some((area, normals.map(plane)))
}

/// Sum of planes, each times a factor.
fn sum(planes: &[Plane; 3], factors: [f64; 3]) -> Plane {
    let mut total = Plane::default();
    for (plane, factor) in planes.iter().zip(factors) {
        total.base += plane.base * factor;
        total.slope[0] += plane.slope[0] * factor;
        total.slope[1] += plane.slope[1] * factor;
    }
    total
}

/// A triangle of three vertices, of which the part between three corners is left; with its area, whose sign is that of
/// the part in front of the eye. `None` for one that has none.
pub fn triangle(vertices: &[Placed; 3], corners: &[Placed; 3]) -> Option<(f64, Interpolation)> {
    let (area, shares) = weights(vertices.map(|v| [v.x, v.y, v.w]))?;
    // The shares are divided by w already; they are not where w says nothing of perspective.
    let rhw = sum(&shares, vertices.map(|v| v.rhw * v.w));
    let divided = vertices.map(|v| v.rhw * v.w);
    let perspective = [scaled(shares[1], divided[1]), scaled(shares[2], divided[2])];
    let flat = |v: Placed| {
        let [x, y] = v.point();
        [x, y, 1.0]
    };
    let linear = if vertices.iter().all(|v| v.w > 0.0) {
        let (_, planes) = weights(vertices.map(flat))?;
        [planes[1], planes[2]]
    } else {
        // A vertex behind the eye has no place on the screen: the corners share out its weight.
        let (_, planes) = weights(corners.map(flat))?;
        [1, 2].map(|n: usize| {
            let at = |corner: &Placed| {
                let [x, y] = corner.point();
                shares[n].at(x, y) * divided[n] / rhw.at(x, y)
            };
            sum(&planes, [at(&corners[0]), at(&corners[1]), at(&corners[2])])
        })
    };
    let planes = Interpolation {
        depth: sum(&shares, vertices.map(|v| v.z)),
        rhw,
        weights: perspective,
        linear,
    };
    Some((area, planes))
}
