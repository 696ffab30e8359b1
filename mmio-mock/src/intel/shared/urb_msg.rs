//! URB_WRITE: swizzles, offsets, completion, allocation; and FF_SYNC.
//!
//! PRM: volume 4, 8.4; FF_SYNC: Mesa 22.3.6 `brw_eu_emit.c`, `brw_clip_util.c`, `brw_ff_gs_emit.c`. Handles of the header are row numbers, or those of
//! 512-bit units in media threads. Not modelled: hardware's own
//! idea of what undefined messages do (one interleaved register, PRM 8.4.3.2.2).

pub mod entries;

use eu::{Grf, Message};

use super::context::{Events, MessageHandle, UrbEvent};
use super::error::Rule;
use crate::intel::status::Unit;
use crate::intel::urb::{Urb, UrbHandle};

/// What became of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Written.
    Done,
    /// No free entry for the requested allocation; nothing was written, try again.
    Busy,
}

/// Why the unit refuses a message; the router latches it (PRM 2.6.11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reject {
    /// Reserved opcode in bits 3:0.
    Opcode,
    /// Reserved swizzle.
    Swizzle,
    /// No header register, or a transposed payload that is no multiple of three rows.
    Length,
    /// A transposed write to an odd row (PRM 8.4.2, offset).
    Alignment,
    /// End of thread from a unit whose threads may not end here (PRM 8.4).
    Eot,
    /// Allocate together with EOT (PRM 8.4.2, table of combinations).
    AllocateAtEot,
    /// Used is clear on entries of another unit than GS and clipper (PRM 8.4.2).
    Unused,
    /// The rows lie past the end of the URB.
    Range,
    /// No header register.
    Header,
    /// FF_SYNC from a unit whose threads have no entries to ask for.
    Sync,
}

impl Reject {
    /// The rule; the error word of this unit says nothing of it.
    #[must_use]
    pub const fn rule(self) -> Rule {
        Rule::new(self.what(), 0)
    }

    /// The rule in words.
    #[must_use]
    pub const fn what(self) -> &'static str {
        match self {
            Reject::Opcode => "reserved URB opcode (PRM 8.4.2)",
            Reject::Swizzle => "reserved URB swizzle (PRM 8.4.2)",
            Reject::Length => "message length does not fit the swizzle (PRM 8.4.3)",
            Reject::Alignment => "transposed URB write at an odd offset (PRM 8.4.2)",
            Reject::Eot => "end of thread at the URB (PRM 8.4)",
            Reject::AllocateAtEot => "allocate at the end of the thread (PRM 8.4.2)",
            Reject::Unused => "unused output of a unit that must use its own (PRM 8.4.2)",
            Reject::Range => "rows past the end of the URB (PRM 8.1)",
            Reject::Header => "URB message without a header (PRM 8.4.3)",
            Reject::Sync => "FF_SYNC of a thread that is not of GS or clipper, or ends with it",
        }
    }
}

/// How registers go into rows (PRM 8.4.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swizzle {
    /// As they are.
    None,
    /// Low halves to one entry, high halves to another.
    Interleaved,
    /// Three registers become elements of four dwords.
    Transposed,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrbOp {
    /// URB_WRITE.
    Write,
    /// FF_SYNC: a thread of GS or clipper waits for its turn among the threads of its unit, and gets its first entry. The
    /// threads of later generations start without one.
    Sync,
}

/// What a message asks for, wherever a generation's descriptor has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrbRequest {
    /// Opcode; `None`: reserved code.
    pub op: Option<UrbOp>,
    /// First row in the entry.
    pub offset: u16,
    /// Swizzle; `None`: reserved code.
    pub swizzle: Option<Swizzle>,
    /// A further entry is asked for.
    pub allocate: bool,
    /// The entries are valid outputs.
    pub used: bool,
    /// No further writes to the entries.
    pub complete: bool,
}

/// Rows of the unit that handles of media threads count: 512 bits. Kernels of such threads compute
/// handles of their own (intel-vaapi-driver `AVC_ILDB_SpawnChild.asm`).
pub const MEDIA_HANDLE_ROWS: u16 = 2;

/// Serves one message whose handles count units of so many rows.
pub fn execute(
    request: UrbRequest,
    unit: u16,
    msg: &Message<'_>,
    response: &mut [Grf],
    urb: &mut Urb,
    events: &mut Events,
) -> Result<Outcome, Reject> {
    match request.op {
        Some(UrbOp::Write) => {}
        Some(UrbOp::Sync) => return sync(request, msg, response, events),
        None => return Err(Reject::Opcode),
    }
    let Some((header, data)) = msg.payload.split_first() else {
        return Err(Reject::Length);
    };
    if request.allocate && msg.eot {
        return Err(Reject::AllocateAtEot);
    }
    // PRM 8.4: threads of VS, GS, clipper and SF may end here, those of the windower and VFE not.
    let others = [Unit::Wiz, Unit::Media];
    if msg.eot && others.iter().any(|unit| unit.ffid() == msg.thread.ffid) {
        return Err(Reject::Eot);
    }
    // PRM 8.4.2: GS and clipper may give entries back, the others have no output too many.
    let all_used = [Unit::Vs, Unit::Sf, Unit::Wiz, Unit::Media];
    if request.complete
        && !request.used
        && all_used.iter().any(|unit| unit.ffid() == msg.thread.ffid)
    {
        return Err(Reject::Unused);
    }
    let [entry0, entry1] =
        [header[0], header[1]].map(|handle| UrbHandle((handle as u16).saturating_mul(unit)));
    let offset = request.offset;
    // Check everything before the first effect, so that a refused message has none.
    let swizzle = request.swizzle.ok_or(Reject::Swizzle)?;
    let rows = match swizzle {
        Swizzle::Transposed if !offset.is_multiple_of(2) => return Err(Reject::Alignment),
        Swizzle::None => data.len(),
        Swizzle::Interleaved => data.len().div_ceil(2),
        Swizzle::Transposed if data.len() % 3 == 0 => data.len() / 3 * 4,
        Swizzle::Transposed => return Err(Reject::Length),
    };
    if let Some(last) = rows.checked_sub(1) {
        let last = offset + last as u16;
        // A half without enabled channels writes nothing: its handle may be anything.
        let (low, high) = match swizzle {
            Swizzle::Interleaved => (msg.exec_mask & 0x0f != 0, msg.exec_mask & 0xf0 != 0),
            Swizzle::None | Swizzle::Transposed => (true, false),
        };
        let fits =
            (!low || urb.row(entry0, last).is_some()) && (!high || urb.row(entry1, last).is_some());
        if !fits {
            return Err(Reject::Range);
        }
    }
    let allocated = match request.allocate {
        true if events.free.is_empty() => return Ok(Outcome::Busy),
        true => events.free.pop(),
        false => None,
    };
    match swizzle {
        Swizzle::None => no_swizzle(urb, entry0, offset, data),
        Swizzle::Interleaved => interleaved(urb, [entry0, entry1], offset, data, msg.exec_mask),
        Swizzle::Transposed => transpose(urb, entry0, offset, data),
    }
    if let (Some(handle), Some(w)) = (allocated, response.first_mut()) {
        *w = [handle.dword(), 0, 0, 0, 0, 0, 0, 0];
    }
    let complete = request.complete;
    // Primitive fields only mean something with Complete (PRM 8.4.2).
    let prim = if complete { header[2] } else { 0 };
    events.urb.push(UrbEvent {
        entry: MessageHandle::from_dword(header[0]),
        second: (swizzle == Swizzle::Interleaved).then(|| MessageHandle::from_dword(header[1])),
        fftid: header[5] as u8,
        complete,
        used: complete && request.used,
        allocated,
        prim_type: (prim >> 2 & 0x1f) as u8,
        prim_start: prim & 2 != 0,
        prim_end: prim & 1 != 0,
        eot: msg.eot,
        // Bits 31:16 (Mesa gfx6_gs_visitor.cpp `emit_thread_end`).
        stream_written: if msg.eot { (prim >> 16) as u16 } else { 0 },
        ..UrbEvent::default()
    });
    Ok(Outcome::Done)
}

/// FF_SYNC: the number of primitives in the header (M0.1) is for the unit's order, which threads of the model always keep.
/// The answer has the entry where that of a URB_WRITE has it.
fn sync(
    request: UrbRequest,
    msg: &Message<'_>,
    response: &mut [Grf],
    events: &mut Events,
) -> Result<Outcome, Reject> {
    let [header] = msg.payload else {
        return Err(Reject::Length);
    };
    let units = [Unit::Gs, Unit::Clip];
    if msg.eot || units.iter().all(|unit| unit.ffid() != msg.thread.ffid) {
        return Err(Reject::Sync);
    }
    let allocated = match request.allocate {
        true if events.free.is_empty() => return Ok(Outcome::Busy),
        true => events.free.pop(),
        false => None,
    };
    if let (Some(handle), Some(w)) = (allocated, response.first_mut()) {
        let [a, b, c, d] = events.stream_indices;
        *w = [handle.dword(), a, b, c, d, 0, 0, 0];
    }
    events.urb.push(UrbEvent {
        fftid: header[5] as u8,
        allocated,
        // Mesa brw_vec4_generator.cpp `generate_gs_ff_sync_set_primitives`.
        stream_vertices: (header[0] >> 16) as u16,
        stream_needed: header[0] as u16,
        ..UrbEvent::default()
    });
    Ok(Outcome::Done)
}

/// PRM 8.4.3.2.1: rows as they are, channel enables ignored.
fn no_swizzle(urb: &mut Urb, entry: UrbHandle, offset: u16, data: &[Grf]) {
    for (row, source) in (offset..).zip(data) {
        if let Some(target) = urb.row_mut(entry, row) {
            *target = *source;
        }
    }
}

/// PRM 8.4.3.2.2: low halves to entry 0, high halves to entry 1, channel enables obeyed.
fn interleaved(urb: &mut Urb, entries: [UrbHandle; 2], offset: u16, data: &[Grf], mask: u16) {
    for (n, source) in data.iter().enumerate() {
        let row = offset + n as u16 / 2;
        let half = n % 2 * 4;
        for (side, entry) in entries.into_iter().enumerate() {
            let Some(target) = urb.row_mut(entry, row) else {
                continue;
            };
            for dword in 0..4 {
                if mask & 1 << (side * 4 + dword) != 0 {
                    target[half + dword] = source[side * 4 + dword];
                }
            }
        }
    }
}

/// PRM 8.4.3.2.3, table 8-2: three source rows and a row of zeros become four dwords an element.
fn transpose(urb: &mut Urb, entry: UrbHandle, offset: u16, data: &[Grf]) {
    for (group, rows) in data.chunks_exact(3).enumerate() {
        for pair in 0..4 {
            let Some(target) = urb.row_mut(entry, offset + (group * 4 + pair) as u16) else {
                return;
            };
            for side in 0..2 {
                let n = pair * 2 + side;
                target[side * 4..side * 4 + 4]
                    .copy_from_slice(&[rows[0][n], rows[1][n], 0, rows[2][n]]);
            }
        }
    }
}

#[cfg(test)]
mod tests;
