//! What a thread has left in its entry: control data, then vertex after vertex.
//!
//! Mesa 22.3.6 brw_vec4_gs_visitor.cpp: `emit_control_data_bits` (a bit or two of each vertex, those of the first lowest),
//! `gs_end_primitive` (a cut bit ends the primitive with its vertex), `set_stream_control_data_bits`,
//! `emit_urb_write_header` (places of the vertices).

use std::collections::VecDeque;

use crate::core::fault::UnitFault;
use crate::intel::ff::link::Streamed;
use crate::intel::ff::state::geometry::{ControlData, GeometryState};
use crate::intel::ff::topology::{StreamVertex, Tag, Topology};
use crate::intel::machine::Machine;
use crate::intel::status::{Client, STREAMS, Unit};
use crate::intel::trace::Event;
use crate::intel::urb::{Owner, Urb, UrbHandle};

/// Width of the number of a vertex within its thread (PRM vol4 3.3.6). Where vertices begin in the middle of rows, it is those of
/// odd numbers.
const RELATIVE: u32 = 0x3ff;

/// Dwords of the longest control data: fifteen rows.
const CONTROL: usize = 120;

/// What a thread has left: how many vertices in which entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    pub(super) entry: UrbHandle,
    /// As the thread says.
    pub(super) count: u16,
    /// Number of the thread, for tags.
    pub(super) thread: u32,
    /// Which half of its channels it was.
    pub(super) half: u8,
}

/// Puts the vertices of an entry into the way to the next stage, and gives the thread's reference to the entry back. Only as
/// many vertices are taken as fit the entry, however many the thread says there are.
pub(super) fn read(
    state: &GeometryState,
    left: Left,
    out: &mut VecDeque<Streamed>,
    machine: &mut Machine<'_>,
) {
    let Left { entry, count, .. } = left;
    let topology = state.topology.unwrap_or(Topology::PointList);
    let rows = machine.urb.entry_rows(Owner::Gs);
    let size = u32::from(state.vertex_size.max(1));
    let fit = u32::from(rows.saturating_sub(state.control_rows)) * 2 / size;
    let count = u32::from(count);
    if count > fit {
        let what = format!("thread says that it has written {count} vertices; {fit} fit its entry");
        let fault = UnitFault::Command { unit: "GS", what };
        machine.fault(Client::Cs, fault, || "GS, end of thread".to_owned());
    }
    let count = count.min(fit);
    let mut split = Split::new(state, entry, count, machine.urb);
    let detailed = machine.trace.is_detailed();
    let tag = Tag::of(Unit::Gs, left.thread);
    for at in 0..count {
        let (stream, start, end) = split.next(at, topology);
        let halves = at * size;
        // CAST: rows of an entry, whose number has sixteen bits.
        let row = state.control_rows + (halves / 2) as u16;
        let handle = UrbHandle(entry.0.saturating_add(row));
        machine.urb.reference(handle);
        if detailed {
            machine.note(Event::Emit {
                ffid: Unit::Gs.ffid(),
                handle: handle.0,
                half: left.half,
            });
        }
        out.push_back(Streamed {
            vertex: StreamVertex {
                handle,
                topology,
                start,
                end,
                renumber: false,
                number: None,
                edge: true,
                tag: Tag {
                    relative: at & RELATIVE,
                    ..tag
                },
            },
            stream,
        });
    }
    machine.urb.release(entry);
    if state.unit.statistics {
        let primitives = &mut machine.status.statistics.gs_primitives;
        *primitives = primitives.wrapping_add(split.objects);
    }
}

/// Which stream and which primitive each vertex belongs to.
struct Split {
    /// Control data of the vertices, as far as there are any.
    control: [u32; CONTROL],
    kind: ControlData,
    stream: u8,
    /// Vertices so far of the primitive in work, of each stream.
    begun: [u32; STREAMS],
    /// The last vertex of each stream.
    last: [u32; STREAMS],
    /// Objects of the primitives so far.
    objects: u64,
}

impl Split {
    fn new(state: &GeometryState, entry: UrbHandle, count: u32, urb: &Urb) -> Self {
        let bits = match state.control {
            ControlData::Cuts => 1,
            ControlData::Streams => 2,
        };
        let mut control = [0; CONTROL];
        // CAST: at most twice a count of sixteen bits.
        let needed = (count * bits).div_ceil(32) as usize;
        let there = usize::from(state.control_rows) * 8;
        for (row, dwords) in (0..).zip(control.chunks_mut(8)) {
            let at = usize::from(row) * 8;
            if at >= needed.min(there) {
                break;
            }
            let from = urb.row(entry, row).copied().unwrap_or_default();
            dwords.copy_from_slice(&from);
        }
        let mut split = Split {
            control,
            // Without control data all vertices are of one stream.
            kind: if state.control_rows == 0 {
                ControlData::Cuts
            } else {
                state.control
            },
            stream: state.stream & 3,
            begun: [0; STREAMS],
            last: [count.saturating_sub(1); STREAMS],
            objects: 0,
        };
        if split.kind == ControlData::Streams {
            for at in 0..count {
                // PANIC: two bits.
                split.last[usize::from(split.stream_of(at))] = at;
            }
        }
        split
    }

    /// So many bits of the control data of a vertex; 0 behind their end.
    fn bits(&self, at: u32, bits: u32) -> u32 {
        let place = at * bits;
        // CAST: a place in the control data.
        let dword = self.control.get((place / 32) as usize);
        dword.map_or(0, |dword| dword >> (place % 32) & ((1 << bits) - 1))
    }

    fn stream_of(&self, at: u32) -> u8 {
        match self.kind {
            ControlData::Cuts => self.stream,
            // CAST: two bits.
            ControlData::Streams => self.bits(at, 2) as u8,
        }
    }

    /// The stream of the next vertex, and whether it begins and ends a primitive.
    fn next(&mut self, at: u32, topology: Topology) -> (u8, bool, bool) {
        let stream = self.stream_of(at);
        let cut = self.kind == ControlData::Cuts && self.bits(at, 1) == 1;
        // PANIC: two bits.
        let (begun, last) = (
            &mut self.begun[usize::from(stream)],
            self.last[usize::from(stream)],
        );
        let (start, end) = (*begun == 0, cut || at == last);
        *begun += 1;
        if end {
            self.objects += u64::from(objects(topology, *begun));
            *begun = 0;
        }
        (stream, start, end)
    }
}

/// Objects of a primitive of so many vertices.
fn objects(topology: Topology, vertices: u32) -> u32 {
    let strip = |first: u32, step: u32| match vertices.checked_sub(first) {
        Some(more) => more / step + 1,
        None => 0,
    };
    match topology {
        Topology::PointList | Topology::PointListBf => vertices,
        Topology::LineList => vertices / 2,
        Topology::LineStrip
        | Topology::LineStripCont
        | Topology::LineStripBf
        | Topology::LineStripContBf => strip(2, 1),
        Topology::LineLoop => strip(2, 1) + u32::from(vertices > 1),
        Topology::TriList | Topology::RectList => vertices / 3,
        Topology::TriStrip
        | Topology::TriStripReverse
        | Topology::TriFan
        | Topology::TriFanNoStipple
        | Topology::Polygon => strip(3, 1),
        Topology::QuadList | Topology::LineListAdj => vertices / 4,
        Topology::QuadStrip => strip(4, 2),
        Topology::LineStripAdj => strip(4, 1),
        Topology::TriListAdj => vertices / 6,
        Topology::TriStripAdj => strip(6, 2),
        // CAST: 32 at most.
        patches => patches.patch().map_or(0, |points| vertices / points as u32),
    }
}
