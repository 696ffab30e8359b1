//! Vertex shader unit: pairs fresh vertices and dispatches SIMD4x2 threads.
//!
//! PRM: volume 2, vertex shader stage; volume 4, 3.3.5 (r0 of VS threads), 8.4 (URB writes).
//! Not modelled: several VS threads in flight at once.

use std::collections::VecDeque;

use super::Step;
use super::link::{Cargo, Fetched, Link};
use super::stage::{Stage, StepContext};
use super::state::{DrawState, UnitConfig};
use super::topology::StreamVertex;
use crate::intel::debug::{SnapshotUnit, ThreadDebug};
use crate::intel::status::{Busy, Unit};
use crate::intel::td::{Outcome, SlotId, Subject, ThreadRequest, UrbRead, VertexData};
use crate::intel::urb::Owner;

/// The vertex shader unit.
#[derive(Clone, Debug, Default)]
pub struct Vs {
    in_flight: Option<SlotId>,
    /// Debug side of the thread to come, kept while a slot is waited for: a thread has one number.
    numbered: Option<ThreadDebug>,
}

impl Stage for Vs {
    fn part(&self) -> Busy {
        Busy::Vs
    }

    fn takes(&self) -> &'static [Cargo] {
        &[Cargo::Fetched]
    }

    fn gives(&self) -> &'static [Cargo] {
        &[Cargo::Vertices]
    }

    fn section<'a>(&self, draw: &'a DrawState) -> Option<(Owner, &'a UnitConfig)> {
        Some((Owner::Vs, &draw.vs.unit))
    }

    /// Vertices gather until a thread can start.
    fn step(&mut self, input: &mut Link, out: &mut Link, ctx: &mut StepContext<'_, '_>) -> Step {
        if self.full(input) {
            self.shade(&mut input.fetched, &mut out.vertices, ctx)
        } else {
            Step::Idle
        }
    }

    fn step_short(
        &mut self,
        input: &mut Link,
        out: &mut Link,
        ctx: &mut StepContext<'_, '_>,
    ) -> Step {
        self.shade(&mut input.fetched, &mut out.vertices, ctx)
    }

    fn busy(&self, input: &Link) -> bool {
        !input.fetched.is_empty() || self.in_flight.is_some()
    }
}

impl Vs {
    /// Whether a thread can start or goes on: two fresh vertices, or as many waiting as may wait.
    fn full(&self, input: &Link) -> bool {
        self.in_flight.is_some()
            || self.numbered.is_some()
            || input.fresh() >= 2
            || input.fetched.len() >= 16
    }

    /// Shades the waiting vertices and passes them on.
    fn shade(
        &mut self,
        pending: &mut Vec<Fetched>,
        out: &mut VecDeque<StreamVertex>,
        ctx: &mut StepContext<'_, '_>,
    ) -> Step {
        let draw = ctx.draw;
        if self.in_flight.is_none() && draw.vs.enable && ctx.must_settle(&draw.vs.unit) {
            return Step::Settle;
        }
        let machine = &mut *ctx.machine;
        if let Some(slot) = self.in_flight {
            return match ctx.td.resume(slot, machine) {
                Outcome::Done(_) => {
                    self.in_flight = None;
                    self.pass(draw, pending, out);
                    Step::Progress
                }
                Outcome::InFlight(_) => Step::Blocked,
            };
        }
        if pending.is_empty() {
            return Step::Idle;
        }
        if !draw.vs.enable {
            if draw.vs.counts_passing && draw.vs.unit.statistics {
                let fresh = pending.iter().filter(|f| f.fresh).count();
                let count = &mut machine.status.statistics.vs_invocations;
                *count = count.wrapping_add(fresh as u64);
            }
            self.pass(draw, pending, out);
            return Step::Progress;
        }
        let mut fresh = pending
            .iter()
            .filter(|f| f.fresh)
            .map(|f| (f.vertex.handle, f.index));
        let Some((first, index)) = fresh.next() else {
            self.pass(draw, pending, out);
            return Step::Progress;
        };
        let (second, second_index) = fresh.next().unzip();
        let unit = &draw.vs.unit;
        let read = |handle| UrbRead {
            handle,
            offset: unit.read_offset,
            rows: unit.read_rows,
        };
        let debug = if let Some(debug) = self.numbered {
            debug
        } else {
            let debug = machine.debug.vs_thread();
            if debug.capture {
                let count = 1 + u32::from(second.is_some());
                let outputs = [index, second_index.unwrap_or(0), count, unit.kernel.ip];
                machine.debug.capture(SnapshotUnit::Vs, &outputs);
            }
            *self.numbered.insert(debug)
        };
        let r0 = ctx.layout.vertices(unit, first, second, debug.r0());
        let outcome = ctx.td.dispatch(
            &ThreadRequest {
                unit: Unit::Vs,
                kernel: unit.kernel,
                context: unit.context,
                dispatch_mask: if second.is_some() { 0xff } else { 0x0f },
                header: &[r0],
                constants: unit.constants(ctx.curbe),
                data: VertexData::Interleaved(read(first), read(second.unwrap_or(first))),
                pixels: None,
                stream_indices: [0; 4],
                snapshot: debug.flag,
                subject: Subject::Vertices([Some(index), second_index]),
            },
            &[],
            machine,
        );
        if unit.statistics && outcome.is_some() {
            let count = &mut machine.status.statistics.vs_invocations;
            *count = count.wrapping_add(1 + u64::from(second.is_some()));
        }
        match outcome {
            None => Step::Blocked,
            Some(Outcome::Done(_)) => {
                self.pass(draw, pending, out);
                Step::Progress
            }
            Some(Outcome::InFlight(slot)) => {
                self.in_flight = Some(slot);
                Step::Blocked
            }
        }
    }

    /// Hands the pending vertices to the next stage, which now owns their references. VF's tag stays
    /// where VS is in bypass mode (PRM vol4 3.3.2).
    fn pass(
        &mut self,
        draw: &DrawState,
        pending: &mut Vec<Fetched>,
        out: &mut VecDeque<StreamVertex>,
    ) {
        let enabled = draw.vs.enable;
        out.extend(pending.drain(..).map(|f| {
            let mut vertex = f.vertex;
            if enabled {
                vertex.tag = vertex.tag.shaded();
            }
            vertex
        }));
        self.numbered = None;
    }
}
