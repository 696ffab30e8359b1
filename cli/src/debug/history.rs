//! Steps backwards: the frame runs again, with the same changes.
//!
//! Device time differs between the runs by what the debugger held, which no thread can see. Not
//! modelled: changes made while no thread was stopped.

use kernel::string_helpers::Counted;
use mmio_mock::intel::debug::host::ThreadKey;

use super::backend::{Going, Reason, Slot, Spec};
use super::command::Words;
use super::gate::State;
use super::registers::Registers;
use super::running::thread_name;
use super::session::Debugger;
use super::{Answer, Refusal, value};

/// Number of the rule that runs a frame up to an instruction.
const REPLAY: u32 = 0;

/// Something that `set` has changed.
#[derive(Clone)]
pub enum Change {
    /// Registers of a thread.
    Registers(Box<Registers>),
    /// Bytes at a graphics address; instructions among them.
    Memory(u32, Vec<u8>),
}

/// When a change was made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Before anything ran.
    First,
    /// When a thread had executed so many instructions.
    At(ThreadKey, u64),
    /// Nobody can say.
    Unknown,
}

/// A change, and when it was made.
#[derive(Clone)]
pub struct Entry {
    /// When.
    pub at: When,
    /// What was changed.
    pub change: Change,
}

impl Debugger {
    /// When a change is made that is made now; `None` for programs, which never run again.
    pub(super) fn now(&self) -> Answer<Option<When>> {
        if self.target.is_live() {
            return Ok(None);
        }
        Ok(Some(match self.target.state() {
            State::Stopped => {
                let (key, _) = self.alive()?;
                let count = self.backend.count(key);
                count.map_or(When::Unknown, |count| When::At(key, count))
            }
            _ => When::First,
        }))
    }

    /// Remembers a change for later runs.
    pub(super) fn record(&mut self, at: Option<When>, change: Change) {
        if let Some(at) = at {
            self.journal.push(Entry { at, change });
        }
    }

    pub(super) fn do_back(&mut self, words: &Words) -> Answer {
        let count = match words.list().as_slice() {
            [] => 1,
            [text] => value::count(text)?,
            [_, more, ..] => return Err(format!("`{more}` is too much").into()),
        };
        if self.target.is_live() {
            return Err("a live program cannot be run again; record it with `crestline exec --record DIR`, and debug the capture".into());
        }
        let (key, now) = self.position()?;
        let to = now.saturating_sub(count);
        let mut text = String::new();
        if count > now {
            text = format!(
                "{} has only {} before this one\n",
                thread_name(key),
                Counted(now, "instruction")
            );
        }
        self.go_to(key, to)?;
        Ok(text + &self.await_told())
    }

    /// The thread and how many instructions it has executed, also when it has just ended.
    fn position(&self) -> Answer<(ThreadKey, u64)> {
        let (key, _) = self.chosen()?;
        let name = thread_name(key);
        if self.info(key).is_some() {
            let count = self.backend.count(key).ok_or_else(|| {
                Refusal(format!(
                    "how many instructions {name} has executed is known only when it was stopped before its first"
                ))
            });
            return Ok((key, count?));
        }
        if let Some(count) = self.backend.count(key) {
            // Followed up to the message that has ended it.
            return Ok((key, count + 1));
        }
        let ended = || Refusal(format!("{name} has ended"));
        let seen = self.seen.as_ref().filter(|seen| seen.key == key);
        let seen = seen.ok_or_else(ended)?;
        let before = seen.instructions.ok_or_else(ended)?;
        let since = self.instructions_of(key.unit).saturating_sub(seen.of_unit);
        Ok((key, before + since))
    }

    /// Runs the frame again up to an instruction of a thread.
    fn go_to(&mut self, key: ThreadKey, count: u64) -> Answer<()> {
        let hits: Vec<u64> = self.breaks.iter().map(|b| b.hits).collect();
        self.anew()?;
        for (each, hits) in self.breaks.iter_mut().zip(hits) {
            each.hits = hits;
            self.backend.remove(each.number);
        }
        // What came after that moment has not happened.
        self.journal.retain(|entry| match entry.at {
            When::At(other, made) => other != key || made <= count,
            When::First | When::Unknown => true,
        });
        let lost = self.journal.iter().any(|entry| entry.at == When::Unknown);
        let outcome = if lost {
            Err(Refusal::of(
                "the frame stands at its beginning: where it was changed before is not known",
            ))
        } else {
            self.run_to(key, count)
        };
        for each in &self.breaks {
            self.backend.add(each.number, each.spec)?;
        }
        outcome
    }

    fn run_to(&mut self, key: ThreadKey, count: u64) -> Answer<()> {
        let journal = self.journal.clone();
        let mut begun = false;
        for entry in &journal {
            match entry.at {
                When::First | When::Unknown => {}
                When::At(key, count) => self.reach_instruction(key, count, &mut begun)?,
            }
            self.apply(&entry.change)?;
        }
        self.reach_instruction(key, count, &mut begun)
    }

    /// Runs on to an instruction, unless that is where things stand.
    fn reach_instruction(&mut self, key: ThreadKey, count: u64, begun: &mut bool) -> Answer<()> {
        if *begun && self.backend.count(key) == Some(count) {
            return Ok(());
        }
        self.backend.add(REPLAY, Spec::Instruction(key, count))?;
        if *begun {
            self.backend.go(None, Going::Continue)?;
            self.target.resume();
        } else {
            self.target.run()?;
            *begun = true;
        }
        let state = self.await_quietly();
        self.backend.remove(REPLAY);
        if state != State::Stopped {
            return Err(format!(
                "the frame has ended before {} came there again",
                thread_name(key)
            )
            .into());
        }
        self.chosen = self.backend.stopped().and_then(|stop| stop.thread);
        Ok(())
    }

    fn await_quietly(&self) -> State {
        loop {
            match self.target.wait(super::running::LOOK) {
                State::Running if self.interrupted() => self.backend.stop(),
                State::Running => {}
                state => return state,
            }
        }
    }

    /// Where the thread stands now, as after a step.
    fn await_told(&mut self) -> String {
        self.seen = None;
        let Some((key, slot)) = self.chosen else {
            return String::new();
        };
        let stop = super::backend::Stop {
            thread: Some((key, slot)),
            reason: Reason::Stepped,
        };
        self.tell(&stop)
    }

    pub(super) fn apply(&mut self, change: &Change) -> Answer<()> {
        match change {
            Change::Registers(registers) => {
                let (_, slot): (ThreadKey, Slot) = self.chosen()?;
                self.backend.write(slot, registers)
            }
            Change::Memory(address, bytes) => self.write_bytes(*address, bytes),
        }
    }
}
