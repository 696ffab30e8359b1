//! dma-buf.h: descriptors of objects.
//!
//! No PRM chapter. Not modelled: names (`DMA_BUF_SET_NAME`), sync files of a buffer (`DMA_BUF_IOCTL_EXPORT_SYNC_FILE`).
use super::{Request, structures};

structures! {
    /// `dma_buf_sync`.
    Sync {
        /// What the processor is about to do or has done.
        flags: u64,
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
