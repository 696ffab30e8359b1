//! The image of a logical context: the commands that set the state as it is.
//!
//! PRM: volume 1, MI_SET_CONTEXT. Which commands set the pipelines' state is the matter of a generation's
//! [`LatchedReader`](crate::intel::cs::latched::LatchedReader).

use regs::any::{MiBatchBufferEnd, RegId, StatsReg};
use regs::desc::Access;

use crate::intel::cs::latched::Saved;
use crate::intel::cs::{CsContext, mi};

/// The image of what is current; `extended`: the pipeline's state too, not only the registers.
pub fn save(ctx: &mut CsContext<'_, '_>, extended: bool) -> Vec<u32> {
    let mut out = Vec::with_capacity(ctx.reader.latched().image_dwords());
    registers(&mut out, ctx);
    if extended {
        let media = ctx.media.state.commands();
        let saved = Saved {
            state: &ctx.ff.state,
            urb: ctx.machine.urb,
            sip: ctx.td.sip(),
            stream: ctx.ff.stream_indices(),
            line_stipple: ctx.ff.line_stipple_counter(),
            tables: &ctx.machine.shared.sampler.tables,
            media: &media,
        };
        ctx.reader.latched().put_state(&saved, &mut out);
    }
    out.extend(MiBatchBufferEnd::new().dwords());
    if extended && let Some(curbe) = ctx.ff.state.curbe {
        out.push(curbe.rows.into());
        for offset in 0..curbe.rows {
            let row = ctx.machine.urb.row(curbe.handle, offset);
            out.extend(row.copied().unwrap_or_default());
        }
    }
    // What is behind the end of an older, longer image is not this one's.
    out.push(0);
    out
}

/// A command's header with other dwords behind it than its type has.
pub fn behind(out: &mut Vec<u32>, command: &[u32], dwords: &[u32]) {
    let header = command.first().copied().unwrap_or_default();
    // Dword Length, bits 7:0, counts without the first two.
    out.push(header & !0xff | (dwords.len() as u32).saturating_sub(1) & 0xff);
    out.extend(dwords);
}

fn registers(out: &mut Vec<u32>, ctx: &mut CsContext<'_, '_>) {
    let mut pairs = Vec::new();
    let tables = ctx.regs.tables();
    let latched = ctx.reader.latched();
    // Stream output goes on where it was.
    let ids = StatsReg::ALL
        .iter()
        .map(|reg| reg.id())
        .chain([RegId::SoWriteOffset])
        .chain(latched.context_registers().iter().copied());
    for desc in ids.filter_map(|id| (tables.register_desc)(id)) {
        // Bits of a masked register are written where their enables, which read as zero, are set.
        let enables = if desc.access == Access::Masked {
            0xffff_0000
        } else {
            0
        };
        let dwords = (0..desc.count).flat_map(|index| {
            let element = desc.offset + index * desc.stride;
            (0..desc.dwords()).map(move |dword| element + dword * 4)
        });
        for offset in dwords {
            pairs.extend([offset, mi::mmio(ctx).read32(offset) | enables]);
        }
    }
    latched.put_register_writes(&pairs, out);
}
