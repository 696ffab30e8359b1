//! Logical contexts: MI_SET_CONTEXT saves the pipeline's state and loads another's.
//!
//! PRM: volume 1, MI_SET_CONTEXT and CCID; what belongs to a context is the list of Ironlake's "Logical Context Data".
//! The image is the model's own: the commands that set the state again, MI_BATCH_BUFFER_END, the rows of the CURBE. The
//! layout of the 965's is not public; nothing but the device looks into it. Not modelled: contexts in physical memory.

use mem::GpuAddr;
use regs::any::{CommandId as C, MiSetContext, RegId, fields};
use regs::desc::Property;

use super::{Command, CsContext, execute, mi};
use crate::core::fault::UnitFault;
use crate::intel::ff::state::Curbe;
use crate::intel::shared::sampler::state::Tables;
use crate::intel::urb::Owner;

pub(crate) mod image;

/// MI_SET_CONTEXT: what was current is saved, the new one restored. Nothing happens when it is current already, unless
/// Force Restore asks for it.
pub fn set_context(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    let command = MiSetContext::from_dwords(d);
    if command.memory_space_select() == 0 {
        return Err(UnitFault::Unimplemented {
            unit: "CS",
            what: "logical contexts in physical memory",
            prm: "vol1 MI_SET_CONTEXT",
        });
    }
    let new = command.logical_context_address();
    let ccid = ctx.regs.get(RegId::Ccid);
    let old = fields::CCID::VALID
        .is_set(ccid)
        .then(|| fields::CCID::CONTEXT_ADDRESS.read(ccid) << 12);
    if old == Some(new) && !command.force_restore() {
        return Ok(());
    }
    if let Some(old) = old {
        let extended = fields::CCID::EXTENDED_STATE_SAVE.is_set(ccid);
        let image = image::save(ctx, extended);
        ctx.machine.charge(image.len() as u64);
        ctx.machine.mem.write_dwords(GpuAddr::from(old), &image)?;
        ctx.machine.note_write("CS", old.into(), image.len() * 4);
    }
    let value = fields::CCID::VALID::SET.value
        | fields::CCID::CONTEXT_ADDRESS.val(new >> 12).value
        | u32::from(command.extended_state_save_enable()) << 3
        | u32::from(command.extended_state_restore_enable()) << 2;
    ctx.regs.set(RegId::Ccid, value);
    if command.restore_inhibit() {
        return Ok(());
    }
    let mut image = vec![0; ctx.reader.latched().image_dwords()];
    ctx.machine
        .mem
        .read_dwords(GpuAddr::from(new), &mut image)?;
    restore(&image, new, command.extended_state_restore_enable(), ctx)
}

/// Loads an image. Commands that do not belong into one are the fault of whoever wrote over it.
fn restore(
    image: &[u32],
    at: u32,
    extended: bool,
    ctx: &mut CsContext<'_, '_>,
) -> Result<(), UnitFault> {
    if extended {
        ctx.ff.reset();
        ctx.media.reset();
        ctx.machine.urb.clear();
        ctx.machine.shared.sampler.tables = Tables::default();
        ctx.machine.shared.invalidate();
        ctx.td.invalidate();
        ctx.td.set_sip(0);
    }
    let mut rest = image;
    while let Some(&header) = rest.first() {
        let addr = at.wrapping_add(4 * (image.len() - rest.len()) as u32);
        let damaged = || UnitFault::Command {
            unit: "CS",
            what: format!(
                "logical context at {at:#010x}: {header:#010x} at {addr:#010x} is no state"
            ),
        };
        let desc = (ctx.regs.tables().command)(header).ok_or_else(damaged)?;
        let (dwords, behind) = rest
            .split_at_checked(desc.dwords(header).max(1))
            .ok_or_else(damaged)?;
        ctx.machine.charge(dwords.len() as u64);
        rest = behind;
        match desc.id {
            C::MiNoop => {}
            _ if desc.is(Property::Ends) => break,
            C::MiLoadRegisterImm => mi::load_register_imm(dwords, ctx),
            _ if desc.is(Property::Context) => {
                if extended {
                    let addr = addr.into();
                    let command = Command { desc, addr, dwords };
                    let done = execute(&command, ctx);
                    // What these load from may be gone. Then the next batch has to load it anew.
                    if !matches!(desc.id, C::MediaCurbeLoad | C::MediaInterfaceDescriptorLoad) {
                        done?;
                    }
                }
            }
            _ => return Err(damaged()),
        }
    }
    if extended {
        constants(rest, ctx);
    }
    Ok(())
}

/// Puts the CURBE back: it is the URB's, and what it was read from may be gone.
fn constants(saved: &[u32], ctx: &mut CsContext<'_, '_>) {
    let Some((&rows, data)) = saved.split_first() else {
        return;
    };
    let entry = ctx.machine.urb.entry_rows(Owner::Cs);
    let rows = u16::try_from(rows).unwrap_or(u16::MAX).min(entry);
    if rows == 0 {
        return;
    }
    let Some(handle) = ctx.machine.urb.allocate(Owner::Cs) else {
        return;
    };
    for (offset, row) in (0..rows).zip(data.chunks_exact(8)) {
        if let Some(to) = ctx.machine.urb.row_mut(handle, offset) {
            to.copy_from_slice(row);
        }
    }
    ctx.ff.state.curbe = Some(Curbe { handle, rows });
}
