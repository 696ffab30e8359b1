//! Hull shader unit: vertices in, threads that work together, patches out.
//!
//! Intel's manual of Gen7, volume 2 part 1, HS stage; Mesa brw_vec4_tcs.cpp (threads wait for one another at a barrier). Not modelled: several patches in work
//! at once; vertices that a thread gives back before its end (Mesa, `TCS_OPCODE_RELEASE_INPUT`) stay until all threads of the patch have ended.

use std::collections::VecDeque;

use super::Step;
use super::link::{Cargo, Link, Patch};
use super::payload::{PATCH_POINTS, PATCH_REGISTERS, PatchHeader};
use super::stage::{Stage, StartContext, StepContext};
use super::state::tessellation::INSTANCES;
use super::state::{DrawState, HsState, UnitConfig};
use super::topology::StreamVertex;
use crate::core::fault::UnitFault;
use crate::intel::debug::ThreadDebug;
use crate::intel::machine::Machine;
use crate::intel::status::{Busy, Unit};
use crate::intel::td::{Outcome, Pause, SlotId, Subject, ThreadRequest, UrbRead, VertexData};
use crate::intel::trace::Event;
use crate::intel::urb::{Owner, Urb, UrbHandle};

/// The barrier of the patch in work: there is one at a time.
const BARRIER: u8 = 0;

/// A patch in work.
#[derive(Clone, Copy, Debug)]
struct Work {
    patch: Patch,
    /// Threads that have started.
    launched: u8,
    /// Those of them that live.
    threads: [Option<SlotId>; INSTANCES],
}

/// The hull shader unit.
#[derive(Clone, Debug, Default)]
pub struct Hs {
    /// Entries of the vertices that the next patch has so far, or that the patch in work has.
    vertices: Vec<UrbHandle>,
    /// Vertices of a patch.
    size: usize,
    /// Number of the next patch.
    number: u32,
    /// Threads so far, for their debug words.
    threads: u32,
    work: Option<Work>,
}

impl Stage for Hs {
    fn part(&self) -> Busy {
        Busy::Hs
    }

    fn takes(&self) -> &'static [Cargo] {
        &[Cargo::Vertices]
    }

    fn gives(&self) -> &'static [Cargo] {
        &[Cargo::Patches]
    }

    fn off(&self, draw: &DrawState) -> bool {
        draw.hs.is_none()
    }

    fn section<'a>(&self, draw: &'a DrawState) -> Option<(Owner, &'a UnitConfig)> {
        Some((Owner::Hs, &draw.hs.as_ref()?.unit))
    }

    /// The three stages are switched on together, and work on patches.
    fn start(
        &mut self,
        ctx: &StartContext<'_>,
        _machine: &mut Machine<'_>,
    ) -> Result<(), UnitFault> {
        let refuse = |what: String| Err(UnitFault::Command { unit: "HS", what });
        if ctx.draw.te.is_none() || ctx.draw.ds.is_none() {
            return refuse("HS is enabled without TE and DS".to_owned());
        }
        // Reserved codes are VF's matter.
        let Ok(topology) = ctx.command.topology else {
            return Ok(());
        };
        let Some(size) = topology.patch() else {
            return refuse(format!("3DPRIMITIVE of {topology:?}, which is no patch"));
        };
        self.size = size;
        Ok(())
    }

    fn room(&self, input: &Link) -> bool {
        input.vertices.is_empty()
    }

    /// Collects the vertices of a patch, and runs its threads.
    fn step(&mut self, input: &mut Link, out: &mut Link, ctx: &mut StepContext<'_, '_>) -> Step {
        let Some(state) = &ctx.draw.hs else {
            return Step::Idle;
        };
        if self.work.is_none() {
            if !self.complete() && !self.collect(&mut input.vertices, ctx.machine.urb) {
                return Step::Idle;
            }
            if !self.complete() {
                return Step::Progress;
            }
            if ctx.must_settle(&state.unit) {
                return Step::Settle;
            }
            let counted = ctx.draw.counted_by(Busy::Hs);
            if !self.begin(state, counted, ctx.machine) {
                return Step::Blocked;
            }
        }
        self.run(state, out, ctx)
    }

    fn busy(&self, input: &Link) -> bool {
        self.work.is_some() || self.complete() || !input.vertices.is_empty()
    }

    /// Drops an unfinished patch at the end of a draw.
    fn finish(&mut self, machine: &mut Machine<'_>) {
        self.drop_vertices(machine.urb);
    }
}

impl Hs {
    fn complete(&self) -> bool {
        self.size > 0 && self.vertices.len() >= self.size
    }

    /// Takes vertices until a patch has all of its own; whether there were any.
    fn collect(&mut self, input: &mut VecDeque<StreamVertex>, urb: &mut Urb) -> bool {
        let any = !input.is_empty();
        while !self.complete()
            && let Some(vertex) = input.pop_front()
        {
            if vertex.start {
                self.drop_vertices(urb);
            }
            if vertex.renumber {
                self.number = 0;
            }
            self.vertices.push(vertex.handle);
            if vertex.end && !self.complete() {
                self.drop_vertices(urb);
            }
        }
        any
    }

    fn drop_vertices(&mut self, urb: &mut Urb) {
        for handle in self.vertices.drain(..) {
            urb.release(handle);
        }
    }

    /// Takes up the patch whose vertices are there; `false` when no entry is free for it. It may be
    /// counted as a primitive of the draw.
    fn begin(&mut self, state: &HsState, counted: bool, machine: &mut Machine<'_>) -> bool {
        let Some(entry) = machine.urb.allocate(Owner::Hs) else {
            return false;
        };
        let number = self.number;
        self.number = number.wrapping_add(1);
        self.work = Some(Work {
            patch: Patch { entry, number },
            launched: 0,
            threads: [None; INSTANCES],
        });
        if machine.trace.is_detailed() {
            let entries = self.vertices.iter().map(|handle| handle.0);
            // CAST: the codes of patches of 1 to 32 vertices.
            let topology = 0x1f + self.size as u8;
            machine.note(Event::object(Unit::Hs.ffid(), topology, entries, None));
            machine.note(Event::Patch {
                handle: entry.0,
                number,
            });
        }
        let statistics = &mut machine.status.statistics;
        if counted {
            statistics.ia_primitives = statistics.ia_primitives.wrapping_add(1);
        }
        if state.unit.statistics {
            statistics.hs_invocations = statistics.hs_invocations.wrapping_add(1);
        }
        true
    }

    /// Runs the threads of the patch, one after another, each until it waits for the others.
    fn run(&mut self, state: &HsState, out: &mut Link, ctx: &mut StepContext<'_, '_>) -> Step {
        let Some(mut work) = self.work.take() else {
            return Step::Idle;
        };
        // All of them have to be alive: the first waits for the last.
        while work.launched < state.instances.min(INSTANCES as u8) {
            let Some(slot) = self.launch(&work, state, ctx) else {
                break;
            };
            // PANIC: below the number of instances.
            work.threads[usize::from(work.launched)] = Some(slot);
            work.launched += 1;
        }
        loop {
            let mut moved = false;
            for thread in &mut work.threads {
                let Some(slot) = *thread else {
                    continue;
                };
                match ctx.td.pause(slot) {
                    Pause::Ready => moved = true,
                    Pause::Busy => {}
                    Pause::Wait(_) | Pause::Loops | Pause::Hung => continue,
                }
                let outcome = ctx.td.resume(slot, ctx.machine);
                // What threads write is in the entry.
                ctx.td.events_mut(slot).urb.clear();
                if let Outcome::Done(_) = outcome {
                    *thread = None;
                }
                if ctx.machine.debug.held() {
                    self.work = Some(work);
                    return Step::Blocked;
                }
            }
            let alive = work.threads.iter().any(Option::is_some);
            if !alive && work.launched >= state.instances {
                self.drop_vertices(ctx.machine.urb);
                out.patches.push_back(work.patch);
                return Step::Progress;
            }
            if !alive || !moved || *ctx.machine.budget == 0 {
                self.work = Some(work);
                return Step::Blocked;
            }
        }
    }

    /// Starts the next thread of the patch; `None` when no slot is free.
    fn launch(
        &mut self,
        work: &Work,
        state: &HsState,
        ctx: &mut StepContext<'_, '_>,
    ) -> Option<SlotId> {
        let unit = &state.unit;
        let debug = ThreadDebug {
            id: self.threads & 0x00ff_ffff,
            ..ThreadDebug::default()
        };
        let header = PatchHeader {
            entry: work.patch.entry,
            number: work.patch.number,
            instance: work.launched,
            barrier: BARRIER,
            vertices: if state.vertex_handles {
                &self.vertices
            } else {
                &[]
            },
        };
        let mut registers = [[0; 8]; PATCH_REGISTERS];
        let count = ctx.layout.patch(&mut registers, unit, &header, debug.r0());
        let mut reads = [UrbRead {
            handle: work.patch.entry,
            offset: unit.read_offset,
            rows: unit.read_rows,
        }; PATCH_POINTS];
        for (read, &handle) in reads.iter_mut().zip(&self.vertices) {
            read.handle = handle;
        }
        let slot = ctx.td.launch(
            &ThreadRequest {
                unit: Unit::Hs,
                kernel: unit.kernel,
                context: unit.context,
                // Two instances of the shader, whether the second has work or not (Mesa brw_vec4_tcs.cpp).
                dispatch_mask: 0xff,
                header: &registers[..count.min(PATCH_REGISTERS)],
                constants: unit.constants(ctx.curbe),
                data: VertexData::Sequential(&reads[..self.vertices.len().min(PATCH_POINTS)]),
                pixels: None,
                stream_indices: [0; 4],
                snapshot: debug.flag,
                subject: Subject::Patch {
                    patch: work.patch.number,
                    thread: work.launched,
                },
            },
            &[],
            ctx.machine,
        )?;
        self.threads = self.threads.wrapping_add(1);
        Some(slot)
    }
}
