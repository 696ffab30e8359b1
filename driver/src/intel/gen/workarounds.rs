//! Lists of workarounds by device.
//!
//! i915 `intel_workarounds.c`, names as there.
use regs::any::reg::{ECOSKPD, MI_MODE};
use regs::gen40::reg::CACHE_MODE_0;
use regs::gen50::reg::N3D_CHICKEN2;
use regs::gen60::reg::{GFX_MODE, GT_MODE, INSTPM, N3D_CHICKEN, N3D_CHICKEN3};
use regs::gen70;

use crate::intel::workarounds::Workaround;

const DISABLE_RENDER_CACHE_OPERATIONAL_FLUSH: Workaround = Workaround {
    name: "WaDisable_RenderCache_OperationalFlush",
    reason: "i915: RC_OP_FLUSH_ENABLE is cleared on all of this family",
    register: CACHE_MODE_0.offset(),
    masked: true,
    set: 0,
    clear: 1 << 0,
    verify: 1 << 0,
};

const TIMED_SINGLE_VERTEX_DISPATCH: Workaround = Workaround {
    name: "WaTimedSingleVertexDispatch",
    reason: "i915: without VS_TIMER_DISPATCH a lone vertex waits for a second one",
    register: MI_MODE.offset(),
    masked: true,
    set: 1 << 6,
    clear: 0,
    verify: 1 << 6,
};

const CONSTANT_BUFFER_SR_DISABLE: Workaround = Workaround {
    name: "ECO_CONSTANT_BUFFER_SR_DISABLE",
    reason: "i915: a CONSTANT_BUFFER of the context image would be executed on restore with a stale address and hang",
    register: ECOSKPD.offset(),
    masked: true,
    set: 1 << 4,
    clear: 0,
    // i915: the bit does not stick on Broadwater, so it is verified nowhere.
    verify: 0,
};

const DISABLE_RENDER_CACHE_PIPELINED_FLUSH: Workaround = Workaround {
    name: "WaDisableRenderCachePipelinedFlush",
    reason: "i915: pipelined flushes of the render cache are off on G45 and Ironlake",
    register: CACHE_MODE_0.offset(),
    masked: true,
    set: 1 << 8,
    clear: 0,
    verify: 1 << 8,
};

const WM_READ_PIPELINED: Workaround = Workaround {
    name: "_3D_CHICKEN2_WM_READ_PIPELINED",
    reason: "i915: set on Ironlake",
    register: N3D_CHICKEN2.offset(),
    masked: true,
    set: 1 << 14,
    clear: 0,
    verify: 1 << 14,
};

const FORCE_ORDERING: Workaround = Workaround {
    name: "INSTPM_FORCE_ORDERING",
    reason: "i915: set in all contexts of Sandy Bridge, whose images keep it",
    register: INSTPM.offset(),
    masked: true,
    set: 1 << 7,
    clear: 0,
    verify: 1 << 7,
};

const ASYNC_FLIP_PERF_DISABLE: Workaround = Workaround {
    name: "WaDisableAsyncFlipPerfMode",
    reason: "i915: without it the streamer cannot wait for events of the display",
    register: MI_MODE.offset(),
    masked: true,
    set: 1 << 14,
    clear: 0,
    verify: 1 << 14,
};

const TLB_INVALIDATE_EXPLICIT: Workaround = Workaround {
    name: "WaEnableFlushTlbInvalidationMode",
    reason: "i915: scanlines that are waited for are programmed with it only",
    register: GFX_MODE.offset(),
    masked: true,
    set: 1 << 13,
    clear: 0,
    verify: 1 << 13,
};

const HIZ_PLANE_DISABLE_MSAA: Workaround = Workaround {
    name: "WaDisableHiZPlanesWhenMSAAEnabled",
    reason: "i915: planes of the hierarchical depth buffer do not go with four samples",
    register: N3D_CHICKEN.offset(),
    masked: true,
    set: 1 << 10,
    clear: 0,
    verify: 1 << 10,
};

const STRIPS_FANS: Workaround = Workaround {
    name: "WaStripsFansDisableFastClipPerformanceFix",
    reason: "i915: with it attributes are not fetched ahead either, as more than 16 of them need when clipping",
    register: N3D_CHICKEN3.offset(),
    masked: true,
    set: 1 << 5 | 1 << 1,
    clear: 0,
    verify: 1 << 5 | 1 << 1,
};

const WIZ_HASHING: Workaround = Workaround {
    name: "GEN6_WIZ_HASHING_16x4",
    reason: "i915: 16x4 seems fastest, with several samples too",
    register: GT_MODE.offset(),
    masked: true,
    set: 1 << 9,
    clear: 1 << 7,
    verify: 1 << 9 | 1 << 7,
};

const STC_EVICT_DISABLE_LRA: Workaround = Workaround {
    name: "CM0_STC_EVICT_DISABLE_LRA_SNB",
    reason: "PRM (Sandy Bridge) vol1 part 3: this policy of replacement is not supported, the bit must be reset",
    register: CACHE_MODE_0.offset(),
    masked: true,
    set: 0,
    clear: 1 << 5,
    verify: 1 << 5,
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

/// Render engine workarounds of Sandy Bridge.
pub const SANDY_BRIDGE_ENGINE: &[Workaround] = &[
    FORCE_ORDERING,
    ASYNC_FLIP_PERF_DISABLE,
    TLB_INVALIDATE_EXPLICIT,
    HIZ_PLANE_DISABLE_MSAA,
    STRIPS_FANS,
    WIZ_HASHING,
    DISABLE_RENDER_CACHE_OPERATIONAL_FLUSH,
    STC_EVICT_DISABLE_LRA,
    TIMED_SINGLE_VERTEX_DISPATCH,
];

/// Registers whose writes change all bits.
const WHOLE: Workaround = Workaround {
    name: "",
    reason: "",
    register: 0,
    masked: false,
    set: 0,
    clear: 0,
    verify: 0,
};

/// Device workarounds of ValleyView, and what i915 sets of its clocks (`vlv_gt_workarounds_init`, `vlv_init_clock_gating`).
pub const VALLEYVIEW_GT: &[Workaround] = &[
    Workaround {
        name: "WaForceL3Serialization",
        reason: "i915: reads of the URB do not match others in the queue of the L3 cache",
        register: gen70::reg::L3SQCREG4.offset(),
        clear: 1 << 27,
        verify: 1 << 27,
        ..WHOLE
    },
    Workaround {
        name: "WaIncreaseL3CreditsForVLVB0",
        reason: "i915: the hardware's default, which the firmware may have changed",
        register: gen70::reg::L3SQCREG1.offset(),
        set: 0x00d3_0000,
        clear: u32::MAX,
        verify: u32::MAX,
        ..WHOLE
    },
    Workaround {
        name: "WaDisableDopClockGating",
        reason: "i915: the clock of the EUs is not gated",
        register: gen70::reg::ROW_CHICKEN2.offset(),
        masked: true,
        set: 1 << 0,
        verify: 1 << 0,
        ..WHOLE
    },
    Workaround {
        name: "WaCatErrorRejectionIssue",
        reason: "i915: required by it",
        register: gen70::reg::SQ_CHICKEN_MBCUNIT_CONFIG.offset(),
        set: 1 << 11,
        verify: 1 << 11,
        ..WHOLE
    },
    Workaround {
        name: "WaDisableRCZUnitClockGating",
        reason: "i915: the clock of the depth cache is not gated, and those of all other units are",
        register: gen70::reg::UCGCTL2.offset(),
        set: 1 << 13,
        clear: u32::MAX,
        ..WHOLE
    },
    Workaround {
        name: "WaDisableL3Bank2xClockGate",
        reason: "i915: the doubled clock of the L3 cache is not gated",
        register: gen70::reg::UCGCTL4.offset(),
        set: 1 << 25,
        verify: 1 << 25,
        ..WHOLE
    },
    Workaround {
        name: "WaDisableVLVClockGating_VBIIssue",
        reason: "i915: a gated clock delays reports of the display",
        register: gen70::reg::VLV_GUNIT_CLOCK_GATE.offset(),
        set: 1 << 8,
        clear: u32::MAX,
        ..WHOLE
    },
];

/// Render engine workarounds of ValleyView.
pub const VALLEYVIEW_ENGINE: &[Workaround] = &[
    FORCE_ORDERING,
    Workaround {
        name: "WaDisableEarlyCull",
        reason: "i915: strips-and-fans do not cull at the end of an object",
        register: gen70::reg::N3D_CHICKEN3.offset(),
        masked: true,
        set: 1 << 10,
        clear: 0,
        verify: 1 << 10,
    },
    Workaround {
        name: "WaVSThreadDispatchOverride",
        reason: "i915: threads of all fixed functions are spread by the hardware",
        register: gen70::reg::FF_THREAD_MODE.offset(),
        clear: 0x0007_7070,
        verify: 0x0007_7070,
        ..WHOLE
    },
    Workaround {
        name: "WaPsdDispatchEnable, WaDisablePSDDualDispatchEnable",
        reason: "i915: pixel shader threads are dispatched by one port",
        register: gen70::reg::HALF_SLICE_CHICKEN1.offset(),
        masked: true,
        set: 8 << 12 | 1 << 3,
        clear: 0,
        verify: 8 << 12 | 1 << 3,
    },
    Workaround {
        name: "WaBCSVCSTlbInvalidationMode",
        reason: "i915: translations are invalidated by commands that ask for it alone",
        register: gen70::reg::GFX_MODE.offset(),
        masked: true,
        set: 1 << 13 | 1 << 11,
        clear: 0,
        verify: 1 << 13 | 1 << 11,
    },
    Workaround {
        register: gen70::reg::CACHE_MODE_0.offset(),
        ..DISABLE_RENDER_CACHE_OPERATIONAL_FLUSH
    },
    Workaround {
        name: "WaDisable4x2SubspanOptimization",
        reason: "i915: the manual says that it must be set, though the list of workarounds has it for others alone",
        register: gen70::reg::CACHE_MODE_1.offset(),
        masked: true,
        set: 1 << 6,
        clear: 0,
        verify: 1 << 6,
    },
    Workaround {
        register: gen70::reg::GT_MODE.offset(),
        ..WIZ_HASHING
    },
    ASYNC_FLIP_PERF_DISABLE,
];
