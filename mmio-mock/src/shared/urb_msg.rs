//! URB_WRITE: swizzles, offsets, completion bits and entry allocation.
//!
//! PRM: volume 4, 8.4. Handles of the header are row numbers, or those of
//! 512-bit units in media threads. Not modelled: hardware's own
//! idea of what undefined messages do (one interleaved register, PRM 8.4.3.2.2).

use eu::{Grf, Message};

use super::context::{Events, MessageHandle, UrbEvent};
use crate::status::Unit;
use crate::urb::{Urb, UrbHandle};

/// Rows that a six-bit offset and a fifteen-register payload can reach in one entry.
const OFFSET: u16 = 0x3f;

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
}

impl Reject {
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
        }
    }
}

/// The descriptor's function control.
#[derive(Clone, Copy, Debug)]
struct Control(u16);

impl Control {
    const fn opcode(self) -> u16 {
        self.0 & 0xf
    }
    const fn offset(self) -> u16 {
        self.0 >> 4 & OFFSET
    }
    const fn swizzle(self) -> u16 {
        self.0 >> 10 & 3
    }
    const fn allocate(self) -> bool {
        self.0 & 1 << 13 != 0
    }
    const fn used(self) -> bool {
        self.0 & 1 << 14 != 0
    }
    const fn complete(self) -> bool {
        self.0 & 1 << 15 != 0
    }
}

/// Serves one message of a 3D thread, whose handles are row numbers.
pub fn execute(
    msg: &Message<'_>,
    response: &mut [Grf],
    urb: &mut Urb,
    events: &mut Events,
) -> Result<Outcome, Reject> {
    execute_in(1, msg, response, urb, events)
}

/// Rows of the unit that handles of media threads count: 512 bits. Kernels of such threads compute
/// handles of their own (intel-vaapi-driver `AVC_ILDB_SpawnChild.asm`).
pub const MEDIA_HANDLE_ROWS: u16 = 2;

/// Serves one message whose handles count units of so many rows.
pub fn execute_in(
    unit: u16,
    msg: &Message<'_>,
    response: &mut [Grf],
    urb: &mut Urb,
    events: &mut Events,
) -> Result<Outcome, Reject> {
    let control = Control(msg.function_control);
    if control.opcode() != 0 {
        return Err(Reject::Opcode);
    }
    let Some((header, data)) = msg.payload.split_first() else {
        return Err(Reject::Length);
    };
    if control.allocate() && msg.eot {
        return Err(Reject::AllocateAtEot);
    }
    // PRM 8.4: threads of VS, GS, clipper and SF may end here, those of the windower and VFE not.
    let others = [Unit::Wiz, Unit::Media];
    if msg.eot && others.iter().any(|unit| unit.ffid() == msg.thread.ffid) {
        return Err(Reject::Eot);
    }
    // PRM 8.4.2: GS and clipper may give entries back, the others have no output too many.
    let all_used = [Unit::Vs, Unit::Sf, Unit::Wiz, Unit::Media];
    if control.complete()
        && !control.used()
        && all_used.iter().any(|unit| unit.ffid() == msg.thread.ffid)
    {
        return Err(Reject::Unused);
    }
    let [entry0, entry1] =
        [header[0], header[1]].map(|handle| UrbHandle((handle as u16).saturating_mul(unit)));
    let offset = control.offset();
    // Check everything before the first effect, so that a refused message has none.
    let rows = match control.swizzle() {
        2 if !offset.is_multiple_of(2) => return Err(Reject::Alignment),
        0 => data.len(),
        1 => data.len().div_ceil(2),
        2 if data.len() % 3 == 0 => data.len() / 3 * 4,
        2 => return Err(Reject::Length),
        _ => return Err(Reject::Swizzle),
    };
    if let Some(last) = rows.checked_sub(1) {
        let last = offset + last as u16;
        // A half without enabled channels writes nothing: its handle may be anything.
        let (low, high) = match control.swizzle() {
            1 => (msg.exec_mask & 0x0f != 0, msg.exec_mask & 0xf0 != 0),
            _ => (true, false),
        };
        let fits =
            (!low || urb.row(entry0, last).is_some()) && (!high || urb.row(entry1, last).is_some());
        if !fits {
            return Err(Reject::Range);
        }
    }
    let allocated = match control.allocate() {
        true if events.free.is_empty() => return Ok(Outcome::Busy),
        true => events.free.pop(),
        false => None,
    };
    match control.swizzle() {
        0 => no_swizzle(urb, entry0, offset, data),
        1 => interleaved(urb, [entry0, entry1], offset, data, msg.exec_mask),
        _ => transpose(urb, entry0, offset, data),
    }
    if let (Some(handle), Some(w)) = (allocated, response.first_mut()) {
        *w = [handle.dword(), 0, 0, 0, 0, 0, 0, 0];
    }
    let complete = control.complete();
    // Primitive fields only mean something with Complete (PRM 8.4.2).
    let prim = if complete { header[2] } else { 0 };
    events.urb.push(UrbEvent {
        entry: MessageHandle::from_dword(header[0]),
        second: (control.swizzle() == 1).then(|| MessageHandle::from_dword(header[1])),
        fftid: header[5] as u8,
        complete,
        used: complete && control.used(),
        allocated,
        prim_type: (prim >> 2 & 0x1f) as u8,
        prim_start: prim & 2 != 0,
        prim_end: prim & 1 != 0,
        eot: msg.eot,
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
