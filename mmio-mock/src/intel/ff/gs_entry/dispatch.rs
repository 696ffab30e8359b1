//! What a thread of a geometry shader starts with: registers, vertices.
//!
//! Mesa 22.3.6 brw_vec4_gs_visitor.cpp (`setup_varying_inputs`): two objects share registers vertex by vertex.

use eu::Grf;

use super::Input;
use crate::intel::debug::ThreadDebug;
use crate::intel::ff::payload::{GEOMETRY_REGISTERS, GeometryHeader, GeometryPart, PATCH_VERTICES};
use crate::intel::ff::stage::StepContext;
use crate::intel::ff::state::geometry::{Dispatch, GeometryState};
use crate::intel::status::Unit;
use crate::intel::td::{Outcome, Subject, ThreadRequest, UrbRead, VertexData};
use crate::intel::urb::UrbHandle;

/// Asks for a thread: for an instance of an object, and perhaps for a second one beside it.
pub(super) fn dispatch(
    state: &GeometryState,
    (first, instance, second): (&Input, u8, Option<(Input, u8)>),
    entries: [Option<UrbHandle>; 2],
    debug: ThreadDebug,
    ctx: &mut StepContext<'_, '_>,
) -> Option<Outcome> {
    let unit = &state.unit;
    let second = second.as_ref().map(|(input, instance)| (input, *instance));
    let header = GeometryHeader {
        state,
        topology: first.topology,
        first: part(first, instance, entries[0]),
        second: second.map(|(input, instance)| part(input, instance, entries[1])),
    };
    let mut registers: [Grf; GEOMETRY_REGISTERS] = [[0; 8]; GEOMETRY_REGISTERS];
    let count = ctx.layout.geometry(&mut registers, &header, debug.r0());
    let read = |handle| UrbRead {
        handle,
        offset: unit.read_offset,
        rows: unit.read_rows,
    };
    let mut reads = [read(UrbHandle(0)); PATCH_VERTICES];
    let mut pairs = [[read(UrbHandle(0)); 2]; PATCH_VERTICES];
    let data = if state.dispatch == Dispatch::DualObject {
        // Without a second object nothing is said of the upper half: it has what the lower half has.
        let other = second.map_or(first, |(input, _)| input);
        let both = first.handles().iter().zip(other.handles());
        for (pair, (&a, &b)) in pairs.iter_mut().zip(both) {
            *pair = [read(a), read(b)];
        }
        // PANIC: at most as many as there are.
        VertexData::Pairs(&pairs[..first.handles().len()])
    } else {
        for (to, &handle) in reads.iter_mut().zip(first.handles()) {
            *to = read(handle);
        }
        // PANIC: as above.
        VertexData::Sequential(&reads[..first.handles().len()])
    };
    ctx.td.dispatch(
        &ThreadRequest {
            unit: Unit::Gs,
            kernel: unit.kernel,
            context: unit.context,
            dispatch_mask: if second.is_some() { 0xff } else { 0x0f },
            // PANIC: the lesser of the two.
            header: &registers[..count.min(GEOMETRY_REGISTERS)],
            constants: unit.constants(ctx.curbe),
            data,
            pixels: None,
            stream_indices: [0; 4],
            snapshot: debug.flag,
            subject: Subject::Geometry {
                objects: [
                    first.number,
                    second.map_or(first.number, |(input, _)| input.number),
                ],
                instances: [Some(instance), second.map(|(_, instance)| instance)],
            },
        },
        &[],
        ctx.machine,
    )
}

/// What a half of the thread learns of its object.
fn part(input: &Input, instance: u8, entry: Option<UrbHandle>) -> GeometryPart<'_> {
    GeometryPart {
        entry: entry.unwrap_or_default(),
        instance,
        number: input.number,
        vertices: input.handles(),
    }
}
