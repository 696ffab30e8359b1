//! Geometry shader unit: objects in, threads, vertex streams out; or nothing.
//!
//! PRM: volume 2, geometry shader stage; volume 4, 3.3.6.
//! Not modelled: reordered triangles of strips on the 965 (Reorder Enable); stream output is the kernels' own.

use std::collections::VecDeque;

use super::Step;
use super::link::{Cargo, Link};
use super::payload::{ObjectHeader, Outside, StreamIndices};
use super::reader::StreamIndex;
use super::spawn::Emitter;
use super::stage::{Stage, StepContext};
use super::state::{DrawState, GsState, UnitConfig};
use super::topology::{Assembler, Object, StreamVertex, Topology, primitives};
use crate::intel::machine::Machine;
use crate::intel::status::{Busy, Unit};
use crate::intel::urb::Owner;

/// The geometry shader unit.
#[derive(Clone, Debug)]
pub struct Gs {
    assembler: Assembler,
    objects: VecDeque<Object>,
    threads: Emitter,
    /// Indices of the streamed vertex buffers.
    stream: StreamIndices,
}

impl Default for Gs {
    fn default() -> Self {
        Gs {
            assembler: Assembler::default(),
            objects: VecDeque::new(),
            threads: Emitter::new(Unit::Gs, Owner::Gs),
            stream: StreamIndices::default(),
        }
    }
}

impl Stage for Gs {
    fn part(&self) -> Busy {
        Busy::Gs
    }

    fn takes(&self) -> &'static [Cargo] {
        &[Cargo::Vertices]
    }

    fn gives(&self) -> &'static [Cargo] {
        &[Cargo::Vertices]
    }

    fn section<'a>(&self, draw: &'a DrawState) -> Option<(Owner, &'a UnitConfig)> {
        let state = draw.gs.as_ref()?;
        Some((Owner::Gs, &state.unit))
    }

    fn room(&self, input: &Link) -> bool {
        input.vertices.is_empty()
    }

    /// Passes vertices through, or makes objects of them and runs a thread for each.
    fn step(&mut self, input: &mut Link, out: &mut Link, ctx: &mut StepContext<'_, '_>) -> Step {
        let (input, out) = (&mut input.vertices, &mut out.vertices);
        let Some(state) = &ctx.draw.gs else {
            if input.is_empty() {
                return Step::Idle;
            }
            out.append(input);
            return Step::Progress;
        };
        let before = out.len();
        let step = self.work(state, input, out, ctx);
        if state.no_rendering {
            for vertex in out.drain(before..) {
                ctx.machine.urb.release(vertex.handle);
            }
        }
        step
    }

    fn busy(&self, _input: &Link) -> bool {
        self.threads.busy() || !self.objects.is_empty()
    }

    fn load_stream_index(&mut self, index: &StreamIndex) {
        let StreamIndices {
            index: indices,
            maximum,
        } = &mut self.stream;
        if let (Some(at), Some(end)) =
            (indices.get_mut(index.buffer), maximum.get_mut(index.buffer))
        {
            (*at, *end) = (index.index, index.maximum);
        }
    }

    fn stream_indices(&self) -> Option<StreamIndices> {
        Some(self.stream)
    }

    /// Drops an unfinished primitive at the end of a draw.
    fn finish(&mut self, machine: &mut Machine<'_>) {
        self.assembler.flush(machine.urb);
    }
}

/// Objects as threads get them: the odd triangle of a strip may be turned.
fn queue(mut object: Object, state: &GsState, objects: &mut VecDeque<Object>) {
    if object.topology == Topology::TriStripReverse && state.reorders_strips {
        object.vertices.swap(1, 2);
        object.tags.swap(1, 2);
    }
    objects.push_back(object);
}

impl Gs {
    /// A thread has got the indices: they go on by an object, if it fits.
    fn advance(&mut self, state: &GsState, machine: &mut Machine<'_>) {
        let Some((stream, by)) = state.stream.and_then(|s| Some((s, s.increment?))) else {
            return;
        };
        let StreamIndices { index, maximum } = &mut self.stream;
        // The first buffer stands for all: drivers give each the same number of vertices.
        let fits = u64::from(index[0]) + u64::from(by) <= u64::from(maximum[0]);
        if fits {
            for index in index {
                *index = index.wrapping_add(by);
            }
        }
        if stream.statistics {
            let statistics = &mut machine.status.statistics;
            let needed = &mut statistics.so_storage_needed[0];
            *needed = needed.wrapping_add(1);
            let written = &mut statistics.so_prims_written[0];
            *written = written.wrapping_add(u64::from(fits));
        }
    }

    /// What threads said of streamed vertices: how many there are (FF_SYNC), how many primitives were written (end of thread).
    fn streamed(&mut self, state: &GsState, ctx: &mut StepContext<'_, '_>) {
        let said = self.threads.take_streamed();
        for index in &mut self.stream.index {
            *index = index.wrapping_add(said.vertices);
        }
        if state.stream.is_some_and(|stream| stream.statistics) {
            let statistics = &mut ctx.machine.status.statistics;
            let (needed, written) = (
                &mut statistics.so_storage_needed[0],
                &mut statistics.so_prims_written[0],
            );
            *needed = needed.wrapping_add(said.needed.into());
            *written = written.wrapping_add(said.written.into());
        }
    }

    fn work(
        &mut self,
        state: &GsState,
        input: &mut VecDeque<StreamVertex>,
        out: &mut VecDeque<StreamVertex>,
        ctx: &mut StepContext<'_, '_>,
    ) -> Step {
        if self.threads.busy() {
            let step = self.threads.step(out, ctx);
            self.streamed(state, ctx);
            return step;
        }
        if !self.objects.is_empty() && ctx.must_settle(&state.unit) {
            return Step::Settle;
        }
        if let Some(object) = self.objects.pop_front() {
            let config = &state.unit;
            let header = ObjectHeader {
                topology: object.topology,
                edges: if state.converts {
                    [object.first, object.last]
                } else {
                    [false; 2]
                },
                outside: Outside::default(),
                number: object.number,
                stream: state.stream.map(|stream| {
                    if stream.payload {
                        self.stream
                    } else {
                        StreamIndices::default()
                    }
                }),
            };
            let mask = state.channels;
            return match self.threads.start(object, &header, mask, config, out, ctx) {
                Ok(step) => {
                    self.advance(state, ctx.machine);
                    self.streamed(state, ctx);
                    if config.statistics {
                        let count = &mut ctx.machine.status.statistics.gs_invocations;
                        *count = count.wrapping_add(1);
                    }
                    step
                }
                Err(object) => {
                    self.objects.push_front(object);
                    Step::Blocked
                }
            };
        }
        let Some(vertex) = input.pop_front() else {
            return Step::Idle;
        };
        self.assembler
            .keep_adjacent(!state.discard_adjacency, state.leading_adjacency);
        self.assembler.convert(state.converts);
        let machine = &mut *ctx.machine;
        let objects = self.assembler.push(vertex, machine.urb);
        if ctx.draw.vf_statistics {
            let count = &mut machine.status.statistics.ia_primitives;
            *count = count.wrapping_add(primitives(&objects));
        }
        for object in objects.into_iter().flatten() {
            queue(object, state, &mut self.objects);
        }
        Step::Progress
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
