//! A small debugger for threads on any platform: a real device, too.
//!
//! PRM: volume 4, chapters 3 and 12. It knows what debug registers, the system routine and memory tell, and nothing of a model. Not modelled:
//! what only the model's debugger can do (pixels, vertices, watches, steps back).

use std::fmt::Write as _;

use driver::debug::{
    DebugSession, HaltMatch, HaltedThread, Place, Registers, Stepped, Threads, Which,
};
use isa::Opcode;
use isa::inst::Verx10;
use kernel::error::code::{ENODEV, ETIMEDOUT};
use kernel::string_helpers::{Counted, escape};
use kernel::time::Delta;

use super::{Answer, Refusal};
use crate::capture::Reader;
use crate::number;
use crate::replay::board::{BoardSession, Waited};

/// TIMEOUT: for a thread to halt behind a step; one that waits for another thread does not.
const STEP: Delta = Delta::from_secs(1);
/// Most steps at once.
const MOST_STEPS: u32 = 100_000;
/// Breakpoints of each kind that the hardware has.
const EACH: usize = 2;

/// What the commands are.
pub const HELP: &str = "\
break address 0xA   Halts threads before the instruction at a graphics address (two at most)
break opcode NAME   Halts threads before instructions of an opcode (two at most)
break eot           Halts threads before the message that ends them
break thread        Halts every thread before its first instruction
delete              Takes all breakpoints away
run, continue       Lets everything go on, to the next halt or the end of the frame
threads             Lists the threads that have halted
thread N            Chooses one of them
step [N]            Executes instructions of the chosen thread
regs                Shows the registers of the chosen thread
quit                Lets everything go on to the end of the frame, and ends
";

/// Whether there are more commands to be had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// There are.
    GoOn,
    /// The debugger is to be left.
    Leave,
}

/// The debugger.
pub struct BoardDebugger {
    // Before the session of the replay: it lets threads go while the device is there.
    debug: Option<DebugSession>,
    session: BoardSession,
    reader: Reader,
    isa: Verx10,
    addresses: Vec<u32>,
    opcodes: Vec<u8>,
    ends: bool,
    begins: bool,
    /// Where the chosen thread runs; none is chosen until one has halted.
    chosen: Option<Place>,
    over: bool,
}

fn failed(what: &str) -> impl Fn(kernel::error::Error) -> Refusal + '_ {
    move |error| Refusal(format!("{what}: {error}"))
}

impl BoardDebugger {
    /// Takes over a device on which nothing has run.
    pub fn new(session: BoardSession, reader: Reader, isa: Verx10) -> Answer<Self> {
        let device = session.device();
        let debug = device.debug().map_err(|error| match error {
            ENODEV => Refusal(format!(
                "no public text says what debug registers {} has",
                device.name()
            )),
            other => failed("debugging session")(other),
        })?;
        debug.set_threads(Threads::All);
        Ok(BoardDebugger {
            debug: Some(debug),
            session,
            reader,
            isa,
            addresses: Vec::new(),
            opcodes: Vec::new(),
            ends: false,
            begins: false,
            chosen: None,
            over: false,
        })
    }

    /// Carries out a command. `is_over` is asked while the device runs.
    pub fn execute(&mut self, line: &str, is_over: &dyn Fn() -> bool) -> Answer<(String, Flow)> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let text = match words.as_slice() {
            [] => String::new(),
            [word, ..] if word.starts_with('#') => String::new(),
            ["help"] => HELP.to_owned(),
            ["break" | "b", rest @ ..] => self.add(rest)?,
            ["delete"] => self.delete()?,
            ["run" | "r" | "continue" | "c"] => self.go(is_over)?,
            ["threads"] => self.list()?,
            ["thread", number] => self.choose(number)?,
            ["step" | "s"] => self.step(1)?,
            ["step" | "s", count] => {
                let count = count.parse().ok().filter(|n| (1..=MOST_STEPS).contains(n));
                self.step(count.ok_or_else(|| Refusal(format!("step takes 1 to {MOST_STEPS}")))?)?
            }
            ["regs"] => self.registers()?,
            ["quit" | "q"] => return Ok((self.leave(is_over)?, Flow::Leave)),
            [word, ..] => {
                return Err(Refusal(format!(
                    "{}: no such command for a device of this machine; `help` lists them",
                    escape(word)
                )));
            }
        };
        Ok((text, Flow::GoOn))
    }

    fn debug(&self) -> Answer<&DebugSession> {
        self.debug
            .as_ref()
            .ok_or_else(|| Refusal::of("the frame has ended"))
    }

    fn halted(&self) -> Answer<Vec<HaltedThread>> {
        self.debug()?.halted().map_err(failed("halted threads"))
    }

    fn thread(&self) -> Answer<HaltedThread> {
        let mut halted = self.halted()?.into_iter();
        let thread = halted.find(|thread| Some(thread.place) == self.chosen);
        thread.ok_or_else(|| {
            Refusal::of("the chosen thread has not halted; `threads` lists those that have")
        })
    }

    fn add(&mut self, words: &[&str]) -> Answer {
        match words {
            ["address", text] => {
                let address = number::either(text).and_then(|n| u32::try_from(n).ok());
                let address = address.filter(|address| address % 16 == 0);
                let address = address.ok_or("an address of an instruction is a multiple of 16")?;
                if self.addresses.len() >= EACH {
                    return Err(Refusal(format!(
                        "the hardware has {EACH} breakpoints of the kind"
                    )));
                }
                self.addresses.push(address);
            }
            ["opcode" | "op", name] => {
                let found = Opcode::from_mnemonic(self.isa, &name.to_ascii_lowercase());
                let row = found.and_then(|opcode| opcode.desc(self.isa));
                let row =
                    row.ok_or_else(|| Refusal(format!("there is no opcode {}", escape(name))))?;
                if self.opcodes.len() >= EACH {
                    return Err(Refusal(format!(
                        "the hardware has {EACH} breakpoints of the kind"
                    )));
                }
                self.opcodes.push(row.hw);
            }
            ["eot"] => self.ends = true,
            ["thread"] => self.begins = true,
            _ => {
                return Err(Refusal::of(
                    "break address 0xA, break opcode NAME, break eot or break thread",
                ));
            }
        }
        self.configure()?;
        Ok(String::new())
    }

    fn delete(&mut self) -> Answer {
        self.addresses.clear();
        self.opcodes.clear();
        (self.ends, self.begins) = (false, false);
        self.configure()?;
        Ok(String::new())
    }

    /// Sets the registers as the breakpoints want them.
    fn configure(&self) -> Answer<()> {
        let debug = self.debug()?;
        for (number, which) in [Which::First, Which::Second].into_iter().enumerate() {
            debug
                .set_address_breakpoint(which, self.addresses.get(number).copied())
                .map_err(failed("address breakpoint"))?;
            debug
                .set_opcode_breakpoint(which, self.opcodes.get(number).copied())
                .map_err(failed("opcode breakpoint"))?;
        }
        debug.set_end_of_thread_breakpoint(self.ends);
        debug.halt_on_match(self.begins.then(HaltMatch::default));
        Ok(())
    }

    /// To the next halt, or the end of the frame.
    fn go(&mut self, is_over: &dyn Fn() -> bool) -> Answer {
        self.debug()?.resume_all().map_err(failed("resume"))?;
        self.chosen = None;
        loop {
            if !self.session.is_running() {
                let next = self.reader.next_submission().map_err(Refusal::of)?;
                let Some(next) = next else {
                    let (execs, draws) = self.session.counts();
                    self.over = true;
                    return Ok(format!(
                        "the frame has ended: {}, {}\n",
                        Counted(execs, "submission"),
                        Counted(draws, "draw")
                    ));
                };
                self.session.begin(next).map_err(Refusal::of)?;
            }
            let debug = &self.debug;
            let stands = || {
                let halted = debug.as_ref().map(DebugSession::halted);
                is_over() || halted.is_some_and(|halted| halted.is_ok_and(|all| !all.is_empty()))
            };
            if self.session.wait(&stands).map_err(Refusal::of)? == Waited::Over {
                if is_over() {
                    return Err(Refusal::of("stopped before its end"));
                }
                self.chosen = self.halted()?.first().map(|thread| thread.place);
                return self.list();
            }
        }
    }

    fn list(&self) -> Answer {
        let mut out = String::new();
        for (number, thread) in self.halted()?.iter().enumerate() {
            let mark = if Some(thread.place) == self.chosen {
                '*'
            } else {
                ' '
            };
            // Writing to a String cannot fail, here and below.
            let _ = writeln!(out, "{mark} {number}  {}", self.shown(thread)?);
        }
        if out.is_empty() {
            out.push_str("no thread has halted\n");
        }
        Ok(out)
    }

    /// Where a thread runs, and its next instruction.
    fn shown(&self, thread: &HaltedThread) -> Answer {
        let address = thread.address().map_err(failed("thread"))?;
        let words = thread.instruction().map_err(failed("instruction"))?;
        let inst = <[u32; 4]>::try_from(words.as_slice()).ok();
        let inst = inst.and_then(|words| isa::decode(self.isa, words).ok());
        let text = match inst {
            Some(inst) => {
                let text = isa::print(self.isa, &inst);
                text.split_whitespace().collect::<Vec<_>>().join(" ")
            }
            None => "no instruction of this device".to_owned(),
        };
        let place = thread.place;
        Ok(format!(
            "EU {} thread {}  {address:#010x}  {text}",
            place.eu, place.slot
        ))
    }

    fn choose(&mut self, number: &str) -> Answer {
        let halted = self.halted()?;
        let number = number.parse::<usize>().ok();
        let Some(thread) = number.and_then(|number| halted.get(number)) else {
            let count = Counted(halted.len(), "halted thread");
            return Err(Refusal(format!("there are {count}, counted from 0")));
        };
        self.chosen = Some(thread.place);
        self.list()
    }

    fn step(&mut self, count: u32) -> Answer {
        let mut thread = self.thread()?;
        for _ in 0..count {
            match self.debug()?.step(&thread, STEP) {
                Ok(Stepped::Halted(next)) => thread = next,
                Ok(Stepped::Ended) => return Ok("the thread has ended\n".to_owned()),
                Err(ETIMEDOUT) => {
                    return Err(Refusal::of(
                        "the thread does not halt again: it waits for another one; `continue` lets all go on",
                    ));
                }
                Err(error) => return Err(failed("step")(error)),
            }
        }
        Ok(self.shown(&thread)? + "\n")
    }

    fn registers(&self) -> Answer {
        let registers = self
            .thread()?
            .read_registers()
            .map_err(failed("registers"))?;
        Ok(text(&registers))
    }

    /// Takes the breakpoints away and lets the submission in work end.
    fn leave(&mut self, is_over: &dyn Fn() -> bool) -> Answer {
        if self.debug.is_some() {
            self.delete()?;
        }
        // The end of the session lets halted threads go.
        self.debug = None;
        match self.session.wait(is_over).map_err(Refusal::of)? {
            Waited::Ended => Ok(String::new()),
            Waited::Over => Err(Refusal::of("stopped before its end")),
        }
    }

    /// Ends it, and gives the device back; whether the frame has come to its end.
    pub fn finish(mut self, is_over: &dyn Fn() -> bool) -> Answer<bool> {
        self.leave(is_over)?;
        let over = self.over;
        self.session.finish().map_err(Refusal::of)?;
        Ok(over)
    }
}

/// The registers that are not zero, eight dwords a line.
fn text(registers: &Registers) -> String {
    let mut out = String::new();
    let rows = registers
        .grf
        .iter()
        .enumerate()
        .map(|(n, row)| ('r', n, row));
    let messages = registers
        .mrf
        .iter()
        .enumerate()
        .map(|(n, row)| ('m', n, row));
    for (file, number, row) in rows.chain(messages) {
        if row.iter().all(|dword| *dword == 0) {
            continue;
        }
        let _ = write!(out, "{:>5}", format!("{file}{number}"));
        for dword in row {
            let _ = write!(out, " {dword:08x}");
        }
        out.push('\n');
    }
    let _ = write!(out, "   a0");
    for word in registers.address {
        let _ = write!(out, " {word:04x}");
    }
    let [flags, more] = registers.flags;
    let _ = writeln!(out, "\n   f0 {flags:04x} {more:04x}");
    let _ = writeln!(out, "   ip {:#010x}", registers.ip());
    out
}
