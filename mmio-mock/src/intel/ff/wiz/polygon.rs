//! Convex polygons by exact edge functions: triangles, rectangles and points.
//!
//! PRM: volume 2, windower (top-left rule). A pixel is covered when its sample point lies inside
//! all edges, or on an edge that belongs to the polygon: of two polygons that share an edge,
//! exactly one covers a sample point on it.
//!
//! Not modelled: the hardware's own order of blocks within a primitive.

use super::fixed::{self, ONE, Point};
use crate::intel::ff::state::windower::PixelRect;

/// Columns of a block.
pub const BLOCK_WIDTH: i32 = 8;
/// Rows of a block.
pub const BLOCK_HEIGHT: i32 = 4;

/// Which edges own the sample points that lie on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeRule {
    /// Upper and left edges.
    TopLeft,
    /// Upper and right edges.
    TopRight,
}

/// `a * x + b * y + c` at pixel (x, y); covered where all edges are at least zero.
#[derive(Clone, Copy, Debug, Default)]
struct Edge {
    a: i64,
    b: i64,
    c: i64,
}

impl Edge {
    /// The edge from `p` to `q` with the inside to its right on the screen.
    fn new(p: Point, q: Point, rule: EdgeRule) -> Edge {
        let a = p.y - q.y;
        let b = q.x - p.x;
        let owns = match rule {
            EdgeRule::TopLeft => a > 0 || (a == 0 && b > 0),
            EdgeRule::TopRight => a < 0 || (a == 0 && b > 0),
        };
        Edge {
            a: a * ONE,
            b: b * ONE,
            c: -(a * p.x + b * p.y) - i64::from(!owns),
        }
    }

    #[inline]
    fn at(&self, x: i32, y: i32) -> i64 {
        self.a * i64::from(x) + self.b * i64::from(y) + self.c
    }
}

/// A convex polygon of three or four corners.
#[derive(Clone, Copy, Debug)]
pub struct Polygon {
    edges: [Edge; 4],
    count: usize,
    bounds: PixelRect,
}

impl Polygon {
    /// The polygon through `corners` in either order; `None` when it has no area.
    pub fn new(corners: &[Point], rule: EdgeRule) -> Option<Polygon> {
        let (first, rest) = corners.split_first()?;
        let mut area = 0i64;
        for pair in rest.windows(2) {
            let (p, q) = (pair[0], pair[1]);
            area += (p.x - first.x) * (q.y - first.y) - (p.y - first.y) * (q.x - first.x);
        }
        if area == 0 || corners.len() > 4 {
            return None;
        }
        let mut edges = [Edge::default(); 4];
        let count = corners.len();
        for (i, edge) in edges.iter_mut().enumerate().take(count) {
            let (p, q) = (corners[i], corners[(i + 1) % count]);
            *edge = if area > 0 {
                Edge::new(p, q, rule)
            } else {
                Edge::new(q, p, rule)
            };
        }
        let x = corners.iter().map(|p| p.x);
        let y = corners.iter().map(|p| p.y);
        // CAST: snapped coordinates are within +-2^19 pixels.
        let bounds = PixelRect {
            x_min: fixed::ceil(x.clone().min()?) as i32,
            y_min: fixed::ceil(y.clone().min()?) as i32,
            x_max: fixed::floor(x.max()?) as i32,
            y_max: fixed::floor(y.max()?) as i32,
        };
        Some(Polygon {
            edges,
            count,
            bounds,
        })
    }

    /// Pixels outside this rectangle are not covered.
    pub fn bounds(&self) -> PixelRect {
        self.bounds
    }

    /// Columns of the block row that starts at row `y` outside of which nothing is covered.
    pub fn row_range(&self, y: i32) -> (i32, i32) {
        let (mut low, mut high) = (i64::from(self.bounds.x_min), i64::from(self.bounds.x_max));
        for edge in &self.edges[..self.count] {
            let top = edge.b * i64::from(y) + edge.c;
            let best = top.max(top + edge.b * i64::from(BLOCK_HEIGHT - 1));
            match edge.a {
                0 if best < 0 => return (0, -1),
                0 => {}
                a if a > 0 => low = low.max(-(best.div_euclid(a))),
                a => high = high.min(best.div_euclid(-a)),
            }
        }
        // CAST: both lie within the bounds, or the range is empty.
        (
            low.min(i64::from(i32::MAX)) as i32,
            high.max(i64::from(i32::MIN)) as i32,
        )
    }

    /// The column from which on blocks of a row are not wholly inside any more, when the one at (x, y) is.
    pub fn full_end(&self, x: i32, y: i32) -> i32 {
        let mut last = i64::from(i32::MAX) - 1;
        for edge in self.edges[..self.count].iter().filter(|edge| edge.a < 0) {
            // The edge leaves a block at its right side, above or below.
            let corner = edge.at(0, y)
                + edge.a * i64::from(BLOCK_WIDTH - 1)
                + (edge.b * i64::from(BLOCK_HEIGHT - 1)).min(0);
            last = last.min(corner.div_euclid(-edge.a));
        }
        // CAST: no more than the type has.
        last.max(x.into()) as i32 + 1
    }

    /// Coverage of the block with its upper left pixel at (x, y): bit `row * 8 + column`.
    #[inline]
    pub fn block(&self, x: i32, y: i32) -> u32 {
        let mut mask = u32::MAX;
        // Edges that cross the block.
        let mut crossing = [[0; 3]; 4];
        let mut count = 0;
        for edge in &self.edges[..self.count] {
            let corner = edge.at(x, y);
            let across = edge.a * i64::from(BLOCK_WIDTH - 1);
            let down = edge.b * i64::from(BLOCK_HEIGHT - 1);
            if corner + across.max(0) + down.max(0) < 0 {
                return 0;
            }
            if corner + across.min(0) + down.min(0) >= 0 {
                continue;
            }
            // The edge crosses the block: no value in it is further from zero than two of its corners are apart.
            if across.abs() + down.abs() <= i64::from(i32::MAX) {
                // CAST: just tested; the slopes are smaller than what they make of the block.
                crossing[count & 3] = [corner as i32, edge.a as i32, edge.b as i32];
                count += 1;
            } else {
                mask &= inside_wide([corner, edge.a, edge.b]);
            }
        }
        match crossing.get(..count) {
            None | Some([]) => mask,
            Some([one]) => mask & inside([*one]),
            Some([one, other]) => mask & inside([*one, *other]),
            Some(_) => mask & inside(crossing),
        }
    }
}

/// Pixels of a block where `corner + a * column + b * row` of all edges is at least zero; no value leaves the type.
#[inline]
fn inside<const EDGES: usize>(edges: [[i32; 3]; EDGES]) -> u32 {
    const COLUMNS: usize = BLOCK_WIDTH as usize;
    let mut values = [[0; COLUMNS]; EDGES];
    for (values, [corner, a, _]) in values.iter_mut().zip(edges) {
        values[0] = corner;
        for column in 1..COLUMNS {
            values[column] = values[column - 1] + a;
        }
    }
    // A column is a lane, in which the bits of its rows are collected.
    let mut lanes = [0u32; COLUMNS];
    for row in 0..BLOCK_HEIGHT {
        // Negative where a value of any edge is.
        let mut signs = [0; COLUMNS];
        for values in &values {
            for column in 0..COLUMNS {
                signs[column] |= values[column];
            }
        }
        for column in 0..COLUMNS {
            // CAST: ones where the sign is clear.
            let ones = !(signs[column] >> 31) as u32;
            lanes[column] |= ones & 1 << (row as usize * COLUMNS + column);
        }
        if row + 1 < BLOCK_HEIGHT {
            for (values, [_, _, b]) in values.iter_mut().zip(edges) {
                for value in values {
                    *value += b;
                }
            }
        }
    }
    lanes.iter().fold(0, |mask, lane| mask | lane)
}

/// The same for values of any size.
#[cold]
fn inside_wide([corner, a, b]: [i64; 3]) -> u32 {
    let mut inside = 0u32;
    for row in 0..BLOCK_HEIGHT {
        let start = corner + b * i64::from(row);
        for column in 0..BLOCK_WIDTH {
            let value = start + a * i64::from(column);
            inside |= u32::from(value >= 0) << (row * BLOCK_WIDTH + column);
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn both_widths_find_the_same_pixels() {
        let mut seed = 3u64;
        let mut random = |below: i64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as i64 % (2 * below + 1) - below
        };
        let mut mixed = 0;
        let mut last = ([0; 3], u32::MAX);
        for round in 0..20_000 {
            // Slopes of every size up to those whose block just fits.
            let largest = (i64::from(i32::MAX) / 10) >> (round % 28);
            let (a, b) = (random(largest), random(largest));
            let (across, down) = (a * 7, b * 3);
            let least = across.min(0) + down.min(0);
            // An edge that crosses the block: its values have both signs.
            let span = across.abs() + down.abs();
            let corner = -least - 1 - random(span).abs().min((span - 1).max(0));
            let values = [corner, a, b];
            let narrow = values.map(|v| i32::try_from(v).unwrap());
            let wide = inside_wide(values);
            assert_eq!(inside([narrow]), wide, "{values:?}");
            // The edge before it lies elsewhere: a pixel is inside both, however many there are.
            let (before, pixels) = last;
            assert_eq!(inside([before, narrow]), wide & pixels, "{values:?}");
            assert_eq!(inside([narrow, before, [0; 3], narrow]), wide & pixels);
            last = (narrow, wide);
            mixed += u32::from(wide != 0 && wide != u32::MAX);
        }
        assert!(mixed > 10_000, "{mixed}");
    }

    #[test]
    fn blocks_up_to_the_end_of_the_full_ones_are_full() {
        let mut seed = 11u64;
        let mut random = |below: i64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as i64 % below
        };
        let mut found = 0;
        for round in 0..3000 {
            let size = [64, 400, 3000][round % 3] * ONE;
            let mut point = || Point {
                x: random(size),
                y: random(size),
            };
            let corners = [point(), point(), point()];
            let Some(polygon) = Polygon::new(&corners, EdgeRule::TopLeft) else {
                continue;
            };
            let bounds = polygon.bounds();
            let y = (bounds.y_min + random(i64::from(bounds.y_max - bounds.y_min + 4)) as i32) & !3;
            let mut end = i32::MIN;
            for x in ((bounds.x_min & !7)..=bounds.x_max).step_by(8) {
                let full = polygon.block(x, y) == u32::MAX;
                if full && end == i32::MIN {
                    end = polygon.full_end(x, y);
                    assert!(end > x);
                }
                if end != i32::MIN {
                    assert_eq!(full, x < end, "{corners:?} {x} {y}");
                    found += 1;
                }
            }
        }
        assert!(found > 10_000, "{found}");
    }

    #[test]
    fn an_edge_too_steep_for_words_of_32_bits_is_still_exact() {
        // Two corners as far away as snapped coordinates go, and a block at the edge between them.
        let far = (1 << 19) * ONE;
        let corners = [(-far, -far), (far, far), (-far, far)].map(|(x, y)| Point { x, y });
        let polygon = Polygon::new(&corners, EdgeRule::TopLeft).unwrap();
        let mut want = 0u32;
        for (y, x) in (0..4).flat_map(|y| (0..8).map(move |x| (y, x))) {
            // On the diagonal lies an upper right edge: its samples belong to the other side.
            want |= u32::from(y > x) << (y * 8 + x);
        }
        assert_eq!(polygon.block(0, 0), want);
    }
}
