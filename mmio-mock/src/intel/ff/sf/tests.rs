//! Setup against plane equations solved in double precision.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;
use crate::intel::ff::topology::Topology;

fn object(points: &[[f32; 4]], topology: Topology) -> (Urb, Object) {
    let mut urb = Urb::new();
    urb.fence(Owner::Vs, 0, 64);
    urb.partition(Owner::Vs, 16, 2);
    let mut object = Object {
        topology,
        vertices: [UrbHandle(0); 6],
        tags: Default::default(),
        count: points.len(),
        first: true,
        last: true,
        number: 0,
        edges: [true; 6],
    };
    for (i, p) in points.iter().enumerate() {
        let handle = urb.allocate(Owner::Vs).unwrap();
        urb.row_mut(handle, 0).unwrap()[4..8].copy_from_slice(&p.map(f32::to_bits));
        object.vertices[i] = handle;
    }
    (urb, object)
}

fn culling(cull: CullMode) -> SfState {
    SfState {
        cull,
        provoking_triangle: 2,
        provoking_fan: 2,
        provoking_line: 1,
        ..SfState::default()
    }
}

/// What the setup kernel computes from r1: the gradient of a plane through the three vertices.
fn gradient(setup: &Setup, a: [f64; 3]) -> (f64, f64) {
    let d = &setup.deltas;
    let (det, dx0, dx2, dy0, dy2) = (
        f64::from(d.det),
        f64::from(d.dx0),
        f64::from(d.dx2),
        f64::from(d.dy0),
        f64::from(d.dy2),
    );
    let (a1, a2) = (a[1] - a[0], a[2] - a[0]);
    ((a1 * dy2 - a2 * dy0) / det, (a2 * dx0 - a1 * dx2) / det)
}

#[test]
fn deltas_give_the_gradient_of_a_plane() {
    let plane = |x: f32, y: f32| 3.0 * f64::from(x) - 2.0 * f64::from(y) + 7.0;
    let points = [
        [10.0, 20.0, 0.0, 1.0],
        [50.0, 25.0, 0.0, 1.0],
        [30.0, 80.0, 0.0, 1.0],
    ];
    for topology in [Topology::TriList, Topology::TriStripReverse] {
        let (urb, object) = object(&points, topology);
        let setup = setup(&object, &culling(CullMode::Neither), &urb).unwrap();
        let (gx, gy) = gradient(&setup, setup.v.map(|v| plane(v.x, v.y)));
        assert!(
            (gx - 3.0).abs() < 1e-9 && (gy + 2.0).abs() < 1e-9,
            "{gx} {gy}"
        );
    }
}

#[test]
fn winding_decides_facing_and_culling() {
    // y points down: right, then down is clockwise on the screen.
    let clockwise = [
        [0.0, 0.0, 0.0, 1.0],
        [10.0, 0.0, 0.0, 1.0],
        [0.0, 10.0, 0.0, 1.0],
    ];
    let (urb, o) = object(&clockwise, Topology::TriList);
    assert!(
        !setup(&o, &culling(CullMode::Neither), &urb)
            .unwrap()
            .back_facing
    );
    assert!(
        setup(&o, &culling(CullMode::Front), &urb).is_none(),
        "front is culled"
    );
    assert!(setup(&o, &culling(CullMode::Back), &urb).is_some());
    assert!(
        setup(&o, &culling(CullMode::Both), &urb).is_none(),
        "both are culled"
    );
    let mut ccw = culling(CullMode::Back);
    ccw.front_counter_clockwise = true;
    assert!(setup(&o, &ccw, &urb).is_none(), "back is culled");
    let (urb, o) = object(&clockwise, Topology::TriStripReverse);
    assert!(
        setup(&o, &culling(CullMode::Neither), &urb)
            .unwrap()
            .back_facing
    );
}

#[test]
fn the_provoking_vertex_is_found_after_reordering() {
    let points = [
        [0.0, 0.0, 0.0, 1.0],
        [10.0, 0.0, 0.0, 1.0],
        [0.0, 10.0, 0.0, 1.0],
    ];
    for (topology, select) in [
        (Topology::TriList, 2),
        (Topology::TriStrip, 2),
        (Topology::TriStripReverse, 2),
        (Topology::TriFan, 2),
        (Topology::Polygon, 0),
    ] {
        let (urb, o) = object(&points, topology);
        let s = setup(&o, &culling(CullMode::Neither), &urb).unwrap();
        assert_eq!(
            s.handles[s.provoking as usize], o.vertices[select],
            "{topology:?}"
        );
    }
}

#[test]
fn what_has_no_area_is_dropped() {
    let flat = [
        [0.0, 0.0, 0.0, 1.0],
        [10.0, 10.0, 0.0, 1.0],
        [20.0, 20.0, 0.0, 1.0],
    ];
    let (urb, o) = object(&flat, Topology::TriList);
    assert!(setup(&o, &culling(CullMode::Neither), &urb).is_none());
    let nan = [
        [f32::NAN, 0.0, 0.0, 1.0],
        [10.0, 0.0, 0.0, 1.0],
        [0.0, 10.0, 0.0, 1.0],
    ];
    let (urb, o) = object(&nan, Topology::TriList);
    assert!(setup(&o, &culling(CullMode::Neither), &urb).is_none());
}

#[test]
fn lines_and_points_carry_what_their_kernels_read() {
    let (urb, o) = object(
        &[[1.0, 2.0, 0.0, 1.0], [4.0, 6.0, 0.0, 1.0]],
        Topology::LineList,
    );
    let s = setup(&o, &culling(CullMode::Neither), &urb).unwrap();
    assert_eq!(
        s.deltas,
        Deltas {
            det: 25.0,
            dx0: 3.0,
            dy0: 4.0,
            ..Deltas::default()
        }
    );
    assert_eq!(s.provoking, 1);
    let (mut urb, o) = object(&[[1.0, 2.0, 0.0, 1.0]], Topology::PointList);
    urb.row_mut(o.vertices[0], 0).unwrap()[3] = 0x2c << 8;
    let s = setup(&o, &culling(CullMode::Neither), &urb).unwrap();
    assert_eq!(s.deltas.dx0, 5.5, "U8.3 of the vertex header");
}

/// Eleven bits: the widest point is 255.875, and the neighbours of the field are not part of it.
#[test]
fn point_widths_are_those_of_the_field() {
    for (header, width) in [
        (0x7ff << 8, 255.875),
        (0x400 << 8, 128.0),
        (0xfff8_00ff | 9 << 8, 1.125),
        (3 << 8, 1.0),
    ] {
        let (mut urb, o) = object(&[[1.0, 2.0, 0.0, 1.0]], Topology::PointList);
        urb.row_mut(o.vertices[0], 0).unwrap()[3] = header;
        assert_eq!(
            setup(&o, &culling(CullMode::Neither), &urb).unwrap().width,
            width
        );
    }
}

/// A turn and no sort: the winding, and with it the determinant's sign, stays what it was.
#[test]
fn setup_begins_at_the_topmost_vertex() {
    let (a, b, c) = (
        [30.0, 10.0, 0.1, 1.0],
        [50.0, 40.0, 0.2, 1.0],
        [5.0, 60.0, 0.3, 1.0],
    );
    for (points, clockwise) in [
        ([a, b, c], true),
        ([b, c, a], true),
        ([c, a, b], true),
        ([a, c, b], false),
        ([c, b, a], false),
        ([b, a, c], false),
    ] {
        let (urb, o) = object(&points, Topology::TriList);
        let s = setup(&o, &culling(CullMode::Neither), &urb).unwrap();
        assert_eq!((s.v[0].x, s.v[0].y), (30.0, 10.0), "{points:?}");
        assert_eq!(s.v[1].x < s.v[2].x, !clockwise, "{points:?}");
        assert_eq!(s.deltas.det > 0.0, clockwise, "{points:?}");
        // The last vertex provokes, wherever it has come to.
        assert_eq!(s.handles[s.provoking as usize], o.vertices[2]);
        for (n, &i) in s.order.iter().enumerate() {
            assert_eq!(s.handles[n], o.vertices[usize::from(i)]);
            assert_eq!(s.v[n].x, points[usize::from(i)][0]);
        }
    }
}

/// What exa_sf.g4a of the X driver says of its rectangles, which come from gen4_render.c as lower right, lower left,
/// upper left: vertex 0 is the upper left one, 1 the lower right one, 2 the lower left one.
#[test]
fn rectangles_begin_at_the_upper_left() {
    let corners = [
        [40.0, 20.0, 0.0, 1.0],
        [8.0, 20.0, 0.0, 1.0],
        [8.0, 4.0, 0.0, 1.0],
    ];
    for turn in 0..3 {
        let mut points = corners;
        points.rotate_left(turn);
        let (urb, o) = object(&points, Topology::RectList);
        let s = setup(&o, &culling(CullMode::Neither), &urb).unwrap();
        assert_eq!(
            s.v.map(|v| (v.x, v.y)),
            [(8.0, 4.0), (40.0, 20.0), (8.0, 20.0)]
        );
        let want = Deltas {
            det: 32.0 * 16.0,
            dx0: 32.0,
            dx2: 0.0,
            dy0: 16.0,
            dy2: 16.0,
        };
        assert_eq!(s.deltas, want);
    }
}
