//! URB sections and entries, and the CURBE: who owns which rows.
//!
//! PRM: volume 2, URB_FENCE, CS_URB_STATE, CONSTANT_BUFFER; volume 4, chapter 8. 3DSTATE_URB: genxml gen6.

use mem::GpuAddr;
use regs::any::{RegId, fields};
use regs::ids::CommandId;

use super::CsContext;
use crate::core::fault::UnitFault;
use crate::intel::ff::state::Curbe;
use crate::intel::urb::Owner;

/// URB_FENCE: a section starts where the one before it ends; a fence of zero stands for an empty
/// section (VFE in 3D work).
pub fn fence(d: &[u32], ctx: &mut CsContext<'_, '_>) {
    let mut start = 0;
    for fence in ctx.reader.latched().urb_fence(d) {
        let owner = fence.owner;
        if owner == Owner::Vfe && ctx.ff.state.media_selected {
            // The sections of the 3D units do not count: drivers leave their fences as they are
            // (intel-vaapi-driver i965_media.c, section of VFE from row 0 on).
            start = 0;
        }
        let end = if fence.request {
            fence.end
        } else {
            ctx.machine.urb.end(owner)
        };
        if fence.request {
            ctx.machine.urb.fence(owner, start, end);
            if owner == Owner::Cs {
                ctx.ff.state.curbe = None;
            }
        }
        start = start.max(end);
    }
}

/// 3DSTATE_URB: sections one behind the other, with entries.
pub fn sections(d: &[u32], ctx: &mut CsContext<'_, '_>) {
    let mut start = 0u16;
    for section in ctx.reader.latched().urb(d) {
        let end = start.saturating_add(section.entries.saturating_mul(section.rows));
        ctx.machine.urb.fence(section.owner, start, end);
        let urb = &mut *ctx.machine.urb;
        urb.partition(section.owner, section.entries, section.rows);
        start = end;
    }
}

/// 3DSTATE_URB_VS and the commands of the other stages: a section where the command says, with entries.
pub fn section(id: CommandId, d: &[u32], ctx: &mut CsContext<'_, '_>) {
    if let Some((start, section)) = ctx.reader.latched().section(id, d) {
        let end = start.saturating_add(section.entries.saturating_mul(section.rows));
        let urb = &mut *ctx.machine.urb;
        urb.fence(section.owner, start, end);
        urb.partition(section.owner, section.entries, section.rows);
    }
}

/// CS_URB_STATE: entries of the command streamer.
pub fn cs_urb_state(d: &[u32], ctx: &mut CsContext<'_, '_>) {
    let Some(state) = ctx.reader.latched().cs_urb_state(d) else {
        return;
    };
    let urb = &mut *ctx.machine.urb;
    urb.partition(state.owner, state.entries, state.rows);
    urb.recycle(state.owner);
    ctx.ff.state.curbe = None;
}

/// CONSTANT_BUFFER: a new entry of the command streamer, filled from memory.
pub fn constant_buffer(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    if let Some(old) = ctx.ff.state.curbe.take() {
        ctx.machine.urb.release(old.handle);
    }
    let Some(buffer) = ctx.reader.latched().constant_buffer(d) else {
        return Ok(());
    };
    let Some(handle) = ctx.machine.urb.allocate(Owner::Cs) else {
        return Err(UnitFault::Command {
            unit: "CS",
            what: "CONSTANT_BUFFER without a URB entry (CS_URB_STATE, URB_FENCE)".to_owned(),
        });
    };
    let rows = buffer.rows;
    let instpm = ctx.regs.get(RegId::Instpm);
    let base = if fields::INSTPM::CONSTANT_BUFFER_ADDRESS_OFFSET_DISABLE.is_set(instpm) {
        0
    } else {
        ctx.ff.state.bases.general_state_base
    };
    let from = GpuAddr::from(base.wrapping_add(buffer.start));
    for row in 0..rows.min(ctx.machine.urb.entry_rows(Owner::Cs)) {
        let mut data = [0; 8];
        let read = ctx
            .machine
            .mem
            .read_dwords(from.offset(u32::from(row) * 32), &mut data);
        if let Err(fault) = read {
            ctx.machine.urb.release(handle);
            return Err(fault.into());
        }
        if let Some(to) = ctx.machine.urb.row_mut(handle, row) {
            *to = data;
        }
    }
    ctx.ff.state.curbe = Some(Curbe { handle, rows });
    Ok(())
}
