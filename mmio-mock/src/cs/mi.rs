//! Memory-interface commands.
//!
//! PRM: volume 1, MI commands; i915 gt/intel_gpu_commands.h for opcodes and bits.
//! Not modelled: waits for display events (they are over at once), context images.

use mem::{GpuAddr, PhysAddr};
use regs::gen40::{CommandId, MiFlush, RegId};

use super::{Command, CsContext, Flow, fetch};
use crate::fault::UnitFault;
use crate::irq;

/// MI_MODE: Stop Ring.
pub const STOP_RING: u32 = 1 << 8;

/// Whether a command is one of these.
pub fn is_mi(id: CommandId) -> bool {
    id.name().starts_with("MI_")
}

/// Executes an MI command.
pub fn execute(command: &Command<'_>, ctx: &mut CsContext<'_, '_>) -> Result<Flow, UnitFault> {
    use CommandId as C;
    let d = command.dwords;
    let at = |i: usize| d.get(i).copied().unwrap_or(0);
    match command.desc.id {
        C::MiNoop => {
            // Bit 22 asks for the identification number to be kept.
            if d[0] & 1 << 22 != 0 {
                ctx.regs.set(RegId::Nopid, d[0] & 0x003f_ffff);
            }
        }
        C::MiUserInterrupt => irq::raise(ctx.regs, irq::bit::USER),
        C::MiFlush => flush(&MiFlush::from_dwords(d), ctx),
        C::MiReportHead => {
            // The head goes to dword 4 of the status page (volume 1, hardware status page).
            let head = ctx.regs.get(RegId::Prb0Head);
            store_status(4 * 4, &[head], ctx)?;
        }
        C::MiStoreDataIndex => {
            // Bits 11:2: byte offset in the status page, dword aligned.
            store_status(at(1) & 0xffc, &d[2..], ctx)?;
        }
        C::MiStoreDataImm => {
            let addr = at(2);
            // Without Use Global GTT the address is physical, bits 35:32 in dword 1.
            if d[0] & 1 << 22 == 0 {
                let addr = u64::from(at(1) & 0xf) << 32 | u64::from(addr & !3);
                phys_write(PhysAddr(addr), &d[3..], ctx)?;
            } else {
                ctx.machine.mem.write_dwords(GpuAddr(addr & !3), &d[3..])?;
            }
        }
        C::MiLoadRegisterImm => {
            for pair in d[1..].chunks_exact(2) {
                ctx.writes.push((pair[0] & 0x007f_fffc, pair[1]));
            }
        }
        C::MiStoreRegisterMem => {
            let value = ctx.read_register(at(1) & 0x007f_fffc);
            ctx.machine.mem.write_u32(GpuAddr(at(2) & !3), value)?;
        }
        C::MiBatchBufferStart => return Ok(Flow::Batch(at(1) & !3)),
        C::MiBatchBufferEnd => return Ok(Flow::EndBatch),
        C::MiSetContext => ctx.regs.set(RegId::Ccid, at(1) & !0xfff | 1),
        // Arbitration has nobody to arbitrate with; display waits are over at once.
        C::MiArbCheck
        | C::MiArbOnOff
        | C::MiWaitForEvent
        | C::MiLoadScanLinesIncl
        | C::MiLoadScanLinesExcl
        | C::MiOverlayFlip
        | C::MiDisplayBufferInfo => {}
        _ => {
            return Err(UnitFault::Unimplemented {
                unit: "CS",
                what: command.desc.name,
                prm: command.desc.cite,
            });
        }
    }
    Ok(Flow::Next)
}

fn flush(flush: &MiFlush, ctx: &mut CsContext<'_, '_>) {
    if flush.state_instruction_cache_invalidate() != 0 {
        ctx.td.invalidate();
        ctx.machine.shared.invalidate();
    }
    if flush.global_snapshot_count_reset() != 0 {
        ctx.machine.debug.reset_counters();
    }
}

/// Writes to the hardware status page, which a 965 addresses physically (HWS_PGA).
fn store_status(offset: u32, data: &[u32], ctx: &mut CsContext<'_, '_>) -> Result<(), UnitFault> {
    let page = ctx.regs.get(RegId::HwsPga);
    let base = u64::from(page & !0xfff) | u64::from(page >> 4 & 0xf) << 32;
    phys_write(PhysAddr(base + u64::from(offset)), data, ctx)
}

fn phys_write(
    mut addr: PhysAddr,
    data: &[u32],
    ctx: &mut CsContext<'_, '_>,
) -> Result<(), UnitFault> {
    for &dword in data {
        ctx.machine
            .mem
            .phys_write_u32(addr, dword)
            .map_err(|fault| UnitFault::Command {
                unit: "CS",
                what: format!("store to physical memory: {fault}"),
            })?;
        addr.0 += 4;
    }
    Ok(())
}

impl CsContext<'_, '_> {
    /// Reads a register as MI_STORE_REGISTER_MEM does.
    pub fn read_register(&mut self, offset: u32) -> u32 {
        crate::mmio::Mmio {
            regs: self.regs,
            debug: self.machine.debug,
            mem: self.machine.mem,
            status: self.machine.status,
            trace: self.machine.trace,
            ticks: self.ticks,
        }
        .read32(offset)
    }
}

/// Whether the primary ring is enabled.
pub fn ring_enabled(regs: &crate::bus::RegFile) -> bool {
    fetch::Ring::from_registers(regs).is_some()
}
