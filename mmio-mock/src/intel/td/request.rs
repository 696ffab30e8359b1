//! What a fixed function says of the thread that it wants.
//!
//! PRM: volume 4, 2.4 (dispatch), 8.2 (payload).

use eu::Grf;

pub use crate::intel::debug::host::Subject;
use crate::intel::shared::context::ThreadContext;
use crate::intel::status::Unit;
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
    pub dispatch_mask: u16,
    /// Registers from r0 on, as the fixed function built them.
    pub header: &'a [Grf],
    /// Constants (CURBE), loaded at `kernel.urb_start`.
    pub constants: Option<UrbRead>,
    /// Vertex or setup data, loaded behind the constants.
    pub data: VertexData<'a>,
    /// Snapshot flag of the thread.
    pub snapshot: bool,
    /// What it is to work on, for debuggers.
    pub subject: Subject,
}
