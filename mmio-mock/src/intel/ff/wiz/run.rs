//! Runs: lit squares side by side, whose threads are kept as one.
//!
//! PRM: volume 2, windower. Threads collect subspans across the borders of squares, so the first of a row may begin anywhere in its
//! square; all that follow begin at the same place of theirs. Not for threads of other widths than sixteen pixels.

use super::active::Active;
use super::dispatch::{SQUARE, Threads};
use super::plain::Plain;
use super::shape::Block;
use super::thread::{Begin, WizPort};
use super::{BLOCK_TICKS, SUBSPAN_ORDER, SetupPrimitive, TEST_TICKS, WizState};
use crate::intel::debug::{DebugRegs, ThreadDebug, WizPayload};
use crate::intel::ff::payload::PayloadLayout;
use crate::intel::ff::payload::pixels::{PixelGroup, Subspan};
use crate::intel::ff::stage::PIECE_TICKS;
use crate::intel::td::KernelState;

/// Ticks of a square that was tested.
const SQUARE_TICKS: u64 = 2 * TEST_TICKS;

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

/// Moves the subspans of the tail to the pending subspans. There are no pending subspans as long as there is a tail.
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

/// Where the thread begins that ends in the lit square at a pixel: the square, and the subspan of it. `None` where the tail lies elsewhere.
fn begins(tail: Option<Tail>, at: (u16, u16)) -> Option<((u16, u16), u8)> {
    let Some(tail) = tail else {
        return Some((at, 0));
    };
    let next = (tail.at.0.wrapping_add(4), tail.at.1);
    (next == at).then_some((tail.at, tail.first))
}

/// Whether rows of squares can be taken at once: nothing is tested.
pub(super) fn rows(active: &Active) -> bool {
    active.squares
        && active.group == SQUARE
        && !active.partial
        && active.plane.is_none()
        && !active.tests.touch()
        && active.marking.is_none()
}

/// A row of lit squares in a primitive without tests.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Upper left pixel of the square in which the first thread begins, and the subspan that it begins with.
    pub from: ((u16, u16), u8),
    /// Squares.
    pub squares: u32,
    /// Ticks of what was walked for the first one.
    walked: u64,
}

/// What is left of a time slice and of its pieces of work.
#[derive(Clone, Copy, Debug)]
pub struct Meter {
    /// Ticks.
    pub budget: u64,
    /// Pieces of work.
    pub rounds: u32,
    /// Ticks that are not for threads of this kind, and those that pieces of work leave alone.
    pub kept: [u64; 2],
}

impl Meter {
    /// Pays for threads of so many ticks each and the squares that they come from, `most` at most. Comes back with how many that
    /// were, and whether the windower goes on behind the last.
    pub fn pay(&mut self, row: &Row, ticks: u64, most: u32) -> (u32, bool) {
        let [threads, pieces] = self.kept;
        let mut paid = 0;
        while paid < most.min(row.squares) {
            if self.budget <= threads + ticks {
                break;
            }
            let front = match paid {
                0 => row.walked,
                _ if paid % 2 == 0 => BLOCK_TICKS,
                _ => 0,
            };
            let all = ticks + front + SQUARE_TICKS;
            // What the budget cannot pay is a debt. The usual way knows how to charge that.
            if self.budget < all {
                break;
            }
            self.budget -= all;
            paid += 1;
            if self.rounds <= 1 || self.budget <= pieces + 1 {
                return (paid, false);
            }
            self.budget -= PIECE_TICKS;
            self.rounds -= 1;
        }
        (paid, true)
    }
}

impl Threads {
    /// Takes lit blocks, of which this is the first, as a row of squares. Comes back with how many squares were taken, and whether the
    /// windower goes on behind them.
    #[inline]
    pub(super) fn row<P: WizPort>(
        &mut self,
        state: &WizState,
        active: &Active,
        tail: &mut Option<Tail>,
        (block, blocks, walked): (&Block, u32, u64),
        port: &mut P,
    ) -> (u32, bool) {
        // CAST: the clip rectangle lies within 0..=0xffff.
        let at = (block.x as u16, block.y as u16);
        let Some(from) = begins(*tail, at) else {
            return (0, true);
        };
        if self.tag.is_some() {
            return (0, true);
        }
        let row = Row {
            from,
            squares: 2 * blocks,
            walked,
        };
        let kernel = state.wm.kernel(SQUARE).0;
        let (mut taken, mut goes_on) = (0, true);
        if tail.is_none() {
            (taken, goes_on) = port.spare_row(kernel, &row);
        }
        if taken > 0 {
            let primitive = &active.primitive;
            number(primitive, kernel, port.debug());
        } else if active.runs {
            let layout = port.layout();
            let begin = |debug: &mut DebugRegs| self.begin(state, active, layout, debug);
            (taken, goes_on) = port.wait_row(kernel, &row, begin);
        }
        if let Some(tail) = tail {
            // CAST: columns have sixteen bits.
            tail.at.0 = tail.at.0.wrapping_add((4 * taken) as u16);
        }
        // CAST: numbers of threads, modulo 256.
        self.fftid = self.fftid.wrapping_add(taken as u8);
        port.count_invocations(16 * taken);
        if state.wm.unit.statistics && !active.case.late_count {
            port.count_depth(16 * taken);
        }
        (taken, goes_on)
    }

    /// What threads of a run begin with.
    fn begin(
        &self,
        state: &WizState,
        active: &Active,
        layout: &'static dyn PayloadLayout,
        debug: &mut DebugRegs,
    ) -> Begin {
        let kernel = state.wm.kernel(SQUARE).0;
        let tag = number(&active.primitive, kernel, debug);
        let payload = self.state(state, active, tag, 16);
        Begin {
            primitive: Plain::new(layout, &payload, state.wm.headerless),
            debug: tag.r0(),
            snapshot: tag.flag,
        }
    }

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
        let Some(from) = begins(*tail, at) else {
            return Taken::Nothing;
        };
        let kernel = state.wm.kernel(SQUARE).0;
        let layout = port.layout();
        let begin = |debug: &mut DebugRegs| self.begin(state, active, layout, debug);
        if self.tag.is_some() || !port.wait_whole(kernel, from, begin) {
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

/// Numbers a thread of whole squares. Snapshots look at subspans, and let no thread wait or be spared.
pub(super) fn number(
    primitive: &SetupPrimitive,
    kernel: &KernelState,
    debug: &mut DebugRegs,
) -> ThreadDebug {
    debug.wiz_payload(&WizPayload {
        subspans: &[],
        primitive: primitive.sequence,
        upstream: primitive.snapshot,
        kernel_pointer: kernel.ip,
    })
}
