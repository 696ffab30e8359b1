//! A note that one thread waits for and another gives.
//!
//! Shape of the kernel's `struct completion` (`kernel::sync::Completion`), for one waiting thread.
use crate::time::{Clock, Delta};

#[cfg(not(feature = "std"))]
type Done = super::AtomicBool;
#[cfg(feature = "std")]
type Done = (std::sync::Mutex<bool>, std::sync::Condvar);

/// A note that one thread waits for and another gives. It can be given and waited for again and again; notes
/// that no thread has waited for yet count as one.
#[derive(Debug, Default)]
pub struct Completion(Done);

#[cfg(feature = "std")]
impl Completion {
    /// Gives the note.
    pub fn complete(&self) {
        let (done, wake) = &self.0;
        *done
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner) = true;
        wake.notify_one();
    }

    /// Waits for the note, and takes it; whether it came within `span`. The thread sleeps, and the device does not run
    /// for its sake: `span` is the host's time.
    pub fn wait_for_completion_timeout(&self, _: &dyn Clock, span: Delta) -> bool {
        use std::sync::PoisonError;
        let (done, wake) = &self.0;
        let span = core::time::Duration::from_nanos(span.as_nanos());
        let guard = done.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = wake.wait_timeout_while(guard, span, |done| !*done);
        let (mut done, _) = waited.unwrap_or_else(PoisonError::into_inner);
        core::mem::take(&mut done)
    }
}

#[cfg(not(feature = "std"))]
impl Completion {
    /// Gives the note.
    pub fn complete(&self) {
        self.0.store(true, super::Ordering::Release);
    }

    /// Waits for the note, and takes it; whether it came. Without feature `std` no thread can sleep: time passes on the
    /// clock, `span` at most.
    pub fn wait_for_completion_timeout(&self, clock: &dyn Clock, span: Delta) -> bool {
        let take = || self.0.swap(false, super::Ordering::Acquire);
        take() || {
            clock.relax(span);
            take()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn a_note_is_taken_once() {
        let (note, fake) = (Completion::default(), Fake::new(0, 0));
        let wait = || note.wait_for_completion_timeout(&*fake, Delta::from_micros(10));
        assert!(!wait());
        note.complete();
        note.complete();
        assert!(wait());
        assert!(!wait());
    }
}
