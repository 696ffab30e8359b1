//! Objects to threads, and the vertices of entries to primitives.
//!
//! Kernels are for an instruction set of the tests' choice; what messages ask for is the descriptor of a captured geometry shader
//! (scene of cut strips: 0a094008h, 04084001h, 82084000h).

use eu::Grf;

use super::*;
use crate::intel::ff::payload::pixels::{Payload, PayloadState, PixelGroup};
use crate::intel::ff::payload::{
    GEOMETRY_REGISTERS, GeometryHeader, ObjectHeader, PayloadLayout, SetupHeader,
};
use crate::intel::ff::state::geometry::ControlData;
use crate::intel::ff::tests::machine::{MEMORY, Rig};
use crate::intel::shared::message::{Descriptor, MessageSet, Request};
use crate::intel::shared::urb_msg::entries::{EntryOp, EntryRequest, Step as Unit128};
use crate::intel::td::KernelState;

/// Writes of rows or halves with places of their own.
#[derive(Debug)]
struct Messages;

impl MessageSet for Messages {
    fn request(&self, message: Descriptor) -> Result<Request, &'static str> {
        let desc = message.desc;
        let step = match desc & 7 {
            0 => Unit128::Row,
            _ => Unit128::Half,
        };
        Ok(Request::Entries(EntryRequest {
            op: Some(EntryOp::Write(step)),
            offset: (desc >> 3 & 0x7ff) as u16,
            interleaved: desc >> 14 & 1 == 1,
            per_slot: desc >> 16 & 1 == 1,
            complete: desc >> 15 & 1 == 1,
        }))
    }
}

/// r0: entries and instances. r1: numbers of objects. No other stage has threads here.
#[derive(Debug)]
struct Layout;

impl PayloadLayout for Layout {
    fn vertices(&self, _: &UnitConfig, _: UrbHandle, _: Option<UrbHandle>, _: [u32; 2]) -> Grf {
        unreachable!()
    }

    fn object(&self, _: &UnitConfig, _: UrbHandle, _: &ObjectHeader, _: [u32; 2]) -> Grf {
        unreachable!()
    }

    fn setup(&self, _: &UnitConfig, _: UrbHandle, _: &SetupHeader, _: [u32; 2]) -> [Grf; 3] {
        unreachable!()
    }

    fn pixels(&self, _: &mut Payload<'_>, _: &PayloadState<'_>, _: &PixelGroup) {
        unreachable!()
    }

    fn geometry(
        &self,
        registers: &mut [Grf; GEOMETRY_REGISTERS],
        header: &GeometryHeader<'_>,
        _debug: [u32; 2],
    ) -> usize {
        for (n, part) in [Some(header.first), header.second].into_iter().enumerate() {
            if let Some(part) = part {
                registers[0][n] = u32::from(part.entry.0) | u32::from(part.instance) << 27;
                registers[1][4 * n] = part.number;
            }
        }
        2
    }
}

/// A thread puts out one vertex: first the number of the object and r0.0 or r0.1, then four dwords of its first vertex.
const KERNEL: &str = "
    mov(8) m1<1>UD g0<8,8,1>UD { align1 WE_all };
    mov(1) m1.5<1>UD 0x0000ff00UD { align1 WE_all };
    mov(2) m1.3<1>UD 0x00000000UD { align1 WE_all };
    mov(8) m2<1>UD g1<8,8,1>UD { align1 WE_all };
    mov(1) m2.1<1>UD g0.0<0,1,0>UD { align1 WE_all };
    mov(1) m2.5<1>UD g0.1<0,1,0>UD { align1 WE_all };
    mov(8) m3<1>UD g2<8,8,1>UD { align1 WE_all };
    send(8) null<1>UD m1<8,8,1>UD 0x06094000 urb { align1 };
    mov(1) m1.2<1>UD 0x00010001UD { align1 WE_all };
    send(8) null<1>UD m1<8,8,1>UD 0x02084000 urb { align1 EOT };
";

fn state() -> GeometryState {
    GeometryState {
        unit: UnitConfig {
            kernel: KernelState {
                ip: MEMORY,
                grf_count: 128,
                urb_start: 2,
                ..KernelState::default()
            },
            read_rows: 1,
            urb_entries: 4,
            urb_entry_rows: 8,
            statistics: true,
            ..UnitConfig::default()
        },
        ..GeometryState::default()
    }
}

fn rig(state: &GeometryState) -> Rig {
    let mut rig = Rig::new(Some(&Messages));
    rig.code(MEMORY, KERNEL);
    let rows = state.unit.urb_entries * state.unit.urb_entry_rows;
    rig.urb.fence(Owner::Gs, 64, 64 + rows);
    let (entries, rows) = (state.unit.urb_entries, state.unit.urb_entry_rows);
    rig.urb.partition(Owner::Gs, entries, rows);
    rig.urb.share(Owner::Gs, true);
    rig
}

/// What threads of a state put out for a primitive: of each vertex number of the object, instance, and its first vertex.
fn put_out(state: GeometryState, topology: Topology, count: u32) -> (Vec<[u32; 3]>, u64) {
    let mut rig = rig(&state);
    let draw = DrawState {
        geometry: Some(state),
        ..DrawState::default()
    };
    let mut stage = GsEntry::default();
    let (mut input, mut out) = (Link::default(), Link::default());
    input.vertices.extend(rig.primitive(topology, count));
    let mut found = Vec::new();
    // Entries become free as their vertices are taken.
    loop {
        let step = rig.run(&mut stage, (&mut input, &mut out), (&draw, &Layout));
        let taken = out.streams.len();
        for streamed in out.streams.drain(..) {
            let vertex = streamed.vertex;
            assert!(vertex.start && vertex.end && streamed.stream == 0);
            let row = *rig.urb.row(vertex.handle, 0).unwrap();
            found.push([row[0], row[1] >> 27, row[4] / 100]);
            rig.urb.release(vertex.handle);
        }
        if taken == 0 {
            assert_eq!(step, Step::Idle);
            break;
        }
    }
    assert!(!stage.busy(&input) && input.vertices.is_empty());
    rig.with(|_, machine| stage.finish(machine));
    assert!(rig.all_free());
    assert_eq!(rig.urb.available(Owner::Gs), 4);
    assert_eq!(rig.faults(), &[]);
    let statistics = &rig.status.statistics;
    assert_eq!(statistics.gs_primitives, found.len() as u64);
    (found, statistics.gs_invocations)
}

#[test]
fn two_objects_share_a_thread_and_the_last_is_alone() {
    let state = GeometryState {
        dispatch: Dispatch::DualObject,
        ..state()
    };
    let (found, invocations) = put_out(state, Topology::PointList, 5);
    let expected: Vec<_> = (0..5).map(|n| [n, 0, n]).collect();
    assert_eq!((found, invocations), (expected, 5));
}

#[test]
fn two_instances_share_a_thread_and_the_last_is_alone() {
    let state = GeometryState {
        dispatch: Dispatch::DualInstance,
        instances: 3,
        invocations: 2,
        ..state()
    };
    let (found, invocations) = put_out(state, Topology::LineList, 4);
    let of = |object| {
        // Without pairs the first vertex fills a register, whose upper half the second instance puts out.
        let first = 2 * object;
        [0, 1, 2].map(|instance| [object, instance, first])
    };
    assert_eq!(found, [of(0), of(1)].concat());
    assert_eq!(invocations, 12);
}

#[test]
fn single_threads_have_one_object_each() {
    let (found, invocations) = put_out(state(), Topology::TriList, 6);
    assert_eq!(found, [[0, 0, 0], [1, 0, 3]]);
    assert_eq!(invocations, 2);
}

#[test]
fn a_section_with_too_few_entries_blocks() {
    let mut state = GeometryState {
        dispatch: Dispatch::DualObject,
        ..state()
    };
    state.unit.urb_entries = 1;
    let mut rig = rig(&state);
    let draw = DrawState {
        geometry: Some(state),
        ..DrawState::default()
    };
    let mut stage = GsEntry::default();
    let (mut input, mut out) = (Link::default(), Link::default());
    input.vertices.extend(rig.primitive(Topology::PointList, 2));
    let step = rig.run(&mut stage, (&mut input, &mut out), (&draw, &Layout));
    assert_eq!(step, Step::Blocked);
    assert_eq!(rig.urb.available(Owner::Gs), 1);
}

/// The vertices of a primitive's objects as threads get them.
fn objects(topology: Topology, count: u32, state: &GeometryState) -> Vec<Vec<u32>> {
    let mut rig = Rig::new(None);
    let mut stage = GsEntry::default();
    let vertices = rig.primitive(topology, count);
    for &vertex in &vertices {
        let draw = DrawState::default();
        rig.with(|_, machine| stage.assemble(vertex, state, &draw, machine));
    }
    let number = |handle: &UrbHandle| {
        let mut all = (0..).zip(&vertices);
        all.find(|(_, v)| v.handle == *handle).unwrap().0
    };
    let all = stage.objects.iter();
    let all = all.map(|input| input.handles().iter().map(number).collect());
    let all = all.collect();
    for input in &stage.objects {
        input.release(&mut rig.urb);
    }
    rig.with(|_, machine| stage.finish(machine));
    assert!(rig.all_free());
    all
}

/// OpenGL 4.6, table 10.1 (trailing); the manual's words for the other order are those of 3DSTATE_STREAMOUT, Reorder Mode.
#[test]
fn odd_triangles_of_strips_go_round_as_even_ones() {
    let trailing = state();
    let leading = GeometryState {
        leading: true,
        ..state()
    };
    let strip = |state| objects(Topology::TriStrip, 5, state);
    assert_eq!(strip(&trailing), [[0, 1, 2], [2, 1, 3], [2, 3, 4]]);
    assert_eq!(strip(&leading), [[0, 1, 2], [1, 3, 2], [2, 3, 4]]);
}

/// OpenGL 4.6, table 10.1, in which vertices are numbered from 1.
#[test]
fn adjacent_vertices_come_along_unless_they_are_dropped() {
    let strip = |state: &GeometryState| objects(Topology::TriStripAdj, 8, state);
    assert_eq!(strip(&state()), [[0, 1, 2, 6, 4, 3], [4, 0, 2, 5, 6, 7]]);
    let without = GeometryState {
        discard_adjacency: true,
        ..state()
    };
    assert_eq!(strip(&without), [[0, 2, 4], [4, 2, 6]]);
    assert_eq!(
        objects(Topology::LineStripAdj, 5, &state()),
        [[0, 1, 2, 3], [1, 2, 3, 4]]
    );
}

/// Entries of the captured shader: a row of control data, vertices of 64 bytes, strips; the bit of the fourth vertex is set.
#[test]
fn cut_bits_end_strips() {
    let mut cut = GeometryState {
        topology: Ok(Topology::TriStrip),
        vertex_size: 4,
        control_rows: 1,
        ..state()
    };
    cut.unit.urb_entry_rows = 16;
    cut.unit.urb_entries = 2;
    let read = |count: u16, control: u32| {
        let mut rig = rig(&cut);
        let entry = rig.urb.allocate(Owner::Gs).unwrap();
        rig.urb.row_mut(entry, 0).unwrap()[0] = control;
        let mut out = VecDeque::new();
        rig.with(|_, machine| output::read(&cut, left(entry, count), &mut out, machine));
        let ends = |v: &Streamed| (v.vertex.start, v.vertex.end);
        let all: Vec<_> = out.iter().map(ends).collect();
        for (n, streamed) in (0..).zip(&out) {
            assert_eq!(streamed.vertex.handle.0, entry.0 + 1 + 2 * n);
            assert_eq!(rig.urb.available(Owner::Gs), 1);
            rig.urb.release(streamed.vertex.handle);
        }
        assert_eq!(rig.urb.available(Owner::Gs), 2);
        let primitives = rig.status.statistics.gs_primitives;
        (all, primitives, rig.faults().len())
    };
    let (start, middle, end) = ((true, false), (false, false), (false, true));
    let strips = vec![start, middle, middle, end, start, middle, end];
    assert_eq!(read(7, 1 << 3), (strips.clone(), 3, 0));
    assert_eq!(read(4, 1 << 3), (strips[..4].to_vec(), 2, 0));
    // More than there is room for is the thread's mistake.
    assert_eq!(read(u16::MAX, 1 << 3), (strips, 3, 1));
    assert_eq!(read(0, 1), (Vec::new(), 0, 0));
    assert_eq!(read(1, 0), (vec![(true, true)], 0, 0));
}

/// What a thread leaves.
fn left(entry: UrbHandle, count: u16) -> output::Left {
    output::Left {
        entry,
        count,
        thread: 3,
        half: 0,
    }
}

#[test]
fn stream_bits_send_vertices_apart() {
    let mut split = GeometryState {
        control: ControlData::Streams,
        control_rows: 1,
        stream: 2,
        ..state()
    };
    split.unit.urb_entry_rows = 32;
    split.unit.urb_entries = 1;
    let read = |state: &GeometryState| {
        let mut rig = rig(state);
        let entry = rig.urb.allocate(Owner::Gs).unwrap();
        // Streams 0, 1, 0, 3 and so on; the seventeenth vertex has the lowest bits of the second dword.
        *rig.urb.row_mut(entry, 0).unwrap() = [0xc4, 2, 0, 0, 0, 0, 0, 0];
        let mut out = VecDeque::new();
        rig.with(|_, machine| output::read(state, left(entry, 17), &mut out, machine));
        out.iter().map(|v| v.stream).collect::<Vec<_>>()
    };
    let streams = read(&split);
    assert_eq!(streams[..5], [0, 1, 0, 3, 0]);
    assert_eq!(streams[15..], [0, 2]);
    split.control_rows = 0;
    assert_eq!(read(&split), [2; 17]);
}

#[test]
fn patches_have_as_many_vertices_as_their_topology_says() {
    let patches = objects(Topology::PatchList3, 7, &state());
    assert_eq!(patches, [[0, 1, 2], [3, 4, 5]]);
    let patches = objects(Topology::PatchList32, 32, &state());
    assert_eq!(patches, [(0..32).collect::<Vec<_>>()]);
    assert!(GsEntry::default().off(&DrawState::default()));
}
