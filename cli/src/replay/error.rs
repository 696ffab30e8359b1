//! Why a replay failed, with the place in the capture.
//!
//! No PRM chapter; the registers shown are the driver's error state.

use std::fmt;

use driver::ErrorState;
use kernel::error::Error;
use mmio_mock::Device;

use crate::capture::Exec;
use crate::places::annotate;

/// Why a replay failed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The driver did not take the device.
    #[error("the driver does not bind to the device: {0}")]
    Probe(Error),
    /// The snapshot could not be armed.
    #[error("pixel snapshot: {0}")]
    Snapshot(Error),
    /// A buffer could not be brought to its place.
    #[error("{exec}, buffer {index} ({file}): {what}: {error}")]
    Buffer {
        /// Submission.
        exec: String,
        /// Index in the execution list.
        index: usize,
        /// File of the contents.
        file: String,
        /// What the driver refused.
        what: &'static str,
        /// Its answer.
        error: Error,
    },
    /// The driver did not take the batch.
    #[error("{exec}: {what}: {error}")]
    Submit {
        /// Submission.
        exec: String,
        /// What was refused.
        what: &'static str,
        /// The driver's answer.
        error: Error,
    },
    /// The device faulted or did not end.
    #[error("{0}")]
    Fault(Box<FaultReport>),
    /// Something still runs at the end.
    #[error("the device is not idle after the last submission")]
    NotIdle,
    /// The driver could not be unbound.
    #[error("removal of the driver: {0}")]
    Remove(Error),
    /// Memory was not given back.
    #[error("{pages} pages are still allocated after the removal of the driver")]
    Leak {
        /// How many.
        pages: usize,
    },
}

/// What went wrong on the device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultReport {
    /// Submission.
    pub exec: String,
    /// How the request ended, if not well.
    pub ended: Option<String>,
    /// Faults of the units, oldest first, with their places.
    pub faults: Vec<String>,
    /// Faults beyond those.
    pub more: u64,
    /// Threads that can never end, and after a timeout those that have not ended.
    pub hung: Vec<String>,
    /// The driver's error state.
    pub state: Option<String>,
}

impl FaultReport {
    /// Asks driver and device.
    pub fn new(
        exec: &Exec,
        ended: Option<String>,
        state: Option<&ErrorState>,
        device: &Device,
    ) -> Self {
        let note = |text: String| annotate(exec, &text);
        let mut hung = device.hung_threads();
        if ended.is_some() {
            hung.extend(device.running_threads());
        }
        FaultReport {
            exec: exec.name.clone(),
            ended,
            faults: device
                .status()
                .faults()
                .iter()
                .map(|record| note(format!("{}: {}", record.place, record.fault)))
                .collect(),
            more: device.status().dropped_faults(),
            hung: hung.into_iter().map(note).collect(),
            state: state.map(|state| registers(exec, state)),
        }
    }

    /// Whether nothing went wrong.
    pub fn is_empty(&self) -> bool {
        self.ended.is_none()
            && self.faults.is_empty()
            && self.hung.is_empty()
            && self.state.is_none()
    }
}

/// The error state; registers that hold addresses get their places.
fn registers(exec: &Exec, state: &ErrorState) -> String {
    let mut text = String::new();
    for line in state.to_string().lines() {
        let address = ["ACTHD", "DMA_FADD"]
            .iter()
            .any(|name| line.trim_start().starts_with(name));
        if address {
            text.push_str(&annotate(exec, line));
        } else {
            text.push_str(line);
        }
        text.push('\n');
    }
    text
}

impl fmt::Display for FaultReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.exec)?;
        match &self.ended {
            Some(ended) => write!(f, "{ended}")?,
            None => write!(f, "the device reports errors")?,
        }
        for fault in &self.faults {
            write!(f, "\n  fault: {fault}")?;
        }
        if self.more > 0 {
            write!(f, "\n  and {} faults more", self.more)?;
        }
        for hung in &self.hung {
            write!(f, "\n  hung: {hung}")?;
        }
        if let Some(state) = &self.state {
            write!(f, "\n  error state:")?;
            for line in state.lines() {
                write!(f, "\n    {line}")?;
            }
        }
        Ok(())
    }
}
