//! Engines: what a generation's rows say of their command streamers.
//!
//! PRM: volume 1, ring buffer registers; i915 `intel_engines` (gt/intel_engine_cs.c) for the engines of each generation and
//! their bases. An engine is a row here and an instance of [`Cs`](super::Cs) with its own ring, batch and fault.

use regs::desc::{CommandDesc, Engine};
use regs::ids::{CommandId, RegId};
use regs::platform::Generation;

use crate::intel::status::Busy;

/// Where the register of the hardware status page points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusPage {
    /// At memory itself (i915 `hws_needs_physical`).
    Physical,
    /// At an address of the GTT.
    Graphics,
}

/// How TIMESTAMP counts: ticks of the core, or units of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// Counts for `ticks` ticks.
    pub counts: u64,
    /// The ticks.
    pub ticks: u64,
}

impl Timestamp {
    /// Each tick counts.
    pub const TICKS: Timestamp = Timestamp {
        counts: 1,
        ticks: 1,
    };

    /// The counter after so many ticks.
    #[inline]
    pub const fn at(self, ticks: u64) -> u64 {
        if self.ticks <= 1 {
            return ticks;
        }
        // The quotient and the rest apart, so that nothing overflows.
        let (whole, rest) = (ticks / self.ticks, ticks % self.ticks);
        whole
            .wrapping_mul(self.counts)
            .wrapping_add(rest * self.counts / self.ticks)
    }
}

/// Which reset ends an engine's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// 3D and media pipeline, and everything that no other engine has.
    Render,
    /// Video decoder.
    Media,
    /// Blitter with an engine of its own.
    Blitter,
}

/// The registers with which an engine's tables of a process are loaded (i915 gt/gen6_ppgtt.c).
#[derive(Clone, Copy, Debug)]
pub struct SpaceRegisters {
    /// PP_DIR_BASE: where the directory begins among the entries of the global GTT; see [`ProcessTables`](crate::intel::r#gen::ProcessTables).
    pub base: RegId,
    /// PP_DIR_DCLV: which parts of the directory are there. None are when it is 0.
    pub valid: RegId,
    /// A register and a bit of it that switches them on.
    pub enable: (RegId, u32),
}

/// Where a command that is refused shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errors {
    /// In ESR and EIR of the device.
    Device,
    /// In bit 0 of a register of the engine.
    Own(RegId),
}

/// The registers of a streamer, as i915 names them (gt/intel_engine_regs.h `RING_*`).
#[derive(Clone, Copy, Debug)]
pub struct RingRegisters {
    /// RING_TAIL.
    pub tail: RegId,
    /// RING_HEAD.
    pub head: RegId,
    /// RING_START.
    pub start: RegId,
    /// RING_CTL.
    pub ctl: RegId,
    /// RING_IPEIR.
    pub ipeir: RegId,
    /// RING_IPEHR.
    pub ipehr: RegId,
    /// RING_ACTHD.
    pub acthd: RegId,
    /// RING_DMA_FADD.
    pub dma_fadd: RegId,
    /// RING_HWS_PGA.
    pub hws_pga: RegId,
    /// RING_NOPID.
    pub nopid: RegId,
    /// RING_MI_MODE.
    pub mi_mode: RegId,
}

/// A command whose opcode means another one on the engine that the tables of commands speak of. What is behind its header is not
/// modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnCommand {
    /// Name.
    pub name: &'static str,
    /// Bits 31:16 of its header. Bits 11:0 are its length in dwords, less two.
    pub opcode: u16,
    /// Where it stands.
    pub cite: &'static str,
}

impl OwnCommand {
    /// Dwords of the command with a header.
    pub const fn dwords(header: u32) -> usize {
        (header & 0xfff) as usize + 2
    }
}

/// Use Global GTT of the commands that store and load a register.
const GLOBAL_GTT: u32 = 1 << 22;
/// Bits of a dword that are the offset of a register.
const REGISTER: u32 = 0x007f_fffc;

/// Bytes of the block of registers that an engine has.
const BLOCK: u32 = 0x1000;

/// A row: an engine of a generation.
#[derive(Clone, Copy, Debug)]
pub struct EngineInfo {
    /// Name, as i915 writes it (`rcs0`).
    pub name: &'static str,
    /// What its streamer is called in faults and in the trace.
    pub unit: &'static str,
    /// What it does: which commands it takes.
    pub class: Engine,
    /// Whether draws, media threads and blits are its own. The first row of a device is such an engine.
    pub has_pipelines: bool,
    /// MMIO byte offset of its registers.
    pub base: u32,
    /// Which they are.
    pub registers: RingRegisters,
    /// Where HWS_PGA points.
    pub status_page: StatusPage,
    /// Bit of MI_USER_INTERRUPT in the interrupt registers.
    pub user_interrupt: u32,
    /// A register that keeps interrupts of the engine from the interrupt registers (RING_IMR): bits as there.
    pub interrupt_mask: Option<RegId>,
    /// How tables of a process are loaded.
    pub space: Option<SpaceRegisters>,
    /// Bit of MI_FLUSH_DW likewise; 0 for an engine without it.
    pub flush_interrupt: u32,
    /// Commands that share their opcodes with others of another engine.
    pub own_commands: &'static [OwnCommand],
    /// Registers that commands of batches without privileges may load and store: byte offset of the first, and of the byte behind the last, in
    /// ascending order. Such a command that names another one is left out.
    pub user_registers: &'static [(u32, u32)],
    /// Registers that other engines signal by, by Register Select of MI_SEMAPHORE_MBOX.
    pub semaphores: &'static [(u32, RegId)],
    /// Where refused commands show.
    pub errors: Errors,
    /// Which reset ends its work.
    pub domain: Domain,
    /// The bits that say what has nothing to do: register and number of the bit for each part.
    pub done: &'static [(Busy, RegId, u8)],
}

impl EngineInfo {
    /// Whether its streamer takes a command.
    #[inline]
    pub fn takes(&self, command: &CommandDesc) -> bool {
        command.runs_on(self.class)
    }

    /// Whether a privileged command is carried out in a batch without privileges all the same: it loads or stores registers that are
    /// for everybody, and names no address of the global GTT.
    #[cold]
    pub fn lets_users(&self, command: CommandId, dwords: &[u32]) -> bool {
        let header = dwords.first().copied().unwrap_or_default();
        let step = match command {
            CommandId::MiLoadRegisterImm => 2,
            CommandId::MiLoadRegisterMem | CommandId::MiStoreRegisterMem
                if header & GLOBAL_GTT == 0 =>
            {
                dwords.len()
            }
            _ => return false,
        };
        let mut registers = dwords.iter().skip(1).step_by(step.max(1));
        registers.all(|register| self.is_for_users(register & REGISTER))
    }

    fn is_for_users(&self, register: u32) -> bool {
        let behind = (self.user_registers).partition_point(|(first, _)| *first <= register);
        let range = behind
            .checked_sub(1)
            .and_then(|at| self.user_registers.get(at));
        range.is_some_and(|(_, end)| register < *end)
    }

    /// The command of its own that a header starts.
    pub fn own_command(&self, header: u32) -> Option<&'static OwnCommand> {
        let mut all = self.own_commands.iter();
        all.find(|command| u32::from(command.opcode) == header >> 16)
    }

    /// The registers that a generation gives it.
    pub fn owned(&self, tables: &'static Generation) -> impl Iterator<Item = RegId> {
        let block = self.base..self.base + BLOCK;
        let all = tables.registers.iter();
        // The status page's may lie elsewhere.
        let page = self.registers.hws_pga;
        all.filter(move |desc| block.contains(&desc.offset) || desc.id == page)
            .map(|desc| desc.id)
    }
}

/// The registers of the render engine at 2000h.
pub const RENDER_REGISTERS: RingRegisters = RingRegisters {
    tail: RegId::Prb0Tail,
    head: RegId::Prb0Head,
    start: RegId::Prb0Start,
    ctl: RegId::Prb0Ctl,
    ipeir: RegId::Ipeir,
    ipehr: RegId::Ipehr,
    acthd: RegId::Acthd,
    dma_fadd: RegId::DmaFadd,
    hws_pga: RegId::HwsPga,
    nopid: RegId::Nopid,
    mi_mode: RegId::MiMode,
};
