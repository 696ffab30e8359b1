//! Replays a capture through the driver on any platform: a real device, too.
//!
//! Only what a driver sees is used: there are no counters, traces or faults of a model. Time is the platform's. Each submission ends
//! before the next begins.

use std::sync::Arc;

use driver::{BatchDesc, Device, Driver, Request};
use kernel::error::Error;
use kernel::platform::Platform;
use kernel::time::Delta;
use mmio_mock::intel::ff::state::PipelineState;
use mmio_mock::intel::r#gen::DeviceInfo;

use super::ReplayError;
use super::objects::Objects;
use crate::capture::{Exec, Submission};
use crate::picture::{PageReader, PictureError, State, View, walk};

/// Longest time between two looks whether a submission has ended.
const MAX_STEP: Delta = Delta::from_millis(1);
/// TIMEOUT: for the device to be idle after the last submission.
const IDLE: Delta = Delta::from_secs(1);

/// Why a replay on a platform has failed.
#[derive(Debug, thiserror::Error)]
pub enum BoardError {
    /// Before the device got the submission, or at the end.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// The device has not ended a submission.
    #[error("{}{what}{}", named(.exec), state_of(.state.as_deref()))]
    Failed {
        /// Submission.
        exec: String,
        /// What has happened.
        what: String,
        /// The driver's error state.
        state: Option<String>,
    },
    /// Somebody has asked for the end.
    #[error("the replay was stopped before its end; the device was reset and given back")]
    Stopped,
}

fn named(exec: &str) -> String {
    match exec {
        "" => String::new(),
        name => format!("{name}: "),
    }
}

fn state_of(state: Option<&str>) -> String {
    let mut out = String::new();
    let Some(state) = state else { return out };
    out.push_str("\n  error state:");
    for line in state.lines() {
        out.push_str("\n    ");
        out.push_str(line);
    }
    out
}

/// What a wait has come to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waited {
    /// The submission has ended.
    Ended,
    /// It goes on.
    Over,
}

/// A submission that the device has.
struct Running {
    request: Request,
    exec: Arc<Exec>,
    draws: usize,
    /// The state of its last primitive.
    last: Option<State>,
    /// What it leaves to the next one.
    state: PipelineState,
}

/// A driver bound to a platform, and the objects of a capture.
pub struct BoardSession {
    device: Device,
    info: &'static DeviceInfo,
    timeout: Delta,
    objects: Objects,
    state: PipelineState,
    /// The last primitive.
    last: Option<(State, Arc<Exec>)>,
    running: Option<Running>,
    execs: usize,
    draws: usize,
}

impl BoardSession {
    /// Binds the driver; `info` has the tables by which pictures are found, `timeout` is what a submission may take.
    pub fn new(
        platform: Arc<dyn Platform>,
        info: &'static DeviceInfo,
        timeout: Delta,
    ) -> Result<Self, ReplayError> {
        let device = Driver::probe(platform).map_err(ReplayError::Probe)?;
        Ok(BoardSession {
            device,
            info,
            timeout,
            objects: Objects::default(),
            state: PipelineState::default(),
            last: None,
            running: None,
            execs: 0,
            draws: 0,
        })
    }

    /// The driver's device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Submissions so far, and draws in them.
    pub fn counts(&self) -> (usize, usize) {
        (self.execs, self.draws)
    }

    /// Runs one submission to its end; `is_over` is asked again and again whether to stop before.
    pub fn run(
        &mut self,
        submission: Submission,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(), BoardError> {
        self.begin(submission)?;
        match self.wait(is_over)? {
            Waited::Ended => Ok(()),
            Waited::Over => Err(BoardError::Stopped),
        }
    }

    /// Whether a submission has begun and not ended.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Brings the buffers of a submission to their places, and hands it to the device.
    pub fn begin(&mut self, submission: Submission) -> Result<(), BoardError> {
        let exec = &submission.exec;
        self.objects
            .place(&self.device, exec, submission.contents)?;
        let mut state = self.state.clone();
        let find = self.objects.finder(exec);
        let dword = |at| find.dword(at);
        let followed = walk(self.info, &dword, exec.batch_address(), &mut state);
        let request = self.submit(exec)?;
        self.running = Some(Running {
            request,
            exec: Arc::new(exec.outline()),
            draws: followed.draws.len(),
            last: followed.draws.last().map(|draw| draw.state),
            state,
        });
        Ok(())
    }

    fn submit(&self, exec: &Exec) -> Result<Request, BoardError> {
        let refused = |what, error| ReplayError::Submit {
            exec: exec.name.clone(),
            what,
            error,
        };
        let batch = exec.buffers.get(exec.batch);
        let object = batch
            .and_then(|batch| self.objects.of(batch))
            .ok_or_else(|| refused("batch", kernel::error::code::EINVAL))?;
        let desc = BatchDesc {
            object,
            start: exec.batch_start,
            len: exec.batch_len,
        };
        let request = self.device.submit(&desc);
        Ok(request.map_err(|error| refused("submission", error))?)
    }

    /// Waits for the end of the submission, or until `is_over`, which is asked again and again; it then goes on, and can be waited for
    /// again. Each wait may take the whole timeout.
    pub fn wait(&mut self, is_over: &dyn Fn() -> bool) -> Result<Waited, BoardError> {
        let Some(running) = &self.running else {
            return Ok(Waited::Ended);
        };
        let clock = self.device.platform().clock();
        let start = clock.now();
        let mut step = Delta::from_micros(1);
        while !running.request.is_complete() && clock.now() - start < self.timeout {
            if is_over() {
                return Ok(Waited::Over);
            }
            clock.relax(step);
            step = Delta::from_nanos(step.as_nanos() * 2).min(MAX_STEP);
        }
        if let Err(error) = running.request.wait(Delta::ZERO) {
            let failed = self.failed(&running.exec, error);
            self.running = None;
            return Err(failed);
        }
        if let Some(running) = self.running.take() {
            self.state = running.state;
            self.execs += 1;
            self.draws += running.draws;
            if let Some(state) = running.last {
                self.last = Some((state, running.exec));
            }
        }
        Ok(Waited::Ended)
    }

    fn failed(&self, exec: &Exec, error: Error) -> BoardError {
        let what = if error == kernel::error::code::ETIME {
            format!("not done after {}", self.timeout)
        } else {
            format!("the device has not done it: {error}")
        };
        let state = self.device.error_state();
        BoardError::Failed {
            exec: exec.name.clone(),
            what,
            state: state.map(|state| state.to_string()),
        }
    }

    /// The render target of the last primitive so far, to be read row by row.
    pub fn view(&self) -> Result<View<impl PageReader>, PictureError> {
        let (state, exec) = self.last.as_ref().ok_or(PictureError::NoPrimitive)?;
        self.objects.view(*state, exec, self.info)
    }

    /// Contents of all buffers of a submission as they are now, in its order.
    pub fn contents(&self, exec: &Exec) -> Vec<Option<Vec<u8>>> {
        let buffers = exec.buffers.iter();
        buffers
            .map(|buffer| self.objects.contents(buffer))
            .collect()
    }

    /// Waits until the device is idle, gives everything back and unbinds the driver.
    pub fn finish(self) -> Result<(), ReplayError> {
        let BoardSession {
            device, objects, ..
        } = self;
        if device.wait_idle(IDLE).is_err() {
            return Err(ReplayError::NotIdle);
        }
        drop(objects);
        device.remove().map_err(ReplayError::Remove)
    }
}
