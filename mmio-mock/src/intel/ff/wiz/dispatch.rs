//! Thread dispatch: the payload of collected subspans, the dispatcher's answer.
//!
//! PRM: volume 2, windower; volume 4, 3.3.9 (thread numbers and the snapshot).

use eu::Grf;

use super::iz::IzMode;
use super::plain::Plain;
use super::plan::origin;
use super::thread::{Dispatch, PsThread, Scoreboard, WizPort};
use super::{Active, SetupPrimitive, Step, WizState, WmState};
use crate::intel::debug::{ThreadDebug, WizPayload};
use crate::intel::ff::payload::interpolation::Interpolation;
use crate::intel::ff::payload::pixels::{
    MAX_REGISTERS, MAX_SUBSPANS, Payload, PayloadState, PixelGroup, PixelParts, PixelWeights,
};
use crate::intel::shared::context::{PIXELS, SAMPLES, ThreadPixels};
use crate::intel::td::KernelState;
use crate::intel::td::wave::Record;

/// Subspans of a square.
pub(super) const SQUARE: usize = 4;

/// Threads: numbers, payload, and the subspans of those that live on.
#[derive(Clone, Debug)]
pub(super) struct Threads {
    /// Those of the thread that starts.
    registers: [Grf; MAX_REGISTERS],
    pub(super) scoreboard: Scoreboard,
    /// Debug side of the collected subspans; kept while a slot is waited for.
    pub(super) tag: Option<ThreadDebug>,
    pub(super) fftid: u8,
    /// What is kept of the pixels of the thread that starts.
    pixels: ThreadPixels,
}

impl Default for Threads {
    fn default() -> Self {
        Threads {
            registers: [Grf::default(); MAX_REGISTERS],
            scoreboard: Scoreboard::default(),
            tag: None,
            fftid: 0,
            pixels: ThreadPixels::default(),
        }
    }
}

/// What threads get of the weights of a primitive's vertices.
pub(super) fn weights(planes: &Interpolation, state: &WizState) -> PixelWeights {
    let wm = &state.wm;
    PixelWeights {
        planes: *planes,
        origin: origin(state),
        modes: wm.barycentrics,
        w: wm.pixel_shader_uses_source_w,
        depth_location: wm.position_zw,
        offsets: wm.position_xy_offset,
        coverage: wm.input_coverage,
        asked: wm.interpolates,
        samples: wm.samples.places,
        sample_count: wm.samples.count,
        pixel: [state.raster.origin_bias_x, state.raster.origin_bias_y],
    }
}

/// Which values of depth and stencil the payload carries. Tests that come after the kernel read depth from the payload where the write message needs no header.
fn parts(active: &Active, wm: &WmState) -> PixelParts {
    let parts = active.case.parts();
    PixelParts {
        source_depth: parts.source_depth && (!wm.headerless || wm.pixel_shader_uses_source_depth),
        ..parts
    }
}

/// What render target writes without a header find.
fn find_pixels(pixels: &mut ThreadPixels, group: &PixelGroup, state: &WizState, active: &Active) {
    let primitive = &active.primitive;
    let late = active.case.mode == IzMode::Computed;
    let sampled = state.wm.samples.count > 1;
    pixels.mask = group.pixel_mask();
    pixels.back_facing = primitive.back_facing;
    pixels.viewport = primitive.viewport_index;
    pixels.array_index = primitive.render_target_array_index;
    pixels.late_tests = late;
    pixels.count_depth = late && state.wm.unit.statistics;
    pixels.coverage = if sampled {
        coverage(group)
    } else {
        let mut one = [0; SAMPLES];
        one[0] = pixels.mask;
        one
    };
    for (to, s) in pixels.origins.iter_mut().zip(group.subspans()) {
        *to = (s.x, s.y);
    }
    if late {
        find_depth(&mut pixels.depth, group, sampled);
    }
    let planes = active.weights.as_ref().and_then(PixelWeights::asked);
    if planes.is_some() || pixels.planes.is_some() {
        pixels.planes = planes;
    }
    if active.smooth {
        pixels.alpha = Some(alpha(group));
    } else if pixels.alpha.is_some() {
        pixels.alpha = None;
    }
}

/// Lit channels by samples.
fn coverage(group: &PixelGroup) -> [u32; SAMPLES] {
    let mut coverage = [0; SAMPLES];
    for (i, s) in group.subspans().iter().enumerate() {
        for (sample, (to, lit)) in coverage.iter_mut().zip(s.coverage).enumerate() {
            let wanted = s.sample.is_none_or(|only| usize::from(only) == sample);
            if wanted {
                *to |= u32::from(lit & 15) << (i * 4);
            }
        }
    }
    coverage
}

/// Source depth of the channels.
fn find_depth(depth: &mut [[f32; PIXELS]; SAMPLES], group: &PixelGroup, sampled: bool) {
    for (i, s) in group.subspans().iter().enumerate() {
        // PANIC: a group has no more subspans than a thread has channels for.
        let at = i * 4..i * 4 + 4;
        if sampled {
            for (to, depth) in depth.iter_mut().zip(&s.sample_depth) {
                to[at.clone()].copy_from_slice(depth);
            }
        } else {
            depth[0][at].copy_from_slice(&s.depth);
        }
    }
}

/// Antialias alpha of the channels.
fn alpha(group: &PixelGroup) -> [u8; PIXELS] {
    let mut alpha = [0; PIXELS];
    for (to, s) in alpha.chunks_exact_mut(4).zip(group.subspans()) {
        for (pixel, to) in to.iter_mut().enumerate() {
            // CAST: a nibble.
            *to = (s.alpha >> (pixel * 4) & 15) as u8;
        }
    }
    alpha
}

impl Threads {
    /// Starts the thread for the collected subspans.
    pub(super) fn flush<P: WizPort>(
        &mut self,
        state: &WizState,
        active: &Active,
        pending: &mut PixelGroup,
        port: &mut P,
    ) -> Step {
        let wm = &state.wm;
        if self.scoreboard.threads() >= wm.maximum_threads as usize {
            return Step::Blocked;
        }
        let primitive = &active.primitive;
        let tag = match self.tag {
            Some(tag) => tag,
            None => *self.tag.insert(tag(pending, primitive, wm, port)),
        };
        let (kernel, width) = wm.kernel(pending.subspans().len());
        let payload = self.state(state, active, tag, width);
        if active.plain {
            let layout = port.layout();
            let record = record(pending, (kernel, width), tag);
            let primitive = || Plain::new(layout, &payload, wm.headerless);
            if port.wait(record, primitive) {
                self.started(pending.pixel_mask().count_ones(), port);
                pending.clear();
                return Step::Progress;
            }
        }
        let one_sample = wm.samples.count <= 1 && !active.smooth;
        let square = pending.square().is_some() && one_sample;
        let mut registers = Payload::into(&mut self.registers);
        port.layout().pixels(&mut registers, &payload, pending);
        let count = registers.count().min(MAX_REGISTERS);
        if wm.headerless {
            find_pixels(&mut self.pixels, pending, state, active);
        }
        let outcome = port.dispatch(&PsThread {
            kernel,
            dispatch_mask: pending.dispatch_mask(),
            // PANIC: no more than there are.
            payload: &self.registers[..count],
            setup: primitive.setup_entry(),
            pixels: wm.headerless.then_some(&self.pixels),
            fftid: self.fftid,
            square,
            plain: active.plain,
            snapshot: tag.flag,
        });
        match outcome {
            Dispatch::Full => return Step::Blocked,
            Dispatch::Done => {}
            Dispatch::InFlight(slot) => self.scoreboard.enter(slot, pending),
        }
        self.started(pending.pixel_mask().count_ones(), port);
        pending.clear();
        Step::Progress
    }

    /// What a thread of the primitive gets, besides its pixels.
    #[inline]
    pub(super) fn state<'a>(
        &self,
        state: &WizState,
        active: &'a Active,
        tag: ThreadDebug,
        width: u8,
    ) -> PayloadState<'a> {
        let (unit, primitive) = (&state.wm.unit, &active.primitive);
        let context = &unit.context;
        PayloadState {
            color_calc_state: state.color_calc_state,
            sampler_state: context.sampler_state_pointer,
            scratch_space: unit.scratch_power,
            scratch_base: context.scratch_base,
            binding_table: context.binding_table_pointer,
            fftid: self.fftid,
            debug: tag.r0(),
            start: active.start,
            back_facing: primitive.back_facing,
            topology: primitive.topology,
            antialias: active.smooth,
            viewport_index: primitive.viewport_index,
            render_target_array_index: primitive.render_target_array_index,
            parts: parts(active, &state.wm),
            width,
            weights: active.weights.as_ref(),
        }
    }

    /// The thread of so many pixels has started, or was spared.
    #[inline]
    pub(super) fn started<P: WizPort>(&mut self, pixels: u32, port: &mut P) {
        port.count_invocations(pixels);
        self.tag = None;
        self.fftid = self.fftid.wrapping_add(1);
    }

    /// Does without the thread of a whole square whose upper left pixel is `at`, if that is possible.
    #[inline]
    pub(super) fn spare<P: WizPort>(
        &mut self,
        state: &WizState,
        primitive: &SetupPrimitive,
        at: (u16, u16),
        port: &mut P,
    ) -> bool {
        let kernel = state.wm.kernel(SQUARE).0;
        if self.tag.is_some() || !port.spare(kernel, at) {
            return false;
        }
        super::run::number(primitive, kernel, port.debug());
        self.started(16, port);
        true
    }
}

/// The thread of the collected subspans of a plain primitive.
#[inline]
fn record(group: &PixelGroup, (kernel, width): (&KernelState, u8), tag: ThreadDebug) -> Record {
    let mut origins = [(0, 0); MAX_SUBSPANS];
    for (to, s) in origins.iter_mut().zip(group.subspans()) {
        *to = (s.x, s.y);
    }
    Record {
        primitive: 0,
        kernel: *kernel,
        width,
        registers: 0,
        // CAST: eight at most.
        subspans: group.subspans().len() as u8,
        origins,
        mask: group.pixel_mask(),
        debug: tag.r0(),
        snapshot: tag.flag,
    }
}

/// Numbers a thread and lets the snapshot logic look at its subspans (PRM vol4 3.3.9).
fn tag<P: WizPort>(
    group: &PixelGroup,
    primitive: &SetupPrimitive,
    wm: &WmState,
    port: &mut P,
) -> ThreadDebug {
    let mut at = [(0, 0); MAX_SUBSPANS];
    let mut count = 0;
    if port.debug().wiz().armed() {
        count = group.subspans().len();
        for (to, s) in at.iter_mut().zip(group.subspans()) {
            *to = (u32::from(s.x), u32::from(s.y));
        }
    }
    // PANIC: a group holds at most MAX_SUBSPANS subspans.
    port.debug().wiz_payload(&WizPayload {
        subspans: &at[..count],
        primitive: primitive.sequence,
        upstream: primitive.snapshot,
        kernel_pointer: wm.kernel(group.subspans().len()).0.ip,
    })
}
