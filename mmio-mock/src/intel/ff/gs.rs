//! Geometry shader unit: objects in, threads, vertex streams out; or nothing.
//!
//! PRM: volume 2, geometry shader stage; volume 4, 3.3.6.
//! Not modelled: reordered triangles of strips (Reorder Enable); stream output is the kernels' own.

use std::collections::VecDeque;

use super::Step;
use super::link::{Cargo, Link};
use super::payload::{ObjectHeader, Outside};
use super::spawn::Emitter;
use super::stage::{Stage, StepContext};
use super::state::{DrawState, GsState, UnitConfig};
use super::topology::{Assembler, Object, StreamVertex};
use crate::intel::machine::Machine;
use crate::intel::status::{Busy, Unit};
use crate::intel::urb::Owner;

/// The geometry shader unit.
#[derive(Clone, Debug)]
pub struct Gs {
    assembler: Assembler,
    objects: VecDeque<Object>,
    threads: Emitter,
    /// Objects of the draw that have had threads.
    number: u32,
}

impl Default for Gs {
    fn default() -> Self {
        Gs {
            assembler: Assembler::default(),
            objects: VecDeque::new(),
            threads: Emitter::new(Unit::Gs, Owner::Gs),
            number: 0,
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

    /// Drops an unfinished primitive at the end of a draw.
    fn finish(&mut self, machine: &mut Machine<'_>) {
        self.number = 0;
        self.assembler.flush(machine.urb);
    }
}

impl Gs {
    fn work(
        &mut self,
        state: &GsState,
        input: &mut VecDeque<StreamVertex>,
        out: &mut VecDeque<StreamVertex>,
        ctx: &mut StepContext<'_, '_>,
    ) -> Step {
        if self.threads.busy() {
            return self.threads.step(out, ctx);
        }
        if let Some(object) = self.objects.pop_front() {
            let config = &state.unit;
            let header = ObjectHeader {
                topology: object.topology,
                edges: [false; 2],
                outside: Outside::default(),
                number: self.number,
            };
            let mask = 0xff;
            return match self.threads.start(object, &header, mask, config, out, ctx) {
                Ok(step) => {
                    self.number = self.number.wrapping_add(1);
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
        self.assembler.keep_adjacent(!state.discard_adjacency);
        let machine = &mut *ctx.machine;
        let objects = self.assembler.push(vertex, machine.urb);
        for object in objects.into_iter().flatten() {
            if ctx.draw.vf_statistics {
                let count = &mut machine.status.statistics.ia_primitives;
                *count = count.wrapping_add(1);
            }
            self.objects.push_back(object);
        }
        Step::Progress
    }
}
