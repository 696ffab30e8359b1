//! Who is at the device: its thread, or others that want to look at it.
//!
//! The locks underneath are what excludes; the gate is what makes them fair: the device's thread sees
//! that somebody waits, ends its slice and steps aside. `tests/interleavings.rs` runs this file through the orders that
//! threads may take.

use std::time::Duration;

use super::atomics::{AtomicBool, AtomicU32, Instant, LOOKS, Ordering, PATIENCE, give_way, spin};

/// How long the device's thread stays aside at most, should others come and come.
const ASIDE: Duration = Duration::from_micros(20);

/// The gate.
#[derive(Debug, Default)]
pub struct Gate {
    running: AtomicBool,
    waiters: AtomicU32,
}

/// Somebody other than the device's thread is at the device, or waits for it.
#[derive(Debug)]
pub struct Turn<'a>(&'a Gate);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.waiters.fetch_sub(1, Ordering::Release);
    }
}

/// One look of a loop that waits without sleeping.
pub fn look(count: &mut u32) {
    *count = count.wrapping_add(1);
    if count.is_multiple_of(LOOKS) {
        give_way();
    } else {
        spin();
    }
}

impl Gate {
    /// Asks for the device and waits until its thread has let go, or nearly so.
    pub fn turn(&self) -> Turn<'_> {
        self.waiters.fetch_add(1, Ordering::SeqCst);
        let mut looks = 0;
        while self.running.load(Ordering::SeqCst) && looks < PATIENCE {
            look(&mut looks);
        }
        Turn(self)
    }

    /// Whether somebody waits.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.waiters.load(Ordering::Relaxed) > 0
    }

    /// The device's thread: lets others go first, but not for ever.
    pub fn aside(&self) {
        if !self.is_wanted() {
            return;
        }
        let begun = Instant::now();
        let mut looks = 0u32;
        while self.is_wanted() && (!looks.is_multiple_of(LOOKS) || begun.elapsed() < ASIDE) {
            look(&mut looks);
        }
    }

    /// The device's thread: begins or ends a slice.
    pub fn set_running(&self, running: bool) {
        self.running.store(running, Ordering::SeqCst);
    }
}
