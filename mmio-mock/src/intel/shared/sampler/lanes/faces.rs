//! Faces of cubes, for eight directions at once.
//!
//! PRM: volume 4, 4.1.2 and 4.2.4.6. Each function gives what its namesake of [`super::super::cube`] gives pixel by pixel.

use jit::eight::{Eight, each};

use super::place::floor;

/// The sign bit of a float.
const MINUS: u32 = 1 << 31;
/// Whether s runs against its axis, by faces.
const S: [u32; 8] = [MINUS, 0, 0, 0, 0, MINUS, 0, 0];
/// The same of t.
const T: [u32; 8] = [MINUS, MINUS, 0, MINUS, MINUS, MINUS, 0, 0];

/// Floats whose sign is changed where the highest bit of a mask is set.
#[inline(always)]
fn turned<E: Eight>(e: E, a: E::F, signs: E::I) -> E::F {
    e.float(e.xor(e.bits(a), signs))
}

/// The faces that directions meet.
#[inline(always)]
pub(super) fn face<E: Eight>(e: E, v: [E::F; 3]) -> E::I {
    let [x, y, z] = each(
        &v,
        e.all_f(0.0),
        #[inline(always)]
        |a| e.float(e.and(e.bits(a), e.all(!MINUS))),
    );
    let first = e.and(e.at_most(y, x), e.at_most(z, x));
    let second = e.at_most(z, y);
    let pair = e.select(first, e.all(0), e.select(second, e.all(2), e.all(4)));
    let major = e.select_f(first, v[0], e.select_f(second, v[1], v[2]));
    // All ones are minus one.
    e.sub(pair, e.less(major, e.all_f(0.0)))
}

/// Where the highest bit is set, the major axis of a face is x, and y.
#[inline(always)]
fn axes<E: Eight>(e: E, face: E::I) -> [E::I; 2] {
    let pair = e.and(face, e.all(6));
    [e.equal(pair, e.all(0)), e.equal(pair, e.all(2))]
}

/// Directions projected on faces: s and t, zeros where they point away.
#[inline(always)]
pub(super) fn project<E: Eight>(e: E, face: E::I, v: [E::F; 3]) -> [E::F; 2] {
    let [x, y] = axes(e, face);
    let major = e.select_f(x, v[0], e.select_f(y, v[1], v[2]));
    let major = turned(e, major, e.shl(face, 31));
    let s = turned(e, e.select_f(x, v[2], v[0]), e.pick(e.load(&S), face));
    let t = turned(e, e.select_f(y, v[2], v[1]), e.pick(e.load(&T), face));
    let zero = e.all_f(0.0);
    let towards = e.less(zero, major);
    [
        e.select_f(towards, e.div_f(s, major), zero),
        e.select_f(towards, e.div_f(t, major), zero),
    ]
}

/// The texels that stand in for those beyond the edges of faces of so many texels: face, column and row.
#[inline(always)]
pub(super) fn beyond<E: Eight>(e: E, face: E::I, [x, y]: [E::I; 2], size: E::I) -> [E::I; 3] {
    let texels = e.number(size);
    let [s, t] = each(
        &[x, y],
        e.all_f(0.0),
        #[inline(always)]
        |n| {
            let middle = e.number(e.add(e.shl(n, 1), e.all(1)));
            e.sub_f(e.div_f(middle, texels), e.all_f(1.0))
        },
    );
    let [on_x, on_y] = axes(e, face);
    let major = turned(e, e.all_f(1.0), e.shl(face, 31));
    let s = turned(e, s, e.pick(e.load(&S), face));
    let t = turned(e, t, e.pick(e.load(&T), face));
    let v = [
        e.select_f(on_x, major, s),
        e.select_f(on_y, major, t),
        e.select_f(on_x, s, e.select_f(on_y, t, major)),
    ];
    let there = self::face(e, v);
    let [x, y] = each(
        &project(e, there, v),
        e.all(0),
        #[inline(always)]
        |c| {
            let at = e.mul_f(e.add_f(c, e.all_f(1.0)), e.all_f(0.5));
            let texel = floor(e, e.mul_f(at, texels));
            e.min(e.max(texel, e.all(0)), e.sub(size, e.all(1)))
        },
    );
    [there, x, y]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intel::shared::sampler::cube;
    use jit::eight::{Loops, Plain, eight};

    /// Faces, s and t of directions, and those of the directions on the faces that follow.
    struct Located([[f32; 8]; 3]);

    impl Loops for Located {
        type Out = [[u32; 8]; 5];

        #[inline(always)]
        fn run<E: Eight>(self, e: E) -> Self::Out {
            let v = each(
                &self.0,
                e.all_f(0.0),
                #[inline(always)]
                |c| e.float(e.load(&c.map(f32::to_bits))),
            );
            let face = face(e, v);
            let [s, t] = project(e, face, v);
            // The next face, round from the last to the first.
            let next = e.add(face, e.all(1));
            let next = e.and_not(e.equal(next, e.all(6)), next);
            let [next_s, next_t] = project(e, next, v);
            [
                e.array(face),
                e.array(e.bits(s)),
                e.array(e.bits(t)),
                e.array(e.bits(next_s)),
                e.array(e.bits(next_t)),
            ]
        }
    }

    struct Beyond([[u32; 8]; 4]);

    impl Loops for Beyond {
        type Out = [[u32; 8]; 3];

        #[inline(always)]
        fn run<E: Eight>(self, e: E) -> Self::Out {
            let [face, x, y, size] = each(
                &self.0,
                e.all(0),
                #[inline(always)]
                |n| e.load(&n),
            );
            each(
                &beyond(e, face, [x, y], size),
                [0; 8],
                #[inline(always)]
                |n| e.array(n),
            )
        }
    }

    #[test]
    fn directions_meet_the_faces_of_single_pixels() {
        let mut rng = fastrand::Rng::with_seed(3);
        for _ in 0..20_000 {
            let few = [0.0, -0.0, 1.0, -1.0, 0.5, f32::NAN, f32::INFINITY, 1e-40];
            let v: [[f32; 8]; 3] = std::array::from_fn(|_| {
                std::array::from_fn(|_| match rng.u32(..3) {
                    0 => few[rng.usize(..8)],
                    _ => rng.f32() * 4.0 - 2.0,
                })
            });
            let got = eight(Located(v));
            assert_eq!(
                Located(v).run(Plain).map(|n| n.map(bits)),
                got.map(|n| n.map(bits))
            );
            for n in 0..8 {
                let v = v.map(|c| c[n]);
                let face = cube::face(v);
                let (s, t) = cube::project(face, v).unwrap_or_default();
                let (next_s, next_t) = cube::project((face + 1) % 6, v).unwrap_or_default();
                let want = [
                    face,
                    s.to_bits(),
                    t.to_bits(),
                    next_s.to_bits(),
                    next_t.to_bits(),
                ];
                assert_eq!(got.map(|got| bits(got[n])), want.map(bits), "{v:?}");
            }
        }
    }

    /// Words with one NaN for all.
    fn bits(word: u32) -> u32 {
        if f32::from_bits(word).is_nan() {
            f32::NAN.to_bits()
        } else {
            word
        }
    }

    #[test]
    fn texels_beyond_edges_are_those_of_single_pixels() {
        for size in [1i32, 2, 3, 4, 5, 7, 8, 31, 64, 100] {
            for face in 0..6u32 {
                let edge = (-1..=size).flat_map(|n| [(-1, n), (size, n), (n, -1), (n, size)]);
                let edge: Vec<_> = edge.collect();
                for eight_of in edge.chunks_exact(8) {
                    let words = [
                        [face; 8],
                        std::array::from_fn(|n| eight_of[n].0.cast_unsigned()),
                        std::array::from_fn(|n| eight_of[n].1.cast_unsigned()),
                        [size.cast_unsigned(); 8],
                    ];
                    let got = eight(Beyond(words));
                    assert_eq!(Beyond(words).run(Plain), got);
                    for n in 0..8 {
                        let (x, y) = eight_of[n];
                        let (face, x, y) = cube::beyond(face, x, y, size);
                        let want = [face, x.cast_unsigned(), y.cast_unsigned()];
                        assert_eq!(got.map(|got| got[n]), want, "{size}");
                    }
                }
            }
        }
    }
}
