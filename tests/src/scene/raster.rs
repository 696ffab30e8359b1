//! The reference: which pixels shapes cover, exactly, in homogeneous coordinates.
//!
//! PRM: volume 2, windower (top-left rule, sample at pixel centres as GL has them). Not covered: antialiasing.

/// Whether the pixel with centre (x + 1/2, y + 1/2) lies in a triangle under the top-left rule.
/// Vertices are in 1/256 pixels, y downwards.
#[must_use]
pub fn covers(v: [[i64; 2]; 3], x: i64, y: i64) -> bool {
    let p = [x * 256 + 128, y * 256 + 128];
    let cross = |a: [i64; 2], b: [i64; 2], c: [i64; 2]| {
        (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    };
    let area = cross(v[0], v[1], v[2]);
    if area == 0 {
        return false;
    }
    // Clockwise on the screen from here on.
    let v = if area < 0 { [v[0], v[2], v[1]] } else { v };
    (0..3).all(|i| {
        let (a, b) = (v[i], v[(i + 1) % 3]);
        let side = cross(a, b, p);
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let top_left = (dy == 0 && dx > 0) || dy < 0;
        side > 0 || (side == 0 && top_left)
    })
}

/// A vertex in clip space with a colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClipVertex {
    /// x, y, z, w.
    pub position: [f64; 4],
    /// r, g, b, a.
    pub colour: [f64; 4],
}

/// What a triangle in clip space shows at a point of the viewport (NDC x and y): depth in NDC and
/// colour, by Olano and Greer's homogeneous edge functions, which need no clipping. `None` outside;
/// the margin is the smallest edge function, relative to the largest, or distance to a plane.
#[must_use]
pub fn sample(v: &[ClipVertex; 3], ndc: [f64; 2]) -> Option<Sample> {
    // Rows (x, y, w); solve M^T b = (ndc.x, ndc.y, 1) * s for barycentric b >= 0.
    let m = v.map(|v| [v.position[0], v.position[1], v.position[3]]);
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]
    };
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let det = dot(m[0], cross(m[1], m[2]));
    if det == 0.0 {
        return None;
    }
    let p = [ndc[0], ndc[1], 1.0];
    // b_i * w-scale: the point is sum b_i v_i with w > 0.
    let b = [
        dot(p, cross(m[1], m[2])) / det,
        dot(p, cross(m[2], m[0])) / det,
        dot(p, cross(m[0], m[1])) / det,
    ];
    let sum: f64 = b.iter().sum();
    let size = b.iter().fold(0.0f64, |s, b| s.max(b.abs()));
    let least = b.iter().copied().fold(f64::INFINITY, f64::min);
    let mix = |f: &dyn Fn(&ClipVertex) -> f64| v.iter().zip(b).map(|(v, b)| f(v) * b).sum::<f64>();
    // With sum b_i v_i = (x, y, z, 1), z is already divided by w.
    let z = mix(&|v| v.position[2]);
    let margin = (least / size).min(1.0 - z.abs());
    Some(Sample {
        inside: least > 0.0 && sum > 0.0 && z.abs() <= 1.0,
        margin: margin.abs(),
        z,
        colour: std::array::from_fn(|c| mix(&|v| v.colour[c]) / sum),
    })
}

/// What [`sample`] found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Whether the triangle covers the point between the near and far planes.
    pub inside: bool,
    /// How far from a change of `inside`.
    pub margin: f64,
    /// Depth, -1 to 1.
    pub z: f64,
    /// Colour with perspective.
    pub colour: [f64; 4],
}
