//! Requests whose numbers are stored, until the head has left their commands.
//!
//! i915 `intel_ring_submission.c` (`stuck_ring`, `reset_rewind`) looks at RING_HEAD for the request that the parser is at. Where
//! batches can write the status page, a stored number says less than the head: the batch that stored it may still be running.
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// A range of the ring's offsets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// Where it begins.
    pub head: u32,
    /// Behind its last command.
    pub tail: u32,
}

impl Stretch {
    /// Whether an offset lies in it, in a ring of `size` bytes, a power of two.
    #[must_use]
    pub fn holds(&self, offset: u32, size: u32) -> bool {
        let from = |at: u32| at.wrapping_sub(self.head) & size.wrapping_sub(1);
        from(offset) < from(self.tail)
    }
}

/// A request whose number has been stored.
#[derive(Clone, Debug)]
pub struct Past<L> {
    /// The number.
    pub seqno: u32,
    /// Its commands.
    pub stretch: Stretch,
    /// Whose it was.
    pub left: L,
}

/// What the head says.
#[derive(Debug)]
pub struct Passed<L> {
    /// Ring offset up to which the ring may be used again, when that is known.
    pub free: Option<u32>,
    /// The request that the head stands in though its number has been stored.
    pub lingers: Option<Past<L>>,
}

/// Requests whose numbers have been stored, oldest first. No part of the ring that one of them takes is used again, so they
/// are no more than fit into it.
pub(super) struct Pasts<L>(VecDeque<Past<L>>);

impl<L> Default for Pasts<L> {
    fn default() -> Self {
        Pasts(VecDeque::new())
    }
}

impl<L: Clone> Pasts<L> {
    /// Adds the latest; allocates.
    pub(super) fn push(&mut self, past: Past<L>) {
        self.0.push_back(past);
    }

    /// Takes those away that the head has left, to be dropped without locks; the one that it stands in is left.
    pub(super) fn leave(&mut self, offset: u32, size: u32) -> (Vec<Past<L>>, Option<Past<L>>) {
        let held = |past: &Past<L>| past.stretch.holds(offset, size);
        let at = self.0.iter().position(held);
        let gone = self.0.drain(..at.unwrap_or(self.0.len())).collect();
        (gone, self.0.front().cloned())
    }

    /// Takes all away.
    pub(super) fn clear(&mut self) -> VecDeque<Past<L>> {
        core::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u32 = 4096;

    fn past(seqno: u32, head: u32, tail: u32) -> Past<()> {
        let stretch = Stretch { head, tail };
        Past {
            seqno,
            stretch,
            left: (),
        }
    }

    #[test]
    fn a_stretch_goes_round_the_ring() {
        let round = Stretch {
            head: SIZE - 64,
            tail: 32,
        };
        for (offset, inside) in [
            (SIZE - 64, true),
            (0, true),
            (28, true),
            (32, false),
            (SIZE - 68, false),
        ] {
            assert_eq!(round.holds(offset, SIZE), inside, "{offset}");
        }
        let full = Stretch { head: 0, tail: 0 };
        assert!(!full.holds(0, SIZE), "nothing takes the whole ring");
    }

    #[test]
    fn the_head_leaves_what_it_has_read() {
        let mut pasts = Pasts::default();
        for (seqno, head) in [(1, SIZE - 200), (2, SIZE - 100), (3, 0)] {
            pasts.push(past(seqno, head, (head + 100) % SIZE));
        }
        let seqnos = |gone: &[Past<()>]| gone.iter().map(|past| past.seqno).collect::<Vec<_>>();
        let (gone, lingers) = pasts.leave(SIZE - 50, SIZE);
        assert_eq!(
            (seqnos(&gone), lingers.map(|past| past.seqno)),
            (alloc::vec![1], Some(2))
        );
        let (gone, lingers) = pasts.leave(100, SIZE);
        assert_eq!(
            (seqnos(&gone), lingers.map(|past| past.seqno)),
            (alloc::vec![2, 3], None)
        );
    }
}
