//! The interrupt line and its handler, one call at a time.
//!
//! The handler is called by one thread at a time; the thread that frees the line waits for it to return.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use kernel::error::{Result, code::EBUSY};
use kernel::irq::{Handler, IrqReturn};

#[derive(Default)]
struct Slot {
    handler: Option<Arc<dyn Handler>>,
    /// The thread that is in the handler.
    inside: Option<ThreadId>,
}

/// The line.
#[derive(Default)]
pub struct Line {
    slot: Mutex<Slot>,
    left: Condvar,
}

impl Line {
    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers the handler.
    pub fn request(&self, handler: Arc<dyn Handler>) -> Result {
        let mut slot = self.slot();
        if slot.handler.is_some() {
            return Err(EBUSY);
        }
        slot.handler = Some(handler);
        Ok(())
    }

    /// Unregisters the handler and waits until it has returned, unless it is what calls.
    pub fn free(&self) {
        let mut slot = self.slot();
        let handler = slot.handler.take();
        while slot
            .inside
            .is_some_and(|thread| thread != thread::current().id())
        {
            slot = self.left.wait(slot).unwrap_or_else(PoisonError::into_inner);
        }
        drop(slot);
        // Its end may be the end of the driver.
        drop(handler);
    }

    /// Calls the handler once; `None` when there is none.
    pub fn call(&self) -> Option<IrqReturn> {
        let handler = {
            let mut slot = self.slot();
            let handler = slot.handler.clone()?;
            slot.inside = Some(thread::current().id());
            handler
        };
        let _inside = Inside(self);
        let handler = handler;
        Some(handler.handle())
    }
}

/// Says that the handler has returned, after the caller's hold on it is gone and even when it panics.
struct Inside<'a>(&'a Line);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.slot().inside = None;
        self.0.left.notify_all();
    }
}
