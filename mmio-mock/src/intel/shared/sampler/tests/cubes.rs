//! Cube maps: faces, seams, disabled faces, address control.

use super::*;

/// Faces in the order of memory: direction of the centre, of the rows and of the columns (OpenGL 2.1 table 3.19).
const FACES: [[[f32; 3]; 3]; 6] = [
    [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, -1.0, 0.0]],
    [[-1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]],
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]],
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, -1.0, 0.0]],
    [[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]],
];

/// The point of the unit cube at (s, t) of a face.
fn point(face: usize, s: f32, t: f32) -> [f32; 3] {
    let [centre, row, column] = FACES[face];
    std::array::from_fn(|d| centre[d] + row[d] * s + column[d] * t)
}

const CUBE: u32 = values::texture_coordinate_mode::TEXCOORDMODE_CUBE;

/// Size 8, all faces; `texel` of face, s and t of the texel's centre.
fn cube(bench: &mut Bench, texel: impl Fn(u32, f32, f32) -> f32) -> SurfaceState {
    let mut state = surface_2d(f::R32F, 8, 8, Tiling::Linear)
        .with_surface_type(values::surftype::SURFTYPE_CUBE);
    state.0[0] |= 0x3f;
    let at = |n: u32| (n as f32 + 0.5) / 4.0 - 1.0;
    bench.fill(state, 0, |x, y, z| texel(z, at(x), at(y)).to_bits());
    state
}

// covers: 4.1.2-02, 4.1.2-03, 4.8.1.5-01
#[test]
fn the_largest_component_chooses_the_face() {
    let mut bench = Bench::new();
    let state = cube(&mut bench, |face, s, t| {
        face as f32 * 64.0 + (t + 1.0) * 4.0 * 8.0 + (s + 1.0) * 4.0
    });
    bench.bind(state, sampler(NEAREST, CUBE));
    for face in 0..6 {
        for n in 0..64 {
            let (x, y) = ((n % 8) as f32, (n / 8) as f32);
            let (s, t) = ((x + 0.5) / 4.0 - 1.0, (y + 0.5) / 4.0 - 1.0);
            let [u, v, r] = point(face, s, t);
            let want = face as f32 * 64.0 + (y + 0.5) * 8.0 + x + 0.5;
            assert_eq!(bench.at(u, v, r)[0], want, "face {face} {x},{y}");
            let given = bench.at_lod(u, v, r, 0.0)[0];
            assert_eq!(given, want, "sample_l, face {face}");
        }
    }
}

// covers: 4.2.4.6-01, 4.7.3-25
#[test]
fn cube_mode_filters_across_all_seams() {
    let mut bench = Bench::new();
    // A linear function of the place on the cube.
    let plane = [3.0f32, 5.0, 7.0];
    let value = |p: [f32; 3]| p[0] * plane[0] + p[1] * plane[1] + p[2] * plane[2];
    let state = cube(&mut bench, |face, s, t| value(point(face as usize, s, t)));
    let programmed = sampler(LINEAR, CUBE);
    let overridden = sampler(LINEAR, CLAMP).with_cube_surface_control_mode(1);
    for sampler in [programmed, overridden] {
        bench.bind(state, sampler);
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            for signs in 0..4 {
                for n in 0..8 {
                    let mut at = [(n as f32 + 0.5) / 4.0 - 1.0; 3];
                    at[a] = if signs & 1 == 0 { 1.0 } else { -1.0 };
                    at[b] = if signs & 2 == 0 { 1.0 } else { -1.0 };
                    // Half of the last texel of either face, whose centre is an eighth from the edge.
                    let mut mean = at;
                    mean[a] *= 0.9375;
                    mean[b] *= 0.9375;
                    if n == 0 || n == 7 {
                        continue;
                    }
                    let got = bench.at(at[0], at[1], at[2])[0];
                    let want = value(mean);
                    assert!((got - want).abs() < 1e-4, "{at:?}: {got} {want}");
                }
            }
        }
    }
}

// covers: 4.2.4.4-01
#[test]
fn clamp_mode_stays_on_the_face() {
    let mut bench = Bench::new();
    let state = cube(&mut bench, |face, _, _| face as f32);
    bench.bind(state, sampler(LINEAR, CLAMP));
    for face in 0..6 {
        for (s, t) in [(0.999, 0.0), (-0.999, 0.3), (0.2, 0.999), (0.999, -0.999)] {
            let [u, v, r] = point(face, s, t);
            assert_eq!(bench.at(u, v, r)[0], face as f32, "{s} {t}");
        }
    }
    bench.bind(state, sampler(LINEAR, CUBE));
    let [u, v, r] = point(0, 0.999, 0.0);
    let got = bench.at(u, v, r)[0];
    assert!((got - 2.5).abs() < 0.1, "+X and -Z: {got}");
}

// covers: 4.7.2-27, 4.7.2-28, 4.7.4-04
#[test]
fn disabled_faces_show_the_border() {
    let mut bench = Bench::new();
    bench.border = [-1.0, 0.0, 0.0, 0.0];
    let state = cube(&mut bench, |face, _, _| face as f32);
    // -X +X -Y +Y -Z +Z from bit 5 down; the faces by the order in memory.
    for (bit, face) in [(5, 1), (4, 0), (3, 3), (2, 2), (1, 5), (0, 4)] {
        let mut only = state;
        only.0[0] = only.0[0] & !0x3f | 1 << bit;
        bench.bind(only, sampler(NEAREST, CUBE));
        for other in 0..6 {
            let [u, v, r] = point(other, 0.1, 0.2);
            let want = if other == face { face as f32 } else { -1.0 };
            assert_eq!(bench.at(u, v, r)[0], want, "bit {bit} face {other}");
        }
    }
    // The bits are nothing to other surfaces.
    let mut flat = surface_2d(f::R32F, 8, 8, Tiling::Linear);
    bench.fill(flat, 0, |_, _, _| 4f32.to_bits());
    for bits in [0, 0x15, 0x3f] {
        flat.0[0] = flat.0[0] & !0x3f | bits;
        bench.bind(flat, sampler(NEAREST, CLAMP));
        assert_eq!(bench.at(0.5, 0.5, 0.0)[0], 4.0);
    }
}

// covers: 4.2.1.1-01
#[test]
fn neighbours_on_a_face_give_the_lod() {
    let mut bench = Bench::new();
    let mut state = surface_2d(f::R32F, 32, 32, Tiling::Linear)
        .with_surface_type(values::surftype::SURFTYPE_CUBE)
        .with_mip_count_lod(5);
    state.0[0] |= 0x3f;
    for level in 0..6 {
        bench.fill(state, level, |_, _, _| (level as f32).to_bits());
    }
    let linear = values::mipfilter::MIPFILTER_LINEAR;
    bench.bind(state, sampler(NEAREST, CUBE).with_mip_mode_filter(linear));
    for face in 0..6 {
        for step in [1.0f32, 2.0, 3.0, 7.0] {
            // Two units are 32 texels.
            let points = std::array::from_fn(|n| {
                point(
                    face,
                    -0.4 + (n % 2) as f32 * step / 16.0,
                    -0.4 + (n % 4 / 2) as f32 * 0.5 / 16.0,
                )
            });
            for got in bench.sample8(points) {
                assert!((got[0] - step.log2()).abs() < 1e-3, "face {face} {step}");
            }
        }
    }
}

/// What piglit's cubemap tests draw: a face to its edges, a pixel for each texel of a level, in subspans that stick
/// out at any of its corners. Their pixels beyond bring coordinates divided by another component (4.1.2).
// covers: 4.1.2-03, 4.2.1.1-01
#[test]
fn neighbours_beyond_the_edges_leave_the_lod_alone() {
    let mut bench = Bench::new();
    let mut state = surface_2d(f::R32F, 32, 32, Tiling::Linear)
        .with_surface_type(values::surftype::SURFTYPE_CUBE)
        .with_mip_count_lod(5);
    state.0[0] |= 0x3f;
    for level in 0..6 {
        bench.fill(state, level, |_, _, _| (level as f32).to_bits());
    }
    let linear = values::mipfilter::MIPFILTER_LINEAR;
    bench.bind(state, sampler(NEAREST, CUBE).with_mip_mode_filter(linear));
    let delivered = |v: [f32; 3]| {
        let largest = v.map(f32::abs).into_iter().fold(0.0, f32::max);
        v.map(|c| c / largest)
    };
    for face in 0..6 {
        for level in 0..4 {
            let texel = 2.0 / (32 >> level) as f32;
            // The pixel of a subspan that is the last one on the face, and the corner it is at.
            for inside in 0..4 {
                let out = |axis: usize, n: usize| {
                    let (here, last) = (n >> axis & 1, inside >> axis & 1);
                    let edge = if last == 0 { 1.0 } else { -1.0 };
                    edge + (here as f32 - 0.5) * texel
                };
                let points = std::array::from_fn(|n| delivered(point(face, out(0, n), out(1, n))));
                let got = bench.sample8(points)[inside][0];
                assert!(
                    (got - level as f32).abs() < 1e-3,
                    "face {face} level {level} pixel {inside}: {got}"
                );
            }
        }
    }
}
