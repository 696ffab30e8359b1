//! URB_FENCE, CS_URB_STATE and CONSTANT_BUFFER: who owns which rows, and the CURBE.
//!
//! PRM: volume 2, URB allocation and CURBE; volume 4, chapter 8.

use mem::GpuAddr;
use regs::any::{ConstantBuffer, CsUrbState, RegId, UrbFence, fields};

use super::CsContext;
use crate::core::fault::UnitFault;
use crate::intel::ff::state::Curbe;
use crate::intel::urb::Owner;

/// Fences and entry sizes count 512-bit units: two rows each.
const ROWS_PER_UNIT: u16 = 2;

/// URB_FENCE: a section starts where the one before it ends; a fence of zero stands for an empty
/// section (VFE in 3D work).
pub fn fence(d: &[u32], ctx: &mut CsContext<'_, '_>) {
    let fence = UrbFence::from_dwords(d);
    let sections = [
        (
            Owner::Vs,
            fence.vs_unit_urb_reallocation_request(),
            fence.vs_fence(),
        ),
        (
            Owner::Gs,
            fence.gs_unit_urb_reallocation_request(),
            fence.gs_fence(),
        ),
        (
            Owner::Clip,
            fence.clip_unit_urb_reallocation_request(),
            fence.clip_fence(),
        ),
        (
            Owner::Sf,
            fence.sf_unit_urb_reallocation_request(),
            fence.sf_fence(),
        ),
        (
            Owner::Vfe,
            fence.vfe_unit_urb_reallocation_request(),
            fence.vfe_fence(),
        ),
        (
            Owner::Cs,
            fence.cs_unit_urb_reallocation_request(),
            fence.cs_fence(),
        ),
    ];
    let mut start = 0;
    for (owner, request, end) in sections {
        if owner == Owner::Vfe && ctx.ff.state.media_selected {
            // The sections of the 3D units do not count: drivers leave their fences as they are
            // (intel-vaapi-driver i965_media.c, section of VFE from row 0 on).
            start = 0;
        }
        // CAST: fences have at most eleven bits. Those of sections that stay are not looked at.
        let end = if request {
            end as u16 * ROWS_PER_UNIT
        } else {
            ctx.machine.urb.end(owner)
        };
        if request {
            ctx.machine.urb.fence(owner, start, end);
            if owner == Owner::Cs {
                ctx.ff.state.curbe = None;
            }
        }
        start = start.max(end);
    }
}

/// CS_URB_STATE: entries of the command streamer.
pub fn cs_urb_state(d: &[u32], ctx: &mut CsContext<'_, '_>) {
    let state = CsUrbState::from_dwords(d);
    // CAST: fields of three and five bits.
    let entries = state.number_of_urb_entries() as u16;
    let rows = (state.urb_entry_allocation_size() as u16 + 1) * ROWS_PER_UNIT;
    ctx.machine.urb.partition(Owner::Cs, entries, rows);
    ctx.machine.urb.recycle(Owner::Cs);
    ctx.ff.state.curbe = None;
}

/// CONSTANT_BUFFER: a new entry of the command streamer, filled from memory.
pub fn constant_buffer(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    let command = ConstantBuffer::from_dwords(d);
    if let Some(old) = ctx.ff.state.curbe.take() {
        ctx.machine.urb.release(old.handle);
    }
    if !command.valid() {
        return Ok(());
    }
    let Some(handle) = ctx.machine.urb.allocate(Owner::Cs) else {
        return Err(UnitFault::Command {
            unit: "CS",
            what: "CONSTANT_BUFFER without a URB entry (CS_URB_STATE, URB_FENCE)".to_owned(),
        });
    };
    // CAST: Buffer Length has six bits and counts units minus one.
    let rows = (command.buffer_length() as u16 + 1) * ROWS_PER_UNIT;
    let instpm = ctx.regs.get(RegId::Instpm);
    let base = if fields::INSTPM::CONSTANT_BUFFER_ADDRESS_OFFSET_DISABLE.is_set(instpm) {
        0
    } else {
        ctx.ff.state.bases.general_state_base
    };
    let from = GpuAddr::from(base.wrapping_add(command.buffer_starting_address()));
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
