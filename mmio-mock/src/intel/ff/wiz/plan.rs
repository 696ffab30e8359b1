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

/// Which tests are made here, and whether they write.
pub(super) fn plan(
    state: &WizState,
    target: Option<&DepthTarget>,
    back_facing: bool,
    dispatches: bool,
) -> (IzCase, Tests, bool) {
    let present = target.is_some();
    let has_stencil = target.is_some_and(|t| t.format.has_stencil());
    let (wm, depth, stencil) = (&state.wm, &state.cc.depth, &state.cc.stencil);
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
        face: if back_facing && stencil.double_sided {
            stencil.back
        } else {
            stencil.front
        },
    };
    (case, tests, promoted)
}

pub(super) fn depth_plane<P: WizPort>(
    state: &WizState,
    primitive: &SetupPrimitive,
    target: Option<&DepthTarget>,
    start: [f32; 2],
    port: &P,
) -> DepthPlane {
    let wm = &state.wm;
    let row = wm.depth_coefficient_urb_read_offset;
    let row = port.urb_row(primitive.setup_handle, row);
    let mut plane = DepthPlane::new(&row, start, state.cc.depth_range);
    if wm.global_depth_offset_enable && primitive.kind == PrimitiveKind::Triangle {
        let z = primitive.v.iter().fold(0.0f32, |m, v| m.max(v.z.abs()));
        let unit = if wm.legacy_global_depth_bias_enable {
            1.0
        } else {
            target.map_or(0.0, |t| resolution(t.format, z))
        };
        let mut offset = f64::from(wm.global_depth_offset_constant) * unit
            + f64::from(wm.global_depth_offset_scale) * plane.max_slope();
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
