//! The clipper that clips by itself: tests, clipping in clip space, no threads.
//!
//! Fields from genxml gen6 3DSTATE_CLIP; places in the vertex header from Mesa brw_compiler.c `brw_compute_vue_map` (Render
//! Target Array Index in dword 1, viewport in dword 2, clip distances behind the position).
//! Positions are cut in double precision, and values that change over an object are left to its vertices: a piece of an
//! object knows only which part of it is drawn.
//! Not modelled: the number of bits of the hardware's own arithmetic.

mod cut;

use std::collections::VecDeque;

use super::Step;
use super::cl::assemble;
use super::link::{Cargo, Corner, Link, Piece};
use super::stage::{Stage, StepContext};
use super::state::setup::VIEWPORTS;
use super::state::{ApiMode, Bounds, ClipMode, ClipperState};
use super::topology::{Assembler, Object, Topology};
use crate::intel::machine::Machine;
use crate::intel::status::Busy;
use crate::intel::urb::{Urb, UrbHandle};

use cut::{Cut, Planes, Vertex};

/// Ticks of a clip test.
const TEST_TICKS: u64 = 8;
/// Ticks of a plane at which an object is cut.
const CUT_TICKS: u64 = 8;

/// The clipper.
#[derive(Clone, Debug, Default)]
pub struct Clipper {
    input: Assembler,
    objects: VecDeque<Object>,
}

impl Stage for Clipper {
    fn part(&self) -> Busy {
        Busy::Clip
    }

    fn takes(&self) -> &'static [Cargo] {
        &[Cargo::Vertices]
    }

    fn gives(&self) -> &'static [Cargo] {
        &[Cargo::Pieces]
    }

    fn room(&self, input: &Link) -> bool {
        input.vertices.is_empty()
    }

    fn step(&mut self, input: &mut Link, out: &mut Link, ctx: &mut StepContext<'_, '_>) -> Step {
        if let Some(object) = self.objects.pop_front() {
            clip(&object, &ctx.draw.clipper, &mut out.pieces, ctx.machine);
            return Step::Progress;
        }
        let Some(vertex) = input.vertices.pop_front() else {
            return Step::Idle;
        };
        self.input.convert(true);
        let objects = assemble(&mut self.input, vertex, ctx.draw, ctx.machine);
        self.objects.extend(objects.into_iter().flatten());
        Step::Progress
    }

    fn busy(&self, _input: &Link) -> bool {
        !self.objects.is_empty()
    }

    /// Drops an unfinished primitive at the end of a draw.
    fn finish(&mut self, machine: &mut Machine<'_>) {
        self.input.flush(machine.urb);
    }
}

/// Hands on what is left of an object, whose references go with the pieces.
fn clip(
    object: &Object,
    state: &ClipperState,
    out: &mut VecDeque<Piece>,
    machine: &mut Machine<'_>,
) {
    machine.charge(TEST_TICKS);
    let before = out.len();
    let planes = pieces(object, state, out, machine.urb);
    machine.charge(CUT_TICKS * planes);
    let count = out.len() - before;
    for &handle in object.handles() {
        // The stream's reference goes, each piece has its own.
        for _ in 0..count {
            machine.urb.reference(handle);
        }
        machine.urb.release(handle);
    }
    if state.statistics {
        let statistics = &mut machine.status.statistics;
        statistics.cl_invocations = statistics.cl_invocations.wrapping_add(1);
        statistics.cl_primitives = statistics.cl_primitives.wrapping_add(count as u64);
    }
}

/// A dword of the header of a vertex.
fn header(urb: &Urb, handle: UrbHandle, dword: usize) -> u32 {
    let row = urb.row(handle, 0);
    row.and_then(|row| row.get(dword)).copied().unwrap_or(0)
}

/// Position and clip distances of a vertex.
fn vertex(urb: &Urb, handle: UrbHandle, distances: bool) -> Vertex {
    let row = urb.row(handle, 0).copied().unwrap_or_default();
    let value = |dword: u32| f64::from(f32::from_bits(dword));
    let mut vertex = Vertex {
        position: [row[4], row[5], row[6], row[7]].map(value),
        ..Vertex::default()
    };
    if distances {
        let row = urb.row(handle, 1).copied().unwrap_or_default();
        vertex.distances = row.map(value);
    }
    vertex
}

/// The vertices of the point, line or triangle that an object is, and which of their edges are the object's.
fn part(object: &Object) -> Option<([u8; 3], [bool; 3])> {
    const ALL: [bool; 3] = [true; 3];
    Some(match (object.count, object.topology) {
        (1, _) => ([0, 0, 0], ALL),
        (2, _) => ([0, 1, 1], ALL),
        (3, Topology::Polygon) => ([0, 1, 2], [object.first, true, object.last]),
        // The odd triangles of a strip wind the other way.
        (3, Topology::TriStripReverse) => ([1, 0, 2], ALL),
        (3, _) => ([0, 1, 2], ALL),
        _ => return None,
    })
}

/// The edges that belong to the outline: of triangles and polygons, those whose first vertex says so. Strips and fans have no
/// edge flags (OpenGL 2.1, 2.6.2).
fn outline(object: &Object, vertices: [u8; 3], edges: [bool; 3]) -> [bool; 3] {
    if !matches!(object.topology, Topology::TriList | Topology::Polygon) {
        return edges;
    }
    let flag = |v: u8| object.edges.get(usize::from(v)).copied().unwrap_or(true);
    std::array::from_fn(|i| edges[i] && flag(vertices[i]))
}

/// Pieces of an object; gives the number of planes that it was cut at.
fn pieces(object: &Object, state: &ClipperState, out: &mut VecDeque<Piece>, urb: &Urb) -> u64 {
    let Some(&first) = object.handles().first() else {
        return 0;
    };
    let asked = header(urb, first, 2);
    let viewport = if asked <= state.maximum_viewport && asked < VIEWPORTS as u32 {
        asked
    } else {
        0
    };
    let array_index = if state.force_zero_array_index {
        0
    } else {
        header(urb, first, 1)
    };
    let mode = if state.enable {
        state.mode
    } else {
        ClipMode::AcceptAll
    };
    if mode == ClipMode::RejectAll {
        return 0;
    }
    let planes = planes(state, viewport, mode);
    let Some((vertices, edges)) = part(object) else {
        return 0;
    };
    let edges = outline(object, vertices, edges);
    let corners = vertices.map(|v| {
        // PANIC: `part` names vertices that the object has.
        let handle = object.vertices[usize::from(v)];
        vertex(urb, handle, planes.uses_distances())
    });
    let mut cut = Cut::new(&corners[..object.count.min(3)], edges);
    // Rectangles are on the screen, and are whole or nothing (genxml gen6: their viewport mapping is off).
    let whole = object.topology == Topology::RectList;
    let Some(cuts) = planes.apply(&mut cut, whole) else {
        return 0;
    };
    let piece = |at: [usize; 3], count, edges| Piece {
        object: *object,
        vertices,
        corners: at.map(|i| cut.corner(i)),
        count,
        edges,
        // CAST: below 16.
        viewport: viewport as u8,
        // CAST: an index of eleven bits (genxml gen6 SURFACE_STATE, Minimum Array Element).
        array_index: (array_index & 0x7ff) as u16,
    };
    match cut.len() {
        0 => {}
        1 => out.push_back(piece([0, 0, 0], 1, edges)),
        2 => out.push_back(piece([0, 1, 1], 2, edges)),
        n => {
            for i in 1..n - 1 {
                let edges = [
                    i == 1 && cut.edge(0),
                    cut.edge(i),
                    i == n - 2 && cut.edge(n - 1),
                ];
                out.push_back(piece([0, i, i + 1], 3, edges));
            }
        }
    }
    cuts
}

/// The sides of the viewport.
const VIEW: Bounds = Bounds {
    x: (-1.0, 1.0),
    y: (-1.0, 1.0),
};

/// What a draw's objects are tested against.
fn planes(state: &ClipperState, viewport: u32, mode: ClipMode) -> Planes {
    if mode == ClipMode::AcceptAll {
        return Planes::default();
    }
    let bands = state.guardbands.as_ref();
    Planes {
        on: true,
        view: state.test_xy.then_some(VIEW),
        band: match bands.and_then(|bands| bands.get(viewport as usize)) {
            Some(band) => Some(*band),
            None => state.test_xy.then_some(VIEW),
        },
        near: state.test_z.then_some(match state.api {
            ApiMode::OpenGl => -1.0,
            ApiMode::Direct3d => 0.0,
        }),
        clip: state.clip_distances,
        cull: state.cull_distances,
    }
}

impl From<&Vertex> for Corner {
    fn from(vertex: &Vertex) -> Self {
        Corner {
            position: vertex.position,
            along: vertex.along,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
