//! drm.h: version, masters, capabilities, handles, names, PRIME.
//!
//! Not modelled: mode setting, leases, legacy maps and contexts.
use super::{Request, structures};

structures! {
    /// `drm_version`.
    Version {
        /// Major version.
        major: i32,
        /// Minor version.
        minor: i32,
        /// Patch level.
        patchlevel: i32,
        /// Hole before a pointer-sized field.
        hole: u32,
        /// Room for the name, then its length.
        name_len: u64,
        /// Where the name goes.
        name: u64,
        /// Room for the date, then its length.
        date_len: u64,
        /// Where the date goes.
        date: u64,
        /// Room for the description, then its length.
        desc_len: u64,
        /// Where the description goes.
        desc: u64,
    }
    /// `drm_unique`.
    Unique {
        /// Room for the name, then its length.
        len: u64,
        /// Where it goes.
        name: u64,
    }
    /// `drm_auth`.
    Auth {
        /// Number by which a master knows a file.
        magic: u32,
    }
    /// `drm_client`.
    Client {
        /// Which one.
        idx: i32,
        /// Whether it is authenticated.
        auth: i32,
        /// Its process.
        pid: u64,
        /// Its user.
        uid: u64,
        /// Its magic.
        magic: u64,
        /// Its calls.
        iocs: u64,
    }
    /// `drm_stats`.
    Stats {
        /// Number of values.
        count: u64,
        /// Values and types.
        data: [[u64; 2]; 15],
    }
    /// `drm_set_version`.
    SetVersion {
        /// Interface that is wanted, or -1; then the newest.
        interface_major: i32,
        /// Its minor version.
        interface_minor: i32,
        /// Driver that is wanted, or -1; then the one there is.
        driver_major: i32,
        /// Its minor version.
        driver_minor: i32,
    }
    /// `drm_get_cap`.
    GetCap {
        /// Which capability, see [`cap`].
        capability: u64,
        /// Its value.
        value: u64,
    }
    /// `drm_set_client_cap`.
    SetClientCap {
        /// Which capability.
        capability: u64,
        /// Its value.
        value: u64,
    }
    /// `drm_gem_close`.
    GemClose {
        /// The handle to close.
        handle: u32,
        /// Unused.
        pad: u32,
    }
    /// `drm_gem_flink`.
    GemFlink {
        /// The object.
        handle: u32,
        /// Its global name.
        name: u32,
    }
    /// `drm_gem_open`.
    GemOpen {
        /// The global name.
        name: u32,
        /// The new handle.
        handle: u32,
        /// Size in bytes.
        size: u64,
    }
    /// `drm_prime_handle`.
    PrimeHandle {
        /// The object.
        handle: u32,
        /// `O_CLOEXEC` and `O_RDWR`.
        flags: u32,
        /// The file descriptor.
        fd: i32,
    }
}

/// `DRM_IOCTL_VERSION`.
pub const VERSION: Request = Request::iowr::<Version>(0x00);
/// `DRM_IOCTL_GET_UNIQUE`.
pub const GET_UNIQUE: Request = Request::iowr::<Unique>(0x01);
/// `DRM_IOCTL_GET_MAGIC`.
pub const GET_MAGIC: Request = Request::ior::<Auth>(0x02);
/// `DRM_IOCTL_GET_CLIENT`.
pub const GET_CLIENT: Request = Request::iowr::<Client>(0x05);
/// `DRM_IOCTL_GET_STATS`.
pub const GET_STATS: Request = Request::ior::<Stats>(0x06);
/// `DRM_IOCTL_SET_VERSION`.
pub const SET_VERSION: Request = Request::iowr::<SetVersion>(0x07);
/// `DRM_IOCTL_AUTH_MAGIC`.
pub const AUTH_MAGIC: Request = Request::iow::<Auth>(0x11);
/// `DRM_IOCTL_SET_MASTER`.
pub const SET_MASTER: Request = Request::io(0x1e);
/// `DRM_IOCTL_DROP_MASTER`.
pub const DROP_MASTER: Request = Request::io(0x1f);
/// `DRM_IOCTL_GEM_CLOSE`.
pub const GEM_CLOSE: Request = Request::iow::<GemClose>(0x09);
/// `DRM_IOCTL_GEM_FLINK`.
pub const GEM_FLINK: Request = Request::iowr::<GemFlink>(0x0a);
/// `DRM_IOCTL_GEM_OPEN`.
pub const GEM_OPEN: Request = Request::iowr::<GemOpen>(0x0b);
/// `DRM_IOCTL_GET_CAP`.
pub const GET_CAP: Request = Request::iowr::<GetCap>(0x0c);
/// `DRM_IOCTL_SET_CLIENT_CAP`.
pub const SET_CLIENT_CAP: Request = Request::iow::<SetClientCap>(0x0d);
/// `DRM_IOCTL_PRIME_HANDLE_TO_FD`.
pub const PRIME_HANDLE_TO_FD: Request = Request::iowr::<PrimeHandle>(0x2d);
/// `DRM_IOCTL_PRIME_FD_TO_HANDLE`.
pub const PRIME_FD_TO_HANDLE: Request = Request::iowr::<PrimeHandle>(0x2e);

/// First ioctl number of drivers (`DRM_COMMAND_BASE`).
pub const COMMAND_BASE: u32 = 0x40;
/// First number behind those of drivers (`DRM_COMMAND_END`).
pub const COMMAND_END: u32 = 0xa0;

/// Capabilities (`DRM_CAP_*`).
pub mod cap {
    /// Import and export of dma-bufs: bit 0 import, bit 1 export.
    pub const PRIME: u64 = 0x5;
    /// Timestamps are of the monotonic clock.
    pub const TIMESTAMP_MONOTONIC: u64 = 0x6;
    /// Sync objects.
    pub const SYNCOBJ: u64 = 0x13;
    /// Sync objects with points.
    pub const SYNCOBJ_TIMELINE: u64 = 0x14;
}

/// `O_CLOEXEC` of a PRIME export (`DRM_CLOEXEC`).
pub const CLOEXEC: u32 = 0o2_000_000;
/// `O_RDWR` of a PRIME export (`DRM_RDWR`).
pub const RDWR: u32 = 2;
