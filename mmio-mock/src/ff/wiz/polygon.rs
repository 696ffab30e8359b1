//! Convex polygons by exact edge functions: triangles, rectangles and points.
//!
//! PRM: volume 2, windower (top-left rule). A pixel is covered when its sample point lies inside
//! all edges, or on an edge that belongs to the polygon: of two polygons that share an edge,
//! exactly one covers a sample point on it.
//!
//! Not modelled: the hardware's own order of blocks within a primitive.

use super::fixed::{self, ONE, Point};
use super::state::PixelRect;

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

    /// Coverage of the block with its upper left pixel at (x, y): bit `row * 8 + column`.
    #[inline]
    pub fn block(&self, x: i32, y: i32) -> u32 {
        let mut mask = u32::MAX;
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
            let mut inside = 0u32;
            for row in 0..BLOCK_HEIGHT {
                let start = corner + edge.b * i64::from(row);
                for column in 0..BLOCK_WIDTH {
                    let value = start + edge.a * i64::from(column);
                    inside |= u32::from(value >= 0) << (row * BLOCK_WIDTH + column);
                }
            }
            mask &= inside;
        }
        mask
    }
}
