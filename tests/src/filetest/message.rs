//! Kind `message`: a kernel whose messages reach the shared functions.
//!
//! PRM: volume 4, chapters 4 to 8. One thread of `mmio_mock::intel::bench`. Instructions and registers as in `eu-run`, and `mask: HEX`,
//! `flag: HEX HEX`, `mem ADDRESS TYPE: VALUES` (maps what is not mapped), `map ADDRESS BYTES` (zeros), `urb ROW TYPE: VALUES`,
//! `surface N: FIELD = VALUE, ..` (entry N of the binding table), `sampler N: FIELD = VALUE, ..`, `border N: R G B A` (of sampler
//! N), `state OFFSET NAME: FIELD = VALUE, ..` (a structure of that name, relative to the general state base), `key N: LOW HIGH`
//! (chroma key), `palette: HEX ..`, `depth buffer: FIELD = VALUE, ..` (of 3DSTATE_DEPTH_BUFFER), `constant color: R G B A`,
//! `scratch: OFFSET BYTES`, `bounds: GENERAL INDIRECT`, `ffid: N`. Fields have the manual's names and raw values or the names of
//! values; lines for the same structure add up. Register r0 holds what a dispatch puts there: the sampler state pointer.
//! Expectations: see `message/question.rs`. Not modelled: commands; what they would latch is said by statements.

mod question;
mod state;

use eu::Grf;
use isa::operand::Type;
use mem::GpuAddr;
use mmio_mock::intel::bench::{Step, ThreadBench};
use mmio_mock::intel::shared::{StateBases, ThreadContext};
use mmio_mock::intel::td::KernelState;
use mmio_mock::intel::urb::UrbHandle;

use super::Kind;
use super::eu_run::program::Program;
use super::eu_run::{Register, place, store};
use super::file::{Case, File, Line, Problem};
use super::value::{dwords, element, elements, hex, number};
use state::States;
pub(super) use state::fields;

/// General state base; the kernel lies there.
const GENERAL: u32 = 0x0010_0000;
/// Sampler states, relative to the general state base.
const SAMPLERS: u32 = 0x1_0000;
/// Border colours likewise, 32 bytes each.
const BORDERS: u32 = 0x1_1000;
/// Surface state base; the binding table lies there.
const SURFACES: u32 = 0x0020_0000;
/// Surface states, relative to their base.
const SURFACE_STATES: u32 = 0x1000;
/// Instructions that a case may execute.
const BUDGET: u32 = 10_000;

/// The kind.
pub struct Message;

impl Kind for Message {
    fn name(&self) -> &'static str {
        "message"
    }

    fn options(&self) -> &'static [&'static str] {
        &["gen"]
    }

    fn run(&self, file: &File, case: &Case) -> Result<Vec<String>, Problem> {
        let generation = file.generation()?;
        let bench = ThreadBench::new(generation).ok_or_else(|| Problem {
            line: 1,
            what: format!(
                "no modelled device is of generation {}",
                generation.times_ten()
            ),
        })?;
        let mut setup = Setup {
            generation,
            bench,
            context: ThreadContext {
                bases: StateBases {
                    general_state_base: GENERAL,
                    surface_state_base: SURFACES,
                    ..StateBases::default()
                },
                sampler_state_pointer: SAMPLERS,
                ..ThreadContext::default()
            },
            mask: 0xffff,
            flag: [0; 2],
            registers: Vec::new(),
            program: Program::default(),
            states: States::default(),
        };
        for line in &case.input {
            setup.statement(line).map_err(|what| line.problem(what))?;
        }
        let (code, end) = setup.program.assemble(generation, &case.name)?;
        let fits = |what: String| case.problem(what);
        for (at, words) in code {
            setup.fill(GENERAL + at, &words).map_err(fits)?;
        }
        let structures = std::mem::take(&mut setup.states);
        structures.place(&mut setup).map_err(fits)?;
        let stop = setup.execute(end).map_err(fits)?;
        question::answer(case, &setup.bench, &stop)
    }
}

/// What the statements of a case say.
struct Setup {
    generation: isa::Verx10,
    bench: ThreadBench,
    context: ThreadContext,
    mask: u16,
    flag: [u16; 2],
    /// File, byte, type, bits.
    registers: Vec<(Register, usize, Type, u32)>,
    program: Program,
    states: States,
}

impl Setup {
    fn statement(&mut self, line: &Line) -> Result<(), String> {
        if self.program.take(line)? {
            return Ok(());
        }
        if let Some(rest) = line.text.strip_prefix("map ") {
            let (address, bytes) = rest.split_once(' ').ok_or("map ADDRESS BYTES")?;
            let bytes = number(bytes.trim())? as usize;
            let mapped = self.bench.map(number(address)?, bytes);
            return mapped.map_err(|e| e.to_string());
        }
        let (head, rest) = line
            .text
            .split_once(':')
            .ok_or("neither statement nor instruction (which ends in a semicolon)")?;
        let rest = rest.trim();
        let (verb, which) = head.split_once(' ').unwrap_or((head, ""));
        match (verb, which) {
            ("mask", "") => self.mask = word(rest)?,
            ("flag", "") => {
                let (low, high) = rest.split_once(' ').unwrap_or((rest, "0"));
                self.flag = [word(low)?, word(high.trim())?];
            }
            ("scratch", "") => {
                [self.context.scratch_base, self.context.scratch_size] = pair(rest)?;
            }
            ("bounds", "") => {
                let [general, indirect] = pair(rest)?;
                self.context.bases.general_state_upper_bound = general;
                self.context.bases.indirect_object_upper_bound = indirect;
            }
            ("ffid", "") => self.context.ffid = number(rest)? as u8,
            ("key", index) => {
                let keys = &mut self.bench.shared_mut().sampler.tables.chroma_keys;
                let key = keys.get_mut(number(index)? as usize);
                let [low, high] = pair(rest)?;
                *key.ok_or("there are four keys")? = (low, high);
            }
            ("palette", "") => {
                let palettes = &mut self.bench.shared_mut().sampler.tables.palettes;
                palettes.load_sixteen(&dwords(rest)?);
            }
            ("constant", "color") => {
                let colour: Vec<u32> = bits(Type::F, rest)?;
                let colour = <[u32; 4]>::try_from(colour).map_err(|_| "four channels")?;
                self.bench.shared_mut().pixel.blend_constant = colour.map(f32::from_bits);
            }
            ("mem", which) => {
                let (address, ty) = which.split_once(' ').ok_or("mem ADDRESS TYPE: VALUES")?;
                let ty = element(ty)?;
                let bytes: Vec<u8> = bits(ty, rest)?
                    .iter()
                    .flat_map(|v| v.to_le_bytes().into_iter().take(ty.size()))
                    .collect();
                let loaded = self.bench.load(number(address)?, &bytes);
                loaded.map_err(|e| e.to_string())?;
            }
            ("urb", which) => {
                let (row, ty) = which.split_once(' ').ok_or("urb ROW TYPE: VALUES")?;
                let (row, ty) = (number(row)? as u16, element(ty)?);
                for (i, value) in bits(ty, rest)?.into_iter().enumerate() {
                    let byte = i * ty.size();
                    let (handle, offset) = (UrbHandle(row), (byte / 32) as u16);
                    self.bench
                        .urb_mut()
                        .row_mut(handle, offset)
                        .and_then(|r| store(std::slice::from_mut(r), byte % 32, ty, value))
                        .ok_or("past the end of the URB")?;
                }
            }
            _ if self.states.take(head, rest)? => {}
            (name, ty) => {
                let ty = element(ty).map_err(|_| format!("unknown statement `{head}`"))?;
                let (file, first) = place(name, ty)?;
                for (i, value) in bits(ty, rest)?.into_iter().enumerate() {
                    let at = first + i * ty.size();
                    self.registers.push((file, at, ty, value));
                }
            }
        }
        Ok(())
    }

    fn fill(&mut self, address: u32, data: &[u32]) -> Result<(), String> {
        let bytes: Vec<u8> = data.iter().flat_map(|d| d.to_le_bytes()).collect();
        self.bench.load(address, &bytes).map_err(|e| e.to_string())
    }

    /// Runs the thread; why it stopped.
    fn execute(&mut self, end: u32) -> Result<String, String> {
        // Tables that no statement filled read as zero.
        self.bench
            .map(GENERAL, 0x2_0000)
            .and_then(|()| self.bench.map(SURFACES, 0x4000))
            .map_err(|e| e.to_string())?;
        let kernel = KernelState {
            grf_count: 128,
            ..KernelState::default()
        };
        let r0: Grf = [0, 0, 0, SAMPLERS, 0, 0, 0, 0];
        self.bench.start(kernel, self.context, self.mask, &[r0]);
        let thread = self.bench.thread_mut().ok_or("the thread did not start")?;
        thread.set_flag(self.flag);
        for &(register, byte, ty, bits) in &self.registers {
            let file = match register {
                Register::General => thread.grf_mut(),
                Register::Message => thread.mrf_mut(),
            };
            store(file, byte, ty, bits).ok_or("register past the end")?;
        }
        for _ in 0..BUDGET {
            if self.bench.thread().is_none_or(|t| t.ip() == end) {
                return Ok("end".to_owned());
            }
            match self.bench.step() {
                Step::Ran => {}
                Step::Ended => return Ok("eot".to_owned()),
                Step::Blocked => return Ok("blocked".to_owned()),
                Step::Hung(why) => return Ok(format!("hung {why}")),
            }
        }
        Ok("budget".to_owned())
    }

    /// A dword of graphics memory that a table points at.
    fn point(&mut self, at: u32, value: u32) -> Result<(), String> {
        self.fill(at, &[value])
    }
}

/// Sixteen hexadecimal bits.
fn word(text: &str) -> Result<u16, String> {
    u16::try_from(hex(text)?).map_err(|_| format!("`{text}` has more than sixteen bits"))
}

/// Two numbers.
fn pair(text: &str) -> Result<[u32; 2], String> {
    let (first, second) = text.split_once(' ').ok_or("two numbers")?;
    Ok([number(first)?, number(second.trim())?])
}

/// Elements of a type as bits.
fn bits(ty: Type, text: &str) -> Result<Vec<u32>, String> {
    Ok(elements(ty, text)?.iter().map(|v| v.bits).collect())
}

/// Elements of a type in graphics memory.
fn memory(bench: &ThreadBench, address: u32, ty: Type, count: usize) -> Result<Vec<u32>, String> {
    (0..count)
        .map(|i| {
            let mut bytes = [0; 4];
            let at = GpuAddr::from(address.wrapping_add((i * ty.size()) as u32));
            bench
                .memory()
                .read_bytes(at, &mut bytes[..ty.size()])
                .map_err(|fault| fault.to_string())?;
            Ok(u32::from_le_bytes(bytes))
        })
        .collect()
}
