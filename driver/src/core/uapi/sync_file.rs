//! sync_file.h: descriptors of fences.
//!
//! Not modelled: `SYNC_IOC_SET_DEADLINE`, which is younger than Linux 6.1.
use super::{Request, structures};

/// Bytes of a name.
pub const NAME: usize = 32;

structures! {
    /// `sync_merge_data`.
    MergeData {
        /// Name of the new one.
        name: [u8; NAME],
        /// The other descriptor.
        fd2: i32,
        /// The new descriptor.
        fence: i32,
        /// Must be zero.
        flags: u32,
        /// Must be zero.
        pad: u32,
    }
    /// `sync_fence_info`.
    FenceInfo {
        /// Name of the timeline.
        obj_name: [u8; NAME],
        /// Name of the driver.
        driver_name: [u8; NAME],
        /// 0 under way, 1 done, negative errno.
        status: i32,
        /// Zero.
        flags: u32,
        /// When it was signalled.
        timestamp_ns: u64,
    }
    /// `sync_file_info`.
    FileInfo {
        /// Its name.
        name: [u8; NAME],
        /// 0 under way, 1 done, negative errno.
        status: i32,
        /// Must be zero.
        flags: u32,
        /// Room for fences, then their number.
        num_fences: u32,
        /// Must be zero.
        pad: u32,
        /// Array of [`FenceInfo`].
        sync_fence_info: u64,
    }
}

/// `SYNC_IOC_MAGIC`.
const MAGIC: u32 = '>' as u32;
/// `SYNC_IOC_MERGE`.
pub const MERGE: Request = Request::iowr::<MergeData>(3).of_kind(MAGIC);
/// `SYNC_IOC_FILE_INFO`.
pub const FILE_INFO: Request = Request::iowr::<FileInfo>(4).of_kind(MAGIC);
