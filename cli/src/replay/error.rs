//! Why a replay failed, with the place in the capture.
//!
//! The registers shown are the driver's error state.

use std::fmt;

use driver::ErrorState;
use kernel::error::Error;
use kernel::string_helpers::Counted;
use mmio_mock::Device;
use mmio_mock::core::fault::UnitFault;
use mmio_mock::core::status::FaultRecord;
use mmio_mock::intel::status::Client;
use regs::ids::RegId;

use super::Contradiction;
use crate::capture::{CaptureError, Exec};
use crate::places::{annotate_by, describe, near};

/// Why a replay failed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The capture could not be read on.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The capture contradicts itself.
    #[error("{0}")]
    Contradiction(Contradiction),
    /// The driver did not take the device.
    #[error("the driver does not bind to the device: {0}")]
    Probe(Error),
    /// The snapshot could not be armed.
    #[error("the pixel snapshot cannot be armed: {0}")]
    Snapshot(Error),
    /// A buffer could not be brought to its place.
    #[error("{exec}, buffer {index} ({file}): the driver refuses its {what}: {error}")]
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
    #[error("{exec}: the driver refuses the {what}: {error}")]
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
    /// The attendant has stopped it.
    #[error("the replay was stopped before its end")]
    Left,
    /// Something still runs at the end.
    #[error("the device is not idle after the last submission")]
    NotIdle,
    /// The driver could not be unbound.
    #[error("the driver cannot be unbound: {0}")]
    Remove(Error),
    /// Memory was not given back.
    #[error("{} still allocated after the driver was unbound", Counted(*pages, "page"))]
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
    /// Threads that can never end.
    pub hung: Vec<String>,
    /// After a timeout, threads that have not ended, and the blit in work.
    pub running: Vec<String>,
    /// After a timeout without any of these, how far the command streamer is.
    pub progress: Option<String>,
    /// The driver's error state.
    pub state: Option<String>,
}

impl FaultReport {
    /// Asks driver and device; `instruction` gives the text of an instruction at an address.
    pub fn new(
        exec: &Exec,
        ended: Option<String>,
        state: Option<&ErrorState>,
        device: &Device,
        instruction: impl Fn(u32) -> Option<String>,
    ) -> Self {
        let places = Places { exec, state };
        let note = |text: String| places.annotate(&text);
        let mut running = Vec::new();
        if ended.is_some() {
            running.extend(device.running_blit().map(note));
            let instructions = device.status().activity.instructions;
            running.extend(device.running_addresses().into_iter().map(|(unit, kernel, at)| {
                let what = instruction(at)
                    .map_or_else(String::new, |text| format!(" ({text})"));
                let done = instructions.get(unit as usize).copied().unwrap_or(0);
                let name = unit.name();
                note(format!(
                    "{name} thread, kernel {kernel:#010x}, still running at {at:#010x}{what}, {} of {name} threads so far",
                    Counted(done, "instruction")
                ))
            }));
        }
        let activity = device.status().activity;
        let progress = ended.as_ref().map(|_| {
            let at = state.and_then(|state| state.register(RegId::Acthd));
            let at = at.map_or_else(String::new, |at| format!(" and stands at ACTHD {at:#010x}"));
            note(format!(
                "the command streamer has executed {} and {}{at}",
                Counted(activity.commands, "command"),
                Counted(activity.draws, "draw")
            ))
        });
        FaultReport {
            exec: exec.name.clone(),
            ended,
            faults: device
                .status()
                .faults()
                .iter()
                .map(|record| fault(&places, record))
                .collect(),
            more: device.status().dropped_faults(),
            hung: device.hung_threads().into_iter().map(note).collect(),
            running,
            progress,
            state: state.map(|state| registers(&places, state)),
        }
    }

    /// What went wrong first, on one line.
    fn headline(&self) -> String {
        let ended = self.ended.as_deref();
        if let Some(fault) = self.faults.first() {
            return fault.clone();
        }
        // A thread of a batch that runs in circles is one of many, and will end.
        let circles = ended.is_some_and(|ended| ended.contains("in circles"));
        let running = self.running.first().filter(|_| !circles);
        // Where threads hold a draw up, the first of them says more than the stages that wait for it.
        let held = |line: &&String| line.starts_with("3D pipeline: ") && running.is_some();
        if let Some(hung) = self.hung.first().filter(|line| !held(line)) {
            return format!("a thread can never end: {hung}");
        }
        match (ended, running.or(self.progress.as_ref())) {
            (Some(ended), Some(what)) => format!("{ended}: {what}"),
            (Some(ended), None) => ended.to_owned(),
            (None, _) => "the device reports errors".to_owned(),
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

/// Where addresses lie: in a buffer of the submission, or in the copy of its batch that the driver lets run instead.
struct Places<'a> {
    exec: &'a Exec,
    state: Option<&'a ErrorState>,
}

impl Places<'_> {
    fn describe(&self, address: u32) -> Option<String> {
        let place = describe(self.exec, address);
        place.or_else(|| {
            let request = self.state?.request.as_ref()?;
            let offset = address.checked_sub(request.batch)?;
            let original = request.original?.checked_add(offset)?;
            let place = describe(self.exec, original).filter(|_| offset < self.exec.batch_len)?;
            Some(format!("the driver's copy of {original:#010x}, {place}"))
        })
    }

    fn annotate(&self, text: &str) -> String {
        annotate_by(|address| self.describe(address), text)
    }
}

/// A fault with its place; an address outside every buffer gets the nearest one.
fn fault(places: &Places<'_>, record: &FaultRecord) -> String {
    let exec = places.exec;
    let mut text = places.annotate(&format!("{}: {}", record.place, record.fault));
    if let UnitFault::Memory(fault) = &record.fault
        && places.describe(fault.addr.low()).is_none()
    {
        text = format!("{text} [{}]", near(exec, fault.addr.low()));
        let batch = exec.buffers.get(exec.batch);
        if record.client == Client::CommandFetch.name()
            && batch.is_some_and(|batch| batch.end() == fault.addr.0)
        {
            text.push_str(": the batch has no MI_BATCH_BUFFER_END before the end of its buffer");
        }
    }
    text
}

/// The error state; registers that hold addresses get their places.
fn registers(places: &Places<'_>, state: &ErrorState) -> String {
    let mut text = String::new();
    for line in state.to_string().lines() {
        // The driver knows that a request did not end, the headline also why.
        if line.contains(&state.reason) {
            continue;
        }
        let address = ["ACTHD", "DMA_FADD"]
            .iter()
            .any(|name| line.trim_start().starts_with(name));
        if address {
            text.push_str(&places.annotate(line));
        } else {
            text.push_str(line);
        }
        text.push('\n');
    }
    text
}

/// Equal texts once, in the order of the first of each, and how many there are. Threads of a kernel often share a mistake.
fn counted(texts: &[String]) -> Vec<(&str, usize)> {
    let mut found: Vec<(&str, usize)> = Vec::new();
    for text in texts {
        match found.iter_mut().find(|(known, _)| known == text) {
            Some((_, count)) => *count += 1,
            None => found.push((text, 1)),
        }
    }
    found
}

/// How often a text stands for something, unless that is once.
fn times(count: usize) -> String {
    match count {
        1 => String::new(),
        _ => format!(" ({count} times)"),
    }
}

impl fmt::Display for FaultReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A capture that is a submission's directory itself has submissions without a name.
        if !self.exec.is_empty() {
            write!(f, "{}: ", self.exec)?;
        }
        f.write_str(&self.headline())?;
        let faults = counted(&self.faults);
        if let Some((_, count)) = faults.first() {
            write!(f, "{}", times(*count))?;
        }
        for (fault, count) in faults.iter().skip(1) {
            write!(f, "\n  fault: {fault}{}", times(*count))?;
        }
        if self.more > 0 {
            write!(f, "\n  and {} more", Counted(self.more, "fault"))?;
        }
        let first = usize::from(self.faults.is_empty());
        for (hung, count) in counted(self.hung.get(first..).unwrap_or_default()) {
            write!(f, "\n  hung: {hung}{}", times(count))?;
        }
        let first = first & usize::from(self.hung.is_empty());
        for running in self.running.iter().skip(first) {
            write!(f, "\n  {running}")?;
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
