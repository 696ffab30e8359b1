//! The sink that follows a frame from event to event.
//!
//! PRM: volume 4, chapter 3.3 (payloads' r0). Not modelled: media threads.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use mmio_mock::intel::status::Unit;
use mmio_mock::intel::trace::{Dispatch, Event, Sink, Subspans};
use regs::desc::Property;
use regs::platform::Generation;

use super::later::Later;
use super::{
    Between, BetweenId, Object, ObjectId, Origin, Part, PixelThread, SetupThread, Vertex, VertexId,
};

/// Most vertices, objects and threads, each, that are kept of a frame.
pub const LIMIT: usize = 1 << 22;

/// A pixel shader thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thread {
    pub(super) ordinal: u64,
    pub(super) kernel: u32,
    pub(super) object: u32,
    pub(super) pixels: Subspans,
    pub(super) eu: u8,
    pub(super) slot: u8,
}

impl Thread {
    pub(super) fn of(&self, channel: u8) -> PixelThread {
        PixelThread {
            ordinal: self.ordinal,
            eu: self.eu,
            slot: self.slot,
            kernel: self.kernel,
            mask: self.pixels.lit,
            channel,
            object: ObjectId(self.object),
        }
    }
}

/// Vertices of an object as a unit takes it up.
#[derive(Clone, Debug, Default)]
pub(super) struct Taken {
    topology: u8,
    pub(super) vertices: Vec<VertexId>,
    /// What the halves of the thread have, where they differ.
    parts: Vec<Part>,
}

impl Taken {
    /// Another object; that of a thread's upper half joins what the lower one has.
    fn take(&mut self, other: Taken) {
        let joins = other.parts.first().is_some_and(|part| part.half > 0);
        if !joins {
            *self = other;
            return;
        }
        for id in other.vertices {
            if !self.vertices.contains(&id) {
                self.vertices.push(id);
            }
        }
        self.parts.extend(other.parts);
    }
}

/// What the units had counted when a submission began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Start {
    /// Vertices that VF had delivered.
    pub(super) delivered: u64,
    /// Objects that SF had taken up.
    pub(super) objects: u64,
    /// Threads of VS.
    pub(super) vs: u64,
    /// Threads of GS and clipper.
    pub(super) between: [u64; 2],
    /// Patches, threads of HS, threads of DS.
    pub(super) patches: [u64; 3],
}

/// What was seen so far.
#[derive(Debug, Default)]
pub(super) struct Recording {
    pub(super) vertices: Vec<Vertex>,
    pub(super) objects: Vec<Object>,
    pub(super) between: Vec<Between>,
    pub(super) threads: Vec<Thread>,
    /// Patches, and what stream output has written.
    pub(super) later: Later,
    /// Commands since somebody took them, those that state or draw: address and header.
    pub(super) commands: Vec<(u32, u32)>,
    /// Something of which there is more than is kept.
    pub(super) full: Option<&'static str>,
    /// Who is in an URB entry now.
    pub(super) live: BTreeMap<u16, VertexId>,
    /// Draw calls begun.
    pub(super) draws: u32,
    /// Vertices that VF delivered.
    delivered: u64,
    /// Objects that SF took up.
    taken: u64,
    /// The last of them was not set up yet.
    waits: bool,
    /// Threads of VS so far.
    shaded: u64,
    /// Where submissions began.
    pub(super) starts: Vec<Start>,
    /// Vertices that VF had delivered when each draw call began.
    pub(super) begun: Vec<u64>,
    /// The object that GS, clipper or SF has, and its thread there.
    at: [Taken; 3],
    /// The thread of GS or clipper, its half that has put a vertex out last, and how many that half has.
    emitting: [(Option<BetweenId>, u8, u32); 2],
}

/// Takes the events; the device owns it.
pub(super) struct Recorder(
    pub(super) Arc<Mutex<Recording>>,
    /// The device's tables.
    pub(super) &'static Generation,
);

impl Sink<Event> for Recorder {
    fn event(&mut self, _: u64, event: &Event) {
        let mut recording = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if recording.full.is_none() {
            recording.event(event, self.1);
        }
    }
}

const DS: u8 = Unit::Ds.ffid();
const HS: u8 = Unit::Hs.ffid();
const GS: u8 = Unit::Gs.ffid();
const CLIP: u8 = Unit::Clip.ffid();
const SF: u8 = Unit::Sf.ffid();

/// Place of GS, clipper and SF in the arrays.
fn stage(ffid: u8) -> Option<usize> {
    [GS, CLIP, SF].iter().position(|&other| other == ffid)
}

/// Room for one more; else says what there is too much of.
pub(super) fn room<T>(list: &[T], what: &'static str, full: &mut Option<&'static str>) -> bool {
    if list.len() >= LIMIT {
        full.get_or_insert(what);
    }
    list.len() < LIMIT
}

impl Recording {
    /// A submission begins.
    pub(super) fn begin(&mut self) {
        let of = |unit| {
            let threads = self.between.iter();
            threads.filter(|between| between.unit == unit).count() as u64
        };
        self.starts.push(Start {
            delivered: self.delivered,
            objects: self.taken,
            vs: self.shaded,
            between: [of(Unit::Gs), of(Unit::Clip)],
            patches: self.later.counts(),
        });
    }

    /// Gives back what is not needed to answer.
    pub(super) fn shrink(&mut self) {
        self.vertices.shrink_to_fit();
        self.objects.shrink_to_fit();
        self.between.shrink_to_fit();
        self.threads.shrink_to_fit();
        self.later.shrink();
        self.live.clear();
    }

    fn event(&mut self, event: &Event, tables: &'static Generation) {
        match *event {
            Event::Command { addr, header, .. } => self.command(addr, header, tables),
            Event::Vertex {
                index,
                handle,
                fresh,
                instance,
            } => {
                let sequence = self.delivered;
                self.delivered += 1;
                if fresh {
                    let origin = Origin::Fetched {
                        draw: self.draws.saturating_sub(1),
                        index,
                        instance,
                        sequence,
                        shader: None,
                    };
                    self.vertex(handle, origin);
                }
            }
            Event::Object {
                ffid,
                topology,
                handles,
                count,
                part,
            } => {
                let handles = handles.iter().take(usize::from(count));
                let vertices = handles.filter_map(|handle| self.live.get(handle).copied());
                let vertices: Vec<_> = vertices.collect();
                let parts = part.map(|part| Part::of(part, &vertices));
                let taken = Taken {
                    topology,
                    vertices,
                    parts: parts.into_iter().collect(),
                };
                if ffid == HS {
                    self.later.object = taken;
                } else if let Some(at) = stage(ffid).and_then(|stage| self.at.get_mut(stage)) {
                    at.take(taken);
                }
                if ffid == SF {
                    self.taken += 1;
                    self.waits = true;
                }
            }
            Event::Dispatch(ref dispatch) => self.dispatch(dispatch),
            Event::Emit {
                ffid: DS, handle, ..
            } => {
                if let Some(origin) = self.later.shaded(handle) {
                    self.vertex(handle, origin);
                }
            }
            Event::Emit { ffid, handle, half } => {
                let stage = stage(ffid).and_then(|stage| self.emitting.get_mut(stage));
                if let Some((Some(by), last, number)) = stage {
                    if *last != half {
                        (*last, *number) = (half, 0);
                    }
                    let origin = Origin::Emitted {
                        by: *by,
                        half,
                        number: *number,
                    };
                    *number += 1;
                    self.vertex(handle, origin);
                }
            }
            Event::Placed { corners, count } => {
                if self.waits {
                    // Set up by the unit itself, without a thread.
                    self.set_up(None);
                }
                // An object of which edges are drawn alone is placed edge by edge.
                if let Some(object) = self.objects.last_mut()
                    && object.placed < count
                {
                    (object.corners, object.placed) = (corners, count);
                }
            }
            _ => self.patches(event),
        }
    }

    fn command(&mut self, addr: u32, header: u32, tables: &'static Generation) {
        let Some(command) = (tables.command)(header) else {
            return;
        };
        if command.is(Property::Draw) {
            self.draws = self.draws.saturating_add(1);
            self.begun.push(self.delivered);
        } else if !command.is(Property::DrawState) {
            return;
        }
        if room(&self.commands, "commands", &mut self.full) {
            self.commands.push((addr, header));
        }
    }

    fn vertex(&mut self, handle: u16, origin: Origin) {
        if !room(&self.vertices, "vertices", &mut self.full) {
            return;
        }
        // CAST: below LIMIT.
        let id = VertexId(self.vertices.len() as u32);
        self.vertices.push(Vertex { handle, origin });
        self.live.insert(handle, id);
    }

    fn dispatch(&mut self, dispatch: &Dispatch) {
        match Unit::ALL.iter().find(|unit| unit.ffid() == dispatch.ffid) {
            Some(Unit::Vs) => {
                self.shaded += 1;
                // CAST: the handle is the low half. One vertex has half of the channels.
                let both = dispatch.mask & 0xf0 != 0;
                let handles = [dispatch.r0[0] as u16, dispatch.r0[1] as u16];
                for handle in handles.iter().take(1 + usize::from(both)) {
                    let id = self.live.get(handle);
                    let vertex = id.and_then(|id| self.vertices.get_mut(id.0 as usize));
                    if let Some(Vertex {
                        origin: Origin::Fetched { shader, .. },
                        ..
                    }) = vertex
                    {
                        *shader = Some(dispatch.ordinal);
                    }
                }
            }
            Some(&unit @ (Unit::Gs | Unit::Clip)) => self.spawn(unit, dispatch),
            Some(Unit::Hs) => self.later.patch_thread(dispatch),
            Some(Unit::Ds) => self.later.point_thread(dispatch),
            Some(Unit::Sf) => self.set_up(Some(SetupThread {
                ordinal: dispatch.ordinal,
                kernel: dispatch.kernel,
            })),
            Some(Unit::Wiz) => {
                if self.objects.is_empty()
                    || !room(&self.threads, "pixel shader threads", &mut self.full)
                {
                    return;
                }
                self.threads.push(Thread {
                    ordinal: dispatch.ordinal,
                    kernel: dispatch.kernel,
                    // CAST: below LIMIT.
                    object: self.objects.len() as u32 - 1,
                    pixels: dispatch.pixels,
                    eu: dispatch.eu,
                    slot: dispatch.slot,
                });
            }
            _ => {}
        }
    }

    fn spawn(&mut self, unit: Unit, dispatch: &Dispatch) {
        if !room(&self.between, "threads of GS and clipper", &mut self.full) {
            return;
        }
        let Some(stage) = stage(dispatch.ffid) else {
            return;
        };
        // CAST: below LIMIT.
        let id = BetweenId(self.between.len() as u32);
        let taken = self.at.get(stage).cloned().unwrap_or_default();
        self.between.push(Between {
            unit,
            ordinal: dispatch.ordinal,
            kernel: dispatch.kernel,
            topology: taken.topology,
            vertices: taken.vertices,
            parts: taken.parts,
        });
        if let Some(emitting) = self.emitting.get_mut(stage) {
            *emitting = (Some(id), 0, 0);
        }
    }

    fn set_up(&mut self, thread: Option<SetupThread>) {
        self.waits = false;
        if !room(&self.objects, "objects", &mut self.full) {
            return;
        }
        let taken = stage(SF).and_then(|stage| self.at.get(stage));
        let taken = taken.cloned().unwrap_or_default();
        let mut vertices = [VertexId(0); 3];
        for (to, from) in vertices.iter_mut().zip(&taken.vertices) {
            *to = *from;
        }
        self.objects.push(Object {
            ordinal: self.taken.saturating_sub(1),
            draw: self.draws.saturating_sub(1),
            topology: taken.topology,
            vertices,
            count: taken.vertices.len().min(3) as u8,
            setup: thread,
            corners: [[0; 3]; 3],
            placed: 0,
        });
    }
}
