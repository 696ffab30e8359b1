//! Vertex shader unit: pairs fresh vertices and dispatches SIMD4x2 threads.
//!
//! PRM: volume 2, vertex shader stage; volume 4, 3.3.5 (r0 of VS threads), 8.4 (URB writes).
//! Not modelled: several VS threads in flight at once.

use std::collections::VecDeque;

use super::Step;
use super::payload::PayloadLayout;
use super::state::{Curbe, DrawState};
use super::topology::StreamVertex;
use super::vf::Fetched;
use crate::intel::debug::{SnapshotUnit, ThreadDebug};
use crate::intel::machine::Machine;
use crate::intel::status::Unit;
use crate::intel::td::{Outcome, SlotId, Subject, Td, ThreadRequest, UrbRead, VertexData};

/// The vertex shader unit.
#[derive(Clone, Debug, Default)]
pub struct Vs {
    /// Vertices in order, waiting for the thread that shades the fresh ones among them.
    pending: Vec<Fetched>,
    in_flight: Option<SlotId>,
    /// Debug side of the thread to come, kept while a slot is waited for: a thread has one number.
    numbered: Option<ThreadDebug>,
}

impl Vs {
    /// Whether vertices wait or a thread runs.
    pub fn busy(&self) -> bool {
        !self.pending.is_empty() || self.in_flight.is_some()
    }

    /// Fresh vertices that wait for a thread.
    pub fn fresh(&self) -> usize {
        self.pending.iter().filter(|f| f.fresh).count()
    }

    /// Takes a vertex from VF.
    pub fn push(&mut self, fetched: Fetched) {
        self.pending.push(fetched);
    }

    /// Whether a thread can start: two fresh vertices, or as many waiting as may wait.
    pub fn full(&self) -> bool {
        self.in_flight.is_some()
            || self.numbered.is_some()
            || self.fresh() >= 2
            || self.pending.len() >= 16
    }

    /// Forgets all work.
    pub fn reset(&mut self) {
        *self = Vs::default();
    }

    /// Shades the waiting vertices and passes them on.
    pub fn step(
        &mut self,
        draw: &DrawState,
        layout: &dyn PayloadLayout,
        curbe: Option<Curbe>,
        out: &mut VecDeque<StreamVertex>,
        td: &mut Td,
        machine: &mut Machine<'_>,
    ) -> Step {
        if let Some(slot) = self.in_flight {
            return match td.resume(slot, machine) {
                Outcome::Done(_) => {
                    self.in_flight = None;
                    self.pass(draw, out);
                    Step::Progress
                }
                Outcome::InFlight(_) => Step::Blocked,
            };
        }
        if self.pending.is_empty() {
            return Step::Idle;
        }
        if !draw.vs.enable {
            self.pass(draw, out);
            return Step::Progress;
        }
        let mut fresh = self
            .pending
            .iter()
            .filter(|f| f.fresh)
            .map(|f| (f.vertex.handle, f.index));
        let Some((first, index)) = fresh.next() else {
            self.pass(draw, out);
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
        let r0 = layout.vertices(unit, first, second, debug.r0());
        let outcome = td.dispatch(
            &ThreadRequest {
                unit: Unit::Vs,
                kernel: unit.kernel,
                context: unit.context,
                dispatch_mask: if second.is_some() { 0xff } else { 0x0f },
                header: &[r0],
                constants: unit.constants(curbe),
                data: VertexData::Interleaved(read(first), read(second.unwrap_or(first))),
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
                self.pass(draw, out);
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
    fn pass(&mut self, draw: &DrawState, out: &mut VecDeque<StreamVertex>) {
        let enabled = draw.vs.enable;
        out.extend(self.pending.drain(..).map(|f| {
            let mut vertex = f.vertex;
            if enabled {
                vertex.tag = vertex.tag.shaded();
            }
            vertex
        }));
        self.numbered = None;
    }
}
