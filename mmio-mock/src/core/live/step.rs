//! A device without a thread of its own: it moves when a thread waits for it.
//!
//! What the device does depends on the calls alone, and not on when the host's scheduler lets which thread run. All
//! slices end at numbers of ticks, none by a wall clock.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::thread::{Core, QUANTUM, guard};
use crate::core::model::{Ended, Model};

/// Ticks between two moments in which others may look at the device.
const SLICE: u64 = 64 * QUANTUM.start;
/// Wall time that a wait takes while the device is held.
const HELD: Duration = Duration::from_millis(1);
/// Interrupts in a row after which a device that does nothing else is left alone.
const MAX_EMPTY: u32 = 8;

thread_local! {
    /// Set while this thread runs the device, and so in the interrupt handlers that it calls.
    static RUNS: Cell<bool> = const { Cell::new(false) };
}

/// Clears [`RUNS`], also when a handler panics.
struct Running;

impl Running {
    fn begin() -> Option<Self> {
        (!RUNS.replace(true)).then_some(Running)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNS.set(false);
    }
}

impl<M: Model> Core<M> {
    /// Lets `nanos` of device time pass on the calling thread, or as many as there are up to an interrupt.
    pub(super) fn pass(&self, nanos: u64) {
        self.advance(nanos, false);
    }

    /// Runs the device until it has nothing to do or waits for the host, for `nanos` of its time at most. What is left
    /// of them does not pass.
    pub(super) fn settle(&self, nanos: u64) {
        self.advance(nanos, true);
    }

    fn advance(&self, nanos: u64, until_rest: bool) {
        let Some(_running) = Running::begin() else {
            // No time passes for as long as a handler runs.
            return;
        };
        if self.is_held() {
            std::thread::sleep(HELD.min(Duration::from_nanos(nanos)));
            return;
        }
        let _alone = guard(&self.stepping);
        let mut left = self.lock().device.ticks_of(nanos).max(1);
        let mut empty = 0;
        while left > 0 && !self.is_held() {
            let begun = Instant::now();
            let mut locked = self.lock();
            let (used, ended) = locked
                .device
                .work(left.min(SLICE), QUANTUM.start, &mut |_| false);
            left -= used.min(left);
            let line = locked.device.irq_line();
            if ended != Ended::Busy && !line && !until_rest {
                locked.device.clock_mut().pass(left);
                left = 0;
            }
            self.time.set(locked.device.nanos());
            drop(locked);
            self.count_slice(begun.elapsed());
            let handled = self.deliver(line);
            if until_rest {
                // The handler may have given it work.
                empty = if used == 0 { empty + 1 } else { 0 };
                if ended != Ended::Busy && (!handled || empty > MAX_EMPTY) {
                    break;
                }
            } else if handled {
                break;
            } else if ended != Ended::Busy {
                // The driver has no handler for the interrupt.
                self.lock().device.clock_mut().pass(left);
                left = 0;
            }
        }
        self.time.set(self.lock().device.nanos());
        self.events.happened();
    }
}
