//! The only source of time: instants, spans, the clock, polling with a timeout.
//!
//! On a device model, waiting runs the device for that much virtual time; nothing here reads a wall clock, but a
//! platform may (`Clock::outside`).
//! Shapes follow `kernel::time` and `kernel::io::poll` of Rust-for-Linux.
use core::fmt;
use core::ops::{Add, Sub};

use crate::error::{Result, code::ETIMEDOUT};

/// A point in time, in nanoseconds since the clock started.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Ktime(u64);

/// A span of time in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Delta(u64);

impl Ktime {
    /// The instant `ns` nanoseconds after the start of the clock.
    #[must_use]
    pub const fn from_nanos(ns: u64) -> Self {
        Ktime(ns)
    }

    /// Nanoseconds since the start of the clock.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
}

impl Delta {
    /// No time at all.
    pub const ZERO: Delta = Delta(0);

    /// A span of `ns` nanoseconds.
    #[must_use]
    pub const fn from_nanos(ns: u64) -> Self {
        Delta(ns)
    }

    /// A span of `us` microseconds, saturating.
    #[must_use]
    pub const fn from_micros(us: u64) -> Self {
        Delta(us.saturating_mul(1_000))
    }

    /// A span of `ms` milliseconds, saturating.
    #[must_use]
    pub const fn from_millis(ms: u64) -> Self {
        Delta(ms.saturating_mul(1_000_000))
    }

    /// A span of `s` seconds, saturating.
    #[must_use]
    pub const fn from_secs(s: u64) -> Self {
        Delta(s.saturating_mul(1_000_000_000))
    }

    /// The span in nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Delta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ns if ns != 0 && ns % 1_000_000_000 == 0 => write!(f, "{} s", ns / 1_000_000_000),
            ns if ns != 0 && ns % 1_000_000 == 0 => write!(f, "{} ms", ns / 1_000_000),
            ns if ns != 0 && ns % 1_000 == 0 => write!(f, "{} us", ns / 1_000),
            ns => write!(f, "{ns} ns"),
        }
    }
}

impl Add for Delta {
    type Output = Delta;
    fn add(self, other: Delta) -> Delta {
        Delta(self.0.saturating_add(other.0))
    }
}

impl Add<Delta> for Ktime {
    type Output = Ktime;
    fn add(self, span: Delta) -> Ktime {
        Ktime(self.0.saturating_add(span.0))
    }
}

impl Sub for Ktime {
    type Output = Delta;
    fn sub(self, earlier: Ktime) -> Delta {
        Delta(self.0.saturating_sub(earlier.0))
    }
}

/// The clock of a platform.
pub trait Clock: Send + Sync {
    /// The current instant; never runs backwards.
    fn now(&self) -> Ktime;

    /// Lets `span` pass, or less when something happens that the caller may wait for, such as an interrupt. On a device
    /// model the device runs meanwhile and interrupt handlers may be called, so the caller holds no lock that a handler
    /// takes.
    fn relax(&self, span: Delta);

    /// The current instant as programs see it that wait for the device; never runs backwards. On a device model that is
    /// slower than its own clock this one goes on with the wall's meanwhile. Elsewhere it is [`now`](Self::now).
    fn outside(&self) -> Ktime {
        self.now()
    }
}

/// Lets all of `span` pass, whatever happens.
pub fn delay(clock: &dyn Clock, span: Delta) {
    let until = clock.now() + span;
    loop {
        let left = until - clock.now();
        if left == Delta::ZERO {
            return;
        }
        clock.relax(left);
    }
}

/// Calls `op` until `cond` accepts its value, letting `sleep` pass between calls.
///
/// Returns the accepted value, or `ETIMEDOUT` once `timeout` has passed and a last look still fails.
/// `op` is called at least once.
pub fn read_poll_timeout<T>(
    clock: &dyn Clock,
    mut op: impl FnMut() -> Result<T>,
    mut cond: impl FnMut(&T) -> bool,
    sleep: Delta,
    timeout: Delta,
) -> Result<T> {
    // TIMEOUT: a zero sleep would never let time pass on a virtual clock.
    let sleep = sleep.max(Delta::from_nanos(1));
    let deadline = clock.now() + timeout;
    loop {
        let value = op()?;
        if cond(&value) {
            return Ok(value);
        }
        if clock.now() >= deadline {
            return Err(ETIMEDOUT);
        }
        clock.relax(sleep.min(deadline - clock.now()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use core::sync::atomic::{AtomicU64, Ordering};

    struct Virtual(AtomicU64);
    impl Clock for Virtual {
        fn now(&self) -> Ktime {
            Ktime::from_nanos(self.0.load(Ordering::Relaxed))
        }
        fn relax(&self, span: Delta) {
            self.0.fetch_add(span.as_nanos(), Ordering::Relaxed);
        }
    }

    #[test]
    fn polling_stops_when_the_condition_holds() {
        let clock = Virtual(AtomicU64::new(0));
        let value = read_poll_timeout(
            &clock,
            || Ok(clock.now().as_nanos()),
            |ns| *ns >= 300,
            Delta::from_nanos(100),
            Delta::from_micros(1),
        );
        assert_eq!(value, Ok(300));
    }

    #[test]
    fn polling_gives_up_exactly_at_the_deadline() {
        let clock = Virtual(AtomicU64::new(0));
        let result = read_poll_timeout(
            &clock,
            || Ok(()),
            |()| false,
            Delta::from_nanos(300),
            Delta::from_micros(1),
        );
        assert_eq!(result, Err(ETIMEDOUT));
        assert_eq!(clock.now().as_nanos(), 1000);
    }

    #[test]
    fn spans_print_in_their_largest_whole_unit() {
        assert_eq!(Delta::from_secs(60).to_string(), "60 s");
        assert_eq!(Delta::from_millis(20).to_string(), "20 ms");
        assert_eq!(Delta::from_nanos(1500).to_string(), "1500 ns");
        assert_eq!(Delta::from_micros(1500).to_string(), "1500 us");
        assert_eq!(Delta::ZERO.to_string(), "0 ns");
    }
}
