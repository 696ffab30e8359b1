//! WIZ: the windower, which turns set-up primitives into pixel shader threads.
//!
//! PRM: volume 2, windower; volume 4, 3.3.9 (debug), 5.10.6 (what the pixel shader sends on).
//! Rasterisation is exact in fixed point; depth and stencil tests are made here when the state
//! allows it ("promoted"), otherwise the payload carries what the render target write needs.
//!
//! Not modelled: contiguous dispatch (32 pixels), software tiled rendering, threads that mix
//! subspans of several primitives.

mod active;
pub mod depth;
pub mod depth_target;
mod dispatch;
pub mod fixed;
mod hierarchical;
pub mod iz;
pub mod line;
mod plain;
mod plan;
pub mod polygon;
mod run;
mod samples;
pub mod setup;
pub mod shape;
pub mod square;
pub mod stipple;
pub mod thread;

use std::collections::VecDeque;

pub use super::state::windower::{
    DepthResolve, DrawingRectangle, LineStipple, PixelRect, PointRule, PolyStipple, RasterState,
    WizState, WmState,
};
pub use plain::Plain;
pub use run::{Meter, Row};
pub use thread::{Dispatch, PsThread, WizPort};

use active::Active;
use depth::DepthPlane;
use depth_target::DepthTarget;
use dispatch::{SQUARE, Threads, weights};
use iz::IzMode;
use plan::{depth_plane, plan};
use run::{Tail, Taken};
use setup::Outline;
use shape::{Next, Shape, Walk};
use stipple::LineStippleWalk;

use super::payload::interpolation::Interpolation;
use super::payload::pixels::{PixelGroup, Subspan};
use crate::core::fault::UnitFault;
use crate::intel::surface::DepthBuffer;
use crate::intel::urb::UrbHandle;

/// A vertex after the viewport transform, not yet snapped to the subpixel grid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScreenVertex {
    /// Pixels to the right of the drawing rectangle's origin.
    pub x: f32,
    /// Pixels below the drawing rectangle's origin.
    pub y: f32,
    /// Depth.
    pub z: f32,
    /// 1/w.
    pub rhw: f32,
}

/// What the vertices of a primitive mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrimitiveKind {
    /// Three corners.
    #[default]
    Triangle,
    /// Three corners of a rectangle along the axes.
    Rectangle,
    /// Two ends.
    Line,
    /// One centre.
    Point,
}

/// A primitive as strips-and-fans hands it over.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SetupPrimitive {
    /// Kind.
    pub kind: PrimitiveKind,
    /// Vertices in the order in which the setup thread saw them: `v[0]` is the start vertex, where
    /// the attribute and depth planes have their origin. Lines go from `v[0]` to `v[1]` unless
    /// [`Self::reversed`] is set.
    pub v: [ScreenVertex; 3],
    /// Which of the object's vertices `v` are. For sinks only.
    pub order: [u8; 3],
    /// Strips-and-fans exchanged the ends of the line: it is drawn from `v[1]` to `v[0]`.
    pub reversed: bool,
    /// Point width in pixels.
    pub point_width: f32,
    /// Line width in pixels; 0 asks for one-pixel lines by the diamond rule.
    pub line_width: f32,
    /// The back side is seen.
    pub back_facing: bool,
    /// Primitive topology type, five bits (R1.6 of pixel threads).
    pub topology: u8,
    /// Polygon stipple applies (triangles of all topologies but TRIFAN_NOSTIPPLE).
    pub polygon_stipple: bool,
    /// The line stipple pattern starts anew (list lines, first line of a strip or loop).
    pub stipple_restart: bool,
    /// URB entry of the setup thread's result.
    pub setup_handle: UrbHandle,
    /// Primitive sequence number, 24 bits, for debugging.
    pub sequence: u32,
    /// The SF snapshot hit this primitive (PRM vol4 3.3.8).
    pub snapshot: bool,
    /// Viewport index.
    pub viewport_index: u8,
    /// Render target array index.
    pub render_target_array_index: u16,
    /// What changes over the primitive, where no setup thread has computed it.
    pub interpolation: Option<Interpolation>,
    /// The depth offset is added: the slope of depth that it goes by. For primitives without a setup thread.
    pub depth_slope: Option<f64>,
}

impl SetupPrimitive {
    /// The URB entry with the setup thread's result, if there was one.
    pub fn setup_entry(&self) -> Option<UrbHandle> {
        self.interpolation.is_none().then_some(self.setup_handle)
    }
}

/// How far a step came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// No primitive is in work.
    Idle,
    /// Something was done; there may be more.
    Progress,
    /// A thread that lives on, or the lack of a slot, must be waited for.
    Blocked,
}

/// Blocks looked at in one step before control goes back to the caller.
const BLOCKS_PER_STEP: u32 = 4096;
/// Ticks of a block, or of a row of blocks, that was looked at.
const BLOCK_TICKS: u64 = 2;
/// Ticks of a subspan that was tested; a square counts as two.
const TEST_TICKS: u64 = 4;

/// Work that is not paid for yet.
struct Walked {
    /// Blocks that are left of the step's share.
    blocks: u32,
    /// Subspans that were tested.
    tests: u32,
}

impl Default for Walked {
    fn default() -> Self {
        Walked {
            blocks: BLOCKS_PER_STEP,
            tests: 0,
        }
    }
}

impl Walked {
    fn ticks(&self) -> u64 {
        let blocks = u64::from(BLOCKS_PER_STEP - self.blocks);
        blocks * BLOCK_TICKS + u64::from(self.tests) * TEST_TICKS
    }

    /// A thread waits: pays, and begins another step if the port has no other plans.
    #[inline(always)]
    fn go_on<P: WizPort>(&mut self, port: &mut P) -> bool {
        port.charge(std::mem::take(self).ticks());
        port.go_on()
    }
}

/// The windower.
#[derive(Clone, Debug, Default)]
pub struct Wiz {
    active: Option<Active>,
    pending: PixelGroup,
    threads: Threads,
    stipple_counter: u32,
    /// Ticks that are not paid for yet.
    ticks: u64,
    /// Where a pixel has several samples: the shape of the primitive for each.
    shapes: Vec<Shape>,
    /// Lit subspans behind those of the last run of threads: none of them is among the pending ones.
    tail: Option<Tail>,
    /// Slots that are still to go into threads.
    slots: VecDeque<Subspan>,
    /// The slice of a depth buffer whose hierarchical buffer has no marks.
    settled: Option<DepthTarget>,
}

/// The order of subspans in an 8x4 block: column and row of the upper left pixel. Four in a row
/// make a square, which is what a 16-pixel thread gets from a fully covered block.
const SUBSPAN_ORDER: [(u32, u32); 8] = [
    (0, 0),
    (2, 0),
    (0, 2),
    (2, 2),
    (4, 0),
    (6, 0),
    (4, 2),
    (6, 2),
];

impl Wiz {
    /// An idle unit.
    pub fn new() -> Self {
        Self::default()
    }

    /// Drops the primitive in work and everything known of threads.
    pub fn reset(&mut self) {
        self.active = None;
        self.pending.clear();
        self.tail = None;
        self.threads.scoreboard.clear();
        self.threads.tag = None;
        self.stipple_counter = 0;
        self.settled = None;
    }

    /// Whether no primitive is in work and no thread lives.
    pub fn idle(&self) -> bool {
        self.active.is_none() && self.threads.scoreboard.threads() == 0
    }

    /// Whether a primitive is in work: no other may be begun.
    pub fn busy(&self) -> bool {
        self.active.is_some()
    }

    /// A thread that was [`Dispatch::InFlight`] has ended; `false` when it is not one of ours.
    pub fn retire(&mut self, slot: u16) -> bool {
        self.threads.scoreboard.retire(slot)
    }

    /// Loads the running line stipple counter (3DSTATE_LINE_STIPPLE with Modify Enable).
    pub fn load_line_stipple(&mut self, stipple: &LineStipple) {
        self.stipple_counter = stipple
            .current_index
            .wrapping_mul(stipple.repeat_count.max(1))
            .wrapping_add(stipple.current_repeat);
    }

    /// The running line stipple counter, in pixels.
    pub fn line_stipple_counter(&self) -> u32 {
        self.stipple_counter
    }

    /// Takes up a primitive; `false` when it draws nothing (or another one is in work).
    pub fn begin<P: WizPort>(
        &mut self,
        state: &WizState,
        primitive: &SetupPrimitive,
        port: &mut P,
    ) -> Result<bool, UnitFault> {
        if self.active.is_some() {
            return Ok(false);
        }
        let wm = &state.wm;
        if wm.thread_dispatch_enable && wm.dispatch_32 && wm.kernel_32.is_none() {
            return Err(UnitFault::Unimplemented {
                unit: "WIZ",
                what: "contiguous dispatch of 32 pixels",
                prm: "PRM vol2, WM_STATE, 32 Pixel Dispatch Enable",
            });
        }
        let Some(outline) = setup::outline(state, primitive) else {
            return Ok(false);
        };
        let line_stipple = self.line_stipple(state, primitive, &outline);
        let clip = setup::clip(state, primitive.viewport_index);
        self.shapes = samples::shapes(state, primitive);
        let shape = self.shapes.first().map_or(outline.shape, |first| *first);
        let Some(walk) = Walk::new(shape, &self.shapes, clip) else {
            return Ok(false);
        };
        let target = state
            .depth_buffer
            .as_ref()
            .and_then(|b| DepthTarget::new(b, primitive.render_target_array_index));
        let hierarchical = target.and_then(|t| t.hierarchical().map(|buffer| (t, buffer)));
        let marking = self.hierarchical(state, hierarchical, port)?;
        if wm.depth_resolve.is_some() && marking.is_none() {
            // Without a hierarchical buffer the depth buffer is up to date.
            return Ok(false);
        }
        let dispatches = wm.dispatches() && wm.depth_resolve.is_none();
        let dispatches = dispatches && wm.depth_clear.is_none();
        let (case, tests, write) = plan(state, target.as_ref(), primitive.back_facing, dispatches);
        let start = setup::start(state, primitive);
        if !dispatches && !tests.touch() && !wm.unit.statistics && marking.is_none() {
            return Ok(false);
        }
        let needs_depth = tests.depth || tests.depth_write || case.source_depth;
        let plane = match wm.depth_clear {
            Some(depth) => Some(DepthPlane::constant(depth)),
            None => {
                needs_depth.then(|| depth_plane(state, primitive, target.as_ref(), start, port))
            }
        };
        let rect = &state.drawing_rectangle;
        let offset_disable = |b: &DepthBuffer| b.coordinate_offset_disable;
        let depth_origin = if state.depth_buffer.as_ref().is_some_and(offset_disable) {
            // CAST: two's complement, added with wrapping.
            (-rect.origin_x as u32, -rect.origin_y as u32)
        } else {
            (0, 0)
        };
        let single = port.debug().wiz().single_subspan_dispatch() && case.mode != IzMode::Promoted;
        let mut active = Active {
            primitive: *primitive,
            walk,
            block: None,
            covered: None,
            subspan: 0,
            case,
            tests,
            write,
            target,
            plane,
            depth_origin,
            start,
            weights: primitive
                .interpolation
                .as_ref()
                .filter(|_| dispatches)
                .map(|planes| weights(planes, state)),
            smooth: outline.smooth,
            polygon_stipple: wm.polygon_stipple_enable
                && primitive.polygon_stipple
                && primitive.kind == PrimitiveKind::Triangle,
            line_stipple,
            group: match (dispatches, single) {
                (false, _) => 0,
                (true, true) => 1,
                (true, false) => wm.widest() / 4,
            },
            squares: wm.samples.count <= 1
                && wm.samples.mask & 1 != 0
                && !outline.smooth
                && line_stipple.is_none()
                && !wm.polygon_stipple_enable
                && !case.destination_depth
                && !case.destination_stencil,
            single_counts: !square::counts_as_two(&tests, target.as_ref()),
            partial: dispatches
                && case.mode == IzMode::NonPromoted
                && !port.debug().svg_panic_dispatch_disabled(),
            square: None,
            foreseen: (i32::MIN, i32::MIN),
            marking,
            plain: false,
            runs: false,
            rows: false,
        };
        active.plain = plain::applies(state, &active);
        active.runs = run::applies(state, &active);
        active.rows = run::rows(&active);
        self.active = Some(active);
        self.slots.clear();
        self.pending.clear();
        self.tail = None;
        self.threads.tag = None;
        Ok(true)
    }

    fn line_stipple(
        &mut self,
        state: &WizState,
        primitive: &SetupPrimitive,
        outline: &Outline,
    ) -> Option<LineStippleWalk> {
        if primitive.kind != PrimitiveKind::Line || !state.wm.line_stipple_enable {
            return None;
        }
        if primitive.stipple_restart {
            self.stipple_counter = 0;
        }
        let [from, to, _] = outline.points;
        let walk = LineStippleWalk::new(
            &state.line_stipple,
            self.stipple_counter,
            [from, to],
            &outline.shape,
        );
        self.stipple_counter = walk.end();
        Some(walk)
    }

    /// Works on the primitive until a thread was started, the step's share of blocks is used up,
    /// or the primitive is done. A fault drops the primitive.
    #[inline(always)]
    pub fn step<P: WizPort>(&mut self, state: &WizState, port: &mut P) -> Result<Step, UnitFault> {
        let mut walked = Walked::default();
        let step = self.work(state, port, &mut walked);
        self.ticks += walked.ticks();
        step
    }

    /// Ticks of what was walked and tested since the last call.
    pub fn take_ticks(&mut self) -> u64 {
        std::mem::take(&mut self.ticks)
    }

    #[inline(always)]
    fn work<P: WizPort>(
        &mut self,
        state: &WizState,
        port: &mut P,
        walked: &mut Walked,
    ) -> Result<Step, UnitFault> {
        let Some(active) = &mut self.active else {
            return Ok(Step::Idle);
        };
        loop {
            if active.group > 0 && self.pending.subspans().len() >= active.group {
                let step = self.threads.flush(state, active, &mut self.pending, port);
                if step == Step::Progress && port.waits() && walked.go_on(port) {
                    continue;
                }
                return Ok(step);
            }
            if let Some(slot) = self.slots.pop_front() {
                self.pending.push(slot);
                continue;
            }
            let Some(block) = active.block else {
                match active.walk.next_block(&self.shapes, &mut walked.blocks) {
                    Next::Block(block) if active.marking.is_some() => {
                        if let Err(fault) = active.mark(state, &block, port) {
                            self.active = None;
                            return Err(fault);
                        }
                        continue;
                    }
                    Next::Block(block) => {
                        if active.squares {
                            active.foresee(&block, port);
                        }
                        active.subspan = 0;
                        active.covered = None;
                        active.block = Some(block);
                        let row = active.rows
                            && block.mask == u32::MAX
                            && self.pending.subspans().is_empty()
                            && self.threads.scoreboard.threads() == 0
                            && port.takes_rows(state.wm.kernel(SQUARE).0);
                        if !row {
                            continue;
                        }
                        let blocks =
                            1 + active
                                .walk
                                .full_behind(block.x, &self.shapes, BLOCKS_PER_STEP);
                        let blocks = (&block, blocks, walked.ticks());
                        let tail = &mut self.tail;
                        let (taken, goes_on) = self.threads.row(state, active, tail, blocks, port);
                        if taken > 0 {
                            *walked = Walked::default();
                            active.pass_row(&block, taken);
                        }
                        if !goes_on {
                            return Ok(Step::Progress);
                        }
                        continue;
                    }
                    Next::Budget => return Ok(Step::Progress),
                    Next::End if self.tail.is_some() => {
                        run::settle(&mut self.tail, &mut self.pending);
                        continue;
                    }
                    Next::End if self.pending.subspans().is_empty() => {}
                    Next::End => {
                        let step = self.threads.flush(state, active, &mut self.pending, port);
                        if step == Step::Blocked {
                            return Ok(step);
                        }
                    }
                }
                self.active = None;
                return Ok(Step::Progress);
            };
            let Some(&(dx, dy)) = SUBSPAN_ORDER.get(active.subspan as usize) else {
                if active.partial && !self.pending.subspans().is_empty() {
                    return Ok(self.threads.flush(state, active, &mut self.pending, port));
                }
                active.block = None;
                continue;
            };
            if active.subspan.is_multiple_of(4)
                && active.squares
                && active.square.is_none()
                && self.threads.scoreboard.threads() == 0
            {
                let rows = block.mask >> dx & 0x0f0f_0f0f;
                // The four bits of each row, next to each other.
                let mask = (rows | rows >> 4) & 0x00ff_00ff;
                let mask = (mask | mask >> 8) as u16;
                if mask == 0 {
                    active.subspan += 4;
                    continue;
                }
                if !active.single_counts {
                    walked.tests += 2;
                }
                active.test_square(state, (block.x, block.y, dx), mask, port);
            }
            if let Some(square) = &active.square {
                let lit = square.lit;
                // CAST: the clip rectangle lies within 0..=0xffff.
                let at = ((block.x as u32 + dx) as u16, (block.y as u32 + dy) as u16);
                if active.subspan.is_multiple_of(4)
                    && square.passed == [15; SQUARE]
                    && active.group == SQUARE
                    && self.tail.is_none()
                    && self.pending.subspans().is_empty()
                    && self.threads.spare(state, &active.primitive, at, port)
                {
                    if active.single_counts {
                        walked.tests += 4;
                    }
                    active.pass_square();
                    if walked.go_on(port) {
                        continue;
                    }
                    return Ok(Step::Progress);
                }
                let first = active.subspan as usize & 3;
                let before = active.subspan;
                if active.runs {
                    let (tail, pending) = (&mut self.tail, &mut self.pending);
                    let taken = self
                        .threads
                        .run(state, active, (tail, pending), &block, port);
                    if active.single_counts && taken != Taken::Nothing {
                        walked.tests += active.subspan - before;
                    }
                    match taken {
                        Taken::Thread if walked.go_on(port) => continue,
                        Taken::Thread => return Ok(Step::Progress),
                        Taken::Tail => continue,
                        Taken::Nothing => {}
                    }
                }
                run::settle(&mut self.tail, &mut self.pending);
                active.gather(&block, &mut self.pending);
                if active.single_counts {
                    let looked = (active.subspan - before) as usize;
                    let lit = lit.iter().skip(first).take(looked).filter(|lit| **lit != 0);
                    // CAST: four at most.
                    walked.tests += lit.count() as u32;
                }
                continue;
            }
            run::settle(&mut self.tail, &mut self.pending);
            let at = dy * 8 + dx;
            let bits = block.mask >> at & 3 | (block.mask >> (at + 8) & 3) << 2;
            if bits == 0 {
                active.subspan += 1;
                continue;
            }
            walked.tests += 1;
            // CAST: the clip rectangle lies within 0..=0xffff.
            let (x, y) = (block.x as u32 + dx, block.y as u32 + dy);
            if self.threads.scoreboard.blocks(x as u16, y as u16)
                && !port.debug().wiz().ignore_scoreboard()
            {
                return Ok(Step::Blocked);
            }
            active.subspan += 1;
            if state.wm.samples.count > 1 {
                let covers = || samples::coverage(&self.shapes, (block.x, block.y, block.mask));
                let all = *active.covered.get_or_insert_with(covers);
                let coverage = all.map(|mask| (mask >> at & 3 | (mask >> (at + 8) & 3) << 2) as u8);
                match active.sampled(state, (x, y), coverage, port) {
                    Ok(Some(subspan)) if active.group > 0 && state.wm.samples.per_sample => {
                        let slots = {
                            let count = state.wm.samples.count;
                            samples::by_sample(&subspan, count, active.group)
                        };
                        self.slots.extend(slots);
                    }
                    Ok(Some(subspan)) if active.group > 0 => self.pending.push(subspan),
                    Ok(_) => {}
                    Err(fault) => {
                        self.active = None;
                        return Err(fault);
                    }
                }
                continue;
            }
            if let Err(fault) = active.subspan(state, (x, y), bits as u8, &mut self.pending, port) {
                self.active = None;
                return Err(fault);
            }
        }
    }

    /// Steps until the primitive is done or must wait.
    pub fn run<P: WizPort>(&mut self, state: &WizState, port: &mut P) -> Result<Step, UnitFault> {
        loop {
            match self.step(state, port)? {
                Step::Progress => {}
                step => return Ok(step),
            }
        }
    }
}

#[cfg(test)]
mod tests;
