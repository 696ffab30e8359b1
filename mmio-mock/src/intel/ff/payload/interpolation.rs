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
    #[inline]
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
