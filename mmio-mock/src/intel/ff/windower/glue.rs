//! The machine as the windower sees it: threads that run, wait or are spared.
//!
//! PRM: volume 2, windower; volume 4, 2.4 (dispatch), 3.3.9.

use eu::Grf;
use mem::Memory;

use super::begun::Begun;
use crate::intel::debug::DebugRegs;
use crate::intel::ff::kept::Kept;
use crate::intel::ff::payload::PayloadLayout;
use crate::intel::ff::stage::go_on;
use crate::intel::ff::state::{Curbe as UrbCurbe, WizState};
use crate::intel::ff::wiz::thread::{Begin, Dispatch, PsThread, WizPort};
use crate::intel::ff::wiz::{Meter, Plain, Row};
use crate::intel::machine::Machine;
use crate::intel::status::Unit;
use crate::intel::td::wave::{Common, Record, Run, Waits, Wave};
use crate::intel::td::{
    KernelState, Outcome, SlotId, Subject, Td, ThreadRequest, UrbRead, VertexData,
};
use crate::intel::urb::UrbHandle;

/// What the threads of the primitive in work come from.
#[derive(Clone, Copy)]
pub(super) struct Work<'a> {
    pub(super) state: &'a WizState,
    pub(super) curbe: Option<UrbCurbe>,
    pub(super) object: u64,
    pub(super) attributes: &'a [Grf],
    pub(super) setup: Option<UrbHandle>,
}

/// The machine as the windower sees it.
pub(super) struct Glue<'a, 'm> {
    pub(super) work: Work<'a>,
    pub(super) layout: &'static dyn PayloadLayout,
    pub(super) td: &'a mut Td,
    pub(super) machine: &'a mut Machine<'m>,
    pub(super) in_flight: &'a mut Vec<SlotId>,
    pub(super) wave: &'a mut Wave,
    pub(super) begun: &'a mut Begun,
    pub(super) kept: &'a mut Kept,
    pub(super) rounds: &'a mut u32,
    pub(super) reserve: u64,
    /// A thread that had waited lives on: no other may start.
    pub(super) stopped: bool,
}

/// Counts what the render target writes of a thread that ended have passed.
pub(super) fn settle_pixels(slot: SlotId, td: &Td, machine: &mut Machine<'_>) {
    let passed = td.events(slot).depth_count;
    let count = &mut machine.status.statistics.ps_depth_count;
    *count = count.wrapping_add(u64::from(passed));
}

impl<'a> Work<'a> {
    /// The rows of a setup entry that threads get.
    fn entry(&self, setup: Option<UrbHandle>) -> Option<UrbRead> {
        let unit = &self.state.wm.unit;
        setup.map(|handle| UrbRead {
            handle,
            offset: unit.read_offset,
            rows: unit.read_rows,
        })
    }

    /// What all threads of the primitive have in common.
    fn common<'e>(&self, entry: Option<&'e UrbRead>) -> ThreadRequest<'e>
    where
        'a: 'e,
    {
        let unit = &self.state.wm.unit;
        ThreadRequest {
            unit: Unit::Wiz,
            kernel: KernelState::default(),
            context: unit.context,
            dispatch_mask: 0,
            header: &[],
            constants: unit.constants(self.curbe),
            data: match entry {
                Some(read) => VertexData::Sequential(std::slice::from_ref(read)),
                None => VertexData::Registers(self.attributes),
            },
            pixels: None,
            stream_indices: [0; 4],
            snapshot: false,
            subject: Subject::Pixels(self.object),
        }
    }
}

impl Glue<'_, '_> {
    /// What is left of the slice, when so many ticks of it are not for threads.
    fn meter(&self, threads: u64) -> Meter {
        Meter {
            budget: *self.machine.budget,
            rounds: *self.rounds,
            kept: [threads, self.reserve + self.wave.ticks()],
        }
    }

    /// A meter has been used.
    fn paid(&mut self, meter: &Meter) {
        *self.machine.budget = meter.budget;
        *self.rounds = meter.rounds;
    }

    /// Lets the first thread of a run wait.
    fn push_run(
        &mut self,
        kernel: &KernelState,
        (at, first): ((u16, u16), u8),
        registers: usize,
        ticks: u64,
        begin: Begin,
    ) {
        let (primitive, number) = (self.primitive(), self.td.number(1));
        self.begun.keep(|| begin.primitive);
        self.wave.queue.push_run(Run {
            primitive,
            number,
            kernel: *kernel,
            at,
            first,
            threads: 1,
            // CAST: fewer than there are.
            registers: registers as u8,
            debug: begin.debug,
            snapshot: begin.snapshot,
            ticks,
            charged: true,
        });
    }

    /// Whether a thread may wait with others; those that wait end first where there is no room beside them.
    #[inline]
    fn may_wait(&mut self, kernel: (u32, Option<usize>)) -> Waits {
        let (td, machine) = (&mut *self.td, &mut *self.machine);
        let waits = td.may_wait(kernel, self.wave, self.reserve, machine);
        if waits != Waits::Full {
            return waits;
        }
        if !self.end_wave() {
            self.stopped = true;
            return Waits::No;
        }
        let (td, machine) = (&mut *self.td, &mut *self.machine);
        td.may_wait(kernel, self.wave, self.reserve, machine)
    }

    /// The number of the primitive in work among those whose threads wait.
    #[inline]
    fn primitive(&mut self) -> u32 {
        let (work, machine) = (self.work, &*self.machine);
        self.begun.number(work.object, |rows| {
            let entry = work.entry(work.setup);
            Td::data(&work.common(entry.as_ref()), machine, rows);
        })
    }

    /// Ends the threads that wait; `false` while one of them lives on, or has no slot.
    pub(super) fn end_wave(&mut self) -> bool {
        self.kept.end();
        let common = Common {
            request: &self.work.common(None),
            primitives: &*self.begun,
        };
        end_wave(self.wave, &common, self.in_flight, self.td, self.machine)
    }
}

/// Ends the threads of a wave in their order; `false` while one of them lives on, or has no slot.
fn end_wave(
    wave: &mut Wave,
    common: &Common<'_>,
    in_flight: &mut Vec<SlotId>,
    td: &mut Td,
    machine: &mut Machine<'_>,
) -> bool {
    if !in_flight.is_empty() {
        return false;
    }
    if std::mem::take(&mut wave.unnumbered) {
        // CAST: numbers of threads, modulo 256.
        let first = td.number(wave.queue.len() as u32);
        wave.queue.renumber(first);
    }
    while !wave.queue.is_empty() {
        let passed = td.compute(wave, common, machine);
        let count = &mut machine.status.statistics.ps_depth_count;
        *count = count.wrapping_add(passed);
        let Some((number, request)) = wave.queue.first(common) else {
            break;
        };
        // It has to run in the usual way.
        let before = *machine.budget;
        let outcome = td.dispatch_numbered((number, &request), machine);
        match outcome {
            None => {}
            Some(Outcome::Done(slot)) => {
                settle_pixels(slot, td, machine);
                wave.draw.ran(before - *machine.budget);
            }
            Some(Outcome::InFlight(slot)) => in_flight.push(slot),
        }
        if outcome.is_some() {
            wave.queue.pop();
        }
        if outcome.is_none() || !in_flight.is_empty() {
            // Those behind it start later, and get their numbers then.
            // CAST: numbers of threads, modulo 256.
            td.take_numbers(wave.queue.len() as u32);
            wave.unnumbered = true;
            break;
        }
    }
    wave.queue.is_empty() && in_flight.is_empty()
}

impl WizPort for Glue<'_, '_> {
    fn memory(&mut self) -> &mut Memory {
        self.machine.mem
    }

    fn urb_row(&self, handle: UrbHandle, row: u16) -> Grf {
        self.machine
            .urb
            .row(handle, row)
            .copied()
            .unwrap_or_default()
    }

    #[inline]
    fn layout(&self) -> &'static dyn PayloadLayout {
        self.layout
    }

    #[inline]
    fn spare(&mut self, kernel: &KernelState, at: (u16, u16)) -> bool {
        if !self.wave.queue.is_empty() {
            return false;
        }
        let context = &self.work.state.wm.unit.context;
        self.td.spare(kernel, context, at, self.machine)
    }

    #[inline]
    fn wait(&mut self, record: Record, primitive: impl FnOnce() -> Plain) -> bool {
        let kernel = record.kernel.ip;
        let registers = self.wave.draw.registers(kernel);
        let charged = match self.may_wait((kernel, registers)) {
            Waits::No | Waits::Full => return false,
            Waits::Owing => None,
            Waits::Charged(ticks) => Some(ticks),
        };
        let Some(registers) = registers else {
            return false;
        };
        let record = Record {
            primitive: self.primitive(),
            ..record
        };
        self.begun.keep(primitive);
        let number = self.td.number(1);
        let queue = &mut self.wave.queue;
        queue.push_record(&record, registers, (number, charged));
        self.machine.charge(charged.unwrap_or(0));
        true
    }

    #[inline]
    fn wait_whole(
        &mut self,
        kernel: &KernelState,
        (at, first): ((u16, u16), u8),
        begin: impl FnOnce(&mut DebugRegs) -> Begin,
    ) -> bool {
        let primitive = self.primitive();
        let (td, machine) = (&mut *self.td, &mut *self.machine);
        let owed = self.reserve + self.wave.ticks();
        let of = (primitive, kernel);
        if let Some(ticks) = self.wave.extend(of, (at, first), *machine.budget, owed) {
            td.number(1);
            machine.charge(ticks);
            return true;
        }
        let Some(registers) = self.wave.draw.registers(kernel.ip) else {
            return false;
        };
        let of = (kernel.ip, Some(registers));
        let Some(ticks) = td.may_wait_whole(of, self.wave, self.reserve, machine) else {
            return false;
        };
        let begin = begin(machine.debug);
        self.push_run(kernel, (at, first), registers, ticks, begin);
        self.machine.charge(ticks);
        true
    }

    #[inline]
    fn takes_rows(&self, kernel: &KernelState) -> bool {
        let context = &self.work.state.wm.unit.context;
        self.td.takes_runs(kernel, self.wave, self.machine)
            || self.td.spares_row(kernel, context, self.machine).is_some()
    }

    fn spare_row(&mut self, kernel: &KernelState, row: &Row) -> (u32, bool) {
        if !self.wave.queue.is_empty() {
            return (0, true);
        }
        let context = &self.work.state.wm.unit.context;
        let Some(ticks) = self.td.spares_row(kernel, context, self.machine) else {
            return (0, true);
        };
        // How many the slice has room for; those that lie in the target are paid for.
        let (most, _) = self.meter(0).pay(row, ticks, row.squares);
        let squares = self.td.spare_row(row.from.0, most, self.machine);
        let mut meter = self.meter(0);
        let (taken, goes_on) = meter.pay(row, ticks, squares);
        self.paid(&meter);
        (taken, goes_on)
    }

    fn wait_row(
        &mut self,
        kernel: &KernelState,
        row: &Row,
        begin: impl FnOnce(&mut DebugRegs) -> Begin,
    ) -> (u32, bool) {
        if !self.wait_whole(kernel, row.from, begin) {
            return (0, true);
        }
        // The first one has been charged, and is paid for with the others.
        let room = self.wave.room();
        let Some(run) = self.wave.queue.last_run() else {
            return (0, true);
        };
        let ticks = run.ticks;
        *self.machine.budget += ticks;
        let mut meter = self.meter(self.reserve + self.wave.ticks());
        let (taken, goes_on) = meter.pay(row, ticks, room.saturating_add(1));
        self.paid(&meter);
        self.wave.queue.extend_by(taken);
        // One of them has its number already.
        self.td.take_numbers(1);
        self.td.number(taken);
        (taken, goes_on)
    }

    #[inline]
    fn waits(&self) -> bool {
        !self.wave.queue.is_empty()
    }

    #[inline]
    fn charge(&mut self, ticks: u64) {
        self.machine.charge(ticks);
    }

    #[inline]
    fn go_on(&mut self) -> bool {
        go_on(self.rounds, self.reserve, self.wave.ticks(), self.machine)
    }

    fn dispatch(&mut self, thread: &PsThread<'_>) -> Dispatch {
        let work = self.work;
        let entry = work.entry(thread.setup);
        let request = ThreadRequest {
            kernel: *thread.kernel,
            dispatch_mask: thread.dispatch_mask,
            header: thread.payload,
            pixels: thread.pixels,
            snapshot: thread.snapshot,
            ..work.common(entry.as_ref())
        };
        let header = Some(request.header.len());
        let kernel = (request.kernel.ip, header);
        let waits = !thread.plain && !matches!(self.may_wait(kernel), Waits::No | Waits::Full);
        if self.stopped {
            return Dispatch::Full;
        }
        if waits {
            let primitive = (self.primitive(), self.td.number(1));
            self.wave.queue.push(&request, primitive);
            return Dispatch::Done;
        }
        // Threads end in their order.
        if !self.wave.queue.is_empty() && !self.end_wave() {
            return Dispatch::Full;
        }
        if thread.plain {
            self.wave.draw.learn(thread.kernel.ip, thread.payload.len());
        }
        let before = *self.machine.budget;
        let outcome = if thread.square {
            self.td.dispatch_square(&request, self.machine)
        } else {
            self.td.dispatch(&request, &[], self.machine)
        };
        match outcome {
            None => Dispatch::Full,
            Some(Outcome::Done(slot)) => {
                let ticks = before - *self.machine.budget;
                self.wave.draw.ran(ticks);
                settle_pixels(slot, self.td, self.machine);
                Dispatch::Done
            }
            Some(Outcome::InFlight(slot)) => {
                self.in_flight.push(slot);
                Dispatch::InFlight(slot.0)
            }
        }
    }

    fn count_invocations(&mut self, pixels: u32) {
        self.machine.status.activity.pixels += u64::from(pixels);
        if self.work.state.wm.unit.statistics {
            let count = &mut self.machine.status.statistics.ps_invocations;
            *count = count.wrapping_add(u64::from(pixels));
        }
    }

    fn debug(&mut self) -> &mut DebugRegs {
        self.machine.debug
    }

    fn count_depth(&mut self, pixels: u32) {
        let count = &mut self.machine.status.statistics.ps_depth_count;
        *count = count.wrapping_add(u64::from(pixels));
    }
}
