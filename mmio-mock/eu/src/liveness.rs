//! Which implicit accumulator updates nobody can see.
//!
//! PRM: volume 4, 11.3.4.5 (implicit accumulator). Nearly every arithmetic instruction updates the
//! accumulator and nearly none reads it. An update is dead when straight-line code overwrites all
//! of it unread. Not looked at: anything past a jump or the end of a page.

use crate::decoded::{Decoded, DstKind, Slot, SrcKind};
use isa::Opcode;

/// Instructions looked at behind an update.
const REACH: usize = 12;

/// What an instruction is to an earlier accumulator update.
enum Role {
    /// It replaces these lanes, one bit each, whatever its masks.
    Replaces(u32),
    /// It neither reads nor replaces the accumulator, and the next instruction follows it.
    Passes,
    /// It may read the accumulator, or something else may follow.
    Reads,
}

fn explicit(d: &Decoded) -> bool {
    let source = |k: &SrcKind| matches!(k, SrcKind::Acc(_) | SrcKind::Arf(..));
    d.src.iter().any(|s| source(&s.kind))
        || matches!(d.dst.kind, DstKind::Acc(..) | DstKind::Arf(..))
}

fn lanes(d: &Decoded) -> u32 {
    (0..d.exec.min(16)).fold(0, |out, channel| out | 1 << (d.acc_at(channel) & 31))
}

fn role(d: &Decoded) -> Role {
    use Opcode::{
        Add, And, Asr, Avg, Cmp, Cmpn, Dp2, Dp3, Dp4, Dph, Frc, Line, Lrp, Mad, Math, Mov, Mul,
        Not, Or, Pln, Rndd, Rndu, Sel, Send, Sendc, Shl, Shr, Xor,
    };
    if d.empty || d.breakpoint || explicit(d) {
        return Role::Reads;
    }
    match d.op {
        // A group's kind changes with it, so that only whole groups replace everything.
        Add | Mul | Avg | Frc | Rndu | Rndd | Dp4 | Dph | Dp3 | Dp2 | Line | Pln
            if d.exec >= 8 && d.acc_write =>
        {
            Role::Replaces(lanes(d))
        }
        // The next thread of the slot begins with an accumulator of zeros.
        Send | Sendc if d.send.eot => Role::Replaces(u32::MAX),
        Mov | Sel | Cmp | Cmpn | Not | And | Or | Xor | Shl | Shr | Asr | Send | Mad | Lrp
        | Math | Line | Pln => Role::Passes,
        _ => Role::Reads,
    }
}

fn dead(d: &Decoded, behind: &[Slot], place: u8) -> bool {
    let written = lanes(d);
    // From the slot behind this one to that of the next instruction.
    let slots = |d: &Decoded| (usize::from(d.bytes) >> place).saturating_sub(1);
    let mut at = slots(d);
    for _ in 0..REACH {
        let Some(slot) = behind.get(at) else {
            return false;
        };
        at += 1 + slots(&slot.hot);
        match role(&slot.hot) {
            Role::Replaces(all) if written & !all == 0 => return true,
            Role::Passes => {}
            Role::Replaces(..) | Role::Reads => return false,
        }
    }
    false
}

/// Looks again at the updates that a newly filled slot may have made dead.
pub(crate) fn refresh(slots: &mut [Slot], filled: usize, place: u8) {
    let reach = REACH * (16 >> place);
    for at in filled.saturating_sub(reach)..=filled {
        let Some((slot, behind)) = slots.get_mut(at..).and_then(<[Slot]>::split_first_mut) else {
            return;
        };
        let d = &mut slot.hot;
        // Behind a write of IP or of CR0 another instruction may follow, or the same one under other rules.
        let goes_on = !matches!(d.dst.kind, DstKind::Arf(..));
        d.acc_dead = !d.empty && d.acc_write && goes_on && dead(d, behind, place);
    }
}
