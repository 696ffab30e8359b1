//! Strips and fans: viewport transform, culling, setup threads.
//!
//! PRM: volume 2, strips and fans stage; volume 4, 3.3.8. The order of a triangle's vertices in setup threads is what
//! kernels of Mesa (brw_compile_sf.c) and of the X driver (exa_sf.g4a) rely on; see `topmost`.
//! Not modelled: reordering of the ends of lines.

use std::collections::VecDeque;

use super::Step;
use super::link::{Cargo, Link};
use super::payload::{Deltas, SetupHeader};
use super::stage::{Stage, StepContext};
use super::state::{CullMode, DrawState, SfState, UnitConfig};
use super::topology::{Object, Topology};
use super::wiz::{PrimitiveKind, ScreenVertex, SetupPrimitive};
use crate::intel::debug::{SfPrimitive, SnapshotUnit};
use crate::intel::machine::Machine;
use crate::intel::status::{Busy, Unit};
use crate::intel::td::{Outcome, SlotId, Subject, ThreadRequest, UrbRead, VertexData};
use crate::intel::trace::Event;
use crate::intel::urb::{Owner, Urb, UrbHandle};

/// Ticks of an object besides its thread: viewport transform, culling, setup of the rasteriser.
const OBJECT_TICKS: u64 = 16;

/// A setup thread in flight.
#[derive(Clone, Debug)]
struct Job {
    slot: SlotId,
    object: Object,
    primitive: SetupPrimitive,
}

/// The strips-and-fans unit.
#[derive(Clone, Debug, Default)]
pub struct Sf {
    job: Option<Job>,
    /// The front object's debug side, decided once even if setup must wait.
    numbered: Option<SfPrimitive>,
}

/// An object on the screen.
#[derive(Clone, Copy, Debug)]
struct Setup {
    kind: PrimitiveKind,
    /// Vertices in setup order.
    v: [ScreenVertex; 3],
    /// Entries in the same order.
    handles: [UrbHandle; 3],
    /// Which of the object's vertices they are.
    order: [u8; 3],
    count: usize,
    /// Which of them provokes.
    provoking: u32,
    deltas: Deltas,
    back_facing: bool,
    width: f32,
}

impl Stage for Sf {
    fn part(&self) -> Busy {
        Busy::Sf
    }

    fn takes(&self) -> &'static [Cargo] {
        &[Cargo::Objects]
    }

    fn gives(&self) -> &'static [Cargo] {
        &[Cargo::Primitive]
    }

    fn section<'a>(&self, draw: &'a DrawState) -> Option<(Owner, &'a UnitConfig)> {
        Some((Owner::Sf, &draw.sf.unit))
    }

    fn room(&self, input: &Link) -> bool {
        input.objects.is_empty()
    }

    /// Sets up the next object. The `setup_handle` of the primitive that it puts out holds a reference, which the
    /// stage below releases.
    fn step(&mut self, input: &mut Link, out: &mut Link, ctx: &mut StepContext<'_, '_>) -> Step {
        let outcome = match &self.job {
            Some(job) => ctx.td.resume(job.slot, ctx.machine),
            None => match self.set_up(&mut input.objects, ctx) {
                Ok(outcome) => outcome,
                Err(step) => return step,
            },
        };
        if matches!(outcome, Outcome::InFlight(_)) {
            return Step::Blocked;
        }
        let Some(job) = self.job.take() else {
            return Step::Idle;
        };
        for &handle in job.object.handles() {
            ctx.machine.urb.release(handle);
        }
        out.primitive = Some(job.primitive);
        Step::Progress
    }

    fn resumes_first(&self) -> bool {
        true
    }

    fn busy(&self, input: &Link) -> bool {
        self.job.is_some() || !input.objects.is_empty()
    }
}

impl Sf {
    /// Starts the setup thread of the next object; `Err` is a step in which no thread started.
    fn set_up(
        &mut self,
        input: &mut VecDeque<Object>,
        ctx: &mut StepContext<'_, '_>,
    ) -> Result<Outcome, Step> {
        let Some(&object) = input.front() else {
            return Err(Step::Idle);
        };
        if ctx.must_settle(&ctx.draw.sf.unit) {
            return Err(Step::Settle);
        }
        let (draw, machine) = (ctx.draw, &mut *ctx.machine);
        machine.charge(OBJECT_TICKS);
        let debug = match self.numbered {
            Some(debug) => debug,
            None => *self.numbered.insert(number(&object, draw, machine)),
        };
        let setup = if debug.culled {
            None
        } else {
            setup(&object, &draw.sf, machine.urb)
        };
        let Some(setup) = setup else {
            self.drop_object(input, machine);
            return Err(Step::Progress);
        };
        let Some(entry) = machine.urb.allocate(Owner::Sf) else {
            return Err(Step::Blocked);
        };
        let config = &draw.sf.unit;
        let header = setup.header(&object, &draw.sf);
        let header = ctx.layout.setup(config, entry, &header, debug.thread.r0());
        let mut reads = [UrbRead {
            handle: entry,
            offset: 0,
            rows: 0,
        }; 3];
        for (read, &handle) in reads.iter_mut().zip(&setup.handles) {
            *read = UrbRead {
                handle,
                offset: config.read_offset,
                rows: config.read_rows,
            };
        }
        let outcome = ctx.td.dispatch(
            &ThreadRequest {
                unit: Unit::Sf,
                kernel: config.kernel,
                context: config.context,
                dispatch_mask: 0xff,
                header: &header,
                constants: config.constants(ctx.curbe),
                data: VertexData::Sequential(&reads[..setup.count]),
                pixels: None,
                stream_indices: [0; 4],
                snapshot: debug.thread.flag,
                subject: Subject::Object(machine.status.activity.objects),
            },
            &[],
            machine,
        );
        let Some(outcome) = outcome else {
            machine.urb.release(entry);
            return Err(Step::Blocked);
        };
        input.pop_front();
        let primitive = SetupPrimitive {
            kind: setup.kind,
            v: setup.v,
            order: setup.order,
            reversed: false,
            point_width: setup.width,
            line_width: setup.width,
            back_facing: setup.back_facing,
            topology: object.topology as u8,
            polygon_stipple: object.topology != Topology::TriFanNoStipple,
            stipple_restart: restarts_stipple(&object),
            setup_handle: entry,
            sequence: debug.thread.id,
            snapshot: debug.upstream,
            // The vertex header names viewport and array slice only behind a GS (PRM vol2).
            viewport_index: 0,
            render_target_array_index: 0,
            interpolation: None,
            depth_slope: None,
        };
        self.numbered = None;
        machine.status.activity.objects += 1;
        let (Outcome::Done(slot) | Outcome::InFlight(slot)) = outcome;
        self.job = Some(Job {
            slot,
            object,
            primitive,
        });
        Ok(outcome)
    }

    fn drop_object(&mut self, input: &mut VecDeque<Object>, machine: &mut Machine<'_>) {
        // Culled objects have their number too (PRM vol4 3.3.8).
        self.numbered = None;
        if let Some(object) = input.pop_front() {
            machine.status.activity.objects += 1;
            for &handle in object.handles() {
                machine.urb.release(handle);
            }
        }
    }
}

/// Numbers an object and traps the vertices that it is made of, culled or not (PRM vol4 3.3.8). Mux values 3
/// and 5 print "Vertex 0" for the relative counts; here they are those of vertices 1 and 2, as the clipper's.
pub fn number(object: &Object, draw: &DrawState, machine: &mut Machine<'_>) -> SfPrimitive {
    if machine.trace.is_detailed() {
        let entries = object.handles().iter().map(|handle| handle.0);
        let topology = object.topology as u8;
        machine.note(Event::object(Unit::Sf.ffid(), topology, entries, None));
    }
    let debug = machine.debug.sf_primitive();
    if debug.thread.capture {
        let mut outputs = [0; 8];
        let count = object.count.min(3);
        for (to, tag) in outputs.chunks_exact_mut(2).zip(&object.tags[..count]) {
            to.copy_from_slice(&[tag.origin, tag.relative]);
        }
        outputs[6] = count as u32;
        outputs[7] = draw.sf.unit.kernel.ip;
        machine.debug.capture(SnapshotUnit::Sf, &outputs);
    }
    debug
}

impl Setup {
    /// What the setup thread learns.
    fn header(&self, object: &Object, state: &SfState) -> SetupHeader {
        SetupHeader {
            topology: object.topology,
            sprite_points: state.sprite_points,
            provoking: self.provoking,
            deltas: self.deltas,
            depths: self.v.map(|v| (v.z, v.rhw)),
        }
    }
}

/// A list's lines and the first of a strip or loop begin the line stipple anew; LINESTRIP_CONT goes on with
/// the counter as it stands (PRM volume 2, primitive topologies).
pub fn restarts_stipple(object: &Object) -> bool {
    match object.topology {
        Topology::LineList => true,
        Topology::LineStripCont | Topology::LineStripContBf => false,
        _ => object.first,
    }
}

/// Viewport transform. Only the windower snaps to the sub-pixel grid: the planes of setup go through
/// the vertices as they are, as in Mesa's software rasterisers, whose pictures these then equal.
fn screen(urb: &Urb, handle: UrbHandle, state: &SfState) -> ScreenVertex {
    let row = urb.row(handle, 0).copied().unwrap_or_default();
    let [mut x, mut y, mut z, rhw] = [row[4], row[5], row[6], row[7]].map(f32::from_bits);
    if let Some(viewport) = &state.viewport {
        x = x * viewport.scale[0] + viewport.offset[0];
        y = y * viewport.scale[1] + viewport.offset[1];
        z = z * viewport.scale[2] + viewport.offset[2];
    }
    ScreenVertex { x, y, z, rhw }
}

/// Point width: from the state, or from the vertex header (U8.3 in dword 3 bits 18:8); at least one
/// pixel, as the windower draws it.
fn point_width(object: &Object, state: &SfState, urb: &Urb) -> f32 {
    let width = state.point_width.unwrap_or_else(|| {
        let header = urb.row(object.vertices[0], 0).map_or(0, |row| row[3]);
        ((header >> 8) & 0x7ff) as f32 / 8.0
    });
    width.max(1.0)
}

/// Where the setup thread of a triangle or rectangle begins: the topmost vertex, of several the leftmost.
///
/// The other two follow in the direction in which they came. Mesa says that vertices are ordered by y ahead of setup,
/// so that any of them may provoke, and takes the winding from the determinant's sign, which a turn keeps and a sort
/// would not. The X driver takes `X1 - X0` and `Y1 - Y0` of a rectangle for its width and height: its rectangles come
/// clockwise from the lower right, and only a turn to the upper left makes the lower right the second.
fn topmost(v: &[ScreenVertex; 3]) -> usize {
    let above = |a: usize, b: usize| (v[a].y, v[a].x) < (v[b].y, v[b].x);
    let first = usize::from(above(1, 0));
    if above(2, first) { 2 } else { first }
}

/// Screen-space setup of an object; `None` when it is culled or has no area.
fn setup(object: &Object, state: &SfState, urb: &Urb) -> Option<Setup> {
    let mut order = [0u8, 1, 2];
    // In strip order the odd triangles of a strip wind the other way.
    if object.topology == Topology::TriStripReverse {
        order.swap(0, 1);
    }
    let last = object.count.saturating_sub(1);
    let mut handles = order.map(|i| object.vertices[usize::from(i).min(last)]);
    let mut v = handles.map(|h| screen(urb, h, state));
    if v[..object.count.min(3)]
        .iter()
        .any(|v| !(v.x.is_finite() && v.y.is_finite()))
    {
        return None;
    }
    if object.count == 3 {
        let turn = topmost(&v);
        order.rotate_left(turn);
        handles.rotate_left(turn);
        v.rotate_left(turn);
    }
    let (dx0, dy0) = (v[1].x - v[0].x, v[1].y - v[0].y);
    let (dx2, dy2) = (v[2].x - v[0].x, v[2].y - v[0].y);
    let mut setup = Setup {
        kind: PrimitiveKind::Triangle,
        v,
        handles,
        order,
        count: object.count.min(3),
        provoking: 0,
        deltas: Deltas {
            det: dx0 * dy2 - dx2 * dy0,
            dx0,
            dx2,
            dy0,
            dy2,
        },
        back_facing: false,
        width: 0.0,
    };
    match object.count {
        1 => {
            setup.kind = PrimitiveKind::Point;
            setup.width = point_width(object, state, urb);
            setup.deltas = Deltas {
                dx0: setup.width,
                ..Deltas::default()
            };
        }
        2 => {
            setup.kind = PrimitiveKind::Line;
            setup.provoking = state.provoking_line;
            setup.width = state.line_width;
            setup.deltas = Deltas {
                det: dx0 * dx0 + dy0 * dy0,
                dx0,
                dy0,
                ..Deltas::default()
            };
            if setup.deltas.det == 0.0 {
                return None;
            }
        }
        3 => {
            let select = match object.topology {
                Topology::TriFan | Topology::TriFanNoStipple => state.provoking_fan,
                // A polygon's colour is that of its first vertex.
                Topology::Polygon => 0,
                _ => state.provoking_triangle,
            };
            setup.provoking = order
                .iter()
                .position(|&i| u32::from(i) == select)
                .unwrap_or(0) as u32;
            if object.topology == Topology::RectList {
                setup.kind = PrimitiveKind::Rectangle;
                return (setup.deltas.det != 0.0).then_some(setup);
            }
            // NaN compares false everywhere, so it is dropped here too.
            if setup.deltas.det == 0.0 || setup.deltas.det.is_nan() {
                return None;
            }
            // y points down: a positive determinant is clockwise on the screen.
            let clockwise = setup.deltas.det > 0.0;
            let front = clockwise != state.front_counter_clockwise;
            setup.back_facing = !front;
            let culled = match state.cull {
                CullMode::Both => true,
                CullMode::Front => front,
                CullMode::Back => !front,
                CullMode::Neither => false,
            };
            if culled {
                return None;
            }
        }
        // Quads reach here only when no GS thread made polygons of them.
        _ => return None,
    }
    Some(setup)
}

#[cfg(test)]
mod tests;
