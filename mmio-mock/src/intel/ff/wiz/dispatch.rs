//! Thread dispatch: the payload of collected subspans, the dispatcher's answer.
//!
//! PRM: volume 2, windower; volume 4, 3.3.9 (thread numbers and the snapshot).

use super::thread::{Dispatch, PsThread, Scoreboard, WizPort};
use super::{Active, SetupPrimitive, Step, WizState, WmState};
use crate::intel::debug::{ThreadDebug, WizPayload};
use crate::intel::ff::payload::pixels::{MAX_SUBSPANS, Payload, PayloadState, PixelGroup};

/// Threads: numbers, payload, and the subspans of those that live on.
#[derive(Clone, Debug, Default)]
pub(super) struct Threads {
    payload: Payload,
    pub(super) scoreboard: Scoreboard,
    /// Debug side of the collected subspans; kept while a slot is waited for.
    pub(super) tag: Option<ThreadDebug>,
    fftid: u8,
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
        let (context, kernel) = (&wm.unit.context, wm.kernel());
        port.layout().pixels(
            &mut self.payload,
            &PayloadState {
                color_calc_state: state.color_calc_state,
                sampler_state: context.sampler_state_pointer,
                scratch_space: wm.unit.scratch_power,
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
                parts: active.case.parts(),
            },
            pending,
        );
        let outcome = port.dispatch(&PsThread {
            kernel,
            dispatch_mask: pending.dispatch_mask(),
            payload: self.payload.registers(),
            setup: primitive.setup_handle,
            fftid: self.fftid,
            snapshot: tag.flag,
        });
        match outcome {
            Dispatch::Full => return Step::Blocked,
            Dispatch::Done => {}
            Dispatch::InFlight(slot) => self.scoreboard.enter(slot, pending),
        }
        port.count_invocations(pending.pixel_mask().count_ones());
        pending.clear();
        self.tag = None;
        self.fftid = self.fftid.wrapping_add(1);
        Step::Progress
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
        kernel_pointer: wm.kernel().ip,
    })
}
