//! Clipper: fixed-function clip test, trivial accept and reject, clip threads.
//!
//! PRM: volume 2, clip stage; volume 4, 3.3.7.
//! Not modelled: vertex reuse between objects that pass unclipped (objects travel on their own).

use std::collections::VecDeque;

use super::Step;
use super::link::{Cargo, Link};
use super::payload::{ObjectHeader, Outside};
use super::spawn::Emitter;
use super::stage::{Stage, StepContext};
use super::state::{ApiMode, ClipMode, ClipState, DrawState, PositionSpace, UnitConfig};
use super::topology::{Assembler, Object, StreamVertex, Topology, primitives};
use crate::intel::machine::Machine;
use crate::intel::status::{Busy, Unit};
use crate::intel::urb::{Owner, Urb, UrbHandle};

/// Outcode bits: those of [`Outside::planes`].
mod outcode {
    pub const ZMAX: u32 = 1 << 0;
    pub const ZMIN: u32 = 1 << 1;
    pub const YMAX: u32 = 1 << 2;
    pub const YMIN: u32 = 1 << 3;
    pub const XMAX: u32 = 1 << 4;
    pub const XMIN: u32 = 1 << 5;
}

/// Ticks of a clip test.
const TEST_TICKS: u64 = 8;

/// What the clip test says of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Reject,
    Accept,
    /// Needs a thread, which clips at these planes.
    Clip(Outside),
}

/// The clipper.
#[derive(Clone, Debug)]
pub struct Cl {
    input: Assembler,
    objects: VecDeque<Object>,
    threads: Emitter,
    /// Vertices that clip threads emitted, cut into objects again.
    emitted: VecDeque<StreamVertex>,
    output: Assembler,
}

impl Default for Cl {
    fn default() -> Self {
        Cl {
            input: Assembler::default(),
            objects: VecDeque::new(),
            threads: Emitter::new(Unit::Clip, Owner::Clip),
            emitted: VecDeque::new(),
            output: Assembler::default(),
        }
    }
}

impl Stage for Cl {
    fn part(&self) -> Busy {
        Busy::Clip
    }

    fn takes(&self) -> &'static [Cargo] {
        &[Cargo::Vertices]
    }

    fn gives(&self) -> &'static [Cargo] {
        &[Cargo::Objects]
    }

    fn section<'a>(&self, draw: &'a DrawState) -> Option<(Owner, &'a UnitConfig)> {
        let state = draw.clip.as_ref()?;
        Some((Owner::Clip, &state.unit))
    }

    fn room(&self, input: &Link) -> bool {
        input.vertices.is_empty()
    }

    /// Assembles, tests and passes on; starts a thread for what must be clipped.
    fn step(&mut self, input: &mut Link, out: &mut Link, ctx: &mut StepContext<'_, '_>) -> Step {
        let (draw, out) = (ctx.draw, &mut out.objects);
        if let Some(vertex) = self.emitted.pop_front() {
            let before = out.len();
            let objects = self.output.push(vertex, ctx.machine.urb);
            out.extend(objects.into_iter().flatten());
            if draw.clip.as_ref().is_some_and(|clip| clip.unit.statistics) {
                let count = &mut ctx.machine.status.statistics.cl_primitives;
                *count = count.wrapping_add((out.len() - before) as u64);
            }
            return Step::Progress;
        }
        if self.threads.busy() {
            return self.threads.step(&mut self.emitted, ctx);
        }
        if let (Some(object), Some(state)) = (self.objects.front(), &draw.clip)
            && ctx.kept.any()
            && matches!(test(object, state, ctx.machine.urb), Verdict::Clip(_))
            && ctx.must_settle(&state.unit)
        {
            return Step::Settle;
        }
        if let Some(object) = self.objects.pop_front() {
            return self.object(object, out, ctx);
        }
        let Some(vertex) = input.vertices.pop_front() else {
            return Step::Idle;
        };
        let objects = assemble(&mut self.input, vertex, draw, ctx.machine);
        self.objects.extend(objects.into_iter().flatten());
        Step::Progress
    }

    fn busy(&self, _input: &Link) -> bool {
        self.threads.busy() || !self.objects.is_empty() || !self.emitted.is_empty()
    }

    /// Drops unfinished primitives at the end of a draw.
    fn finish(&mut self, machine: &mut Machine<'_>) {
        self.input.flush(machine.urb);
        self.output.flush(machine.urb);
    }
}

/// Makes objects of the next vertex, and counts them.
pub fn assemble(
    assembler: &mut Assembler,
    vertex: StreamVertex,
    draw: &DrawState,
    machine: &mut Machine<'_>,
) -> [Option<Object>; 2] {
    let objects = assembler.push(vertex, machine.urb);
    let count = objects.iter().flatten().count() as u64;
    let statistics = &mut machine.status.statistics;
    if draw.counted_by(Busy::Clip) {
        let count = primitives(&objects);
        statistics.ia_primitives = statistics.ia_primitives.wrapping_add(count);
    }
    if draw.gs.is_some_and(|gs| gs.output_statistics) {
        statistics.gs_primitives = statistics.gs_primitives.wrapping_add(count);
    }
    objects
}

impl Cl {
    fn object(
        &mut self,
        object: Object,
        out: &mut VecDeque<Object>,
        ctx: &mut StepContext<'_, '_>,
    ) -> Step {
        let Some(state) = &ctx.draw.clip else {
            out.push_back(object);
            return Step::Progress;
        };
        let config = &state.unit;
        let machine = &mut *ctx.machine;
        machine.charge(TEST_TICKS);
        let verdict = test(&object, state, machine.urb);
        let statistics = &mut machine.status.statistics;
        if let Verdict::Clip(outside) = verdict {
            return match self.clip(object, outside, config, ctx) {
                Ok(step) => {
                    if config.statistics {
                        let count = &mut ctx.machine.status.statistics.cl_invocations;
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
        if config.statistics {
            statistics.cl_invocations = statistics.cl_invocations.wrapping_add(1);
        }
        if verdict == Verdict::Accept {
            if config.statistics {
                statistics.cl_primitives = statistics.cl_primitives.wrapping_add(1);
            }
            if machine
                .debug
                .clip_passes(&object.tags.map(|t| t.origin)[..object.count.min(3)])
            {
                self.threads.capture(&object, config.kernel.ip, machine);
            }
            out.push_back(object);
        } else {
            for &handle in object.handles() {
                machine.urb.release(handle);
            }
        }
        Step::Progress
    }

    fn clip(
        &mut self,
        object: Object,
        outside: Outside,
        config: &UnitConfig,
        ctx: &mut StepContext<'_, '_>,
    ) -> Result<Step, Object> {
        let whole = object.topology != Topology::Polygon;
        let header = ObjectHeader {
            topology: object.topology,
            edges: [whole || object.first, whole || object.last],
            outside,
            number: 0,
            stream: None,
        };
        // Clip kernels run with NoMask: they find only four channels enabled.
        let mask = 0x0f;
        let out = &mut self.emitted;
        self.threads.start(object, &header, mask, config, out, ctx)
    }
}

/// Position of a vertex: NDC x, y, z and 1/w (VUE dwords 4 to 7), and the user clip flags of the
/// vertex header (dword 3, bits 7:0).
fn vertex(urb: &Urb, handle: UrbHandle) -> ([f32; 4], u32) {
    let row = urb.row(handle, 0).copied().unwrap_or_default();
    let position = [row[4], row[5], row[6], row[7]].map(f32::from_bits);
    (position, row[3] & 0xff)
}

/// Outcodes of a position against a box. A negative 1/w turns every comparison round: the
/// products with w are what clip space compares.
fn outcodes(p: [f32; 4], x: (f32, f32), y: (f32, f32)) -> u32 {
    let behind = p[3] < 0.0;
    let below = |v: f32, bound: f32| if behind { v > bound } else { v < bound };
    let above = |v: f32, bound: f32| if behind { v < bound } else { v > bound };
    let mut code = 0;
    for (out, bit) in [
        (below(p[0], x.0), outcode::XMIN),
        (above(p[0], x.1), outcode::XMAX),
        (below(p[1], y.0), outcode::YMIN),
        (above(p[1], y.1), outcode::YMAX),
    ] {
        if out {
            code |= bit;
        }
    }
    code
}

fn outcodes_z(p: [f32; 4], near: f32) -> u32 {
    let behind = p[3] < 0.0;
    let low = if behind { p[2] > near } else { p[2] < near };
    let high = if behind { p[2] < 1.0 } else { p[2] > 1.0 };
    (u32::from(low) * outcode::ZMIN) | (u32::from(high) * outcode::ZMAX)
}

/// The fixed-function clip test.
fn test(object: &Object, state: &ClipState, urb: &Urb) -> Verdict {
    match state.mode {
        ClipMode::RejectAll => return Verdict::Reject,
        ClipMode::AcceptAll => return Verdict::Accept,
        ClipMode::Normal | ClipMode::ClipNonRejected => {}
    }
    let (x, y) = match state.space {
        PositionSpace::Ndc => ((-1.0, 1.0), (-1.0, 1.0)),
        PositionSpace::Screen => (state.screen.x, state.screen.y),
    };
    let near = match (state.api, state.space) {
        (ApiMode::OpenGl, PositionSpace::Ndc) => -1.0,
        _ => 0.0,
    };
    let user_mask = state.user_planes;

    let (mut all, mut any) = (u32::MAX, 0);
    let (mut user_all, mut user_any) = (u32::MAX, 0);
    let mut must = 0;
    for &handle in object.handles() {
        let (position, flags) = vertex(urb, handle);
        if position.iter().any(|c| c.is_nan()) {
            return Verdict::Reject;
        }
        let mut code = 0;
        if state.test_xy {
            code |= outcodes(position, x, y);
        }
        if state.test_z {
            code |= outcodes_z(position, near);
        }
        must |= if let Some(guardband) = &state.guardband {
            let band = outcodes(position, guardband.x, guardband.y);
            band | (code & (outcode::ZMIN | outcode::ZMAX))
        } else {
            code
        };
        let flags = flags & user_mask;
        all &= code;
        any |= code;
        user_all &= flags;
        user_any |= flags;
    }
    // Points have no extent here: one outside the viewport is dropped, as GL 2.1 wants it.
    if all != 0 || user_all != 0 {
        return Verdict::Reject;
    }
    let user_clip = if state.user_must_clip { user_any } else { 0 };
    let normal = state.mode == ClipMode::Normal;
    if normal && must == 0 && user_clip == 0 {
        return Verdict::Accept;
    }
    // Inside the guard band the viewport planes need no clipping, so only `must` reaches the
    // kernel in the usual mode.
    Verdict::Clip(Outside {
        planes: if normal { must } else { any },
        user: user_any,
    })
}

#[cfg(test)]
mod tests;
