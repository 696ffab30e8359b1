//! Generations: rows of choices made once, at probe.
//!
//! A device's row names its tables, its engines, and small sets of operations by purpose: page table entries, resets,
//! interrupts, and for each engine its commands and its status page.
pub mod checks;
mod gen40;
mod gen45;
mod gen50;
mod gen60;
mod gen70;
mod models;
mod reset;
mod state;
mod workarounds;

pub use self::gen40::{I965G, I965GM};
pub use self::gen45::{G45, GM45};
pub use self::gen50::IRONLAKE;
pub use self::gen60::{SANDY_BRIDGE_GT1, SANDY_BRIDGE_GT2};
#[cfg(test)]
pub(crate) use self::gen70::CHECKS as VALLEYVIEW_CHECKS;
pub use self::gen70::VALLEYVIEW;
pub use self::models::{MODELS, Model};

use alloc::vec::Vec;

use self::checks::Checks;
use isa::inst::Verx10;
use kernel::dma::DmaAddress;
use kernel::error::Result;
use regs::ids::{CommandId, RegId};
use regs::platform::Generation;
use ringbuf::tail::Tail;

use crate::intel::uncore::forcewake::ForcewakeInfo;
use crate::intel::uncore::{EngineRegisters, Uncore};
use crate::intel::workarounds::Workaround;

/// Byte offset of the sequence number in the status page (i915: dword 0x40).
pub const HWS_SEQNO: u32 = 0x40 * 4;
/// Byte offset of the scratch dword in the status page (i915: dword 0x80).
pub const HWS_SCRATCH: u32 = 0x80 * 4;

/// What is true of a device model.
pub struct DeviceInfo {
    /// Platform name.
    pub platform: &'static str,
    /// Tables of its registers and commands.
    pub tables: &'static Generation,
    /// Instruction set of its execution units.
    pub isa: Verx10,
    /// Places for threads.
    pub threads: ThreadPlaces,
    /// Threads reach memory without a surface only with a bit of SVG_WORK_CTL (PRM vol4 5.2.2, erratum of DevBW-A,B).
    pub stateless_gate: bool,
    /// Ticks of the TIMESTAMP register in a second (i915 `intel_gt_clock_utils.c`).
    pub timestamp_hz: u32,
    /// Workarounds applied to the whole device.
    pub workarounds: &'static [Workaround],
    /// The engines, the render engine first.
    pub engines: &'static [EngineInfo],
    /// Page table entries of the global GTT.
    pub gtt: &'static GttOps,
    /// The space in which batches of clients run, where it is not the global GTT's.
    pub space: Option<&'static SpaceOps>,
    /// The processor's last-level cache holds what the device reads and writes (i915 `has_llc`).
    pub llc: bool,
    /// The device can be told to look into the processor's caches (i915 `has_snoop`).
    pub snoops: bool,
    /// Writes through the aperture and to the pages themselves need no order of their own (i915 `has_coherent_ggtt`).
    pub coherent_aperture: bool,
    /// Engines can be reset one by one (i915 `has_reset_engine`).
    pub resets_engines: bool,
    /// The system's administrator, as master, may have privileged commands in a batch carried out (i915 `HAS_SECURE_BATCHES`).
    pub privileged_batches: bool,
    /// First bit of the pitch in a fence register (i915 `I965_FENCE_PITCH_SHIFT`, `GEN6_FENCE_PITCH_SHIFT`).
    pub fence_pitch: u32,
    /// Largest pitch of a fence register in units of 128 bytes (i915 `I965_FENCE_MAX_PITCH_VAL`, `GEN7_FENCE_MAX_PITCH_VAL`).
    pub fence_most: u32,
    /// Bytes of a context's image (i915 `intel_engine_context_size`), whole pages.
    pub image_size: fn(uncore: &Uncore) -> usize,
    /// Interrupt registers.
    pub interrupts: &'static InterruptInfo,
    /// Messages of the debugger's system routine.
    pub routine: &'static RoutineMessages,
    /// Readers of what clients put into batches and state.
    pub state: &'static StateOps,
    /// The client driver by which programs draw on it.
    pub client: &'static ClientDriver,
    /// Registers that its error states have beside those of all devices, by the names that i915 gives them.
    pub recorded: &'static [(&'static str, RegId)],
    /// The same of each engine, at its base; i915 gives them one name in all generations.
    pub recorded_of_engines: &'static [RegId],
    /// What keeps the GT awake, where it sleeps.
    pub forcewake: Option<&'static ForcewakeInfo>,
    /// Resets all engines; `ETIMEDOUT` when the device does not say that it has done so.
    pub reset: fn(uncore: &Uncore) -> Result,
    /// Resets an engine beside the render engine, which goes on with what it is at and with the state that it holds; where such
    /// an engine has a domain of its own.
    pub reset_beside: Option<fn(uncore: &Uncore, info: &EngineInfo) -> Result>,
}

impl DeviceInfo {
    /// The render engine, which every row names first.
    #[must_use]
    pub fn render(&self) -> &'static EngineInfo {
        // PANIC: a row without engines does not pass the test of the rows.
        &self.engines[0]
    }
}

impl DeviceInfo {
    /// MMIO byte offset of a register, where the device has it.
    #[must_use]
    pub fn register(&self, id: RegId) -> Option<usize> {
        (self.tables.register_desc)(id).map(|desc| desc.offset as usize)
    }

    /// The row of the engine of a class, when there is one.
    #[must_use]
    pub fn engine(&self, class: u16) -> Option<usize> {
        self.engines.iter().position(|engine| engine.class == class)
    }
}

/// What Mesa has for a device: texts for people.
#[derive(PartialEq, Eq, Debug)]
pub struct ClientDriver {
    /// File name of the driver.
    pub file: &'static str,
    /// What it offers to programs.
    pub offers: &'static str,
}

/// Places for threads (Mesa `intel_device_info.c`: `max_wm_threads` is the number of all).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadPlaces {
    /// Execution units.
    pub eus: u8,
    /// Threads that one of them holds at once.
    pub slots: u8,
}

/// An engine: a command streamer with a ring.
pub struct EngineInfo {
    /// Name, as i915 writes it (`rcs0`).
    pub name: &'static str,
    /// What it does, as user space names it (uAPI `I915_ENGINE_CLASS_*`); each row has another class.
    pub class: u16,
    /// Its bit in masks of engines, as error states print them (i915 `intel_engine_id` of Linux 6.1; VCS0 was 1 << 2 before 5.19).
    pub mask: u32,
    /// MMIO byte offset of its registers relative to those of the render engine.
    pub base: u32,
    /// Keeps the state of contexts in images (i915 `intel_engine_setup_common`: the render engine of this family).
    pub has_images: bool,
    /// Interrupts that are kept out of its status page, where it has a mask for that (i915 `intel_engine_set_hwsp_writemask`:
    /// one for each engine from Sandy Bridge on).
    pub status_mask: Option<u32>,
    /// Bit of its user interrupt in the interrupt registers.
    pub user_interrupt: u32,
    /// MMIO byte offset of a mask of its own for its interrupts, where it has one (i915 `gen6_irq_enable`).
    pub interrupt_mask: Option<u32>,
    /// MMIO byte offset of the register of its page faults, where it has one (i915 `RING_FAULT_REG`).
    pub fault: Option<u32>,
    /// Its status page.
    pub status_page: StatusPage,
    /// MMIO byte offset of the register that holds its status page's address.
    pub status_register: u32,
    /// What is done when its status page has been set.
    pub settle: fn(engine: &EngineRegisters),
    /// Tells it where its ring ends.
    pub tell: fn(engine: &EngineRegisters, tail: Tail),
    /// Its commands.
    pub emit: &'static EmitOps,
    /// What clients may use with privileges, where their batches are looked through.
    pub checks: Option<&'static Checks>,
    /// Workarounds applied before its ring starts.
    pub workarounds: &'static [Workaround],
}

/// Where the register of the status page points.
#[derive(Clone, Copy, Debug)]
pub enum StatusPage {
    /// At memory itself: the function gives the register's value for a page (i915 `hws_needs_physical`).
    Physical(fn(page: DmaAddress) -> Result<u32>),
    /// At an address of the global GTT.
    Graphics,
}

/// What a flush before or after a batch has to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flush {
    /// Before a batch: read caches and the instruction cache forget what they hold.
    Invalidate,
    /// After a batch: what was written reaches memory.
    WriteBack,
}

/// Commands of an engine's requests; each function appends to the words of a request.
pub struct EmitOps {
    /// A flush; `scratch` is the graphics address of a page for dummy writes.
    pub flush: fn(out: &mut Vec<u32>, mode: Flush, scratch: u32),
    /// A switch to the context whose image is at a graphics address; `inhibit` keeps the engine's state.
    pub set_context: fn(out: &mut Vec<u32>, address: u32, inhibit: bool),
    /// The choice of a system routine, relative to the base of instructions.
    pub sip: fn(out: &mut Vec<u32>, sip: u32),
    /// A flush that lets the snapshot counters of all units begin at 0.
    pub counter_reset: fn(out: &mut Vec<u32>),
    /// The start of a batch at a graphics address; without `trusted` privileged commands in it are left out.
    pub batch_start: fn(out: &mut Vec<u32>, address: u32, trusted: bool),
    /// The end of a request: flush, sequence number, interrupt.
    pub breadcrumb: fn(out: &mut Vec<u32>, seqno: u32, places: Places),
    /// Sets the offsets of stream output to 0, where they are registers of the engine.
    pub reset_offsets: Option<fn(out: &mut Vec<u32>)>,
}

/// Graphics addresses that an engine's commands write to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Places {
    /// The status page; 0 where the device takes a physical one.
    pub status: u32,
    /// A page for dummy writes.
    pub scratch: u32,
}

/// How the device uses a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageUse {
    /// The processor's caches may hold it.
    pub cached: bool,
    /// The device may write it, where entries say so.
    pub writable: bool,
}

/// The global GTT and its page table entries.
pub struct GttOps {
    /// Number of entries, as the device tells it.
    pub entries: fn(uncore: &Uncore) -> usize,
    /// Turns translation on, where a reset leaves it off; `EIO` when it stays off.
    pub enable: fn(uncore: &Uncore) -> Result,
    /// Lets the device see entries that have been written.
    pub flush: fn(uncore: &Uncore),
    /// The entry of a page; `ERANGE` for an address that an entry cannot hold.
    pub encode: fn(page: DmaAddress, used: PageUse) -> Result<u32>,
    /// The page behind an entry, when that is valid.
    pub decode: fn(entry: u32) -> Option<DmaAddress>,
}

/// A space with tables of its own, whose directory's entries are entries of the global GTT.
pub struct SpaceOps {
    /// Entries of the directory.
    pub tables: usize,
    /// Alignment of the pages whose entries the directory takes.
    pub align: u32,
    /// The directory's entry of a table.
    pub encode_table: fn(table: DmaAddress) -> Result<u32>,
    /// Lets the device translate by tables.
    pub enable: fn(uncore: &Uncore),
    /// Gives an engine that is about to start its directory.
    pub start: fn(engine: &EngineRegisters, directory: u32),
    /// Brings an engine to the directory.
    pub enter: fn(out: &mut Vec<u32>, engine: &EngineInfo, directory: u32, places: Places),
}

/// Messages of the system routine to the data port, as the assembler takes them: stateless blocks with the header in m0, binding
/// table index 255.
pub struct RoutineMessages {
    /// Writes eight OWords: m1 to m4.
    pub write_row: &'static str,
    /// Writes two OWords: m1.
    pub write_register: &'static str,
    /// Reads eight OWords into four registers.
    pub read_row: &'static str,
    /// Reads two OWords into one register.
    pub read_register: &'static str,
    /// Flushes the render cache; the response is one register.
    pub flush: &'static str,
}

/// Reads commands and unit state of clients, for the debugger and error states.
pub struct StateOps {
    /// A STATE_BASE_ADDRESS, header included; missing dwords are zero.
    pub bases: fn(command: &[u32]) -> Bases,
    /// The commands that set units up which run kernels.
    pub setup: &'static [CommandId],
    /// Kernels of the units that the last command of each of these ids, header included, has set up. Unit state in memory is
    /// relative to the general base, kernel start pointers to that of the instructions; `dword` reads memory at a graphics
    /// address.
    pub kernels: fn(last: Last<'_>, general: u32, dword: Dword<'_>) -> Vec<UnitKernel>,
}

/// The last command of an id, header included.
pub type Last<'a> = &'a dyn Fn(CommandId) -> Option<&'a [u32]>;

/// Reads memory at a graphics address.
pub type Dword<'a> = &'a dyn Fn(u32) -> Option<u32>;

/// What a STATE_BASE_ADDRESS sets.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Bases {
    /// General State Base Address, when it is changed.
    pub general: Option<u32>,
    /// What kernels and system routines are relative to, when it is changed.
    pub instructions: Option<u32>,
    /// Dwords of the command that hold an upper bound of state or instructions and are in force.
    pub bounds: Vec<usize>,
}

/// The kernel of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnitKernel {
    /// Name of the unit's threads.
    pub unit: &'static str,
    /// Kernel start pointer, relative to the base of instructions.
    pub pointer: u32,
}

/// The interrupt registers of a device.
pub struct InterruptInfo {
    /// Mask, enable and identity of the engines' interrupts.
    pub bank: InterruptBank,
    /// Banks whose interrupts are all masked.
    pub masked: &'static [InterruptBank],
    /// How errors interrupt, where they do.
    pub error: Option<ErrorInterrupt>,
    /// The bit that has to be set before anything interrupts, where there is one.
    pub master: Option<MasterInterrupt>,
}

/// The interrupt of errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ErrorInterrupt {
    /// Its bit in the engines' registers.
    pub bit: u32,
    /// Error mask register value: bits that are 0 raise the interrupt.
    pub mask: u32,
    /// Bit of EIR for page table errors, whose causes are in PGTBL_ER.
    pub page_table: u32,
}

/// The switch of all interrupts: a bit of an enable register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MasterInterrupt {
    /// Where it is.
    pub place: Switch,
    /// The bit.
    pub enable: u32,
}

/// Where the switch of all interrupts is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Switch {
    /// In the enable register of another bank. It is off while the handler looks what is pending.
    Bank(InterruptBank),
    /// In a register of its own, by its MMIO byte offset. It is off while the handler clears what it has found.
    Register(u32),
}

/// MMIO byte offsets of a set of interrupt registers (i915 `GEN3_IRQ_RESET`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InterruptBank {
    /// Mask.
    pub imr: u32,
    /// Enable.
    pub ier: u32,
    /// Identity.
    pub iir: u32,
}

#[cfg(test)]
mod tests {
    use super::{
        G45, GM45, I965G, I965GM, IRONLAKE, SANDY_BRIDGE_GT1, SANDY_BRIDGE_GT2, VALLEYVIEW,
    };

    #[test]
    fn every_row_has_its_render_engine_first() {
        for row in [
            &I965G,
            &I965GM,
            &G45,
            &GM45,
            &IRONLAKE,
            &SANDY_BRIDGE_GT1,
            &SANDY_BRIDGE_GT2,
            &VALLEYVIEW,
        ] {
            let first = row.engines.first().map(|engine| (engine.name, engine.base));
            assert_eq!(first, Some(("rcs0", 0)), "{}", row.platform);
            let classes = row.engines.iter().map(|engine| engine.class);
            let classes: alloc::collections::BTreeSet<u16> = classes.collect();
            assert_eq!(classes.len(), row.engines.len(), "{}", row.platform);
        }
    }
}
