//! The host's clock, and a bell that ends a wait on it.
//!
//! Time of a device that is there is the wall's.

use std::sync::Arc;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use kernel::time::{Clock, Delta, Ktime};

/// Rings when something has happened that somebody may wait for.
#[derive(Default)]
pub struct Bell {
    rings: Mutex<u64>,
    rung: Condvar,
}

impl Bell {
    /// Ends the waits that go on.
    pub fn ring(&self) {
        let mut rings = self.rings.lock().unwrap_or_else(PoisonError::into_inner);
        *rings = rings.wrapping_add(1);
        self.rung.notify_all();
    }

    /// Waits so long, or until it rings.
    fn wait(&self, span: Duration) {
        let rings = self.rings.lock().unwrap_or_else(PoisonError::into_inner);
        let before = *rings;
        let waited = self
            .rung
            .wait_timeout_while(rings, span, |now| *now == before);
        drop(waited);
    }
}

/// The clock.
pub struct HostClock {
    start: Instant,
    bell: Arc<Bell>,
}

/// The system does not sleep for less.
const SHORT: Duration = Duration::from_micros(50);

impl HostClock {
    /// A clock that starts now.
    #[must_use]
    pub fn new(bell: &Arc<Bell>) -> Self {
        HostClock {
            start: Instant::now(),
            bell: Arc::clone(bell),
        }
    }
}

impl Clock for HostClock {
    fn now(&self) -> Ktime {
        let passed = self.start.elapsed().as_nanos();
        Ktime::from_nanos(u64::try_from(passed).unwrap_or(u64::MAX))
    }

    fn relax(&self, span: Delta) {
        let span = Duration::from_nanos(span.as_nanos());
        if span > SHORT {
            return self.bell.wait(span);
        }
        let begun = Instant::now();
        while begun.elapsed() < span {
            std::thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::time::delay;

    #[test]
    fn spans_pass_and_the_bell_ends_them() {
        let bell = Arc::new(Bell::default());
        let clock = HostClock::new(&bell);
        let before = clock.now();
        for span in [Delta::from_micros(20), Delta::from_millis(2)] {
            delay(&clock, span);
        }
        assert!(clock.now() - before >= Delta::from_micros(2020));
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| clock.relax(Delta::from_secs(1000)));
            while !waits.is_finished() {
                bell.ring();
                std::thread::yield_now();
            }
        });
        assert!(clock.now() - before < Delta::from_secs(900));
    }
}
