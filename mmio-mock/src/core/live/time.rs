//! The time of a device that runs on its own thread.
//!
//! While the device works only its ticks count; while it has nothing to do, or waits for the host, wall
//! time passes on it. So a slow model does not make a working device late, and a timeout on one that stands comes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

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

/// How often the device is held, and since when.
#[derive(Debug, Default)]
struct Holds {
    count: u32,
    since: Duration,
    /// Wall time of the holds that have ended.
    sum: Duration,
}

/// The wall's time, but for what passes while the device is held.
#[derive(Debug)]
pub struct Outside {
    start: Instant,
    holds: Mutex<Holds>,
}

impl Outside {
    /// A clock that begins at 0.
    pub fn new() -> Self {
        Outside {
            start: Instant::now(),
            holds: Mutex::default(),
        }
    }

    fn holds(&self) -> MutexGuard<'_, Holds> {
        self.holds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nanoseconds.
    pub fn now(&self) -> u64 {
        let holds = self.holds();
        let wall = if holds.count > 0 {
            holds.since
        } else {
            self.start.elapsed()
        };
        u64::try_from(wall.saturating_sub(holds.sum).as_nanos()).unwrap_or(u64::MAX)
    }

    /// Stands until [`release`](Self::release) has been called as often.
    pub fn hold(&self) {
        let mut holds = self.holds();
        if holds.count == 0 {
            holds.since = self.start.elapsed();
        }
        holds.count += 1;
    }

    /// Ends a hold.
    pub fn release(&self) {
        let mut holds = self.holds();
        holds.count = holds.count.saturating_sub(1);
        if holds.count == 0 {
            let held = self.start.elapsed().saturating_sub(holds.since);
            holds.sum = holds.sum.saturating_add(held);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_outside_leaves_holds_out() {
        let outside = Outside::new();
        let span = Duration::from_millis(2);
        outside.hold();
        let held = outside.now();
        outside.hold();
        std::thread::sleep(span);
        outside.release();
        assert_eq!(outside.now(), held, "one of two holds is left");
        outside.release();
        let begun = Instant::now();
        let now = outside.now();
        std::thread::sleep(span);
        let passed = Duration::from_nanos(outside.now() - now);
        assert!(span <= passed && passed <= begun.elapsed(), "{passed:?}");
    }

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
