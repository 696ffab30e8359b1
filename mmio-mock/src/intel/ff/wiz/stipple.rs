//! Polygon and line stipple.
//!
//! PRM: volume 2 (3DSTATE_POLY_STIPPLE_PATTERN, 3DSTATE_LINE_STIPPLE); OpenGL 2.1, 3.4.2, 3.5.2.
//!
//! The pattern goes on by a fragment at a time, so that where a line of one pixel's width begins and how long it is are what
//! the diamond rule draws of it. An antialiased line goes from the pixel nearest to its start to the one nearest to its end.
//!
//! Not modelled: Line Stipple Inverse Repeat Count, a reciprocal that exact division makes needless.

use super::fixed::{self, ONE, Point};
use super::line::is_x_major;
use super::shape::Shape;
use crate::intel::ff::state::windower::{LineStipple, PolyStipple};

impl PolyStipple {
    /// The pixels of the subspan at (x, y) that the pattern leaves on.
    #[inline]
    pub fn subspan(&self, x: u32, y: u32) -> u8 {
        let column = x.wrapping_add(self.x_offset) & 31;
        let next = x.wrapping_add(self.x_offset).wrapping_add(1) & 31;
        let mut mask = 0;
        for row in 0..2 {
            let line = y.wrapping_add(self.y_offset).wrapping_add(row) & 31;
            // PANIC: the index is masked to the pattern's 32 rows.
            let bits = self.pattern[line as usize];
            mask |= ((bits >> (31 - column) & 1) | (bits >> (31 - next) & 1) << 1) << (row * 2);
        }
        mask as u8
    }
}

/// The stipple counter's way along one line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineStippleWalk {
    pattern: u16,
    repeat: u32,
    counter: u32,
    x_major: bool,
    first: i64,
    forward: bool,
    length: u32,
}

impl LineStippleWalk {
    /// The walk along a line, with `counter` pixels of the pattern already used up.
    pub fn new(
        state: &LineStipple,
        counter: u32,
        [from, to]: [Point; 2],
        shape: &Shape,
    ) -> LineStippleWalk {
        let x_major = is_x_major(from, to);
        let (a, b) = if x_major {
            (from.x, to.x)
        } else {
            (from.y, to.y)
        };
        let nearest = |v: i64| fixed::floor(v + ONE / 2);
        let (first, length) = match shape {
            Shape::Sharp(line) => line.run(),
            // CAST: the line is at most 2^20 pixels long.
            _ => (nearest(a), (nearest(b) - nearest(a)).unsigned_abs() as u32),
        };
        LineStippleWalk {
            pattern: state.pattern,
            repeat: state.repeat_count.max(1),
            counter,
            x_major,
            first,
            forward: a <= b,
            length,
        }
    }

    /// The counter after the line.
    pub fn end(&self) -> u32 {
        let period = self.repeat.saturating_mul(16);
        self.counter.wrapping_add(self.length) % period
    }

    /// Whether the pattern leaves the pixel on.
    pub fn pixel(&self, x: i32, y: i32) -> bool {
        let at = i64::from(if self.x_major { x } else { y });
        let step = if self.forward {
            at - self.first
        } else {
            self.first - at
        };
        // CAST: distances along a line are below 2^21; before the start counts as the start.
        let count = self.counter.wrapping_add(step.max(0) as u32);
        self.pattern >> ((count / self.repeat) & 15) & 1 != 0
    }

    /// The pixels of the subspan at (x, y) that the pattern leaves on.
    pub fn subspan(&self, x: i32, y: i32) -> u8 {
        let bit = |dx: i32, dy: i32| u8::from(self.pixel(x + dx, y + dy));
        bit(0, 0) | bit(1, 0) << 1 | bit(0, 1) << 2 | bit(1, 1) << 3
    }
}
