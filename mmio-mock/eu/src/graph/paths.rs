//! Branches of channels that have instruction pointers, as operations on masks.
//!
//! Channels that wait at a place are a mask that is kept. What each branch does is in `flow::paths`.

use super::{Act, Chooser, Mask};
use crate::decoded::Decoded;
use isa::Opcode;
use isa::inst::CondMod;

/// A place in a kernel: its block, and the mask of channels that wait there, if any can.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) block: u16,
    pub(super) kept: Option<u8>,
}

/// Where a branch can lead to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Points {
    pub(super) behind: Point,
    pub(super) jump: Point,
    /// Where channels wait that break off.
    pub(super) other: Point,
    /// A block that is free for the branch.
    pub(super) spare: u16,
}

/// What a branch does, the block that follows at last, and what the spare block does.
pub(super) struct Flow {
    pub(super) acts: Vec<Act>,
    pub(super) to: u16,
    pub(super) spare: Option<(Vec<Act>, u16)>,
}

const ON: Mask = Mask::Temporary(0);
const GOES: Mask = Mask::Temporary(1);
const STAYS: Mask = Mask::Temporary(2);
const X: Mask = Mask::Temporary(3);

/// Which of the places that a branch names channels can wait at: behind it, where it jumps, the other one.
pub(super) fn waits(op: Opcode) -> [bool; 3] {
    match op {
        Opcode::If | Opcode::Else => [false, true, false],
        Opcode::While => [true, false, false],
        Opcode::Break | Opcode::Cont | Opcode::Halt => [false, false, true],
        _ => [false; 3],
    }
}

/// Channels come to wait at a place.
fn park(acts: &mut Vec<Act>, channels: Mask, at: Point) -> Option<()> {
    let place = Mask::Kept(at.kept?);
    acts.push(Act::Or(place, place, channels));
    acts.push(Act::Without(Mask::Enabled, Mask::Enabled, channels));
    Some(())
}

/// The channels of a mask, and those of the instruction that wait at a place: in [`X`].
fn with_waiting(acts: &mut Vec<Act>, channels: Option<Mask>, at: Point, own: u32) {
    match (channels, at.kept) {
        (Some(channels), Some(kept)) => {
            acts.push(Act::Limit(X, Mask::Kept(kept), own));
            acts.push(Act::Or(X, X, channels));
        }
        (None, Some(kept)) => acts.push(Act::Limit(X, Mask::Kept(kept), own)),
        (Some(channels), None) => acts.push(Act::Copy(X, channels)),
        (None, None) => acts.push(Act::Set(X, 0)),
    }
}

/// A branch; `None` for one that is left to the interpreter.
pub(super) fn flow(d: &Decoded, points: &Points) -> Option<Flow> {
    let known = d.weight <= 2 && d.shift <= 8 && d.compare == CondMod::None;
    if !known {
        return None;
    }
    let own = u32::from(d.lanes) << d.shift;
    let (behind, jump, other) = (points.behind, points.jump, points.other);
    let mut acts = vec![Act::Limit(ON, Mask::Enabled, own)];
    let choose = |acts: &mut Vec<Act>| -> Option<()> {
        acts.push(Act::Choose(GOES, Chooser::of(d)?));
        acts.push(Act::And(GOES, GOES, ON));
        acts.push(Act::Without(STAYS, ON, GOES));
        Some(())
    };
    let mut spare = None;
    match d.op {
        Opcode::If => {
            choose(&mut acts)?;
            with_waiting(&mut acts, Some(GOES), behind, own);
            acts.push(Act::Empty(X, jump.block));
            acts.push(Act::Empty(STAYS, behind.block));
            park(&mut acts, STAYS, jump)?;
        }
        Opcode::Else => {
            with_waiting(&mut acts, None, behind, own);
            acts.push(Act::Empty(X, jump.block));
            park(&mut acts, ON, jump)?;
        }
        Opcode::Endif => {
            with_waiting(&mut acts, None, behind, own);
            acts.push(Act::Or(X, X, ON));
            acts.push(Act::Empty(X, jump.block));
        }
        Opcode::While => {
            choose(&mut acts)?;
            acts.push(Act::Empty(GOES, behind.block));
            acts.push(Act::Empty(STAYS, jump.block));
            park(&mut acts, STAYS, behind)?;
            return Some(Flow {
                acts,
                to: jump.block,
                spare,
            });
        }
        Opcode::Break | Opcode::Cont | Opcode::Halt => {
            choose(&mut acts)?;
            with_waiting(&mut acts, Some(STAYS), behind, own);
            if jump.block == other.block {
                // Those that wait where the thread goes go with it.
                acts.push(Act::Empty(X, jump.block));
            } else {
                acts.push(Act::Empty(X, points.spare));
                // All that execute go.
                let mut last = vec![Act::Limit(GOES, Mask::Enabled, own)];
                park(&mut last, GOES, other)?;
                spare = Some((last, jump.block));
            }
            acts.push(Act::Empty(GOES, behind.block));
            park(&mut acts, GOES, other)?;
        }
        _ => return None,
    }
    Some(Flow {
        acts,
        to: behind.block,
        spare,
    })
}
