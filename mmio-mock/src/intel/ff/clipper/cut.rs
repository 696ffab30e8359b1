//! Polygons, lines and points cut at planes of clip space.
//!
//! PRM: volume 2, clip stage (outcodes, trivial reject, guard band). The way is that of Sutherland and Hodgman.

use crate::intel::ff::link::Corner;
use crate::intel::ff::state::Bounds;

/// Clip distances of a vertex.
const DISTANCES: usize = 8;
/// Planes besides the distances: four sides, near, far, and that of the eye.
const SIDES: usize = 7;
/// Most corners: a plane adds one at most.
const CORNERS: usize = 3 + DISTANCES + SIDES;

/// The least w of what is drawn: nothing behind the eye, and nothing in it, can be divided.
const LEAST_W: f64 = 1e-10;

/// A vertex of a polygon that is being cut.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vertex {
    /// Position in clip space.
    pub position: [f64; 4],
    /// Clip distances.
    pub distances: [f64; DISTANCES],
    /// How far along the line it lies.
    pub along: f64,
}

impl Vertex {
    fn between(a: &Vertex, b: &Vertex, t: f64) -> Vertex {
        let mix = |a: f64, b: f64| a + (b - a) * t;
        Vertex {
            position: std::array::from_fn(|i| mix(a.position[i], b.position[i])),
            distances: std::array::from_fn(|i| mix(a.distances[i], b.distances[i])),
            along: mix(a.along, b.along),
        }
    }
}

/// What is left of a point, line or triangle.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    vertices: [Vertex; CORNERS],
    /// The edge from each vertex to the next is part of the outline.
    edges: [bool; CORNERS],
    count: usize,
}

impl Cut {
    /// All of it.
    pub fn new(vertices: &[Vertex], edges: [bool; 3]) -> Cut {
        let mut cut = Cut {
            vertices: [Vertex::default(); CORNERS],
            edges: [true; CORNERS],
            count: vertices.len().min(3),
        };
        for (i, (to, from)) in cut.vertices.iter_mut().zip(vertices).enumerate() {
            *to = *from;
            to.along = if i == 0 { 0.0 } else { 1.0 };
        }
        cut.edges[..3].copy_from_slice(&edges);
        cut
    }

    /// Corners.
    pub fn len(&self) -> usize {
        self.count
    }

    fn whole(&self) -> &[Vertex] {
        // PANIC: the count never passes the array (see `push`).
        &self.vertices[..self.count]
    }

    /// A corner.
    pub fn corner(&self, at: usize) -> Corner {
        self.vertices.get(at).map(Corner::from).unwrap_or_default()
    }

    /// Whether the edge from a corner to the next is part of the outline.
    pub fn edge(&self, at: usize) -> bool {
        self.edges.get(at).copied().unwrap_or(true)
    }

    fn push(&mut self, vertex: Vertex, edge: bool) {
        if let (Some(to), Some(flag)) = (
            self.vertices.get_mut(self.count),
            self.edges.get_mut(self.count),
        ) {
            (*to, *flag) = (vertex, edge);
            self.count += 1;
        }
    }

    /// Keeps where `inside` is not negative.
    fn at(&mut self, inside: impl Fn(&Vertex) -> f64) {
        let old = *self;
        let old = old.whole();
        let edges = self.edges;
        self.count = 0;
        for (i, a) in old.iter().enumerate() {
            let da = inside(a);
            if old.len() == 1 {
                if !is_outside(da) {
                    self.push(*a, true);
                }
                return;
            }
            // A line ends at its second vertex.
            let open = old.len() == 2 && i == 1;
            // PANIC: the remainder is an index.
            let b = &old[(i + 1) % old.len()];
            let db = inside(b);
            if !is_outside(da) {
                self.push(*a, edges[i]);
            }
            if open || is_outside(da) == is_outside(db) {
                continue;
            }
            // Both neighbours of an edge find the same point: the way always begins outside.
            let (outer, inner, outer_distance, inner_distance) = if is_outside(da) {
                (a, b, da, db)
            } else {
                (b, a, db, da)
            };
            let t = outer_distance / (outer_distance - inner_distance);
            // A vertex without a distance gives no point on the way.
            let t = if t.is_finite() { t } else { 1.0 };
            let new = Vertex::between(outer, inner, t);
            // Where the polygon is left, the new edge begins, which is part of the outline (OpenGL 2.1, 2.12).
            self.push(new, !is_outside(da) || edges[i]);
        }
    }
}

/// The planes of a draw.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Planes {
    /// Anything is tested.
    pub on: bool,
    /// Sides that objects are rejected at.
    pub view: Option<Bounds>,
    /// Sides that objects are cut at.
    pub band: Option<Bounds>,
    /// The near plane, in multiples of w; the far plane lies at w.
    pub near: Option<f64>,
    /// Clip distances that objects are cut at.
    pub clip: u8,
    /// Clip distances that objects are only rejected at.
    pub cull: u8,
}

/// Whether a distance is that of a point outside; one that is no number is.
fn is_outside(distance: f64) -> bool {
    distance.is_nan() || distance < 0.0
}

/// Distances from the sides: positive inside.
fn sides(bounds: &Bounds, [x, y, _, w]: [f64; 4]) -> [f64; 4] {
    let [left, right, low, high] = [bounds.x.0, bounds.x.1, bounds.y.0, bounds.y.1].map(f64::from);
    [x - left * w, right * w - x, y - low * w, high * w - y]
}

impl Planes {
    /// Whether clip distances are looked at.
    pub fn uses_distances(&self) -> bool {
        self.clip | self.cull != 0
    }

    /// Cuts at all planes that are crossed; gives their number, or `None` when nothing is left. What has to be whole is
    /// rejected or stays.
    pub fn apply(&self, cut: &mut Cut, whole: bool) -> Option<u64> {
        if !self.on {
            return Some(0);
        }
        let numbers = |v: &Vertex| v.position.iter().all(|c| c.is_finite());
        if !cut.whole().iter().all(numbers) || self.rejects(cut.whole()) {
            return None;
        }
        if whole {
            return Some(0);
        }
        let mut planes = 0;
        let mut at = |cut: &mut Cut, inside: &dyn Fn(&Vertex) -> f64| {
            if cut.whole().iter().any(|v| is_outside(inside(v))) {
                cut.at(inside);
                planes += 1;
            }
        };
        at(cut, &|v| v.position[3] - LEAST_W);
        if let Some(near) = self.near {
            at(cut, &|v| v.position[2] - near * v.position[3]);
            at(cut, &|v| v.position[3] - v.position[2]);
        }
        for n in (0..DISTANCES).filter(|n| self.clip >> n & 1 != 0) {
            at(cut, &|v| v.distances[n]);
        }
        if let Some(band) = &self.band {
            for n in 0..4 {
                at(cut, &|v| sides(band, v.position)[n]);
            }
        }
        (cut.len() > 0).then_some(planes)
    }

    /// Whether all vertices lie outside of one plane.
    fn rejects(&self, vertices: &[Vertex]) -> bool {
        let outside =
            |inside: &dyn Fn(&Vertex) -> f64| vertices.iter().all(|v| is_outside(inside(v)));
        let side = |view: &Bounds| (0..4).any(|n| outside(&|v| sides(view, v.position)[n]));
        let depth = |near: f64| {
            outside(&|v| v.position[2] - near * v.position[3])
                || outside(&|v| v.position[3] - v.position[2])
        };
        self.view.as_ref().is_some_and(side)
            || self.near.is_some_and(depth)
            || (0..DISTANCES)
                .filter(|n| (self.clip | self.cull) >> n & 1 != 0)
                .any(|n| outside(&|v| v.distances[n]))
    }
}
