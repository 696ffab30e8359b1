//! drm.h: sync objects.
//!
//! Not modelled: event descriptors and deadlines, which are younger than Linux 6.1.
use super::{Request, structures};

structures! {
    /// `drm_syncobj_create`.
    Create {
        /// The new handle.
        handle: u32,
        /// [`CREATE_SIGNALED`].
        flags: u32,
    }
    /// `drm_syncobj_destroy`.
    Destroy {
        /// The handle to destroy.
        handle: u32,
        /// Must be zero.
        pad: u32,
    }
    /// `drm_syncobj_handle`.
    Handle {
        /// The sync object.
        handle: u32,
        /// [`SYNC_FILE`].
        flags: u32,
        /// The file descriptor.
        fd: i32,
        /// Must be zero.
        pad: u32,
    }
    /// `drm_syncobj_wait`.
    Wait {
        /// Array of handles.
        handles: u64,
        /// Absolute time of the monotonic clock.
        timeout_nsec: i64,
        /// Number of handles.
        count_handles: u32,
        /// `WAIT_*`.
        flags: u32,
        /// Index of a signalled one.
        first_signaled: u32,
        /// Unused.
        pad: u32,
    }
    /// `drm_syncobj_timeline_wait`.
    TimelineWait {
        /// Array of handles.
        handles: u64,
        /// Array of points, or null.
        points: u64,
        /// Absolute time of the monotonic clock.
        timeout_nsec: i64,
        /// Number of handles.
        count_handles: u32,
        /// `WAIT_*`.
        flags: u32,
        /// Index of a signalled one.
        first_signaled: u32,
        /// Unused.
        pad: u32,
    }
    /// `drm_syncobj_array`.
    Array {
        /// Array of handles.
        handles: u64,
        /// Number of handles.
        count_handles: u32,
        /// Must be zero.
        pad: u32,
    }
    /// `drm_syncobj_timeline_array`.
    TimelineArray {
        /// Array of handles.
        handles: u64,
        /// Array of points.
        points: u64,
        /// Number of handles.
        count_handles: u32,
        /// [`QUERY_LAST_SUBMITTED`] of a query.
        flags: u32,
    }
    /// `drm_syncobj_transfer`.
    Transfer {
        /// Where the fence comes from.
        src_handle: u32,
        /// Where it goes.
        dst_handle: u32,
        /// Its point there, 0 of a binary one.
        src_point: u64,
        /// Its point here, 0 of a binary one.
        dst_point: u64,
        /// [`WAIT_FOR_SUBMIT`].
        flags: u32,
        /// Must be zero.
        pad: u32,
    }
}

/// `DRM_IOCTL_SYNCOBJ_CREATE`.
pub const CREATE: Request = Request::iowr::<Create>(0xbf);
/// `DRM_IOCTL_SYNCOBJ_DESTROY`.
pub const DESTROY: Request = Request::iowr::<Destroy>(0xc0);
/// `DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD`.
pub const HANDLE_TO_FD: Request = Request::iowr::<Handle>(0xc1);
/// `DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE`.
pub const FD_TO_HANDLE: Request = Request::iowr::<Handle>(0xc2);
/// `DRM_IOCTL_SYNCOBJ_WAIT`.
pub const WAIT: Request = Request::iowr::<Wait>(0xc3);
/// `DRM_IOCTL_SYNCOBJ_RESET`.
pub const RESET: Request = Request::iowr::<Array>(0xc4);
/// `DRM_IOCTL_SYNCOBJ_SIGNAL`.
pub const SIGNAL: Request = Request::iowr::<Array>(0xc5);
/// `DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT`.
pub const TIMELINE_WAIT: Request = Request::iowr::<TimelineWait>(0xca);
/// `DRM_IOCTL_SYNCOBJ_QUERY`.
pub const QUERY: Request = Request::iowr::<TimelineArray>(0xcb);
/// `DRM_IOCTL_SYNCOBJ_TRANSFER`.
pub const TRANSFER: Request = Request::iowr::<Transfer>(0xcc);
/// `DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL`.
pub const TIMELINE_SIGNAL: Request = Request::iowr::<TimelineArray>(0xcd);

/// `DRM_SYNCOBJ_CREATE_SIGNALED`.
pub const CREATE_SIGNALED: u32 = 1 << 0;
/// `DRM_SYNCOBJ_{FD_TO_HANDLE,HANDLE_TO_FD}_FLAGS_{IM,EX}PORT_SYNC_FILE`.
pub const SYNC_FILE: u32 = 1 << 0;
/// `DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL`.
pub const WAIT_ALL: u32 = 1 << 0;
/// `DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT`.
pub const WAIT_FOR_SUBMIT: u32 = 1 << 1;
/// `DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE`.
pub const WAIT_AVAILABLE: u32 = 1 << 2;
/// `DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED`.
pub const QUERY_LAST_SUBMITTED: u32 = 1 << 0;
