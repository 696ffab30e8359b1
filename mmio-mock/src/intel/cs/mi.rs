//! Memory-interface commands.
//!
//! PRM: volume 1, MI commands; fields from the tables of `regs`.
//! Not modelled: waits for display events (they are over at once), the security of non-secure batch
//! buffers.

use mem::{GpuAddr, PhysAddr, Space};
use regs::any::{MiNoop, MiStoreDataIndex, RegId, fields};

use super::engine::{EngineInfo, StatusPage};
use super::reader::{Chosen, Combination, Comparison, Place, PostSync};
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
        space: space(command.space, ctx),
    }
}

/// The space that a command names. While the engine has loaded no tables, addresses of a process are global ones: i915 runs
/// without them (gt/gen6_ppgtt.c), and its batches name the process all the same (gt/gen6_engine_cs.c `gen6_emit_bb_start`).
fn space(chosen: Chosen, ctx: &CsContext<'_, '_>) -> Space {
    let process = Space::Process(ctx.process);
    match chosen {
        Chosen::Process if ctx.machine.mem.tables(process).is_some() => process,
        _ => Space::Global,
    }
}

/// The space that units work in while a batch is read from a space.
pub fn space_of_units(batch: Space, ctx: &CsContext<'_, '_>) -> Space {
    match batch {
        Space::Global if ctx.reader.works_in_process() => space(Chosen::Process, ctx),
        batch => batch,
    }
}

/// MI_CONDITIONAL_BATCH_BUFFER_END: whether the batch is over.
pub fn conditional_end(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<Flow, UnitFault> {
    let end = ctx.reader.conditional_end(d);
    if !end.compares {
        return Ok(Flow::EndBatch);
    }
    let value = load(end.place, ctx)?;
    Ok(if value > end.limit {
        Flow::Next
    } else {
        Flow::EndBatch
    })
}

/// MI_SEMAPHORE_MBOX: signals another engine, or waits for one. The comparison is strict (i915 of Linux 4.9,
/// intel_ringbuffer.c `gen6_ring_sync_to`).
pub fn semaphore(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<Flow, UnitFault> {
    let semaphore = ctx.reader.semaphore(d);
    let place = Place::Graphics(semaphore.space, semaphore.address.into());
    if semaphore.updates {
        if semaphore.in_register {
            ctx.writes.push((semaphore.address, semaphore.data));
        } else {
            store(place, &[semaphore.data], ctx)?;
        }
    }
    if !semaphore.compares {
        return Ok(Flow::Next);
    }
    let value = if semaphore.in_register {
        let mut registers = ctx.engine.semaphores.iter();
        let register = registers.find(|(select, _)| *select == semaphore.register);
        let Some(&(_, register)) = register else {
            return Err(UnitFault::Command {
                unit: ctx.engine.unit,
                what: format!("MI_SEMAPHORE_MBOX with register {}", semaphore.register),
            });
        };
        ctx.regs.get(register)
    } else {
        load(place, ctx)?
    };
    Ok(if value > semaphore.data {
        Flow::Next
    } else {
        Flow::Wait
    })
}

/// MI_FLUSH_DW: the engine's work in front is done, so only translations and what is stored are left.
pub fn flush_store(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    let flush = ctx.reader.flush_store(d);
    if flush.invalidate_translations {
        let space = Space::Process(ctx.process);
        ctx.machine.mem.invalidate_translations(space);
    }
    let place = Place::Graphics(flush.space, flush.address);
    post_sync(flush.store, flush.in_status_page, place, ctx)?;
    if flush.notify {
        ctx.interrupt(ctx.engine.flush_interrupt);
    }
    Ok(())
}

/// What a flush stores when it is done: at an address, or at an offset in the status page.
pub(super) fn post_sync(
    what: PostSync,
    in_status_page: bool,
    place: Place,
    ctx: &mut CsContext<'_, '_>,
) -> Result<(), UnitFault> {
    let value = match what {
        PostSync::Nothing => return Ok(()),
        PostSync::Register(value) => {
            if let Place::Graphics(_, offset) = place {
                ctx.writes.push((offset.low(), value));
            }
            return Ok(());
        }
        PostSync::Immediate(value) => value,
        PostSync::Dword(value) => value.into(),
        PostSync::DepthCount => ctx.machine.status.statistics.ps_depth_count,
        PostSync::Timestamp => ctx.timestamp(),
    };
    // CAST: the halves of 64 bits.
    let dwords = [value as u32, (value >> 32) as u32];
    let dwords = match what {
        PostSync::Dword(_) => &dwords[..1],
        _ => &dwords[..],
    };
    match place {
        Place::Graphics(_, offset) if in_status_page => store_status(offset.low(), dwords, ctx),
        place => store(place, dwords, ctx),
    }
}

/// MI_UPDATE_GTT: entries of the global GTT from that of an address on.
pub fn update_gtt(d: &[u32], ctx: &mut CsContext<'_, '_>) {
    let (first, entries) = ctx.reader.update_gtt(d);
    for (index, entry) in (first as usize >> 12..).zip(entries) {
        ctx.machine.mem.gtt_write(index, entry);
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
    ctx.ff.depth_changed();
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
    let timestamp = ctx.timestamp();
    Mmio {
        irq: ctx.irq,
        regs: ctx.regs,
        debug: ctx.machine.debug,
        mem: ctx.machine.mem,
        status: ctx.machine.status,
        trace: ctx.machine.trace,
        timestamp,
    }
}

/// MI_STORE_REGISTER_MEM: a register as the host would read it.
pub fn store_register_mem(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    let command = ctx.reader.store_register_mem(d);
    let value = mmio(ctx).read32(command.register);
    store(command.place, &[value], ctx)
}

/// MI_LOAD_REGISTER_MEM: the device carries the write out when the command is done.
pub fn load_register_mem(d: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    let command = ctx.reader.load_register_mem(d);
    let value = load(command.place, ctx)?;
    ctx.writes.push((command.register, value));
    Ok(())
}

/// MI_PREDICATE: whether predicated commands are executed from now on (Ivybridge PRM volume 1 part 3).
pub fn predicate(d: &[u32], ctx: &mut CsContext<'_, '_>) {
    let predicate = ctx.reader.predicate(d);
    let first = ctx.regs.get64(RegId::MiPredicateSrc0);
    let second = ctx.regs.get64(RegId::MiPredicateSrc1);
    let delta = first.wrapping_sub(second);
    let compared = match predicate.comparison {
        Comparison::True => true,
        Comparison::False => false,
        Comparison::Equal => delta == 0,
        Comparison::DeltasEqual => ctx.regs.get64(RegId::MiPredicateData) == delta,
    };
    ctx.regs.set64(RegId::MiPredicateData, delta);
    let old = predicated(ctx);
    let combined = match predicate.combination {
        Combination::Set => compared,
        Combination::And => old && compared,
        Combination::Or => old || compared,
        Combination::Xor => old != compared,
    };
    if let Some(inverts) = predicate.inverts {
        let result = u32::from(combined != inverts);
        ctx.regs.set(RegId::MiPredicateResult, result);
    }
}

/// Whether predicated commands are executed.
pub fn predicated(ctx: &CsContext<'_, '_>) -> bool {
    ctx.regs.get(RegId::MiPredicateResult) & 1 != 0
}

/// Stores to where a command says.
fn store(place: Place, data: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    let (space, address) = match place {
        Place::Graphics(chosen, address) => (space(chosen, ctx), address),
        Place::Physical(address) => return physical(address, data, ctx),
    };
    ctx.machine.mem.enter(space).write_dwords(address, data)?;
    ctx.machine.note_write("CS", address, data.len() * 4);
    Ok(())
}

/// Loads a dword from where a command says.
fn load(place: Place, ctx: &mut CsContext<'_, '_>) -> Result<u32, UnitFault> {
    match place {
        Place::Graphics(chosen, address) => {
            let space = space(chosen, ctx);
            Ok(ctx.machine.mem.enter(space).read_u32(address)?)
        }
        Place::Physical(_) => Err(UnitFault::Unimplemented {
            unit: ctx.engine.unit,
            what: "a condition in physical memory",
            prm: "vol1 MI_CONDITIONAL_BATCH_BUFFER_END",
        }),
    }
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
            // Devices with a status page at a graphics address have no such field.
            let desc = (ctx.regs.tables().register_desc)(ctx.engine.registers.hws_pga);
            let high = desc.and_then(|desc| desc.fields.iter().find(|f| f.name == "Address 35:32"));
            let high = high.map_or(0, |field| field.get(page.into()) as u64) << 32;
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
            .device_write_u32(at, dword)
            .map_err(|fault| UnitFault::Command {
                unit: ctx.engine.unit,
                what: format!("store to physical memory: {fault}"),
            })?;
    }
    ctx.machine
        .note_write("CS physical", GpuAddr(address.0), data.len() * 4);
    Ok(())
}
