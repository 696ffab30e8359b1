//! The mipmapped floor of scene `m`, computed from the formulas instead of drawn.
//!
//! PRM: volume 4, 4.2.1.1 (LOD), 4.2.1.5, 4.2.2, 4.2.3.2. In double precision, gradients between
//! the pixels of a subspan; the figures and the texture are those of `tests/tools/glscenes.c`.
//! It models no hardware: no fixed-point widths, no subpixel grid, one sample a pixel.

use super::picture::Picture;

/// Texels of level 0 along a side.
const SIDE: usize = 128;

/// Corners of the floor: x, y, w, s, t.
const CORNERS: [[f64; 5]; 4] = [
    [-1.0, -0.8, 1.0, 0.0, 0.0],
    [1.0, -0.8, 1.0, 4.0, 0.0],
    [-8.0, 4.0, 8.0, 0.0, 16.0],
    [8.0, 4.0, 8.0, 4.0, 16.0],
];

/// Red, green and blue where nothing is drawn.
const BEHIND: [u8; 3] = [26, 26, 38];

/// How texels per pixel become a level of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lod {
    /// The manual's: the logarithm of the longer gradient.
    Ideal,
    /// llvmpipe's: the same of its square, the logarithm a straight line between powers of two.
    Lines,
    /// softpipe's: the largest component of both gradients, at the lower left of a subspan.
    Largest,
}

/// Coordinates of a triangle at a place of the window.
struct Plane {
    s: [f64; 3],
    t: [f64; 3],
    w: [f64; 3],
}

impl Plane {
    /// Of the triangle that starts at a corner of the strip.
    fn new(first: usize) -> Plane {
        let corners: [[f64; 5]; 3] = std::array::from_fn(|n| CORNERS[first + n]);
        let over = |value: fn(&[f64; 5]) -> f64| {
            through(&corners.map(|c| [c[0], c[1], value(&c)].map(|v| v / c[2])))
        };
        Plane {
            s: over(|c| c[3]),
            t: over(|c| c[4]),
            w: over(|_| 1.0),
        }
    }

    fn at(&self, x: f64, y: f64) -> [f64; 2] {
        let value = |p: [f64; 3]| p[0] * x + p[1] * y + p[2];
        let w = value(self.w);
        [value(self.s) / w, value(self.t) / w]
    }
}

/// The plane `a x + b y + c` through three points.
fn through(p: &[[f64; 3]; 3]) -> [f64; 3] {
    let from = |n: usize| -> [f64; 3] { std::array::from_fn(|k| p[n][k] - p[0][k]) };
    let (u, v) = (from(1), from(2));
    let area = u[0] * v[1] - v[0] * u[1];
    let a = (u[2] * v[1] - v[2] * u[1]) / area;
    let b = (u[0] * v[2] - v[0] * u[2]) / area;
    [a, b, p[0][2] - a * p[0][0] - b * p[0][1]]
}

/// All levels of the texture.
fn levels() -> Vec<Vec<[f64; 3]>> {
    let sizes = std::iter::successors(Some(SIDE), |&size| (size > 1).then_some(size / 2));
    let level = |(level, size): (usize, usize)| {
        let cell = (size / 8).max(1);
        let texel = |n: usize| {
            let (x, y) = (n % size, n / size);
            let odd = ((x / cell) ^ (y / cell)) & 1 == 1;
            let ramp = |n: usize| (n * 255 / size) as f64;
            if odd {
                [255.0, ramp(y), 32.0]
            } else {
                [ramp(x), (40 + 20 * level) as f64, 255.0 - ramp(y)]
            }
        };
        (0..size * size).map(texel).collect()
    };
    sizes.enumerate().map(level).collect()
}

fn mix(a: [f64; 3], b: [f64; 3], weight: f64) -> [f64; 3] {
    std::array::from_fn(|n| a[n] + (b[n] - a[n]) * weight)
}

/// Four texels of a level, which repeats.
fn linear(level: &[[f64; 3]], [s, t]: [f64; 2]) -> [f64; 3] {
    let size = level.len().isqrt();
    let split = |coordinate: f64| {
        let at = coordinate * size as f64 - 0.5;
        // CAST: coordinates of the floor are a few hundred texels at most.
        (at.floor() as i64, at - at.floor())
    };
    let ((x, fx), (y, fy)) = (split(s), split(t));
    let fold = |n: i64| n.rem_euclid(size as i64) as usize;
    let row = |y: i64| {
        let texel = |x: i64| level[fold(y) * size + fold(x)];
        mix(texel(x), texel(x + 1), fx)
    };
    mix(row(y), row(y + 1), fy)
}

/// The level of detail from the gradients along x and y in texels.
fn lod(rule: Lod, dx: [f64; 2], dy: [f64; 2]) -> f64 {
    let square = |d: [f64; 2]| d[0] * d[0] + d[1] * d[1];
    let longer = square(dx).max(square(dy));
    match rule {
        Lod::Ideal => 0.5 * longer.log2(),
        Lod::Lines => {
            let whole = longer.log2().floor();
            0.5 * (whole + longer / whole.exp2() - 1.0)
        }
        Lod::Largest => {
            let all = [dx, dy].concat().into_iter().map(f64::abs);
            all.fold(0.0, f64::max).log2()
        }
    }
}

/// The scene.
pub fn picture(width: usize, height: usize, rule: Lod) -> Picture {
    let planes = [Plane::new(0), Plane::new(1)];
    let levels = levels();
    let place = |n: usize, of: usize| (2 * n + 1) as f64 / of as f64 - 1.0;
    let mut bytes = Vec::with_capacity(width * height * 3);
    for row in (0..height).rev() {
        for column in 0..width {
            let (x, y) = (place(column, width), place(row, height));
            // The floor goes from side to side, from y = -4/5 to 1/2.
            if !(-0.8..=0.5).contains(&y) {
                bytes.extend(BEHIND);
                continue;
            }
            let second = (y + 0.8) * 2.0 > (1.0 - x) * 1.3;
            let plane = &planes[usize::from(second)];
            let at = |column, row| plane.at(place(column, width), place(row, height));
            let apart = |a: [f64; 2], b: [f64; 2]| -> [f64; 2] {
                std::array::from_fn(|n| (a[n] - b[n]) * SIDE as f64)
            };
            let (left, upper) = (column & !1, row & !1);
            let level_of_x = upper + usize::from(rule == Lod::Largest);
            let dx = apart(at(left + 1, level_of_x), at(left, level_of_x));
            let dy = apart(at(left, upper + 1), at(left, upper));
            let lod = lod(rule, dx, dy).clamp(0.0, (levels.len() - 1) as f64);
            // CAST: clamped above.
            let first = lod.floor() as usize;
            let next = (first + 1).min(levels.len() - 1);
            let there = plane.at(x, y);
            let colour = mix(
                linear(&levels[first], there),
                linear(&levels[next], there),
                lod - lod.floor(),
            );
            // CAST: colours are 0 to 255.
            bytes.extend(colour.map(|value| value.round_ties_even() as u8));
        }
    }
    Picture {
        width,
        height,
        bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_go_through_their_corners() {
        for first in 0..2 {
            let plane = Plane::new(first);
            for corner in &CORNERS[first..first + 3] {
                let [x, y, w, s, t] = *corner;
                let [found_s, found_t] = plane.at(x / w, y / w);
                assert!((found_s - s).abs() < 1e-9 && (found_t - t).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn rules() {
        // PRM 4.2.1.1: the longer gradient; 3 texels are log2(9) / 2 levels.
        let (dx, dy) = ([3.0, 4.0], [0.0, 3.0]);
        assert_eq!(lod(Lod::Ideal, dx, dy), 5f64.log2());
        assert_eq!(lod(Lod::Largest, dx, dy), 2.0);
        // 25 lies 9/16 of the way from 16 to 32.
        assert_eq!(lod(Lod::Lines, dx, dy), 0.5 * (4.0 + 9.0 / 16.0));
    }

    #[test]
    fn the_texture_has_all_levels() {
        let levels = levels();
        assert_eq!(levels.len(), 8);
        assert_eq!(levels[7], [[0.0, 180.0, 255.0]]);
        assert_eq!(linear(&levels[0], [0.5 / 128.0; 2]), [0.0, 40.0, 255.0]);
    }
}
