//! URB messages that name a place in each of two entries, and may read.
//!
//! Mesa 22.3.6: brw_eu_defines.h (`BRW_URB_OPCODE_*`), brw_vec4_generator.cpp (`generate_gs_set_write_offset`: offsets of the entries
//! in M0.3 and M0.4, counted as the offset of the descriptor is; `generate_gs_set_channel_masks`: masks of channels in M0.5, bits
//! 15:8, which act together with the channel enables; `generate_vec4_urb_read`; `generate_gs_set_vertex_count`: numbers of vertices in
//! M0.2 of the last message of a geometry shader). Handles are row numbers.
//! Atomic operations have a dword as their unit. That the value of a move stands behind the header is an assumption: no source
//! at hand says where.

use eu::{Grf, Message};

use super::{MessageHandle, Reject, UrbEvent};
use crate::intel::shared::context::Events;
use crate::intel::status::Unit;
use crate::intel::urb::{Urb, UrbHandle};

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryOp {
    /// `URB_WRITE_HWORD`, `URB_WRITE_OWORD`.
    Write(Step),
    /// `URB_READ_HWORD`, `URB_READ_OWORD`.
    Read(Step),
    /// `URB_ATOMIC_MOV`.
    Move,
    /// `URB_ATOMIC_INC`.
    Increment,
}

/// What offsets count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// 256 bits.
    Row,
    /// 128 bits.
    Half,
}

/// What a message asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryRequest {
    /// Operation; `None`: reserved code.
    pub op: Option<EntryOp>,
    /// First place in the entries.
    pub offset: u16,
    /// Low halves of the registers are for the first entry, high halves for the second; otherwise all is for the first.
    pub interleaved: bool,
    /// The header has an offset of its own for each entry.
    pub per_slot: bool,
    /// The sender is done with the entries.
    pub complete: bool,
}

/// Places in the two entries, in units of 128 bits; `None`: nothing is done there.
struct Places {
    entries: [UrbHandle; 2],
    first: [Option<u64>; 2],
    /// Dwords that are written or read, a bit each: those of the first entry are bits 3:0 where halves go to different entries.
    mask: u8,
}

impl Places {
    fn of(request: EntryRequest, step: Step, header: &Grf, msg: &Message<'_>) -> Self {
        // CAST: the eight channels of the message, and their eight bits in the header.
        let mask = msg.exec_mask as u8 & (header[5] >> 8) as u8;
        let scale = match step {
            Step::Row => 2,
            Step::Half => 1,
        };
        let place = |slot: usize| {
            let own = if request.per_slot {
                header[3 + slot]
            } else {
                0
            };
            // The sum wraps: compilers send negative offsets of entries that a greater one of the descriptor makes good.
            u64::from(u32::from(request.offset).wrapping_add(own)) * scale
        };
        let lit = if request.interleaved {
            [mask & 0x0f != 0, mask & 0xf0 != 0]
        } else {
            [mask != 0, false]
        };
        Places {
            // CAST: a handle has sixteen bits.
            entries: [header[0], header[1]].map(|handle| UrbHandle(handle as u16)),
            first: [0, 1].map(|slot| lit[slot].then(|| place(slot))),
            mask,
        }
    }

    /// Whether so many places from the first on lie in the URB.
    fn fit(&self, count: usize, urb: &Urb) -> bool {
        let Some(more) = count.checked_sub(1) else {
            return true;
        };
        let mut both = self.first.iter().zip(self.entries);
        both.all(|(first, entry)| {
            first.is_none_or(|first| {
                row(first + more as u64).is_some_and(|at| urb.row(entry, at).is_some())
            })
        })
    }

    /// The place of so many units of 128 bits behind the first of an entry, and its dwords' mask.
    fn at(&self, slot: usize, n: usize) -> Option<(UrbHandle, u64)> {
        // PANIC: one of two.
        Some((self.entries[slot], self.first[slot]? + n as u64))
    }
}

/// The row of a place.
fn row(place: u64) -> Option<u16> {
    u16::try_from(place / 2).ok()
}

/// Four dwords of an entry.
fn quad(urb: &Urb, (entry, place): (UrbHandle, u64)) -> Option<&[u32]> {
    // CAST: a remainder.
    let half = (place % 2) as usize * 4;
    urb.row(entry, row(place)?)?.get(half..half + 4)
}

fn quad_mut(urb: &mut Urb, (entry, place): (UrbHandle, u64)) -> Option<&mut [u32]> {
    // CAST: a remainder.
    let half = (place % 2) as usize * 4;
    urb.row_mut(entry, row(place)?)?.get_mut(half..half + 4)
}

/// Copies the dwords that a mask of four bits has.
fn copy(to: &mut [u32], from: &[u32], mask: u8) {
    if mask & 15 == 15 && to.len() == from.len() {
        to.copy_from_slice(from);
        return;
    }
    for (n, (to, from)) in to.iter_mut().zip(from).enumerate() {
        if mask >> n & 1 == 1 {
            *to = *from;
        }
    }
}

/// Serves one message.
pub fn execute(
    request: EntryRequest,
    msg: &Message<'_>,
    response: &mut [Grf],
    urb: &mut Urb,
    events: &mut Events,
) -> Result<(), Reject> {
    let op = request.op.ok_or(Reject::Opcode)?;
    let Some((header, data)) = msg.payload.split_first() else {
        return Err(Reject::Length);
    };
    let others = [Unit::Wiz, Unit::Media];
    if msg.eot && others.iter().any(|unit| unit.ffid() == msg.thread.ffid) {
        return Err(Reject::Eot);
    }
    match op {
        EntryOp::Write(step) => {
            let places = Places::of(request, step, header, msg);
            let count = extent(request, step, data.len());
            if !places.fit(count, urb) {
                return Err(Reject::Range);
            }
            write(request, step, &places, data, urb);
        }
        EntryOp::Read(step) => {
            let places = Places::of(request, step, header, msg);
            // An entry's own offset may come from a shader's index, and compilers read both sides of a choice before they choose
            // (Mesa 22.3.6, nir_opt_peephole_select): the side that is not taken has any number.
            let count = extent(request, step, response.len());
            if !request.per_slot && !places.fit(count, urb) {
                return Err(Reject::Range);
            }
            read(request, step, &places, response, urb);
        }
        EntryOp::Move | EntryOp::Increment => atomic(request, op, (header, data), response, urb)?,
    }
    if msg.eot {
        // Geometry shaders say here how many vertices they have written.
        let [low, high] = [header[2] as u16, (header[2] >> 16) as u16];
        events.urb.push(UrbEvent {
            entry: MessageHandle::from_dword(header[0]),
            second: (request.interleaved).then(|| MessageHandle::from_dword(header[1])),
            // CAST: bits 7:0.
            fftid: header[5] as u8,
            complete: request.complete,
            used: request.complete,
            eot: true,
            counts: [low, high],
            ..UrbEvent::default()
        });
    }
    Ok(())
}

/// Units of 128 bits of an entry that so many registers are for.
fn extent(request: EntryRequest, step: Step, registers: usize) -> usize {
    match step {
        Step::Row if !request.interleaved => registers * 2,
        _ => registers,
    }
}

fn write(request: EntryRequest, step: Step, places: &Places, data: &[Grf], urb: &mut Urb) {
    let mask = places.mask;
    for (n, register) in data.iter().enumerate() {
        let (low, high) = register.split_at(4);
        // Where each half of the register goes.
        let targets = match (request.interleaved, step) {
            (true, _) => [places.at(0, n), places.at(1, n)],
            (false, Step::Row) => [places.at(0, 2 * n), places.at(0, 2 * n + 1)],
            (false, Step::Half) => [places.at(0, n), None],
        };
        for ((target, from), mask) in targets.into_iter().zip([low, high]).zip([mask, mask >> 4]) {
            if let Some(to) = target.and_then(|at| quad_mut(urb, at)) {
                copy(to, from, mask);
            }
        }
    }
}

/// Reads; what lies past the end of the URB is zero.
fn read(request: EntryRequest, step: Step, places: &Places, response: &mut [Grf], urb: &Urb) {
    let mask = places.mask;
    for (n, register) in response.iter_mut().enumerate() {
        let (low, high) = register.split_at_mut(4);
        let sources = match (request.interleaved, step) {
            (true, _) => [places.at(0, n), places.at(1, n)],
            (false, Step::Row) => [places.at(0, 2 * n), places.at(0, 2 * n + 1)],
            (false, Step::Half) => [places.at(0, n), None],
        };
        for ((source, to), mask) in sources.into_iter().zip([low, high]).zip([mask, mask >> 4]) {
            if let Some(at) = source {
                copy(to, quad(urb, at).unwrap_or(&[0; 4]), mask);
            }
        }
    }
}

/// Changes one dword, and answers what it was.
fn atomic(
    request: EntryRequest,
    op: EntryOp,
    (header, data): (&Grf, &[Grf]),
    response: &mut [Grf],
    urb: &mut Urb,
) -> Result<(), Reject> {
    let own = if request.per_slot { header[3] } else { 0 };
    let place = u32::from(request.offset).wrapping_add(own);
    // CAST: a handle has sixteen bits.
    let entry = UrbHandle(header[0] as u16);
    let row = u16::try_from(place / 8).map_err(|_| Reject::Range)?;
    // CAST: a remainder.
    let dword = urb
        .row_mut(entry, row)
        .and_then(|row| row.get_mut((place % 8) as usize))
        .ok_or(Reject::Range)?;
    let before = *dword;
    *dword = match op {
        EntryOp::Move => data.first().ok_or(Reject::Length)?[0],
        _ => before.wrapping_add(1),
    };
    if let Some(register) = response.first_mut() {
        register[0] = before;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
