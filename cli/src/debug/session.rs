//! The debugger: its state, and one line at a time.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use isa::inst::Verx10;
use mmio_mock::intel::debug::host::ThreadKey;
use mmio_mock::intel::r#gen::DeviceInfo;

use super::backend::{Backend, Slot};
use super::breaks::Break;
use super::command::{self, Words};
use super::gate::State;
use super::history::Entry;
use super::inspect::Kept;
use super::registers::Registers;
use super::snapshots::Asked;
use super::target::Target;
use super::{Answer, Refusal};

/// Most `source` commands within one another.
pub const DEPTH: usize = 16;

/// Whether the debugger goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It does.
    GoOn,
    /// The target goes on alone, to its end.
    Quit,
    /// The target is ended.
    Kill,
}

/// A thread as it was at the last stop.
#[derive(Clone)]
pub struct Seen {
    /// Its name.
    pub key: ThreadKey,
    /// Its registers.
    pub registers: Registers,
    /// Instructions that it had executed, when that is known.
    pub instructions: Option<u64>,
    /// Instructions of all threads of the unit at that moment.
    pub of_unit: u64,
    /// It has ended since.
    pub ended: bool,
}

/// A debugger on a target.
pub struct Debugger {
    pub(super) target: Target,
    pub(super) backend: Arc<dyn Backend>,
    pub(super) info: &'static DeviceInfo,
    pub(super) isa: Verx10,
    pub(super) breaks: Vec<Break>,
    pub(super) next: u32,
    /// The thread that commands are about.
    pub(super) chosen: Option<(ThreadKey, Slot)>,
    pub(super) seen: Option<Seen>,
    /// Whether the end has been told.
    pub(super) told_end: bool,
    pub(super) journal: Vec<Entry>,
    pub(super) snapshots: Vec<Asked>,
    /// What the last command has printed.
    pub(super) printed: String,
    /// Set to get the prompt back.
    pub(super) interrupt: Arc<AtomicBool>,
    pub(super) depth: usize,
    /// Where the trace goes, while one is kept.
    pub(super) trace: Option<Kept>,
    /// Commands may name files.
    files: bool,
    flow: Flow,
}

impl Debugger {
    /// A debugger on a target that has not run yet.
    pub fn new(
        target: Target,
        backend: Arc<dyn Backend>,
        info: &'static DeviceInfo,
        interrupt: Arc<AtomicBool>,
    ) -> Answer<Self> {
        backend.attach(target.reach(), target.device())?;
        target.set_holder(Arc::clone(&backend) as Arc<dyn super::gate::Holder>);
        Ok(Debugger {
            target,
            backend,
            info,
            isa: info.isa,
            breaks: Vec::new(),
            next: 1,
            chosen: None,
            seen: None,
            told_end: false,
            journal: Vec::new(),
            snapshots: Vec::new(),
            printed: String::new(),
            interrupt,
            depth: 0,
            trace: None,
            files: true,
            flow: Flow::GoOn,
        })
    }

    /// Refuses every command that reads or writes a file from now on: for scripts of strangers.
    pub fn forbid_files(&mut self) {
        self.files = false;
    }

    /// Refuses to touch a file that a command names, when that is not wanted.
    pub(super) fn file_of_command(&self, name: &str) -> Answer<()> {
        if self.files {
            return Ok(());
        }
        Err(format!("{name}: commands may not name files here").into())
    }

    /// What is debugged.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Carries a line out: what it prints, or why it cannot be done. Comments begin with `#`.
    pub fn execute(&mut self, line: &str) -> Answer {
        let words = Words::of(line)?;
        let Some(name) = words.first() else {
            return Ok(String::new());
        };
        let command = command::find(name)?;
        let answer = (command.run)(self, &words.rest());
        if !command.keeps_text
            && let Ok(text) = &answer
        {
            self.printed.clone_from(text);
        }
        answer
    }

    /// Whether the debugger goes on.
    pub fn flow(&self) -> Flow {
        self.flow
    }

    pub(super) fn leave(&mut self, flow: Flow) {
        self.flow = flow;
    }

    /// A script has failed: a program may run for ever, and is ended; a frame is left.
    pub fn give_up(&mut self) {
        self.flow = Flow::Kill;
    }

    /// Lets the target go on alone and waits for its end, or ends it; the exit code.
    pub fn conclude(mut self) -> (u8, String) {
        self.snapshots.clear();
        if self.flow == Flow::Kill {
            let trace = self.write_trace();
            let gate = Arc::clone(self.target.gate());
            self.backend.detach(&mut || gate.leave());
            let ending = self.target.kill();
            // It was wanted so.
            return with_trace(trace, (0, ending.text));
        }
        if self.target.state() == State::Ready && self.target.is_live() {
            let trace = self.write_trace();
            let ending = self.target.kill();
            return with_trace(trace, (ending.code, ending.text));
        }
        let ready = self.target.state() == State::Ready;
        self.backend.detach(&mut || {
            if !ready {
                self.target.resume();
            }
        });
        if ready && let Err(refusal) = self.target.run() {
            return (1, refusal.0);
        }
        loop {
            let state = self.target.wait(super::running::LOOK);
            if state == State::Ended {
                break;
            }
            if self.interrupted() {
                let trace = self.write_trace();
                let ending = self.target.kill();
                return with_trace(trace, (ending.code, ending.text));
            }
        }
        let trace = self.write_trace();
        let ending = match self.target.conclude() {
            Ok(ending) if self.told_end => (ending.code, ending.headline().to_owned()),
            Ok(ending) => (ending.code, ending.text),
            Err(refusal) => (1, refusal.0),
        };
        with_trace(trace, ending)
    }

    /// The thread that commands are about.
    pub(super) fn chosen(&self) -> Answer<(ThreadKey, Slot)> {
        self.chosen.ok_or_else(|| {
            Refusal(match self.target.state() {
                State::Ready => format!(
                    "{} has not run yet, and no thread is stopped: a breakpoint (`break pixel X,Y`, `help break`) and `run` \
                     stop one",
                    self.target.name()
                ),
                State::Ended => {
                    format!(
                        "{} has ended, and no thread is stopped: breakpoints have to be set before `run`",
                        self.target.name()
                    )
                }
                State::Stopped | State::Running => {
                    "no thread is chosen: `threads` lists those that are stopped, `thread N` chooses one".to_owned()
                }
            })
        })
    }

    /// Registers of that thread, which must be alive: its place may have another one by now.
    pub(super) fn registers(&self) -> Answer<Registers> {
        let (_, slot) = self.alive()?;
        self.backend.read(slot)
    }
}

/// What is said of a trace goes before the end, each on a line; one that is not written is an error.
fn with_trace(trace: Answer, (code, text): (u8, String)) -> (u8, String) {
    match trace {
        Ok(said) => (code, said + &text),
        Err(refusal) => (code.max(1), format!("{refusal}\n{text}")),
    }
}
