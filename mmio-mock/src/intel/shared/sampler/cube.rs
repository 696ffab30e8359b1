//! Cube maps: direction to face, and faces beyond an edge.
//!
//! PRM: volume 4, 4.1.2 and 4.2.4.6. Face order is that of the surface layout: +X -X +Y -Y +Z -Z.

/// A point on a face: number and coordinates in -1..1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnFace {
    /// Face number.
    pub face: u32,
    /// Coordinate along the rows of the face.
    pub s: f32,
    /// Coordinate down the columns of the face.
    pub t: f32,
}

/// An axis (x 0, y 1, z 2) and its direction.
type Axis = (usize, f32);

/// Major axis with its sign, and the axes of s and t, of each face.
const FACES: [(usize, f32, Axis, Axis); 6] = [
    (0, 1.0, (2, -1.0), (1, -1.0)),
    (0, -1.0, (2, 1.0), (1, -1.0)),
    (1, 1.0, (0, 1.0), (2, 1.0)),
    (1, -1.0, (0, 1.0), (2, -1.0)),
    (2, 1.0, (0, 1.0), (1, -1.0)),
    (2, -1.0, (0, -1.0), (1, -1.0)),
];

/// The face that a direction meets: the largest component decides.
#[inline]
#[must_use]
pub fn face(v: [f32; 3]) -> u32 {
    let a = v.map(f32::abs);
    let axis = if a[0] >= a[1] && a[0] >= a[2] {
        0
    } else if a[1] >= a[2] {
        1
    } else {
        2
    };
    axis as u32 * 2 + u32::from(v[axis] < 0.0)
}

/// Projects a direction on `face`; `None` when it points away from it.
#[inline]
#[must_use]
pub fn project(face: u32, v: [f32; 3]) -> Option<(f32, f32)> {
    // PANIC: the index is masked into the table by the remainder.
    let (axis, sign, s, t) = FACES[face as usize % 6];
    let major = v[axis] * sign;
    (major > 0.0).then(|| (v[s.0] * s.1 / major, v[t.0] * t.1 / major))
}

/// Direction to point.
#[inline]
#[must_use]
pub fn locate(v: [f32; 3]) -> OnFace {
    let face = face(v);
    let (s, t) = project(face, v).unwrap_or_default();
    OnFace { face, s, t }
}

/// The texel that stands in for `(x, y)` beyond the edges of `face`, on the adjoining face.
#[must_use]
pub fn beyond(face: u32, x: i32, y: i32, size: i32) -> (u32, i32, i32) {
    let (axis, sign, s, t) = FACES[face as usize % 6];
    let scale = |n: i32| (2 * n + 1) as f32 / size as f32 - 1.0;
    let mut v = [0.0; 3];
    v[axis] = sign;
    v[s.0] = scale(x) * s.1;
    v[t.0] = scale(y) * t.1;
    let there = locate(v);
    let texel = |c: f32| (((c + 1.0) * 0.5 * size as f32).floor() as i32).clamp(0, size - 1);
    (there.face, texel(there.s), texel(there.t))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_meet_the_centres_of_their_faces() {
        let axes: [[f32; 3]; 6] = [
            [1.0, 0.0, 0.0],
            [-1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, -1.0, 0.0],
            [0.0, 0.0, 1.0],
            [0.0, 0.0, -1.0],
        ];
        for (n, v) in axes.into_iter().enumerate() {
            let p = locate(v);
            assert_eq!((p.face, p.s.abs(), p.t.abs()), (n as u32, 0.0, 0.0));
        }
    }

    #[test]
    fn orientation_is_that_of_the_usual_cube_map_convention() {
        // OpenGL 2.1 table 3.19.
        assert_eq!(
            locate([1.0, 0.25, 0.5]),
            OnFace {
                face: 0,
                s: -0.5,
                t: -0.25
            }
        );
        assert_eq!(
            locate([-1.0, 0.25, 0.5]),
            OnFace {
                face: 1,
                s: 0.5,
                t: -0.25
            }
        );
        assert_eq!(
            locate([0.25, 1.0, 0.5]),
            OnFace {
                face: 2,
                s: 0.25,
                t: 0.5
            }
        );
        assert_eq!(
            locate([0.25, -1.0, 0.5]),
            OnFace {
                face: 3,
                s: 0.25,
                t: -0.5
            }
        );
        assert_eq!(
            locate([0.25, 0.5, 1.0]),
            OnFace {
                face: 4,
                s: 0.25,
                t: -0.5
            }
        );
        assert_eq!(
            locate([0.25, 0.5, -1.0]),
            OnFace {
                face: 5,
                s: -0.25,
                t: -0.5
            }
        );
    }

    #[test]
    fn edges_join_and_come_back() {
        let size = 8;
        for face in 0..6 {
            for n in 0..size {
                for (x, y) in [(-1, n), (size, n), (n, -1), (n, size)] {
                    let (other, ox, oy) = beyond(face, x, y, size);
                    assert_ne!(other, face);
                    let on_edge = [ox, oy].into_iter().any(|c| c == 0 || c == size - 1);
                    assert!(on_edge, "face {face} {x},{y} -> {other} {ox},{oy}");
                }
            }
        }
        // +X and +Z share the edge x = z = 1: left of +X is right of +Z.
        assert_eq!(beyond(0, -1, 3, 8), (4, 7, 3));
        assert_eq!(beyond(4, 8, 3, 8), (0, 0, 3));
    }
}
