//! What a fixed function says of the thread that it wants.
//!
//! PRM: volume 4, 2.4 (dispatch), 8.2 (payload).

use eu::{FloatMode, Grf, ThreadId, ThreadInit};
use mem::GpuAddr;

pub use crate::intel::debug::host::Subject;
use crate::intel::shared::context::{ThreadContext, ThreadPixels};
use crate::intel::status::Unit;
use crate::intel::surface::Range;
use crate::intel::urb::UrbHandle;

/// Rows of a URB entry that the dispatcher copies into the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrbRead {
    /// Entry.
    pub handle: UrbHandle,
    /// First row, in 256-bit rows from the start of the entry.
    pub offset: u16,
    /// Number of 256-bit rows.
    pub rows: u16,
}

/// How URB data are laid out in the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VertexData<'a> {
    /// Entry after entry, a register per row.
    Sequential(&'a [UrbRead]),
    /// Two entries side by side, four dwords of each in a register (SIMD4x2 vertex shading).
    Interleaved(UrbRead, UrbRead),
    /// The same for the vertices of two objects: those at the same place share registers, pair after pair.
    Pairs(&'a [[UrbRead; 2]]),
    /// Registers of a fixed function that keeps them itself.
    Registers(&'a [Grf]),
}

/// Kernel state common to all fixed functions, from dwords 0 to 3 of their unit state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelState {
    /// Kernel start pointer, relative to [`StateBases::kernels`](crate::intel::shared::StateBases::kernels).
    pub ip: u32,
    /// Registers allocated.
    pub grf_count: u8,
    /// Alternative float mode.
    pub alt_float: bool,
    /// Single program flow.
    pub single_program_flow: bool,
    /// Exception enables: illegal opcode, mask stack, software.
    pub illegal_opcode_exception: bool,
    /// Mask stack exception enable.
    pub mask_stack_exception: bool,
    /// Software exception enable.
    pub software_exception: bool,
    /// High priority.
    pub high_priority: bool,
    /// Dispatch GRF start register for URB data.
    pub urb_start: u8,
}

/// Most buffers that constants are pushed from (genxml gen6 3DSTATE_CONSTANT_BODY).
pub const PUSHED: usize = 4;

/// Constants of a unit in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pushed {
    /// Address of the first row and number of 256-bit rows of each buffer.
    pub buffers: [(GpuAddr, u16); PUSHED],
}

impl Pushed {
    /// Where they lie.
    pub fn ranges(&self) -> impl Iterator<Item = Range> {
        self.buffers.iter().map(|&(base, rows)| Range {
            base,
            bytes: u64::from(rows) * 32,
        })
    }
}

/// Where the constants that a thread finds in its registers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstantSource {
    /// Rows of the command streamer's entry of the URB (CURBE).
    Entry(UrbRead),
    /// Rows of buffers in memory, buffer after buffer.
    Memory(Pushed),
}

/// A fixed function's wish for a thread.
#[derive(Clone, Copy, Debug)]
pub struct ThreadRequest<'a> {
    /// The unit that asks.
    pub unit: Unit,
    /// Kernel and modes.
    pub kernel: KernelState,
    /// What shared functions will know of the thread.
    pub context: ThreadContext,
    /// One bit a channel.
    pub dispatch_mask: u32,
    /// Registers from r0 on, as the fixed function built them.
    pub header: &'a [Grf],
    /// Constants, loaded at `kernel.urb_start`.
    pub constants: Option<ConstantSource>,
    /// Vertex or setup data, loaded behind the constants.
    pub data: VertexData<'a>,
    /// The pixels of a thread whose render target writes need no header.
    pub pixels: Option<&'a ThreadPixels>,
    /// The streamed vertex buffer indices that FF_SYNC answers the thread.
    pub stream_indices: [u32; 4],
    /// Snapshot flag of the thread.
    pub snapshot: bool,
    /// What it is to work on, for debuggers.
    pub subject: Subject,
}

impl KernelState {
    /// What a thread begins with, but for its identity and what debug registers change.
    #[inline]
    pub(super) fn init(&self, dispatch_mask: u32, sip: u32) -> ThreadInit {
        let kernel = self;
        ThreadInit {
            id: ThreadId::default(),
            ip: kernel.ip,
            sip,
            dispatch_mask,
            float_mode: if kernel.alt_float {
                FloatMode::Alt
            } else {
                FloatMode::Ieee
            },
            single_program_flow: kernel.single_program_flow,
            illegal_opcode_exception: kernel.illegal_opcode_exception,
            mask_stack_exception: kernel.mask_stack_exception,
            software_exception: kernel.software_exception,
            breakpoint: false,
            high_priority: kernel.high_priority,
            grf_count: kernel.grf_count,
        }
    }
}
