//! Memory-interface commands.
//!
//! PRM: volume 1, MI commands; fields from the tables of `regs`.
//! Not modelled: waits for display events (they are over at once), the security of non-secure batch
//! buffers.

use mem::{GpuAddr, PhysAddr, Space};
use regs::any::{MiNoop, MiStoreDataIndex, fields};

use super::engine::{EngineInfo, StatusPage};
use super::reader::{Chosen, Place};
use super::{CsContext, Flow};
use crate::core::fault::UnitFault;
use crate::intel::mmio::Mmio;
use crate::intel::registers::RegFile;

/// Whether MI_MODE tells the parser to stop at the next command of the ring.
#[inline]
pub fn stopped(regs: &RegFile, engine: &EngineInfo) -> bool {
    fields::MI_MODE::STOP_RING.is_set(regs.get(engine.registers.mi_mode))
}

/// MI_NOOP: keeps its number when it is told to.
pub fn noop(d: &[u32], ctx: &mut CsContext<'_, '_>) {
    let noop = MiNoop::from_dwords(d);
    if noop.identification_number_register_write_enable() {
        let nopid = ctx.engine.registers.nopid;
        ctx.regs.set(nopid, noop.identification_number());
    }
}

/// MI_BATCH_BUFFER_START: goes on in a batch buffer.
pub fn batch_buffer_start(d: &[u32], ctx: &CsContext<'_, '_>) -> Flow {
    let command = ctx.reader.batch_start(d);
    Flow::Batch {
        start: command.start,
        non_secure: command.non_secure,
        space: match command.space {
            Chosen::Global => Space::Global,
            Chosen::Process => Space::Process(ctx.process),
        },
    }
}

/// MI_FLUSH: the pipeline in front is already empty, so only caches and counters are left; an engine without the
/// pipelines has neither.
pub fn flush(d: &[u32], ctx: &mut CsContext<'_, '_>) {
    let flush = ctx.reader.flush(d);
    if flush.invalidate_translations {
        let space = Space::Process(ctx.process);
        ctx.machine.mem.invalidate_translations(space);
    }
    if !ctx.engine.has_pipelines {
        return;
    }
    if flush.invalidate {
        ctx.td.invalidate();
    }
    ctx.machine.shared.invalidate();
    if flush.reset_counters {
        ctx.machine.debug.reset_counters();
    }
    ctx.media.state.flushed();
}

/// MI_REPORT_HEAD: the head goes to dword 4 of the status page (volume 1, hardware status page).
pub fn report_head(ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    let head = ctx.regs.get(ctx.engine.registers.head);
    store_status(4 * 4, &[head], ctx)
}

/// MI_STORE_DATA_INDEX: one or two dwords into the status page.
pub fn store_data_index(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    let command = MiStoreDataIndex::from_dwords(d);
    store_status(command.offset(), d.get(2..).unwrap_or_default(), ctx)
}

/// MI_STORE_DATA_IMM: one or two dwords to a graphics or physical address.
pub fn store_data_imm(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    let data = d.get(3..).unwrap_or_default();
    store(ctx.reader.store_data_imm(d), data, ctx)
}

/// MI_LOAD_REGISTER_IMM: the device carries the writes out when the command is done. Bytes with their
/// write disabled keep what the register shows.
pub fn load_register_imm(d: &[u32], ctx: &mut CsContext<'_, '_>) {
    let writes = ctx.reader.latched().register_writes(d);
    let disables = writes.disables;
    let keep = (0..4)
        .filter(|byte| disables >> byte & 1 == 1)
        .fold(0, |mask, byte| mask | 0xff << (byte * 8));
    for (offset, mut value) in writes.pairs {
        match keep {
            0 => {}
            u32::MAX => continue,
            _ => value = value & !keep | mmio(ctx).read32(offset) & keep,
        }
        ctx.writes.push((offset, value));
    }
}

/// The registers as the host sees them.
pub(super) fn mmio<'a>(ctx: &'a mut CsContext<'_, '_>) -> Mmio<'a> {
    Mmio {
        irq: ctx.irq,
        regs: ctx.regs,
        debug: ctx.machine.debug,
        mem: ctx.machine.mem,
        status: ctx.machine.status,
        trace: ctx.machine.trace,
        ticks: ctx.ticks,
    }
}

/// MI_STORE_REGISTER_MEM: a register as the host would read it.
pub fn store_register_mem(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    let command = ctx.reader.store_register_mem(d);
    let value = mmio(ctx).read32(command.register);
    store(command.place, &[value], ctx)
}

/// Stores to where a command says.
fn store(place: Place, data: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    let (space, address) = match place {
        Place::Graphics(Chosen::Global, address) => (Space::Global, address),
        Place::Graphics(Chosen::Process, address) => (Space::Process(ctx.process), address),
        Place::Physical(address) => return physical(address, data, ctx),
    };
    ctx.machine.mem.enter(space).write_dwords(address, data)?;
    ctx.machine.note_write("CS", address, data.len() * 4);
    Ok(())
}

/// Stores to the hardware status page (HWS_PGA).
fn store_status(offset: u32, data: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    let page = ctx.regs.get(ctx.engine.registers.hws_pga);
    let low = fields::HWS_PGA::ADDRESS_31_12.read(page) << 12;
    match ctx.engine.status_page {
        StatusPage::Graphics => {
            let address = GpuAddr::from(low.wrapping_add(offset));
            store(Place::Graphics(Chosen::Global, address), data, ctx)
        }
        StatusPage::Physical => {
            let high = u64::from(fields::HWS_PGA::ADDRESS_35_32.read(page)) << 32;
            let address = PhysAddr((high | u64::from(low)) + u64::from(offset));
            physical(address, data, ctx)
        }
    }
}

fn physical(address: PhysAddr, data: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    for (i, &dword) in data.iter().enumerate() {
        let at = PhysAddr(address.0 + 4 * i as u64);
        ctx.machine
            .mem
            .phys_write_u32(at, dword)
            .map_err(|fault| UnitFault::Command {
                unit: ctx.engine.unit,
                what: format!("store to physical memory: {fault}"),
            })?;
    }
    ctx.machine
        .note_write("CS physical", GpuAddr(address.0), data.len() * 4);
    Ok(())
}
