//! How long to look for a message before a thread sleeps.
//!
//! To wake a thread on an idle processor takes longer than most answers, so an end looks for a moment. Where other threads want the
//! processor that is no use: one that gave way to them comes back much later, and the system lets threads that sleep go first. So a
//! thread that was away for long looks no more for some messages.

use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;

/// How long to look.
const LOOK: Duration = Duration::from_micros(40);
/// Between two looks there was somebody else's time.
const AWAY: Duration = Duration::from_micros(200);
/// Messages that are not looked for then.
const REST: u32 = 64;

/// What the threads of a process have found.
#[derive(Debug)]
pub struct Patience(AtomicU32);

impl Patience {
    /// Nothing yet.
    #[allow(clippy::new_without_default, reason = "one that is a constant")]
    pub const fn new() -> Self {
        Patience(AtomicU32::new(0))
    }

    /// How long to look for the next message.
    pub fn next(&self) -> Duration {
        let left = self.0.load(Ordering::Relaxed);
        if left == 0 {
            return LOOK;
        }
        // Of two threads that count at once one may count for both.
        self.0.store(left - 1, Ordering::Relaxed);
        Duration::ZERO
    }

    /// So long it was between two looks.
    pub fn between(&self, looks: Duration) {
        if looks >= AWAY {
            self.0.store(REST, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_away_for_long_looks_no_more_for_a_while() {
        let patience = Patience::new();
        patience.between(AWAY / 2);
        assert_eq!(patience.next(), LOOK);
        patience.between(AWAY);
        for _ in 0..REST {
            assert_eq!(patience.next(), Duration::ZERO);
        }
        assert_eq!(patience.next(), LOOK);
    }
}
