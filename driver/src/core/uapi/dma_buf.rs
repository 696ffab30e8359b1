//! dma-buf.h: descriptors of objects.
//!
//! Those of Linux 6.1.
use super::{Request, structures};

structures! {
    /// `dma_buf_sync`.
    Sync {
        /// What the processor is about to do or has done.
        flags: u64,
    }
    /// `dma_buf_export_sync_file` and `dma_buf_import_sync_file`.
    SyncFile {
        /// [`READ`], [`WRITE`] or both.
        flags: u32,
        /// The descriptor of the fence.
        fd: i32,
    }
}

/// `DMA_BUF_SYNC_READ`.
pub const READ: u64 = 1;
/// `DMA_BUF_SYNC_WRITE`.
pub const WRITE: u64 = 2;
/// `DMA_BUF_SYNC_END`.
pub const END: u64 = 4;

/// `DMA_BUF_BASE`.
const BASE: u32 = 'b' as u32;
/// `DMA_BUF_IOCTL_SYNC`.
pub const SYNC: Request = Request::iow::<Sync>(0).of_kind(BASE);
/// `DMA_BUF_SET_NAME_A`, as 32-bit user space has it. The argument is the text itself.
pub const SET_NAME_A: Request = Request::iow::<u32>(1).of_kind(BASE);
/// `DMA_BUF_SET_NAME_B`, as 64-bit user space has it.
pub const SET_NAME_B: Request = Request::iow::<u64>(1).of_kind(BASE);
/// `DMA_BUF_IOCTL_EXPORT_SYNC_FILE`.
pub const EXPORT_SYNC_FILE: Request = Request::iowr::<SyncFile>(2).of_kind(BASE);
/// `DMA_BUF_IOCTL_IMPORT_SYNC_FILE`.
pub const IMPORT_SYNC_FILE: Request = Request::iow::<SyncFile>(3).of_kind(BASE);
/// Room for a name with its zero (`DMA_BUF_NAME_LEN`).
pub const NAME_LEN: u64 = 32;
