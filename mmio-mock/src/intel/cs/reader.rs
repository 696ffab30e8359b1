//! What the command streamer asks of a generation: its commands as plain values.
//!
//! PRM: volume 1 (MI commands), volume 2 (STATE_BASE_ADDRESS, PIPE_CONTROL, PIPELINE_SELECT). Commands whose layout is
//! the same in every generation are read from the tables where they are executed.

use std::fmt::Debug;

use mem::{GpuAddr, PhysAddr};

use super::latched::LatchedReader;
use crate::intel::ff::state::VertexBuffer;
use crate::intel::shared::context::StateBases;

/// What a STATE_BASE_ADDRESS changes; `None` leaves a base or a bound as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BaseChanges {
    /// General State Base Address.
    pub general_state_base: Option<u32>,
    /// Surface State Base Address.
    pub surface_state_base: Option<u32>,
    /// Dynamic State Base Address.
    pub dynamic_state_base: Option<u32>,
    /// Sampler and colour calculator states have a base of their own, and do not lie relative to General State Base Address.
    pub dynamic_apart: bool,
    /// Indirect Object Base Address.
    pub indirect_object_base: Option<u32>,
    /// Instruction Base Address.
    pub instruction_base: Option<u32>,
    /// Kernels have a base of their own, and do not lie relative to General State Base Address.
    pub kernels_apart: bool,
    /// General State Access Upper Bound.
    pub general_state_upper_bound: Option<u32>,
    /// Dynamic State Access Upper Bound.
    pub dynamic_state_upper_bound: Option<u32>,
    /// Indirect Object Access Upper Bound.
    pub indirect_object_upper_bound: Option<u32>,
    /// Instruction Access Upper Bound.
    pub instruction_upper_bound: Option<u32>,
}

/// MI_FLUSH.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flush {
    /// The state and instruction caches forget what they hold.
    pub invalidate: bool,
    /// The tables of the process are looked at again.
    pub invalidate_translations: bool,
    /// The snapshot counters of all units begin at 0.
    pub reset_counters: bool,
}

/// What a PIPE_CONTROL writes when the pipeline is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PostSync {
    /// Nothing.
    #[default]
    Nothing,
    /// The command's immediate data.
    Immediate(u64),
    /// A dword of immediate data.
    Dword(u32),
    /// PS_DEPTH_COUNT.
    DepthCount,
    /// TIMESTAMP.
    Timestamp,
    /// A dword of immediate data, to the register whose offset stands in place of an address.
    Register(u32),
}

/// What MI_PREDICATE compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Comparison {
    /// Nothing: true.
    #[default]
    True,
    /// Nothing: false.
    False,
    /// MI_PREDICATE_SRC0 and MI_PREDICATE_SRC1 are equal.
    Equal,
    /// The difference of both is that of the comparison before.
    DeltasEqual,
}

/// How MI_PREDICATE combines the comparison with the predicate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Combination {
    /// The comparison alone.
    #[default]
    Set,
    /// Both.
    And,
    /// Either.
    Or,
    /// One of them.
    Xor,
}

/// MI_PREDICATE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Predicate {
    /// What is compared.
    pub comparison: Comparison,
    /// How it is combined.
    pub combination: Combination,
    /// What becomes of the result: it is loaded, or its inverse; `None`: the predicate stays.
    pub inverts: Option<bool>,
}

/// PIPE_CONTROL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PipeControl {
    /// The instruction cache forgets what it holds.
    pub invalidate_instructions: bool,
    /// The tables of the process are looked at again.
    pub invalidate_translations: bool,
    /// What caches have not written goes to memory.
    pub flush_writes: bool,
    /// What is written.
    pub post_sync: PostSync,
    /// Graphics address of 8 bytes for it; with `in_status_page` an offset there.
    pub address: GpuAddr,
    /// It is written to the hardware status page.
    pub in_status_page: bool,
    /// The space of the address, where the command names one; otherwise that of the command.
    pub space: Option<Chosen>,
    /// Raises the interrupt.
    pub notify: bool,
    /// The image of the context is made without the state of the media pipeline.
    pub clears_media: bool,
}

/// The space that a command names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chosen {
    /// The global one.
    #[default]
    Global,
    /// That of the process whose tables the engine has loaded.
    Process,
}

/// Where a command stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At an address of a space.
    Graphics(Chosen, GpuAddr),
    /// At an address of memory itself.
    Physical(PhysAddr),
}

impl Place {
    /// An address of the global GTT, or one of memory itself with bits 35:32 in `extension`.
    #[must_use]
    pub fn of(graphics: bool, extension: u32, address: u32) -> Self {
        if graphics {
            Place::Graphics(Chosen::Global, address.into())
        } else {
            Place::Physical(PhysAddr(u64::from(extension) << 32 | u64::from(address)))
        }
    }
}

/// MI_BATCH_BUFFER_START.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchStart {
    /// The first command.
    pub start: GpuAddr,
    /// The space of that address and of all addresses in the batch.
    pub space: Chosen,
    /// Privileged commands are to be left out.
    pub non_secure: bool,
}

/// MI_STORE_REGISTER_MEM and MI_LOAD_REGISTER_MEM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreRegister {
    /// MMIO byte offset of the register.
    pub register: u32,
    /// Where its value goes, or comes from.
    pub place: Place,
}

/// MI_FLUSH_DW.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlushStore {
    /// The tables of the process are looked at again.
    pub invalidate_translations: bool,
    /// Raises the engine's interrupt of flushes.
    pub notify: bool,
    /// What is written.
    pub store: PostSync,
    /// It is written to the hardware status page.
    pub in_status_page: bool,
    /// The space of the address.
    pub space: Chosen,
    /// Where it is written, or the offset in the status page.
    pub address: GpuAddr,
}

/// MI_CONDITIONAL_BATCH_BUFFER_END.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConditionalEnd {
    /// There is something to compare; otherwise the batch ends in any case.
    pub compares: bool,
    /// The batch goes on when what is in memory is greater.
    pub limit: u32,
    /// Where that is.
    pub place: Place,
}

/// MI_SEMAPHORE_MBOX.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Semaphore {
    /// The data are written.
    pub updates: bool,
    /// The engine waits until what is there is greater than the data.
    pub compares: bool,
    /// A register of the engine is compared, and not memory.
    pub in_register: bool,
    /// Which of them.
    pub register: u32,
    /// The data.
    pub data: u32,
    /// Where in memory, or offset of the register that is written.
    pub address: u32,
    /// The space of the address.
    pub space: Chosen,
}

/// Reads and makes the commands whose layout differs between generations; each is given with its header.
pub trait CommandReader: Debug + Sync {
    /// The commands that latch state.
    fn latched(&self) -> &'static dyn LatchedReader;

    /// STATE_BASE_ADDRESS.
    fn state_base_address(&self, d: &[u32]) -> BaseChanges;

    /// A STATE_BASE_ADDRESS that sets everything.
    fn put_state_base_address(&self, bases: &StateBases, out: &mut Vec<u32>);

    /// PIPELINE_SELECT: whether it chooses the media pipeline; `None` for one that the model does not have.
    fn pipeline_select(&self, d: &[u32]) -> Option<bool>;

    /// A PIPELINE_SELECT.
    fn put_pipeline_select(&self, media: bool, out: &mut Vec<u32>);

    /// 3DSTATE_VF_STATISTICS: whether vertex fetch counts.
    fn vf_statistics(&self, d: &[u32]) -> bool;

    /// A 3DSTATE_VF_STATISTICS.
    fn put_vf_statistics(&self, enable: bool, out: &mut Vec<u32>);

    /// The buffers of a 3DSTATE_VERTEX_BUFFERS, each with its index.
    fn vertex_buffers(&self, d: &[u32]) -> Vec<(usize, VertexBuffer)>;

    /// The buffers of a 3DSTATE_VERTEX_BUFFERS whose addresses stay as they are (Address Modify Enable), a bit for each index.
    fn kept_addresses(&self, _d: &[u32]) -> u64 {
        0
    }

    /// A 3DSTATE_VERTEX_BUFFERS with the valid buffers. When no buffer is valid, `out` stays as it is.
    fn put_vertex_buffers(&self, buffers: &[VertexBuffer], out: &mut Vec<u32>);

    /// 3DSTATE_DEPTH_BUFFER in its full length, with zeros for what a short one leaves out.
    fn depth_buffer(&self, d: &[u32]) -> Vec<u32>;

    /// MI_FLUSH.
    fn flush(&self, d: &[u32]) -> Flush;

    /// PIPE_CONTROL.
    fn pipe_control(&self, d: &[u32]) -> PipeControl;

    /// Whether what a batch starts works in the space of the process, if there is one, also where the batch itself is read from the global
    /// one. Stores of the streamer name their space.
    fn works_in_process(&self) -> bool {
        false
    }

    /// MI_BATCH_BUFFER_START.
    fn batch_start(&self, d: &[u32]) -> BatchStart;

    /// MI_STORE_DATA_IMM: where the data go.
    fn store_data_imm(&self, d: &[u32]) -> Place;

    /// MI_STORE_REGISTER_MEM.
    fn store_register_mem(&self, d: &[u32]) -> StoreRegister;

    /// MI_LOAD_REGISTER_MEM, where a generation has it: the register and where its value comes from.
    fn load_register_mem(&self, d: &[u32]) -> StoreRegister {
        self.store_register_mem(d)
    }

    /// MI_PREDICATE, where a generation has it.
    fn predicate(&self, _d: &[u32]) -> Predicate {
        Predicate::default()
    }

    /// MI_FLUSH_DW, where a generation has it.
    fn flush_store(&self, _d: &[u32]) -> FlushStore {
        FlushStore::default()
    }

    /// MI_CONDITIONAL_BATCH_BUFFER_END, where a generation has it.
    fn conditional_end(&self, _d: &[u32]) -> ConditionalEnd {
        ConditionalEnd {
            compares: false,
            limit: 0,
            place: Place::Graphics(Chosen::Global, GpuAddr(0)),
        }
    }

    /// MI_SEMAPHORE_MBOX, where a generation has it.
    fn semaphore(&self, _d: &[u32]) -> Semaphore {
        Semaphore::default()
    }

    /// MI_UPDATE_GTT, where a generation has it: the address whose entry is the first, and the entries.
    fn update_gtt(&self, _d: &[u32]) -> (u32, Vec<u32>) {
        (0, Vec::new())
    }
}
