//! The time of a device that runs on its own thread.
//!
//! No PRM section. While the device works only its ticks count; while it has nothing to do, or waits for the host, wall
//! time passes on it. So a slow model does not make a working device late, and a timeout on one that stands comes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Set while wall time passes: the other bits are then the instant less the wall's, modulo 2^63.
const PASSES: u64 = 1 << 63;

/// A clock that every thread can read without a lock.
#[derive(Debug)]
pub struct Time {
    start: Instant,
    word: AtomicU64,
    /// Never backwards, whatever rounding says.
    last: AtomicU64,
}

impl Time {
    /// A clock that shows `nanos` and stands.
    pub fn new(nanos: u64) -> Self {
        Time {
            start: Instant::now(),
            word: AtomicU64::new(nanos & !PASSES),
            last: AtomicU64::new(0),
        }
    }

    fn wall(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Nanoseconds of device time.
    pub fn now(&self) -> u64 {
        let word = self.word.load(Ordering::Acquire);
        let now = if word & PASSES == 0 {
            word
        } else {
            self.wall().wrapping_add(word) & !PASSES
        };
        self.last.fetch_max(now, Ordering::AcqRel).max(now)
    }

    /// Whether wall time passes.
    pub fn passes(&self) -> bool {
        self.word.load(Ordering::Acquire) & PASSES != 0
    }

    /// Shows an instant until further notice.
    pub fn set(&self, nanos: u64) {
        self.word.store(nanos & !PASSES, Ordering::Release);
    }

    /// Goes on from an instant with the wall's time.
    pub fn go_on(&self, nanos: u64) {
        let word = nanos.wrapping_sub(self.wall()) | PASSES;
        self.word.store(word, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stands_until_it_goes_on_and_never_runs_backwards() {
        let time = Time::new(5_000_000_000);
        assert_eq!(time.now(), 5_000_000_000);
        assert!(!time.passes());
        // Ahead of the wall and behind it.
        for from in [7_000_000_000, 7_500_000_000] {
            time.go_on(from);
            assert!(time.passes());
            let first = time.now();
            assert!(first >= from);
            std::thread::sleep(std::time::Duration::from_millis(2));
            assert!(time.now() >= first + 2_000_000);
        }
        let shown = time.now();
        time.set(1);
        assert!(time.now() >= shown);
        let young = Time::new(0);
        std::thread::sleep(std::time::Duration::from_millis(1));
        young.go_on(10);
        assert!(young.now() >= 10 && young.now() < 3_600_000_000_000);
    }
}
