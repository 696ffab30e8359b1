//! A server that answers nobody for a while: time stands for its guests.
//!
//! A virtual machine waits in the access that is not answered, and its clock with it as far as it is the monitor's.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// TIMEOUT: how long the server's end may go unnoticed.
const LOOK: Duration = Duration::from_millis(100);

/// Whether messages are kept waiting.
#[derive(Debug, Default)]
pub struct Pause {
    is: Mutex<bool>,
    changed: Condvar,
}

impl Pause {
    /// Keeps messages waiting from the next one on, or has them answered again.
    pub fn set(&self, on: bool) {
        *self.is.lock() = on;
        self.changed.notify_all();
    }

    /// Returns when messages are answered, or the server is told to `stop`.
    pub(crate) fn wait(&self, stop: &AtomicBool) {
        let mut is = self.is.lock();
        while *is && !stop.load(Ordering::Relaxed) {
            self.changed.wait_for(&mut is, LOOK);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::thread::spawn;

    use super::*;

    #[test]
    fn messages_wait_until_they_are_answered_or_the_server_stops() {
        for by_stop in [false, true] {
            let (pause, stop) = (Arc::new(Pause::default()), Arc::new(AtomicBool::new(false)));
            pause.wait(&stop);
            pause.set(true);
            let (one, two) = (Arc::clone(&pause), Arc::clone(&stop));
            let (done, is_done) = channel();
            let thread = spawn(move || {
                one.wait(&two);
                done.send(()).unwrap();
            });
            assert!(is_done.recv_timeout(3 * LOOK).is_err());
            if by_stop {
                stop.store(true, Ordering::Relaxed);
            } else {
                pause.set(false);
            }
            is_done.recv().unwrap();
            thread.join().unwrap();
        }
    }
}
