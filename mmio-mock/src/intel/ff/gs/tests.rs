//! Which objects threads get: quadrilaterals as polygons, strips turned.

use super::*;
use crate::intel::ff::topology::Tag;
use crate::intel::urb::{Urb, UrbHandle};

/// The vertices of the objects that a GS of this state gives threads, with what says which edges a polygon has.
fn objects(topology: Topology, n: usize, state: &GsState) -> Vec<(Vec<usize>, bool, bool)> {
    let mut urb = Urb::new();
    urb.fence(Owner::Vs, 0, 64);
    urb.partition(Owner::Vs, 16, 4);
    let handles: Vec<UrbHandle> = (0..n).map(|_| urb.allocate(Owner::Vs).unwrap()).collect();
    let mut assembler = Assembler::default();
    assembler.keep_adjacent(!state.discard_adjacency, state.leading_adjacency);
    assembler.convert(state.converts);
    let mut queued = VecDeque::new();
    for (i, &handle) in handles.iter().enumerate() {
        let vertex = StreamVertex {
            handle,
            topology,
            start: i == 0,
            end: i + 1 == n,
            tag: Tag::of(Unit::Vs, i as u32),
            renumber: i == 0,
            number: None,
            edge: true,
        };
        for object in assembler.push(vertex, &mut urb).into_iter().flatten() {
            queue(object, state, &mut queued);
        }
    }
    let mut out = Vec::new();
    for object in queued {
        let number = |h| handles.iter().position(|v| v == h).unwrap();
        let numbers: Vec<usize> = object.handles().iter().map(number).collect();
        for (tag, &number) in object.tags.iter().zip(&numbers) {
            assert_eq!(*tag, Tag::of(Unit::Vs, number as u32));
        }
        for &handle in object.handles() {
            urb.release(handle);
        }
        out.push((numbers, object.first, object.last));
    }
    // Nothing is left over, and nothing was given back twice: all entries are free again.
    for _ in 0..16 {
        urb.allocate(Owner::Vs).unwrap();
    }
    out
}

fn converts() -> GsState {
    GsState {
        converts: true,
        ..GsState::default()
    }
}

/// Each quadrilateral of OpenGL's strip, 0 1 3 2 and 2 3 5 4 (OpenGL 2.1, 2.6.1), is two triangles of a polygon that begins with the
/// vertex which provokes, and threads learn which of them has the polygon's first and last edge (Mesa brw_compile_ff_gs.c,
/// `gfx6_sol_program`).
#[test]
fn quadrilaterals_are_two_triangles() {
    assert_eq!(
        objects(Topology::QuadList, 4, &converts()),
        [(vec![3, 0, 1], true, false), (vec![3, 1, 2], false, true)]
    );
    assert_eq!(
        objects(Topology::QuadStrip, 6, &converts()),
        [
            (vec![3, 2, 0], true, false),
            (vec![3, 0, 1], false, true),
            (vec![5, 4, 2], true, false),
            (vec![5, 2, 3], false, true)
        ]
    );
}

/// A line with what precedes and follows it has four vertices and is no quadrilateral (OpenGL 3.2, 2.6.1).
// covers: S-0023
#[test]
fn lines_with_adjacency_stay_whole() {
    let list = objects(Topology::LineListAdj, 8, &converts());
    let orders: Vec<_> = list.into_iter().map(|o| o.0).collect();
    assert_eq!(orders, [[0, 1, 2, 3], [4, 5, 6, 7]]);
    let strip = objects(Topology::LineStripAdj, 6, &converts());
    let orders: Vec<_> = strip.into_iter().map(|o| o.0).collect();
    assert_eq!(orders, [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5]]);
}

/// Mesa crocus_state.c, of Reorder Mode: of vertices 1 to 5 the threads see (1, 2, 3), (2, 4, 3), (3, 4, 5).
#[test]
fn odd_triangles_of_strips_are_turned() {
    let orders = |topology, reorders_strips| {
        let state = GsState {
            reorders_strips,
            ..GsState::default()
        };
        let objects = objects(topology, 5, &state);
        objects.into_iter().map(|o| o.0).collect::<Vec<_>>()
    };
    assert_eq!(
        orders(Topology::TriStrip, true),
        [[0, 1, 2], [1, 3, 2], [2, 3, 4]]
    );
    // As the kernels for stream output of Mesa's brw_compile_ff_gs.c expect them, which leave the bit clear.
    assert_eq!(
        orders(Topology::TriStrip, false),
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    );
    assert_eq!(
        orders(Topology::TriFan, true),
        [[0, 1, 2], [0, 2, 3], [0, 3, 4]]
    );
}
