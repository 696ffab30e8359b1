//! Runs: lit squares side by side, whose threads are kept as one.
//!
//! PRM: volume 2, windower. Threads collect subspans across the borders of squares, so the first of a row may begin anywhere in its
//! square; all that follow begin at the same place of theirs. Not for threads of other widths than sixteen pixels.

use super::active::Active;
use super::dispatch::{SQUARE, Threads};
use super::plain::Plain;
use super::shape::Block;
use super::thread::{Begin, WizPort};
use super::{SUBSPAN_ORDER, WizState};
use crate::intel::debug::{DebugRegs, WizPayload};
use crate::intel::ff::payload::pixels::{PixelGroup, Subspan};

/// Subspans of a square that wait for a thread, from one on to the last; all of their pixels are lit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tail {
    /// Upper left pixel of the square.
    at: (u16, u16),
    /// The first of them: 1 to 3.
    first: u8,
}

/// What became of a lit square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// It belongs to a thread that waits.
    Thread,
    /// What was left of it became the tail.
    Tail,
    /// It goes the usual way.
    Nothing,
}

/// Whether threads of whole squares can be kept as runs.
pub(super) fn applies(state: &WizState, active: &Active) -> bool {
    active.plain
        && active.squares
        && !active.partial
        && active.group == SQUARE
        && state.wm.maximum_threads > 0
        && state.wm.kernel(SQUARE).1 == 16
}

/// The subspans of the tail join the pending ones, of which there are none as long as there is a tail.
#[inline]
pub(super) fn settle(tail: &mut Option<Tail>, pending: &mut PixelGroup) {
    let Some(Tail { at, first }) = tail.take() else {
        return;
    };
    for &(dx, dy) in SUBSPAN_ORDER.iter().take(SQUARE).skip(first.into()) {
        let mut subspan = Subspan::default();
        // CAST: places in a square.
        let at = (at.0.wrapping_add(dx as u16), at.1.wrapping_add(dy as u16));
        subspan.set(at, 15, [0.0; 4]);
        pending.push(subspan);
    }
}

impl Threads {
    /// Takes the square that was tested last into a run, or what is left of it into the tail.
    #[inline(always)]
    pub(super) fn run<P: WizPort>(
        &mut self,
        state: &WizState,
        active: &mut Active,
        (tail, pending): (&mut Option<Tail>, &PixelGroup),
        block: &Block,
        port: &mut P,
    ) -> Taken {
        let first = active.subspan as usize % SQUARE;
        let lit = active.square.as_ref().is_some_and(|square| {
            let left = square.passed.iter().skip(first);
            left.copied().all(|mask| mask == 15)
        });
        if !lit || !pending.subspans().is_empty() {
            return Taken::Nothing;
        }
        // CAST: the clip rectangle lies within 0..=0xffff.
        let left = block.x as u16
            + if active.subspan as usize >= SQUARE {
                4
            } else {
                0
            };
        let at = (left, block.y as u16);
        if first > 0 {
            // CAST: below four.
            let first = first as u8;
            *tail = Some(Tail { at, first });
            active.pass_square();
            return Taken::Tail;
        }
        let from = match *tail {
            Some(tail) if tail.at.1 != at.1 || tail.at.0.wrapping_add(4) != at.0 => {
                return Taken::Nothing;
            }
            Some(tail) => (tail.at, tail.first),
            None => (at, 0),
        };
        let kernel = state.wm.kernel(SQUARE).0;
        let layout = port.layout();
        let number = |debug: &mut DebugRegs| {
            let primitive = &active.primitive;
            let tag = debug.wiz_payload(&WizPayload {
                // Snapshots, which look at them, let no thread wait.
                subspans: &[],
                primitive: primitive.sequence,
                upstream: primitive.snapshot,
                kernel_pointer: kernel.ip,
            });
            let payload = self.state(state, active, tag, 16);
            Begin {
                primitive: Plain::new(layout, &payload, state.wm.headerless),
                debug: tag.r0(),
                snapshot: tag.flag,
            }
        };
        if self.tag.is_some() || !port.wait_whole(kernel, from, number) {
            return Taken::Nothing;
        }
        if let Some(tail) = tail {
            tail.at = at;
        }
        self.started(16, port);
        active.pass_square();
        Taken::Thread
    }
}
