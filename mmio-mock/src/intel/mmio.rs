//! MMIO reads and writes: the register file, and what units keep elsewhere.
//!
//! PRM: volume 1 (register maps, GTT in the upper half of the register BAR, fences).
//! The command streamer looks at its registers when it steps, so no write reaches into it.

use regs::any::fields;
use regs::ids::{CsReg, FenceReg, GttReg, IrqReg, RegId, SoReg, StatsReg, UnitReg};

use crate::intel::debug::DebugRegs;
use crate::intel::irq;
use crate::intel::registers::{Place, RegFile};
use crate::intel::status::{STREAMS, Statistics, Status};
use crate::intel::trace::{Event, Trace};

/// What an MMIO access can reach.
pub struct Mmio<'a> {
    /// Where interrupts show.
    pub irq: &'static irq::Registers,
    /// Plain registers.
    pub regs: &'a mut RegFile,
    /// Debug registers.
    pub debug: &'a mut DebugRegs,
    /// GTT and fences.
    pub mem: &'a mut mem::Memory,
    /// Statistics counters.
    pub status: &'a mut Status,
    /// Trace.
    pub trace: &'a mut Trace,
    /// What TIMESTAMP shows.
    pub timestamp: u64,
}

impl Mmio<'_> {
    /// A 32-bit read. Offsets with nothing behind them read as zero.
    pub fn read32(&mut self, offset: u32) -> u32 {
        let Some(place) = self.regs.place(offset) else {
            log::debug!("read of {offset:#07x}: no register there");
            return 0;
        };
        match place.id.unit() {
            UnitReg::Gtt(GttReg::GttPte) => self.mem.gtt_read(place.index as usize),
            UnitReg::Fence(FenceReg::Fence) => {
                half(self.mem.fence_read(place.index as usize), place.dword)
            }
            UnitReg::Stats(reg) => {
                let statistics = &mut self.status.statistics;
                half(*counter(statistics, reg, place.index as usize), place.dword)
            }
            UnitReg::So(SoReg::SoWriteOffset) => {
                self.status.stream_offsets[place.index as usize % STREAMS]
            }
            UnitReg::Cs(CsReg::Timestamp | CsReg::BltTimestamp | CsReg::BsdTimestamp) => {
                half(self.timestamp, place.dword)
            }
            _ if DebugRegs::owns(place.desc) => self.debug.read(place.id, place.dword),
            _ => self.regs.bus_read(place),
        }
    }

    /// A 32-bit write.
    pub fn write32(&mut self, offset: u32, value: u32) {
        self.trace.event(Event::MmioWrite { offset, value });
        let Some(place) = self.regs.place(offset) else {
            log::debug!("write of {value:#010x} to {offset:#07x}: no register there");
            return;
        };
        match place.id.unit() {
            UnitReg::Gtt(GttReg::GttPte) => self.mem.gtt_write(place.index as usize, value),
            UnitReg::Fence(FenceReg::Fence) => {
                let index = place.index as usize;
                let fence = with_half(self.mem.fence_read(index), place.dword, value);
                self.mem.fence_write(index, fence);
            }
            UnitReg::Stats(reg) => {
                let statistics = &mut self.status.statistics;
                let counter = counter(statistics, reg, place.index as usize);
                *counter = with_half(*counter, place.dword, value);
            }
            UnitReg::So(SoReg::SoWriteOffset) => {
                // Bits 1:0 are no part of it.
                self.status.stream_offsets[place.index as usize % STREAMS] = value & !3;
            }
            UnitReg::Irq(IrqReg::Eir) => self.irq.acknowledge_errors(self.regs, value),
            UnitReg::Irq(IrqReg::Emr) => {
                self.regs.bus_write(place, value);
                self.irq.settle_errors(self.regs);
            }
            UnitReg::Cs(CsReg::Instpm) => self.instpm(place, value),
            UnitReg::Cs(CsReg::GfxFlshCntl) => {
                self.regs.bus_write(place, value);
                self.debug.request_flush();
            }
            _ if DebugRegs::owns(place.desc) => self.debug.write(place.id, place.dword, value),
            _ => self.regs.bus_write(place, value),
        }
    }

    fn instpm(&mut self, place: Place, value: u32) {
        self.regs.bus_write(place, value);
        let instpm = self.regs.get(RegId::Instpm);
        self.debug
            .set_global_enable(fields::INSTPM::GLOBAL_DEBUG_ENABLE.is_set(instpm));
    }
}

fn half(value: u64, dword: u32) -> u32 {
    if dword == 0 {
        value as u32
    } else {
        (value >> 32) as u32
    }
}

fn with_half(old: u64, dword: u32, value: u32) -> u64 {
    if dword == 0 {
        (old & !0xffff_ffff) | u64::from(value)
    } else {
        (old & 0xffff_ffff) | u64::from(value) << 32
    }
}

/// The counter behind element `index` of a statistics register.
fn counter(statistics: &mut Statistics, reg: StatsReg, index: usize) -> &mut u64 {
    match reg {
        StatsReg::IaVerticesCount => &mut statistics.ia_vertices,
        StatsReg::IaPrimitivesCount => &mut statistics.ia_primitives,
        StatsReg::VsInvocationCount => &mut statistics.vs_invocations,
        StatsReg::GsInvocationCount => &mut statistics.gs_invocations,
        StatsReg::GsPrimitivesCount => &mut statistics.gs_primitives,
        StatsReg::ClInvocationCount => &mut statistics.cl_invocations,
        StatsReg::ClPrimitivesCount => &mut statistics.cl_primitives,
        StatsReg::PsInvocationCount => &mut statistics.ps_invocations,
        StatsReg::PsDepthCount => &mut statistics.ps_depth_count,
        StatsReg::CsInvocationCount => &mut statistics.cs_invocations,
        StatsReg::HsInvocationCount => &mut statistics.hs_invocations,
        StatsReg::DsInvocationCount => &mut statistics.ds_invocations,
        // The registers have as many elements as there are streams.
        StatsReg::SoNumPrimsWritten => &mut statistics.so_prims_written[index % STREAMS],
        StatsReg::SoPrimStorageNeeded => &mut statistics.so_storage_needed[index % STREAMS],
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::intel::r#gen::find;

    /// Four counters of eight bytes from 5200h and from 5240h, four offsets from 5280h on (genxml gen7 SO_NUM_PRIMS_WRITTEN0,
    /// SO_PRIM_STORAGE_NEEDED0, SO_WRITE_OFFSET0); a captured batch sets the offsets by MI_LOAD_REGISTER_IMM.
    #[test]
    fn registers_of_stream_output_are_those_of_the_streams() {
        let tables = &regs::platform::GEN70;
        let (mut status, mut mem) = (Status::default(), mem::Memory::new(1 << 16, 16));
        let mut mmio = Mmio {
            irq: find("sandybridge").unwrap().interrupts,
            regs: &mut RegFile::new(tables),
            debug: &mut DebugRegs::new(tables),
            mem: &mut mem,
            status: &mut status,
            trace: &mut Trace::default(),
            timestamp: 0,
        };
        for n in 0..4 {
            mmio.write32(0x5280 + 4 * n, 0x103 + n);
            mmio.status.statistics.so_prims_written[n as usize] = u64::from(n) << 32 | 5;
            mmio.write32(0x5244 + 8 * n, n);
        }
        let status = &*mmio.status;
        assert_eq!(status.stream_offsets, [0x100, 0x104, 0x104, 0x104]);
        assert_eq!(
            status.statistics.so_storage_needed,
            [0, 1 << 32, 2 << 32, 3 << 32]
        );
        mmio.status.stream_offsets[2] = 36;
        assert_eq!(mmio.read32(0x5288), 36);
        assert_eq!((mmio.read32(0x5218), mmio.read32(0x521c)), (5, 3));
    }
}
