//! Calls that the table has and that do nothing here, as there is no output.
//!
//! drm_ioctl.c of Linux 6.1, built without `CONFIG_DRM_LEGACY`: what looks for an output or
//! another thing of the display finds none (`ENOENT`). Not modelled: frame buffers, dumb buffers, atomic and leases, which
//! Linux has even then; they are refused as by a driver without mode setting (`EOPNOTSUPP`), and no capability tells of
//! them.
use kernel::error::{Result, code::EINVAL, code::ENOENT, code::EOPNOTSUPP};

use super::access::Access;
use crate::core::uapi::Request;

/// One row of the table.
pub(crate) struct Row {
    pub(crate) request: Request,
    /// Its name behind `DRM_IOCTL_`.
    pub(crate) name: &'static str,
    pub(crate) access: Access,
    pub(crate) outcome: Result,
}

pub(crate) const ANY: Access = Access::ANY;
pub(crate) const AUTH: Access = Access::AUTH;
pub(crate) const MASTER: Access = Access::MASTER;
pub(crate) const AUTH_ROOT: Access = AUTH.and(Access::ROOT);
pub(crate) const MASTER_ROOT: Access = MASTER.and(Access::ROOT);
/// What once was for the X server alone.
pub(crate) const SERVER: Access = AUTH_ROOT.and(MASTER);

/// Rows of a table.
macro_rules! refusals {
    ($($access:ident $outcome:expr; $($request:literal $name:literal)*)*) => {
        &[$($($crate::core::ioctl::refused::Row {
            request: $crate::core::uapi::Request($request),
            name: $name,
            access: $access,
            outcome: $outcome,
        }),*),*]
    };
}
pub(crate) use refusals;

/// The core's rows.
pub(crate) static REFUSED: &[Row] = refusals! {
    ANY Ok(());
    0x4008_6408 "MODESET_CTL"
    AUTH Ok(());
    0x4008_642c "FINISH"
    SERVER Ok(());
    0xc004_6412 "BLOCK"
    0xc004_6413 "UNBLOCK"
    0xc004_6427 "ADD_DRAW"
    0xc004_6428 "RM_DRAW"
    0x4018_643f "UPDATE_DRAW"
    MASTER Ok(());
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
    SERVER Err(EINVAL);
    0x4010_6410 "SET_UNIQUE"
    0x4008_6414 "CONTROL"
    0xc028_6415 "ADD_MAP"
    0xc020_6416 "ADD_BUFS"
    0x4020_6417 "MARK_BUFS"
    0x4010_641c "SET_SAREA_CTX"
    0xc008_6421 "RM_CTX"
    0x4008_6422 "MOD_CTX"
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
    ANY Err(ENOENT);
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
    0xc068_64a2 "MODE_SETCRTC"
    0xc01c_64a3 "MODE_CURSOR"
    0xc020_64a5 "MODE_SETGAMMA"
    0xc010_64ab "MODE_SETPROPERTY"
    0xc018_64b0 "MODE_PAGE_FLIP"
    0xc018_64b1 "MODE_DIRTYFB"
    0xc030_64b7 "MODE_SETPLANE"
    0xc018_64ba "MODE_OBJ_SETPROPERTY"
    0xc024_64bb "MODE_CURSOR2"
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
