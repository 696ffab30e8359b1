//! Running: start, continue, steps, and what is said at a stop.

mod subject;

use std::fmt::Write as _;
use std::sync::atomic::Ordering;
use std::time::Duration;

use kernel::string_helpers::Counted;
use mmio_mock::intel::debug::host::ThreadKey;
use mmio_mock::intel::status::Unit;
use mmio_mock::intel::td::Pause;
use mmio_mock::intel::td::debugger::Info;

use self::subject::subject;
use super::backend::{Going, Reason, Slot, Spec, Stop};
use super::breaks::unit_name;
use super::command::{Words, none};
use super::gate::State;
use super::registers::Written;
use super::session::{Debugger, Seen};
use super::{Answer, Refusal, value};

/// Wall time between two looks for somebody who wants the prompt back.
pub const LOOK: Duration = Duration::from_millis(50);

/// Instructions of a kernel looked at.
const MAX_INSTRUCTIONS: u32 = 1 << 12;
/// Bytes of watched memory that are shown.
const SHOWN: usize = 16;

/// How a thread is called.
pub fn thread_name(key: ThreadKey) -> String {
    format!(
        "{} thread {}",
        unit_name(key.unit).to_uppercase(),
        key.ordinal
    )
}

/// The channel of a pixel by the upper left pixels of its thread's blocks of 2x2 pixels. Four channels are a block's: row by
/// row, left to right.
fn channel(places: &[u32], x: u32, y: u32) -> Option<usize> {
    let corner = (y & !1) << 16 | (x & !1);
    let block = places.iter().position(|xy| *xy == corner)?;
    Some(block * 4 + (y & 1) as usize * 2 + (x & 1) as usize)
}

/// Why a thread stands, in words.
fn pause(pause: Pause) -> String {
    match pause {
        Pause::Ready => "ready".to_owned(),
        Pause::Wait(n) => format!("waits for n{n}"),
        Pause::Busy => "waits for a shared function".to_owned(),
        Pause::Loops => "goes round for ever".to_owned(),
        Pause::Hung => "can never go on".to_owned(),
    }
}

impl Debugger {
    /// Whether somebody wants the prompt back; asked once.
    pub(super) fn interrupted(&self) -> bool {
        self.interrupt.swap(false, Ordering::SeqCst)
    }

    /// Every thread that is alive.
    pub(super) fn infos(&self) -> Vec<Info> {
        self.target.reach().with_device(|device| device.threads())
    }

    /// One of them.
    pub(super) fn info(&self, key: ThreadKey) -> Option<Info> {
        self.infos().into_iter().find(|info| info.key == key)
    }

    pub(super) fn do_run(&mut self, words: &Words) -> Answer {
        none(words)?;
        if self.target.state() != State::Ready {
            self.anew()?;
            self.journal.clear();
        }
        self.target.run()?;
        self.await_stop()
    }

    /// Takes a capture to its beginning, with all breakpoints set.
    pub(super) fn anew(&mut self) -> Answer<()> {
        self.target.restart()?;
        let holder =
            std::sync::Arc::clone(&self.backend) as std::sync::Arc<dyn super::gate::Holder>;
        self.target.set_holder(holder);
        self.backend
            .attach(self.target.reach(), self.target.device())?;
        self.chosen = None;
        self.seen = None;
        self.told_end = false;
        self.trace_anew()?;
        self.arm_anew()?;
        self.set_all()
    }

    pub(super) fn do_continue(&mut self, words: &Words) -> Answer {
        none(words)?;
        self.go(None, Going::Continue)
    }

    pub(super) fn do_step(&mut self, words: &Words) -> Answer {
        let count = match words.list().as_slice() {
            [] => 1,
            [text] => value::count(text)?,
            [_, more, ..] => return Err(format!("`{more}` is too much").into()),
        };
        if count == 0 {
            return Ok(String::new());
        }
        let thread = self.alive()?;
        self.go(Some(thread), Going::Step(count))
    }

    pub(super) fn do_finish(&mut self, words: &Words) -> Answer {
        none(words)?;
        let thread = self.alive()?;
        self.go(Some(thread), Going::Finish)
    }

    /// The thread that is chosen, which must be alive.
    pub(super) fn alive(&self) -> Answer<(ThreadKey, Slot)> {
        let (key, slot) = self.chosen()?;
        if self.info(key).is_none() {
            return Err(format!("{} has ended; `continue` goes on", thread_name(key)).into());
        }
        Ok((key, slot))
    }

    /// Lets go what is stopped.
    pub(super) fn go(&mut self, thread: Option<(ThreadKey, Slot)>, going: Going) -> Answer {
        match self.target.state() {
            State::Stopped => {}
            State::Ready => {
                return Err(
                    format!("{} has not run yet: `run` starts it", self.target.name()).into(),
                );
            }
            State::Ended => return Err(format!("{} has ended", self.target.name()).into()),
            State::Running => return Err(format!("{} is running", self.target.name()).into()),
        }
        if thread.is_some() && thread == self.chosen {
            self.remember();
        }
        self.backend.go(thread, going)?;
        self.target.resume();
        self.await_stop()
    }

    /// Keeps what the chosen thread is like before it goes on.
    fn remember(&mut self) {
        self.seen = self.look();
    }

    fn look(&self) -> Option<Seen> {
        let (key, slot) = self.chosen?;
        self.info(key)?;
        let registers = self.backend.read(slot).ok()?;
        Some(Seen {
            key,
            instructions: self.backend.count(key),
            of_unit: self.instructions_of(key.unit),
            registers,
            ended: false,
        })
    }

    /// Instructions of all threads of a unit.
    pub(super) fn instructions_of(&self, unit: Unit) -> u64 {
        let counts = self
            .target
            .reach()
            .with_device(|device| device.status().activity.instructions);
        counts.get(unit as usize).copied().unwrap_or(0)
    }

    /// Waits for a stop or the end, and tells of it.
    pub(super) fn await_stop(&mut self) -> Answer {
        loop {
            match self.target.wait(LOOK) {
                State::Running => {
                    if self.interrupted() {
                        self.backend.stop();
                    }
                }
                State::Stopped => return Ok(self.tell_stop()),
                State::Ended => return Ok(self.tell_end()),
                State::Ready => return Ok(String::new()),
            }
        }
    }

    fn tell_end(&mut self) -> String {
        self.chosen = None;
        self.seen = None;
        self.told_end = true;
        let ending = self.target.gate().ending();
        let mut text = ending.map(|ending| ending.text).unwrap_or_default();
        text.push('\n');
        text.push_str(&self.unmet());
        text.push_str(&self.untrapped());
        text
    }

    fn tell_stop(&mut self) -> String {
        let Some(stop) = self.backend.stopped() else {
            return "stopped\n".to_owned();
        };
        if let Reason::Break(number) = stop.reason
            && let Some(met) = self.breaks.iter_mut().find(|b| b.number == number)
        {
            met.hits += 1;
        }
        self.note_size();
        self.chosen = stop.thread.or_else(|| {
            // A unit without threads, or nobody in particular.
            let infos = self.infos();
            let info = infos.first()?;
            let slot = Slot {
                eu: info.id.eu,
                slot: info.id.slot,
            };
            Some((info.key, slot))
        });
        self.tell(&stop)
    }

    /// The stop, what has changed, and the instruction.
    pub(super) fn tell(&mut self, stop: &Stop) -> String {
        let mut text = self.reason(stop);
        text.push('\n');
        if stop.reason == Reason::Ended {
            if let Some(seen) = &mut self.seen {
                seen.ended = true;
            }
            return text;
        }
        text.push_str(&self.memory_changes(stop));
        text.push_str(&self.differences());
        if let Ok(line) = self.current_line() {
            text.push_str(&line);
        }
        self.remember();
        text
    }

    /// Why it has stopped, in words.
    fn reason(&self, stop: &Stop) -> String {
        let why = match stop.reason {
            Reason::Break(number) => {
                let found = self.breaks.iter().find(|b| b.number == number);
                match found {
                    Some(b) if b.text.starts_with("watch ") => format!(
                        "{} has changed: ",
                        b.text.replacen("watch", &format!("watch {number},"), 1)
                    ),
                    Some(b) => format!("breakpoint {number}, {}: ", b.text),
                    None => String::new(),
                }
            }
            Reason::Stepped => String::new(),
            Reason::Ended => {
                let name = stop
                    .thread
                    .map(|(key, _)| thread_name(key))
                    .unwrap_or_default();
                return format!("{name} has ended");
            }
            Reason::Asked => "interrupted: ".to_owned(),
        };
        let Some((key, slot)) = stop.thread else {
            return format!("{why}no thread runs");
        };
        let mut text = format!("{why}{}", thread_name(key));
        if let Some(info) = self.info(key) {
            let _ = write!(text, ", EU {} thread {}", slot.eu, slot.slot);
            text.push_str(&self.after(key));
            text.push_str(&subject(&info));
            text.push_str(&self.channel(stop, &info, slot).unwrap_or_default());
        }
        text
    }

    /// Which channel of the thread the pixel or the invocation of a breakpoint is, when the thread has stopped there for it. Where nobody has
    /// kept its places, r1.2 to r1.5 tell (PRM volume 2, pixel shader thread payload): it has executed nothing yet.
    fn channel(&self, stop: &Stop, info: &Info, slot: Slot) -> Option<String> {
        let Reason::Break(number) = stop.reason else {
            return None;
        };
        let found = self.breaks.iter().find(|b| b.number == number)?;
        if let Spec::Invocation(_, invocation) = found.spec {
            return subject::invocation(info, invocation);
        }
        let Spec::Pixel(x, y) = found.spec else {
            return None;
        };
        let n = match info.pixels.places() {
            [] => {
                let registers = self.backend.read(slot).ok()?;
                channel(registers.grf.get(1)?.get(2..6)?, x.into(), y.into())?
            }
            places => channel(places, x.into(), y.into())?,
        };
        Some(format!("; pixel {x},{y} is channel {n}"))
    }

    /// What a watch on memory has met.
    fn memory_changes(&mut self, stop: &Stop) -> String {
        let Reason::Break(number) = stop.reason else {
            return String::new();
        };
        let found = self.breaks.iter().position(|b| b.number == number);
        let Some((at, Spec::Memory(address, bytes))) =
            found.and_then(|at| Some((at, self.breaks.get(at)?.spec)))
        else {
            return String::new();
        };
        let now = self.bytes(address, bytes as usize).unwrap_or_default();
        let Some(watch) = self.breaks.get_mut(at) else {
            return String::new();
        };
        let old = std::mem::replace(&mut watch.bytes, now);
        let differ = old
            .iter()
            .zip(&watch.bytes)
            .position(|(old, new)| old != new);
        let Some(first) = differ.map(|at| at & !3) else {
            return String::new();
        };
        let hex = |bytes: &[u8]| -> String {
            let end = bytes.len().min(first + SHOWN);
            let shown = bytes.get(first..end).unwrap_or_default();
            let list: Vec<String> = shown.iter().map(|byte| format!("{byte:02x}")).collect();
            list.join(" ")
        };
        let at = address.wrapping_add(first as u32);
        format!("  0x{at:08x}: {} -> {}\n", hex(&old), hex(&watch.bytes))
    }

    /// How far a thread is, when that is known.
    fn after(&self, key: ThreadKey) -> String {
        match self.backend.count(key) {
            Some(count) => format!(", after {}", Counted(count, "instruction")),
            None => String::new(),
        }
    }

    /// What the thread's registers hold now and did not at the last stop.
    fn differences(&self) -> String {
        let (Some(seen), Some((key, slot))) = (&self.seen, self.chosen) else {
            return String::new();
        };
        if seen.key != key || self.info(key).is_none() {
            // Its place may have another one's by now.
            return String::new();
        }
        let Ok(now) = self.backend.read(slot) else {
            return String::new();
        };
        let wrote = self.written(key, seen.registers.ip, now.ip);
        now.changes(&seen.registers, &wrote)
    }

    /// What the instructions of a thread have written on its way from one to another.
    fn written(&self, key: ThreadKey, from: u32, to: u32) -> Written {
        let mut wrote = Written::default();
        let Some(info) = self.info(key) else {
            return wrote;
        };
        let base = info.context.bases.kernels();
        // A loop may have executed any of them.
        let (from, to) = if from < to {
            (from, to)
        } else {
            (
                info.kernel,
                self.behind(base.wrapping_add(from)).wrapping_sub(base),
            )
        };
        let (mut at, end) = (base.wrapping_add(from), base.wrapping_add(to));
        for _ in 0..MAX_INSTRUCTIONS {
            if at >= end {
                break;
            }
            if let Ok(item) = self.instruction(at)
                && let Ok(inst) = &item.inst
            {
                wrote.note(inst);
            }
            at = self.behind(at);
        }
        wrote
    }

    pub(super) fn do_threads(&mut self, words: &Words) -> Answer {
        none(words)?;
        let infos = self.infos();
        if infos.is_empty() {
            return Ok("no threads\n".to_owned());
        }
        let chosen = self.chosen.map(|(key, _)| key);
        let mut text = String::new();
        for (n, info) in infos.iter().enumerate() {
            let mark = if chosen == Some(info.key) { '*' } else { ' ' };
            let slot = Slot {
                eu: info.id.eu,
                slot: info.id.slot,
            };
            let base = info.context.bases.kernels();
            let at = match self.backend.read(slot) {
                Ok(registers) => format!("at 0x{:08x}", base.wrapping_add(registers.ip)),
                Err(_) => "not halted".to_owned(),
            };
            let _ = writeln!(
                text,
                "{mark} {}  {}, EU {} thread {}, kernel 0x{:08x}, {at}{}, {}{}",
                n + 1,
                thread_name(info.key),
                slot.eu,
                slot.slot,
                base.wrapping_add(info.kernel),
                self.after(info.key),
                pause(info.pause),
                subject(info)
            );
        }
        Ok(text)
    }

    pub(super) fn do_thread(&mut self, words: &Words) -> Answer {
        let infos = self.infos();
        match words.list().as_slice() {
            [] => {
                let (key, slot) = self.chosen()?;
                Ok(format!(
                    "{}, EU {} thread {}\n",
                    thread_name(key),
                    slot.eu,
                    slot.slot
                ))
            }
            [text] => {
                if self.target.state() != State::Stopped {
                    return Err("no thread is stopped".into());
                }
                let n = value::number(text)? as usize;
                let info = n.checked_sub(1).and_then(|n| infos.get(n));
                let info = info.ok_or_else(|| {
                    Refusal(format!(
                        "there is no thread {text}: `threads` lists {}",
                        infos.len()
                    ))
                })?;
                let slot = Slot {
                    eu: info.id.eu,
                    slot: info.id.slot,
                };
                self.chosen = Some((info.key, slot));
                let mut text = format!(
                    "{}, EU {} thread {}{}\n",
                    thread_name(info.key),
                    slot.eu,
                    slot.slot,
                    subject(info)
                );
                text.push_str(&self.current_line().unwrap_or_default());
                Ok(text)
            }
            [_, more, ..] => Err(format!("`{more}` is too much").into()),
        }
    }
}
