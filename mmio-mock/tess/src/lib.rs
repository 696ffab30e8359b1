//! The tessellator of Direct3D 11: a patch's factors become points and triangles.
//!
//! Facts from Microsoft's reference tessellator, which Mesa has as `src/gallium/auxiliary/tessellator` and llvmpipe works with; the
//! tests compare with it. Intel's manual of Gen7, volume 2 part 1, TE stage, has the limits of factors (3DSTATE_TE). Not modelled: strips of
//! triangles, in which hardware may hand on what is a list here.
#![forbid(unsafe_code)]

mod axis;
mod factors;
mod isoline;
mod quad;
mod stitch;
mod triangle;

use stitch::Mesh;

/// One, in the 16 fractional bits of [`Point`].
pub const ONE: u32 = 1 << 16;
/// Largest factor: segments of an edge.
pub const MAXIMUM: u32 = 64;
/// Most points of a patch.
pub const MOST_POINTS: usize = (MAXIMUM as usize + 1) * (MAXIMUM as usize + 1);

/// What a patch is stretched over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Domain {
    /// The square from (0, 0) to (1, 1).
    #[default]
    Quad,
    /// The triangle u + v + w = 1.
    Triangle,
    /// Lines of constant v over the square.
    Isoline,
}

/// Where the points of an edge lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Partitioning {
    /// Factors are rounded up; segments are equal.
    #[default]
    Integer,
    /// An odd number of segments, of which two grow.
    OddFractional,
    /// An even number of segments, of which two grow.
    EvenFractional,
}

/// What is made of the points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// Points.
    #[default]
    Points,
    /// Strips of lines: those of the isolines. Of other domains, one strip through all points.
    Lines,
    /// Triangles that go round clockwise where u points right and v down.
    Clockwise,
    /// Triangles that go round the other way.
    CounterClockwise,
}

/// Upper limits of factors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Of [`Partitioning::OddFractional`]: at most 63.
    pub odd: f32,
    /// Of the others: at most 64.
    pub not_odd: f32,
}

impl Default for Limits {
    /// The largest.
    fn default() -> Self {
        Limits {
            odd: 63.0,
            not_odd: 64.0,
        }
    }
}

/// How patches are cut.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Setting {
    /// Domain.
    pub domain: Domain,
    /// Partitioning. The number of isolines is an integer with each.
    pub partitioning: Partitioning,
    /// Output.
    pub output: Output,
    /// Limits of factors.
    pub limits: Limits,
}

/// Factors of a patch, as it has them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Factors {
    /// Of the edges: u = 0, v = 0, u = 1, v = 1 of a quadrilateral; u = 0, v = 0, w = 0 of a triangle. Of isolines: their
    /// number, and the segments of each.
    pub outside: [f32; 4],
    /// Of the inside: along u and along v of a quadrilateral; a triangle has the first.
    pub inside: [f32; 2],
}

/// A point of the domain, in 1/65536.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// From 0 to [`ONE`].
    pub u: u32,
    /// From 0 to [`ONE`].
    pub v: u32,
}

impl Point {
    /// u and v.
    #[inline]
    pub fn uv(self) -> [f32; 2] {
        // CAST: 17 bits.
        [self.u, self.v].map(|fixed| fixed as f32 / ONE as f32)
    }

    /// The third coordinate of a triangle, 1 - u - v.
    #[inline]
    pub fn w(self) -> f32 {
        // CAST: 18 bits with their sign.
        (i64::from(ONE) - i64::from(self.u) - i64::from(self.v)) as f32 / ONE as f32
    }
}

/// Cuts patches. Its buffers are used again for the next one.
#[derive(Clone, Debug, Default)]
pub struct Tessellator {
    points: Vec<Point>,
    triangles: Vec<[u16; 3]>,
    strip: usize,
}

impl Tessellator {
    /// A tessellator without a patch.
    pub fn new() -> Self {
        Tessellator::default()
    }

    /// Cuts a patch. `false` when it is culled: a factor of an edge is not above zero, or not a number.
    ///
    /// ```
    /// let mut tessellator = tess::Tessellator::new();
    /// let setting = tess::Setting {
    ///     output: tess::Output::Clockwise,
    ///     ..tess::Setting::default()
    /// };
    /// let factors = tess::Factors {
    ///     outside: [2.0; 4],
    ///     inside: [2.0; 2],
    /// };
    /// assert!(tessellator.patch(&setting, &factors));
    /// assert_eq!(tessellator.points().len(), 9);
    /// assert_eq!(tessellator.triangles().len(), 8);
    /// ```
    pub fn patch(&mut self, setting: &Setting, factors: &Factors) -> bool {
        self.clear();
        let points = &mut self.points;
        let clockwise = match setting.output {
            Output::Points | Output::Lines => None,
            Output::Clockwise => Some(true),
            Output::CounterClockwise => Some(false),
        };
        let mesh = clockwise.map(|clockwise| Mesh {
            triangles: &mut self.triangles,
            clockwise,
        });
        let line = match setting.domain {
            Domain::Quad => quad::cut(setting, factors, points, mesh),
            Domain::Triangle => triangle::cut(setting, factors, points, mesh),
            Domain::Isoline => isoline::cut(setting, factors, points),
        };
        let Some(line) = line else {
            return false;
        };
        self.strip = match (setting.output, setting.domain) {
            (Output::Points, _) => 1,
            (Output::Lines, _) | (_, Domain::Isoline) => line,
            (Output::Clockwise | Output::CounterClockwise, _) => 0,
        };
        true
    }

    /// Forgets the patch.
    pub fn clear(&mut self) {
        self.points.clear();
        self.triangles.clear();
        self.strip = 0;
    }

    /// The points of the last patch, at most [`MOST_POINTS`].
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Its triangles, by numbers of points.
    pub fn triangles(&self) -> &[[u16; 3]] {
        &self.triangles
    }

    /// How many points in a row are a strip of lines: 1 for points, 0 for triangles.
    pub fn strip(&self) -> usize {
        self.strip
    }
}
