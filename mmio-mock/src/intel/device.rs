//! The device: owns every unit, lends them to one another, keeps the time.
//!
//! PRM: volume 4, chapter 2 (topology). Time passes only in `Model::run`: one tick is one core clock and
//! pays for one EU instruction or one command dword; other work is charged in proportion.

mod debugger;
mod engines;
mod model;
mod report;
mod reset;
mod spaces;
mod waits;

use regs::ids::RegId;

use engines::Engines;

use crate::core::fault::UnitFault;
use crate::core::memory::{SharedMemory, lock};
use crate::core::{Clock, Model};
use crate::intel::blt::Blt;
use crate::intel::cs::{Cs, CsContext, mi};
use crate::intel::debug::DebugRegs;
use crate::intel::ff::{Pipeline, Step};
use crate::intel::r#gen::{DeviceInfo, SIDEBAND_WORDS};
use crate::intel::irq;
use crate::intel::machine::Machine;
use crate::intel::media::{Media, Work};
use crate::intel::mmio::Mmio;
use crate::intel::registers::RegFile;
use crate::intel::shared::SharedFunctions;
use crate::intel::status::{Busy, Client, Status};
use crate::intel::td::Td;
use crate::intel::td::engine::Engine;
use crate::intel::td::schedule::Schedule;
use crate::intel::trace::{Event, Trace};
use crate::intel::urb::Urb;

/// One modelled device.
pub struct Device {
    info: &'static DeviceInfo,
    memory: SharedMemory,
    regs: RegFile,
    sideband: [u32; SIDEBAND_WORDS],
    debug: DebugRegs,
    engines: Engines,
    ff: Pipeline,
    media: Media,
    blt: Blt,
    td: Td,
    urb: Urb,
    shared: SharedFunctions,
    status: Status,
    trace: Trace,
    clock: Clock,
    /// What sinks know of pending interrupts.
    pending: u32,
    writes: Vec<(u32, u32)>,
}

impl Device {
    /// A device after power-on, on a memory.
    pub fn new(info: &'static DeviceInfo, memory: SharedMemory) -> Self {
        lock(&memory).set_fence_pitch(info.fence_pitch);
        Device {
            info,
            memory,
            regs: reset::registers(info),
            sideband: [0; SIDEBAND_WORDS],
            debug: DebugRegs::new(info.tables),
            engines: Engines::new(info.render, info.engines),
            ff: Pipeline::new(info.readers.pipeline),
            media: Media::new(info.readers.media),
            blt: Blt::default(),
            td: Td::new(info.eus, info.threads_per_eu, info.readers.instructions),
            urb: Urb::with_rows(info.urb_rows),
            shared: reset::shared(info),
            status: Status::default(),
            trace: Trace::default(),
            clock: Clock::new(info.core_mhz),
            pending: 0,
            writes: Vec::new(),
        }
    }

    /// Which device this is.
    pub fn info(&self) -> &'static DeviceInfo {
        self.info
    }

    /// Switches the trace on, with a limit for its text.
    pub fn set_trace(&mut self, trace: Trace) {
        self.trace = trace;
    }

    /// Counters and faults.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// Chooses the order in which media threads take turns, from now on. Threads of the 3D pipeline run one after
    /// another in any case.
    pub fn set_schedule(&mut self, schedule: Schedule) {
        self.media.set_schedule(schedule);
    }

    /// The order in which media threads take turns; a random one shows its seed.
    pub fn schedule(&self) -> Schedule {
        self.media.schedule()
    }

    /// Whether pixel threads may be spared whose work is known (`td::fill`); only the time that the host takes depends on it.
    pub fn set_spares(&mut self, on: bool) {
        self.td.set_spares(on);
    }

    /// Chooses what executes kernels from now on; only the time that the host takes depends on it.
    pub fn set_engine(&mut self, engine: Engine) {
        self.td.set_engine(engine);
    }

    /// How many threads of the host compute the device's threads, 16 at most; without any, these run one after another
    /// (`td::wave`). Only the time that the host takes depends on it.
    pub fn set_workers(&mut self, count: usize) {
        self.td.set_workers(count);
    }

    fn mmio<'a>(&'a mut self, memory: &'a mut mem::Memory) -> Mmio<'a> {
        Mmio {
            irq: self.info.interrupts,
            regs: &mut self.regs,
            debug: &mut self.debug,
            mem: memory,
            status: &mut self.status,
            trace: &mut self.trace,
            timestamp: self.info.timestamp.at(self.clock.ticks()),
        }
    }

    /// A dword of a register by name; zero when the device lacks it.
    pub fn read_register(&mut self, id: RegId, dword: u32) -> u32 {
        self.offset(id, dword)
            .map_or(0, |offset| self.read32(offset))
    }

    /// Writes a dword of a register by name; nothing when the device lacks it.
    pub fn write_register(&mut self, id: RegId, dword: u32, value: u32) {
        if let Some(offset) = self.offset(id, dword) {
            self.write32(offset, value);
        }
    }

    fn offset(&self, id: RegId, dword: u32) -> Option<u32> {
        let desc = (self.regs.tables().register_desc)(id)?;
        Some(desc.offset + 4 * dword)
    }

    /// Tells sinks when what interrupts has changed.
    fn note_irq(&mut self) {
        if self.trace.is_detailed() {
            let bits = self.info.interrupts.pending(&self.regs);
            if std::mem::replace(&mut self.pending, bits) != bits {
                self.trace.event(Event::Irq { bits });
            }
        }
    }

    /// One step of the engine of a row, in whatever of it has work: the pipeline first, then the next command.
    fn step(&mut self, row: usize, memory: &mut mem::Memory, budget: &mut u64) -> Step {
        let Some(engine) = self.engines.at(row) else {
            return Step::Idle;
        };
        let info = engine.info();
        // All units work in the space of the parser: it moves to another one only while nothing is in flight.
        let mut memory = memory.enter(engine.cs.space());
        memory.trust(engine.cs.is_trusted());
        let memory = &mut *memory;
        if self.debug.take_flush() {
            self.td.invalidate();
            self.shared.invalidate();
        }
        let mut machine = Machine {
            mem: memory,
            urb: &mut self.urb,
            shared: &mut self.shared,
            debug: &mut self.debug,
            status: &mut self.status,
            trace: &mut self.trace,
            budget,
            debt: &mut engine.debt,
        };
        engine.spins = false;
        if machine.debug.held() {
            return Step::Blocked;
        }
        if machine.trace.is_on() {
            machine.trace.begin(self.clock.ticks(), *machine.budget);
        }
        if info.has_pipelines {
            match self.ff.step(&mut self.td, &mut machine) {
                Step::Idle => {}
                step => {
                    engine.spin.forget();
                    return step;
                }
            }
            // Further objects fill the EUs before threads have their turn.
            let more = |cs: &Cs, media: &Media, machine: &mut Machine<'_>| {
                media.accepts(machine) && cs.next_is_object(&self.regs, machine.mem)
            };
            if !self.media.idle() && !more(&engine.cs, &self.media, &mut machine) {
                match self.media.step(&mut self.td, &mut machine) {
                    Work::Idle => {}
                    Work::Progress => return Step::Progress,
                    Work::Blocked => return Step::Blocked,
                    Work::Dead => return Step::Dead,
                }
            }
        }
        let step = engine.cs.step(&mut CsContext {
            reader: self.info.readers.commands,
            process: engine.process,
            engine: info,
            irq: self.info.interrupts,
            regs: &mut self.regs,
            ff: &mut self.ff,
            media: &mut self.media,
            blt: &mut self.blt,
            td: &mut self.td,
            machine: &mut machine,
            ticks: self.clock.ticks(),
            clock: self.info.timestamp,
            writes: &mut self.writes,
        });
        engine.follow(step, self.regs.tables(), &self.regs);
        if !self.writes.is_empty() {
            self.engines.wake();
            for (offset, value) in std::mem::take(&mut self.writes) {
                self.mmio(memory).write32(offset, value);
                self.answer(offset, memory);
            }
        }
        step
    }

    /// New memory faults become page-table errors; the registers name the first.
    fn report_faults(&mut self) {
        let bits = self.status.take_raised();
        if bits != 0 {
            let old = self.regs.get(RegId::PgtblEr);
            self.regs.set(RegId::PgtblEr, old | bits);
            self.info
                .interrupts
                .raise_error(&mut self.regs, self.info.interrupts.page_table);
        }
        if let Some(error) = self.shared.error.take() {
            let fault = UnitFault::Message {
                unit: "shared function",
                desc: error.desc,
                what: error.what,
                error: error.code,
            };
            self.status.fault(Client::Cs, fault, || {
                format!("send at {:#010x}, function {}", error.ip, error.sfid)
            });
        }
        // The one signal of all threads (PRM vol4 3.5).
        if self.debug.attention() {
            self.info
                .interrupts
                .raise(&mut self.regs, irq::Cause::Debug);
        } else {
            self.info.interrupts.fall(&mut self.regs, irq::Cause::Debug);
        }
    }

    /// Brings INSTDONE and MI_MODE up to date.
    fn show_idle(&mut self) {
        let stages = self.ff.busy_parts();
        for engine in self.engines.all() {
            let info = engine.info();
            let idle = engine.cs.idle(&self.regs);
            for &(part, register, bit) in info.done {
                let busy = match part {
                    Busy::Threads => !self.td.idle(),
                    Busy::Parser => !idle || engine.cs.stuck(),
                    stage => stages.has(stage),
                };
                let value = self.regs.get(register) & !(1 << bit);
                let value = value | if busy { 0 } else { 1 << bit };
                self.regs.set(register, value);
            }
            let mode = self.regs.get(info.registers.mi_mode) & !MODE_IDLE;
            let rests = idle || mi::stopped(&self.regs, info);
            let mode = if rests { mode | MODE_IDLE } else { mode };
            self.regs.set(info.registers.mi_mode, mode);
        }
    }
}

/// MI_MODE: Mode Idle.
const MODE_IDLE: u32 = 1 << 9;
