//! What depth and stencil state asks for: the case, the early tests, the plane.
//!
//! PRM: volume 2, windower (early depth test cases, global depth offset).
//!
//! Not modelled: promotion that depends on the pixel's position.

use super::depth::{DepthPlane, Tests};
use super::depth_target::{DepthTarget, resolution};
use super::iz::{IzCase, IzInputs, IzMode};
use super::thread::WizPort;
use super::{PrimitiveKind, SetupPrimitive, WizState};
use crate::intel::cc::stencil::Face;
use crate::intel::ff::state::windower::TestOrder;

/// Which tests are made here, and whether they write.
pub(super) fn plan(
    state: &WizState,
    target: Option<&DepthTarget>,
    back_facing: bool,
    dispatches: bool,
) -> (IzCase, Tests, bool) {
    let present = target.is_some_and(DepthTarget::has_depth);
    let has_stencil = target.is_some_and(DepthTarget::has_stencil);
    let (wm, depth, stencil) = (&state.wm, &state.cc.depth, &state.cc.stencil);
    if wm.headerless {
        return plan_headerless(state, target, back_facing, dispatches);
    }
    // Without a kernel nothing can change after the tests: they are all made here.
    let computed = dispatches && wm.pixel_shader_computed_depth;
    let case = IzCase::new(IzInputs {
        kill: dispatches && (wm.pixel_shader_kills_pixel || state.cc.alpha_test.is_some()),
        computed_depth: computed,
        depth_write: depth.write && present,
        depth_test: depth.test && present,
        stencil_write: stencil.write,
        stencil_test: stencil.test,
        early: wm.early_depth_test_enable || !dispatches,
        statistics: wm.unit.statistics,
        uses_source_depth: wm.pixel_shader_uses_source_depth,
    });
    let promoted = case.mode == IzMode::Promoted;
    // A non-promoted stencil test has no stencil writes (see `IzCase`), so to make it here too
    // changes nothing but spares threads. Computed depth is not known yet.
    let here = case.mode != IzMode::Computed;
    let known = !computed;
    let tests = Tests {
        depth: here && depth.test && present && (known || promoted),
        depth_write: promoted && depth.write && present && known,
        function: depth.function,
        stencil: here && stencil.test && has_stencil && (promoted || !stencil.write),
        stencil_write: promoted && stencil.write,
        face: face(state, back_facing),
    };
    (case, tests, promoted)
}

fn face(state: &WizState, back_facing: bool) -> Face {
    let stencil = &state.cc.stencil;
    if back_facing && stencil.double_sided {
        stencil.back
    } else {
        stencil.front
    }
}

/// The same where render target writes make the tests that have to wait for the kernel: all of them or none. What a kernel
/// may kill is not counted before.
fn plan_headerless(
    state: &WizState,
    target: Option<&DepthTarget>,
    back_facing: bool,
    dispatches: bool,
) -> (IzCase, Tests, bool) {
    let (wm, depth, stencil) = (&state.wm, &state.cc.depth, &state.cc.stencil);
    let present = target.is_some_and(DepthTarget::has_depth);
    if wm.depth_clear.is_some() {
        // Nothing is compared, and stencil stays.
        let clear = Tests {
            depth_write: present,
            ..Tests::default()
        };
        return (IzCase::default(), clear, true);
    }
    let kills = wm.pixel_shader_kills_pixel || state.cc.alpha_test.is_some();
    let (depth_write, stencil_write) = target.map_or((false, false), DepthTarget::writes);
    let wanted = Tests {
        depth: depth.test && present,
        depth_write: depth.write && present && depth_write,
        function: depth.function,
        stencil: stencil.test && target.is_some_and(DepthTarget::has_stencil),
        stencil_write: stencil.write && stencil_write,
        face: face(state, back_facing),
    };
    let matters = wanted.touch() || wm.unit.statistics;
    let late = dispatches
        && matters
        && match wm.test_order {
            TestOrder::Normal => kills || wm.pixel_shader_computed_depth,
            TestOrder::Behind => true,
            TestOrder::Ahead => false,
        };
    let case = IzCase {
        mode: if late {
            IzMode::Computed
        } else {
            IzMode::Promoted
        },
        source_depth: wm.pixel_shader_uses_source_depth || late,
        late_count: late,
        ..IzCase::default()
    };
    if late {
        (case, Tests::default(), false)
    } else {
        (case, wanted, true)
    }
}

/// What is added to a pixel's coordinates to find its sample point on the screen that strips-and-fans' planes are for.
pub(super) fn origin(state: &WizState) -> [f64; 2] {
    let (raster, rect) = (&state.raster, &state.drawing_rectangle);
    [
        f64::from(raster.origin_bias_x) - f64::from(rect.origin_x),
        f64::from(raster.origin_bias_y) - f64::from(rect.origin_y),
    ]
}

pub(super) fn depth_plane<P: WizPort>(
    state: &WizState,
    primitive: &SetupPrimitive,
    target: Option<&DepthTarget>,
    start: [f32; 2],
    port: &P,
) -> DepthPlane {
    let wm = &state.wm;
    let range = match state.limits(primitive.viewport_index) {
        Some(limits) => Some(limits.depth),
        None => state.cc.depth_range,
    };
    let (mut plane, slope) = if let Some(planes) = &primitive.interpolation {
        let plane = DepthPlane::of(&planes.depth, origin(state), range);
        (plane, primitive.depth_slope)
    } else {
        let row = wm.depth_coefficient_urb_read_offset;
        let row = port.urb_row(primitive.setup_handle, row);
        let plane = DepthPlane::new(&row, start, range);
        let offset = wm.global_depth_offset_enable && primitive.kind == PrimitiveKind::Triangle;
        (plane, offset.then(|| plane.max_slope()))
    };
    if let Some(slope) = slope {
        let z = primitive.v.iter().fold(0.0f32, |m, v| m.max(v.z.abs()));
        let unit = if wm.legacy_global_depth_bias_enable {
            1.0
        } else {
            target.map_or(0.0, |t| resolution(t.format, z))
        };
        let mut offset = f64::from(wm.global_depth_offset_constant) * unit
            + f64::from(wm.global_depth_offset_scale) * slope;
        let clamp = f64::from(state.depth_offset_clamp);
        if clamp > 0.0 {
            offset = offset.min(clamp);
        } else if clamp < 0.0 {
            offset = offset.max(clamp);
        }
        plane.offset(offset);
    }
    plane
}
