//! Header words of the memory interface commands that the ring needs.
//!
//! PRM vol1 "Memory Interface Commands"; values as in i915 `intel_gpu_commands.h`. Everything else comes typed from
//! `regs`. Not modelled: commands of later generations.

/// MI opcode in bits 28:23.
const fn mi(opcode: u32, low: u32) -> u32 {
    opcode << 23 | low
}

/// MI_NOOP.
pub const NOOP: u32 = mi(0x00, 0);
/// MI_USER_INTERRUPT.
pub const USER_INTERRUPT: u32 = mi(0x02, 0);
/// MI_FLUSH: render cache written back, read caches invalidated.
pub const FLUSH: u32 = mi(0x04, 0);
/// MI_FLUSH bit: state and instruction caches are invalidated too.
pub const FLUSH_STATE_INSTRUCTION_INVALIDATE: u32 = 1 << 1;
/// MI_FLUSH bit: the render cache is not written back.
pub const FLUSH_RENDER_CACHE_INHIBIT: u32 = 1 << 2;
/// MI_FLUSH bit: the snapshot counters of all units restart at 0.
pub const FLUSH_GLOBAL_SNAPSHOT_COUNT_RESET: u32 = 1 << 3;
/// MI_BATCH_BUFFER_END.
pub const BATCH_BUFFER_END: u32 = mi(0x0a, 0);
/// MI_STORE_DATA_INDEX, three dwords: stores into the hardware status page.
pub const STORE_DATA_INDEX: u32 = mi(0x21, 1);
/// MI_BATCH_BUFFER_START, two dwords.
pub const BATCH_BUFFER_START: u32 = mi(0x31, 0);
/// MI_BATCH_BUFFER_START bits 7:6: the address is translated by the global GTT.
pub const BATCH_GTT: u32 = 2 << 6;
/// MI_BATCH_BUFFER_START bit 8: the batch may not use privileged commands.
pub const BATCH_NON_SECURE: u32 = 1 << 8;
/// PIPE_CONTROL, four dwords.
pub const PIPE_CONTROL: u32 = 0x3 << 29 | 0x3 << 27 | 0x2 << 24 | 2;
/// PIPE_CONTROL bits 15:14: writes the immediate qword.
pub const PIPE_CONTROL_QW_WRITE: u32 = 1 << 14;
/// PIPE_CONTROL address dword bit 2: the address is translated by the global GTT.
pub const PIPE_CONTROL_GLOBAL_GTT: u32 = 1 << 2;
