//! The device: owns every unit, lends them to one another, keeps the time.
//!
//! PRM: volume 4, chapter 2 (topology). Time passes only in `run`: one tick is one core clock and
//! pays for one EU instruction or one command dword; other work is charged in proportion.

mod debugger;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use regs::any::fields;
use regs::ids::RegId;

use crate::core::bus::RegFile;
use crate::core::fault::UnitFault;
use crate::intel::blt::Blt;
use crate::intel::cs::{Cs, CsContext};
use crate::intel::debug::DebugRegs;
use crate::intel::ff::{Pipeline, Step};
use crate::intel::r#gen::{DeviceInfo, ResetBy};
use crate::intel::irq;
use crate::intel::machine::Machine;
use crate::intel::media::{Media, Work};
use crate::intel::mmio::Mmio;
use crate::intel::shared::SharedFunctions;
use crate::intel::shared::dataport::Outside;
use crate::intel::spin::Spin;
use crate::intel::status::{Busy, Client, FaultRecord, Status, Unit};
use crate::intel::td::Td;
use crate::intel::td::schedule::Schedule;
use crate::intel::trace::{Event, Trace};
use crate::intel::urb::Urb;

/// Graphics memory, shared with the CPU's view of it.
pub type SharedMemory = Arc<Mutex<mem::Memory>>;

/// Locks the memory; a panic elsewhere leaves it usable.
pub fn lock(memory: &SharedMemory) -> MutexGuard<'_, mem::Memory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How a stretch of work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// There is more to do.
    Busy,
    /// There is nothing to do.
    Idle,
    /// What there is to do waits for the host, if only for a reset.
    Blocked,
    /// The parser goes round commands that do nothing: for as long as the host leaves its memory alone.
    Spins,
}

/// One modelled device.
pub struct Device {
    info: &'static DeviceInfo,
    memory: SharedMemory,
    regs: RegFile,
    debug: DebugRegs,
    cs: Cs,
    ff: Pipeline,
    media: Media,
    blt: Blt,
    td: Td,
    urb: Urb,
    shared: SharedFunctions,
    status: Status,
    trace: Trace,
    ticks: u64,
    /// Ticks that work has taken beyond its slice.
    debt: u64,
    spin: Spin,
    /// The last command has ended a round in which nothing was done.
    spins: bool,
    /// What sinks know of pending interrupts.
    irq: u32,
    writes: Vec<(u32, u32)>,
}

impl Device {
    /// A device after power-on, on a memory.
    pub fn new(info: &'static DeviceInfo, memory: SharedMemory) -> Self {
        Device {
            info,
            memory,
            regs: registers(info),
            debug: DebugRegs::new(info.tables),
            cs: Cs::default(),
            ff: Pipeline::new(info.readers.pipeline),
            media: Media::new(info.readers.media),
            blt: Blt::default(),
            td: Td::new(info.eus, info.threads_per_eu, info.isa),
            urb: Urb::with_rows(info.urb_rows),
            shared: shared(info),
            status: Status::default(),
            trace: Trace::default(),
            ticks: 0,
            debt: 0,
            spin: Spin::default(),
            spins: false,
            irq: 0,
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

    /// The trace.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Counters and faults.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// Takes the faults so far, and the number of those that were not kept.
    pub fn take_faults(&mut self) -> (Vec<FaultRecord>, u64) {
        let dropped = self.status.dropped_faults();
        (self.status.take_faults(), dropped)
    }

    /// Takes what programs did that the manual forbids without saying what comes of it: text for people.
    pub fn take_notes(&mut self) -> Vec<String> {
        self.shared.take_notes()
    }

    /// Device time in ticks.
    pub fn ticks(&self) -> u64 {
        self.ticks
    }

    /// Device time in nanoseconds.
    pub fn nanos(&self) -> u64 {
        self.ticks.saturating_mul(1000) / u64::from(self.info.core_mhz.max(1))
    }

    /// Nanoseconds to ticks, rounded up.
    pub fn ticks_of(&self, nanos: u64) -> u64 {
        nanos
            .saturating_mul(u64::from(self.info.core_mhz))
            .div_ceil(1000)
    }

    /// Whether every unit is done and no command waits.
    pub fn idle(&self) -> bool {
        self.cs.idle(&self.regs)
            && !self.cs.stuck()
            && self.ff.idle()
            && self.media.idle()
            && self.blt.idle()
            && self.td.idle()
    }

    /// Whether the interrupt line is asserted.
    pub fn irq_line(&self) -> bool {
        irq::line(&self.regs)
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

    /// Messages to the shared functions since the last reset, by function ID.
    pub fn messages(&self) -> [u64; 8] {
        self.shared.stats.messages
    }

    /// Accesses of threads past the end of surfaces, by binding table index.
    pub fn outside(&self) -> &BTreeMap<u8, Outside> {
        &self.shared.dataport.outside
    }

    /// What media threads and their units wait for, one line each.
    pub fn waits(&self) -> Vec<String> {
        self.media.waits(&self.td, &self.shared)
    }

    /// Threads that can never end: unit, kernel, instruction, reason. When media threads wait for one another,
    /// what each waits for.
    pub fn hung_threads(&self) -> Vec<String> {
        let mut lines = self.faulted_threads();
        if self.media.deadlocked(&self.td) {
            lines.extend(self.waits());
        }
        lines
    }

    /// Threads that a fault has stopped.
    fn faulted_threads(&self) -> Vec<String> {
        self.td
            .hung()
            .map(|(unit, kernel, ip, why)| {
                format!(
                    "{} thread, kernel {kernel:#010x}, at {ip:#010x}: {why}",
                    unit.name()
                )
            })
            .collect()
    }

    /// Threads that have not ended yet, each with its unit, its kernel and the instruction it stands at.
    pub fn running(&self) -> Vec<(Unit, u32, u32)> {
        self.td.running().collect()
    }

    /// Threads that have not ended yet: unit, kernel, instruction.
    pub fn running_threads(&self) -> Vec<String> {
        self.td
            .running()
            .map(|(unit, kernel, ip)| {
                format!(
                    "{} thread, kernel {kernel:#010x}, at {ip:#010x}: still running",
                    unit.name()
                )
            })
            .collect()
    }

    /// A blit in work: what it is, where it stands and how far it came.
    pub fn running_blit(&self) -> Option<String> {
        let (name, addr) = self.cs.blitting()?;
        let (done, rows) = self.blt.rows()?;
        Some(format!(
            "{name} at {addr:#010x}: still drawing, {done} of {rows} rows"
        ))
    }

    fn mmio<'a>(&'a mut self, memory: &'a mut mem::Memory) -> Mmio<'a> {
        Mmio {
            regs: &mut self.regs,
            debug: &mut self.debug,
            mem: memory,
            status: &mut self.status,
            trace: &mut self.trace,
            ticks: self.ticks,
        }
    }

    /// A 32-bit register read.
    pub fn read32(&mut self, offset: u32) -> u32 {
        self.show_idle();
        let memory = Arc::clone(&self.memory);
        let mut memory = lock(&memory);
        self.mmio(&mut memory).read32(offset)
    }

    /// A 32-bit register write.
    pub fn write32(&mut self, offset: u32, value: u32) {
        let memory = Arc::clone(&self.memory);
        let mut memory = lock(&memory);
        self.mmio(&mut memory).write32(offset, value);
        drop(memory);
        if self.info.reset.by == ResetBy::Register {
            self.answer_reset();
        }
        self.note_irq();
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

    /// Runs for at most `ticks`, or until there is nothing left to do; returns the ticks used.
    /// Time that nothing used passes all the same.
    pub fn run(&mut self, ticks: u64) -> u64 {
        let mut used = 0;
        loop {
            let left = ticks - used;
            let (now, ended) = self.work(left, left, |_| false);
            used += now;
            // A parser that goes round goes on, so that its commands are counted.
            if ended != Ended::Spins || now == 0 || used == ticks {
                break;
            }
        }
        self.ticks += ticks - used;
        used
    }

    /// Works for at most `ticks`, in pieces of about `quantum`, until there is nothing left to do, the parser has gone
    /// round for nothing, or `stop`, asked after every step with the ticks used so far, says so. Only used ticks pass;
    /// returns them and how it ended.
    pub fn work(
        &mut self,
        ticks: u64,
        quantum: u64,
        mut stop: impl FnMut(u64) -> bool,
    ) -> (u64, Ended) {
        let memory = Arc::clone(&self.memory);
        let mut memory = lock(&memory);
        let mut left = ticks;
        let ended = loop {
            let owed = self.debt.min(left);
            self.debt -= owed;
            left -= owed;
            self.ticks += owed;
            if left == 0 {
                break Ended::Busy;
            }
            let before = left.min(quantum.max(1));
            let mut budget = before;
            let step = self.step(&mut memory, &mut budget);
            self.watch(&mut memory);
            if self.trace.is_detailed() {
                self.note_irq();
            }
            let used = before - budget;
            self.ticks += used;
            left -= used;
            match step {
                Step::Progress if self.spins => break Ended::Spins,
                Step::Progress => {}
                Step::Idle => break Ended::Idle,
                // Everything waits for something that only time or the host can bring.
                Step::Blocked if used > 0 => {}
                Step::Blocked | Step::Dead => break Ended::Blocked,
            }
            if stop(ticks - left) {
                break Ended::Busy;
            }
        };
        self.report_faults();
        self.note_irq();
        (ticks - left, ended)
    }

    /// Tells sinks when what interrupts has changed.
    fn note_irq(&mut self) {
        if self.trace.is_detailed() {
            let bits = irq::pending(&self.regs);
            if std::mem::replace(&mut self.irq, bits) != bits {
                self.trace.event(Event::Irq { bits });
            }
        }
    }

    /// Lets time pass until an instant, if it is not past already; nothing is done meanwhile.
    pub fn pass_to(&mut self, nanos: u64) {
        self.ticks = self.ticks.max(self.ticks_of(nanos));
    }

    /// Lets ticks pass in which nothing happens.
    pub fn pass_ticks(&mut self, ticks: u64) {
        self.ticks = self.ticks.saturating_add(ticks);
    }

    /// One step of whatever has work: the pipeline first, then the next command.
    fn step(&mut self, memory: &mut mem::Memory, budget: &mut u64) -> Step {
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
            debt: &mut self.debt,
        };
        self.spins = false;
        if machine.debug.held() {
            return Step::Blocked;
        }
        if machine.trace.is_on() {
            machine.trace.begin(self.ticks, *machine.budget);
        }
        match self.ff.step(&mut self.td, &mut machine) {
            Step::Idle => {}
            step => {
                self.spin.forget();
                return step;
            }
        }
        // Further objects fill the EUs before threads have their turn.
        let more = |cs: &Cs, media: &Media, machine: &Machine<'_>| {
            media.accepts(machine) && cs.next_is_object(&self.regs, machine.mem)
        };
        if !self.media.idle() && !more(&self.cs, &self.media, &machine) {
            match self.media.step(&mut self.td, &mut machine) {
                Work::Idle => {}
                Work::Progress => return Step::Progress,
                Work::Blocked => return Step::Blocked,
                Work::Dead => return Step::Dead,
            }
        }
        let step = self.cs.step(&mut CsContext {
            reader: self.info.readers.commands,
            status_page: self.info.status_page,
            regs: &mut self.regs,
            ff: &mut self.ff,
            media: &mut self.media,
            blt: &mut self.blt,
            td: &mut self.td,
            machine: &mut machine,
            ticks: self.ticks,
            writes: &mut self.writes,
        });
        self.spins = step == Step::Progress
            && self.spin.round(
                self.regs.tables(),
                self.regs.get(RegId::Acthd),
                self.regs.get(RegId::Ipehr),
            );
        if !self.writes.is_empty() {
            for (offset, value) in std::mem::take(&mut self.writes) {
                self.mmio(memory).write32(offset, value);
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
            irq::raise_error(&mut self.regs, irq::error::PAGE_TABLE);
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
            irq::raise(&mut self.regs, irq::Cause::Debug);
        } else {
            irq::fall(&mut self.regs, irq::Cause::Debug);
        }
    }

    /// Brings INSTDONE and MI_MODE up to date.
    fn show_idle(&mut self) {
        let units = self.ff.busy_units();
        for &(part, register, bit) in self.info.done {
            let busy = match part {
                Busy::Vf => units.vf,
                Busy::Vs => units.vs,
                Busy::Gs => units.gs,
                Busy::Clip => units.cl,
                Busy::Sf => units.sf,
                Busy::Windower => units.wm,
                Busy::Threads => !self.td.idle(),
                Busy::Parser => !self.cs.idle(&self.regs) || self.cs.stuck(),
            };
            let value = self.regs.get(register) & !(1 << bit);
            let value = value | if busy { 0 } else { 1 << bit };
            self.regs.set(register, value);
        }
        let mode = self.regs.get(RegId::MiMode) & !MODE_IDLE;
        let idle = self.cs.idle(&self.regs) || crate::intel::cs::mi::stopped(&self.regs);
        self.regs
            .set(RegId::MiMode, if idle { mode | MODE_IDLE } else { mode });
    }

    /// ILK_GDSR: a reset that is asked for is over at once, and the enable bit falls. The media domain is the video
    /// decoder's, which the model does not have.
    fn answer_reset(&mut self) {
        use fields::ILK_GDSR as gdsr;
        let asked = self.regs.get(RegId::IlkGdsr);
        if !gdsr::RESET_ENABLE.is_set(asked) {
            return;
        }
        if gdsr::RESET_DOMAIN.read(asked) != gdsr::RESET_DOMAIN::Value::Media as u32 {
            self.reset();
        }
        let done = asked & !gdsr::RESET_ENABLE::SET.value;
        self.regs.set(RegId::IlkGdsr, done);
    }

    /// A reset of the graphics engine: registers, units and threads; memory and GTT survive, and the registers that
    /// the device's row names.
    pub fn reset(&mut self) {
        let keeps = self.info.reset.keeps;
        let kept: Vec<u32> = keeps.iter().map(|id| self.regs.get(*id)).collect();
        self.regs.reset();
        for (id, value) in keeps.iter().zip(kept) {
            self.regs.set(*id, value);
        }
        table_size(&mut self.regs, self.info);
        self.debug.reset();
        self.debug.set_global_enable(false);
        self.cs.reset();
        self.ff.reset();
        self.media.reset();
        self.blt = Blt::default();
        self.debt = 0;
        self.spin.forget();
        self.spins = false;
        self.td.reset();
        self.urb = Urb::with_rows(self.info.urb_rows);
        self.shared = shared(self.info);
    }
}

/// The registers of a device after power-on.
fn registers(info: &DeviceInfo) -> RegFile {
    let mut regs = RegFile::new(info.tables, info.interrupts);
    table_size(&mut regs, info);
    regs
}

/// PGTBL_CTL says how long the translation table is (intel-gtt.c `i965_gtt_total_entries`).
fn table_size(regs: &mut RegFile, info: &DeviceInfo) {
    use fields::PGTBL_CTL::SIZE;
    // Four bytes an entry, in KiB.
    let size = match info.gtt_entries / 256 {
        2048 => SIZE::Size2mb,
        1024 => SIZE::Size1mb,
        _ => SIZE::Size512kb,
    };
    let control = regs.get(RegId::PgtblCtl) & !(SIZE.mask << SIZE.shift);
    regs.set(RegId::PgtblCtl, control | size.value);
}

/// The shared functions of a device.
fn shared(info: &DeviceInfo) -> SharedFunctions {
    let mut shared = SharedFunctions::new(info.readers.functions, info.readers.messages);
    shared.dataport.dual_source = info.dual_source;
    shared.dataport.stateless_gated = info.stateless_gated;
    shared
}

/// MI_MODE: Mode Idle.
const MODE_IDLE: u32 = 1 << 9;
