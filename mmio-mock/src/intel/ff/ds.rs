//! Domain shader unit: pairs points of patches, and puts out vertices.
//!
//! Intel's manual of Gen7, volume 2 part 1, DS stage; Mesa brw_vec4_tes.cpp. Threads are SIMD4x2. A point that several objects have is shaded once, as long as the section of the URB
//! has room for its vertex. Not modelled: several DS threads in flight at once; which points hardware's cache keeps.

use std::collections::VecDeque;

use super::Step;
use super::link::{Cargo, DomainVertex, Link, Patch};
use super::payload::DomainHeader;
use super::stage::{Stage, StartContext, StepContext};
use super::state::{DrawState, DsState, UnitConfig};
use super::topology::{StreamVertex, Tag};
use crate::core::fault::UnitFault;
use crate::intel::debug::ThreadDebug;
use crate::intel::machine::Machine;
use crate::intel::status::{Busy, Unit};
use crate::intel::td::{Outcome, SlotId, Subject, ThreadRequest, UrbRead, VertexData};
use crate::intel::trace::Event;
use crate::intel::urb::{Owner, Urb, UrbHandle};

/// Points that wait in front of this stage before the one above has to stop.
const ROOM: usize = 96;
/// Vertices that wait for a thread.
const PENDING: usize = 48;

/// Vertices of the points of one patch that were shaded.
#[derive(Clone, Debug, Default)]
struct Shaded {
    /// By numbers of points.
    entries: Vec<Option<UrbHandle>>,
    /// The numbers, the oldest first.
    order: VecDeque<u16>,
}

impl Shaded {
    fn get(&self, index: u16) -> Option<UrbHandle> {
        self.entries.get(usize::from(index)).copied().flatten()
    }

    /// Keeps a vertex, with a reference.
    fn keep(&mut self, index: u16, entry: UrbHandle, urb: &mut Urb) {
        let at = usize::from(index);
        if at >= tess::MOST_POINTS {
            return;
        }
        if self.entries.len() <= at {
            self.entries.resize(tess::MOST_POINTS, None);
        }
        urb.reference(entry);
        // PANIC: as many as a patch has points.
        self.entries[at] = Some(entry);
        self.order.push_back(index);
    }

    /// Gives the oldest vertex up; `false` when no vertex is kept.
    fn forget(&mut self, urb: &mut Urb) -> bool {
        let Some(index) = self.order.pop_front() else {
            return false;
        };
        let entry = self.entries.get_mut(usize::from(index));
        if let Some(entry) = entry.and_then(Option::take) {
            urb.release(entry);
        }
        true
    }

    fn clear(&mut self, urb: &mut Urb) {
        while self.forget(urb) {}
    }
}

/// A thread in flight, or one that waits for a slot.
#[derive(Clone, Copy, Debug)]
enum Job {
    /// Its debug side: a thread has one number.
    Numbered(ThreadDebug),
    InFlight(SlotId),
}

/// The domain shader unit.
#[derive(Clone, Debug, Default)]
pub struct Ds {
    shaded: Shaded,
    /// Vertices in order, those of the thread to come among them.
    pending: VecDeque<StreamVertex>,
    /// The points of the thread to come with their numbers and entries.
    fresh: [(u16, tess::Point, UrbHandle); 2],
    /// How many they are.
    count: usize,
    /// The patch of the points.
    patch: Option<Patch>,
    /// The patch has no further points: its entry goes with the thread.
    ends: bool,
    job: Option<Job>,
    /// Threads so far, for their debug words.
    threads: u32,
}

/// Why no further point is taken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Full {
    /// No further point has arrived.
    Empty,
    /// A thread has to go before it.
    Thread,
    /// No entry of the URB is free.
    Urb,
}

impl Stage for Ds {
    fn part(&self) -> Busy {
        Busy::Ds
    }

    fn takes(&self) -> &'static [Cargo] {
        &[Cargo::Domain]
    }

    fn gives(&self) -> &'static [Cargo] {
        &[Cargo::Vertices]
    }

    fn off(&self, draw: &DrawState) -> bool {
        draw.ds.is_none()
    }

    fn section<'a>(&self, draw: &'a DrawState) -> Option<(Owner, &'a UnitConfig)> {
        Some((Owner::Ds, &draw.ds.as_ref()?.unit))
    }

    fn start(
        &mut self,
        ctx: &StartContext<'_>,
        _machine: &mut Machine<'_>,
    ) -> Result<(), UnitFault> {
        if ctx.draw.hs.is_none() || ctx.draw.te.is_none() {
            return Err(UnitFault::Command {
                unit: "DS",
                what: "DS is enabled without HS and TE".to_owned(),
            });
        }
        Ok(())
    }

    fn room(&self, input: &Link) -> bool {
        input.domain.len() < ROOM
    }

    /// Points gather until a thread can start.
    fn step(&mut self, input: &mut Link, out: &mut Link, ctx: &mut StepContext<'_, '_>) -> Step {
        self.work(false, input, out, ctx)
    }

    fn step_short(
        &mut self,
        input: &mut Link,
        out: &mut Link,
        ctx: &mut StepContext<'_, '_>,
    ) -> Step {
        self.work(true, input, out, ctx)
    }

    fn busy(&self, input: &Link) -> bool {
        !input.domain.is_empty() || !self.pending.is_empty() || self.job.is_some()
    }

    fn finish(&mut self, machine: &mut Machine<'_>) {
        self.shaded.clear(machine.urb);
    }
}

impl Ds {
    fn work(
        &mut self,
        short: bool,
        input: &mut Link,
        out: &mut Link,
        ctx: &mut StepContext<'_, '_>,
    ) -> Step {
        let Some(state) = &ctx.draw.ds else {
            return Step::Idle;
        };
        if self.job.is_none() {
            let full = self.gather(&mut input.domain, state, ctx.machine);
            if self.count == 0 {
                // All of them are vertices that were shaded before.
                return if !self.pending.is_empty() {
                    self.pass(out, ctx.machine);
                    Step::Progress
                } else if full == Full::Urb {
                    Step::Blocked
                } else {
                    Step::Idle
                };
            }
            if full == Full::Empty && !short && !self.ends {
                return Step::Idle;
            }
        }
        self.shade(state, out, ctx)
    }

    /// Takes points until a thread is full.
    fn gather(
        &mut self,
        input: &mut VecDeque<DomainVertex>,
        state: &DsState,
        machine: &mut Machine<'_>,
    ) -> Full {
        let points = if state.single { 1 } else { 2 };
        while let Some(&vertex) = input.front() {
            if self.ends || self.pending.len() >= PENDING {
                return Full::Thread;
            }
            self.patch = Some(vertex.patch);
            let known = self.shaded.get(vertex.index);
            let handle = if let Some(handle) = known {
                machine.urb.reference(handle);
                handle
            } else {
                if self.count == points {
                    return Full::Thread;
                }
                let Some(handle) = self.allocate(machine.urb) else {
                    return Full::Urb;
                };
                if !state.cache_disable {
                    self.shaded.keep(vertex.index, handle, machine.urb);
                }
                // PANIC: a thread has one point or two.
                self.fresh[self.count] = (vertex.index, vertex.point, handle);
                self.count += 1;
                handle
            };
            self.pending.push_back(StreamVertex {
                handle,
                topology: vertex.topology,
                start: vertex.start,
                end: vertex.end,
                renumber: false,
                number: Some(vertex.patch.number),
                edge: true,
                tag: Tag::of(Unit::Ds, self.threads & 0x00ff_ffff),
            });
            self.ends = vertex.last;
            input.pop_front();
        }
        Full::Empty
    }

    /// A free entry; those that are kept for later are given up for it.
    fn allocate(&mut self, urb: &mut Urb) -> Option<UrbHandle> {
        loop {
            if let Some(handle) = urb.allocate(Owner::Ds) {
                return Some(handle);
            }
            if !self.shaded.forget(urb) {
                return None;
            }
        }
    }

    /// Runs the thread for the points that wait.
    fn shade(&mut self, state: &DsState, out: &mut Link, ctx: &mut StepContext<'_, '_>) -> Step {
        let outcome = match self.job {
            Some(Job::InFlight(slot)) => Some(ctx.td.resume(slot, ctx.machine)),
            Some(Job::Numbered(debug)) => self.dispatch(debug, state, ctx),
            None => {
                if ctx.must_settle(&state.unit) {
                    return Step::Settle;
                }
                let debug = ThreadDebug {
                    id: self.threads & 0x00ff_ffff,
                    ..ThreadDebug::default()
                };
                self.threads = self.threads.wrapping_add(1);
                self.job = Some(Job::Numbered(debug));
                self.note(state, ctx.machine);
                if state.unit.statistics {
                    let count = &mut ctx.machine.status.statistics.ds_invocations;
                    *count = count.wrapping_add(self.count as u64);
                }
                self.dispatch(debug, state, ctx)
            }
        };
        match outcome {
            None => Step::Blocked,
            Some(Outcome::InFlight(slot)) => {
                self.job = Some(Job::InFlight(slot));
                Step::Blocked
            }
            Some(Outcome::Done(_)) => {
                self.job = None;
                self.pass(out, ctx.machine);
                Step::Progress
            }
        }
    }

    fn dispatch(
        &self,
        debug: ThreadDebug,
        state: &DsState,
        ctx: &mut StepContext<'_, '_>,
    ) -> Option<Outcome> {
        let unit = &state.unit;
        let patch = self.patch?;
        let [first, second] = self.fresh;
        let header = DomainHeader {
            entries: [first.2, second.2],
            points: [first.1, second.1],
            count: self.count,
            patch: patch.entry,
            number: patch.number,
            third: state.third,
        };
        let header = ctx.layout.domain(unit, &header, debug.r0());
        let data = [UrbRead {
            handle: patch.entry,
            offset: unit.read_offset,
            rows: unit.read_rows,
        }];
        let request = ThreadRequest {
            unit: Unit::Ds,
            kernel: unit.kernel,
            context: unit.context,
            dispatch_mask: if self.count > 1 { 0xff } else { 0x0f },
            header: &header,
            constants: unit.constants(ctx.curbe),
            data: VertexData::Sequential(&data),
            pixels: None,
            stream_indices: [0; 4],
            snapshot: debug.flag,
            subject: Subject::Points {
                patch: patch.number,
                points: [Some(first.0), (self.count > 1).then_some(second.0)],
            },
        };
        ctx.td.dispatch(&request, &[], ctx.machine)
    }

    /// Tells sinks of the points of the thread to come.
    fn note(&self, state: &DsState, machine: &mut Machine<'_>) {
        let Some(patch) = self.patch.filter(|_| machine.trace.is_detailed()) else {
            return;
        };
        for &(number, point, handle) in &self.fresh[..self.count.min(2)] {
            let [u, v] = point.uv();
            let w = if state.third { point.w() } else { 0.0 };
            machine.note(Event::Point {
                patch: patch.entry.0,
                handle: handle.0,
                number,
                place: [u, v, w].map(f32::to_bits),
            });
        }
    }

    /// Hands the vertices that wait to the next stage, which now owns their references.
    fn pass(&mut self, out: &mut Link, machine: &mut Machine<'_>) {
        if machine.trace.is_detailed() {
            for (_, _, entry) in &self.fresh[..self.count.min(2)] {
                machine.note(Event::Emit {
                    ffid: Unit::Ds.ffid(),
                    handle: entry.0,
                    half: 0,
                });
            }
        }
        self.count = 0;
        out.vertices.extend(self.pending.drain(..));
        if std::mem::take(&mut self.ends) {
            // Numbers of points are those of another patch from now on.
            self.shaded.clear(machine.urb);
            if let Some(patch) = self.patch.take() {
                machine.urb.release(patch.entry);
            }
        }
    }
}
