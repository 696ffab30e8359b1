//! Primitives whose threads are kept as records: what they begin with.
//!
//! PRM: volume 2, windower. Only for pixels of one sample each, of which neither depth nor anything besides goes into a thread.

use eu::Grf;

use super::iz::IzMode;
use super::{Active, WizState};
use crate::intel::ff::payload::PayloadLayout;
use crate::intel::ff::payload::pixels::{
    Payload, PayloadState, PixelGroup, PixelParts, PixelWeights, Subspan,
};
use crate::intel::shared::context::{SAMPLES, ThreadPixels};
use crate::intel::td::wave::{Record, Recorded, Run};

/// A primitive whose threads are told apart by their pixels alone.
#[derive(Debug)]
pub struct Plain {
    layout: &'static dyn PayloadLayout,
    /// Without weights, and what the record says.
    state: PayloadState<'static>,
    weights: Option<PixelWeights>,
    headerless: bool,
}

/// Whether the threads of a primitive can be kept as records.
pub(super) fn applies(state: &WizState, active: &Active) -> bool {
    let case = &active.case;
    state.wm.samples.count <= 1
        && !active.smooth
        && case.mode != IzMode::Computed
        && case.parts() == PixelParts::default()
}

impl Plain {
    /// A primitive of which [`applies`] has said so; `payload` is what each of its threads gets.
    pub(super) fn new(
        layout: &'static dyn PayloadLayout,
        payload: &PayloadState<'_>,
        headerless: bool,
    ) -> Plain {
        Plain {
            layout,
            state: PayloadState {
                weights: None,
                ..*payload
            },
            weights: payload.weights.copied(),
            headerless,
        }
    }
}

impl Recorded for Plain {
    fn fill(&self, record: &Record, registers: &mut [Grf]) -> usize {
        let mut group = PixelGroup::default();
        for (n, &at) in (0..record.subspans).zip(&record.origins) {
            let mut subspan = Subspan::default();
            // CAST: four bits.
            subspan.set(at, (record.mask >> (4 * n) & 15) as u8, [0.0; 4]);
            group.push(subspan);
        }
        let mut payload = Payload::into(registers);
        let state = PayloadState {
            debug: record.debug,
            width: record.width,
            weights: self.weights.as_ref(),
            ..self.state
        };
        self.layout.pixels(&mut payload, &state, &group);
        payload.count()
    }

    fn fill_whole(&self, run: &Run, origins: &[(u16, u16); 4], registers: &mut [Grf]) -> usize {
        let state = PayloadState {
            debug: run.debug,
            width: 16,
            weights: self.weights.as_ref(),
            ..self.state
        };
        self.layout.whole(registers, &state, origins)
    }

    fn pixels(&self, record: &Record, pixels: &mut ThreadPixels) {
        pixels.origins = record.origins;
        pixels.mask = record.mask;
        let mut one = [0; SAMPLES];
        one[0] = record.mask;
        pixels.coverage = one;
        pixels.alpha = None;
        pixels.back_facing = self.state.back_facing;
        pixels.viewport = self.state.viewport_index;
        pixels.array_index = self.state.render_target_array_index;
        pixels.late_tests = false;
        pixels.count_depth = false;
        let planes = self.weights.as_ref().and_then(PixelWeights::asked);
        if planes.is_some() || pixels.planes.is_some() {
            pixels.planes = planes;
        }
    }

    fn headerless(&self) -> bool {
        self.headerless
    }
}
