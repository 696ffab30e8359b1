//! Registers of pixel threads, by hand after Mesa's `setup_fs_payload_gfx6`.

use super::*;
use crate::intel::ff::payload::Outside;
use crate::intel::ff::payload::interpolation::{Interpolation, Plane};
use crate::intel::ff::payload::pixels::{MAX_REGISTERS, PixelParts};

/// Weights that tell their pixel: x/16 and y/16, w of 2.
fn weights() -> PixelWeights {
    let across = Plane {
        slope: [1.0 / 16.0, 0.0],
        base: 0.0,
    };
    let down = Plane {
        slope: [0.0, 1.0 / 16.0],
        base: 0.0,
    };
    let half = |plane: Plane| Plane {
        slope: plane.slope.map(|s| s / 2.0),
        ..plane
    };
    PixelWeights {
        planes: Interpolation {
            depth: across,
            rhw: Plane::constant(0.5),
            weights: [half(across), half(down)],
            linear: [down, across],
        },
        origin: [0.5, 0.5],
        pixel: [0.5, 0.5],
        sample_count: 1,
        samples: [
            [0.375, 0.125],
            [0.875, 0.375],
            [0.125, 0.625],
            [0.625, 0.875],
            [0.5; 2],
            [0.5; 2],
            [0.5; 2],
            [0.5; 2],
        ],
        ..PixelWeights::default()
    }
}

/// Subspans at (0, 0), (2, 0), (4, 0), ...
fn group(count: u16) -> PixelGroup {
    let mut group = PixelGroup::default();
    for i in 0..count {
        group.push(Subspan {
            x: 2 * i,
            y: 4,
            mask: 0b1011,
            depth: [f32::from(i), 0.25, 0.5, 0.75],
            ..Subspan::default()
        });
    }
    group
}

fn build(state: &PayloadState<'_>, group: &PixelGroup) -> Vec<Grf> {
    let mut registers = [Grf::default(); MAX_REGISTERS];
    let mut payload = Payload::into(&mut registers);
    Layout.pixels(&mut payload, state, group);
    let count = payload.count();
    registers[..count].to_vec()
}

fn floats(register: &Grf) -> [f32; 8] {
    register.map(f32::from_bits)
}

// covers: S-0039, S-0040
#[test]
fn the_header_says_what_the_object_is() {
    let state = PayloadState {
        color_calc_state: 0x140,
        sampler_state: 0x60,
        scratch_space: 2,
        scratch_base: 0x8000,
        binding_table: 0x2c0,
        fftid: 5,
        back_facing: true,
        topology: 4,
        viewport_index: 3,
        render_target_array_index: 9,
        width: 8,
        ..PayloadState::default()
    };
    let r = build(&state, &group(2));
    assert_eq!(r.len(), 2);
    assert_eq!(
        r[0][..6],
        [
            3 << 27 | 9 << 16 | 1 << 15 | 4,
            0x140,
            0,
            0x62,
            0x2c0,
            0x8005
        ]
    );
    // Subspans from dword 2 on, rows above columns; lit pixels in dword 7.
    assert_eq!(r[1], [0, 0, 0x0004_0000, 0x0004_0002, 0, 0, 0, 0xbb]);
}

// covers: S-0038, S-0041, S-0051
#[test]
fn eight_pixels_have_two_registers_of_weights() {
    let weights = PixelWeights {
        modes: 0b00_1001,
        ..weights()
    };
    let state = PayloadState {
        width: 8,
        weights: Some(&weights),
        ..PayloadState::default()
    };
    let r = build(&state, &group(2));
    assert_eq!(r.len(), 2 + 4);
    let x = [0.5, 1.5, 0.5, 1.5, 2.5, 3.5, 2.5, 3.5].map(|x| x / 16.0);
    let y = [4.5, 4.5, 5.5, 5.5, 4.5, 4.5, 5.5, 5.5].map(|y| y / 16.0);
    assert_eq!([floats(&r[2]), floats(&r[3])], [x, y]);
    // Without regard to w, the planes are exchanged here.
    assert_eq!([floats(&r[4]), floats(&r[5])], [y, x]);
}

// covers: S-0042, S-0043
#[test]
fn sixteen_pixels_have_them_eight_by_eight_and_then_depth_and_w() {
    let weights = PixelWeights {
        modes: 1,
        w: true,
        ..weights()
    };
    let state = PayloadState {
        width: 16,
        parts: PixelParts {
            source_depth: true,
            ..PixelParts::default()
        },
        weights: Some(&weights),
        ..PayloadState::default()
    };
    let r = build(&state, &group(4));
    assert_eq!(r.len(), 2 + 4 + 2 + 2);
    assert_eq!(floats(&r[2])[..2], [0.5 / 16.0, 1.5 / 16.0]);
    assert_eq!(floats(&r[3])[0], 4.5 / 16.0);
    assert_eq!(floats(&r[4])[..2], [4.5 / 16.0, 5.5 / 16.0]);
    assert_eq!(floats(&r[6]), [0.0, 0.25, 0.5, 0.75, 1.0, 0.25, 0.5, 0.75]);
    assert_eq!(floats(&r[7])[4], 3.0);
    assert_eq!([floats(&r[8]), floats(&r[9])], [[2.0; 8]; 2]);
}

// covers: S-0045
#[test]
fn thirty_two_pixels_are_two_halves_behind_both_registers_of_subspans() {
    let weights = PixelWeights {
        modes: 1,
        ..weights()
    };
    let state = PayloadState {
        width: 32,
        weights: Some(&weights),
        ..PayloadState::default()
    };
    let r = build(&state, &group(5));
    assert_eq!(r.len(), 1 + 2 + 4 + 4);
    assert_eq!(r[1][7], 0xbbbb);
    assert_eq!((r[2][2], r[2][7]), (0x0004_0008, 0xb));
    assert_eq!(floats(&r[7])[..2], [8.5 / 16.0, 9.5 / 16.0]);
}

/// Sample places of Mesa's `INTEL_SAMPLE_POS_4X`: the thread of samples 2 and 3 says so, and gets weights and offsets of each.
// covers: S-0044
#[test]
fn threads_for_samples_have_their_places() {
    let mut group = PixelGroup::default();
    for sample in [2, 3] {
        group.push(Subspan {
            mask: 0xf,
            sample: Some(sample),
            coverage: [0xf; 8],
            ..Subspan::default()
        });
    }
    let weights = PixelWeights {
        modes: 0b100,
        offsets: Some(Location::Sample),
        sample_count: 4,
        ..weights()
    };
    let state = PayloadState {
        width: 8,
        weights: Some(&weights),
        ..PayloadState::default()
    };
    let r = build(&state, &group);
    assert_eq!(r[0][0], 1 << 6);
    assert_eq!(floats(&r[2])[0], 0.125 / 16.0);
    assert_eq!(floats(&r[2])[4], 0.625 / 16.0);
    assert_eq!(floats(&r[3])[4], 0.875 / 16.0);
    // x and y in sixteenths, a byte each: (2, 10) for the first four channels, (10, 14) for the others.
    assert_eq!(
        r[4][..4],
        [0x0a02_0a02, 0x0a02_0a02, 0x0e0a_0e0a, 0x0e0a_0e0a]
    );
}

#[test]
fn centroids_lie_where_the_object_is() {
    let weights = PixelWeights {
        sample_count: 4,
        ..weights()
    };
    let place = |[a, b, c, d]: [u8; 4]| {
        let coverage = [a, b, c, d, 0, 0, 0, 0];
        let subspan = Subspan {
            coverage,
            ..Subspan::default()
        };
        weights.place(&subspan, 0, Location::Centroid)
    };
    assert_eq!(place([1, 1, 1, 1]), [0.5, 0.5]);
    assert_eq!(place([0, 0, 1, 1]), [0.125, 0.625]);
    assert_eq!(place([0, 0, 0, 0]), [0.5, 0.5]);
}

// covers: S-0024, S-0025
#[test]
fn geometry_threads_have_a_number_and_indices() {
    let object = ObjectHeader {
        topology: crate::intel::ff::topology::Topology::TriList,
        edges: [true, false],
        outside: Outside::default(),
        number: 7,
        stream: None,
    };
    let r0 = Layout.object(&UnitConfig::default(), UrbHandle(8), &object, [0; 2]);
    assert_eq!(r0[..3], [0, 7, 4 | 1 << 8]);
    let r1 = Layout.stream(&StreamIndices {
        index: [1, 2, 3, 4],
        maximum: [5, 6, 7, 8],
    });
    assert_eq!(r1, Some([1, 2, 3, 4, 5, 6, 7, 8]));
}

/// The second half of 32 pixels has weights, depth, w and offsets of its own, behind all of the first half's.
// covers: S-0046, S-0047, S-0048
#[test]
fn thirty_two_pixels_have_everything_twice() {
    let weights = PixelWeights {
        modes: 1,
        w: true,
        offsets: Some(Location::Centroid),
        ..weights()
    };
    let state = PayloadState {
        width: 32,
        parts: PixelParts {
            source_depth: true,
            ..PixelParts::default()
        },
        weights: Some(&weights),
        ..PayloadState::default()
    };
    let r = build(&state, &group(8));
    // Header, two of subspans; then twice: four of weights, two each of depth and w, one of offsets.
    assert_eq!(r.len(), 3 + 2 * (4 + 2 + 2 + 1));
    let (first, second) = (&r[3..12], &r[12..21]);
    assert_eq!(floats(&first[0])[..2], [0.5 / 16.0, 1.5 / 16.0]);
    assert_eq!(floats(&second[0])[..2], [8.5 / 16.0, 9.5 / 16.0]);
    let depths = |n: f32| [n, 0.25, 0.5, 0.75, n + 1.0, 0.25, 0.5, 0.75];
    assert_eq!(
        [4, 5].map(|n| floats(&first[n])),
        [depths(0.0), depths(2.0)]
    );
    assert_eq!(
        [4, 5].map(|n| floats(&second[n])),
        [depths(4.0), depths(6.0)]
    );
    for half in [first, second] {
        assert_eq!([6, 7].map(|n| floats(&half[n])), [[2.0; 8]; 2]);
        // With one sample a centroid is the centre: eight sixteenths to the right and down.
        assert_eq!(half[8], [0x0808_0808; 8]);
    }
}

/// Handles of the two vertices' entries, sampler states with the scratch size, binding table, scratch base.
// covers: S-0010, S-0011
#[test]
fn vertex_threads_have_two_handles() {
    let mut unit = UnitConfig {
        scratch_power: 3,
        ..UnitConfig::default()
    };
    unit.context.sampler_state_pointer = 0x60;
    unit.context.binding_table_pointer = 0x2c0;
    unit.context.scratch_base = 0x8000;
    let r0 = Layout.vertices(&unit, UrbHandle(8), Some(UrbHandle(12)), [0; 2]);
    assert_eq!((r0[0] & 0xffff, r0[1] & 0xffff), (8, 12));
    assert_eq!(r0[2..6], [0, 0x63, 0x2c0, 0x8000]);
    let alone = Layout.vertices(&unit, UrbHandle(8), None, [0; 2]);
    assert_eq!(alone[1], 0);
}

/// Points of pixels one after another are those of each alone, whatever the sample point and the locations.
#[test]
fn points_are_as_each_alone() {
    let mut rng = fastrand::Rng::with_seed(6);
    for sample_count in [0, 1, 4] {
        for _ in 0..200 {
            let weights = PixelWeights {
                origin: [rng.f64() - 0.5, -f64::from(rng.u16(..))],
                pixel: [rng.f32(), 0.5],
                sample_count,
                ..weights()
            };
            let subspans: [Subspan; 2] = [(); 2].map(|()| Subspan {
                x: rng.u16(..) & !1,
                y: rng.u16(..) & !1,
                coverage: [(); 8].map(|()| rng.u8(..16)),
                sample: rng.bool().then(|| rng.u8(..4)),
                ..Subspan::default()
            });
            let given = &subspans[..rng.usize(..=2)];
            for location in LOCATIONS {
                let mut points = [[0.0; PAIR]; 2];
                weights.points(given, location, &mut points);
                let [x, y] = points;
                for i in 0..PAIR {
                    let want = given.get(i / 4);
                    let want = want.map(|s| weights.point(s, i % 4, location));
                    assert_eq!([x[i], y[i]], want.unwrap_or_default());
                }
            }
        }
    }
}
