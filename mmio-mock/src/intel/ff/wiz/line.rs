//! Lines by the diamond-exit rule, one pixel or more wide, and antialiased lines.
//!
//! PRM: volume 2, windower (zero-width lines, wide lines, antialiased lines, Legacy Diamond Line
//! Rasterization): a pixel is drawn when the line leaves the diamond |x| + |y| < 1/2 around its
//! sample point. Which points of its border belong to a diamond is told at [`Diamond`]. A wider
//! line repeats each pixel of the thin one across the minor axis (OpenGL 2.1, 3.4.2.1).
//!
//! Not modelled: what Direct3D 9, which the manual names for the legacy rule, does where OpenGL
//! does something else, and the distance modes of antialiasing; coverage ramps are linear.

use std::cmp::Ordering;

use super::fixed::{self, ONE, Point};
use super::polygon::{BLOCK_HEIGHT, BLOCK_WIDTH};
use crate::intel::ff::state::windower::PixelRect;

/// Half a diamond's diagonal.
const HALF: i64 = ONE / 2;

/// A value with two infinitesimal parts, ordered by size: `.0 + .1 e + .2 e^2`.
type Tie = (i64, i64, i64);

fn negated(t: Tie) -> Tie {
    (-t.0, -t.1, -t.2)
}

/// Whose rule says what belongs to a diamond.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Diamond {
    /// OpenGL 2.1, 3.4.1: no point of the border; ties are decided as if both ends of the line were
    /// moved by (-e, -e^2). Stands for the legacy rule.
    OpenGl,
    /// Direct3D 10, "Rasterization Rules": the lower two edges and the bottom corner, for lines that
    /// are not x-major the right corner too.
    Direct3d10,
}

/// Widest line in pixels (Line Width is U3.1).
pub const MAX_WIDTH: u32 = 8;

/// A line without antialiasing.
#[derive(Clone, Copy, Debug)]
pub struct SharpLine {
    from: Point,
    to: Point,
    diamond: Diamond,
    last_pixel: bool,
    width: i32,
    x_major: bool,
    bounds: PixelRect,
}

impl SharpLine {
    /// The line between two points, `width` pixels wide (0 as 1); with `last_pixel` the diamond
    /// that the line ends in is drawn too.
    pub fn new(
        from: Point,
        to: Point,
        diamond: Diamond,
        width: u32,
        last_pixel: bool,
    ) -> SharpLine {
        // CAST: at most MAX_WIDTH.
        let width = width.clamp(1, MAX_WIDTH) as i32;
        let x_major = is_x_major(from, to);
        // The pixel that is repeated lies at the upper or left side of the line.
        let shift = i64::from(width - 1) * HALF;
        let (dx, dy) = if x_major { (0, shift) } else { (shift, 0) };
        let moved = |p: Point| Point {
            x: p.x - dx,
            y: p.y - dy,
        };
        let (from, to) = (moved(from), moved(to));
        let (right, down) = if x_major {
            (0, width - 1)
        } else {
            (width - 1, 0)
        };
        // CAST: snapped coordinates are within +-2^19 pixels.
        let bounds = PixelRect {
            x_min: fixed::ceil(from.x.min(to.x) - HALF) as i32,
            y_min: fixed::ceil(from.y.min(to.y) - HALF) as i32,
            x_max: fixed::floor(from.x.max(to.x) + HALF) as i32 + right,
            y_max: fixed::floor(from.y.max(to.y) + HALF) as i32 + down,
        };
        SharpLine {
            from,
            to,
            diamond,
            last_pixel,
            width,
            x_major,
            bounds,
        }
    }

    /// Pixels outside this rectangle are not covered.
    pub fn bounds(&self) -> PixelRect {
        self.bounds
    }

    /// Whether the line draws the pixel.
    pub fn covers(&self, x: i32, y: i32) -> bool {
        (0..self.width).any(|k| {
            if self.x_major {
                self.thin(x, y - k)
            } else {
                self.thin(x - k, y)
            }
        })
    }

    /// Whether the line at one pixel's width draws the pixel.
    fn thin(&self, x: i32, y: i32) -> bool {
        let center = Point {
            x: i64::from(x) * ONE,
            y: i64::from(y) * ONE,
        };
        // Turned by 45 degrees the diamond is the square |u|, |v| < 1/2. By OpenGL both ends lose
        // e + e^2 in u and e - e^2 in v.
        let turn = |p: Point| {
            (
                p.x - center.x + p.y - center.y,
                p.x - center.x - p.y + center.y,
            )
        };
        let ((u0, v0), (u1, v1)) = (turn(self.from), turn(self.to));
        if self.diamond == Diamond::Direct3d10 {
            return self.leaves_half_open((u0, v0), (u1, v1));
        }
        let within = |value: i64, second: i64| {
            let t: Tie = (value, -1, second);
            t < (HALF, 0, 0) && t > (-HALF, 0, 0)
        };
        let inside = |u: i64, v: i64| within(u, -1) && within(v, 1);
        if inside(u1, v1) {
            return self.last_pixel;
        }
        let overlaps = |a: i64, b: i64, second: i64| {
            (a.min(b), -1, second) < (HALF, 0, 0) && (a.max(b), -1, second) > (-HALF, 0, 0)
        };
        if !overlaps(u0, u1, -1) || !overlaps(v0, v1, 1) {
            return false;
        }
        let (du, dv) = (u1 - u0, v1 - v0);
        if du == 0 && dv == 0 {
            return false;
        }
        // The square's corners lie on both sides of the line.
        let cross: Tie = (dv * u0 - du * v0, du - dv, -du - dv);
        let reach: Tie = (HALF * (du.abs() + dv.abs()), 0, 0);
        cross < reach && cross > negated(reach)
    }

    /// Direct3D 10: with the lower edges, which are u = 1/2 and v = -1/2, and the bottom corner, where
    /// they meet, the square is -1/2 < u <= 1/2, -1/2 <= v < 1/2. The right corner is (1/2, 1/2).
    fn leaves_half_open(&self, (u0, v0): (i64, i64), (u1, v1): (i64, i64)) -> bool {
        let square = |u: i64, v: i64| -HALF < u && u <= HALF && (-HALF..HALF).contains(&v);
        let corner = !self.x_major;
        if square(u1, v1) || corner && (u1, v1) == (HALF, HALF) {
            return self.last_pixel;
        }
        if u0.min(u1) > HALF || u0.max(u1) <= -HALF || v0.min(v1) >= HALF || v0.max(v1) < -HALF {
            return corner && touches((u0, v0), (u1, v1), (HALF, HALF));
        }
        let inside = clip(&[
            // Where each bound is kept: at `from`, change towards `to`, whether 0 is kept.
            (u0 + HALF, u1 - u0, false),
            (HALF - u0, u0 - u1, true),
            (v0 + HALF, v1 - v0, true),
            (HALF - v0, v0 - v1, false),
        ]);
        inside || corner && touches((u0, v0), (u1, v1), (HALF, HALF))
    }

    /// The first pixel that the line draws along its major axis, and how many steps of that axis it draws.
    pub fn run(&self) -> (i64, u32) {
        let along = |p: Point| if self.x_major { p.x } else { p.y };
        let (a, b) = (along(self.from), along(self.to));
        let (near_a, near_b) = (fixed::floor(a + HALF), fixed::floor(b + HALF));
        let forward = if a <= b { 1 } else { -1 };
        // The diamonds of both ends may be left or not, and ties move the line a little.
        let first = (-1..=2)
            .map(|n| near_a + n * forward)
            .find(|&at| self.draws_step(at));
        let last = (-1..=2)
            .map(|n| near_b - n * forward)
            .find(|&at| self.draws_step(at));
        match first.zip(last) {
            // CAST: the line is at most 2^20 pixels long.
            Some((first, last)) => (first, ((last - first) * forward + 1).max(0) as u32),
            None => (near_a, 0),
        }
    }

    /// Whether the thin line draws a pixel at this step of its major axis.
    fn draws_step(&self, at: i64) -> bool {
        let (dx, dy) = (self.to.x - self.from.x, self.to.y - self.from.y);
        let (start, minor, change, length) = if self.x_major {
            (self.from.x, self.from.y, dy, dx)
        } else {
            (self.from.y, self.from.x, dx, dy)
        };
        let middle = match length {
            0 => minor,
            _ => minor + change * (at * ONE - start) / length,
        };
        let near = fixed::floor(middle + HALF);
        (near - 1..=near + 1).any(|other| {
            let (x, y) = if self.x_major {
                (at, other)
            } else {
                (other, at)
            };
            // CAST: snapped coordinates are within +-2^19 pixels.
            self.thin(x as i32, y as i32)
        })
    }

    /// Columns of the block row that starts at row `y` outside of which nothing is covered.
    pub fn row_range(&self, y: i32) -> (i32, i32) {
        let all = (self.bounds.x_min, self.bounds.x_max);
        let (dx, dy) = (self.to.x - self.from.x, self.to.y - self.from.y);
        if dy == 0 {
            return all;
        }
        // A pixel's margin on every side makes rounding harmless.
        let x_at = |row: i32| self.from.x + dx * (i64::from(row) * ONE - self.from.y) / dy;
        let (a, b) = (x_at(y - self.width), x_at(y + BLOCK_HEIGHT));
        let low = fixed::floor(a.min(b)) - 1;
        let high = fixed::ceil(a.max(b)) + i64::from(self.width);
        (
            low.max(i64::from(all.0)).min(i64::from(i32::MAX)) as i32,
            high.min(i64::from(all.1)).max(i64::from(i32::MIN)) as i32,
        )
    }

    /// Coverage of the block with its upper left pixel at (x, y): bit `row * 8 + column`.
    pub fn block(&self, x: i32, y: i32) -> u32 {
        let mut mask = 0;
        for row in 0..BLOCK_HEIGHT {
            for column in 0..BLOCK_WIDTH {
                let hit = self.covers(x.saturating_add(column), y.saturating_add(row));
                mask |= u32::from(hit) << (row * BLOCK_WIDTH + column);
            }
        }
        mask
    }
}

/// Whether some t of 0..=1 keeps every `at + t * change` above zero, or at zero where that will do.
fn clip(bounds: &[(i64, i64, bool)]) -> bool {
    // t as fractions with positive denominators, and whether the end itself belongs.
    let (mut low, mut high) = ((0i64, 1i64, true), (1i64, 1i64, true));
    for &(at, change, closed) in bounds {
        match change {
            0 if at > 0 || at == 0 && closed => {}
            0 => return false,
            1.. => {
                let new = (-at, change, closed);
                low = match compare(new, low) {
                    Ordering::Greater => new,
                    Ordering::Equal => (low.0, low.1, low.2 && closed),
                    Ordering::Less => low,
                };
            }
            _ => {
                let new = (at, -change, closed);
                high = match compare(new, high) {
                    Ordering::Less => new,
                    Ordering::Equal => (high.0, high.1, high.2 && closed),
                    Ordering::Greater => high,
                };
            }
        }
    }
    match compare(low, high) {
        Ordering::Less => true,
        Ordering::Equal => low.2 && high.2,
        Ordering::Greater => false,
    }
}

/// Compares two fractions.
fn compare(a: (i64, i64, bool), b: (i64, i64, bool)) -> Ordering {
    (i128::from(a.0) * i128::from(b.1)).cmp(&(i128::from(b.0) * i128::from(a.1)))
}

/// Whether a segment goes through a point.
fn touches(from: (i64, i64), to: (i64, i64), at: (i64, i64)) -> bool {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (x, y) = (at.0 - from.0, at.1 - from.1);
    let between = |a: i64, b: i64, c: i64| a.min(b) <= c && c <= a.max(b);
    i128::from(dx) * i128::from(y) == i128::from(dy) * i128::from(x)
        && between(from.0, to.0, at.0)
        && between(from.1, to.1, at.1)
}

/// Whether x is the direction in which a line advances pixel by pixel.
pub fn is_x_major(from: Point, to: Point) -> bool {
    (to.x - from.x).abs() >= (to.y - from.y).abs()
}

/// An antialiased line: coverage falls off across its sides and its ends.
#[derive(Clone, Copy, Debug)]
pub struct SmoothLine {
    from: (f64, f64),
    direction: (f64, f64),
    length: f64,
    half_width: f64,
    side_region: f64,
    end_region: f64,
    bounds: PixelRect,
}

impl SmoothLine {
    /// The line between two points; widths and regions in pixels. `None` for a line of no length.
    pub fn new(
        from: Point,
        to: Point,
        width: f32,
        side_region: f32,
        end_region: f32,
    ) -> Option<SmoothLine> {
        let pixels = |v: i64| v as f64 / ONE as f64;
        let (dx, dy) = (pixels(to.x - from.x), pixels(to.y - from.y));
        let length = dx.hypot(dy);
        if length == 0.0 {
            return None;
        }
        let half_width = f64::from(width).clamp(0.0, 16.0) / 2.0;
        let side_region = f64::from(side_region).clamp(0.25, 8.0);
        let end_region = f64::from(end_region).clamp(0.25, 8.0);
        let reach = half_width + side_region + end_region + 1.0;
        let x = (pixels(from.x), pixels(to.x));
        let y = (pixels(from.y), pixels(to.y));
        Some(SmoothLine {
            from: (x.0, y.0),
            direction: (dx / length, dy / length),
            length,
            half_width,
            side_region,
            end_region,
            // CAST: coordinates are within +-2^19 pixels.
            bounds: PixelRect {
                x_min: (x.0.min(x.1) - reach).floor() as i32,
                y_min: (y.0.min(y.1) - reach).floor() as i32,
                x_max: (x.0.max(x.1) + reach).ceil() as i32,
                y_max: (y.0.max(y.1) + reach).ceil() as i32,
            },
        })
    }

    /// Pixels outside this rectangle are not covered.
    pub fn bounds(&self) -> PixelRect {
        self.bounds
    }

    /// Antialias alpha of a pixel as U0.4.
    pub fn alpha(&self, x: i32, y: i32) -> u8 {
        let (px, py) = (f64::from(x) - self.from.0, f64::from(y) - self.from.1);
        let along = px * self.direction.0 + py * self.direction.1;
        let across = (px * self.direction.1 - py * self.direction.0).abs();
        let side = (self.half_width + self.side_region / 2.0 - across) / self.side_region;
        let end = (along.min(self.length - along) + self.end_region / 2.0) / self.end_region;
        let alpha = side.clamp(0.0, 1.0) * end.clamp(0.0, 1.0);
        // CAST: alpha is 0..=1.
        (alpha * 15.0).round() as u8
    }

    /// Columns of the block row that starts at row `y` outside of which nothing is covered.
    pub fn row_range(&self, y: i32) -> (i32, i32) {
        let all = (self.bounds.x_min, self.bounds.x_max);
        if self.direction.1.abs() < 1e-3 {
            return all;
        }
        let x_at = |row: i32| {
            self.from.0 + self.direction.0 * (f64::from(row) - self.from.1) / self.direction.1
        };
        let reach = (self.half_width + self.side_region + 1.0) / self.direction.1.abs() + 1.0;
        let (a, b) = (x_at(y), x_at(y + BLOCK_HEIGHT - 1));
        // CAST: saturates.
        (
            ((a.min(b) - reach).floor() as i32).max(all.0),
            ((a.max(b) + reach).ceil() as i32).min(all.1),
        )
    }

    /// Coverage of the block with its upper left pixel at (x, y): bit `row * 8 + column`.
    pub fn block(&self, x: i32, y: i32) -> u32 {
        let mut mask = 0;
        for row in 0..BLOCK_HEIGHT {
            for column in 0..BLOCK_WIDTH {
                let hit = self.alpha(x.saturating_add(column), y.saturating_add(row)) > 0;
                mask |= u32::from(hit) << (row * BLOCK_WIDTH + column);
            }
        }
        mask
    }
}
