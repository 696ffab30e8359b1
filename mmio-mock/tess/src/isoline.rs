//! Isolines: lines of constant v.
//!
//! Microsoft's tessellator.cpp, `TessellateIsoLineDomain`. There is no line at v = 1.

use crate::factors::{Range, cull};
use crate::{Factors, Partitioning, Point, Setting};

/// Puts out the points, line after line; comes back with how many a line has. `None`: culled.
pub fn cut(setting: &Setting, factors: &Factors, out: &mut Vec<Point>) -> Option<usize> {
    let [density, detail, ..] = factors.outside;
    if cull(&[density, detail]) {
        return None;
    }
    let lines = Range::new(Partitioning::Integer, setting.limits).edge(density);
    let line = Range::new(setting.partitioning, setting.limits).edge(detail);
    for number in 0..lines.points() - 1 {
        let v = lines.place(number);
        out.extend((0..line.points()).map(|point| Point {
            u: line.place(point),
            v,
        }));
    }
    Some(line.points() as usize)
}
