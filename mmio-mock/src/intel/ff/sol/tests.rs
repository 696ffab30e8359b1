//! Objects in stream output buffers: order, overflow, holes, streams, counters.
//!
//! Orders of triangles: ValleyView PRM, volume 2 part 2, 3DSTATE_STREAMOUT, Reorder Mode; with it as TRAILING, OpenGL 4.6 table 13.1
//! has the same triangles for transform feedback.

use super::*;
use crate::intel::ff::state::streams::{Declaration, Stream, StreamBuffer};
use crate::intel::ff::state::{DrawState, GeometryState};
use crate::intel::ff::tests::machine::{MEMORY, Rig};
use crate::intel::ff::topology::Topology;
use crate::intel::r#gen::readers;
use crate::intel::status::STREAMS;
use crate::intel::urb::Owner;
use isa::Verx10;
use mem::GpuAddr;

/// A stage that writes dword 4 of each vertex of the first stream into the first buffer, which has so many bytes.
fn numbers(bytes: u32) -> Sol {
    let mut stream = Stream {
        buffers: 1,
        read_offset: 0,
        read_rows: 2,
        runs: Vec::new(),
    };
    stream.declare([Declaration {
        register: 1,
        components: 1,
        ..Declaration::default()
    }]);
    let mut state = StreamsState {
        enable: true,
        rendered: None,
        statistics: true,
        ..StreamsState::default()
    };
    state.buffers[0] = Some(StreamBuffer {
        base: MEMORY,
        end: MEMORY + bytes,
        pitch: 4,
    });
    state.streams[0] = stream;
    Sol {
        state,
        ..Sol::default()
    }
}

fn run(sol: &mut Sol, rig: &mut Rig, input: &mut Link, draw: &DrawState) -> (Step, Link) {
    let layout = readers(Verx10::from_times_ten(60))
        .unwrap()
        .pipeline
        .layout();
    let mut out = Link::default();
    let step = rig.run(sol, (input, &mut out), (draw, layout));
    rig.with(|_, machine| sol.finish(machine));
    (step, out)
}

/// What stands in memory where dword 4 of vertices has been written: their numbers.
fn written(rig: &Rig, count: u32) -> Vec<u32> {
    let dword = |n| rig.mem.read_u32(GpuAddr::from(MEMORY + 4 * n)).unwrap();
    (0..count).map(|n| dword(n) / 100).collect()
}

/// The numbers of the vertices that a primitive's objects have in the buffer.
fn order(topology: Topology, vertices: u32, leading: bool) -> Vec<u32> {
    let mut rig = Rig::new(None);
    let mut sol = numbers(0x1000);
    sol.state.leading = leading;
    let mut input = Link::default();
    input.vertices.extend(rig.primitive(topology, vertices));
    let (step, out) = run(&mut sol, &mut rig, &mut input, &DrawState::default());
    assert_eq!((step, out.vertices.len()), (Step::Idle, 0));
    assert!(rig.all_free());
    written(&rig, rig.status.stream_offsets[0] / 4)
}

// covers: V-0318
#[test]
fn strips_become_triangles_that_all_go_round_one_way() {
    assert_eq!(
        order(Topology::TriStrip, 5, true),
        [0, 1, 2, 1, 3, 2, 2, 3, 4]
    );
    assert_eq!(
        order(Topology::TriStrip, 5, false),
        [0, 1, 2, 2, 1, 3, 2, 3, 4]
    );
    assert_eq!(
        order(Topology::TriStripReverse, 4, true),
        [0, 2, 1, 1, 2, 3]
    );
    assert_eq!(
        order(Topology::TriStripReverse, 4, false),
        [1, 0, 2, 1, 2, 3]
    );
    // Vertices 1, 3 and 5 are the adjacent ones of 0, 2, 4; then 2, 4, 6.
    assert_eq!(order(Topology::TriStripAdj, 8, false), [0, 2, 4, 4, 2, 6]);
}

#[test]
fn other_primitives_become_lists() {
    assert_eq!(order(Topology::PointList, 3, false), [0, 1, 2]);
    assert_eq!(order(Topology::LineStrip, 3, false), [0, 1, 1, 2]);
    assert_eq!(order(Topology::LineLoop, 3, false), [0, 1, 1, 2, 2, 0]);
    assert_eq!(order(Topology::LineListAdj, 4, false), [1, 2]);
    assert_eq!(order(Topology::TriFan, 4, false), [0, 1, 2, 0, 2, 3]);
    assert_eq!(order(Topology::TriList, 7, false), [0, 1, 2, 3, 4, 5]);
}

/// A transform feedback of two lists, of which the second does not fit: it is counted, and nothing of it is written.
// covers: V-0319
#[test]
fn an_object_is_written_whole_or_not_at_all() {
    let mut rig = Rig::new(None);
    let mut sol = numbers(20);
    let mut input = Link::default();
    input.vertices.extend(rig.primitive(Topology::TriList, 6));
    run(&mut sol, &mut rig, &mut input, &DrawState::default());
    assert_eq!(rig.status.stream_offsets, [12, 0, 0, 0]);
    assert_eq!(written(&rig, 4), [0, 1, 2, 0]);
    let statistics = &rig.status.statistics;
    assert_eq!(statistics.so_prims_written, [1, 0, 0, 0]);
    assert_eq!(statistics.so_storage_needed, [2, 0, 0, 0]);
    assert_eq!(statistics.ia_primitives, 0);
}

// covers: V-0272, V-0322, V-0339
#[test]
fn a_buffer_that_is_not_bound_overflows() {
    let mut rig = Rig::new(None);
    let mut sol = numbers(0x1000);
    sol.state.streams[0].buffers = 0b11;
    let mut input = Link::default();
    input.vertices.extend(rig.primitive(Topology::PointList, 2));
    run(&mut sol, &mut rig, &mut input, &DrawState::default());
    assert_eq!(rig.status.stream_offsets, [0; 4]);
    assert_eq!(written(&rig, 1), [0]);
    assert_eq!(rig.status.statistics.so_prims_written, [0; 4]);
    assert_eq!(rig.status.statistics.so_storage_needed, [2, 0, 0, 0]);
}

/// Offsets that commands have set reach past all ends.
#[test]
fn no_offset_leaves_the_buffer() {
    for offset in [0x1000, 0xffff_fffc, u32::MAX] {
        let mut rig = Rig::new(None);
        let mut sol = numbers(0x1000);
        rig.status.stream_offsets[0] = offset;
        let mut input = Link::default();
        input.vertices.extend(rig.primitive(Topology::PointList, 1));
        let (step, _) = run(&mut sol, &mut rig, &mut input, &DrawState::default());
        assert_eq!(step, Step::Idle);
        assert_eq!(rig.status.stream_offsets[0], offset);
        assert_eq!(rig.status.statistics.so_prims_written[0], 0);
    }
}

/// 36 bytes a vertex from 2fh, 37h, 43h (a captured transform feedback), after a hole of two dwords.
// covers: V-0289, V-0314, V-0334, V-0335
#[test]
fn declarations_and_holes_place_the_components() {
    let mut rig = Rig::new(None);
    let mut sol = numbers(0x1000);
    let of = |hole, register, components| Declaration {
        buffer: 0,
        hole,
        register,
        components,
    };
    sol.state.streams[0].read_offset = 1;
    sol.state.streams[0].read_rows = 1;
    // Register 2 lies behind the row that is read.
    sol.state.streams[0].declare([
        of(true, 0, 3),
        of(false, 1, 15),
        of(false, 0, 0b101),
        of(false, 2, 1),
    ]);
    sol.state.buffers[0].as_mut().unwrap().pitch = 36;
    let mut input = Link::default();
    input.vertices.extend(rig.primitive(Topology::PointList, 2));
    for n in 0..18 {
        let at = GpuAddr::from(MEMORY + 4 * n);
        rig.mem.write_u32(at, 7).unwrap();
    }
    run(&mut sol, &mut rig, &mut input, &DrawState::default());
    let mut dwords = [0; 18];
    rig.mem
        .read_dwords(GpuAddr::from(MEMORY), &mut dwords)
        .unwrap();
    assert_eq!(dwords[..9], [7, 7, 12, 13, 14, 15, 8, 10, 0]);
    assert_eq!(dwords[9..], [7, 7, 112, 113, 114, 115, 108, 110, 0]);
}

/// Declarations that go on behind the end of the buffer, which the pitch does not tell.
#[test]
fn nothing_is_written_behind_the_end() {
    let mut rig = Rig::new(None);
    let mut sol = numbers(8);
    sol.state.streams[0].declare([Declaration {
        register: 0,
        components: 15,
        ..Declaration::default()
    }]);
    let mut input = Link::default();
    input.vertices.extend(rig.primitive(Topology::PointList, 2));
    run(&mut sol, &mut rig, &mut input, &DrawState::default());
    let mut dwords = [0; 4];
    rig.mem
        .read_dwords(GpuAddr::from(MEMORY), &mut dwords)
        .unwrap();
    assert_eq!(dwords, [0, 100, 0, 0]);
}

// covers: V-0315, V-0317
#[test]
fn one_stream_goes_on_whether_anything_is_written_or_not() {
    for (enable, rendered) in [
        (false, Some(1)),
        (true, Some(1)),
        (false, None),
        (true, None),
    ] {
        let mut rig = Rig::new(None);
        let mut sol = numbers(0x1000);
        sol.state.enable = enable;
        sol.state.rendered = rendered;
        let vertices = rig.primitive(Topology::PointList, 4);
        let mut input = Link::default();
        for (n, vertex) in (0..).zip(&vertices) {
            input.streams.push_back(Streamed {
                vertex: *vertex,
                stream: n % 2,
            });
        }
        let (_, out) = run(&mut sol, &mut rig, &mut input, &DrawState::default());
        let passed: Vec<_> = out.vertices.iter().map(|v| v.handle).collect();
        let expected = match rendered {
            Some(_) => vec![vertices[1].handle, vertices[3].handle],
            None => Vec::new(),
        };
        assert_eq!(passed, expected);
        assert_eq!(rig.status.stream_offsets[0], if enable { 8 } else { 0 });
        for handle in passed {
            rig.urb.release(handle);
        }
        assert!(rig.all_free());
        let needed = rig.status.statistics.so_storage_needed;
        assert_eq!(needed, if enable { [2, 2, 0, 0] } else { [0; STREAMS] });
    }
}

#[test]
fn objects_are_counted_where_this_stage_is_to_do_it() {
    let mut rig = Rig::new(None);
    let mut sol = Sol::default();
    let draw = DrawState {
        vf_statistics: true,
        streams: true,
        ..DrawState::default()
    };
    let mut input = Link::default();
    input.vertices.extend(rig.primitive(Topology::TriStrip, 5));
    let (_, out) = run(&mut sol, &mut rig, &mut input, &draw);
    assert_eq!(rig.status.statistics.ia_primitives, 3);
    assert_eq!(out.vertices.len(), 5);
    assert!(draw.counted_by(Busy::Sol) && !draw.counted_by(Busy::Clip));
    assert!(!sol.off(&draw) && sol.off(&DrawState::default()));
    for vertex in out.vertices {
        rig.urb.release(vertex.handle);
    }
    assert!(rig.all_free());
}

#[test]
fn a_page_that_is_not_there_stops_the_stage() {
    let mut rig = Rig::new(None);
    let mut sol = numbers(0x1000);
    sol.state.buffers[0] = Some(StreamBuffer {
        base: 0x8_0000,
        end: 0x8_1000,
        pitch: 4,
    });
    let mut input = Link::default();
    input.vertices.extend(rig.primitive(Topology::PointList, 1));
    let (step, _) = run(&mut sol, &mut rig, &mut input, &DrawState::default());
    assert_eq!(step, Step::Dead);
    assert_eq!(rig.faults().len(), 1);
    assert!(rig.all_free());
}

#[test]
fn threads_that_are_kept_end_before_memory_changes() {
    let mut rig = Rig::new(None);
    rig.kept = Some(0);
    let mut sol = numbers(0x1000);
    let mut input = Link::default();
    input.vertices.extend(rig.primitive(Topology::PointList, 1));
    let (step, _) = run(&mut sol, &mut rig, &mut input, &DrawState::default());
    assert_eq!((step, input.vertices.len()), (Step::Settle, 1));
}

/// Vertices of 16 bytes, two in a row: those of odd numbers begin in its middle.
#[test]
fn vertices_of_half_a_row_are_told_by_their_numbers() {
    let mut rig = Rig::new(None);
    rig.urb.fence(Owner::Gs, 64, 96);
    rig.urb.partition(Owner::Gs, 1, 32);
    rig.urb.share(Owner::Gs, true);
    let entry = rig.urb.allocate(Owner::Gs).unwrap();
    *rig.urb.row_mut(entry, 0).unwrap() = [0, 1, 2, 3, 4, 5, 6, 7];
    rig.urb.reference(entry);
    let mut sol = numbers(0x1000);
    sol.state.streams[0].read_rows = 1;
    sol.state.streams[0].declare([Declaration {
        register: 0,
        components: 15,
        ..Declaration::default()
    }]);
    sol.state.buffers[0].as_mut().unwrap().pitch = 16;
    let draw = DrawState {
        geometry: Some(GeometryState {
            vertex_size: 1,
            ..GeometryState::default()
        }),
        ..DrawState::default()
    };
    let mut input = Link::default();
    for (n, mut vertex) in (0..).zip(rig.primitive(Topology::PointList, 2)) {
        rig.urb.release(vertex.handle);
        vertex.handle = entry;
        vertex.tag.relative = n;
        input.streams.push_back(Streamed { vertex, stream: 0 });
    }
    run(&mut sol, &mut rig, &mut input, &draw);
    let mut dwords = [0; 8];
    rig.mem
        .read_dwords(GpuAddr::from(MEMORY), &mut dwords)
        .unwrap();
    assert_eq!(dwords, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(rig.urb.available(Owner::Gs), 1);
}
