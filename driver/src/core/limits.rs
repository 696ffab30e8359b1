//! Limits of the time for which one program may keep the engine.
//!
//! i915 `intel_engine_heartbeat.c` ends requests that take longer than five seconds on this family.
use kernel::time::Delta;

/// How long the work of a closed file may go on. A program that ends with its last frames under way has them drawn: a
/// slow model draws one in seconds.
const AFTER_CLOSE: Delta = Delta::from_secs(10);
/// How long a request may keep the engine while others wait. Large draws take a slow model most of a minute, and a debug
/// build of it longer; a program that waits for longer than that looks dead to its user.
const WHILE_OTHERS_WAIT: Delta = Delta::from_secs(60);
/// Time between two looks, unless the limits are short, and how many of them the time between two looks counts as at
/// most: the host may have been stopped meanwhile.
const LOOK: Delta = Delta::from_millis(100);
pub(crate) const LOOKS_AT_MOST: u64 = 10;
/// Looks until the shorter of the limits is reached.
const LOOKS_OF_LIMIT: u64 = 10;
/// For how many times the limit requests of different families may keep the engine together, one of each, and the part of
/// the limit that each has in any case.
const FAMILIES: u64 = 4;
const LEAST: u64 = 8;

/// How long one program may keep the engine, in time as programs see it ([`Clock::outside`](kernel::time::Clock)). Time
/// in which a debugger has halted a thread does not count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeLimits {
    /// How long the work of closed files may keep the engine after that, all files of a process together.
    pub after_close: Delta,
    /// How long a request may keep it while another program waits all the time; less when more than four families
    /// of processes want the engine. Several of one program in a row may take four times as long. Both limits are halved for families of which requests have been ended before.
    pub while_others_wait: Delta,
}

impl Default for TimeLimits {
    fn default() -> Self {
        TimeLimits {
            after_close: AFTER_CLOSE,
            while_others_wait: WHILE_OTHERS_WAIT,
        }
    }
}

impl TimeLimits {
    /// The limits, halved so many times.
    pub(crate) fn halved(&self, times: u32) -> Self {
        let halved = |limit: Delta| Delta::from_nanos(limit.as_nanos() >> times);
        TimeLimits {
            after_close: halved(self.after_close),
            while_others_wait: halved(self.while_others_wait),
        }
    }

    /// How long a request may keep the engine while so many families want it, its own among them: four times the limit
    /// divided by their number, no more than the limit, and no less than an eighth of it.
    pub(crate) fn beside(&self, families: usize) -> Delta {
        let limit = self.while_others_wait.as_nanos();
        let families = u64::try_from(families).unwrap_or(u64::MAX).max(1);
        let share = limit.saturating_mul(FAMILIES) / families;
        Delta::from_nanos(share.clamp(limit / LEAST, limit))
    }

    /// Time between two looks.
    pub(crate) fn period(&self) -> Delta {
        let shortest = self.after_close.min(self.while_others_wait).as_nanos();
        LOOK.min(Delta::from_nanos(shortest / LOOKS_OF_LIMIT))
    }
}
