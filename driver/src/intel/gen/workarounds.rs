//! Lists of workarounds by device.
//!
//! i915 `intel_workarounds.c`, names as there.
use regs::any::reg::{CACHE_MODE_0, ECOSKPD, MI_MODE};
use regs::gen50::reg::N3D_CHICKEN2;

use crate::intel::workarounds::Workaround;

const DISABLE_RENDER_CACHE_OPERATIONAL_FLUSH: Workaround = Workaround {
    name: "WaDisable_RenderCache_OperationalFlush",
    reason: "i915: RC_OP_FLUSH_ENABLE is cleared on all of this family",
    register: CACHE_MODE_0.offset(),
    set: 0,
    clear: 1 << 0,
    verify: 1 << 0,
};

const TIMED_SINGLE_VERTEX_DISPATCH: Workaround = Workaround {
    name: "WaTimedSingleVertexDispatch",
    reason: "i915: without VS_TIMER_DISPATCH a lone vertex waits for a second one",
    register: MI_MODE.offset(),
    set: 1 << 6,
    clear: 0,
    verify: 1 << 6,
};

const CONSTANT_BUFFER_SR_DISABLE: Workaround = Workaround {
    name: "ECO_CONSTANT_BUFFER_SR_DISABLE",
    reason: "i915: a CONSTANT_BUFFER of the context image would be executed on restore with a stale address and hang",
    register: ECOSKPD.offset(),
    set: 1 << 4,
    clear: 0,
    // i915: the bit does not stick on Broadwater, so it is verified nowhere.
    verify: 0,
};

const DISABLE_RENDER_CACHE_PIPELINED_FLUSH: Workaround = Workaround {
    name: "WaDisableRenderCachePipelinedFlush",
    reason: "i915: pipelined flushes of the render cache are off on G45 and Ironlake",
    register: CACHE_MODE_0.offset(),
    set: 1 << 8,
    clear: 0,
    verify: 1 << 8,
};

const WM_READ_PIPELINED: Workaround = Workaround {
    name: "_3D_CHICKEN2_WM_READ_PIPELINED",
    reason: "i915: set on Ironlake",
    register: N3D_CHICKEN2.offset(),
    set: 1 << 14,
    clear: 0,
    verify: 1 << 14,
};

/// Device workarounds of the 965 family.
pub const I965_GT: &[Workaround] = &[DISABLE_RENDER_CACHE_OPERATIONAL_FLUSH];

/// Device workarounds of G45 and GM45.
pub const G45_GT: &[Workaround] = &[
    DISABLE_RENDER_CACHE_OPERATIONAL_FLUSH,
    DISABLE_RENDER_CACHE_PIPELINED_FLUSH,
];

/// Device workarounds of Ironlake.
pub const IRONLAKE_GT: &[Workaround] = &[
    DISABLE_RENDER_CACHE_OPERATIONAL_FLUSH,
    DISABLE_RENDER_CACHE_PIPELINED_FLUSH,
    WM_READ_PIPELINED,
];

/// Render engine workarounds of the 965's mobile parts, G45 and GM45.
pub const RENDER_ENGINE: &[Workaround] =
    &[TIMED_SINGLE_VERTEX_DISPATCH, CONSTANT_BUFFER_SR_DISABLE];

/// Render engine workarounds of Ironlake.
pub const IRONLAKE_ENGINE: &[Workaround] = &[TIMED_SINGLE_VERTEX_DISPATCH];

/// Render engine workarounds of the 965's desktop parts, where VS_TIMER_DISPATCH does not read back.
pub const I965G_ENGINE: &[Workaround] = &[
    Workaround {
        verify: 0,
        ..TIMED_SINGLE_VERTEX_DISPATCH
    },
    CONSTANT_BUFFER_SR_DISABLE,
];
