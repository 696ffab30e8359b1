//! The devices that the model knows, as rows of choices.
//!
//! PRM: volume 4, 1.0 (devices), 2.2 (EU array).

pub mod gen40;
mod gen45;
mod gen50;
mod gen60;
mod gen70;
mod message;
pub mod reset;

use regs::ids::RegId;
use reset::Reset;

use crate::intel::cs::engine::{EngineInfo, Timestamp};
use crate::intel::cs::reader::CommandReader;
use crate::intel::ff::reader::PipelineReader;
use crate::intel::media::reader::MediaReader;
use crate::intel::shared::dataport::render::DualSource;
use crate::intel::shared::message::{MessageSet, Request, of_send};
use crate::intel::shared::reader::FunctionReader;

/// What makes plain state of a generation's words, by the room that asks.
#[derive(Clone, Copy, Debug)]
pub struct Readers {
    /// The EUs: instructions, and what differs in running them.
    pub instructions: eu::InstructionSet,
    /// The command streamer: commands whose layout differs between generations.
    pub commands: &'static dyn CommandReader,
    /// The shared functions: surfaces, samplers, colour calculator.
    pub functions: &'static dyn FunctionReader,
    /// Messages to the shared functions.
    pub messages: &'static dyn MessageSet,
    /// The 3D pipeline: commands, unit state, payloads of threads.
    pub pipeline: &'static dyn PipelineReader,
    /// The media pipeline: commands, unit state, payloads of threads.
    pub media: &'static dyn MediaReader,
}

/// One device: identity, sizes and readers.
#[derive(Clone, Copy, Debug)]
pub struct DeviceInfo {
    /// Name on the command line.
    pub name: &'static str,
    /// What the vendor called it.
    pub title: &'static str,
    /// Tables of its registers and commands.
    pub tables: &'static regs::platform::Generation,
    /// Its interrupt registers.
    pub interrupts: &'static crate::intel::irq::Registers,
    /// Readers of its commands, state and messages.
    pub readers: Readers,
    /// PCI vendor and device.
    pub pci: (u16, u16),
    /// PCI revision.
    pub revision: u8,
    /// Bytes of BAR 0: registers below, the GTT in the upper half (intel-gtt.c `i9xx_setup`).
    pub bar_bytes: u32,
    /// Registers of the chipset in configuration space, as the firmware leaves them: byte offsets and values.
    pub config: &'static [(u8, u8)],
    /// Entries of the GTT.
    pub gtt_entries: usize,
    /// What they mean.
    pub gtt_format: &'static mem::TableFormat,
    /// Tables of processes, where there are any.
    pub process_tables: Option<&'static ProcessTables>,
    /// Registers that answer by themselves.
    pub answers: &'static [Answer],
    /// Where a fence register has its pitch: the first bit.
    pub fence_pitch: u32,
    /// How drivers take bit 6 of X and Y tiled addresses to be swizzled whatever the memory is (i915 gt/intel_ggtt_fencing.c
    /// `detect_bit_6_swizzle`). A device that is served to them does so; the driver here asks for none.
    pub swizzle: (mem::BitSixSwizzle, mem::BitSixSwizzle),
    /// How the host resets it.
    pub reset: Reset,
    /// The render engine.
    pub render: &'static EngineInfo,
    /// The engines beside it.
    pub engines: &'static [EngineInfo],
    /// Execution units.
    pub eus: u16,
    /// Hardware threads of one EU.
    pub threads_per_eu: u16,
    /// 256-bit rows of the URB.
    pub urb_rows: u16,
    /// Stencil lies in a buffer of its own, in tiles that kernels have no name for and call linear (i915 `I915_TILING_NONE`).
    pub stencil_apart: bool,
    /// Instruction set of the EUs.
    pub isa: isa::Verx10,
    /// Render target writes with two colours a pixel.
    pub dual_source: DualSource,
    /// Core clock in MHz: how many ticks make a microsecond.
    pub core_mhz: u32,
    /// How TIMESTAMP counts.
    pub timestamp: Timestamp,
    /// Stateless data port accesses wait for SVG_WORK_CTL bit 4 (PRM volume 4, 5.2.2: DevBW-A,B).
    pub stateless_gated: bool,
}

/// Tables of a process beside the global GTT.
#[derive(Clone, Copy, Debug)]
pub struct ProcessTables {
    /// How they are built.
    pub format: &'static mem::TableFormat,
    /// The entry of the global GTT where the directory begins, by the value of the engine's register.
    pub directory: fn(u32) -> usize,
}

/// What a register does by itself when it is written.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// Bits appear in another register.
    Shows {
        /// The register that is written.
        from: RegId,
        /// Where they appear.
        to: RegId,
        /// The bits.
        bits: u32,
    },
    /// Bits fall, because what they ask for is done.
    Falls {
        /// The register.
        register: RegId,
        /// The bits.
        bits: u32,
    },
    /// An access over a sideband is carried out, and over at once.
    Sideband(&'static Sideband),
}

/// Registers of other units that are reached over three of the device's.
#[derive(Debug)]
pub struct Sideband {
    /// Asks for an access.
    pub ask: RegId,
    /// The bit of it that falls when the access is over.
    pub busy: u32,
    /// The address behind the sideband.
    pub address: RegId,
    /// What is written or has been read.
    pub data: RegId,
    /// The port, and whether it is written, of a value that asks; `None` where it asks for something else.
    pub asked: fn(u32) -> Option<(u8, bool)>,
    /// What is behind it: port, address, and the number of the word there. Everything else reads 0 and forgets.
    pub places: &'static [(u8, u32, SidebandWord)],
}

/// What a register behind a sideband is.
#[derive(Clone, Copy, Debug)]
pub enum SidebandWord {
    /// It holds what was written last.
    Keeps(usize),
    /// It shows such a word and cannot be written.
    Shows(usize),
    /// It has always this value.
    Is(u32),
}

/// Words that registers behind a sideband hold.
pub const SIDEBAND_WORDS: usize = 1;

impl Answer {
    /// The register that answers when it is written.
    pub fn of(&self) -> RegId {
        match *self {
            Answer::Shows { from, .. } => from,
            Answer::Falls { register, .. } => register,
            Answer::Sideband(sideband) => sideband.ask,
        }
    }
}

impl DeviceInfo {
    /// Its engines, the render engine first.
    pub fn all_engines(&self) -> impl Iterator<Item = &'static EngineInfo> {
        std::iter::once(self.render).chain(self.engines)
    }

    /// What a `send` of this device's kernels asks for, as far as an immediate descriptor tells; see [`of_send`].
    pub fn request(&self, send: &isa::inst::SendDesc) -> Option<Request> {
        of_send(self.readers.messages, self.isa, send)
    }
}
impl PartialEq for DeviceInfo {
    /// A device is known by its PCI numbers.
    fn eq(&self, other: &Self) -> bool {
        (self.pci, self.revision) == (other.pci, other.revision)
    }
}

impl Eq for DeviceInfo {}

/// Readers by instruction set, the oldest first.
const GENERATIONS: &[(isa::Verx10, Readers)] = &[
    (isa::Verx10::GEN40, gen40::READERS),
    (isa::Verx10::from_times_ten(45), gen45::READERS),
    (isa::Verx10::from_times_ten(50), gen50::READERS),
    (isa::Verx10::from_times_ten(60), gen60::READERS),
    (isa::Verx10::from_times_ten(70), gen70::READERS),
];

/// The readers for EUs of an instruction set; `None` for one that no device has.
pub fn readers(isa: isa::Verx10) -> Option<&'static Readers> {
    let (_, readers) = GENERATIONS.iter().find(|(known, _)| *known == isa)?;
    Some(readers)
}

/// All devices, by generation.
pub const DEVICES: &[DeviceInfo] = &{
    const NONE: DeviceInfo = gen40::DEVICES[0];
    const COUNT: usize = gen40::DEVICES.len()
        + gen45::DEVICES.len()
        + gen50::DEVICES.len()
        + gen60::DEVICES.len()
        + gen70::DEVICES.len();
    let mut all = [NONE; COUNT];
    let mut at = 0;
    let mut generation = 0;
    while generation < GENERATION_DEVICES.len() {
        let devices = GENERATION_DEVICES[generation];
        let mut i = 0;
        while i < devices.len() {
            all[at] = devices[i];
            at += 1;
            i += 1;
        }
        generation += 1;
    }
    all
};

/// The devices of each generation.
const GENERATION_DEVICES: [&[DeviceInfo]; 5] = [
    gen40::DEVICES,
    gen45::DEVICES,
    gen50::DEVICES,
    gen60::DEVICES,
    gen70::DEVICES,
];

/// The device where none is named: the best known of the oldest generation.
pub const fn first() -> &'static DeviceInfo {
    &DEVICES[0]
}

/// The best known device of each generation.
pub fn examples() -> impl Iterator<Item = &'static DeviceInfo> {
    GENERATION_DEVICES
        .iter()
        .filter_map(|devices| devices.first())
}

/// The tables of the devices with an instruction set; `None` for an instruction set of no device.
pub fn tables(isa: isa::Verx10) -> Option<&'static regs::platform::Generation> {
    let device = DEVICES.iter().find(|device| device.isa == isa);
    device.map(|device| device.tables)
}

/// The instruction set of the devices with these tables; `None` for tables of no device.
pub fn instructions(tables: &regs::platform::Generation) -> Option<isa::Verx10> {
    let device = DEVICES.iter().find(|device| device.tables == tables);
    device.map(|device| device.isa)
}

/// The device of a name or of a PCI id written `vendor:device`.
pub fn find(name: &str) -> Option<&'static DeviceInfo> {
    let id = name.split_once(':').and_then(|(v, d)| {
        Some((
            u16::from_str_radix(v, 16).ok()?,
            u16::from_str_radix(d, 16).ok()?,
        ))
    });
    DEVICES
        .iter()
        .find(|d| d.name.eq_ignore_ascii_case(name) || Some(d.pci) == id)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
