//! Binding tables: index to surface state.
//!
//! PRM: volume 4, 4.7.1 and 5.2.1. Not modelled: the state cache in front of both tables.

use mem::{GpuAddr, Memory};

use super::context::ThreadContext;
use crate::UnitFault;

/// Address of the surface state behind a binding table index.
#[inline(always)]
pub fn surface_address(mem: &Memory, ctx: &ThreadContext, index: u8) -> Result<GpuAddr, UnitFault> {
    let base = GpuAddr::from(ctx.bases.surface_state_base);
    let entry = base
        .offset(ctx.binding_table_pointer)
        .offset(u32::from(index) * 4);
    Ok(mem.on_bus(base.offset(mem.read_u32(entry)? & !0x1f)))
}
