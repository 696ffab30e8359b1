//! Quadrilaterals: rings of four sides around a row in the middle.
//!
//! Microsoft's tessellator.cpp, `QuadGeneratePoints`, `QuadGenerateConnectivity`.

use crate::axis::{Axis, HALF};
use crate::factors::{Range, cull};
use crate::stitch::{Diagonals, Mesh, Row, regular, transition};
use crate::{Factors, ONE, Point, Setting};

const SIDES: usize = 4;
/// The directions of the inside.
const U: usize = 0;
const V: usize = 1;

struct Patch {
    edges: [Axis; SIDES],
    inside: [Axis; 2],
    /// Points of each inner direction, those at the sides included.
    counts: [u32; 2],
}

/// Puts out points and triangles; comes back with the number of points. `None`: culled.
pub fn cut(
    setting: &Setting,
    factors: &Factors,
    out: &mut Vec<Point>,
    mesh: Option<Mesh<'_>>,
) -> Option<usize> {
    let edges = factors.outside;
    if cull(&edges) {
        return None;
    }
    let range = Range::new(setting.partitioning, setting.limits);
    let mut all = edges.iter().chain(&factors.inside);
    let framed = all.any(|&factor| range.divides(factor));
    let inside = factors.inside.map(|factor| range.inside(factor, framed));
    let patch = Patch {
        edges: edges.map(|edge| range.edge(edge)),
        inside,
        counts: inside.map(|axis| axis.points().max(if axis.odd { 4 } else { 3 })),
    };
    let mut all = patch.edges.iter().chain(&patch.inside);
    if all.all(|axis| axis.factor == ONE) {
        out.extend([(0, 0), (ONE, 0), (ONE, ONE), (0, ONE)].map(|(u, v)| Point { u, v }));
        if let Some(mut mesh) = mesh {
            mesh.push([0, 1, 3]);
            mesh.push([1, 2, 3]);
        }
        return Some(out.len());
    }
    patch.sides(out);
    // Points of the inside come behind those of the sides.
    let sides = out.len() as u32;
    patch.rings(out);
    patch.middle(out);
    if let Some(mut mesh) = mesh {
        patch.triangles(sides, &mut mesh);
    }
    Some(out.len())
}

/// The direction along a side: sides are u = 0, v = 0, u = 1, v = 1.
const fn along(side: usize) -> usize {
    (side + 1) % 2
}

/// A point of a side, by its place along the side and across it.
fn point(side: usize, along_it: u32, across: u32) -> Point {
    if along(side) == U {
        Point {
            u: along_it,
            v: across,
        }
    } else {
        Point {
            u: across,
            v: along_it,
        }
    }
}

/// Whether a side is gone along from high places to low ones, on the way round from (0, 1).
const fn falls(side: usize) -> bool {
    side == 0 || side == 3
}

impl Patch {
    fn sides(&self, out: &mut Vec<Point>) {
        for (side, axis) in self.edges.iter().enumerate() {
            let last = axis.points() - 1;
            let across = if side < 2 { 0 } else { ONE };
            out.extend((0..last).map(|at| {
                let at = if falls(side) { last - at } else { at };
                point(side, axis.place(at), across)
            }));
        }
    }

    /// The points of the inside, ring after ring.
    fn rings(&self, out: &mut Vec<Point>) {
        for ring in 1..self.smaller() / 2 {
            let last = self.counts.map(|count| count - 1 - ring);
            for side in 0..SIDES {
                let (along, across) = (along(side), side % 2);
                // PANIC: directions are 0 and 1.
                let at = if side < 2 { ring } else { last[across] };
                let across = self.inside[across].place(at);
                let (axis, last) = (&self.inside[along], last[along]);
                out.extend((ring..last).map(|at| {
                    let at = if falls(side) { last - (at - ring) } else { at };
                    point(side, axis.place(at), across)
                }));
            }
        }
    }

    /// Points of the shorter inner direction.
    fn smaller(&self) -> u32 {
        self.counts[U].min(self.counts[V])
    }

    /// An even inside has a row of points in its middle.
    fn middle(&self, out: &mut Vec<Point>) {
        let first = self.smaller() / 2;
        let [u, v] = self.counts;
        if u > v && !self.inside[V].odd {
            let axis = &self.inside[U];
            out.extend((first..u - first).map(|at| Point {
                u: axis.place(at),
                v: HALF,
            }));
        } else if v >= u && !self.inside[U].odd {
            let axis = &self.inside[V];
            out.extend((first..v - first).rev().map(|at| Point {
                u: HALF,
                v: axis.place(at),
            }));
        }
    }

    /// Whether a ring's points of a direction are the row in the middle, and those of the other direction its ends: both sides
    /// along it share the points.
    fn is_row(&self, direction: usize, ring: u32) -> bool {
        // PANIC: directions are 0 and 1.
        let across = 1 - direction;
        !self.inside[across].odd && ring == self.counts[across].div_ceil(2) - 1
    }

    fn triangles(&self, sides: u32, mesh: &mut Mesh<'_>) {
        let (mut outer, mut inner) = (0, sides);
        let mut counts = self.edges.map(|axis| axis.points());
        for ring in 1..self.smaller().div_ceil(2) {
            let inside = self.counts.map(|count| count - 2 * ring);
            let first = (outer, inner);
            for (side, outside) in counts.iter_mut().enumerate() {
                let direction = along(side);
                // PANIC: directions are 0 and 1.
                let count = inside[direction];
                let row = self.is_row(direction, ring);
                let mut rows = (Row::from(inner), Row::from(outer));
                match (side, row) {
                    (2 | 3, true) => rows.0 = Row::down(inner),
                    (3, false) => rows.0 = rows.0.with(count - 1, first.1),
                    _ => {}
                }
                if side == 3 {
                    rows.1 = rows.1.with(*outside - 1, first.0);
                }
                if ring == 1 {
                    let axes = (&self.inside[direction], &self.edges[side]);
                    transition(mesh, (rows.0, axes.0), (rows.1, axes.1));
                } else {
                    regular(mesh, (true, Diagonals::Mirrored), count, rows.0, rows.1);
                }
                outer += *outside - 1;
                if side == 2 && row {
                    inner -= count - 1;
                } else {
                    inner += count - 1;
                }
                *outside = count;
            }
        }
        self.centre(outer, mesh);
    }

    /// An odd inside has a row of quadrilaterals in its middle: the innermost ring, whose first point is `first`.
    fn centre(&self, first: u32, mesh: &mut Mesh<'_>) {
        let [u, v] = self.counts;
        let quads = |long: usize, short: usize| {
            // PANIC: directions are 0 and 1.
            let more = self.counts[long] / 2 - self.counts[short] / 2;
            2 * more + if self.inside[long].odd { 1 } else { 2 }
        };
        if u > v && self.inside[V].odd {
            let quads = quads(U, V);
            let inside = Row::down(first + 2 * quads + 2).with(0, first);
            let outside = Row::from(first + 1);
            let plain = (false, Diagonals::Forward);
            regular(mesh, plain, quads + 1, inside, outside);
        } else if v >= u && self.inside[U].odd {
            let quads = quads(V, U);
            let diagonals = if self.inside[V].odd {
                Diagonals::ForwardExceptMiddle
            } else {
                Diagonals::Forward
            };
            let inside = Row::down(first + 2 * quads + 1);
            regular(
                mesh,
                (false, diagonals),
                quads + 1,
                inside,
                Row::from(first),
            );
        }
    }
}
