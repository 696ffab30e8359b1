//! PIPE_CONTROL: flushes, invalidations and post-sync writes.
//!
//! PRM: volume 2, PIPE_CONTROL.

use mem::Space;

use super::CsContext;
use super::mi;
use super::reader::{Place, PostSync};
use crate::core::fault::UnitFault;
use crate::intel::irq;

/// Executes the command; the pipeline in front of it is already empty.
pub fn execute(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    let pc = ctx.reader.pipe_control(d);
    if pc.invalidate_instructions {
        ctx.td.invalidate();
    }
    if pc.invalidate_translations {
        let space = Space::Process(ctx.process);
        ctx.machine.mem.invalidate_translations(space);
    }
    if pc.flush_writes {
        ctx.machine.shared.invalidate();
        ctx.ff.depth_changed();
    }
    if pc.clears_media {
        ctx.media.state.leave_out();
    }
    match pc.space {
        // In the space of the command, whose accesses these are.
        None => {
            let value = match pc.post_sync {
                PostSync::Immediate(value) => Some(value),
                PostSync::Dword(value) => Some(value.into()),
                PostSync::DepthCount => Some(ctx.machine.status.statistics.ps_depth_count),
                PostSync::Timestamp => Some(ctx.timestamp()),
                // Commands that name a space alone write registers.
                PostSync::Nothing | PostSync::Register(_) => None,
            };
            if let Some(value) = value {
                ctx.machine.mem.write_u64(pc.address, value)?;
                ctx.machine.note_write("CS", pc.address, 8);
            }
        }
        Some(space) => {
            let place = Place::Graphics(space, pc.address);
            mi::post_sync(pc.post_sync, pc.in_status_page, place, ctx)?;
        }
    }
    if pc.notify {
        ctx.irq.raise(ctx.regs, irq::Cause::PipeControl);
    }
    Ok(())
}
