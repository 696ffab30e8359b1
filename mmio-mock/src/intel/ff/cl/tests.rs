//! The clip test against clip-space comparisons made in double precision.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;
use crate::intel::ff::state::Bounds;

/// The verdict that puts these bits into r0.2: planes in 31:26, user flags in 21:14.
fn clipped(bits: u32) -> Verdict {
    Verdict::Clip(Outside {
        planes: bits >> 26,
        user: bits >> 14 & 0xff,
    })
}

/// A URB with `positions` (clip space) as VUEs of one row each, as the VS would leave them.
fn vues(positions: &[([f32; 4], u32)]) -> (Urb, Object) {
    let mut urb = Urb::new();
    urb.fence(Owner::Vs, 0, 64);
    urb.partition(Owner::Vs, 16, 2);
    let mut object = Object {
        topology: Topology::TriList,
        vertices: [UrbHandle(0); 6],
        tags: Default::default(),
        count: positions.len(),
        first: true,
        last: true,
        number: 0,
        edges: [true; 6],
    };
    for (i, (p, flags)) in positions.iter().enumerate() {
        let handle = urb.allocate(Owner::Vs).unwrap();
        let rhw = 1.0 / p[3];
        let row = urb.row_mut(handle, 0).unwrap();
        row[3] = *flags;
        row[4..8].copy_from_slice(&[p[0] * rhw, p[1] * rhw, p[2] * rhw, rhw].map(f32::to_bits));
        object.vertices[i] = handle;
    }
    (urb, object)
}

fn normal() -> ClipState {
    ClipState {
        test_xy: true,
        test_z: true,
        guardband: Some(band(64.0)),
        ..ClipState::default()
    }
}

fn band(size: f32) -> Bounds {
    Bounds {
        x: (-size, size),
        y: (-size, size),
    }
}

fn in_mode(mode: ClipMode) -> ClipState {
    ClipState { mode, ..normal() }
}

fn verdict(state: &ClipState, positions: &[[f32; 4]]) -> Verdict {
    let vertices: Vec<_> = positions.iter().map(|&p| (p, 0)).collect();
    let (urb, object) = vues(&vertices);
    test(&object, state, &urb)
}

#[test]
fn inside_passes_and_the_guard_band_saves_clipping() {
    let inside = [
        [0.0, 0.0, 0.0, 1.0],
        [0.5, 0.0, 0.0, 1.0],
        [0.0, 0.5, 0.0, 1.0],
    ];
    assert_eq!(verdict(&normal(), &inside), Verdict::Accept);
    let across = [
        [0.0, 0.0, 0.0, 1.0],
        [5.0, 0.0, 0.0, 1.0],
        [0.0, 0.5, 0.0, 1.0],
    ];
    assert_eq!(verdict(&normal(), &across), Verdict::Accept);
    let beyond = [
        [0.0, 0.0, 0.0, 1.0],
        [500.0, 0.0, 0.0, 1.0],
        [0.0, 0.5, 0.0, 1.0],
    ];
    // XMAX is bit 30 of r0.2: plane (-1, 0, 0, 1), the fifth of Mesa's clip planes.
    assert_eq!(verdict(&normal(), &beyond), clipped(1 << 30));
}

#[test]
fn all_outside_one_plane_is_rejected() {
    let right = [
        [2.0, 0.0, 0.0, 1.0],
        [3.0, 0.0, 0.0, 1.0],
        [2.0, 0.5, 0.0, 1.0],
    ];
    assert_eq!(verdict(&normal(), &right), Verdict::Reject);
    // Outside different planes: not rejected.
    let corner = [
        [2.0, 0.0, 0.0, 1.0],
        [0.0, 2.0, 0.0, 1.0],
        [-2.0, -2.0, 0.0, 1.0],
    ];
    assert_eq!(verdict(&normal(), &corner), Verdict::Accept);
}

#[test]
fn near_and_far_always_clip() {
    let near = [
        [0.0, 0.0, -2.0, 1.0],
        [0.5, 0.0, 0.0, 1.0],
        [0.0, 0.5, 0.0, 1.0],
    ];
    assert_eq!(verdict(&normal(), &near), clipped(1 << 27));
    let far = [
        [0.0, 0.0, 2.0, 1.0],
        [0.5, 0.0, 0.0, 1.0],
        [0.0, 0.5, 0.0, 1.0],
    ];
    assert_eq!(verdict(&normal(), &far), clipped(1 << 26));
    let d3d = ClipState {
        api: ApiMode::Direct3d,
        ..normal()
    };
    let between = [
        [0.0, 0.0, -0.5, 1.0],
        [0.5, 0.0, 0.5, 1.0],
        [0.0, 0.5, 0.5, 1.0],
    ];
    assert_eq!(verdict(&normal(), &between), Verdict::Accept);
    assert_eq!(verdict(&d3d, &between), clipped(1 << 27));
}

/// Clip space says x < -w and so on; NDC with a negative 1/w must come to the same outcodes.
#[test]
fn negative_w_compares_as_clip_space_does() {
    let mut seed = 0x2545_f491_4f6c_dd1du64;
    let mut random = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 40) as f32 / (1 << 22) as f32 - 2.0
    };
    for _ in 0..10_000 {
        let p = [random(), random(), random(), random()];
        if p[3].abs() < 0.01 {
            continue;
        }
        let d = p.map(f64::from);
        // Skip points that lie on a plane to within rounding.
        if d[..3].iter().any(|c| (c.abs() - d[3].abs()).abs() < 1e-4) {
            continue;
        }
        let out = |outside: bool, bit: u32| if outside { bit } else { 0 };
        let expected = out(d[0] < -d[3], outcode::XMIN)
            | out(d[0] > d[3], outcode::XMAX)
            | out(d[1] < -d[3], outcode::YMIN)
            | out(d[1] > d[3], outcode::YMAX)
            | out(d[2] < -d[3], outcode::ZMIN)
            | out(d[2] > d[3], outcode::ZMAX);
        let rhw = 1.0 / p[3];
        let ndc = [p[0] * rhw, p[1] * rhw, p[2] * rhw, rhw];
        let unit = (-1.0, 1.0);
        assert_eq!(
            outcodes(ndc, unit, unit) | outcodes_z(ndc, -1.0),
            expected,
            "{p:?}"
        );
    }
}

#[test]
fn user_flags_clip_and_reject() {
    let inside = [0.0, 0.0, 0.0, 1.0];
    let state = ClipState {
        user_planes: 0x40,
        user_must_clip: true,
        ..normal()
    };
    let (urb, object) = vues(&[(inside, 0x40), (inside, 0), (inside, 0x3f)]);
    // Flag 6 is bit 20 of r0.2, where Mesa's kernels look for a negative 1/w.
    assert_eq!(test(&object, &state, &urb), clipped(1 << 20));
    let (urb, object) = vues(&[(inside, 0x40), (inside, 0x40), (inside, 0x40)]);
    assert_eq!(test(&object, &state, &urb), Verdict::Reject);
}

#[test]
fn nan_is_rejected_and_modes_override() {
    let nan = [
        [f32::NAN, 0.0, 0.0, 1.0],
        [0.5, 0.0, 0.0, 1.0],
        [0.0, 0.5, 0.0, 1.0],
    ];
    assert_eq!(verdict(&normal(), &nan), Verdict::Reject);
    let inside = [
        [0.0, 0.0, 0.0, 1.0],
        [0.5, 0.0, 0.0, 1.0],
        [0.0, 0.5, 0.0, 1.0],
    ];
    assert_eq!(
        verdict(&in_mode(ClipMode::RejectAll), &inside),
        Verdict::Reject
    );
    let right = [
        [2.0, 0.0, 0.0, 1.0],
        [3.0, 0.0, 0.0, 1.0],
        [2.0, 0.5, 0.0, 1.0],
    ];
    assert_eq!(
        verdict(&in_mode(ClipMode::AcceptAll), &right),
        Verdict::Accept
    );
    assert_eq!(
        verdict(&in_mode(ClipMode::ClipNonRejected), &inside),
        clipped(0)
    );
}

/// Each side of the guard band and of the screen-space viewport is its own field.
#[test]
fn sides_have_fields_of_their_own() {
    let state = ClipState {
        guardband: Some(Bounds {
            x: (-10.0, 20.0),
            y: (-30.0, 40.0),
        }),
        ..normal()
    };
    // A vertex half a unit inside and outside of each side; bits 31 to 28 of r0.2: XMIN XMAX YMIN YMAX.
    for (axis, bound, bit) in [
        (0, -10.0f32, 31),
        (0, 20.0, 30),
        (1, -30.0, 29),
        (1, 40.0, 28),
    ] {
        for outside in [false, true] {
            let mut far = [0.0, 0.0, 0.0, 1.0];
            let step = if outside { 0.5 } else { -0.5 };
            far[axis] = bound + bound.signum() * step;
            let inside = [([0.0, 0.0, 0.0, 1.0], 0), ([0.5, 0.5, 0.0, 1.0], 0)];
            let (urb, object) = vues(&[inside[0], inside[1], (far, 0)]);
            let expected = if outside {
                clipped(1 << bit)
            } else {
                Verdict::Accept
            };
            assert_eq!(test(&object, &state, &urb), expected, "{far:?}");
        }
    }
    let screen = ClipState {
        test_xy: true,
        space: PositionSpace::Screen,
        screen: Bounds {
            x: (100.0, 200.0),
            y: (10.0, 50.0),
        },
        ..ClipState::default()
    };
    for (place, bit) in [
        ([99.5, 30.0], 31),
        ([200.5, 30.0], 30),
        ([150.0, 9.5], 29),
        ([150.0, 50.5], 28),
    ] {
        let v = |x: f32, y: f32| ([x, y, 0.5, 1.0], 0);
        let (urb, object) = vues(&[v(110.0, 20.0), v(190.0, 40.0), v(place[0], place[1])]);
        let expected = clipped(1 << bit);
        assert_eq!(test(&object, &screen, &urb), expected, "{place:?}");
    }
}
