//! Register writes on their way to the device.
//!
//! Whoever takes them out has the device, so that they stay in order. `tests/interleavings.rs` runs this file through the
//! orders that threads may take.

use super::atomics::{AtomicBool, MAX_POSTED, Mutex, Ordering, PoisonError};

/// The queue.
#[derive(Debug)]
pub struct Posted {
    queue: Mutex<Vec<(u32, u32)>>,
    /// Set when the queue may not be empty.
    is_any: AtomicBool,
}

impl Default for Posted {
    fn default() -> Self {
        Posted {
            queue: Mutex::new(Vec::with_capacity(MAX_POSTED)),
            is_any: AtomicBool::new(false),
        }
    }
}

impl Posted {
    /// Queues a write; whether it is time to carry them out.
    pub fn push(&self, offset: u32, value: u32) -> bool {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.push((offset, value));
        self.is_any.store(true, Ordering::SeqCst);
        queue.len() >= MAX_POSTED
    }

    /// Carries the queued writes out. The caller has locked the device.
    pub fn arrive(&self, mut write: impl FnMut(u32, u32)) {
        while self.is_any.load(Ordering::SeqCst) {
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            self.is_any.store(false, Ordering::SeqCst);
            if queue.len() == 1 {
                // The usual case, a ring's tail: no other queue has to be made.
                let last = queue.pop();
                drop(queue);
                if let Some((offset, value)) = last {
                    write(offset, value);
                }
                continue;
            }
            let writes = std::mem::replace(&mut *queue, Vec::with_capacity(MAX_POSTED));
            drop(queue);
            for (offset, value) in writes {
                write(offset, value);
            }
        }
    }
}
