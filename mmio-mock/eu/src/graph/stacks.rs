//! Branches of masks that have stacks, as operations on masks.
//!
//! How many entries the stacks have is known at each instruction of a kernel whose branches are in order, so that each entry is a mask
//! that is kept. What each branch does is in `flow`.

use super::{Act, Chooser, KEPT, Mask};
use crate::decoded::Decoded;
use isa::Opcode;

/// Entries on the stacks: of ifs, and of loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Depths {
    pub(super) ifs: u8,
    pub(super) loops: u8,
}

const ACTIVE: Mask = Mask::Kept(0);
const IFS: Mask = Mask::Kept(1);
const LOOP: Mask = Mask::Kept(2);
const CONTINUE: Mask = Mask::Kept(3);
/// Masks that are there whatever the stacks hold.
const FIRST: u8 = 4;
/// Entries of each stack at most: three masks are kept for both.
const DEEPEST: u8 = 14;
const _: () = assert!(FIRST as usize + 3 * DEEPEST as usize <= KEPT);

const ON: Mask = Mask::Temporary(0);
const X: Mask = Mask::Temporary(1);

/// All channels of a mask register.
const ALL: u32 = 0xffff;

/// The masks of a thread that begins with these channels.
pub(super) fn begin(kept: &mut [u32; KEPT], dispatch_mask: u32) {
    kept[0] = dispatch_mask & ALL;
    kept[1..usize::from(FIRST)].fill(ALL);
}

/// What a branch does: the depths behind it and at the place that it jumps to, and the block that follows.
pub(super) struct Flow {
    pub(super) acts: Vec<Act>,
    pub(super) to: u16,
    pub(super) behind: Option<Depths>,
    pub(super) jump: Option<Depths>,
    /// What the spare blocks do, and what follows them.
    pub(super) spares: Vec<(Vec<Act>, u16)>,
}

impl Depths {
    fn top_if(self) -> Option<Mask> {
        Some(Mask::Kept(FIRST + self.ifs.checked_sub(1)?))
    }

    fn top_loop(self) -> Option<[Mask; 2]> {
        let at = FIRST + DEEPEST + 2 * self.loops.checked_sub(1)?;
        Some([Mask::Kept(at), Mask::Kept(at + 1)])
    }

    fn push_if(&mut self, acts: &mut Vec<Act>) -> Option<()> {
        self.ifs = Some(self.ifs + 1).filter(|ifs| *ifs <= DEEPEST)?;
        acts.push(Act::Copy(self.top_if()?, IFS));
        Some(())
    }

    fn push_loop(&mut self, acts: &mut Vec<Act>) -> Option<()> {
        self.loops = Some(self.loops + 1).filter(|loops| *loops <= DEEPEST)?;
        let [stays, goes_on] = self.top_loop()?;
        acts.push(Act::Copy(stays, LOOP));
        acts.push(Act::Copy(goes_on, CONTINUE));
        Some(())
    }

    /// Pops as the instruction counts.
    fn pop_ifs(&mut self, count: i32, acts: &mut Vec<Act>) -> Option<()> {
        for _ in 0..count.clamp(0, 15) {
            acts.push(Act::Copy(IFS, self.top_if()?));
            self.ifs -= 1;
        }
        Some(())
    }

    fn pop_loop(&mut self, acts: &mut Vec<Act>) -> Option<()> {
        let [stays, goes_on] = self.top_loop()?;
        acts.push(Act::Copy(LOOP, stays));
        acts.push(Act::Copy(CONTINUE, goes_on));
        self.loops -= 1;
        Some(())
    }
}

/// Those that execute, from the four masks.
fn enable(acts: &mut Vec<Act>) {
    acts.push(Act::And(Mask::Enabled, ACTIVE, IFS));
    acts.push(Act::And(Mask::Enabled, Mask::Enabled, LOOP));
    acts.push(Act::And(Mask::Enabled, Mask::Enabled, CONTINUE));
}

/// A branch with the blocks behind it, at its jump and for its own use; `None` for one that is left to the interpreter.
pub(super) fn flow(d: &Decoded, at: Depths, [behind, jump, spare]: [u16; 3]) -> Option<Flow> {
    let known = d.weight <= 2 && d.shift <= 8 && !(d.no_mask && d.no_cmask);
    if !known {
        return None;
    }
    let channels = u32::from(d.lanes) << d.shift & ALL;
    let mut acts = Vec::new();
    // The channels of the instruction that execute and are chosen.
    let enabled = |acts: &mut Vec<Act>| -> Option<()> {
        acts.push(Act::Choose(ON, Chooser::of(d)?));
        acts.push(Act::Limit(ON, ON, channels));
        if !d.no_mask {
            acts.push(Act::And(ON, ON, Mask::Enabled));
        }
        Some(())
    };
    let (mut after, mut landed) = (at, at);
    let (mut last, mut slow) = (Vec::new(), None);
    let mut to = behind;
    match d.op {
        Opcode::If | Opcode::Iff => {
            enabled(&mut acts)?;
            if d.op == Opcode::Iff {
                acts.push(Act::Empty(ON, jump));
            }
            after.push_if(&mut acts)?;
            acts.push(Act::Limit(IFS, IFS, !channels));
            acts.push(Act::Or(IFS, IFS, ON));
            enable(&mut acts);
            if d.op == Opcode::If {
                landed = after;
                acts.push(Act::Empty(ON, jump));
            }
            return Some(plain(acts, to, after, landed));
        }
        Opcode::Else => {
            acts.push(Act::Without(X, at.top_if()?, IFS));
            acts.push(Act::Limit(X, X, channels));
            acts.push(Act::Limit(IFS, IFS, !channels));
            acts.push(Act::Or(IFS, IFS, X));
            enable(&mut acts);
            acts.push(Act::Limit(X, Mask::Enabled, channels));
            landed.pop_ifs(d.pop, &mut last)?;
        }
        Opcode::Endif => {
            after.pop_ifs(d.pop, &mut acts)?;
            enable(&mut acts);
            return Some(Flow {
                acts,
                to,
                behind: Some(after),
                jump: None,
                spares: Vec::new(),
            });
        }
        Opcode::Do => {
            after.push_loop(&mut acts)?;
            acts.push(Act::Copy(LOOP, Mask::Enabled));
            acts.push(Act::Copy(CONTINUE, Mask::Enabled));
            enable(&mut acts);
            return Some(Flow {
                acts,
                to,
                behind: Some(after),
                jump: None,
                spares: Vec::new(),
            });
        }
        Opcode::While => {
            acts.push(Act::Choose(ON, Chooser::of(d)?));
            acts.push(Act::Set(X, channels));
            acts.push(Act::Without(X, X, ON));
            acts.push(Act::Without(LOOP, LOOP, X));
            acts.push(Act::Copy(CONTINUE, LOOP));
            enable(&mut acts);
            acts.push(Act::Limit(X, Mask::Enabled, channels));
            acts.push(Act::Empty(X, spare));
            after.pop_loop(&mut last)?;
            enable(&mut last);
            to = jump;
            return Some(Flow {
                acts,
                to,
                behind: Some(after),
                jump: Some(landed),
                spares: vec![(last, behind)],
            });
        }
        Opcode::Break | Opcode::Cont => {
            enabled(&mut acts)?;
            let breaks = d.op == Opcode::Break;
            let left = |acts: &mut Vec<Act>| {
                acts.push(Act::Limit(X, LOOP, channels));
                acts.push(Act::And(X, X, ACTIVE));
                if !breaks {
                    acts.push(Act::And(X, X, CONTINUE));
                }
            };
            if !d.no_mask {
                // When channels execute and none of them leaves, no mask changes. When no channel executes, the masks tell which channels are left.
                let mut looks = Vec::new();
                left(&mut looks);
                looks.push(Act::Empty(X, spare));
                slow = Some(looks);
                acts.push(Act::Limit(X, Mask::Enabled, channels));
                acts.push(Act::Empty(X, spare + 1));
                acts.push(Act::Empty(ON, behind));
            }
            let mask = if breaks { LOOP } else { CONTINUE };
            acts.push(Act::Without(mask, mask, ON));
            left(&mut acts);
            landed.pop_ifs(d.pop, &mut last)?;
            if breaks {
                landed.pop_loop(&mut last)?;
            }
            enable(&mut acts);
        }
        Opcode::Halt => {
            enabled(&mut acts)?;
            acts.push(Act::Without(ACTIVE, ACTIVE, ON));
            enable(&mut acts);
            acts.push(Act::Limit(X, ACTIVE, channels));
            if d.jump == 0 {
                return Some(Flow {
                    acts,
                    to,
                    behind: Some(after),
                    jump: None,
                    spares: Vec::new(),
                });
            }
            landed.pop_ifs(d.pop, &mut last)?;
        }
        _ => return None,
    }
    acts.push(Act::Empty(X, spare));
    enable(&mut last);
    let mut spares = vec![(last, jump)];
    spares.extend(slow.map(|slow| (slow, behind)));
    Some(Flow {
        acts,
        to,
        behind: Some(after),
        jump: Some(landed),
        spares,
    })
}

/// A branch that does nothing more before it jumps.
fn plain(acts: Vec<Act>, to: u16, behind: Depths, jump: Depths) -> Flow {
    Flow {
        acts,
        to,
        behind: Some(behind),
        jump: Some(jump),
        spares: Vec::new(),
    }
}
