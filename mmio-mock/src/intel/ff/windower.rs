//! The windower in its place: state from memory, threads by TD, counters.
//!
//! PRM: volume 2, windower; volume 4, 3.3.9. `wiz` rasterises and asks through `WizPort`; this is
//! the machine behind that port.

use eu::Grf;
use mem::Memory;

use super::Step;
use super::link::{Cargo, Link};
use super::payload::PayloadLayout;
use super::stage::{Stage, StartContext, StepContext, go_on};
use super::state::windower::LineStipple;
use super::state::{Curbe as UrbCurbe, WizState};
use super::wiz::thread::{Begin, Dispatch, PsThread, WizPort};
use super::wiz::{self, Meter, PixelRect, Plain, Row, SetupPrimitive, Wiz};
use crate::core::fault::UnitFault;
use crate::intel::debug::DebugRegs;
use crate::intel::machine::Machine;
use crate::intel::shared::dataport::render::PixelBackend;
use crate::intel::status::{Busy, Client, Unit};
use crate::intel::td::wave::{Common, Record, Recorded, Run, Waits, Wave};
use crate::intel::td::{
    KernelState, Outcome, SlotId, Subject, Td, ThreadRequest, UrbRead, VertexData,
};
use crate::intel::urb::UrbHandle;

/// The windower and what it works on.
#[derive(Debug, Default)]
pub struct Windower {
    wiz: Wiz,
    state: WizState,
    /// Setup entry of the primitive in work.
    setup: Option<UrbHandle>,
    in_flight: Vec<SlotId>,
    /// How many objects SF has had before the one in work.
    object: u64,
    /// Attributes of the primitive in work that has no setup entry.
    attributes: Vec<Grf>,
    /// Threads that wait to be computed together.
    wave: Wave,
    /// What those of the primitive in work begin with, once one of them has waited as a record.
    plain: Option<Plain>,
}

/// What the threads of the primitive in work come from.
#[derive(Clone, Copy)]
struct Work<'a> {
    state: &'a WizState,
    curbe: Option<UrbCurbe>,
    object: u64,
    attributes: &'a [Grf],
    setup: Option<UrbHandle>,
}

/// The machine as the windower sees it.
struct Glue<'a, 'm> {
    work: Work<'a>,
    layout: &'static dyn PayloadLayout,
    td: &'a mut Td,
    machine: &'a mut Machine<'m>,
    in_flight: &'a mut Vec<SlotId>,
    wave: &'a mut Wave,
    plain: &'a mut Option<Plain>,
    rounds: &'a mut u32,
    reserve: u64,
}

impl Stage for Windower {
    fn part(&self) -> Busy {
        Busy::Windower
    }

    fn takes(&self) -> &'static [Cargo] {
        &[Cargo::Primitive]
    }

    fn gives(&self) -> &'static [Cargo] {
        &[]
    }

    fn start(
        &mut self,
        ctx: &StartContext<'_>,
        machine: &mut Machine<'_>,
    ) -> Result<(), UnitFault> {
        self.state = ctx.reader.windower(machine.mem, ctx.state)?;
        self.wave.draw.begin();
        if let Some(r) = machine.debug.sf_clip_rectangle() {
            // CAST: 16-bit fields.
            let [x_min, y_min, x_max, y_max] = [r.xmin, r.ymin, r.xmax, r.ymax].map(|v| v as i32);
            self.state.drawing_rectangle.clip = PixelRect {
                x_min,
                y_min,
                x_max,
                y_max,
            };
        }
        machine.shared.pixel = PixelBackend {
            // Targets need not go with a buffer that nothing uses.
            depth_buffer: self
                .state
                .depth_buffer
                .clone()
                .filter(|_| self.state.cc.uses_depth_buffer()),
            blend_constant: ctx.state.constant_color,
            // CAST: 16-bit fields, two's complement.
            drawing_origin: (
                self.state.drawing_rectangle.origin_x as u16,
                self.state.drawing_rectangle.origin_y as u16,
            ),
            ..ctx.reader.backend(ctx.state)
        };
        Ok(())
    }

    /// Goes on with the primitive in work.
    fn step(&mut self, _input: &mut Link, _out: &mut Link, ctx: &mut StepContext<'_, '_>) -> Step {
        if !self.in_flight.is_empty() {
            self.resume(ctx);
            // While a thread waits, every subspan counts as blocked by the pixel scoreboard: threads of one draw run one
            // after another. Ignore Color Scoreboard Stalls lets the others go on (PRM vol4 3.3.9.1).
            if !self.in_flight.is_empty() && !ctx.machine.debug.wiz().ignore_scoreboard() {
                return Step::Blocked;
            }
        }
        if !self.wave.queue.is_empty() && !self.in_flight.is_empty() {
            return Step::Blocked;
        }
        if !self.wave.queue.is_empty() && !self.glue(ctx).1.end_wave() {
            return Step::Blocked;
        }
        if !self.wiz.busy() {
            self.release(ctx.machine);
            return Step::Idle;
        }
        if *ctx.machine.budget == 0 {
            return Step::Blocked;
        }
        let step = loop {
            let (wiz, mut glue) = self.glue(ctx);
            let state = glue.work.state;
            let step = wiz.step(state, &mut glue);
            // Rasterising takes time even when no thread starts.
            glue.machine.charge(wiz.take_ticks());
            // A thread waits for others of the primitive.
            let more = !self.wave.queue.is_empty()
                && self.wiz.busy()
                && matches!(step, Ok(wiz::Step::Progress))
                && ctx.go_on(self.wave.ticks());
            if !more {
                break step;
            }
        };
        let ended = self.wave.queue.is_empty() || self.glue(ctx).1.end_wave();
        match step {
            Ok(wiz::Step::Blocked) => Step::Blocked,
            Ok(wiz::Step::Progress | wiz::Step::Idle) if !ended => Step::Blocked,
            Ok(wiz::Step::Progress | wiz::Step::Idle) => Step::Progress,
            Err(fault) => Self::fail(fault, ctx.machine),
        }
    }

    fn take_up(&mut self, input: &mut Link, ctx: &mut StepContext<'_, '_>) -> Step {
        match input.primitive.take() {
            Some(primitive) => {
                std::mem::swap(&mut self.attributes, &mut input.attributes);
                self.begin(&primitive, ctx)
            }
            None => Step::Progress,
        }
    }

    fn resumes_first(&self) -> bool {
        true
    }

    fn busy(&self, _input: &Link) -> bool {
        self.wiz.busy() || !self.in_flight.is_empty() || !self.wave.queue.is_empty()
    }

    fn finish(&mut self, machine: &mut Machine<'_>) {
        self.release(machine);
    }

    fn load_line_stipple(&mut self, stipple: &LineStipple) {
        self.wiz.load_line_stipple(stipple);
    }

    fn depth_changed(&mut self) {
        self.wiz.depth_changed();
    }

    fn line_stipple_counter(&self) -> Option<u32> {
        Some(self.wiz.line_stipple_counter())
    }
}

impl Windower {
    /// The unit, and the machine as it sees it.
    #[inline]
    fn glue<'s, 'm>(&'s mut self, ctx: &'s mut StepContext<'_, 'm>) -> (&'s mut Wiz, Glue<'s, 'm>) {
        let glue = Glue {
            work: Work {
                state: &self.state,
                curbe: ctx.curbe,
                object: self.object,
                attributes: &self.attributes,
                setup: self.setup,
            },
            layout: ctx.layout,
            td: &mut *ctx.td,
            machine: &mut *ctx.machine,
            in_flight: &mut self.in_flight,
            wave: &mut self.wave,
            plain: &mut self.plain,
            rounds: &mut ctx.rounds,
            reserve: ctx.reserve,
        };
        (&mut self.wiz, glue)
    }

    /// Takes up a primitive, which brings its setup entry.
    fn begin(&mut self, primitive: &SetupPrimitive, ctx: &mut StepContext<'_, '_>) -> Step {
        ctx.td.forget_colour();
        self.plain = None;
        let machine = &mut *ctx.machine;
        self.setup = primitive.setup_entry();
        // SF has one object at a time, and none while the windower works.
        self.object = machine.status.activity.objects.saturating_sub(1);
        machine.note(crate::intel::trace::Event::Primitive {
            sequence: primitive.sequence,
        });
        if machine.trace.is_detailed() {
            let mut corners = [[0; 3]; 3];
            for (&n, v) in primitive.order.iter().zip(&primitive.v) {
                if let Some(corner) = corners.get_mut(usize::from(n)) {
                    *corner = [v.x, v.y, v.z].map(f32::to_bits);
                }
            }
            machine.note(crate::intel::trace::Event::Placed {
                corners,
                count: match primitive.kind {
                    wiz::PrimitiveKind::Point => 1,
                    wiz::PrimitiveKind::Line => 2,
                    wiz::PrimitiveKind::Triangle | wiz::PrimitiveKind::Rectangle => 3,
                },
            });
        }
        let (wiz, mut glue) = self.glue(ctx);
        let state = glue.work.state;
        match wiz.begin(state, primitive, &mut glue) {
            Ok(true) => Step::Progress,
            Ok(false) => {
                self.release(ctx.machine);
                Step::Progress
            }
            Err(fault) => Self::fail(fault, ctx.machine),
        }
    }

    /// Runs the threads that live on.
    fn resume(&mut self, ctx: &mut StepContext<'_, '_>) {
        let (td, machine) = (&mut *ctx.td, &mut *ctx.machine);
        let wiz = &mut self.wiz;
        self.in_flight
            .retain(|&slot| match td.resume(slot, machine) {
                Outcome::Done(slot) => {
                    wiz.retire(slot.0);
                    settle_pixels(slot, td, machine);
                    false
                }
                Outcome::InFlight(_) => true,
            });
    }

    fn release(&mut self, machine: &mut Machine<'_>) {
        if let Some(handle) = self.setup.take() {
            machine.urb.release(handle);
        }
    }

    fn fail(fault: UnitFault, machine: &mut Machine<'_>) -> Step {
        machine.fault(Client::RenderCache, fault, || "WIZ".to_owned());
        Step::Dead
    }
}

/// Counts what the render target writes of a thread that ended have passed.
fn settle_pixels(slot: SlotId, td: &Td, machine: &mut Machine<'_>) {
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
        self.plain.get_or_insert(begin.primitive);
        self.wave.queue.push_run(Run {
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

    /// Ends the threads that wait; `false` while one of them lives on, or has no slot.
    fn end_wave(&mut self) -> bool {
        let work = self.work;
        let entry = work.entry(work.setup);
        let common = work.common(entry.as_ref());
        let common = Common {
            request: &common,
            recorded: self.plain.as_ref().map(|plain| plain as &dyn Recorded),
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
    while !wave.queue.is_empty() {
        if !in_flight.is_empty() {
            return false;
        }
        let passed = td.compute(wave, common, machine);
        let count = &mut machine.status.statistics.ps_depth_count;
        *count = count.wrapping_add(passed);
        let Some(request) = wave.queue.first(common) else {
            break;
        };
        // It has to run in the usual way.
        let before = *machine.budget;
        match td.dispatch(&request, &[], machine) {
            None => return false,
            Some(Outcome::Done(slot)) => {
                settle_pixels(slot, td, machine);
                wave.draw.ran(before - *machine.budget);
            }
            Some(Outcome::InFlight(slot)) => in_flight.push(slot),
        }
        wave.queue.pop();
    }
    in_flight.is_empty()
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
        let (td, machine) = (&mut *self.td, &mut *self.machine);
        let charged = match td.may_wait((kernel, registers), self.wave, self.reserve, machine) {
            Waits::No => return false,
            Waits::Owing => None,
            Waits::Charged(ticks) => Some(ticks),
        };
        let Some(registers) = registers else {
            return false;
        };
        self.plain.get_or_insert_with(primitive);
        let queue = &mut self.wave.queue;
        queue.push_record(&record, registers, charged);
        machine.charge(charged.unwrap_or(0));
        true
    }

    #[inline]
    fn wait_whole(
        &mut self,
        kernel: &KernelState,
        (at, first): ((u16, u16), u8),
        begin: impl FnOnce(&mut DebugRegs) -> Begin,
    ) -> bool {
        let (td, machine) = (&mut *self.td, &mut *self.machine);
        let owed = self.reserve + self.wave.ticks();
        if let Some(ticks) = self.wave.extend(kernel, (at, first), *machine.budget, owed) {
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
        let (td, machine) = (&mut *self.td, &mut *self.machine);
        let kernel = (request.kernel.ip, header);
        if !thread.plain && td.may_wait(kernel, self.wave, self.reserve, machine) != Waits::No {
            self.wave.queue.push(&request);
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
