//! An object into stream output buffers: whole, or not at all.
//!
//! ValleyView PRM, volume 2 part 2: 3DSTATE_STREAMOUT (reordered triangles, buffers that are not bound), 3DSTATE_SO_BUFFER,
//! 3DSTATE_SO_DECL_LIST (buffers of a stream). An object fits a buffer when the pitch of all its vertices does.

use eu::Grf;
use mem::GpuAddr;

use crate::core::fault::UnitFault;
use crate::intel::ff::state::streams::{Run, StreamBuffer, StreamsState};
use crate::intel::ff::topology::{Object, Topology};
use crate::intel::machine::Machine;
use crate::intel::status::STREAMS;
use crate::intel::trace::Event;
use crate::intel::urb::UrbHandle;

/// Most rows of a vertex that are read, and one for vertices that begin in the middle of a row.
const ROWS: usize = 18;

/// Dwords that go to memory at once.
const AT_ONCE: usize = 32;

/// Writes an object of a stream, if it fits all buffers of the stream, and counts it. `odd`: every other vertex of a thread begins
/// in the middle of a row.
pub(super) fn write(
    object: &Object,
    number: u8,
    state: &StreamsState,
    odd: bool,
    machine: &mut Machine<'_>,
) -> Result<(), UnitFault> {
    let number = usize::from(number) % STREAMS;
    // PANIC: a remainder.
    let stream = &state.streams[number];
    let places = order(object, state.leading);
    // PANIC: the lesser of the two.
    let places = &places[..object.handles().len().min(places.len())];
    let selected = |buffer: usize| stream.buffers >> buffer & 1 == 1;
    let fits = |buffer: usize| {
        let offset = machine.status.stream_offsets[buffer];
        // PANIC: one of those that there are.
        let end = state.buffers[buffer].map(|to| room(&to, offset, places.len()));
        end.unwrap_or(false)
    };
    let written =
        stream.buffers != 0 && (0..STREAMS).all(|buffer| !selected(buffer) || fits(buffer));
    if state.statistics {
        let statistics = &mut machine.status.statistics;
        let needed = &mut statistics.so_storage_needed[number];
        *needed = needed.wrapping_add(1);
        let count = &mut statistics.so_prims_written[number];
        *count = count.wrapping_add(u64::from(written));
    }
    if !written {
        return Ok(());
    }
    for &place in places {
        // PANIC: places of the object's vertices.
        let half = odd && object.tags[place].relative % 2 == 1;
        vertex((object.vertices[place], half), number, state, machine)?;
        for (buffer, offset) in machine.status.stream_offsets.iter_mut().enumerate() {
            if selected(buffer)
                && let Some(to) = state.buffers[buffer]
            {
                *offset = offset.wrapping_add(to.pitch);
            }
        }
    }
    Ok(())
}

/// Whether so many vertices have room from an offset on.
fn room(buffer: &StreamBuffer, offset: u32, vertices: usize) -> bool {
    // CAST: three at most.
    let bytes = u64::from(buffer.pitch) * vertices as u64;
    u64::from(buffer.base) + u64::from(offset) + bytes <= u64::from(buffer.end)
}

/// The vertices of an object in the order in which they are written.
fn order(object: &Object, leading: bool) -> [usize; 3] {
    match (object.topology, leading) {
        (Topology::TriStripReverse, true) => [0, 2, 1],
        (Topology::TriStripReverse, false) => [1, 0, 2],
        _ => [0, 1, 2],
    }
}

/// Writes the next vertex of a stream.
fn vertex(
    (handle, half): (UrbHandle, bool),
    number: usize,
    state: &StreamsState,
    machine: &mut Machine<'_>,
) -> Result<(), UnitFault> {
    // PANIC: number of a stream.
    let stream = &state.streams[number];
    let mut rows: [Grf; ROWS] = [[0; 8]; ROWS];
    let count = stream.read_rows + u16::from(half);
    for (row, to) in (0..count).zip(&mut rows) {
        let from = machine.urb.row(handle, stream.read_offset + row);
        *to = from.copied().unwrap_or_default();
    }
    let dwords = rows.as_flattened();
    // PANIC: half a row of those that there are.
    let dwords = &dwords[usize::from(half) * 4..];
    // What lies behind the rows that are read is not the vertex's.
    let dwords = dwords.get(..usize::from(stream.read_rows) * 8);
    let dwords = dwords.unwrap_or_default();
    for &run in &stream.runs {
        let buffer = usize::from(run.buffer) % STREAMS;
        // PANIC: a remainder.
        if stream.buffers >> buffer & 1 == 1
            && let Some(to) = &state.buffers[buffer]
        {
            store(run, to, buffer, dwords, machine)?;
            if machine.trace.is_detailed() {
                // CAST: the vertex begins in one of the first rows of its entry.
                let first = stream.read_offset * 8 + u16::from(half) * 4;
                note(run, to, (handle, number, first), machine);
            }
        }
    }
    machine.status.activity.streamed += 1;
    Ok(())
}

/// Tells sinks which dwords of a vertex have gone where, as far as the buffer reaches.
fn note(
    run: Run,
    buffer: &StreamBuffer,
    (handle, stream, first): (UrbHandle, usize, u16),
    machine: &mut Machine<'_>,
) {
    let number = usize::from(run.buffer) % STREAMS;
    // PANIC: a remainder.
    let offset = machine.status.stream_offsets[number].wrapping_add(u32::from(run.to) * 4);
    let addr = buffer.base.wrapping_add(offset);
    let room = buffer.end.saturating_sub(addr) / 4;
    machine.note(Event::Streamed {
        handle: handle.0,
        // CAST: numbers below four.
        stream: stream as u8,
        buffer: number as u8,
        from: first.wrapping_add(run.from),
        offset,
        addr,
        // CAST: at most as many as a run has.
        dwords: room.min(run.count.into()) as u16,
    });
}

/// Writes dwords of a vertex, as far as the buffer reaches.
fn store(
    run: Run,
    buffer: &StreamBuffer,
    number: usize,
    dwords: &[u32],
    machine: &mut Machine<'_>,
) -> Result<(), UnitFault> {
    // PANIC: number of a buffer.
    let offset = u64::from(machine.status.stream_offsets[number]);
    let mut at = u64::from(buffer.base) + offset + u64::from(run.to) * 4;
    let room = u64::from(buffer.end).saturating_sub(at) / 4;
    // CAST: the lesser of the two.
    let count = room.min(run.count.into()) as usize;
    let from = usize::from(run.from);
    let mut bytes = [[0; 4]; AT_ONCE];
    for first in (from..from + count).step_by(AT_ONCE) {
        let now = AT_ONCE.min(from + count - first);
        for (n, to) in bytes[..now].iter_mut().enumerate() {
            let dword = dwords.get(first + n).copied().unwrap_or(0);
            *to = dword.to_le_bytes();
        }
        // CAST: below the end of the buffer, which has 32 bits.
        let address = GpuAddr::from(at as u32);
        machine
            .mem
            .write_bytes(address, bytes[..now].as_flattened())?;
        machine.note_write("SOL", address, now * 4);
        at += 4 * now as u64;
    }
    Ok(())
}
