//! The media pipeline: front end, thread spawner, and the threads they start.
//!
//! PRM: volume 4, 1.2 (root and child threads), 2.6.8, 3.3.10, 3.3.11; volume 2 (media) is not at hand: commands,
//! state and payloads are those of intel-vaapi-driver. Not modelled: front end modes other than generic, GPGPU_OBJECT, fences of
//! MEDIA_OBJECT_PRT.

mod groups;
mod payload;
pub mod reader;
mod report;
mod state;
mod threads;
mod walk;
pub mod walker;

use std::collections::VecDeque;

use crate::core::fault::UnitFault;
use crate::intel::machine::Machine;
use crate::intel::shared::spawner::{Member, Request};
use crate::intel::status::Unit;
use crate::intel::td::schedule::{Schedule, Slots, Turns};
use crate::intel::td::{Outcome, Pause, SlotId, Td};
use crate::intel::urb::{Owner, UrbHandle};

pub use payload::Object;
use reader::MediaReader;
pub use state::{Constants, FrontEnd, MediaState};
use threads::{Family, Job};
pub use walk::Walked;
use walk::Walking;

/// How far a step came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Nothing to do.
    Idle,
    /// Something was done.
    Progress,
    /// Work is there, but it waits.
    Blocked,
    /// A fault stopped the pipeline; only a reset helps.
    Dead,
}

/// Root threads that the front end prepares before the spawner can start them. The public text has no number.
const PREPARED: usize = 8;

/// The two stages and their threads.
#[derive(Debug)]
pub struct Media {
    reader: &'static dyn MediaReader,
    /// What commands latched.
    pub state: MediaState,
    front_end: Option<FrontEnd>,
    prepared: VecDeque<Object>,
    /// Synchronised root threads that may start and have not.
    leave: usize,
    families: Vec<Option<Family>>,
    jobs: Vec<Option<Job>>,
    /// A walker that has not given all its objects.
    walking: Option<Walking>,
    /// A grid whose thread groups have not all started.
    grid: Option<groups::Grid>,
    turns: Turns,
    /// Entries that threads kept when they ended: lost until the URB is divided anew.
    kept: Vec<UrbHandle>,
    objects: u32,
    roots: u32,
    /// Families that are there.
    living: usize,
    /// The last step found nothing that could go on.
    stalled: bool,
    /// A MEDIA_OBJECT waits for a URB entry, and no thread lives that could give one back.
    starved: bool,
    dead: bool,
}

impl Media {
    /// The pipeline after reset, for the commands and state of a generation.
    pub fn new(reader: &'static dyn MediaReader) -> Self {
        Media {
            reader,
            state: MediaState::default(),
            front_end: None,
            prepared: VecDeque::new(),
            leave: 0,
            families: Vec::new(),
            jobs: Vec::new(),
            walking: None,
            grid: None,
            turns: Turns::default(),
            kept: Vec::new(),
            objects: 0,
            roots: 0,
            living: 0,
            stalled: false,
            starved: false,
            dead: false,
        }
    }

    /// Reads the commands of the pipeline.
    pub fn reader(&self) -> &'static dyn MediaReader {
        self.reader
    }

    /// Everything as after reset; the schedule stays, from its beginning.
    pub fn reset(&mut self) {
        *self = Media {
            turns: Turns::new(self.turns.schedule()),
            ..Media::new(self.reader)
        };
    }

    /// Chooses the order of turns, from now on.
    pub fn set_schedule(&mut self, schedule: Schedule) {
        self.turns = Turns::new(schedule);
    }

    /// The order of turns.
    pub fn schedule(&self) -> Schedule {
        self.turns.schedule()
    }

    /// Whether there is no thread and none to come.
    pub fn idle(&self) -> bool {
        !self.dead && self.prepared.is_empty() && self.grid.is_none() && self.living == 0
    }

    /// Whether the front end would take another object now.
    pub fn accepts(&self, machine: &Machine<'_>) -> bool {
        let ready = self.front_end.is_some() && !self.state.changed();
        if ready && self.front_end.is_some_and(|front_end| front_end.groups) {
            // A grid has the threads for itself.
            return self.idle();
        }
        !self.dead
            && self.prepared.len() < PREPARED
            && (!ready && self.idle() || ready && machine.urb.available(Owner::Vfe) > 0)
    }

    /// A MEDIA_OBJECT is there that the front end does not accept.
    pub fn refused(&mut self) {
        if self.idle() {
            self.stalled = true;
            self.starved = true;
        }
    }

    /// Does the next piece of work.
    pub fn step(&mut self, td: &mut Td, machine: &mut Machine<'_>) -> Work {
        if self.dead {
            return Work::Dead;
        }
        if self.idle() {
            return Work::Idle;
        }
        match self.start_threads(td, machine) {
            Ok(0) => {}
            Ok(_) => {
                self.stalled = false;
                return Work::Progress;
            }
            Err(fault) => {
                self.dead = true;
                machine.fault(
                    crate::intel::status::Client::InstructionStateCache,
                    fault,
                    || "thread spawner".to_owned(),
                );
                return Work::Dead;
            }
        }
        let mut ready = self.ready(td);
        while let Some((at, turn)) = self.turns.next(&mut ready) {
            let before = *machine.budget;
            let outcome = td.resume_for(SlotId(at), turn, machine);
            let ended = matches!(outcome, Outcome::Done(_));
            if ended {
                self.ended(at, machine);
            }
            self.farewells(machine);
            if ended || *machine.budget < before {
                self.stalled = false;
                return Work::Progress;
            }
        }
        self.stalled = true;
        Work::Blocked
    }

    /// Slots whose threads may get somewhere: those that wait for a gateway do not.
    fn ready(&self, td: &Td) -> Slots {
        let mut ready = 0;
        for (at, job) in self.jobs.iter().enumerate() {
            let slot = SlotId(at as u16);
            if job.is_some() && !matches!(td.pause(slot), Pause::Wait(0) | Pause::Hung) {
                ready |= 1 << at;
            }
        }
        ready
    }

    /// Starts what can be started: children first, then root threads in their order. Comes back with the
    /// number of requests that are done with.
    fn start_threads(
        &mut self,
        td: &mut Td,
        machine: &mut Machine<'_>,
    ) -> Result<usize, UnitFault> {
        let mut done = 0;
        while let Some(request) = machine.shared.spawner.peek() {
            match request {
                Request::Root => self.leave += 1,
                Request::Child(child) => {
                    if !td.has_room(Unit::Media, machine.debug) {
                        return Ok(done);
                    }
                    self.start_child(&child, td, machine)?;
                }
            }
            machine.shared.spawner.take();
            done += 1;
        }
        while let Some(object) = self.prepared.front() {
            let object = *object;
            if object.synchronized && self.leave == 0
                || !td.has_room(Unit::Media, machine.debug)
                || !self.start_root(&object, td, machine)?
            {
                break;
            }
            if object.synchronized {
                self.leave -= 1;
            }
            self.prepared.pop_front();
            done += 1;
        }
        Ok(done + self.start_groups(td, machine)?)
    }

    /// Books the end of the thread in a slot.
    fn ended(&mut self, at: u16, machine: &mut Machine<'_>) {
        let Some(job) = self.jobs.get_mut(usize::from(at)).and_then(Option::take) else {
            return;
        };
        let member = machine.shared.spawner.leave(job.eu, job.slot);
        if let Some(barrier) = machine.shared.groups.leave(job.eu, job.slot) {
            machine.shared.gateway.release_barrier(barrier);
        }
        // The end that the thread has told is among the farewells.
        let told = member.is_some_and(|Member { told, .. }| told);
        if let Some(family) = self.family(job.family) {
            family.running = family.running.saturating_sub(1);
            if !told {
                family.silent += 1;
                family.last_silent = (job.kernel, job.eu, job.slot);
            }
        }
        self.farewells(machine);
        self.bury(job.family, machine);
    }

    /// Books what threads have told the spawner.
    fn farewells(&mut self, machine: &mut Machine<'_>) {
        if !machine.shared.spawner.has_news() {
            return;
        }
        let news: Vec<_> = machine.shared.spawner.farewells().collect();
        for farewell in news {
            if let Some(family) = self.family(farewell.family) {
                family.members = family.members.saturating_sub(1);
                if farewell.release
                    && let Some(entry) = family.entry.take()
                {
                    machine.urb.release(entry);
                }
            }
            self.bury(farewell.family, machine);
        }
    }

    /// Forgets a family of which nothing is left.
    fn bury(&mut self, number: u8, machine: &Machine<'_>) {
        let Some(family) = self.family(number) else {
            return;
        };
        if family.members == 0 && family.running == 0 && machine.shared.spawner.wanted(number) == 0
        {
            let entry = family.entry.take();
            self.kept.extend(entry);
            if let Some(place) = self.families.get_mut(usize::from(number)) {
                *place = None;
                self.living -= 1;
            }
        }
    }

    fn family(&mut self, number: u8) -> Option<&mut Family> {
        self.families.get_mut(usize::from(number))?.as_mut()
    }
}

#[cfg(test)]
mod tests;
