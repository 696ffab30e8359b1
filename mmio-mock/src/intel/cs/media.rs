//! Commands of the media pipeline: state pointers and objects.
//!
//! PRM: volume 2, media. A MEDIA_OBJECT is executed while threads of others run; every other command
//! waits for the end of all threads.

use regs::desc::{CommandDesc, Property};

use super::{CsContext, Flow};
use crate::core::fault::UnitFault;
use crate::intel::media::Constants;

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
    ctx.media.state.set_pointers(d);
}

/// MEDIA_OBJECT.
pub fn object(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<Flow, UnitFault> {
    if !ctx.ff.state.media_selected {
        return Err(UnitFault::Command {
            unit: "CS",
            what: "MEDIA_OBJECT while the 3D pipeline is selected".to_owned(),
        });
    }
    if !ctx.media.is_modelled() {
        return Err(UnitFault::Unimplemented {
            unit: ctx.engine.unit,
            what: "MEDIA_OBJECT of this generation",
            prm: "vol2 media pipeline",
        });
    }
    if ctx.media.idle() {
        ctx.machine.shared.invalidate();
    }
    let constants = ctx.ff.state.curbe.map(|curbe| Constants {
        handle: curbe.handle,
        rows: curbe.rows,
    });
    let bases = ctx.ff.state.bases;
    if ctx.media.object(d, &bases, constants, ctx.machine)? {
        Ok(Flow::Next)
    } else {
        Ok(Flow::Wait)
    }
}
