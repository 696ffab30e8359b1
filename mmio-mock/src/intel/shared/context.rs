//! What shared functions know of a sender, and what its messages tell.
//!
//! PRM: volume 4, 2.6.2 (sideband), 4.7.1, 5.2.2 (stateless model), 8.4.2 (snooped bits).
//! Not modelled: per-context protection beyond the upper bounds.

use mem::GpuAddr;

use crate::intel::surface::samples;
use super::interpolator::Planes;

/// Function IDs of the shared functions (PRM 2.5).
pub mod sfid {
    /// Null.
    pub const NULL: u8 = 0;
    /// Extended math.
    pub const MATH: u8 = 1;
    /// Sampling engine.
    pub const SAMPLER: u8 = 2;
    /// Message gateway.
    pub const GATEWAY: u8 = 3;
    /// Data port, read.
    pub const DATAPORT_READ: u8 = 4;
    /// Data port, write.
    pub const DATAPORT_WRITE: u8 = 5;
    /// URB.
    pub const URB: u8 = 6;
    /// Thread spawner.
    pub const SPAWNER: u8 = 7;
    /// Data port, constant cache, of generations that have it apart (Mesa brw_eu_defines.h).
    pub const CONSTANT_CACHE: u8 = 9;
    /// Data port, data cache (the same).
    pub const DATA_CACHE: u8 = 10;
    /// Pixel interpolator.
    pub const INTERPOLATOR: u8 = 11;
}

/// Base addresses and bounds of STATE_BASE_ADDRESS.
///
/// An upper bound of zero means that the access is not checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateBases {
    /// General State Base Address: unit state, sampler state, border colours, scratch, and kernels where a generation
    /// has no base for them.
    pub general_state_base: u32,
    /// Surface State Base Address: binding tables and surface states.
    pub surface_state_base: u32,
    /// Dynamic State Base Address, of generations that have one: sampler states, border colours, viewports, states of
    /// the colour calculator.
    pub dynamic_state_base: Option<u32>,
    /// Dynamic State Access Upper Bound, absolute: what MI_SET_CONTEXT saves; accesses are not checked against it.
    pub dynamic_state_upper_bound: u32,
    /// Indirect Object Base Address.
    pub indirect_object_base: u32,
    /// General State Access Upper Bound, absolute; zero: unchecked.
    pub general_state_upper_bound: u32,
    /// Indirect Object Access Upper Bound, absolute; zero: unchecked.
    pub indirect_object_upper_bound: u32,
    /// Instruction Base Address, of generations that have one.
    pub instruction_base: Option<u32>,
    /// Instruction Access Upper Bound, absolute; zero: unchecked.
    pub instruction_upper_bound: u32,
}

impl StateBases {
    /// What kernel pointers and instruction pointers are relative to.
    #[inline]
    pub fn kernels(&self) -> u32 {
        self.instruction_base.unwrap_or(self.general_state_base)
    }

    /// What sampler states and border colours are relative to.
    #[inline]
    pub fn dynamic(&self) -> u32 {
        self.dynamic_state_base.unwrap_or(self.general_state_base)
    }
}

/// The thread context that the hardware keeps and no message carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadContext {
    /// State base addresses in force when the thread started.
    pub bases: StateBases,
    /// Binding table of the fixed function that asked for the thread, relative to the surface
    /// state base.
    pub binding_table_pointer: u32,
    /// Sampler state table of that fixed function, relative to the general state base. The
    /// message header's own pointer (M0.3) is the one that samples.
    pub sampler_state_pointer: u32,
    /// Scratch space base of the fixed function, relative to the general state base.
    pub scratch_base: u32,
    /// Scratch bytes per thread (0: none).
    pub scratch_size: u32,
    /// Fixed-function id of the sender.
    pub ffid: u8,
}

/// A URB entry by the two numbers that travel in headers: ID and return handle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageHandle {
    /// Handle ID: names the work item inside the fixed function.
    pub id: u16,
    /// URB return handle: first row of the entry.
    pub handle: u16,
}

impl MessageHandle {
    /// From the header dword: ID in 31:16, handle in 15:0 (PRM 8.4.3.1).
    #[must_use]
    pub const fn from_dword(dword: u32) -> Self {
        MessageHandle {
            id: (dword >> 16) as u16,
            handle: dword as u16,
        }
    }

    /// Back to the header dword.
    #[must_use]
    pub const fn dword(self) -> u32 {
        (self.id as u32) << 16 | self.handle as u32
    }
}

impl From<crate::intel::urb::UrbHandle> for MessageHandle {
    /// The model's fixed functions name the work item by the entry itself.
    fn from(entry: crate::intel::urb::UrbHandle) -> Self {
        MessageHandle {
            id: entry.0,
            handle: entry.0,
        }
    }
}

/// One URB_WRITE as the fixed functions see it go by (PRM 8.4.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UrbEvent {
    /// Entry 0.
    pub entry: MessageHandle,
    /// Entry 1 of an interleaved write.
    pub second: Option<MessageHandle>,
    /// The sender's slot as the header says (M0.5 7:0).
    pub fftid: u8,
    /// No further writes to these entries.
    pub complete: bool,
    /// The entries are valid outputs; only with `complete`.
    pub used: bool,
    /// A further entry was asked for and handed out in the writeback.
    pub allocated: Option<MessageHandle>,
    /// Primitive topology of the vertex in entry 0 (GS and clipper).
    pub prim_type: u8,
    /// First vertex of a primitive.
    pub prim_start: bool,
    /// Last vertex of a primitive.
    pub prim_end: bool,
    /// End of thread rode on the message.
    pub eot: bool,
    /// End of thread: vertices that it has written into the entries, where it writes several into one.
    pub counts: [u16; 2],
    /// FF_SYNC: vertices that the thread will stream out.
    pub stream_vertices: u16,
    /// FF_SYNC: primitives that the streamed vertex buffers need room for.
    pub stream_needed: u16,
    /// End of thread: primitives that it has streamed out.
    pub stream_written: u16,
}

/// End of a thread as the dispatcher and the fixed functions snoop it (PRM 2.6.8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EotEvent {
    /// Target shared function of the last message.
    pub sfid: u8,
    /// FFTID of the header (M0.5 7:0).
    pub fftid: u8,
}

/// A register write on its way to another thread (gateway, PRM 7.1.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ForwardEvent {
    /// Recipient EU.
    pub eu: u8,
    /// Recipient thread slot.
    pub slot: u8,
    /// Byte address in the recipient's GRF.
    pub byte: u16,
    /// Length in bytes: 1, 4, 8 or 16.
    pub length: u8,
    /// Data, lowest dword first.
    pub data: [u32; 4],
    /// Increment the recipient's notification counter.
    pub notify: bool,
}

/// Channels of the widest PS thread.
pub const PIXELS: usize = 32;

/// Samples of a pixel, where there are several.
pub const SAMPLES: usize = samples::MOST;

/// What the windower keeps of a PS thread's pixels while the thread lives.
///
/// Where render target writes need no header (Sandy Bridge; Mesa brw_lower_logical_sends.cpp
/// `lower_fb_write_logical_send`), they find here what a header would say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThreadPixels {
    /// Upper left pixel of each subspan, columns and rows. A subspan is four channels.
    pub origins: [(u16, u16); PIXELS / 4],
    /// Channels whose pixel is lit in at least one sample.
    pub mask: u32,
    /// Channels whose pixel is lit, by samples. A target with one sample has the first alone. Where a thread is
    /// for single samples, a channel is lit in the one that it is for.
    pub coverage: [u32; SAMPLES],
    /// Source depth of each channel, by samples; depth that the kernel computes comes with its message. It is filled in where
    /// tests are late, for samples with lit channels; elsewhere the depth of an earlier thread stands here.
    pub depth: [[f32; PIXELS]; SAMPLES],
    /// Antialias alpha of a line's pixels as U0.4.
    pub alpha: Option<[u8; PIXELS]>,
    /// The back side is seen.
    pub back_facing: bool,
    /// Viewport, which chooses a CC_VIEWPORT.
    pub viewport: u8,
    /// Render Target Array Index.
    pub array_index: u16,
    /// Depth and stencil have not been tested yet: the write does it, and the last target's writes them.
    pub late_tests: bool,
    /// Samples that pass the late tests are counted (PS_DEPTH_COUNT).
    pub count_depth: bool,
    /// What changes over the primitive, where kernels ask for its weights.
    pub planes: Option<Planes>,
}

impl ThreadPixels {
    /// Those of channels 16 to 31, without depth and antialias alpha.
    #[must_use]
    pub fn upper(&self) -> ThreadPixels {
        let mut upper = ThreadPixels {
            mask: self.mask >> 16,
            coverage: self.coverage.map(|lit| lit >> 16),
            back_facing: self.back_facing,
            viewport: self.viewport,
            array_index: self.array_index,
            late_tests: self.late_tests,
            count_depth: self.count_depth,
            planes: self.planes,
            ..ThreadPixels::default()
        };
        for (to, from) in upper.origins.iter_mut().zip(self.origins.iter().skip(4)) {
            *to = *from;
        }
        upper
    }

    /// Becomes the pixels of another thread.
    #[inline]
    pub fn assign(&mut self, from: &ThreadPixels) {
        let ThreadPixels {
            origins,
            mask,
            coverage,
            depth,
            alpha,
            back_facing,
            viewport,
            array_index,
            late_tests,
            count_depth,
            planes,
        } = from;
        self.origins = *origins;
        self.mask = *mask;
        self.coverage = *coverage;
        if *late_tests {
            for ((to, from), coverage) in self.depth.iter_mut().zip(depth).zip(coverage) {
                if *coverage != 0 {
                    *to = *from;
                }
            }
        }
        if self.alpha.is_some() || alpha.is_some() {
            self.alpha = *alpha;
        }
        self.back_facing = *back_facing;
        self.viewport = *viewport;
        self.array_index = *array_index;
        self.late_tests = *late_tests;
        self.count_depth = *count_depth;
        if self.planes.is_some() || planes.is_some() {
            self.planes = *planes;
        }
    }
}

impl Default for ThreadPixels {
    fn default() -> Self {
        ThreadPixels {
            origins: [(0, 0); PIXELS / 4],
            mask: 0,
            coverage: [0; SAMPLES],
            depth: [[0.0; PIXELS]; SAMPLES],
            alpha: None,
            back_facing: false,
            viewport: 0,
            array_index: 0,
            late_tests: false,
            count_depth: false,
            planes: None,
        }
    }
}

/// A square of sixteen pixels that was filled with one colour, which went straight into its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneColour {
    /// Address of the target's surface state.
    pub target: GpuAddr,
    /// Its index in the binding table.
    pub index: u8,
    /// Slice of the target.
    pub slice: u32,
    /// What each pixel holds.
    pub dword: u32,
    /// The message had a header.
    pub header: bool,
}

/// Everything that a thread's messages tell the units around it. The owner clears it, runs the
/// thread and looks; capacity is kept.
#[derive(Clone, Debug, Default)]
pub struct Events {
    /// URB writes in order of arrival.
    pub urb: Vec<UrbEvent>,
    /// Set by the message that carried EOT.
    pub eot: Option<EotEvent>,
    /// Gateway register writes to deliver.
    pub forwards: Vec<ForwardEvent>,
    /// URB entries that the fixed function is ready to hand out, the next one last.
    pub free: Vec<MessageHandle>,
    /// Pixels whose scoreboard bits were cleared by a last-render-target write.
    pub scoreboard_clear: u16,
    /// Pixels that passed the depth and stencil tests made here (PS_DEPTH_COUNT).
    pub depth_count: u32,
    /// The pixels of a PS thread whose writes need no header.
    pub pixels: ThreadPixels,
    /// The data port is to tell of a square of one colour.
    pub watch_colour: bool,
    /// The square of sixteen pixels that the last message has filled with one colour.
    pub one_colour: Option<OneColour>,
    /// For a GS thread: the streamed vertex buffer indices, as FF_SYNC answers them.
    pub stream_indices: [u32; 4],
}

impl Events {
    /// Forgets everything but the allocations.
    pub fn clear(&mut self) {
        self.urb.clear();
        self.eot = None;
        self.forwards.clear();
        self.free.clear();
        self.scoreboard_clear = 0;
        self.depth_count = 0;
        self.watch_colour = false;
        self.one_colour = None;
    }
}
