//! Geometry shader unit whose threads write all their vertices into one entry.
//!
//! Fields from genxml gen7 3DSTATE_GS; how objects and instances share a thread, and where it leaves its vertices: Mesa 22.3.6
//! brw_vec4_gs_visitor.cpp (`setup_varying_inputs`, `brw_compile_gs`), brw_vec4_generator.cpp `generate_gs_set_vertex_count`.
//! Not modelled: several threads in flight at once, the semaphore.

mod dispatch;
mod output;

use std::collections::VecDeque;

use super::Step;
use super::link::{Cargo, Link, Streamed};
use super::payload::PATCH_VERTICES;
use super::stage::{Stage, StartContext, StepContext};
use super::state::geometry::{Dispatch, GeometryState};
use super::state::{DrawState, UnitConfig};
use super::topology::{Assembler, OBJECT_VERTICES, Object, StreamVertex, Topology, primitives};
use crate::core::fault::UnitFault;
use crate::intel::debug::{SnapshotUnit, ThreadDebug};
use crate::intel::machine::Machine;
use crate::intel::status::{Busy, Unit};
use crate::intel::td::{Outcome, SlotId};
use crate::intel::trace::{Event, Part};
use crate::intel::urb::{Owner, Urb, UrbHandle};
use dispatch::dispatch;
use output::Left;

/// An object that waits for its threads. It owns a reference to each of its vertices.
#[derive(Clone, Copy, Debug)]
struct Input {
    vertices: [UrbHandle; PATCH_VERTICES],
    /// Where the first of them came from, for snapshots.
    origins: [u32; OBJECT_VERTICES],
    count: usize,
    /// Code of its topology.
    topology: u8,
    /// Number in its draw.
    number: u32,
}

impl Input {
    fn handles(&self) -> &[UrbHandle] {
        // PANIC: the lesser of the two.
        &self.vertices[..self.count.min(PATCH_VERTICES)]
    }

    fn release(&self, urb: &mut Urb) {
        for &handle in self.handles() {
            urb.release(handle);
        }
    }
}

/// A thread in flight.
#[derive(Clone, Copy, Debug)]
struct Job {
    slot: SlotId,
    /// The entries of the two halves of its channels.
    entries: [Option<UrbHandle>; 2],
    /// Vertices that it says it has written into them.
    counts: [u16; 2],
    /// Number of the thread, for tags.
    id: u32,
}

/// The geometry shader unit.
#[derive(Clone, Debug, Default)]
pub struct GsEntry {
    assembler: Assembler,
    /// The vertices of a patch that is not complete.
    patch: Vec<StreamVertex>,
    /// Number of the next patch.
    patches: u32,
    objects: VecDeque<Input>,
    /// Objects at the front of the queue that share threads; 0: not chosen yet.
    together: usize,
    /// The next of their instances.
    instance: u8,
    job: Option<Job>,
    /// Debug side of the thread to come, kept while a slot is waited for: a thread has one number.
    numbered: Option<ThreadDebug>,
}

impl Stage for GsEntry {
    fn part(&self) -> Busy {
        Busy::Gs
    }

    fn takes(&self) -> &'static [Cargo] {
        &[Cargo::Vertices]
    }

    fn gives(&self) -> &'static [Cargo] {
        &[Cargo::Streams]
    }

    fn off(&self, draw: &DrawState) -> bool {
        draw.geometry.is_none()
    }

    fn section<'a>(&self, draw: &'a DrawState) -> Option<(Owner, &'a UnitConfig)> {
        let state = draw.geometry.as_ref()?;
        Some((Owner::Gs, &state.unit))
    }

    fn start(
        &mut self,
        ctx: &StartContext<'_>,
        machine: &mut Machine<'_>,
    ) -> Result<(), UnitFault> {
        self.patches = 0;
        let Some(state) = &ctx.draw.geometry else {
            return Ok(());
        };
        let topology = state.topology.map_err(|code| code.to_string());
        let is_patch = |topology: Topology| topology.patch().is_some();
        if topology
            .as_ref()
            .map_or(true, |&topology| is_patch(topology))
        {
            return Err(UnitFault::Command {
                unit: "GS",
                what: format!("3DSTATE_GS with output topology {topology:?}"),
            });
        }
        machine.urb.share(Owner::Gs, true);
        Ok(())
    }

    fn room(&self, input: &Link) -> bool {
        input.vertices.is_empty()
    }

    /// Makes objects of vertices, and runs threads for these.
    fn step(&mut self, input: &mut Link, out: &mut Link, ctx: &mut StepContext<'_, '_>) -> Step {
        let Some(state) = &ctx.draw.geometry else {
            return Step::Idle;
        };
        if self.job.is_some() {
            return self.resume(state, &mut out.streams, ctx);
        }
        let wanted = match state.dispatch {
            Dispatch::DualObject => 2,
            Dispatch::Single | Dispatch::DualInstance => 1,
        };
        if self.together > 0 || self.objects.len() >= wanted {
            return self.run(state, wanted, &mut out.streams, ctx);
        }
        let Some(vertex) = input.vertices.pop_front() else {
            return Step::Idle;
        };
        self.assemble(vertex, state, ctx.draw, ctx.machine);
        Step::Progress
    }

    /// An object whose company does not come has a thread of its own.
    fn step_short(
        &mut self,
        _input: &mut Link,
        out: &mut Link,
        ctx: &mut StepContext<'_, '_>,
    ) -> Step {
        match &ctx.draw.geometry {
            Some(state) if !self.objects.is_empty() => self.run(state, 1, &mut out.streams, ctx),
            _ => Step::Idle,
        }
    }

    fn busy(&self, _input: &Link) -> bool {
        self.job.is_some() || !self.objects.is_empty()
    }

    /// Drops an unfinished primitive at the end of a draw.
    fn finish(&mut self, machine: &mut Machine<'_>) {
        self.assembler.flush(machine.urb);
        for vertex in self.patch.drain(..) {
            machine.urb.release(vertex.handle);
        }
    }
}

/// An object as threads get it: the vertices of odd triangles of strips go round as those of even ones do.
fn oriented(mut object: Object, leading: bool) -> Object {
    if object.topology == Topology::TriStripReverse && object.count == 3 {
        let (a, b) = if leading { (1, 2) } else { (0, 1) };
        object.vertices.swap(a, b);
        object.tags.swap(a, b);
    }
    object
}

impl GsEntry {
    /// Takes a vertex, which may complete objects.
    fn assemble(
        &mut self,
        vertex: StreamVertex,
        state: &GeometryState,
        draw: &DrawState,
        machine: &mut Machine<'_>,
    ) {
        let count = if let Some(size) = vertex.topology.patch() {
            self.patch(vertex, size, machine.urb)
        } else {
            self.assembler
                .keep_adjacent(!state.discard_adjacency, state.leading);
            self.assembler.convert(true);
            let objects = self.assembler.push(vertex, machine.urb);
            for object in objects.iter().flatten() {
                let object = oriented(*object, state.leading);
                let mut input = Input {
                    vertices: [UrbHandle(0); PATCH_VERTICES],
                    origins: object.tags.map(|tag| tag.origin),
                    count: object.handles().len(),
                    topology: object.topology as u8,
                    number: object.number,
                };
                for (to, &from) in input.vertices.iter_mut().zip(object.handles()) {
                    *to = from;
                }
                self.objects.push_back(input);
            }
            primitives(&objects)
        };
        if draw.counted_by(Busy::Gs) {
            let primitives = &mut machine.status.statistics.ia_primitives;
            *primitives = primitives.wrapping_add(count);
        }
    }

    /// Takes a vertex of a patch; comes back with how many patches it completes.
    fn patch(&mut self, vertex: StreamVertex, size: usize, urb: &mut Urb) -> u64 {
        if vertex.start {
            for vertex in self.patch.drain(..) {
                urb.release(vertex.handle);
            }
        }
        if vertex.renumber {
            self.patches = 0;
        }
        self.patch.push(vertex);
        if self.patch.len() < size {
            return 0;
        }
        let mut input = Input {
            vertices: [UrbHandle(0); PATCH_VERTICES],
            origins: [0; OBJECT_VERTICES],
            count: size,
            topology: vertex.topology as u8,
            number: self.patches,
        };
        for (n, vertex) in self.patch.drain(..).enumerate() {
            if let Some(to) = input.vertices.get_mut(n) {
                *to = vertex.handle;
            }
            if let Some(to) = input.origins.get_mut(n) {
                *to = vertex.tag.origin;
            }
        }
        self.patches = self.patches.wrapping_add(1);
        self.objects.push_back(input);
        1
    }

    /// Starts the next thread for the objects at the front of the queue; so many of them share it.
    fn run(
        &mut self,
        state: &GeometryState,
        wanted: usize,
        out: &mut VecDeque<Streamed>,
        ctx: &mut StepContext<'_, '_>,
    ) -> Step {
        if ctx.must_settle(&state.unit) {
            return Step::Settle;
        }
        if self.together == 0 {
            self.together = wanted.min(self.objects.len());
        }
        let Some(&first) = self.objects.front() else {
            self.together = 0;
            return Step::Idle;
        };
        let second = match state.dispatch {
            Dispatch::Single => None,
            Dispatch::DualInstance => {
                (self.instance + 1 < state.instances).then_some((first, self.instance + 1))
            }
            Dispatch::DualObject => {
                let other = self.objects.get(1).filter(|_| self.together > 1);
                other.map(|other| (*other, self.instance))
            }
        };
        let urb = &mut *ctx.machine.urb;
        let Some(entry) = urb.allocate(Owner::Gs) else {
            return Step::Blocked;
        };
        let mut entries = [Some(entry), None];
        if second.is_some() {
            entries[1] = urb.allocate(Owner::Gs);
            if entries[1].is_none() {
                urb.release(entry);
                return Step::Blocked;
            }
        }
        let parts = [Some((first, self.instance)), second];
        let debug = self.number(&parts, state.unit.kernel.ip, ctx.machine);
        let outcome = dispatch(state, (&first, self.instance, second), entries, debug, ctx);
        let Some(outcome) = outcome else {
            for entry in entries.into_iter().flatten() {
                ctx.machine.urb.release(entry);
            }
            return Step::Blocked;
        };
        self.numbered = None;
        let (Outcome::Done(slot) | Outcome::InFlight(slot)) = outcome;
        self.job = Some(Job {
            slot,
            entries,
            counts: [0; 2],
            id: debug.id,
        });
        if state.unit.statistics {
            let instances = 1 + u64::from(second.is_some());
            let count = &mut ctx.machine.status.statistics.gs_invocations;
            *count = count.wrapping_add(instances * u64::from(state.invocations));
        }
        self.settle(outcome, state, out, ctx)
    }

    /// Numbers the thread to come, once, and latches the mux outputs for a snapshot.
    fn number(
        &mut self,
        parts: &[Option<(Input, u8)>; 2],
        kernel: u32,
        machine: &mut Machine<'_>,
    ) -> ThreadDebug {
        if let Some(debug) = self.numbered {
            return debug;
        }
        if machine.trace.is_detailed() {
            for (half, (input, instance)) in (0..).zip(parts.iter().flatten()) {
                let part = Part {
                    half,
                    object: input.number,
                    instance: *instance,
                };
                let entries = input.handles().iter().map(|handle| handle.0);
                let ffid = Unit::Gs.ffid();
                machine.note(Event::object(ffid, input.topology, entries, Some(part)));
            }
        }
        let debug = machine.debug.gs_thread();
        if let Some((input, _)) = parts[0].as_ref().filter(|_| debug.capture) {
            let mut outputs = [0; 2 * OBJECT_VERTICES + 2];
            for (n, &origin) in input.origins.iter().enumerate() {
                if n < input.count {
                    outputs[2 * n] = origin;
                }
            }
            // CAST: at most 32.
            outputs[2 * OBJECT_VERTICES] = input.count as u32;
            outputs[2 * OBJECT_VERTICES + 1] = kernel;
            machine.debug.capture(SnapshotUnit::Gs, &outputs);
        }
        *self.numbered.insert(debug)
    }

    /// Goes on with the thread in flight.
    fn resume(
        &mut self,
        state: &GeometryState,
        out: &mut VecDeque<Streamed>,
        ctx: &mut StepContext<'_, '_>,
    ) -> Step {
        let Some(job) = &self.job else {
            return Step::Idle;
        };
        let outcome = ctx.td.resume(job.slot, ctx.machine);
        self.settle(outcome, state, out, ctx)
    }

    /// Takes note of what the thread has said; when it has ended, its vertices go on.
    fn settle(
        &mut self,
        outcome: Outcome,
        state: &GeometryState,
        out: &mut VecDeque<Streamed>,
        ctx: &mut StepContext<'_, '_>,
    ) -> Step {
        let Some(job) = &mut self.job else {
            return Step::Idle;
        };
        for event in ctx.td.events_mut(job.slot).urb.drain(..) {
            if event.eot {
                job.counts = event.counts;
            }
        }
        if matches!(outcome, Outcome::InFlight(_)) {
            return Step::Blocked;
        }
        let job = *job;
        self.job = None;
        let machine = &mut *ctx.machine;
        let mut taken = 0;
        for (half, (entry, count)) in (0..).zip(job.entries.into_iter().zip(job.counts)) {
            if let Some(entry) = entry {
                let left = Left {
                    entry,
                    count,
                    thread: job.id,
                    half,
                };
                output::read(state, left, out, machine);
                taken += 1;
            }
        }
        self.instance = self.instance.saturating_add(match state.dispatch {
            Dispatch::DualInstance => taken,
            Dispatch::Single | Dispatch::DualObject => 1,
        });
        if self.instance >= state.instances {
            let together = self.together.min(self.objects.len());
            for input in self.objects.drain(..together) {
                input.release(machine.urb);
            }
            self.instance = 0;
            self.together = 0;
        }
        Step::Progress
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
