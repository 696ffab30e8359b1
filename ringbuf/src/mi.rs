//! Header words that no generation changes.
//!
//! PRM vol1 "Memory Interface Commands". Everything else comes typed from `regs`. Not modelled: arguments.

/// MI_NOOP without a number.
pub const NOOP: u32 = 0;
/// MI_BATCH_BUFFER_END: opcode Ah in bits 28:23.
pub const BATCH_BUFFER_END: u32 = 0x0a << 23;
