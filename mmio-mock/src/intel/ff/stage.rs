//! A fixed function as a stage of the pipeline, asked for one step at a time.
//!
//! A stage knows the links above and below it, and no other stage. The order is the matter of a generation's list
//! ([`PipelineReader::stages`](super::reader::PipelineReader::stages)), the walk over it that of [`List`](super::list::List).

use std::fmt::Debug;

use super::Step;
use super::kept::Kept;
use super::link::{Cargo, Link};
use super::payload::{PayloadLayout, StreamIndices};
use super::reader::{PipelineReader, StreamIndex};
use super::state::windower::LineStipple;
use super::state::{Curbe, DrawState, PipelineState, Primitive, UnitConfig};
use crate::core::fault::UnitFault;
use crate::intel::machine::Machine;
use crate::intel::status::Busy;
use crate::intel::td::Td;
use crate::intel::urb::Owner;

/// What a 3DPRIMITIVE begins with.
#[derive(Clone, Copy)]
pub struct StartContext<'a> {
    /// The command.
    pub command: &'a Primitive,
    /// Reads state of the device's generation.
    pub reader: &'static dyn PipelineReader,
    /// Latched state.
    pub state: &'a PipelineState,
    /// State of the units for this draw.
    pub draw: &'a DrawState,
}

/// What a stage works with during one step.
pub struct StepContext<'a, 'm> {
    /// State of the units for this draw.
    pub draw: &'a DrawState,
    /// Lays out the first registers of threads.
    pub layout: &'static dyn PayloadLayout,
    /// Constants of threads.
    pub curbe: Option<Curbe>,
    /// Runs threads.
    pub td: &'a mut Td,
    /// The machine around the pipeline.
    pub machine: &'a mut Machine<'m>,
    /// Pieces of work that follow the present one before the device looks at its other units.
    pub rounds: u32,
    /// Ticks of the slice that are not for them.
    pub reserve: u64,
    /// Pixel threads that wait while the stages above the windower go on; they end before the device looks at its other units.
    pub kept: Kept,
}

impl StepContext<'_, '_> {
    /// Whether threads that are kept have to end before a unit starts a thread.
    #[inline]
    pub fn must_settle(&mut self, unit: &UnitConfig) -> bool {
        if !self.kept.any() {
            return false;
        }
        self.kept.meets_thread(unit, self.td, self.machine)
    }

    /// Takes up a further piece of work, as the pipeline does between two steps; `false` when the device is to look at its other
    /// units first. `owed`: ticks that have been used and not charged.
    #[inline]
    pub fn go_on(&mut self, owed: u64) -> bool {
        go_on(&mut self.rounds, self.reserve, owed, self.machine)
    }
}

/// [`StepContext::go_on`] for a stage that has lent parts of it.
#[inline]
pub fn go_on(rounds: &mut u32, reserve: u64, owed: u64, machine: &mut Machine<'_>) -> bool {
    // As the pipeline would count after the present piece: one tick, and one round less.
    if *rounds <= 1 || *machine.budget <= reserve.saturating_add(owed) + 1 {
        return false;
    }
    machine.charge(PIECE_TICKS);
    *rounds -= 1;
    true
}

/// Ticks of a piece of work, which moves vertices or objects from one queue to the next.
pub const PIECE_TICKS: u64 = 1;

/// A fixed function of the 3D pipeline.
pub trait Stage: Debug + Send {
    /// Which part of the device it is, for INSTDONE.
    fn part(&self) -> Busy;

    /// What it understands of the link above it; nothing for the first stage.
    fn takes(&self) -> &'static [Cargo];

    /// What it puts into the link below it; nothing for the last stage.
    fn gives(&self) -> &'static [Cargo];

    /// Whether it is switched off for a draw: the list goes past it, and the stage above it hands what it has to the one below.
    fn off(&self, _draw: &DrawState) -> bool {
        false
    }

    /// Its section of the URB and the state that says how the section is cut; `None` while it needs no entries.
    fn section<'a>(&self, _draw: &'a DrawState) -> Option<(Owner, &'a UnitConfig)> {
        None
    }

    /// Latches the state of a draw.
    fn start(
        &mut self,
        _ctx: &StartContext<'_>,
        _machine: &mut Machine<'_>,
    ) -> Result<(), UnitFault> {
        Ok(())
    }

    /// Whether the stage above may go on while this one cannot: it is blocked, or there is no room below it. An idle stage
    /// is not asked, because it has room.
    fn room(&self, _input: &Link) -> bool {
        false
    }

    /// Does one piece of work: a vertex, an object, a share of a primitive, a time slice of a thread. A stage that starts
    /// a thread for several things at once is [`Step::Idle`] while it waits for more of them.
    fn step(&mut self, input: &mut Link, out: &mut Link, ctx: &mut StepContext<'_, '_>) -> Step;

    /// Goes on with the few things that it has: no stage above it can bring more now. Asked after a
    /// [`Step::Idle`] of [`Self::step`] only.
    fn step_short(
        &mut self,
        _input: &mut Link,
        _out: &mut Link,
        _ctx: &mut StepContext<'_, '_>,
    ) -> Step {
        Step::Idle
    }

    /// Takes up what the stage above has just put into the link, within the same piece of work.
    fn take_up(&mut self, _input: &mut Link, _ctx: &mut StepContext<'_, '_>) -> Step {
        Step::Progress
    }

    /// Whether its thread that a time slice has cut short goes on before the stages above do anything.
    fn resumes_first(&self) -> bool {
        false
    }

    /// Whether it has work.
    fn busy(&self, input: &Link) -> bool;

    /// Ends threads that it has kept waiting; `false` while one of them lives on, or has no slot.
    fn settle(&mut self, _ctx: &mut StepContext<'_, '_>) -> bool {
        true
    }

    /// The draw is over: drops what is incomplete.
    fn finish(&mut self, _machine: &mut Machine<'_>) {}

    /// Loads the running line stipple counter (3DSTATE_LINE_STIPPLE with Modify Enable).
    fn load_line_stipple(&mut self, _stipple: &LineStipple) {}

    /// Depth buffers may be other ones, or have been changed by others.
    fn depth_changed(&mut self) {}

    /// Loads the index of a streamed vertex buffer (3DSTATE_GS_SVB_INDEX).
    fn load_stream_index(&mut self, _index: &StreamIndex) {}

    /// The running indices of the streamed vertex buffers, of the stage that counts them.
    fn stream_indices(&self) -> Option<StreamIndices> {
        None
    }

    /// The running line stipple counter, in pixels, of the stage that has it.
    fn line_stipple_counter(&self) -> Option<u32> {
        None
    }
}

/// Makes a stage as it is after reset: an entry of a generation's list.
pub type MakeStage = fn() -> Box<dyn Stage>;

/// The entry of a list for a fixed function.
pub fn stage<S: Stage + Default + 'static>() -> Box<dyn Stage> {
    Box::<S>::default()
}
