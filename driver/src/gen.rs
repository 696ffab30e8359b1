//! Generations: rows of choices made once, at probe.
//!
//! A device's row says how commands, page table entries and resets look. Not modelled: any but the rows in `gen/`.
pub mod gen40;

pub use self::gen40::{I965G, I965GM};

/// The registers: offsets and typed fields.
pub(crate) use regs::gen40 as registers;

use alloc::vec::Vec;

use isa::inst::Verx10;
use kernel::dma::DmaAddress;
use kernel::error::Result;
use regs::platform::Generation;

use crate::uncore::Uncore;
use crate::workarounds::Workaround;

/// What is true of a device model.
pub struct DeviceInfo {
    /// Platform name.
    pub platform: &'static str,
    /// Tables of its registers and commands.
    pub tables: &'static Generation,
    /// Instruction set of its execution units.
    pub isa: Verx10,
    /// Error mask register value: bits that are 0 raise the master error interrupt.
    pub error_mask: u32,
    /// Threads reach memory without a surface only with a bit of SVG_WORK_CTL (PRM vol4 5.2.2, erratum of DevBW-A,B).
    pub stateless_gate: bool,
    /// Ticks of the TIMESTAMP register in a second (i915 `intel_gt_clock_utils.c`).
    pub timestamp_hz: u32,
    /// Workarounds applied to the device, then to the render engine.
    pub gt_workarounds: &'static [Workaround],
    /// Workarounds of the render engine, applied before its ring starts.
    pub engine_workarounds: &'static [Workaround],
    /// Command and reset operations.
    pub ops: &'static EngineOps,
}

/// What a flush before or after a batch has to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flush {
    /// Before a batch: read caches and the instruction cache forget what they hold.
    Invalidate,
    /// After a batch: what was written reaches memory.
    WriteBack,
}

/// Operations that differ between generations.
pub struct EngineOps {
    /// Appends a flush; `scratch` is the graphics address of a page for dummy writes.
    pub emit_flush: fn(out: &mut Vec<u32>, mode: Flush, scratch: u32),
    /// Appends a switch to the context whose image is at a graphics address; `inhibit` keeps the engine's state.
    pub emit_set_context: fn(out: &mut Vec<u32>, address: u32, inhibit: bool),
    /// Appends the choice of a system routine, relative to General State Base Address.
    pub emit_sip: fn(out: &mut Vec<u32>, sip: u32),
    /// Appends a flush that lets the snapshot counters of all units begin at 0.
    pub emit_counter_reset: fn(out: &mut Vec<u32>),
    /// Appends the start of a batch at a graphics address.
    pub emit_batch_start: fn(out: &mut Vec<u32>, address: u32),
    /// Appends the end of a request: flush, sequence number, interrupt.
    pub emit_breadcrumb: fn(out: &mut Vec<u32>, seqno: u32),
    /// The page table entry of a page.
    pub pte_encode: fn(page: DmaAddress) -> Result<u32>,
    /// The page behind a page table entry, when it is valid.
    pub pte_decode: fn(entry: u32) -> Option<DmaAddress>,
    /// The value of the status page register for a page.
    pub status_page: fn(page: DmaAddress) -> Result<u32>,
    /// Resets the device.
    pub reset: fn(uncore: &Uncore) -> Result,
}
