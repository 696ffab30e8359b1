//! How long requests take, and how many may be under way by that.
//!
//! A family begins with one request before others, has one more for each that has proved quick, and falls back to one when a
//! request takes long: slow start, as TCP has it (RFC 5681). i915 has nothing like it.
use kernel::sync::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use kernel::time::{Delta, Ktime};

/// From which time on a request takes long; what a family has queued before others should take no longer together.
const LONG: Delta = Delta::from_secs(1);
/// Most requests of a family under way before others: enough that the engine never waits for the next one of a family
/// with requests of any length, and few, since quick ones promise nothing for those behind them.
const MOST: usize = 8;
/// How long it is remembered that a request has taken long.
const MEMORY: Delta = Delta::from_secs(60);

/// What is known of a family, in the order in which turns come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Speed {
    /// The last request has ended in less than a second, and so have all of the last minute.
    Quick,
    /// No request has ended.
    New,
    /// A request has taken a second or longer: the last one, or one within the last minute.
    Slow,
}

/// How long requests of a process or of a family have taken.
#[derive(Default)]
pub(crate) struct Pace {
    /// Requests that may be under way before others, beside one.
    more: AtomicUsize,
    /// When one that takes long was seen last: nanoseconds outside; 0 stands for never.
    slow: AtomicU64,
    /// Whether one has ended, and whether the last took long: with many families that have long ones more than a minute
    /// passes between two of one.
    known: AtomicBool,
    last_was_slow: AtomicBool,
}

impl Pace {
    /// A request has ended, after it has had the engine for so long. For interrupt handlers as well.
    pub(crate) fn note_ended(&self, took: Delta, now: Ktime) {
        if took >= LONG {
            self.note_slow(now);
        } else {
            self.last_was_slow.store(false, Ordering::Relaxed);
        }
        self.known.store(true, Ordering::Relaxed);
        let room = LONG.as_nanos() / took.as_nanos().max(1);
        let most = usize::try_from(room).map_or(MOST, |room| room.clamp(1, MOST)) - 1;
        let grown = |more: usize| Some((more + 1).min(most));
        // It always changes.
        let _ = (self.more).fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown);
    }

    /// A request takes long while others wait.
    pub(crate) fn note_slow(&self, now: Ktime) {
        self.slow
            .fetch_max(now.as_nanos().max(1), Ordering::Relaxed);
        self.more.store(0, Ordering::Relaxed);
        self.last_was_slow.store(true, Ordering::Relaxed);
    }

    /// Whether a request has taken long within the last minute.
    pub(crate) fn is_slow(&self, now: Ktime) -> bool {
        let slow = self.slow.load(Ordering::Relaxed);
        slow != 0 && now < Ktime::from_nanos(slow) + MEMORY
    }

    /// What is known of it.
    pub(crate) fn speed(&self, now: Ktime) -> Speed {
        if self.is_slow(now) || self.last_was_slow.load(Ordering::Relaxed) {
            Speed::Slow
        } else if self.known.load(Ordering::Relaxed) {
            Speed::Quick
        } else {
            Speed::New
        }
    }

    /// Whether there is something to remember, when `latest` has seen the last request that took long.
    pub(crate) fn is_slow_beside(&self, latest: &Pace) -> bool {
        self.is_slow(Ktime::from_nanos(latest.slow.load(Ordering::Relaxed)))
    }

    /// How many requests may be under way before others.
    pub(crate) fn places(&self, now: Ktime) -> usize {
        if self.is_slow(now) {
            1
        } else {
            1 + self.more.load(Ordering::Relaxed)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn places_grow_one_by_one_and_fall_at_once() {
        let (pace, now) = (Pace::default(), Ktime::from_nanos(0));
        let after = |millis: u64| {
            pace.note_ended(Delta::from_millis(millis), now);
            pace.places(now)
        };
        assert_eq!(pace.places(now), 1);
        assert_eq!([0; 9].map(after), [2, 3, 4, 5, 6, 7, 8, 8, 8]);
        // As many as take a second together.
        assert_eq!([125, 126, 300, 900].map(after), [8, 7, 3, 1]);
        assert_eq!([1, 400, 1].map(after), [2, 2, 3]);
    }

    #[test]
    fn a_family_is_slow_until_its_last_minute_was_quick() {
        let pace = Pace::default();
        let at = |seconds: u64| Ktime::from_nanos(seconds * 1000 * MS);
        assert_eq!(pace.speed(at(0)), Speed::New);
        pace.note_ended(Delta::from_millis(999), at(0));
        assert_eq!(pace.speed(at(0)), Speed::Quick);
        pace.note_ended(Delta::from_secs(1), at(1));
        assert_eq!(pace.speed(at(1000)), Speed::Slow, "the last one");
        pace.note_ended(Delta::from_millis(999), at(2));
        assert_eq!(
            [60, 61].map(|n| pace.speed(at(n))),
            [Speed::Slow, Speed::Quick]
        );
    }

    #[test]
    fn a_long_request_is_remembered_for_a_minute() {
        let pace = Pace::default();
        let at = |seconds: u64| Ktime::from_nanos(seconds * 1000 * MS);
        for _ in 0..9 {
            pace.note_ended(Delta::ZERO, at(0));
        }
        pace.note_ended(Delta::from_secs(1), at(1));
        for _ in 0..9 {
            pace.note_ended(Delta::ZERO, at(2));
        }
        assert_eq!((pace.places(at(60)), pace.places(at(61))), (1, 8));
        pace.note_slow(at(70));
        assert_eq!((pace.places(at(129)), pace.places(at(130))), (1, 1));
    }
}
