//! Coverage against references that share no code with the rasteriser.
//!
//! Polygons: the top-left rule is the strict inside test of a sample point moved by (+e, +e^2).
//! Lines: the rule of OpenGL 2.1, 3.4.1 with both ends moved by (-e, -e^2). Both references carry
//! the infinitesimals as small exact numbers in 128-bit integers.

use super::*;
use crate::intel::ff::wiz::fixed::{ONE, Point};
use crate::intel::ff::wiz::line::Diamond;
use crate::intel::ff::wiz::polygon::EdgeRule;

const SIDE: i32 = 40;
const SCREEN: PixelRect = PixelRect {
    x_min: 0,
    y_min: 0,
    x_max: SIDE - 1,
    y_max: SIDE - 1,
};

/// A small generator with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as i64 % n
    }

    /// A coordinate that often lies on sample points and their diagonals.
    fn coordinate(&mut self, low: i64, high: i64) -> i64 {
        let v = low * ONE + self.below((high - low) * ONE);
        match self.below(4) {
            0 => v & !(ONE - 1),
            1 => v & !(ONE / 2 - 1),
            _ => v,
        }
    }

    fn point(&mut self, low: i64, high: i64) -> Point {
        Point {
            x: self.coordinate(low, high),
            y: self.coordinate(low, high),
        }
    }
}

fn covered(shape: Shape, clip: PixelRect) -> Vec<u8> {
    let mut out = vec![0u8; (SIDE * SIDE) as usize];
    let Some(mut walk) = Walk::new(shape, &[], clip) else {
        return out;
    };
    loop {
        match walk.next_block(&[], &mut 1_000_000) {
            Next::Block(b) => {
                for bit in 0..32 {
                    if b.mask >> bit & 1 != 0 {
                        let (x, y) = (b.x + bit % 8, b.y + bit / 8);
                        assert!(clip.contains(x, y), "pixel {x}, {y} outside the clip");
                        out[(y * SIDE + x) as usize] += 1;
                    }
                }
            }
            Next::End => return out,
            Next::Budget => panic!("endless walk"),
        }
    }
}

const SCALE: i128 = 1 << 40;
const E: i128 = 1 << 20;
const E2: i128 = 1;

fn inside_triangle(t: &[Point; 3], x: i32, y: i32) -> bool {
    let px = i128::from(x) * 256 * SCALE + E;
    let py = i128::from(y) * 256 * SCALE + E2;
    let mut signs = [0; 3];
    for i in 0..3 {
        let (a, b) = (t[i], t[(i + 1) % 3]);
        let (ax, ay) = (i128::from(a.x) * SCALE, i128::from(a.y) * SCALE);
        let (bx, by) = (i128::from(b.x) * SCALE, i128::from(b.y) * SCALE);
        signs[i] = ((bx - ax) * (py - ay) - (by - ay) * (px - ax)).signum();
    }
    signs == [1; 3] || signs == [-1; 3]
}

fn triangle(t: &[Point; 3]) -> Vec<u8> {
    match Polygon::new(t, EdgeRule::TopLeft) {
        Some(p) => covered(Shape::Polygon(p), SCREEN),
        None => vec![0; (SIDE * SIDE) as usize],
    }
}

#[test]
fn triangles_cover_what_the_exact_test_says() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for _ in 0..600 {
        let t = [
            random.point(-20, 60),
            random.point(-20, 60),
            random.point(-20, 60),
        ];
        let found = triangle(&t);
        for y in 0..SIDE {
            for x in 0..SIDE {
                assert_eq!(
                    found[(y * SIDE + x) as usize],
                    u8::from(inside_triangle(&t, x, y)),
                    "{t:?} at {x}, {y}"
                );
            }
        }
    }
}

#[test]
fn a_mesh_covers_every_pixel_once() {
    let mut random = Random(77);
    for _ in 0..20 {
        // A grid of jittered corners, each cell cut in two.
        let cells = 8i64;
        let step = i64::from(SIDE) * ONE / cells;
        let mut corner = vec![Point::default(); ((cells + 1) * (cells + 1)) as usize];
        for j in 0..=cells {
            for i in 0..=cells {
                let inner = i > 0 && j > 0 && i < cells && j < cells;
                let jitter = |r: &mut Random| {
                    if inner {
                        (r.below(step / 2) - step / 4) & !31
                    } else {
                        0
                    }
                };
                corner[(j * (cells + 1) + i) as usize] = Point {
                    x: i * step + jitter(&mut random),
                    y: j * step + jitter(&mut random),
                };
            }
        }
        let mut sum = vec![0u8; (SIDE * SIDE) as usize];
        for j in 0..cells {
            for i in 0..cells {
                let at = |di: i64, dj: i64| corner[((j + dj) * (cells + 1) + i + di) as usize];
                for t in [
                    [at(0, 0), at(1, 0), at(0, 1)],
                    [at(1, 1), at(1, 0), at(0, 1)],
                ] {
                    for (s, f) in sum.iter_mut().zip(triangle(&t)) {
                        *s += f;
                    }
                }
            }
        }
        assert!(sum.iter().all(|&n| n == 1));
    }
}

#[test]
fn the_clip_only_takes_away() {
    let mut random = Random(5);
    for _ in 0..200 {
        let t = [
            random.point(-20, 60),
            random.point(-20, 60),
            random.point(-20, 60),
        ];
        let Some(p) = Polygon::new(&t, EdgeRule::TopLeft) else {
            continue;
        };
        let clip = PixelRect {
            x_min: random.below(20) as i32,
            y_min: random.below(20) as i32,
            x_max: 20 + random.below(20) as i32,
            y_max: 20 + random.below(20) as i32,
        };
        let (all, some) = (
            covered(Shape::Polygon(p), SCREEN),
            covered(Shape::Polygon(p), clip),
        );
        for y in 0..SIDE {
            for x in 0..SIDE {
                let at = (y * SIDE + x) as usize;
                assert_eq!(some[at], all[at] * u8::from(clip.contains(x, y)));
            }
        }
    }
}

#[test]
fn flat_polygons_cover_nothing() {
    let p = |x: i64, y: i64| Point {
        x: x * ONE,
        y: y * ONE,
    };
    assert!(Polygon::new(&[p(0, 0), p(5, 5), p(9, 9)], EdgeRule::TopLeft).is_none());
    assert!(Polygon::new(&[p(3, 3), p(3, 3), p(9, 9)], EdgeRule::TopLeft).is_none());
    assert!(Polygon::new(&[], EdgeRule::TopLeft).is_none());
}

const GL: Diamond = Diamond::OpenGl;

/// `|x| + |y| < 1/2` somewhere on the segment, but not at its end.
fn leaves_diamond(from: Point, to: Point, x: i32, y: i32) -> bool {
    let at = |p: Point| {
        (
            (i128::from(p.x) - i128::from(x) * 256) * SCALE - E,
            (i128::from(p.y) - i128::from(y) * 256) * SCALE - E2,
        )
    };
    let ((x0, y0), (x1, y1)) = (at(from), at(to));
    let half = 128 * SCALE;
    if x1.abs() + y1.abs() < half {
        return false;
    }
    if from == to {
        return false;
    }
    if x0.abs() + y0.abs() < half {
        return true;
    }
    // |x| + |y| is convex along the segment: its least value is at an end or where x or y is 0.
    let (dx, dy) = (x1 - x0, y1 - y0);
    let cross = x0 * dy - y0 * dx;
    let at_x0 = x0.signum() * x1.signum() < 0 && cross.abs() < half * dx.abs();
    let at_y0 = y0.signum() * y1.signum() < 0 && cross.abs() < half * dy.abs();
    at_x0 || at_y0
}

#[test]
fn thin_lines_follow_the_diamond_rule() {
    let mut random = Random(99);
    for i in 0..1500 {
        let mut line = [random.point(-10, 50), random.point(-10, 50)];
        match i % 5 {
            0 => line[1].y = line[0].y,
            1 => line[1].x = line[0].x,
            2 => {
                let d = random.below(20 * ONE) - 10 * ONE;
                line[1] = Point {
                    x: line[0].x + d,
                    y: line[0].y + d,
                };
            }
            _ => {}
        }
        let [from, to] = line;
        let found = covered(Shape::Sharp(SharpLine::new(from, to, GL, 1, false)), SCREEN);
        for y in 0..SIDE {
            for x in 0..SIDE {
                assert_eq!(
                    found[(y * SIDE + x) as usize],
                    u8::from(leaves_diamond(from, to, x, y)),
                    "{from:?} to {to:?} at {x}, {y}"
                );
            }
        }
        steps_are_what_is_drawn(from, to);
    }
}

/// Where a line's stipple begins and how far it goes.
fn steps_are_what_is_drawn(from: Point, to: Point) {
    let x_major = (to.x - from.x).abs() >= (to.y - from.y).abs();
    let drawn: Vec<i64> = (-30..80)
        .filter(|&at| {
            (-30..80).any(|other| {
                let (x, y) = if x_major { (at, other) } else { (other, at) };
                leaves_diamond(from, to, x, y)
            })
        })
        .map(i64::from)
        .collect();
    let (first, count) = SharpLine::new(from, to, GL, 1, false).run();
    assert_eq!(count as usize, drawn.len(), "{from:?} to {to:?}");
    let backward = if x_major {
        to.x < from.x
    } else {
        to.y < from.y
    };
    let expected = if backward {
        drawn.last()
    } else {
        drawn.first()
    };
    assert!(expected.is_none_or(|&at| at == first), "{from:?} to {to:?}");
}

/// Direct3D 10, "Rasterization Rules": whether a point, in 1/`scale` of 1/256 pixel, is in the diamond at the origin.
fn in_diamond_of_d3d10(x: i128, y: i128, scale: i128, x_major: bool) -> bool {
    let half = 128 * scale;
    let lower = y > 0;
    match (x.abs() + y.abs()).cmp(&half) {
        std::cmp::Ordering::Less => true,
        std::cmp::Ordering::Greater => false,
        // The lower edges and the bottom corner; the right corner unless x-major.
        std::cmp::Ordering::Equal => lower || (x, y) == (half, 0) && !x_major,
    }
}

/// Looks at the ends, at every crossing of one of the diamond's sides, and between each two of these.
fn leaves_diamond_of_d3d10(from: Point, to: Point, x: i32, y: i32) -> bool {
    let at = |p: Point| {
        (
            i128::from(p.x) - i128::from(x) * 256,
            i128::from(p.y) - i128::from(y) * 256,
        )
    };
    let ((x0, y0), (x1, y1)) = (at(from), at(to));
    let (dx, dy) = (x1 - x0, y1 - y0);
    let x_major = dx.abs() >= dy.abs();
    if in_diamond_of_d3d10(x1, y1, 1, x_major) {
        return false;
    }
    // Fractions of the way with positive denominators.
    let mut stops = vec![(0, 1), (1, 1)];
    for (start, change) in [(x0 + y0, dx + dy), (x0 - y0, dx - dy)] {
        for side in [-128, 128] {
            let (n, d) = (side - start, change);
            let (n, d) = if d < 0 { (-n, -d) } else { (n, d) };
            if d != 0 && 0 <= n && n <= d {
                stops.push((n, d));
            }
        }
    }
    stops.sort_by(|a, b| (a.0 * b.1).cmp(&(b.0 * a.1)));
    let between: Vec<_> = stops
        .windows(2)
        .map(|two| {
            let (a, b) = (two[0], two[1]);
            (a.0 * b.1 + b.0 * a.1, 2 * a.1 * b.1)
        })
        .collect();
    let mut points = stops.iter().chain(&between);
    points.any(|&(n, d)| in_diamond_of_d3d10(x0 * d + dx * n, y0 * d + dy * n, d, x_major))
}

#[test]
fn zero_width_lines_follow_the_rule_of_direct3d_10() {
    let mut random = Random(1234);
    for i in 0..3000 {
        let mut line = [random.point(-10, 50), random.point(-10, 50)];
        if i % 2 == 0 {
            // Ends on corners and in the middle of edges.
            for p in &mut line {
                (p.x, p.y) = (p.x / 64 * 64, p.y / 64 * 64);
            }
        }
        match i % 5 {
            0 => line[1].y = line[0].y,
            1 => line[1].x = line[0].x,
            2 | 3 => {
                let d = (random.below(20 * ONE) - 10 * ONE) / 64 * 64;
                line[1] = Point {
                    x: line[0].x + d,
                    y: line[0].y + if i % 5 == 2 { d } else { -d },
                };
            }
            _ => {}
        }
        let [from, to] = line;
        let line = SharpLine::new(from, to, Diamond::Direct3d10, 0, false);
        let found = covered(Shape::Sharp(line), SCREEN);
        for y in 0..SIDE {
            for x in 0..SIDE {
                assert_eq!(
                    found[(y * SIDE + x) as usize],
                    u8::from(leaves_diamond_of_d3d10(from, to, x, y)),
                    "{from:?} to {to:?} at {x}, {y}"
                );
            }
        }
    }
}

/// A line from 20.0 to 30.0, pixel centres at the halves, is the pixels 20 to 29 wherever it comes from; so is an
/// upright one by Direct3D 10, but for the right corner: on a border between columns it is the left one.
#[test]
fn a_line_between_corners() {
    let p = |x: i64, y: i64| Point {
        x: x * ONE / 2,
        y: y * ONE / 2,
    };
    let pixels = |from, to| {
        let line = SharpLine::new(from, to, Diamond::Direct3d10, 0, false);
        (0..40)
            .flat_map(|y| (0..40).map(move |x| (x, y)))
            .filter(|&(x, y)| line.covers(x, y))
            .collect::<Vec<_>>()
    };
    let row: Vec<_> = (20..30).map(|x| (x, 20)).collect();
    assert_eq!(pixels(p(39, 40), p(59, 40)), row);
    assert_eq!(pixels(p(59, 40), p(39, 40)), row);
    let column: Vec<_> = (20..30).map(|y| (5, y)).collect();
    assert_eq!(pixels(p(11, 40), p(11, 60)), column);
}

#[test]
fn a_thin_line_has_one_pixel_per_step() {
    // Between sample points: as many pixels as steps along the major axis, the last left out.
    let mut random = Random(4);
    for _ in 0..300 {
        let p = |r: &mut Random| Point {
            x: (2 + r.below(36)) * ONE,
            y: (2 + r.below(36)) * ONE,
        };
        let (from, to) = (p(&mut random), p(&mut random));
        let steps = (to.x - from.x).abs().max((to.y - from.y).abs()) / ONE;
        for (last, extra) in [(false, 0), (true, 1)] {
            let shape = Shape::Sharp(SharpLine::new(from, to, GL, 1, last));
            let count: i64 = covered(shape, SCREEN).iter().map(|&n| i64::from(n)).sum();
            assert_eq!(count, steps + extra, "{from:?} to {to:?}");
        }
    }
}

#[test]
fn wide_lines_repeat_the_thin_line() {
    // OpenGL 2.1, 3.4.2.1: the thin line moved by (w - 1) / 2 across the minor axis, each of its
    // pixels repeated w times.
    let mut random = Random(31);
    for i in 0..400 {
        let (from, to) = (random.point(-5, 45), random.point(-5, 45));
        let width = i % 7 + 1;
        let shape = Shape::Sharp(SharpLine::new(from, to, GL, width as u32, false));
        let found = covered(shape, SCREEN);
        let x_major = (to.x - from.x).abs() >= (to.y - from.y).abs();
        let moved = |p: Point| {
            let by = i64::from(width - 1) * ONE / 2;
            Point {
                x: p.x - if x_major { 0 } else { by },
                y: p.y - if x_major { by } else { 0 },
            }
        };
        let (from, to) = (moved(from), moved(to));
        for y in 0..SIDE {
            for x in 0..SIDE {
                let expected = (0..width).any(|k| {
                    let (dx, dy) = if x_major { (0, k) } else { (k, 0) };
                    leaves_diamond(from, to, x - dx, y - dy)
                });
                assert_eq!(
                    found[(y * SIDE + x) as usize],
                    u8::from(expected),
                    "{from:?} to {to:?}, width {width}, at {x}, {y}"
                );
            }
        }
    }
}

#[test]
fn smooth_lines_are_full_inside_and_fade_outside() {
    let p = |x: i64, y: i64| Point {
        x: x * ONE,
        y: y * ONE,
    };
    let Some(line) = SmoothLine::new(p(5, 10), p(30, 10), 3.0, 1.0, 1.0) else {
        panic!("a line")
    };
    assert_eq!(line.alpha(15, 10), 15);
    assert_eq!(line.alpha(15, 11), 15);
    assert_eq!(line.alpha(15, 12), 0);
    assert_eq!(line.alpha(5, 10), 8);
    assert!(SmoothLine::new(p(5, 5), p(5, 5), 3.0, 1.0, 1.0).is_none());
    // The walk misses no pixel with alpha.
    for to in [p(35, 12), p(9, 33), p(2, 1), p(36, 36)] {
        let Some(line) = SmoothLine::new(p(6, 7), to, 1.5, 0.5, 1.0) else {
            panic!("a line")
        };
        let found = covered(Shape::Smooth(line), SCREEN);
        for y in 0..SIDE {
            for x in 0..SIDE {
                let lit = line.alpha(x, y) > 0;
                assert_eq!(found[(y * SIDE + x) as usize], u8::from(lit), "{x}, {y}");
            }
        }
    }
}
