//! Calls that the table has and that do nothing here, as there is no output.
//!
//! drm_ioctl.c and i915 `i915_driver.c` of Linux 6.1, built without `CONFIG_DRM_LEGACY`: what looks for an output or
//! another thing of the display finds none (`ENOENT`). Not modelled: frame buffers, dumb buffers, atomic and leases, which
//! Linux has even then; they are refused as by a driver without mode setting (`EOPNOTSUPP`), and no capability tells of
//! them.
use kernel::error::{Error, Result, code::EINVAL, code::ENODEV, code::ENOENT, code::EOPNOTSUPP};

use super::table::Access;
use crate::intel::uapi::Request;

/// One row of the table.
pub(super) struct Row {
    pub(super) request: Request,
    /// Its name behind `DRM_IOCTL_`.
    pub(super) name: &'static str,
    pub(super) access: Access,
    pub(super) outcome: Result,
}

/// Perf answers this where the hardware has none (i915 `i915_perf.c`); it is no errno of user space.
const ENOTSUPP: Error = Error::from_errno(-524);

const ANY: Access = Access::ANY;
const RENDER: Access = Access::RENDER;
const AUTH: Access = Access::AUTH;
const MASTER: Access = Access::MASTER;
const AUTH_ROOT: Access = AUTH.and(Access::ROOT);
const MASTER_ROOT: Access = MASTER.and(Access::ROOT);
/// What once was for the X server alone.
const SERVER: Access = AUTH_ROOT.and(MASTER);

macro_rules! rows {
    ($($access:ident $outcome:expr; $($request:literal $name:literal)*)*) => {
        &[$($(Row {
            request: Request($request),
            name: $name,
            access: $access,
            outcome: $outcome,
        }),*),*]
    };
}

/// The rows.
pub(super) static REFUSED: &[Row] = rows! {
    ANY Ok(());
    0x4008_6408 "MODESET_CTL"
    AUTH Ok(());
    0x4008_642c "FINISH"
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
    0xc004_6412 "BLOCK"
    0xc004_6413 "UNBLOCK"
    0x4008_6422 "MOD_CTX"
    0xc004_6427 "ADD_DRAW"
    0xc004_6428 "RM_DRAW"
    0x4018_643f "UPDATE_DRAW"
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
    0xc048_64a8 "MODE_ATTACHMODE"
    0xc048_64a9 "MODE_DETACHMODE"
    ANY Err(EINVAL);
    0xc028_6404 "GET_MAP"
    AUTH Err(EINVAL);
    0xc010_6418 "INFO_BUFS"
    0xc018_6419 "MAP_BUFS"
    0x4010_641a "FREE_BUFS"
    0x4028_641b "RM_MAP"
    0xc010_641d "GET_SAREA_CTX"
    0xc008_6423 "GET_CTX"
    0xc010_6426 "RES_CTX"
    0xc040_6429 "DMA"
    0x4008_642a "LOCK"
    0x4008_642b "UNLOCK"
    0x8038_6433 "AGP_INFO"
    0x4028_6454 "I915_GEM_EXECBUFFER"
    SERVER Err(EINVAL);
    0x4010_6410 "SET_UNIQUE"
    0x4008_6414 "CONTROL"
    0xc028_6415 "ADD_MAP"
    0xc020_6416 "ADD_BUFS"
    0x4020_6417 "MARK_BUFS"
    0x4010_641c "SET_SAREA_CTX"
    0xc008_6421 "RM_CTX"
    0x4008_6424 "SWITCH_CTX"
    0x4008_6425 "NEW_CTX"
    0x0000_6430 "AGP_ACQUIRE"
    0x0000_6431 "AGP_RELEASE"
    0x4008_6432 "AGP_ENABLE"
    0xc020_6434 "AGP_ALLOC"
    0x4020_6435 "AGP_FREE"
    0x4010_6436 "AGP_BIND"
    0x4010_6437 "AGP_UNBIND"
    0xc010_6438 "SG_ALLOC"
    0x4010_6439 "SG_FREE"
    AUTH_ROOT Err(EINVAL);
    0xc008_6420 "ADD_CTX"
    MASTER_ROOT Err(EINVAL);
    0xc010_6403 "IRQ_BUSID"
    AUTH_ROOT Err(ENODEV);
    0xc018_6455 "I915_GEM_PIN"
    0x4008_6456 "I915_GEM_UNPIN"
    MASTER Err(ENODEV);
    0x402c_6467 "I915_OVERLAY_PUT_IMAGE"
    0xc02c_6468 "I915_OVERLAY_ATTRS"
    ANY Err(ENOENT);
    0xc008_6465 "I915_GET_PIPE_FROM_CRTC_ID"
    0xc068_64a1 "MODE_GETCRTC"
    0xc020_64a4 "MODE_GETGAMMA"
    0xc014_64a6 "MODE_GETENCODER"
    0xc050_64a7 "MODE_GETCONNECTOR"
    0xc040_64aa "MODE_GETPROPERTY"
    0xc010_64ac "MODE_GETPROPBLOB"
    0xc01c_64ad "MODE_GETFB"
    0xc004_64af "MODE_RMFB"
    0xc020_64b6 "MODE_GETPLANE"
    0xc020_64b9 "MODE_OBJ_GETPROPERTIES"
    0xc004_64be "MODE_DESTROYPROPBLOB"
    0xc068_64ce "MODE_GETFB2"
    MASTER Err(ENOENT);
    0xc014_646b "I915_SET_SPRITE_COLORKEY"
    0xc068_64a2 "MODE_SETCRTC"
    0xc01c_64a3 "MODE_CURSOR"
    0xc020_64a5 "MODE_SETGAMMA"
    0xc010_64ab "MODE_SETPROPERTY"
    0xc018_64b0 "MODE_PAGE_FLIP"
    0xc018_64b1 "MODE_DIRTYFB"
    0xc030_64b7 "MODE_SETPLANE"
    0xc018_64ba "MODE_OBJ_SETPROPERTY"
    0xc024_64bb "MODE_CURSOR2"
    RENDER Err(ENOTSUPP);
    0x4010_6476 "I915_PERF_OPEN"
    0x4048_6477 "I915_PERF_ADD_CONFIG"
    0x4008_6478 "I915_PERF_REMOVE_CONFIG"
    ANY Err(EOPNOTSUPP);
    0xc018_643a "WAIT_VBLANK"
    0xc018_643b "CRTC_GET_SEQUENCE"
    0xc018_643c "CRTC_QUEUE_SEQUENCE"
    0xc01c_64ae "MODE_ADDFB"
    0xc020_64b2 "MODE_CREATE_DUMB"
    0xc010_64b3 "MODE_MAP_DUMB"
    0xc004_64b4 "MODE_DESTROY_DUMB"
    0xc068_64b8 "MODE_ADDFB2"
    0xc010_64bd "MODE_CREATEPROPBLOB"
    MASTER Err(EOPNOTSUPP);
    0xc038_64bc "MODE_ATOMIC"
    0xc018_64c6 "MODE_CREATE_LEASE"
    0xc010_64c7 "MODE_LIST_LESSEES"
    0xc010_64c8 "MODE_GET_LEASE"
    0xc004_64c9 "MODE_REVOKE_LEASE"
};
