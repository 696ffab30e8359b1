//! Fences: the completion of one request.
//!
//! Shape of the kernel's `dma_fence`. Not modelled: callbacks and fences shared between devices.
use core::num::NonZeroI32;

use kernel::error::{Error, Result};
use kernel::sync::{AtomicBool, Ordering, SpinLock};

/// The completion of one request; signalled once, with success or an error.
#[derive(Debug)]
pub struct Fence {
    seqno: u32,
    done: AtomicBool,
    error: SpinLock<Option<NonZeroI32>>,
}

impl Fence {
    pub(crate) fn new(seqno: u32) -> Self {
        Fence {
            seqno,
            done: AtomicBool::new(false),
            error: SpinLock::new(None),
        }
    }

    /// A fence that never had to be waited for (the kernel's `dma_fence_get_stub`).
    #[must_use]
    pub fn signalled() -> Self {
        let fence = Self::new(0);
        fence.signal(Ok(()));
        fence
    }

    /// Sequence number of the request.
    #[must_use]
    pub fn seqno(&self) -> u32 {
        self.seqno
    }

    /// `None` while the request is under way, then its outcome.
    #[must_use]
    pub fn status(&self) -> Option<Result> {
        if !self.done.load(Ordering::Acquire) {
            return None;
        }
        Some(match *self.error.lock() {
            Some(errno) => Err(Error::from_errno(errno.get())),
            None => Ok(()),
        })
    }

    /// Order among fences that are under way at the same time: they lie within half of the numbers.
    pub(crate) fn order(&self) -> u32 {
        self.seqno
    }

    pub(crate) fn signal(&self, outcome: Result) {
        if let Err(error) = outcome {
            *self.error.lock() = NonZeroI32::new(error.to_errno());
        }
        self.done.store(true, Ordering::Release);
    }
}

/// Whether sequence number `now` is at or behind `seqno`; numbers wrap.
#[must_use]
pub fn seqno_passed(now: u32, seqno: u32) -> bool {
    now.wrapping_sub(seqno) as i32 >= 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_wrap() {
        assert!(seqno_passed(5, 5));
        assert!(seqno_passed(6, 5));
        assert!(!seqno_passed(4, 5));
        assert!(seqno_passed(2, u32::MAX - 2));
        assert!(!seqno_passed(u32::MAX - 2, 2));
    }
}
