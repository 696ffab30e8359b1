//! Threads of GS and CLIP that emit vertices: one object in, a vertex stream out.
//!
//! PRM: volume 4, 8.4.2 (allocate, used, complete), 3.3.6, 3.3.7.
//! The two stages differ in the header only.

use std::collections::VecDeque;

use super::Step;
use super::payload::ObjectHeader;
use super::stage::StepContext;
use super::state::UnitConfig;
use super::topology::{OBJECT_VERTICES, Object, StreamVertex, Tag, Topology};
use crate::core::fault::UnitFault;
use crate::intel::debug::{SnapshotUnit, ThreadDebug};
use crate::intel::machine::Machine;
use crate::intel::shared::context::MessageHandle;
use crate::intel::status::{Client, Unit};
use crate::intel::td::{Outcome, SlotId, Subject, ThreadRequest, UrbRead, VertexData};
use crate::intel::trace::Event;
use crate::intel::urb::{Owner, UrbHandle};

/// Width of the number of a vertex within its thread (PRM vol4 3.3.6; of the clipper's, 3.3.7 gives none).
const RELATIVE: u32 = 0x3ff;

/// An emitting thread in flight.
#[derive(Clone, Debug)]
struct Job {
    slot: SlotId,
    object: Object,
    /// Entries that the thread holds and has not completed.
    owned: Vec<UrbHandle>,
}

/// Runs the threads of one fixed function that emit vertices.
#[derive(Clone, Debug)]
pub struct Emitter {
    unit: Unit,
    owner: Owner,
    job: Option<Job>,
    /// Debug side of the thread to come, kept while a slot is waited for: a thread has one number.
    numbered: Option<ThreadDebug>,
    thread_id: u32,
    /// Vertices that the thread has put out.
    emitted: u32,
    streamed: Streamed,
}

/// What a thread says of streamed vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streamed {
    /// Vertices that it streams out.
    pub vertices: u32,
    /// Primitives that there has to be room for.
    pub needed: u32,
    /// Primitives that it has written.
    pub written: u32,
}

impl Emitter {
    /// The emitter of `unit`, whose outputs come from the URB section of `owner`.
    pub fn new(unit: Unit, owner: Owner) -> Self {
        Emitter {
            unit,
            owner,
            job: None,
            numbered: None,
            thread_id: 0,
            emitted: 0,
            streamed: Streamed::default(),
        }
    }

    /// Whether a thread is in flight.
    pub fn busy(&self) -> bool {
        self.job.is_some()
    }

    /// What threads have said of streamed vertices since the last call.
    pub fn take_streamed(&mut self) -> Streamed {
        std::mem::take(&mut self.streamed)
    }

    /// Starts a thread for `object`. Gives the object back when the
    /// URB section has no entry or no slot is free.
    pub fn start(
        &mut self,
        object: Object,
        header: &ObjectHeader,
        mask: u16,
        config: &UnitConfig,
        out: &mut VecDeque<StreamVertex>,
        ctx: &mut StepContext<'_, '_>,
    ) -> Result<Step, Object> {
        let machine = &mut *ctx.machine;
        let Some(first) = machine.urb.allocate(self.owner) else {
            return Err(object);
        };
        let debug = self.number(&object, config.kernel.ip, machine);
        let r0 = ctx.layout.object(config, first, header, debug.r0());
        let stream = header.stream.unwrap_or_default();
        let r1 = header
            .stream
            .and_then(|indices| ctx.layout.stream(&indices));
        let header = [r0, r1.unwrap_or_default()];
        let header = if r1.is_some() {
            &header[..]
        } else {
            &header[..1]
        };
        self.thread_id = debug.id;
        self.emitted = 0;
        let mut reads = [UrbRead {
            handle: first,
            offset: 0,
            rows: 0,
        }; OBJECT_VERTICES];
        for (read, &handle) in reads.iter_mut().zip(object.handles()) {
            *read = UrbRead {
                handle,
                offset: config.read_offset,
                rows: config.read_rows,
            };
        }
        let mut free = Self::reserve(self.owner, machine);
        let mut owned = Vec::new();
        if config.entry_on_request {
            free.push(MessageHandle::from(first));
        } else {
            owned.push(first);
        }
        let outcome = ctx.td.dispatch(
            &ThreadRequest {
                unit: self.unit,
                kernel: config.kernel,
                context: config.context,
                dispatch_mask: mask.into(),
                header,
                constants: config.constants(ctx.curbe),
                data: VertexData::Sequential(&reads[..object.count.min(OBJECT_VERTICES)]),
                pixels: None,
                stream_indices: stream.index,
                snapshot: debug.flag,
                subject: Subject::Other,
            },
            &free,
            machine,
        );
        let Some(outcome) = outcome else {
            let free = free.into_iter().map(|entry| UrbHandle(entry.handle));
            for entry in free.chain(owned) {
                machine.urb.release(entry);
            }
            return Err(object);
        };
        self.numbered = None;
        let (Outcome::Done(slot) | Outcome::InFlight(slot)) = outcome;
        self.job = Some(Job {
            slot,
            object,
            owned,
        });
        Ok(self.settle(outcome, out, ctx))
    }

    /// Numbers the thread for `object`, once.
    fn number(&mut self, object: &Object, kernel: u32, machine: &mut Machine<'_>) -> ThreadDebug {
        if let Some(debug) = self.numbered {
            return debug;
        }
        if machine.trace.is_detailed() {
            let entries = object.handles().iter().map(|handle| handle.0);
            let topology = object.topology as u8;
            machine.note(Event::object(self.unit.ffid(), topology, entries, None));
        }
        let debug = if self.unit == Unit::Gs {
            machine.debug.gs_thread()
        } else {
            machine.debug.clip_thread()
        };
        if debug.capture {
            self.capture(object, kernel, machine);
        }
        *self.numbered.insert(debug)
    }

    /// Latches the mux outputs: two words per input vertex, then count and kernel pointer (PRM vol4
    /// 3.3.6 for six GS inputs, 3.3.7 for three clipper inputs). The second word is the relative
    /// vertex count; of the GS it is reserved.
    pub fn capture(&self, object: &Object, kernel: u32, machine: &mut Machine<'_>) {
        let (unit, inputs) = match self.unit {
            Unit::Gs => (SnapshotUnit::Gs, 6),
            _ => (SnapshotUnit::Clip, 3),
        };
        let mut outputs = [0; 14];
        for (to, &tag) in outputs
            .chunks_exact_mut(2)
            .zip(&object.tags)
            .take(object.count.min(inputs))
        {
            to[0] = tag.origin;
            to[1] = if unit == SnapshotUnit::Gs {
                0
            } else {
                tag.relative
            };
        }
        outputs[inputs * 2] = object.count as u32;
        outputs[inputs * 2 + 1] = kernel;
        machine.debug.capture(unit, &outputs[..inputs * 2 + 2]);
    }

    /// Continues the thread in flight.
    pub fn step(
        &mut self,
        out: &mut VecDeque<StreamVertex>,
        ctx: &mut StepContext<'_, '_>,
    ) -> Step {
        let Some(job) = &self.job else {
            return Step::Idle;
        };
        let slot = job.slot;
        let more = Self::reserve(self.owner, ctx.machine);
        ctx.td.events_mut(slot).free.extend(more);
        let outcome = ctx.td.resume(slot, ctx.machine);
        self.settle(outcome, out, ctx)
    }

    /// Takes every free entry, lowest last so that the thread gets the lowest first.
    fn reserve(owner: Owner, machine: &mut Machine<'_>) -> Vec<MessageHandle> {
        let mut free: Vec<_> = std::iter::from_fn(|| machine.urb.allocate(owner))
            .map(MessageHandle::from)
            .collect();
        free.reverse();
        free
    }

    /// Moves the thread's outputs into the stream and ends it when it is done.
    fn settle(
        &mut self,
        outcome: Outcome,
        out: &mut VecDeque<StreamVertex>,
        ctx: &mut StepContext<'_, '_>,
    ) -> Step {
        let Some(job) = &mut self.job else {
            return Step::Idle;
        };
        let machine = &mut *ctx.machine;
        let events = ctx.td.events_mut(job.slot);
        let mut moved = false;
        for event in events.urb.drain(..) {
            if let Some(entry) = event.allocated {
                job.owned.push(UrbHandle(entry.handle));
            }
            let said = &mut self.streamed;
            said.vertices = said.vertices.wrapping_add(event.stream_vertices.into());
            said.needed = said.needed.wrapping_add(event.stream_needed.into());
            said.written = said.written.wrapping_add(event.stream_written.into());
            if !event.complete {
                continue;
            }
            let handle = UrbHandle(event.entry.handle);
            // Only entries that the thread owns can come out; anything else is its mistake.
            let Some(at) = job.owned.iter().position(|&h| h == handle) else {
                continue;
            };
            job.owned.swap_remove(at);
            moved = true;
            match (event.used, Topology::from_code(u32::from(event.prim_type))) {
                (true, Some(topology)) => {
                    let tag = Tag {
                        relative: self.emitted & RELATIVE,
                        ..Tag::of(self.unit, self.thread_id)
                    };
                    self.emitted = self.emitted.wrapping_add(1);
                    if machine.trace.is_detailed() {
                        machine.note(Event::Emit {
                            ffid: self.unit.ffid(),
                            handle: handle.0,
                            half: 0,
                        });
                    }
                    out.push_back(StreamVertex {
                        handle,
                        topology,
                        start: event.prim_start,
                        end: event.prim_end,
                        renumber: false,
                        number: None,
                        edge: true,
                        tag,
                    });
                }
                (true, None) => {
                    let code = event.prim_type;
                    let name = self.unit.name();
                    machine.status.fault(
                        Client::Cs,
                        UnitFault::Command {
                            unit: name,
                            what: format!("thread emitted reserved topology {code:#x}"),
                        },
                        || format!("{name} URB write"),
                    );
                    machine.urb.release(handle);
                }
                (false, _) => machine.urb.release(handle),
            }
        }
        match outcome {
            Outcome::Done(_) => {
                for entry in events.free.drain(..) {
                    machine.urb.release(UrbHandle(entry.handle));
                }
                for handle in job.owned.drain(..) {
                    machine.urb.release(handle);
                }
                for &handle in job.object.handles() {
                    machine.urb.release(handle);
                }
                self.job = None;
                Step::Progress
            }
            Outcome::InFlight(_) if moved => Step::Progress,
            Outcome::InFlight(_) => Step::Blocked,
        }
    }
}
