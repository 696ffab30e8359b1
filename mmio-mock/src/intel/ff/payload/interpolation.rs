//! What changes over a primitive: depth, 1/w, and the weights of its vertices.
//!
//! PRM: volume 2, windower (barycentric parameters). Planes are kept in double precision and rounded where a value is used.
//! Not modelled: the number of bits of the hardware's interpolator.

/// A value that is linear on the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Plane {
    /// Change with each pixel to the right, and down.
    pub slope: [f64; 2],
    /// The value at the upper left corner of the drawing rectangle's first pixel.
    pub base: f64,
}

impl Plane {
    /// The same value everywhere.
    pub const fn constant(value: f64) -> Plane {
        Plane {
            slope: [0.0; 2],
            base: value,
        }
    }

    /// The value at a point of the screen.
    #[inline(always)]
    pub fn at(&self, x: f64, y: f64) -> f64 {
        self.base + self.slope[0] * x + self.slope[1] * y
    }

    /// The greater of the two slopes.
    pub fn max_slope(&self) -> f64 {
        self.slope[0].abs().max(self.slope[1].abs())
    }
}

/// The planes of a primitive whose setup is no thread's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interpolation {
    /// Depth.
    pub depth: Plane,
    /// 1/w.
    pub rhw: Plane,
    /// Weights of the second and third vertex, divided by w.
    pub weights: [Plane; 2],
    /// Weights of the second and third vertex without regard to w.
    pub linear: [Plane; 2],
}

/// The weights of the second and third vertex, and w, at a point of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weights {
    /// With regard to w.
    pub perspective: [f32; 2],
    /// Without.
    pub linear: [f32; 2],
    /// w.
    pub w: f32,
}

impl Interpolation {
    /// The values at a point, everywhere.
    #[must_use]
    pub fn fixed(&self, x: f64, y: f64) -> Interpolation {
        let fixed = |plane: Plane| Plane::constant(plane.at(x, y));
        Interpolation {
            depth: fixed(self.depth),
            rhw: fixed(self.rhw),
            weights: self.weights.map(fixed),
            linear: self.linear.map(fixed),
        }
    }

    /// The weights of the second and third vertex with regard to w, at points: [`weights`](Self::weights) of each.
    // Loops over arrays that stay where they are become vectors; closures that hand arrays on are copies.
    #[inline(always)]
    pub fn perspective<const N: usize>(&self, [x, y]: &[[f64; N]; 2]) -> [[f32; N]; 2] {
        let mut w = [0.0; N];
        for i in 0..N {
            w[i] = 1.0 / self.rhw.at(x[i], y[i]);
        }
        let mut out = [[0.0; N]; 2];
        for (out, plane) in out.iter_mut().zip(&self.weights) {
            for i in 0..N {
                out[i] = (plane.at(x[i], y[i]) * w[i]) as f32;
            }
        }
        out
    }

    /// The same without regard to w.
    #[inline(always)]
    pub fn linear<const N: usize>(&self, [x, y]: &[[f64; N]; 2]) -> [[f32; N]; 2] {
        let mut out = [[0.0; N]; 2];
        for (out, plane) in out.iter_mut().zip(&self.linear) {
            for i in 0..N {
                out[i] = plane.at(x[i], y[i]) as f32;
            }
        }
        out
    }

    /// What a pixel shader is told of a point.
    #[inline]
    pub fn weights(&self, x: f64, y: f64) -> Weights {
        let w = 1.0 / self.rhw.at(x, y);
        // CAST: the one rounding.
        Weights {
            perspective: self.weights.map(|plane| (plane.at(x, y) * w) as f32),
            linear: self.linear.map(|plane| plane.at(x, y) as f32),
            w: w as f32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_points_are_as_each_alone() {
        let mut rng = fastrand::Rng::with_seed(8);
        for _ in 0..1000 {
            let mut plane = || Plane {
                slope: [rng.f64() - 0.5, rng.f64() - 0.5],
                base: rng.f64() * 100.0,
            };
            let planes = Interpolation {
                depth: plane(),
                rhw: plane(),
                weights: [plane(), plane()],
                linear: [plane(), plane()],
            };
            let points: [[f64; 8]; 2] =
                [(); 2].map(|()| std::array::from_fn(|_| rng.f64() * 4096.0));
            let (perspective, linear) = (planes.perspective(&points), planes.linear(&points));
            for i in 0..8 {
                let alone = planes.weights(points[0][i], points[1][i]);
                assert_eq!(perspective.map(|weight| weight[i]), alone.perspective);
                assert_eq!(linear.map(|weight| weight[i]), alone.linear);
            }
        }
    }
}
