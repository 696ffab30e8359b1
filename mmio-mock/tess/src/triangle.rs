//! Triangles: rings of three sides around the centre.
//!
//! Microsoft's tessellator.cpp, `TriGeneratePoints`, `TriGenerateConnectivity`.

use crate::axis::{Axis, HALF};
use crate::factors::{Range, cull};
use crate::stitch::{Diagonals, Mesh, Row, regular, transition};
use crate::{Factors, ONE, Point, Setting};

const SIDES: usize = 3;
/// Two thirds: how far from a side the middle of an inner direction lies, in the length of that direction.
const TWO_THIRDS: u32 = 0xaaaa;
/// The centre.
const THIRD: u32 = 0x5555;

struct Patch {
    edges: [Axis; SIDES],
    inside: Axis,
    /// Points of the inner direction, those at the sides included.
    count: u32,
}

/// Puts out points and triangles; comes back with the number of points. `None`: culled.
pub fn cut(
    setting: &Setting,
    factors: &Factors,
    out: &mut Vec<Point>,
    mesh: Option<Mesh<'_>>,
) -> Option<usize> {
    let [a, b, c, _] = factors.outside;
    let edges = [a, b, c];
    if cull(&edges) {
        return None;
    }
    let range = Range::new(setting.partitioning, setting.limits);
    let framed = edges.iter().any(|&edge| range.divides(edge));
    let inside = range.inside(factors.inside[0], framed);
    let patch = Patch {
        edges: edges.map(|edge| range.edge(edge)),
        inside,
        count: inside.points().max(if inside.odd { 4 } else { 3 }),
    };
    let all = patch.edges.iter().chain([&patch.inside]);
    if all.into_iter().all(|axis| axis.factor == ONE) {
        out.extend([(0, ONE), (0, 0), (ONE, 0)].map(|(u, v)| Point { u, v }));
        if let Some(mut mesh) = mesh {
            mesh.push([0, 1, 2]);
        }
        return Some(out.len());
    }
    patch.sides(out);
    // Points of the inside come behind those of the sides.
    let sides = out.len() as u32;
    patch.rings(out);
    if let Some(mut mesh) = mesh {
        patch.triangles(sides, &mut mesh);
    }
    Some(out.len())
}

impl Patch {
    /// The points of the sides, from v = 1 round.
    fn sides(&self, out: &mut Vec<Point>) {
        for (side, axis) in self.edges.iter().enumerate() {
            let last = axis.points() - 1;
            out.extend((0..last).map(|point| {
                let at = axis.place(if side == 1 { point } else { last - point });
                match side {
                    0 => Point { u: 0, v: at },
                    1 => Point { u: at, v: 0 },
                    _ => Point { u: at, v: ONE - at },
                }
            }));
        }
    }

    /// The points of the inside, ring after ring.
    fn rings(&self, out: &mut Vec<Point>) {
        for ring in 1..self.count / 2 {
            let last = self.count - 1 - ring;
            let off = (self.inside.place(ring) * TWO_THIRDS + HALF) / ONE;
            // Along a side, each third of the way inwards takes half of that from both ends.
            let back = off.div_ceil(2);
            for side in 0..SIDES {
                out.extend((ring..last).map(|point| {
                    let point = if side == 1 {
                        point
                    } else {
                        last - (point - ring)
                    };
                    let at = self.inside.place(point) - back;
                    match side {
                        0 => Point { u: off, v: at },
                        1 => Point { u: at, v: off },
                        _ => Point {
                            u: at,
                            v: ONE - at - off,
                        },
                    }
                }));
            }
        }
        if !self.inside.odd {
            out.push(Point { u: THIRD, v: THIRD });
        }
    }

    fn triangles(&self, sides: u32, mesh: &mut Mesh<'_>) {
        let (mut outer, mut inner) = (0, sides);
        let mut counts = self.edges.map(|axis| axis.points());
        for ring in 1..self.count.div_ceil(2) {
            let count = self.count - 2 * ring;
            let first = (outer, inner);
            for (side, outside) in counts.iter_mut().enumerate() {
                let mut rows = (Row::from(inner), Row::from(outer));
                if side + 1 == SIDES {
                    rows.0 = rows.0.with(count - 1, first.1);
                    rows.1 = rows.1.with(*outside - 1, first.0);
                }
                if ring == 1 {
                    let axes = (&self.inside, &self.edges[side]);
                    transition(mesh, (rows.0, axes.0), (rows.1, axes.1));
                } else {
                    regular(mesh, (true, Diagonals::Mirrored), count, rows.0, rows.1);
                }
                outer += *outside - 1;
                inner += count - 1;
                *outside = count;
            }
        }
        if self.inside.odd {
            // CAST: a patch has at most 4225 points.
            mesh.push([0, 1, 2].map(|corner| (outer + corner) as u16));
        }
    }
}
