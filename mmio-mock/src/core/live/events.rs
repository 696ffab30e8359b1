//! What threads that let time pass are woken by.
//!
//! An event is an interrupt that was handled, or a device that has come to rest. Every thread remembers
//! the last event it has seen, so that one between its look at a fence and its sleep is not lost.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::atomics::LOOKS;
use super::gate::look;
use super::time::Time;

/// A thread that waits for longer than this, in nanoseconds of device time, sleeps at once: the device may have use for its processor.
const AWAKE: u64 = 300_000;

/// A thread that waits for a working device looks at least that often by itself.
const BACKSTOP: Duration = Duration::from_millis(10);

thread_local! {
    static SEEN: Cell<u64> = const { Cell::new(0) };
}

/// Event counter and sleepers.
#[derive(Debug)]
pub struct Events {
    count: AtomicU64,
    sleepers: AtomicU32,
    /// Earliest instant that a sleeper waits for.
    earliest: AtomicU64,
    lock: Mutex<()>,
    wake: Condvar,
}

impl Default for Events {
    fn default() -> Self {
        Events {
            count: AtomicU64::new(1),
            sleepers: AtomicU32::new(0),
            earliest: AtomicU64::new(u64::MAX),
            lock: Mutex::new(()),
            wake: Condvar::new(),
        }
    }
}

impl Events {
    fn wake(&self) {
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.wake.notify_all();
        }
    }

    /// Something has happened.
    pub fn happened(&self) {
        self.count.fetch_add(1, Ordering::SeqCst);
        self.wake();
    }

    /// Device time has come to `now`.
    pub fn reached(&self, now: u64) {
        if now >= self.earliest.load(Ordering::Relaxed) {
            self.earliest.store(u64::MAX, Ordering::SeqCst);
            self.wake();
        }
    }

    /// Lets `span` nanoseconds of device time pass, or returns at the first event: `spin` of wall time awake, then
    /// asleep. While `held`, device time stands; then as much of the wall's passes, a millisecond at most.
    pub fn relax(&self, time: &Time, span: u64, spin: Duration, held: impl Fn() -> bool) {
        let until = time.now().saturating_add(span);
        let seen = SEEN.get();
        let has_event = || self.count.load(Ordering::SeqCst) != seen;
        let over = || has_event() || time.now() >= until;
        let spin = if span > AWAKE && !time.passes() {
            Duration::ZERO
        } else {
            spin
        };
        let begun = Instant::now();
        let mut looks = 0u32;
        // Clocks are read seldom: that takes longer than to look for an event.
        while !has_event()
            && (!looks.is_multiple_of(LOOKS) || time.now() < until && begun.elapsed() < spin)
        {
            look(&mut looks);
        }
        if !over() {
            self.sleep(time, until, &over, &held);
        }
        SEEN.set(self.count.load(Ordering::SeqCst));
    }

    fn sleep(&self, time: &Time, until: u64, over: &dyn Fn() -> bool, held: &dyn Fn() -> bool) {
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        loop {
            self.earliest.fetch_min(until, Ordering::SeqCst);
            if over() {
                break;
            }
            let left = Duration::from_nanos(until.saturating_sub(time.now()));
            let held = held();
            let longest = if held {
                left.min(Duration::from_millis(1))
            } else if time.passes() {
                left
            } else {
                BACKSTOP
            };
            guard = match self.wake.wait_timeout(guard, longest) {
                Ok((guard, _)) => guard,
                Err(poisoned) => poisoned.into_inner().0,
            };
            if held {
                break;
            }
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        drop(guard);
    }
}
