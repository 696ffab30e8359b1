//! The 3D fixed functions and the order in which they pass their work on.
//!
//! PRM: volume 2, 3D pipeline. Stages never call one another: this file moves vertices and objects
//! between their queues, downstream first, one unit of work at a time, so that the pipeline can
//! stop and go on at any point.

pub mod cl;
pub mod gs;
pub mod payload;
pub mod reader;
pub mod sf;
pub mod spawn;
pub mod state;
pub mod topology;
pub mod vf;
pub mod vs;
pub mod windower;
pub mod wiz;

use std::collections::VecDeque;

use crate::core::fault::UnitFault;
use crate::intel::machine::Machine;
use crate::intel::td::Td;
use crate::intel::urb::Owner;

use reader::PipelineReader;
use state::{DrawState, PipelineState, Primitive};
use topology::{Object, StreamVertex};
use windower::Windower;

/// How far a step of a unit came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing to do.
    Idle,
    /// Something was done.
    Progress,
    /// Work is there, but it must wait: for time, a thread, or a URB entry.
    Blocked,
    /// A fault stopped the unit; only a reset helps.
    Dead,
}

/// Ticks of a 3DPRIMITIVE besides what it draws: fetching the state of all units.
const PRIMITIVE_TICKS: u64 = 128;

/// Pieces of work in a row, before the device looks at its other units.
const ROUNDS: u32 = 64;

/// The pipeline: stages and the queues between them.
#[derive(Debug)]
pub struct Pipeline {
    reader: &'static dyn PipelineReader,
    /// Latched state.
    pub state: PipelineState,
    draw: Option<Box<DrawState>>,
    dead: bool,
    vf: vf::Vf,
    vs: vs::Vs,
    gs: gs::Gs,
    cl: cl::Cl,
    sf: sf::Sf,
    windower: Windower,
    shaded: VecDeque<StreamVertex>,
    geometry: VecDeque<StreamVertex>,
    objects: VecDeque<Object>,
}

impl Pipeline {
    /// A pipeline after reset, for the commands and state of a generation.
    pub fn new(reader: &'static dyn PipelineReader) -> Self {
        Pipeline {
            reader,
            state: PipelineState::default(),
            draw: None,
            dead: false,
            vf: vf::Vf::default(),
            vs: vs::Vs::default(),
            gs: gs::Gs::default(),
            cl: cl::Cl::default(),
            sf: sf::Sf::default(),
            windower: Windower::default(),
            shaded: VecDeque::new(),
            geometry: VecDeque::new(),
            objects: VecDeque::new(),
        }
    }

    /// Reads commands and state of the device's generation.
    pub fn reader(&self) -> &'static dyn PipelineReader {
        self.reader
    }

    /// Whether no primitive is in work.
    pub fn idle(&self) -> bool {
        self.draw.is_none() && !self.dead
    }

    /// Whether a fault stopped the pipeline.
    pub fn dead(&self) -> bool {
        self.dead
    }

    /// Everything as after reset.
    pub fn reset(&mut self) {
        *self = Pipeline::new(self.reader);
    }

    /// Loads the running line stipple counters from the latched state.
    pub fn load_line_stipple(&mut self) {
        self.windower.load_line_stipple(self.reader, &self.state);
    }

    /// The running line stipple counter, in pixels.
    pub fn line_stipple_counter(&self) -> u32 {
        self.windower.line_stipple_counter()
    }

    /// Takes up a 3DPRIMITIVE.
    pub fn start(
        &mut self,
        command: &Primitive,
        machine: &mut Machine<'_>,
    ) -> Result<(), UnitFault> {
        machine.charge(PRIMITIVE_TICKS);
        let draw = self.reader.units(machine.mem, &self.state)?;
        let partitions = [
            (Owner::Vs, Some(&draw.vs.unit)),
            (Owner::Gs, draw.gs.as_ref().map(|gs| &gs.unit)),
            (Owner::Clip, draw.clip.as_ref().map(|clip| &clip.unit)),
            (Owner::Sf, Some(&draw.sf.unit)),
        ];
        for (owner, unit) in partitions {
            if let Some(unit) = unit {
                machine
                    .urb
                    .partition(owner, unit.urb_entries, unit.urb_entry_rows);
            }
        }
        self.windower.start(self.reader, &self.state, machine)?;
        let elements = self.reader.vertex_elements(&self.state);
        let cache = !draw.vs.vertex_cache_disable;
        self.vf
            .start(command, &self.state, &elements, cache, machine)?;
        self.draw = Some(Box::new(draw));
        Ok(())
    }

    /// Does the next pieces of work, downstream first.
    #[inline]
    pub fn step(&mut self, td: &mut Td, machine: &mut Machine<'_>) -> Step {
        if self.dead {
            return Step::Dead;
        }
        match self.draw.take() {
            Some(draw) => self.go_on(draw, td, machine),
            None => Step::Idle,
        }
    }

    fn go_on(&mut self, draw: Box<DrawState>, td: &mut Td, machine: &mut Machine<'_>) -> Step {
        // Half of the slice is left to the last piece, so that no thread is cut short for those before it.
        let reserve = *machine.budget / 2;
        // While a trace or a debugger watches, the device goes on after each piece of work.
        let watched = machine.trace.is_on() || !machine.debug.quiet();
        let mut rounds = if watched { 1 } else { ROUNDS };
        let step = loop {
            let step = self.stages(&draw, td, machine);
            if step != Step::Progress {
                break step;
            }
            // A piece of work moves vertices or objects from one queue to the next.
            machine.charge(1);
            rounds -= 1;
            if rounds == 0 || *machine.budget <= reserve {
                break step;
            }
        };
        match step {
            Step::Dead => self.dead = true,
            Step::Idle => {
                self.gs.finish(machine);
                self.cl.finish(machine);
                self.windower.finish(machine);
            }
            Step::Progress | Step::Blocked => {}
        }
        if step == Step::Idle {
            // The draw is over.
            return Step::Progress;
        }
        self.draw = Some(draw);
        step
    }

    /// One step of the stage furthest down that can move. A blocked stage lets the stages above
    /// it go on as long as there is room between them.
    fn stages(&mut self, draw: &DrawState, td: &mut Td, machine: &mut Machine<'_>) -> Step {
        let (layout, curbe) = (self.reader.layout(), self.state.curbe);
        let mut blocked = false;

        match self.windower.step(layout, curbe, td, machine) {
            Step::Idle => {
                let (step, primitive) =
                    self.sf
                        .step(draw, layout, curbe, &mut self.objects, td, machine);
                if let Some(primitive) = primitive {
                    return self.windower.begin(&primitive, layout, curbe, td, machine);
                }
                match step {
                    Step::Idle => {}
                    Step::Blocked => blocked = true,
                    step => return step,
                }
            }
            Step::Blocked => blocked = true,
            step => return step,
        }
        // A thread that ran out of time is resumed before anything else is started.
        if blocked && *machine.budget == 0 {
            return Step::Blocked;
        }
        if self.objects.is_empty() {
            match self.cl.step(
                draw,
                layout,
                curbe,
                &mut self.geometry,
                &mut self.objects,
                td,
                machine,
            ) {
                Step::Idle => {}
                Step::Blocked => blocked = true,
                step => return step,
            }
        }
        if self.geometry.is_empty() {
            let (input, out) = (&mut self.shaded, &mut self.geometry);
            match self.gs.step(draw, layout, curbe, input, out, td, machine) {
                Step::Idle => {}
                Step::Blocked => blocked = true,
                step => return step,
            }
        }
        if !self.shaded.is_empty() {
            return if blocked {
                Step::Blocked
            } else {
                Step::Progress
            };
        }
        if !self.vs.full() {
            match self.vf.step(self.vs.fresh() as u32, machine) {
                Ok(fetched) => {
                    self.vs.push(fetched);
                    return Step::Progress;
                }
                Err(Step::Dead) => return Step::Dead,
                // Out of vertices, or out of URB entries: shade what is there.
                Err(_) => {}
            }
        }
        match self
            .vs
            .step(draw, layout, curbe, &mut self.shaded, td, machine)
        {
            Step::Idle if blocked || self.vf.busy() => Step::Blocked,
            Step::Idle => self.drained(),
            step => step,
        }
    }

    /// No stage could do anything: the draw is over when no stage holds work.
    fn drained(&self) -> Step {
        let busy = self.vs.busy()
            || self.gs.busy()
            || self.cl.busy()
            || self.sf.busy()
            || self.windower.busy()
            || !self.objects.is_empty();
        if busy { Step::Blocked } else { Step::Idle }
    }

    /// Names of the units that have work, for INSTDONE.
    pub fn busy_units(&self) -> BusyUnits {
        let any = self.draw.is_some() || self.dead;
        BusyUnits {
            vf: any && (self.vf.busy() || self.dead),
            vs: self.vs.busy(),
            gs: self.gs.busy(),
            cl: self.cl.busy(),
            sf: self.sf.busy() || !self.objects.is_empty(),
            wm: self.windower.busy(),
        }
    }
}

/// Which units are not done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the units' names")]
pub struct BusyUnits {
    pub vf: bool,
    pub vs: bool,
    pub gs: bool,
    pub cl: bool,
    pub sf: bool,
    pub wm: bool,
}
