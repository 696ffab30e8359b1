//! Destination dependencies that nothing clears: dropped messages, open `NoDDClr`.
//!
//! PRM: volume 4, 2.6.11, 11.8, 13.2.2 (dependency control). Every other result is there before
//! the next instruction looks, so that only these can be waited for. Not modelled: MRF, the address
//! register and registers that are addressed indirectly.

use crate::decoded::{Decoded, DstKind, More, Slot, SrcKind, Table};
use crate::grf::{BYTES, DWORDS, GRF_COUNT};
use crate::thread::Thread;
use isa::Opcode;

/// General registers, one bit each.
pub(crate) type Registers = u128;

/// The registers that an instruction names directly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Footprint {
    read: Registers,
    pub(crate) written: Registers,
}

fn register(nr: usize) -> Registers {
    if nr < GRF_COUNT { 1 << nr } else { 0 }
}

fn run(dword: u16, lanes: usize) -> Registers {
    let first = usize::from(dword);
    let last = first + lanes.max(1) - 1;
    (first / DWORDS..=last / DWORDS).fold(0, |out, nr| out | register(nr))
}

fn table(t: &Table, lanes: usize) -> Registers {
    let lanes = t.iter().take(lanes);
    lanes.fold(0, |out, byte| out | register(usize::from(*byte) / BYTES))
}

fn source(kind: &SrcKind, lanes: usize) -> Registers {
    match kind {
        SrcKind::Vec(off) => run(*off, lanes),
        SrcKind::Scalar(off) => run(*off, 1),
        SrcKind::Table(t) => table(t, lanes),
        SrcKind::Null
        | SrcKind::Imm(_)
        | SrcKind::Arf(..)
        | SrcKind::Acc(_)
        | SrcKind::Indirect(_) => 0,
    }
}

fn is_message(op: Opcode) -> bool {
    matches!(op, Opcode::Send | Opcode::Sendc)
}

/// The payload of a message, where it is in general registers.
fn payload(d: &Decoded) -> Registers {
    let op = &d.send;
    let first = usize::from(op.payload);
    let length = op
        .desc
        .map_or(1, |desc| (desc >> (op.length_at & 31) & 0xf) as usize);
    (first..first + length).fold(0, |out, nr| out | register(nr))
}

/// The footprint of a lowered instruction.
pub(crate) fn footprint(d: &Decoded) -> Footprint {
    let lanes = usize::from(d.exec);
    let mut read = d.src.iter().fold(0, |out, s| out | source(&s.kind, lanes));
    if let More::Third(third) = &d.more {
        let channels = lanes * usize::from(d.dst.num.size()).div_ceil(4);
        read |= run(third.first, if third.scalar { 1 } else { channels });
    }
    let message = is_message(d.op);
    let written = if message {
        read = d.send.implied.map_or(0, |i| run(i.base, 1)) | payload(d);
        d.send.dst.map_or(0, |nr| register(usize::from(nr)))
    } else {
        match &d.dst.kind {
            DstKind::Vec(off) => run(*off, lanes),
            DstKind::Table(t) => table(t, lanes),
            DstKind::Null | DstKind::Arf(..) | DstKind::Acc(..) | DstKind::Indirect(_) => 0,
        }
    };
    Footprint { read, written }
}

/// What an instruction is to registers that wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Check {
    /// Registers that it looks at before it is issued.
    waited: Registers,
    /// Those that it takes and does not give back, and those that are free behind it.
    kept: Registers,
    freed: Registers,
}

impl Check {
    pub(crate) fn of(slot: &Slot) -> Check {
        let f = &slot.footprint;
        // A send does not look at its destination (11.8, 965 and GM965).
        let own = slot.inst.filter(|_| !is_message(slot.hot.op));
        // The destination must be free before the instruction is issued.
        let checks = own.is_some_and(|inst| !inst.no_dd_chk);
        // It stays taken behind it.
        let keeps = own.is_some_and(|inst| inst.no_dd_clr);
        let kept = if keeps { f.written } else { 0 };
        let frees = !keeps && !is_message(slot.hot.op);
        Check {
            waited: if checks { f.read | f.written } else { f.read },
            kept,
            freed: if frees { f.written } else { 0 },
        }
    }

    /// The registers that wait behind the instruction; `None` when it would wait for one of these for ever.
    pub(crate) fn behind(self, stale: Registers) -> Option<Registers> {
        let free = self.waited & stale == 0;
        free.then_some((stale | self.kept) & !self.freed)
    }
}

/// Issues an instruction when a register may be taken; `Err` when it would wait for ever.
#[cold]
pub(crate) fn issue(t: &mut Thread, slot: &Slot) -> Result<(), &'static str> {
    match Check::of(slot).behind(t.stale) {
        Some(stale) => {
            t.set_stale(stale);
            Ok(())
        }
        None => Err(
            "PRM 2.6.11, 11.8: a register waits for a message that was dropped, or for \
                    an instruction without NoDDClr",
        ),
    }
}

#[cfg(test)]
mod tests;
