//! Objects cut by hand: corners, edges, and what is left of references.

use super::*;
use crate::intel::urb::Owner;

/// A URB with an object whose vertices have these positions and first clip distances.
fn object(topology: Topology, vertices: &[([f32; 4], f32)]) -> (Urb, Object) {
    let mut urb = Urb::new();
    urb.fence(Owner::Vs, 0, 64);
    urb.partition(Owner::Vs, 16, 4);
    let mut object = Object {
        topology,
        vertices: [UrbHandle(0); 6],
        tags: Default::default(),
        count: vertices.len(),
        first: true,
        last: true,
        number: 0,
        edges: [true; 6],
    };
    for (to, (position, distance)) in object.vertices.iter_mut().zip(vertices) {
        *to = urb.allocate(Owner::Vs).unwrap();
        let row = urb.row_mut(*to, 0).unwrap();
        row[1..4].copy_from_slice(&[9, 2, 0]);
        row[4..8].copy_from_slice(&position.map(f32::to_bits));
        urb.row_mut(*to, 1).unwrap()[0] = distance.to_bits();
    }
    (urb, object)
}

fn state() -> ClipperState {
    let band = Bounds {
        x: (-8.0, 8.0),
        y: (-8.0, 8.0),
    };
    ClipperState {
        enable: true,
        test_xy: true,
        test_z: true,
        guardbands: Some([band; VIEWPORTS]),
        maximum_viewport: 15,
        ..ClipperState::default()
    }
}

fn cut(state: &ClipperState, topology: Topology, vertices: &[([f32; 4], f32)]) -> Vec<Piece> {
    let (urb, object) = object(topology, vertices);
    let mut out = VecDeque::new();
    pieces(&object, state, &mut out, &urb);
    out.into()
}

fn positions(piece: &Piece) -> Vec<[f64; 4]> {
    piece.corners[..piece.count]
        .iter()
        .map(|c| c.position)
        .collect()
}

const A: [f32; 4] = [-0.5, -0.5, 0.0, 1.0];
const B: [f32; 4] = [0.5, -0.5, 0.0, 1.0];
const C: [f32; 4] = [0.0, 0.5, 0.0, 1.0];

// covers: S-0016, S-0017, S-0019
#[test]
fn what_lies_inside_stays_whole() {
    let left = cut(&state(), Topology::TriList, &[(A, 0.0), (B, 0.0), (C, 0.0)]);
    assert_eq!(left.len(), 1);
    assert_eq!(positions(&left[0]), [A, B, C].map(|p| p.map(f64::from)));
    assert_eq!((left[0].vertices, left[0].edges), ([0, 1, 2], [true; 3]));
    // Dwords 1 and 2 of the header.
    assert_eq!((left[0].array_index, left[0].viewport), (9, 2));
}

#[test]
fn headers_that_name_too_much_are_bounded() {
    let limited = ClipperState {
        maximum_viewport: 1,
        force_zero_array_index: true,
        ..state()
    };
    let left = cut(&limited, Topology::PointList, &[(A, 0.0)]);
    assert_eq!((left[0].array_index, left[0].viewport), (0, 0));
}

#[test]
fn between_viewport_and_guard_band_nothing_is_cut() {
    let far = [7.0, -0.5, 0.0, 1.0];
    let left = cut(
        &state(),
        Topology::TriList,
        &[(A, 0.0), (far, 0.0), (C, 0.0)],
    );
    assert_eq!(positions(&left[0])[1], [7.0, -0.5, 0.0, 1.0]);
    // Without a guard band the side of the viewport cuts: a quadrilateral, in two pieces.
    let narrow = ClipperState {
        guardbands: None,
        ..state()
    };
    let left = cut(
        &narrow,
        Topology::TriList,
        &[(A, 0.0), (far, 0.0), (C, 0.0)],
    );
    assert_eq!(left.len(), 2);
    assert_eq!(positions(&left[0])[1], [1.0, -0.5, 0.0, 1.0]);
    // The diagonal between the pieces is no edge.
    assert_eq!(
        [left[0].edges, left[1].edges],
        [[true, true, false], [false, true, true]]
    );
}

// covers: S-0030
#[test]
fn objects_outside_of_one_side_are_rejected() {
    let beside = [A, B, C].map(|[x, y, z, w]| ([x + 2.0, y, z, w], 0.0));
    assert!(cut(&state(), Topology::TriList, &beside).is_empty());
    let lines = ClipperState {
        test_xy: false,
        ..state()
    };
    assert_eq!(cut(&lines, Topology::TriList, &beside).len(), 1);
    let beyond = [A, B, C].map(|[x, y, _, w]| ([x, y, 1.5, w], 0.0));
    assert!(cut(&state(), Topology::TriList, &beyond).is_empty());
}

#[test]
fn the_near_plane_lies_where_the_api_has_it() {
    // From z = -w - 1 to z = 0: OpenGL's plane is met half way, that of Direct3D at the end.
    let [from, to] = [[0.0, 0.0, -2.0, 1.0], [0.0, 0.5, 0.0, 1.0]];
    let line = [(from, 0.0), (to, 0.0)];
    let left = cut(&state(), Topology::LineList, &line);
    assert_eq!(
        positions(&left[0]),
        [[0.0, 0.25, -1.0, 1.0], [0.0, 0.5, 0.0, 1.0]]
    );
    assert_eq!(left[0].corners.map(|c| c.along)[..2], [0.5, 1.0]);
    let direct3d = ClipperState {
        api: ApiMode::Direct3d,
        ..state()
    };
    let left = cut(&direct3d, Topology::LineList, &line);
    assert_eq!(positions(&left[0])[0], [0.0, 0.5, 0.0, 1.0]);
}

#[test]
fn nothing_behind_the_eye_is_left_without_a_near_plane() {
    let open = ClipperState {
        test_z: false,
        ..state()
    };
    let behind = [0.0, 0.0, 0.0, -1.0];
    let left = cut(
        &open,
        Topology::TriList,
        &[(A, 0.0), (B, 0.0), (behind, 0.0)],
    );
    assert!(!left.is_empty());
    for corner in left.iter().flat_map(positions) {
        assert!(corner[3] > 0.0, "{corner:?}");
    }
}

// covers: S-0020
#[test]
fn clip_distances_cut_and_cull_distances_reject() {
    let vertices = [(A, -1.0), (B, 1.0), (C, 1.0)];
    let clips = ClipperState {
        clip_distances: 1,
        ..state()
    };
    let left = cut(&clips, Topology::TriList, &vertices);
    // Half way from A to B, and from C to A.
    assert_eq!(positions(&left[0])[0], [0.0, -0.5, 0.0, 1.0]);
    assert_eq!(left.len(), 2);
    let culls = ClipperState {
        cull_distances: 1,
        ..state()
    };
    assert_eq!(cut(&culls, Topology::TriList, &vertices).len(), 1);
    let out = vertices.map(|(p, _)| (p, -0.1));
    assert!(cut(&culls, Topology::TriList, &out).is_empty());
    // No number is no place inside.
    let none = vertices.map(|(p, _)| (p, f32::NAN));
    assert!(cut(&clips, Topology::TriList, &none).is_empty());
}

#[test]
fn polygons_keep_their_outline() {
    let (urb, mut fan) = object(Topology::Polygon, &[(A, 0.0), (B, 0.0), (C, 0.0)]);
    let mut edges = |first, last| {
        (fan.first, fan.last) = (first, last);
        let mut out = VecDeque::new();
        pieces(&fan, &state(), &mut out, &urb);
        out[0].edges
    };
    assert_eq!(edges(true, true), [true; 3]);
    assert_eq!(edges(true, false), [true, true, false]);
    assert_eq!(edges(false, true), [false, true, true]);
    assert_eq!(edges(false, false), [false, true, false]);
}

/// OpenGL 2.1, 2.6.2: an edge is a boundary if its first vertex has the flag, in triangles and polygons; strips and fans have all
/// their edges.
#[test]
fn edge_flags_hide_edges() {
    let edges = |topology, flags: [bool; 3], (first, last)| {
        let (urb, mut object) = object(topology, &[(A, 0.0), (B, 0.0), (C, 0.0)]);
        object.edges[..3].copy_from_slice(&flags);
        (object.first, object.last) = (first, last);
        let mut out = VecDeque::new();
        pieces(&object, &state(), &mut out, &urb);
        out[0].edges
    };
    let flags = [true, false, true];
    assert_eq!(edges(Topology::TriList, flags, (true, true)), flags);
    assert_eq!(
        edges(Topology::Polygon, flags, (true, false)),
        [true, false, false]
    );
    assert_eq!(
        edges(Topology::Polygon, flags, (false, true)),
        [false, false, true]
    );
    for topology in [Topology::TriStrip, Topology::TriFan, Topology::RectList] {
        assert_eq!(edges(topology, [false; 3], (true, true)), [true; 3]);
    }
}

#[test]
fn modes_reject_or_accept_all() {
    let beside = [A, B, C].map(|[x, y, z, w]| ([x + 2.0, y, z, w], 0.0));
    let mode = |mode| ClipperState { mode, ..state() };
    assert_eq!(
        cut(&mode(ClipMode::AcceptAll), Topology::TriList, &beside).len(),
        1
    );
    let inside = [(A, 0.0), (B, 0.0), (C, 0.0)];
    assert!(cut(&mode(ClipMode::RejectAll), Topology::TriList, &inside).is_empty());
    let off = ClipperState {
        enable: false,
        mode: ClipMode::RejectAll,
        ..state()
    };
    assert_eq!(cut(&off, Topology::TriList, &inside).len(), 1);
}
