//! The stages of a pipeline in their order, and the walk that moves work down.
//!
//! PRM: volume 2, 3D pipeline. Which stages there are is the matter of a generation.

use super::Step;
use super::link::{Cargo, Link};
use super::stage::{MakeStage, Stage, StartContext, StepContext};
use crate::core::fault::UnitFault;
use crate::intel::machine::Machine;
use crate::intel::status::Busy;

/// A stage and the link above it.
#[derive(Debug)]
struct Place {
    stage: Box<dyn Stage>,
    input: Link,
    /// The present walk found nothing to do here.
    idle: bool,
    /// The stage has no part in the draw.
    off: bool,
}

/// Stages and the links between them.
#[derive(Debug)]
pub struct List {
    /// The last stage of the pipeline comes first.
    places: Vec<Place>,
    /// Below the last stage. Its results go elsewhere, so this link stays empty.
    end: Link,
}

impl List {
    /// The stages of a generation after reset. `makes` has them in the order in which vertices pass them.
    pub fn new(makes: &[MakeStage]) -> Self {
        Self::of(makes.iter().map(|make| make()))
    }

    fn of(stages: impl DoubleEndedIterator<Item = Box<dyn Stage>>) -> Self {
        let place = |stage| Place {
            stage,
            input: Link::default(),
            idle: false,
            off: false,
        };
        List {
            places: stages.rev().map(place).collect(),
            end: Link::default(),
        }
    }

    /// A stage that does not understand all that the stage above it hands on; `None` in a list whose stages fit.
    pub fn misfit(&self) -> Option<Busy> {
        let mut above: &[Cargo] = &[];
        for stage in self.stages() {
            let takes = stage.takes();
            if !above.iter().all(|cargo| takes.contains(cargo)) {
                return Some(stage.part());
            }
            above = stage.gives();
        }
        None
    }

    /// The stages, in the order in which vertices pass them.
    pub fn stages(&self) -> impl DoubleEndedIterator<Item = &dyn Stage> {
        self.places.iter().rev().map(|place| &*place.stage)
    }

    /// The same, to be changed.
    pub fn stages_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Box<dyn Stage>> {
        self.places.iter_mut().rev().map(|place| &mut place.stage)
    }

    /// Gives every stage its section of the URB, and then, the last stage first, the state of the draw.
    pub fn start(
        &mut self,
        ctx: &StartContext<'_>,
        machine: &mut Machine<'_>,
    ) -> Result<(), UnitFault> {
        for stage in self.stages() {
            if let Some((owner, unit)) = stage.section(ctx.draw) {
                let (entries, rows) = (unit.urb_entries, unit.urb_entry_rows);
                machine.urb.partition(owner, entries, rows);
            }
        }
        self.places.iter_mut().try_for_each(|place| {
            place.off = place.stage.off(ctx.draw);
            if place.off {
                Ok(())
            } else {
                place.stage.start(ctx, machine)
            }
        })
    }

    /// One step of the stage furthest down that can move. A blocked stage lets the stages above it go on as long as there
    /// is room between them. [`Step::Idle`] when no stage has work.
    #[inline]
    pub fn step(&mut self, ctx: &mut StepContext<'_, '_>) -> Step {
        match self.walk(ctx) {
            Step::Settle => {
                // With nothing kept no stage asks for it again.
                self.settle(ctx);
                match self.walk(ctx) {
                    Step::Settle => Step::Blocked,
                    step => step,
                }
            }
            step => step,
        }
    }

    /// Ends the threads that are kept; `false` while one of them lives on.
    pub fn settle(&mut self, ctx: &mut StepContext<'_, '_>) -> bool {
        if !ctx.kept.any() {
            return true;
        }
        let mut settled = true;
        for place in &mut self.places {
            settled &= place.stage.settle(ctx);
        }
        ctx.kept.end();
        settled
    }

    #[inline]
    fn walk(&mut self, ctx: &mut StepContext<'_, '_>) -> Step {
        let (mut room, mut blocked) = (true, false);
        let mut below: Option<&mut Box<dyn Stage>> = None;
        let mut out = &mut self.end;
        let on = self.places.iter_mut().filter(|place| !place.off);
        for Place {
            stage, input, idle, ..
        } in on
        {
            *idle = room
                && match stage.step(input, out, ctx) {
                    Step::Idle => true,
                    Step::Blocked => {
                        blocked = true;
                        if *ctx.machine.budget == 0 && stage.resumes_first() {
                            return Step::Blocked;
                        }
                        false
                    }
                    Step::Progress => return take_up(below, out, ctx),
                    step @ (Step::Dead | Step::Settle) => return step,
                };
            // A stage that has nothing to do has room.
            room = *idle || stage.room(input);
            (below, out) = (Some(stage), input);
        }
        match self.step_short(ctx) {
            Step::Idle if blocked || self.busy() => Step::Blocked,
            step => step,
        }
    }

    /// Nothing moves down. A stage that waits for more goes on with what it has. The topmost is first: what it puts out may
    /// be what another one waits for.
    fn step_short(&mut self, ctx: &mut StepContext<'_, '_>) -> Step {
        let mut result = Step::Idle;
        let mut places = self.places.as_mut_slice();
        while let Some((
            Place {
                stage,
                input,
                idle,
                off,
            },
            rest,
        )) = places.split_last_mut()
        {
            if *idle && !*off {
                let next = rest.iter_mut().rev().find(|place| !place.off);
                let (below, out) = match next {
                    Some(place) => (Some(&mut place.stage), &mut place.input),
                    None => (None, &mut self.end),
                };
                match stage.step_short(input, out, ctx) {
                    Step::Idle => {}
                    Step::Blocked => result = Step::Blocked,
                    Step::Progress => return take_up(below, out, ctx),
                    step @ (Step::Dead | Step::Settle) => return step,
                }
            }
            places = rest;
        }
        result
    }

    /// Whether a stage has work.
    pub fn busy(&self) -> bool {
        let mut places = self.places.iter();
        places.any(|place| place.stage.busy(&place.input))
    }

    /// The stages that have work.
    pub fn busy_parts(&self) -> BusyParts {
        let mut busy = BusyParts::default();
        for place in &self.places {
            if place.stage.busy(&place.input) {
                busy.add(place.stage.part());
            }
        }
        busy
    }

    /// The stage that vertices enter first.
    pub fn first(&self) -> Option<Busy> {
        self.stages().next().map(Stage::part)
    }

    /// The draw is over, the first stage comes first.
    pub fn finish(&mut self, machine: &mut Machine<'_>) {
        self.stages_mut().for_each(|stage| stage.finish(machine));
    }
}

/// The stage below one that has moved takes up what it got.
#[inline]
fn take_up(
    below: Option<&mut Box<dyn Stage>>,
    link: &mut Link,
    ctx: &mut StepContext<'_, '_>,
) -> Step {
    below.map_or(Step::Progress, |stage| stage.take_up(link, ctx))
}

/// Parts of the device that are not done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusyParts(u32);

impl BusyParts {
    /// Adds a part.
    pub fn add(&mut self, part: Busy) {
        self.0 |= 1 << part as u32;
    }

    /// Whether a part has work.
    pub fn has(self, part: Busy) -> bool {
        self.0 >> part as u32 & 1 == 1
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
