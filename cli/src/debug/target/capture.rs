//! A capture as a target: replayed on a thread, as often as wanted.
//!
//! The same capture has the same threads in the same order each time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use kernel::string_helpers::Counted;

use super::Reach;
use crate::capture::Origin;
use crate::debug::gate::{Ending, Gate, State};
use crate::debug::{Answer, Refusal};
use crate::replay::{Attendant, Options, ReplayError, Session};
use crate::why::why_attended;

/// The thread that replays.
pub struct Runner {
    origin: Origin,
    options: Options,
    gate: Option<Arc<Gate>>,
    thread: Option<JoinHandle<()>>,
    submissions: Arc<AtomicUsize>,
}

/// However the thread ends, its waiters are told.
struct Guard(Arc<Gate>);

impl Drop for Guard {
    fn drop(&mut self) {
        if self.0.state() != State::Ended {
            let text = "the replay has ended by an error of the debugger".to_owned();
            self.0.end(Ending { code: 1, text }, None);
        }
    }
}

impl Runner {
    pub fn new(origin: Origin, options: Options) -> Self {
        Runner {
            origin,
            options,
            gate: None,
            thread: None,
            submissions: Arc::default(),
        }
    }

    /// How many submissions there are.
    pub fn submissions(&self) -> usize {
        self.submissions.load(Ordering::Relaxed)
    }

    /// Brings the first submission into place.
    pub fn begin(&mut self) -> Answer<Arc<Gate>> {
        let gate = Arc::new(Gate::default());
        let (own, origin, options) = (Arc::clone(&gate), self.origin.clone(), self.options);
        let submissions = Arc::clone(&self.submissions);
        let thread = Builder::new()
            .name("crestline-replay".to_owned())
            .spawn(move || {
                let guard = Guard(own);
                replay(&guard.0, &origin, options, &submissions);
            })
            .map_err(Refusal::of)?;
        self.thread = Some(thread);
        self.gate = Some(Arc::clone(&gate));
        while gate.wait(Duration::from_secs(1)) == State::Running {}
        match gate.ending() {
            Some(ending) => Err(Refusal(ending.text)),
            None => Ok(gate),
        }
    }

    /// How a pixel came about, by runs of its own.
    pub fn why(&self, pixel: (u16, u16), attendant: Arc<dyn Attendant>) -> Answer {
        let capture = self.origin.load().map_err(Refusal::of)?;
        let answer = why_attended(&capture, &self.options, pixel, attendant);
        let answer = answer.map_err(Refusal::of)?;
        Ok(answer.to_string())
    }

    /// Leaves the replay where it is.
    pub fn abandon(&mut self) {
        if let Some(gate) = self.gate.take() {
            gate.leave();
        }
        self.join();
    }

    pub fn join(&mut self) {
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::error!("the thread of the replay has panicked");
        }
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.abandon();
    }
}

fn replay(gate: &Arc<Gate>, origin: &Origin, options: Options, submissions: &AtomicUsize) {
    let failed = |text: String| gate.end(Ending { code: 1, text }, None);
    let mut reader = match origin.open() {
        Ok(reader) => reader,
        Err(error) => return failed(error.to_string()),
    };
    submissions.store(reader.len(), Ordering::Relaxed);
    let mut session = match Session::new(options, reader.buffer_limit()) {
        Ok(session) => session,
        Err(error) => return failed(error.to_string()),
    };
    session.attend(Arc::clone(gate) as Arc<dyn Attendant>);
    let reach = Reach::Model(Arc::clone(session.platform()));
    gate.publish(reach, Some(session.device().clone()));
    let mut all = || -> Result<(), ReplayError> {
        while let Some(submission) = reader.next_submission()? {
            session.run_submission(submission)?;
        }
        Ok(())
    };
    let ending = match all() {
        Ok(()) => {
            let report = session.report();
            Ending {
                code: 0,
                text: format!(
                    "the frame has ended: {}, {}, {}",
                    Counted(report.execs, "submission"),
                    Counted(report.activity.draws, "draw"),
                    Counted(report.activity.threads.iter().sum::<u64>(), "thread")
                ),
            }
        }
        Err(error) => Ending {
            code: 1,
            text: format!("the frame has ended with an error: {error}"),
        },
    };
    if gate.is_left() {
        // A thread without a waiter must not hold the device on its way out.
        session.platform().device().set_debugger(false);
        drop(session);
        gate.end(ending, None);
    } else {
        // The gate keeps the session, which must not keep the gate.
        session.dismiss();
        gate.end(ending, Some(session));
    }
}
