//! Geometry shader unit: objects in, threads, vertex streams out; or nothing.
//!
//! PRM: volume 2, geometry shader stage; volume 4, 3.3.6.
//! Not modelled: reordered triangles of strips (Reorder Enable); stream output is the kernels' own.

use std::collections::VecDeque;

use super::Step;
use super::payload::{ObjectHeader, Outside, PayloadLayout};
use super::spawn::Emitter;
use super::state::{Curbe, DrawState, GsState};
use super::topology::{Assembler, Object, StreamVertex};
use crate::intel::machine::Machine;
use crate::intel::status::Unit;
use crate::intel::td::Td;
use crate::intel::urb::Owner;

/// The geometry shader unit.
#[derive(Clone, Debug)]
pub struct Gs {
    assembler: Assembler,
    objects: VecDeque<Object>,
    threads: Emitter,
}

impl Default for Gs {
    fn default() -> Self {
        Gs {
            assembler: Assembler::default(),
            objects: VecDeque::new(),
            threads: Emitter::new(Unit::Gs, Owner::Gs),
        }
    }
}

impl Gs {
    /// Whether objects wait or a thread runs.
    pub fn busy(&self) -> bool {
        self.threads.busy() || !self.objects.is_empty()
    }

    /// Forgets all work.
    pub fn reset(&mut self) {
        *self = Gs::default();
    }

    /// Drops an unfinished primitive at the end of a draw.
    pub fn finish(&mut self, machine: &mut Machine<'_>) {
        self.assembler.flush(machine.urb);
    }

    /// Passes vertices through, or makes objects of them and runs a thread for each.
    #[expect(clippy::too_many_arguments, reason = "the seam of two fixed functions")]
    pub fn step(
        &mut self,
        draw: &DrawState,
        layout: &dyn PayloadLayout,
        curbe: Option<Curbe>,
        input: &mut VecDeque<StreamVertex>,
        out: &mut VecDeque<StreamVertex>,
        td: &mut Td,
        machine: &mut Machine<'_>,
    ) -> Step {
        let Some(state) = &draw.gs else {
            if input.is_empty() {
                return Step::Idle;
            }
            out.append(input);
            return Step::Progress;
        };
        let before = out.len();
        let step = self.work(state, draw, layout, curbe, input, out, td, machine);
        if state.no_rendering {
            for vertex in out.drain(before..) {
                machine.urb.release(vertex.handle);
            }
        }
        step
    }

    #[expect(clippy::too_many_arguments, reason = "the seam of two fixed functions")]
    fn work(
        &mut self,
        state: &GsState,
        draw: &DrawState,
        layout: &dyn PayloadLayout,
        curbe: Option<Curbe>,
        input: &mut VecDeque<StreamVertex>,
        out: &mut VecDeque<StreamVertex>,
        td: &mut Td,
        machine: &mut Machine<'_>,
    ) -> Step {
        if self.threads.busy() {
            return self.threads.step(out, td, machine);
        }
        if let Some(object) = self.objects.pop_front() {
            let config = &state.unit;
            let header = ObjectHeader {
                topology: object.topology,
                edges: [false; 2],
                outside: Outside::default(),
            };
            let mask = 0xff;
            return match self.threads.start(
                object, &header, mask, config, layout, curbe, out, td, machine,
            ) {
                Ok(step) => {
                    if config.statistics {
                        let count = &mut machine.status.statistics.gs_invocations;
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
        let objects = self.assembler.push(vertex, machine.urb);
        for object in objects.into_iter().flatten() {
            if draw.vf_statistics {
                let count = &mut machine.status.statistics.ia_primitives;
                *count = count.wrapping_add(1);
            }
            self.objects.push_back(object);
        }
        Step::Progress
    }
}
