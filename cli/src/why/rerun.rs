//! The frame again, for the walk: every run on a device of its own.
//!
//! A device that has just been powered on has its snapshot counters at zero.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use driver::debug::walk::{Probe, Rerun};
use kernel::error::Error;

use crate::capture::Capture;
use crate::replay::{Attendant, Options, ReplayError, Session};

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum RerunError {
    /// The frame.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// What the frame did does not fit into a map, or cannot be shown.
    #[error("{0}")]
    Map(String),
    /// The registers, or the debugging session.
    #[error("debug registers: {0}")]
    Device(Error),
}

impl From<Error> for RerunError {
    fn from(error: Error) -> Self {
        RerunError::Device(error)
    }
}

/// Runs a capture again.
pub struct Replays<'a> {
    pub(super) capture: &'a Capture,
    pub(super) options: Options,
    /// Who may leave a run.
    pub(super) attendant: Option<Arc<dyn Attendant>>,
    /// What goes wrong in the frame itself. The walk goes as far as the frame runs.
    pub(super) trouble: Option<String>,
    /// The pixel, and its colour after the first run of the whole frame.
    pub(super) pixel: (u16, u16),
    pub(super) colour: Option<[u8; 4]>,
}

impl Replays<'_> {
    fn look(&mut self, session: &Session) {
        let (x, y) = self.pixel;
        // Later runs end their draws early, or stop threads.
        if self.colour.is_none()
            && let Ok(mut view) = session.view()
        {
            self.colour = view.colour(x.into(), y.into());
        }
    }
}

impl Rerun for Replays<'_> {
    type Error = RerunError;

    fn submissions(&self) -> usize {
        self.capture.execs.len()
    }

    fn rerun(&mut self, probe: &mut dyn Probe) -> Result<(), RerunError> {
        let mut session = Session::new(self.options, self.capture.buffer_bytes())?;
        if let Some(attendant) = &self.attendant {
            session.attend(Arc::clone(attendant));
        }
        let device = session.device().clone();
        let probe = RefCell::new(probe);
        for (submission, exec) in self.capture.execs.iter().enumerate() {
            probe.borrow_mut().before(&device, submission)?;
            let failed = Cell::new(None);
            let outcome = session.run_watched(exec, &|| {
                if let Err(error) = probe.borrow_mut().during(&device) {
                    failed.set(Some(error));
                }
            });
            if let Some(error) = failed.get() {
                return Err(error.into());
            }
            let goes_on = probe.borrow_mut().after(&device, submission)?;
            match outcome {
                // The frame has run as far as it goes.
                Err(error @ (ReplayError::Fault(_) | ReplayError::Contradiction(_))) => {
                    // The error state below it is the replay's to show.
                    let text = error.to_string();
                    self.trouble = text.lines().next().map(str::to_owned);
                    self.look(&session);
                    return Ok(());
                }
                outcome => outcome?,
            }
            if submission + 1 == self.capture.execs.len() {
                self.look(&session);
            }
            if !goes_on {
                break;
            }
        }
        drop(device);
        session.finish()?;
        Ok(())
    }
}
