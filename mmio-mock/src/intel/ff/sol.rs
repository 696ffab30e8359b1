//! Stream output logic: objects into memory, one stream of vertices onwards.
//!
//! ValleyView PRM, volume 2 part 2: 3DSTATE_STREAMOUT, 3DSTATE_SO_BUFFER, 3DSTATE_SO_DECL_LIST. Adjacent vertices are not written,
//! and quadrilaterals are the two triangles that they are drawn as. Not modelled: patches, of which nothing is written.

mod buffers;

use super::Step;
use super::link::{Cargo, Link, Streamed};
use super::stage::{Stage, StartContext, StepContext};
use super::state::DrawState;
use super::state::streams::StreamsState;
use super::topology::{Assembler, StreamVertex, primitives};
use crate::core::fault::UnitFault;
use crate::intel::machine::Machine;
use crate::intel::status::{Busy, Client, STREAMS};

/// Ticks of an object that is written.
const OBJECT_TICKS: u64 = 8;

/// The stream output logic.
#[derive(Clone, Debug, Default)]
pub struct Sol {
    state: StreamsState,
    /// Objects of each stream.
    assemblers: [Assembler; STREAMS],
}

impl Stage for Sol {
    fn part(&self) -> Busy {
        Busy::Sol
    }

    fn takes(&self) -> &'static [Cargo] {
        &[Cargo::Vertices, Cargo::Streams]
    }

    fn gives(&self) -> &'static [Cargo] {
        &[Cargo::Vertices]
    }

    fn off(&self, draw: &DrawState) -> bool {
        !draw.streams && draw.geometry.is_none()
    }

    fn start(
        &mut self,
        ctx: &StartContext<'_>,
        _machine: &mut Machine<'_>,
    ) -> Result<(), UnitFault> {
        self.state = ctx.reader.streams(ctx.state);
        if odd(ctx.draw) && self.state.rendered.is_some() {
            return Err(UnitFault::Command {
                unit: "SOL",
                what: "vertices of an odd number of 128 bits are to be rendered".to_owned(),
            });
        }
        Ok(())
    }

    fn room(&self, input: &Link) -> bool {
        input.vertices.is_empty() && input.streams.is_empty()
    }

    /// Hands vertices on, or takes one into the objects of its stream.
    fn step(&mut self, input: &mut Link, out: &mut Link, ctx: &mut StepContext<'_, '_>) -> Step {
        if self.room(input) {
            return Step::Idle;
        }
        if !self.state.enable && !ctx.draw.counted_by(Busy::Sol) {
            return self.select(input, out, ctx.machine);
        }
        if self.state.enable && ctx.kept.any() {
            // Pixel threads that wait may read what is about to be written.
            return Step::Settle;
        }
        let plain = input.vertices.pop_front().map(Streamed::from);
        let Some(next) = plain.or_else(|| input.streams.pop_front()) else {
            return Step::Idle;
        };
        if let Err(fault) = self.take(next, out, ctx.draw, ctx.machine) {
            let place = || format!("SOL, stream {}", next.stream);
            ctx.machine.fault(Client::RenderCache, fault, place);
            return Step::Dead;
        }
        Step::Progress
    }

    fn busy(&self, input: &Link) -> bool {
        !self.room(input)
    }

    /// Drops unfinished primitives at the end of a draw.
    fn finish(&mut self, machine: &mut Machine<'_>) {
        for assembler in &mut self.assemblers {
            assembler.flush(machine.urb);
        }
    }
}

impl From<StreamVertex> for Streamed {
    /// A vertex that no geometry shader has put out.
    fn from(vertex: StreamVertex) -> Self {
        Streamed { vertex, stream: 0 }
    }
}

/// Whether every other vertex begins in the middle of a row.
fn odd(draw: &DrawState) -> bool {
    let geometry = draw.geometry.as_ref();
    geometry.is_some_and(|geometry| geometry.vertex_size % 2 == 1)
}

impl Sol {
    /// Hands on what is rendered; nothing is written.
    fn select(&self, input: &mut Link, out: &mut Link, machine: &mut Machine<'_>) -> Step {
        let rendered = self.state.rendered;
        if rendered == Some(0) && out.vertices.is_empty() {
            std::mem::swap(&mut input.vertices, &mut out.vertices);
        }
        let plain = input.vertices.drain(..).map(Streamed::from);
        for Streamed { vertex, stream } in plain.chain(input.streams.drain(..)) {
            if rendered == Some(stream) {
                out.vertices.push_back(vertex);
            } else {
                machine.urb.release(vertex.handle);
            }
        }
        Step::Progress
    }

    /// Takes a vertex into the objects of its stream, and hands it on if it is rendered.
    fn take(
        &mut self,
        next: Streamed,
        out: &mut Link,
        draw: &DrawState,
        machine: &mut Machine<'_>,
    ) -> Result<(), UnitFault> {
        let Streamed { vertex, stream } = next;
        let rendered = self.state.rendered == Some(stream);
        if rendered {
            machine.urb.reference(vertex.handle);
        }
        // PANIC: a remainder.
        let assembler = &mut self.assemblers[usize::from(stream) % STREAMS];
        assembler.convert(true);
        let objects = assembler.push(vertex, machine.urb);
        if draw.counted_by(Busy::Sol) {
            let count = &mut machine.status.statistics.ia_primitives;
            *count = count.wrapping_add(primitives(&objects));
        }
        let mut result = Ok(());
        for object in objects.iter().flatten() {
            if self.state.enable && result.is_ok() {
                machine.charge(OBJECT_TICKS);
                result = buffers::write(object, stream, &self.state, odd(draw), machine);
            }
            for &handle in object.handles() {
                machine.urb.release(handle);
            }
        }
        if rendered {
            out.vertices.push_back(vertex);
        }
        result
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
