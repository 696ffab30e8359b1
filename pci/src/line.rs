//! The interrupt line: a thread that waits for interrupts and calls the handler.
//!
//! Where interrupts come from is a [`Source`]. Not modelled: MSI.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use kernel::error::Result;
use kernel::error::code::{EBUSY, ENOMEM};
use kernel::irq::{Handler, IrqLine, IrqReturn};

use crate::Bell;

/// What is told of interrupts.
pub trait Source: Send {
    /// Waits for an interrupt, for so long at most; whether there was one.
    fn wait(&mut self, patience: Duration) -> io::Result<bool>;

    /// Lets the next one come, after this one was handled.
    fn rearm(&mut self) -> io::Result<()>;
}

/// Looks again and again, where nobody tells of interrupts.
pub struct Look;

/// TIMEOUT: between two looks. Programs that wait look by themselves as well.
const LOOK: Duration = Duration::from_millis(1);
/// TIMEOUT: how long the thread may take to see that it is to end.
const PATIENCE: Duration = Duration::from_millis(20);
/// Calls of the handler for one interrupt; more mean that it acknowledges nothing.
const MOST_CALLS: usize = 64;

impl Source for Look {
    fn wait(&mut self, patience: Duration) -> io::Result<bool> {
        std::thread::sleep(LOOK.min(patience));
        Ok(true)
    }

    fn rearm(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The thread that works for a handler.
struct Running {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Box<dyn Source>>,
}

enum State {
    Idle(Option<Box<dyn Source>>),
    Running(Running),
}

/// The line.
pub struct Line {
    state: Mutex<State>,
    bell: Arc<Bell>,
}

impl Line {
    /// The line of a source; the bell rings behind each interrupt.
    #[must_use]
    pub fn new(source: Box<dyn Source>, bell: &Arc<Bell>) -> Self {
        Line {
            state: Mutex::new(State::Idle(Some(source))),
            bell: Arc::clone(bell),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IrqLine for Line {
    fn request(&self, handler: Arc<dyn Handler>) -> Result {
        let mut state = self.lock();
        let State::Idle(source) = &mut *state else {
            return Err(EBUSY);
        };
        let mut source = source.take().unwrap_or_else(|| Box::new(Look));
        let stop = Arc::new(AtomicBool::new(false));
        let (told, bell) = (Arc::clone(&stop), Arc::clone(&self.bell));
        let run = move || {
            while !told.load(Ordering::Acquire) {
                if let Err(error) = once(source.as_mut(), handler.as_ref(), &bell) {
                    log::error!(
                        "interrupts: {error}; the device is looked at every millisecond instead"
                    );
                    source = Box::new(Look);
                }
            }
            source
        };
        let named = Builder::new().name("crestline-pci-irq".to_owned());
        let thread = named.spawn(run).map_err(|_| ENOMEM)?;
        *state = State::Running(Running { stop, thread });
        Ok(())
    }

    fn free(&self) {
        let mut state = self.lock();
        let State::Running(_) = &*state else { return };
        if let State::Running(Running { stop, thread }) =
            std::mem::replace(&mut *state, State::Idle(None))
        {
            stop.store(true, Ordering::Release);
            // A handler that has panicked has said so, and its source went with it.
            *state = State::Idle(thread.join().ok());
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.free();
    }
}

/// Waits for an interrupt and handles it.
fn once(source: &mut dyn Source, handler: &dyn Handler, bell: &Bell) -> io::Result<()> {
    if !source.wait(PATIENCE)? {
        return Ok(());
    }
    for _ in 0..MOST_CALLS {
        if handler.handle() == IrqReturn::None {
            break;
        }
        bell.ring();
    }
    source.rearm()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc::{Receiver, Sender, channel};

    struct Told(Receiver<io::Result<bool>>, Sender<()>);

    impl Source for Told {
        fn wait(&mut self, patience: Duration) -> io::Result<bool> {
            self.0.recv_timeout(patience).unwrap_or(Ok(false))
        }
        fn rearm(&mut self) -> io::Result<()> {
            self.1.send(()).map_err(io::Error::other)
        }
    }

    /// Has so many causes left.
    struct Counts(AtomicUsize, AtomicUsize);

    impl Handler for Counts {
        fn handle(&self) -> IrqReturn {
            self.1.fetch_add(1, Ordering::SeqCst);
            let left = self
                .0
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                    left.checked_sub(1)
                });
            left.map_or(IrqReturn::None, |_| IrqReturn::Handled)
        }
    }

    #[test]
    fn the_handler_is_called_until_it_has_nothing_to_do_and_the_source_is_rearmed() {
        let ((tell, told), (rearm, rearmed)) = (channel(), channel());
        let line = Line::new(Box::new(Told(told, rearm)), &Arc::default());
        let handler = Arc::new(Counts(AtomicUsize::new(3), AtomicUsize::new(0)));
        line.request(handler.clone()).unwrap();
        assert_eq!(line.request(handler.clone()), Err(EBUSY));
        tell.send(Ok(true)).unwrap();
        rearmed.recv().unwrap();
        assert_eq!(handler.1.load(Ordering::SeqCst), 4);
        line.free();
        line.free();
        // The source is kept for the next handler.
        line.request(handler.clone()).unwrap();
        tell.send(Ok(true)).unwrap();
        rearmed.recv().unwrap();
        assert_eq!(handler.1.load(Ordering::SeqCst), 5);
    }

    #[test]
    fn a_handler_that_acknowledges_nothing_is_left_alone_after_a_while() {
        let ((tell, told), (rearm, rearmed)) = (channel(), channel());
        let line = Line::new(Box::new(Told(told, rearm)), &Arc::default());
        let handler = Arc::new(Counts(AtomicUsize::new(usize::MAX), AtomicUsize::new(0)));
        line.request(handler.clone()).unwrap();
        tell.send(Ok(true)).unwrap();
        rearmed.recv().unwrap();
        assert_eq!(handler.1.load(Ordering::SeqCst), MOST_CALLS);
    }

    #[test]
    fn a_source_that_fails_is_replaced_by_looks() {
        let ((tell, told), (rearm, _rearmed)) = (channel(), channel());
        let line = Line::new(Box::new(Told(told, rearm)), &Arc::default());
        let handler = Arc::new(Counts(AtomicUsize::new(5), AtomicUsize::new(0)));
        line.request(handler.clone()).unwrap();
        tell.send(Err(io::ErrorKind::BrokenPipe.into())).unwrap();
        while handler.0.load(Ordering::SeqCst) > 0 {
            std::thread::yield_now();
        }
    }
}
