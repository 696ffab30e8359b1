//! The 3D fixed functions: a pipeline runs the list of stages of its generation.
//!
//! PRM: volume 2, 3D pipeline. Stages never call one another: a list moves vertices and objects
//! between them, downstream first, one piece of work at a time, so that the pipeline can
//! stop and go on at any point.

pub mod cl;
pub mod clipper;
pub mod ds;
pub mod gs;
pub mod gs_entry;
pub mod hs;
pub mod kept;
pub mod link;
pub mod list;
pub mod payload;
pub mod reader;
pub mod setup;
pub mod sf;
pub mod sol;
pub mod spawn;
pub mod stage;
pub mod state;
pub mod te;
pub mod topology;
pub mod vf;
pub mod vs;
pub mod windower;
pub mod wiz;

use crate::core::fault::UnitFault;
use crate::intel::machine::Machine;
use crate::intel::status::Busy;
use crate::intel::td::Td;
use crate::intel::urb::Urb;

use kept::Kept;
use list::{BusyParts, List};
use payload::StreamIndices;
use reader::PipelineReader;
use stage::{PIECE_TICKS, Stage, StartContext, StepContext};
use state::{DrawState, PipelineState, Primitive};

/// How far a step of a unit came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing to do.
    Idle,
    /// Something was done.
    Progress,
    /// Work is there, but it must wait: for time, a thread, or a URB entry.
    Blocked,
    /// Work is there, and threads that are kept waiting have to end before it: nothing has been done.
    Settle,
    /// A fault stopped the unit; only a reset helps.
    Dead,
}

/// Ticks of a 3DPRIMITIVE besides what it draws: fetching the state of all units.
const PRIMITIVE_TICKS: u64 = 128;

/// Pieces of work in a row, before the device looks at its other units.
const ROUNDS: u32 = 1 << 12;

/// The pipeline: latched state, the draw in work, and the stages.
#[derive(Debug)]
pub struct Pipeline {
    reader: &'static dyn PipelineReader,
    /// Latched state.
    pub state: PipelineState,
    draw: Option<Box<DrawState>>,
    dead: bool,
    /// Nothing moves though there was time, and no thread is alive that could change it: those that are wait for one another.
    stands: bool,
    list: List,
}

impl Pipeline {
    /// A pipeline after reset, with the stages of a generation and for its commands and state.
    pub fn new(reader: &'static dyn PipelineReader) -> Self {
        Pipeline {
            reader,
            state: PipelineState::default(),
            draw: None,
            dead: false,
            stands: false,
            list: List::new(reader.stages()),
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

    /// Loads the running line stipple counter from the latched state.
    pub fn load_line_stipple(&mut self) {
        let stipple = self.reader.line_stipple(&self.state);
        for stage in self.list.stages_mut() {
            stage.load_line_stipple(&stipple);
        }
    }

    /// Depth buffers may be other ones, or have been changed by others: what a stage knows of them is forgotten.
    pub fn depth_changed(&mut self) {
        for stage in self.list.stages_mut() {
            stage.depth_changed();
        }
    }

    /// Loads the index of a streamed vertex buffer from its command.
    pub fn load_stream_index(&mut self, command: &[u32]) {
        if let Some(index) = self.reader.stream_index(command) {
            for stage in self.list.stages_mut() {
                stage.load_stream_index(&index);
            }
        }
    }

    /// The running indices of the streamed vertex buffers, where a stage counts them.
    pub fn stream_indices(&self) -> Option<StreamIndices> {
        self.list.stages().find_map(Stage::stream_indices)
    }

    /// The running line stipple counter, in pixels.
    pub fn line_stipple_counter(&self) -> u32 {
        let mut counters = self.list.stages().map(Stage::line_stipple_counter);
        counters.find_map(|counter| counter).unwrap_or(0)
    }

    /// Takes up a 3DPRIMITIVE.
    pub fn start(
        &mut self,
        command: &Primitive,
        machine: &mut Machine<'_>,
    ) -> Result<(), UnitFault> {
        machine.charge(PRIMITIVE_TICKS);
        let draw = self.reader.units(machine.mem, &self.state)?;
        let ctx = StartContext {
            command,
            reader: self.reader,
            state: &self.state,
            draw: &draw,
        };
        self.list.start(&ctx, machine)?;
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
        // A part of the slice is left to the last piece, so that no thread is cut short for those before it.
        let reserve = *machine.budget / 8;
        // While a trace or a debugger watches, the device goes on after each piece of work.
        let watched = machine.trace.is_on() || !machine.debug.quiet();
        let mut ctx = StepContext {
            draw: &draw,
            layout: self.reader.layout(),
            curbe: self.state.curbe,
            td,
            machine,
            rounds: if watched { 1 } else { ROUNDS },
            reserve,
            kept: Kept::default(),
        };
        let mut step = loop {
            let step = self.list.step(&mut ctx);
            if step != Step::Progress {
                break step;
            }
            ctx.machine.charge(PIECE_TICKS);
            ctx.rounds -= 1;
            if ctx.rounds == 0 || *ctx.machine.budget <= reserve {
                break step;
            }
        };
        let settled = self.list.settle(&mut ctx);
        if settled && step == Step::Blocked && !self.list.busy() {
            // Nothing was left but the threads that were kept.
            step = Step::Idle;
        }
        // Without time nothing is learnt of what could go on.
        let had_time = *ctx.machine.budget > 0 || self.stands;
        self.stands = step == Step::Blocked && had_time && ctx.td.waits_for_itself();
        match step {
            Step::Dead => self.dead = true,
            Step::Idle => {
                // The draw is over.
                self.list.finish(ctx.machine);
                return Step::Progress;
            }
            Step::Progress | Step::Blocked | Step::Settle => {}
        }
        self.draw = Some(draw);
        step
    }

    /// What keeps a draw from going on when no thread does so: stages with work, and what they have of the URB.
    pub fn waits(&self, urb: &Urb) -> Option<String> {
        let draw = self.draw.as_ref().filter(|_| self.stands)?;
        let parts = self.list.busy_parts();
        let stages = self.list.stages().map(Stage::part);
        let names: Vec<&str> = stages
            .filter(|part| parts.has(*part))
            .map(Busy::name)
            .collect();
        let sections = self.list.stages().filter_map(|stage| {
            let (owner, _) = stage.section(draw)?;
            let (name, all, free) = (
                stage.part().name(),
                urb.entries(owner),
                urb.available(owner),
            );
            Some(format!("{name} has {all} URB entries, {free} of them free"))
        });
        let sections: Vec<String> = sections.collect();
        Some(format!(
            "3D pipeline: {} cannot go on, and no thread can change that; {}",
            names.join(", "),
            sections.join("; ")
        ))
    }

    /// Which stages are not done, for INSTDONE. Once a fault has stopped the pipeline, the first stage never gets done.
    pub fn busy_parts(&self) -> BusyParts {
        let mut busy = self.list.busy_parts();
        if self.dead
            && let Some(first) = self.list.first()
        {
            busy.add(first);
        }
        busy
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
