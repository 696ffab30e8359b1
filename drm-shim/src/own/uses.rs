//! Who uses the descriptors at the moment, and whether one of them moves.
//!
//! `tests/interleavings.rs` runs this file through all orders that threads may take.

use crate::atomics::{AtomicU32, Ordering, give_way};

/// Bit that keeps new uses out; below it they are counted.
const STOP: u32 = 1 << 31;

/// Uses that are under way.
pub struct Uses(AtomicU32);

/// One of them.
pub struct Use<'a>(&'a Uses);

impl Uses {
    /// None; over a word that is 0.
    pub const fn over(word: AtomicU32) -> Self {
        Uses(word)
    }

    /// Begins a use, once nobody keeps uses out.
    pub fn begin(&self) -> Use<'_> {
        while self.0.fetch_add(1, Ordering::Acquire) & STOP != 0 {
            self.end();
            while self.0.load(Ordering::Relaxed) & STOP != 0 {
                give_way();
            }
        }
        Use(self)
    }

    fn end(&self) {
        let less = |uses: u32| (uses & !STOP > 0).then(|| uses - 1);
        // None to end: a copy of this thread has forgotten all.
        let _ = self
            .0
            .fetch_update(Ordering::Release, Ordering::Relaxed, less);
    }

    /// Keeps new uses out and waits for those under way; false, and nothing is kept out, when `patient` is no longer. One
    /// caller at a time, with signals blocked.
    pub fn stop(&self, mut patient: impl FnMut() -> bool) -> bool {
        self.0.fetch_or(STOP, Ordering::Relaxed);
        while self.0.load(Ordering::Acquire) != STOP {
            if !patient() {
                self.go_on();
                return false;
            }
            give_way();
        }
        true
    }

    /// Whether new uses are kept out.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed) & STOP != 0
    }

    /// Lets uses begin again.
    pub fn go_on(&self) {
        self.0.fetch_and(!STOP, Ordering::Release);
    }

    /// Forgets all, in a child that has none of their threads.
    pub fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl Drop for Use<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
