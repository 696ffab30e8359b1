//! PIPE_CONTROL: flushes, invalidations and post-sync writes.
//!
//! PRM: volume 2, PIPE_CONTROL; fields as in genxml gen4.

use mem::GpuAddr;
use regs::any::PipeControl;

use super::CsContext;
use crate::fault::UnitFault;
use crate::irq;

/// Post Sync Operation.
mod post_sync {
    pub const IMMEDIATE: u32 = 1;
    pub const DEPTH_COUNT: u32 = 2;
    pub const TIMESTAMP: u32 = 3;
}

/// Executes the command; the pipeline in front of it is already empty.
pub fn execute(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    let pc = PipeControl::from_dwords(d);
    if pc.instruction_cache_invalidate_enable() {
        ctx.td.invalidate();
    }
    if pc.write_cache_flush() {
        ctx.machine.shared.invalidate();
    }
    let dwords = pc.dwords();
    let immediate = u64::from(dwords[2]) | u64::from(dwords[3]) << 32;
    let value = match pc.post_sync_operation() {
        post_sync::IMMEDIATE => Some(immediate),
        post_sync::DEPTH_COUNT => Some(ctx.machine.status.statistics.ps_depth_count),
        post_sync::TIMESTAMP => Some(ctx.ticks),
        _ => None,
    };
    if let Some(value) = value {
        ctx.machine
            .mem
            .write_u64(GpuAddr(pc.address() & !7), value)?;
        ctx.machine.note_write("CS", pc.address() & !7, 8);
    }
    if pc.notify_enable() {
        irq::raise(ctx.regs, irq::Cause::PipeControl);
    }
    Ok(())
}
