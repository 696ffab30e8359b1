//! Several samples of a pixel: which are covered, and what becomes of each.
//!
//! PRM: volume 2, windower (multisample rasterization; pixel shader dispatch by sample).

use super::depth::{DepthPlane, test_subspan};
use super::shape::Shape;
use super::thread::WizPort;
use super::{Active, PrimitiveKind, SetupPrimitive, WizState, setup};
use crate::core::fault::UnitFault;
use crate::intel::ff::payload::pixels::Subspan;
use crate::intel::shared::context::SAMPLES;

/// The shapes of all samples of a primitive; nothing where they are covered as their pixel is.
pub(super) fn shapes(state: &WizState, primitive: &SetupPrimitive) -> Vec<Shape> {
    let samples = &state.wm.samples;
    if samples.count <= 1 || !samples.pattern {
        return Vec::new();
    }
    let outline = |place: &[f32; 2]| setup::outline_at(state, primitive, *place);
    let places = samples.places.iter().take(samples.count.into());
    let shapes = places.map(outline);
    let shapes: Option<Vec<_>> = shapes.map(|outline| Some(outline?.shape)).collect();
    shapes.unwrap_or_default()
}

/// The pixels that each sample of a block covers, as far as the block's mask has them.
pub(super) fn coverage(shapes: &[Shape], (x, y, mask): (i32, i32, u32)) -> [u32; SAMPLES] {
    let mut coverage = [mask; SAMPLES];
    for (bits, shape) in coverage.iter_mut().zip(shapes) {
        *bits &= shape.block(x, y);
    }
    coverage
}

impl Active {
    /// Stipple, sample mask and early tests of one subspan with several samples; what is left of it.
    pub(super) fn sampled<P: WizPort>(
        &self,
        state: &WizState,
        (x, y): (u32, u32),
        mut coverage: [u8; SAMPLES],
        port: &mut P,
    ) -> Result<Option<Subspan>, UnitFault> {
        let samples = &state.wm.samples;
        let pixels = self.stippled(state, (x, y), 15);
        for (sample, bits) in coverage.iter_mut().enumerate() {
            let written = samples.mask >> sample & 1 != 0 && sample < usize::from(samples.count);
            *bits &= if written { pixels } else { 0 };
        }
        // CAST: coordinates are below 2^16.
        let mut subspan = Subspan {
            x: x as u16,
            y: y as u16,
            ..Subspan::default()
        };
        let (px, py) = (x as i32, y as i32);
        let raster = &state.raster;
        let pixel = [raster.origin_bias_x, raster.origin_bias_y];
        let depths = &mut subspan.sample_depth;
        let each = coverage.iter_mut().zip(depths).zip(samples.places);
        let each = each.take(samples.count.into());
        for (sample, ((bits, depth), place)) in (0..).zip(each) {
            let by = if samples.pattern {
                [place[0] - pixel[0], place[1] - pixel[1]]
            } else {
                [0.0; 2]
            };
            let plane = self.plane.as_ref().map(|plane| plane.moved(by));
            *depth = plane.map_or([0.0; 4], |plane: DepthPlane| plane.subspan(px, py));
            if *bits != 0
                && self.tests.touch()
                && let Some(target) = &self.target
            {
                let at = (
                    x.wrapping_add(self.depth_origin.0),
                    y.wrapping_add(self.depth_origin.1),
                );
                let target = &target.of_sample(sample);
                let tests = &self.tests;
                *bits = test_subspan(target, port.memory(), at, *bits, depth, tests, self.write)?;
            }
        }
        if let Some(plane) = &self.plane {
            subspan.depth = plane.subspan(px, py);
        }
        if state.wm.unit.statistics && !self.case.late_count {
            port.count_depth(coverage.iter().map(|bits| bits.count_ones()).sum());
        }
        subspan.coverage = coverage;
        subspan.mask = coverage.iter().fold(0, |all, bits| all | bits);
        Ok((subspan.mask != 0).then_some(subspan))
    }
}

/// The slots of a subspan in threads that are for single samples of so many: `slots` at a time, and of those that a kernel
/// gets together at least one is lit.
pub(super) fn by_sample(
    subspan: &Subspan,
    count: u8,
    slots: usize,
) -> impl Iterator<Item = Subspan> + '_ {
    let count = count.clamp(1, SAMPLES as u8);
    let each = (0..count).map(|sample| Subspan {
        mask: subspan.coverage[usize::from(sample)],
        depth: subspan.sample_depth[usize::from(sample)],
        sample: Some(sample),
        ..*subspan
    });
    let count = usize::from(count);
    let together = slots.clamp(1, count);
    let lit = move |slot: &Subspan| {
        let first = usize::from(slot.sample.unwrap_or(0)) / together * together;
        let group = first..(first + together).min(count);
        subspan.coverage[group].iter().any(|bits| *bits != 0)
    };
    each.filter(lit)
}

/// Whether a line is drawn as a rectangle around it: where samples are covered by themselves.
pub(super) fn lines_are_rectangles(state: &WizState, kind: PrimitiveKind) -> bool {
    kind == PrimitiveKind::Line && state.wm.samples.count > 1 && state.wm.samples.pattern
}
