//! Commands of the media pipeline: its state, objects and walkers.
//!
//! PRM: volume 2, media; genxml gen6 for commands that hold or load state. Objects are executed while threads of others run; every
//! other command waits for the end of all threads, so MEDIA_STATE_FLUSH has nothing left to wait for.

use mem::GpuAddr;
use regs::desc::{CommandDesc, Property};
use regs::ids::RegId;

use super::{CsContext, Flow};
use crate::core::fault::UnitFault;
use crate::intel::media::reader::{Descriptors, Load};
use crate::intel::media::{Constants, Walked};
use crate::intel::urb::Owner;

/// Interface descriptors that an object can name, in bytes (genxml gen6: five bits of number, eight dwords).
const DESCRIPTORS: u32 = 32 * 32;

fn bad(what: String) -> UnitFault {
    UnitFault::Command { unit: "CS", what }
}

/// Whether the command has to wait: an object for which the front end has no room.
pub fn waits(desc: &CommandDesc, ctx: &mut CsContext<'_, '_>) -> bool {
    let wait =
        desc.is(Property::Object) && ctx.ff.state.media_selected && !ctx.media.accepts(ctx.machine);
    if wait {
        ctx.media.refused();
    }
    wait
}

/// MEDIA_STATE_POINTERS.
pub fn state_pointers(d: &[u32], ctx: &mut CsContext<'_, '_>) {
    ctx.media.state.set_front_end(d);
}

/// MEDIA_VFE_STATE: constants at the start of the URB, entries behind them. What does not fit is refused when it is used.
pub fn vfe_state(d: &[u32], ctx: &mut CsContext<'_, '_>) {
    let sections = ctx.media.reader().sections(d);
    let urb = &mut *ctx.machine.urb;
    urb.fence(Owner::Cs, 0, sections.constants);
    urb.partition(Owner::Cs, 1, sections.constants);
    urb.recycle(Owner::Cs);
    urb.fence(Owner::Vfe, sections.constants, u16::MAX);
    urb.partition(Owner::Vfe, sections.entries, sections.entry_rows);
    ctx.media.state.divided();
    ctx.media.state.set_front_end(d);
}

/// MEDIA_CURBE_LOAD: constants into the URB.
pub fn curbe_load(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    let Load { start, bytes } = ctx.media.reader().constants_load(d);
    // CAST: 17 bits of bytes.
    let rows = bytes.div_ceil(32) as u16;
    ctx.media.state.constants = None;
    ctx.machine.urb.recycle(Owner::Cs);
    let room = ctx.machine.urb.entry_rows(Owner::Cs);
    let handle = ctx.machine.urb.allocate(Owner::Cs);
    let Some(handle) = handle.filter(|_| rows <= room) else {
        return Err(bad(format!(
            "MEDIA_CURBE_LOAD of {rows} rows into the {room} that MEDIA_VFE_STATE has for them"
        )));
    };
    let from = GpuAddr::from(ctx.ff.state.bases.dynamic().wrapping_add(start));
    for row in 0..rows {
        let mut data = [0; 8];
        // The last row may be a part of one.
        let length = (bytes as usize - usize::from(row) * 32).div_ceil(4).min(8);
        let from = from.offset(u32::from(row) * 32);
        ctx.machine.mem.read_dwords(from, &mut data[..length])?;
        if let Some(to) = ctx.machine.urb.row_mut(handle, row) {
            *to = data;
        }
    }
    ctx.machine.charge(rows.into());
    let constants = Constants { handle, rows };
    ctx.media.state.loaded_constants(d, constants);
    Ok(())
}

/// MEDIA_INTERFACE_DESCRIPTOR_LOAD: those that an object can name.
pub fn descriptor_load(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    let Load { start, bytes } = ctx.media.reader().descriptors_load(d);
    let mut words = vec![0; (bytes.min(DESCRIPTORS) / 4) as usize];
    let from = ctx.ff.state.bases.dynamic().wrapping_add(start);
    ctx.machine
        .mem
        .read_dwords(GpuAddr::from(from), &mut words)?;
    ctx.machine.charge(words.len() as u64 / 8);
    let descriptors = Descriptors { start, words };
    ctx.media.state.loaded_descriptors(d, descriptors);
    Ok(())
}

/// What an object or a walker needs before the front end looks at it.
fn ready(name: &'static str, ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    if !ctx.ff.state.media_selected {
        return Err(bad(format!("{name} while the 3D pipeline is selected")));
    }
    if ctx.media.idle() {
        ctx.machine.shared.invalidate();
    }
    Ok(())
}

/// The constants that threads get.
fn constants(ctx: &CsContext<'_, '_>) -> Option<Constants> {
    let shared = ctx.ff.state.curbe.map(|curbe| Constants {
        handle: curbe.handle,
        rows: curbe.rows,
    });
    ctx.media.state.constants.or(shared)
}

/// MEDIA_OBJECT.
pub fn object(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<Flow, UnitFault> {
    ready("MEDIA_OBJECT", ctx)?;
    let constants = constants(ctx);
    let bases = ctx.ff.state.bases;
    if ctx.media.object(d, &bases, constants, ctx.machine)? {
        Ok(Flow::Next)
    } else {
        Ok(Flow::Wait)
    }
}

/// MEDIA_OBJECT_WALKER: the streamer stays at it until all objects are given.
pub fn walker(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<Flow, UnitFault> {
    ready("MEDIA_OBJECT_WALKER", ctx)?;
    ctx.media.begin_walk(d)?;
    Ok(Flow::Walk)
}

/// GPGPU_WALKER, whose dimensions may stand in registers. Under a predicate that does not hold it does nothing.
pub fn grid(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<Flow, UnitFault> {
    ready("GPGPU_WALKER", ctx)?;
    let holds = ctx.regs.get(RegId::MiPredicateResult) & 1 != 0;
    if ctx.media.reader().grid(d).predicated && !holds {
        return Ok(Flow::Next);
    }
    let dimensions = [
        RegId::GpgpuDispatchdimx,
        RegId::GpgpuDispatchdimy,
        RegId::GpgpuDispatchdimz,
    ];
    let dimensions = dimensions.map(|register| ctx.regs.get(register));
    let constants = constants(ctx);
    let bases = ctx.ff.state.bases;
    ctx.media
        .begin_grid(d, dimensions, &bases, constants, ctx.machine)?;
    Ok(Flow::Next)
}

/// MEDIA_OBJECT_PRT.
pub fn persistent(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<Flow, UnitFault> {
    ready("MEDIA_OBJECT_PRT", ctx)?;
    let constants = constants(ctx);
    let bases = ctx.ff.state.bases;
    if ctx.media.persistent(d, &bases, constants, ctx.machine)? {
        Ok(Flow::Next)
    } else {
        Ok(Flow::Wait)
    }
}

/// Goes on with a walker.
pub fn walk(ctx: &mut CsContext<'_, '_>) -> Result<Walked, UnitFault> {
    let constants = constants(ctx);
    let bases = ctx.ff.state.bases;
    let walked = ctx.media.walk(&bases, constants, ctx.machine)?;
    if walked == Walked::Waits {
        ctx.media.refused();
    }
    Ok(walked)
}
