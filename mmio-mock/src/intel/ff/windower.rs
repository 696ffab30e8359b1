//! The windower in its place: state from memory, threads by TD, counters.
//!
//! PRM: volume 2, windower; volume 4, 3.3.9. `wiz` rasterises and asks through `WizPort`; [`glue`] is
//! the machine behind that port.

mod begun;
mod glue;

use eu::Grf;

use super::Step;
use super::link::{Cargo, Link};
use super::stage::{Stage, StartContext, StepContext};
use super::state::WizState;
use super::state::windower::LineStipple;
use super::wiz::{self, PixelRect, SetupPrimitive, Wiz};
use crate::core::fault::UnitFault;
use crate::intel::machine::Machine;
use crate::intel::shared::dataport::render::PixelBackend;
use crate::intel::status::{Busy, Client};
use crate::intel::td::wave::Wave;
use crate::intel::td::{Outcome, SlotId};
use crate::intel::urb::UrbHandle;
use begun::Begun;
use glue::{Glue, Work, settle_pixels};

/// Further threads that there has to be room for while threads are kept.
const KEPT: u32 = 1 << 10;

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
    /// Their primitives.
    begun: Begun,
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
        let ends = !self.wave.queue.is_empty() && !ctx.kept.any();
        if ends && !self.settle(ctx) {
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
        let ended = self.wave.queue.is_empty() || self.keeps(ctx) || self.settle(ctx);
        match step {
            Ok(wiz::Step::Blocked) => Step::Blocked,
            Ok(wiz::Step::Progress | wiz::Step::Idle) if !ended => Step::Blocked,
            Ok(wiz::Step::Progress | wiz::Step::Idle) => Step::Progress,
            Err(fault) => Self::fail(fault, ctx.machine),
        }
    }

    fn settle(&mut self, ctx: &mut StepContext<'_, '_>) -> bool {
        self.glue(ctx).1.end_wave()
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
            begun: &mut self.begun,
            kept: &mut ctx.kept,
            rounds: &mut ctx.rounds,
            reserve: ctx.reserve,
            stopped: false,
        };
        (&mut self.wiz, glue)
    }

    /// Takes up a primitive, which brings its setup entry.
    fn begin(&mut self, primitive: &SetupPrimitive, ctx: &mut StepContext<'_, '_>) -> Step {
        ctx.td.forget_colour();
        self.begun.next(!self.wave.queue.is_empty());
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

    /// Keeps the threads that wait while the stages above go on; `false` where that is not possible.
    #[inline]
    fn keeps(&self, ctx: &mut StepContext<'_, '_>) -> bool {
        let Wave { queue, draw, .. } = &self.wave;
        let room = queue.owing() == 0 && self.wave.room() > KEPT && self.begun.has_room();
        match draw.keeps() {
            Some(written) if room => ctx.kept.keep(written),
            _ => return false,
        }
        true
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
