//! msave, mrest, push and pop: masks to registers and back, mask stacks.
//!
//! PRM: volume 4, 14.2.26, 14.2.27, 14.2.32, 14.2.33, of which only the titles are public. What
//! each does here is the plainest reading of those and of 11.3.4.7 to 11.3.4.9.

use super::{StackError, done};
use crate::decoded::{Decoded, DstKind, Next, SrcKind};
use crate::mask::STACK_DEPTH;
use crate::thread::Thread;

/// The two stacks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stack {
    If,
    Loop,
}

/// The stack behind byte `offset` of architecture register `nr`: IMask and ms0 name that of `if`,
/// LMask, CMask and the others that of loops. The active mask has none.
fn behind(nr: u8, offset: u16) -> Option<Stack> {
    match (nr >> 4, nr & 0xf, offset / 2) {
        (4, 0, 1) | (5, 0, _) => Some(Stack::If),
        (4, 0, 2 | 3) | (5, 1 | 2, _) => Some(Stack::Loop),
        _ => None,
    }
}

fn named(d: &Decoded) -> Option<Stack> {
    if let DstKind::Arf(nr, table) = &d.dst.kind {
        return behind(*nr, table[0]);
    }
    match &d.src[0].kind {
        SrcKind::Arf(nr, table) => behind(*nr, table[0]),
        _ => None,
    }
}

/// A move of mask words to or from a register, whatever the masks are: no channel takes part in it.
pub(crate) fn copy(t: &mut Thread, d: &Decoded) -> Next {
    let mask = t.predicate(d) & d.lanes;
    let words = t.load_raw::<16>(&d.src[0]);
    t.store_raw(&d.dst, mask, &words);
    t.update_emask();
    if t.jumped { Next::Jump } else { Next::Seq }
}

/// Pushes a mask and gives it the value of source 0, if there is one.
pub(crate) fn push(t: &mut Thread, d: &Decoded) -> Next {
    if t.predicate(d) & 1 == 0 {
        return Next::Seq;
    }
    let Some(stack) = named(d) else {
        return Next::Illegal;
    };
    let result = match stack {
        Stack::If => t.masks.push_if(),
        Stack::Loop => t.masks.push_loop(),
    };
    let is_mask = matches!(&d.dst.kind, DstKind::Arf(nr, _) if nr >> 4 == 4);
    if is_mask && !matches!(d.src[0].kind, SrcKind::Null) {
        let word = t.load_raw::<1>(&d.src[0]);
        t.store_raw(&d.dst, 1, &word);
    }
    done(t, Next::Seq, result)
}

/// Pops as often as source 1 says, once if it says nothing.
pub(crate) fn pop(t: &mut Thread, d: &Decoded) -> Next {
    if t.predicate(d) & 1 == 0 {
        return Next::Seq;
    }
    let Some(stack) = named(d) else {
        return Next::Illegal;
    };
    let count = t.load_raw::<1>(&d.src[1])[0].clamp(1, STACK_DEPTH as u32);
    let mut result: Result<(), StackError> = Ok(());
    for _ in 0..count {
        result = result.and(match stack {
            Stack::If => t.masks.pop_if(),
            Stack::Loop => t.masks.pop_loop(),
        });
    }
    done(t, Next::Seq, result)
}

#[cfg(test)]
mod tests;
