//! Kind `eu-run`: a kernel on one thread, registers before and after.
//!
//! PRM: volume 4, chapters 9 to 14. Statements: four words of an instruction (text behind them is for the reader), or its text
//! with the semicolon, `LABEL:` on a line of its own, `at ADDRESS` for the next one, `rN[.S] TYPE: VALUES`, `mN ..`, `mask: HEX`,
//! `flag: HEX HEX`, `mode: alt spf`, `sip: HEX`, `thread: EU SLOT FFTID`, `exceptions: illegal mask-stack software breakpoint
//! external-halt`, `budget: N`, `notify: N`, `respond TYPE: VALUES`, `deliver: done dropped busy`. Expectations are questions: see
//! `eu_run/question.rs`. Where none asks for the stop, the thread has to run to the end of the program.

mod port;
pub(super) mod program;
mod question;

use eu::{FloatMode, KernelCache, NoObserver, RunStats, Stop, Thread, ThreadId, ThreadInit};
use isa::operand::Type;

use super::Kind;
use super::file::{Case, File, Line, Problem};
use super::value::{element, elements, hex, number};
use port::Bench;
use program::Program;

/// The kind.
pub struct EuRun;

impl Kind for EuRun {
    fn name(&self) -> &'static str {
        "eu-run"
    }

    fn options(&self) -> &'static [&'static str] {
        &["gen"]
    }

    fn run(&self, file: &File, case: &Case) -> Result<Vec<String>, Problem> {
        let generation = file.generation()?;
        let mut setup = Setup::default();
        for line in &case.input {
            setup.statement(line).map_err(|what| line.problem(what))?;
        }
        let (code, end) = setup.program.assemble(generation, &case.name)?;
        setup.bench.code = code;
        let mut cache = KernelCache::new(generation)
            .ok_or_else(|| case.problem("no interpreter runs this generation"))?;
        let mut thread = Thread::of(cache.instructions());
        thread.dispatch(&setup.init);
        if setup.external_halt {
            thread.external_halt();
        }
        thread.set_flag(setup.flag);
        for &(register, byte, ty, bits) in &setup.registers {
            let file = match register {
                Register::General => thread.grf_mut(),
                Register::Message => thread.mrf_mut(),
            };
            store(file, byte, ty, bits).ok_or_else(|| case.problem("register past the end"))?;
        }
        for &n in &setup.notifications {
            thread.notify(n);
        }
        let mut budget = setup.budget;
        let stop = thread.run(
            &mut cache,
            &mut setup.bench,
            &mut NoObserver,
            &mut budget,
            &mut RunStats::default(),
        );
        let stop = match stop {
            Stop::Fault(ip) if ip == end => "end".to_owned(),
            Stop::Fault(ip) => format!("fetch {ip:#x}"),
            Stop::EndOfThread => "eot".to_owned(),
            Stop::Wait(n) => format!("wait n{n}"),
            Stop::Hung(why) => format!("hung {why}"),
            Stop::Unimplemented(what) => format!("unimplemented {what}"),
            Stop::Illegal(_) => "illegal".to_owned(),
            Stop::Budget => "budget".to_owned(),
            Stop::Busy => "busy".to_owned(),
            Stop::Observer => "observer".to_owned(),
        };
        question::answer(case, &thread, &stop, &setup.bench)
    }
}

#[derive(Clone, Copy)]
pub(super) enum Register {
    General,
    Message,
}

/// What the statements of a case say.
struct Setup {
    init: ThreadInit,
    flag: [u16; 2],
    /// File, byte, type, bits.
    registers: Vec<(Register, usize, Type, u32)>,
    notifications: Vec<u8>,
    bench: Bench,
    external_halt: bool,
    program: Program,
    budget: u64,
}

impl Default for Setup {
    fn default() -> Self {
        Setup {
            init: ThreadInit {
                dispatch_mask: 0xffff,
                grf_count: 128,
                ..ThreadInit::default()
            },
            flag: [0; 2],
            registers: Vec::new(),
            notifications: Vec::new(),
            bench: Bench::default(),
            external_halt: false,
            program: Program::default(),
            budget: 10_000,
        }
    }
}

impl Setup {
    fn statement(&mut self, line: &Line) -> Result<(), String> {
        if self.program.take(line)? {
            return Ok(());
        }
        let (head, rest) = line
            .text
            .split_once(':')
            .ok_or("neither statement nor instruction (which ends in a semicolon)")?;
        let rest = rest.trim();
        let word16 = |text: &str| {
            u16::try_from(hex(text)?).map_err(|_| format!("`{text}` has more than sixteen bits"))
        };
        match head {
            "mask" => self.init.dispatch_mask = hex(rest)?,
            "flag" => {
                let (low, high) = rest.split_once(' ').unwrap_or((rest, "0"));
                self.flag = [word16(low)?, word16(high.trim())?];
            }
            "sip" => self.init.sip = hex(rest)?,
            "thread" => self.thread(rest)?,
            "budget" => self.budget = number(rest)?.into(),
            "notify" => self.notifications.push(number(rest)? as u8),
            "mode" => rest.split_whitespace().try_for_each(|w| self.mode(w))?,
            "exceptions" => rest
                .split_whitespace()
                .try_for_each(|w| self.exception(w))?,
            "deliver" => self.bench.deliver(rest)?,
            _ => self.registers(head, rest)?,
        }
        Ok(())
    }

    fn thread(&mut self, rest: &str) -> Result<(), String> {
        let mut numbers = rest.split_whitespace().map(number);
        let mut next = || numbers.next().unwrap_or(Ok(0)).map(|n| n as u8);
        self.init.id = ThreadId {
            eu: next()?,
            slot: next()?,
            fftid: next()?,
            ..ThreadId::default()
        };
        Ok(())
    }

    fn mode(&mut self, word: &str) -> Result<(), String> {
        match word {
            "alt" => self.init.float_mode = FloatMode::Alt,
            "spf" => self.init.single_program_flow = true,
            _ => return Err(format!("unknown mode `{word}`")),
        }
        Ok(())
    }

    fn exception(&mut self, word: &str) -> Result<(), String> {
        match word {
            "illegal" => self.init.illegal_opcode_exception = true,
            "mask-stack" => self.init.mask_stack_exception = true,
            "software" => self.init.software_exception = true,
            "breakpoint" => self.init.breakpoint = true,
            "external-halt" => self.external_halt = true,
            _ => return Err(format!("unknown exception `{word}`")),
        }
        Ok(())
    }

    fn registers(&mut self, head: &str, rest: &str) -> Result<(), String> {
        let (name, ty) = head
            .split_once(' ')
            .ok_or_else(|| format!("unknown statement `{head}`"))?;
        let ty = element(ty)?;
        let values = elements(ty, rest)?;
        if name == "respond" {
            self.bench.response.extend(values.iter().map(|v| v.bits));
            return Ok(());
        }
        let (file, first) = place(name, ty)?;
        for (i, value) in values.iter().enumerate() {
            self.registers
                .push((file, first + i * ty.size(), ty, value.bits));
        }
        Ok(())
    }
}

/// `r2` or `m3.4` (subregisters count elements) as file and byte.
pub(super) fn place(name: &str, ty: Type) -> Result<(Register, usize), String> {
    let bad = || format!("`{name}` is no register");
    let file = match name.get(..1) {
        Some("r") => Register::General,
        Some("m") => Register::Message,
        _ => return Err(bad()),
    };
    let digits = name.get(1..).ok_or_else(bad)?;
    let (nr, sub) = digits.split_once('.').unwrap_or((digits, "0"));
    let nr: usize = nr.parse().map_err(|_| bad())?;
    let sub: usize = sub.parse().map_err(|_| bad())?;
    let limit = match file {
        Register::General => 128,
        Register::Message => eu::grf::MRF_COUNT,
    };
    let at = nr * 32 + sub * ty.size();
    if nr >= limit || sub * ty.size() >= 32 {
        return Err(bad());
    }
    Ok((file, at))
}

pub(super) fn store(registers: &mut [eu::Grf], byte: usize, ty: Type, bits: u32) -> Option<()> {
    let dword = registers.get_mut(byte / 32)?.get_mut(byte % 32 / 4)?;
    let shift = byte % 4 * 8;
    let mask = (u32::MAX >> (32 - 8 * ty.size())) << shift;
    *dword = *dword & !mask | bits << shift & mask;
    Some(())
}

/// Element at a byte of a register file, zero-extended.
pub(super) fn load(registers: &[eu::Grf], byte: usize, ty: Type) -> u32 {
    let dword = registers.get(byte / 32).map_or(0, |r| r[byte % 32 / 4]);
    dword >> (byte % 4 * 8) & u32::MAX >> (32 - 8 * ty.size())
}
