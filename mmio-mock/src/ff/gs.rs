//! Geometry shader unit: objects in, threads, vertex streams out; or nothing.
//!
//! PRM: volume 2, geometry shader stage; volume 4, 3.3.6.
//! Not modelled: reordered triangles of strips (Reorder Enable); stream output is the kernels' own.

use std::collections::VecDeque;

use super::Step;
use super::spawn::Spawner;
use super::state::{Curbe, DrawState};
use super::topology::{Assembler, Object, StreamVertex};
use crate::machine::Machine;
use crate::status::Unit;
use crate::td::Td;
use crate::urb::Owner;

/// The geometry shader unit.
#[derive(Clone, Debug)]
pub struct Gs {
    assembler: Assembler,
    objects: VecDeque<Object>,
    spawner: Spawner,
}

impl Default for Gs {
    fn default() -> Self {
        Gs {
            assembler: Assembler::default(),
            objects: VecDeque::new(),
            spawner: Spawner::new(Unit::Gs, Owner::Gs),
        }
    }
}

impl Gs {
    /// Whether objects wait or a thread runs.
    pub fn busy(&self) -> bool {
        self.spawner.busy() || !self.objects.is_empty()
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
    pub fn step(
        &mut self,
        draw: &DrawState,
        curbe: Option<Curbe>,
        input: &mut VecDeque<StreamVertex>,
        out: &mut VecDeque<StreamVertex>,
        td: &mut Td,
        machine: &mut Machine<'_>,
    ) -> Step {
        let Some((config, state)) = &draw.gs else {
            if input.is_empty() {
                return Step::Idle;
            }
            out.append(input);
            return Step::Progress;
        };
        if self.spawner.busy() {
            return self.spawner.step(out, td, machine);
        }
        if let Some(object) = self.objects.pop_front() {
            // r0.2 bits 4:0: topology of the object.
            let mask = 0xff;
            return match self.spawner.start(
                object,
                object.topology as u32,
                mask,
                config,
                curbe,
                out,
                td,
                machine,
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
        self.assembler.keep_adjacent(!state.discard_adjacency());
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
