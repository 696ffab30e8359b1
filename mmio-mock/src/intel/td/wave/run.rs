//! Runs: threads of whole pixels that follow one another from left to right.
//!
//! Inside of a primitive nearly all threads are of this kind. Each has four subspans of a row of squares of four by four pixels, so
//! that a few numbers stand for all of them.

use mem::GpuAddr;

use super::record::Record;
use crate::intel::shared::aside::{Cannot, Served};
use crate::intel::shared::context::PIXELS;
use crate::intel::td::KernelState;

/// Subspans of a square, and of a thread.
const SUBSPANS: u32 = 4;
/// From the upper left pixel of a square to those of its subspans, in the order in which threads get them.
const ORDER: [(u16, u16); 4] = [(0, 0), (2, 0), (0, 2), (2, 2)];

/// Threads of sixteen lit pixels each, of one primitive.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Their primitive's number in the wave.
    pub primitive: u32,
    /// Number of the first thread, modulo 256; those of the others follow.
    pub number: u8,
    /// Their kernel.
    pub kernel: KernelState,
    /// Upper left pixel of the first square.
    pub at: (u16, u16),
    /// The subspan of it that the first thread begins with.
    pub first: u8,
    /// How many threads there are.
    pub threads: u32,
    /// Registers that the fixed function fills, from r0 on.
    pub registers: u8,
    /// The debug dwords of r0.
    pub debug: [u32; 2],
    /// Their snapshot flag.
    pub snapshot: bool,
    /// Ticks of each.
    pub ticks: u64,
    /// They have been charged.
    pub charged: bool,
}

impl Run {
    /// Takes up one more thread, which begins in the square at a pixel; `false` when that is not the next one.
    #[inline]
    pub fn extend(
        &mut self,
        (primitive, kernel): (u32, &KernelState),
        at: (u16, u16),
        first: u8,
    ) -> bool {
        let next = u32::from(self.at.0) + 4 * self.threads;
        let fits = u32::from(at.0) == next && at.1 == self.at.1 && first == self.first;
        if !fits || self.primitive != primitive || self.kernel.ip != kernel.ip {
            return false;
        }
        self.threads += 1;
        true
    }

    /// Number of a thread, modulo 256.
    #[inline]
    pub fn number_of(&self, thread: u32) -> u8 {
        // CAST: numbers of threads, modulo 256.
        self.number.wrapping_add(thread as u8)
    }

    /// Left column of the square that a thread begins in.
    #[inline]
    pub fn column(&self, thread: u32) -> u16 {
        // CAST: columns have sixteen bits.
        (u32::from(self.at.0) + 4 * thread) as u16
    }

    /// Upper left pixels of the subspans of a thread.
    #[inline]
    pub fn origins(&self, thread: u32) -> [(u16, u16); 4] {
        let mut origins = [(0, 0); 4];
        for (n, to) in (0..SUBSPANS).zip(&mut origins) {
            let subspan = u32::from(self.first) + SUBSPANS * thread + n;
            // PANIC: a remainder of four.
            let (dx, dy) = ORDER[(subspan % SUBSPANS) as usize];
            let column = self.column(subspan / SUBSPANS);
            *to = (column.wrapping_add(dx), self.at.1.wrapping_add(dy));
        }
        origins
    }

    /// A thread as one alone.
    pub fn record(&self, thread: u32) -> Record {
        let mut origins = [(0, 0); PIXELS / 4];
        for (to, from) in origins.iter_mut().zip(self.origins(thread)) {
            *to = from;
        }
        Record {
            primitive: self.primitive,
            kernel: self.kernel,
            width: 16,
            registers: self.registers,
            subspans: 4,
            origins,
            mask: 0xffff,
            debug: self.debug,
            snapshot: self.snapshot,
        }
    }
}

/// What has been computed of some threads of a run.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// The run's number in its wave.
    pub(super) run: usize,
    /// The first of the threads.
    pub(super) first: u32,
    /// How many they are.
    pub(super) count: u32,
    /// How many of them have been computed.
    pub(super) done: u32,
    /// Why the next one was not.
    pub(super) cannot: Option<Cannot>,
    /// Messages of each of those that were computed.
    pub(super) each: Served,
    /// Where their pixels go: the address of the target's state, and the slice.
    pub(super) target: Option<(GpuAddr, u32)>,
}

impl Piece {
    /// Threads of a run, of which none has been computed.
    pub(super) fn new(run: usize, first: u32, count: u32) -> Piece {
        Piece {
            run,
            first,
            count,
            done: 0,
            cannot: None,
            each: Served::default(),
            target: None,
        }
    }

    /// Whether its threads have sent the same messages as those of another, none of which was told anything.
    pub(super) fn like(&self, other: &Piece) -> bool {
        self.done == 0 || self.each == other.each && self.target == other.target
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(first: u8, threads: u32) -> Run {
        Run {
            primitive: 3,
            number: 0,
            kernel: KernelState::default(),
            at: (8, 12),
            first,
            threads,
            registers: 2,
            debug: [0; 2],
            snapshot: false,
            ticks: 1,
            charged: true,
        }
    }

    #[test]
    fn threads_take_four_subspans_in_a_row_each() {
        let aligned = run(0, 2);
        assert_eq!(aligned.origins(0), [(8, 12), (10, 12), (8, 14), (10, 14)]);
        assert_eq!(aligned.origins(1)[0], (12, 12));
        let moved = run(3, 2);
        assert_eq!(moved.origins(0), [(10, 14), (12, 12), (14, 12), (12, 14)]);
        assert_eq!(moved.origins(1), [(14, 14), (16, 12), (18, 12), (16, 14)]);
        assert_eq!(moved.record(1).origins[..4], moved.origins(1));
        assert_eq!(moved.record(1).dispatch_mask(), 0xffff);
    }

    #[test]
    fn only_the_next_thread_is_taken_up() {
        let kernel = KernelState::default();
        let mut all = run(1, 2);
        assert!(!all.extend((3, &kernel), (12, 12), 1), "it has that one");
        assert!(!all.extend((3, &kernel), (16, 16), 1), "another row");
        assert!(!all.extend((3, &kernel), (16, 12), 0), "another subspan");
        let other = KernelState {
            ip: 64,
            ..KernelState::default()
        };
        assert!(!all.extend((3, &other), (16, 12), 1));
        assert!(!all.extend((2, &kernel), (16, 12), 1));
        assert!(all.extend((3, &kernel), (16, 12), 1));
        assert_eq!(all.threads, 3);
    }
}
