//! Statistics counters, unit busy bits and the log of faults.
//!
//! PRM: volume 1 (pipeline statistics, INSTDONE); volume 4, 2.6.11 (errors are latched).
//! Not modelled: the order in which concurrent units would latch their errors.

use crate::core::fault::UnitFault;
use crate::core::status::{FaultLog, FaultRecord};

/// Streams that a geometry shader can write; where there is one alone, it is the first.
pub const STREAMS: usize = 4;

/// The pipeline statistics counters, in the order of their registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// IA_VERTICES_COUNT: vertices that VF fetched.
    pub ia_vertices: u64,
    /// IA_PRIMITIVES_COUNT: objects that VF sent down.
    pub ia_primitives: u64,
    /// VS_INVOCATION_COUNT.
    pub vs_invocations: u64,
    /// GS_INVOCATION_COUNT.
    pub gs_invocations: u64,
    /// GS_PRIMITIVES_COUNT.
    pub gs_primitives: u64,
    /// CL_INVOCATION_COUNT: objects that entered the clipper.
    pub cl_invocations: u64,
    /// CL_PRIMITIVES_COUNT: objects that left it.
    pub cl_primitives: u64,
    /// PS_INVOCATION_COUNT.
    pub ps_invocations: u64,
    /// PS_DEPTH_COUNT: samples that passed the depth test.
    pub ps_depth_count: u64,
    /// SO_NUM_PRIMS_WRITTEN by stream: objects that streamed vertex buffers have got.
    pub so_prims_written: [u64; STREAMS],
    /// SO_PRIM_STORAGE_NEEDED by stream: objects that they would have got, had they been large enough.
    pub so_storage_needed: [u64; STREAMS],
    /// CS_INVOCATION_COUNT: channels of the threads of thread groups.
    pub cs_invocations: u64,
    /// HS_INVOCATION_COUNT: patches.
    pub hs_invocations: u64,
    /// DS_INVOCATION_COUNT: points of tessellated patches.
    pub ds_invocations: u64,
}

/// What the model did, for its users; no guest sees these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Batch buffers started.
    pub batches: u64,
    /// Commands executed.
    pub commands: u64,
    /// Those of them that stood in batch buffers, not in the ring.
    pub batch_commands: u64,
    /// Headers parsed in batch buffers, those included that were refused.
    pub batch_headers: u64,
    /// 3DPRIMITIVE commands.
    pub draws: u64,
    /// Vertices fetched.
    pub vertices: u64,
    /// Objects (triangles, lines, points) that reached strips-and-fans.
    pub objects: u64,
    /// What the tessellation engine did.
    pub tessellation: Tessellation,
    /// Vertices that stream output has written.
    pub streamed: u64,
    /// Threads by fixed function, indexed by [`Unit`].
    pub threads: [u64; UNITS],
    /// EU instructions by fixed function.
    pub instructions: [u64; UNITS],
    /// SIMD8-equivalent EU instructions by fixed function.
    pub simd8: [u64; UNITS],
    /// Pixels handed to pixel shader threads.
    pub pixels: u64,
    /// Blits.
    pub blits: u64,
    /// Rows that the blitter drew.
    pub blit_rows: u64,
}

/// What the tessellation engine did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tessellation {
    /// Patches.
    pub patches: u64,
    /// Those of them that were dropped, because of a factor.
    pub dropped: u64,
    /// Points of the others.
    pub points: u64,
    /// Points, lines and triangles that they made.
    pub objects: u64,
}

/// Fixed functions that start threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// Vertex shader.
    Vs,
    /// Hull shader.
    Hs,
    /// Domain shader.
    Ds,
    /// Geometry shader.
    Gs,
    /// Clipper.
    Clip,
    /// Strips and fans.
    Sf,
    /// Windower.
    Wiz,
    /// Video front end and thread spawner.
    Media,
}

/// Parts of the device whose work INSTDONE and its neighbours show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Busy {
    /// Vertex fetch.
    Vf,
    /// Vertex shader.
    Vs,
    /// Hull shader.
    Hs,
    /// Tessellation engine.
    Te,
    /// Domain shader.
    Ds,
    /// Geometry shader.
    Gs,
    /// Stream output logic.
    Sol,
    /// Clipper.
    Clip,
    /// Strips and fans.
    Sf,
    /// Windower.
    Windower,
    /// Threads on the EUs.
    Threads,
    /// Command streamer.
    Parser,
}

impl Busy {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Busy::Vf => "VF",
            Busy::Vs => "VS",
            Busy::Hs => "HS",
            Busy::Te => "TE",
            Busy::Ds => "DS",
            Busy::Gs => "GS",
            Busy::Sol => "SOL",
            Busy::Clip => "CLIP",
            Busy::Sf => "SF",
            Busy::Windower => "WIZ",
            Busy::Threads => "the EUs",
            Busy::Parser => "the command streamer",
        }
    }
}

/// FFID of vertex fetch, which starts no threads. The manual names no number; it stands before VS in the
/// pipeline and in the registers.
pub const VF_FFID: u8 = 1;

/// Number of [`Unit`]s.
pub const UNITS: usize = 8;

impl Unit {
    /// All units in pipeline order.
    pub const ALL: [Unit; UNITS] = [
        Unit::Vs,
        Unit::Hs,
        Unit::Ds,
        Unit::Gs,
        Unit::Clip,
        Unit::Sf,
        Unit::Wiz,
        Unit::Media,
    ];

    /// What its threads are called.
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Vs => "VS",
            Unit::Hs => "HS",
            Unit::Ds => "DS",
            Unit::Gs => "GS",
            Unit::Clip => "CLIP",
            Unit::Sf => "SF",
            Unit::Wiz => "PS",
            Unit::Media => "MEDIA",
        }
    }

    /// The four-bit FFID that travels in r0 and debug tags (genxml gen4: unit codes of
    /// i965 thread payloads; VS 2, GS 3, CLIP 4, SF 5, WM 6, VFE 7). Those of HS and DS are the model's own.
    pub const fn ffid(self) -> u8 {
        match self {
            Unit::Vs => 2,
            Unit::Gs => 3,
            Unit::Clip => 4,
            Unit::Sf => 5,
            Unit::Wiz => 6,
            Unit::Media => 7,
            Unit::Hs => 8,
            Unit::Ds => 9,
        }
    }
}

/// Who met a bad translation: the bits of PGTBL_ER (i915 i915_reg.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Client {
    /// Command streamer writes and state reads.
    Cs = 1 << 19,
    /// Ring and batch fetch.
    CommandFetch = 1 << 20,
    /// Vertex and index fetch.
    VertexFetch = 1 << 21,
    /// Constant and data cache reads.
    ReadOnlyCache = 1 << 22,
    /// Kernels and state.
    InstructionStateCache = 1 << 23,
    /// Render targets, depth, data port writes.
    RenderCache = 1 << 24,
    /// Textures.
    SamplerCache = 1 << 26,
}

impl Client {
    /// Its name in records of faults.
    pub const fn name(self) -> &'static str {
        match self {
            Client::Cs => "command streamer",
            Client::CommandFetch => "command fetch",
            Client::VertexFetch => "vertex fetch",
            Client::ReadOnlyCache => "read-only cache",
            Client::InstructionStateCache => "instruction and state cache",
            Client::RenderCache => "render cache",
            Client::SamplerCache => "sampler cache",
        }
    }
}

/// Counters and faults of the whole device.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// Guest-visible counters.
    pub statistics: Statistics,
    /// SO_WRITE_OFFSET: where the next vertex goes in each stream output buffer, in bytes from its base. Commands and the host
    /// read and write it; the unit that writes the buffers counts it on.
    pub stream_offsets: [u32; STREAMS],
    /// The model's own counters.
    pub activity: Activity,
    faults: FaultLog,
    /// Bits of the clients that have met a memory fault since somebody asked.
    raised: u32,
}

impl Status {
    /// Notes a fault; only the first few are kept, the rest are counted.
    pub fn fault(&mut self, client: Client, fault: UnitFault, place: impl FnOnce() -> String) {
        if matches!(fault, UnitFault::Memory(_)) {
            self.raised |= client as u32;
        }
        self.faults.note(client.name(), fault, place);
    }

    /// The clients that have met a memory fault since the last call, as bits of PGTBL_ER.
    pub fn take_raised(&mut self) -> u32 {
        std::mem::take(&mut self.raised)
    }

    /// The faults so far, oldest first.
    pub fn faults(&self) -> &[FaultRecord] {
        self.faults.kept()
    }

    /// Faults beyond those kept.
    pub fn dropped_faults(&self) -> u64 {
        self.faults.dropped()
    }

    /// Takes all faults, making room for others, and the number of those that were not kept.
    pub fn take_faults(&mut self) -> (Vec<FaultRecord>, u64) {
        self.faults.take()
    }
}
