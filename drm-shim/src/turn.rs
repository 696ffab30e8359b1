//! A lock for those who change things; who looks takes none, and looks again.
//!
//! `tests/interleavings.rs` runs this file through all orders that threads may take.

use crate::atomics::{AtomicBool, AtomicU32, Ordering, fence, give_way};

/// Who changes, and how often that was.
pub struct Turn {
    /// Odd while something changes.
    count: AtomicU32,
    held: AtomicBool,
}

impl Turn {
    /// Held by nobody; over words that are 0 and false.
    pub const fn over(count: AtomicU32, held: AtomicBool) -> Self {
        Turn { count, held }
    }

    /// Keeps others from changing anything. With signals blocked, or a handler might wait for its own thread.
    pub fn hold(&self) {
        let (taken, not) = (Ordering::Acquire, Ordering::Relaxed);
        while self.held.compare_exchange(false, true, taken, not).is_err() {
            give_way();
        }
    }

    /// Lets others change things again.
    pub fn release(&self) {
        self.held.store(false, Ordering::Release);
    }

    /// Changes things; held.
    pub fn change<T>(&self, change: impl FnOnce() -> T) -> T {
        self.count.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::Release);
        let result = change();
        self.count.fetch_add(1, Ordering::Release);
        result
    }

    /// In a copy of the memory, whose threads are not those that held it or changed things: whether there was a change
    /// half made. Nobody holds it then.
    pub fn copied(&self) -> bool {
        let changing = self.count.load(Ordering::Relaxed) & 1 != 0;
        if changing {
            self.count.fetch_add(1, Ordering::Relaxed);
        }
        self.held.store(false, Ordering::Release);
        changing
    }

    /// What `look` sees when nothing changes meanwhile; it is run until that is so, and may see anything in between.
    pub fn look<T>(&self, mut look: impl FnMut() -> T) -> T {
        loop {
            let count = self.count.load(Ordering::Acquire);
            if count & 1 == 0 {
                let seen = look();
                fence(Ordering::Acquire);
                if self.count.load(Ordering::Relaxed) == count {
                    return seen;
                }
            }
            give_way();
        }
    }
}
