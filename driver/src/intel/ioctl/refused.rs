//! Calls of i915 that do nothing here: legacy ones, outputs, perf.
//!
//! i915 `i915_driver.c` of Linux 6.1, built without `CONFIG_DRM_LEGACY`: what looks for an output finds none (`ENOENT`).
use kernel::error::{Error, code::EINVAL, code::ENODEV, code::ENOENT};

use crate::core::ioctl::access::Access;
use crate::core::ioctl::refused::{ANY, AUTH, AUTH_ROOT, MASTER, Row, SERVER, refusals};

/// Perf answers this where the hardware has none (i915 `i915_perf.c`); it is no errno of user space.
const ENOTSUPP: Error = Error::from_errno(-524);

const RENDER: Access = Access::RENDER;

/// The rows.
pub(super) static REFUSED: &[Row] = refusals! {
    AUTH Ok(());
    0x0000_6441 "I915_FLUSH"
    0x0000_6442 "I915_FLIP"
    0x4020_6443 "I915_BATCHBUFFER"
    0xc008_6444 "I915_IRQ_EMIT"
    0x4004_6445 "I915_IRQ_WAIT"
    0xc018_6448 "I915_ALLOC"
    0x4008_6449 "I915_FREE"
    0x4020_644b "I915_CMDBUFFER"
    0x8004_644e "I915_GET_VBLANK_PIPE"
    0xc00c_644f "I915_VBLANK_SWAP"
    SERVER Ok(());
    0x4044_6440 "I915_INIT"
    0x4008_6447 "I915_SETPARAM"
    0x400c_644a "I915_INIT_HEAP"
    0x4004_644c "I915_DESTROY_HEAP"
    0x4004_644d "I915_SET_VBLANK_PIPE"
    0x4010_6451 "I915_HWS_ADDR"
    0x4010_6453 "I915_GEM_INIT"
    0x0000_6459 "I915_GEM_ENTERVT"
    0x0000_645a "I915_GEM_LEAVEVT"
    MASTER Ok(());
    0xc014_646a "I915_GET_SPRITE_COLORKEY"
    AUTH Err(EINVAL);
    0x4028_6454 "I915_GEM_EXECBUFFER"
    AUTH_ROOT Err(ENODEV);
    0xc018_6455 "I915_GEM_PIN"
    0x4008_6456 "I915_GEM_UNPIN"
    MASTER Err(ENODEV);
    0x402c_6467 "I915_OVERLAY_PUT_IMAGE"
    0xc02c_6468 "I915_OVERLAY_ATTRS"
    ANY Err(ENOENT);
    0xc008_6465 "I915_GET_PIPE_FROM_CRTC_ID"
    MASTER Err(ENOENT);
    0xc014_646b "I915_SET_SPRITE_COLORKEY"
    RENDER Err(ENOTSUPP);
    0x4010_6476 "I915_PERF_OPEN"
    0x4048_6477 "I915_PERF_ADD_CONFIG"
    0x4008_6478 "I915_PERF_REMOVE_CONFIG"
};
