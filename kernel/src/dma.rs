//! Coherent DMA memory: pages with a bus address and a CPU view.
//!
//! On a device model the pages live in the model's system memory and the CPU view goes through the trait.
//! Not modelled: streaming mappings, scatter lists, IOMMU faults.
use alloc::sync::Arc;

use crate::error::{Result, code::EINVAL};
use crate::platform::Platform;

/// Bus address of DMA memory.
pub type DmaAddress = u64;

/// Size of a page in bytes.
pub const PAGE_SIZE: usize = 4096;

/// Allocator of physically contiguous pages that the device can reach.
pub trait DmaAllocator: Send + Sync {
    /// Allocates `pages` contiguous zeroed pages and returns the bus address of the first; `ENOMEM` when there are
    /// none, `EINVAL` for zero pages.
    fn alloc(&self, pages: usize) -> Result<DmaAddress>;

    /// Gives back pages; `address` and `pages` are those of one [`alloc`](Self::alloc) or
    /// [`alloc_guarded`](Self::alloc_guarded).
    fn free(&self, address: DmaAddress, pages: usize);

    /// The same for pages that the driver keeps for itself: no batch of a client writes them, and where programs map the
    /// device's memory they do not reach them. Parts that cannot do that, as those of silicon without tables for each
    /// process, hand out pages like all others.
    fn alloc_guarded(&self, pages: usize) -> Result<DmaAddress> {
        self.alloc(pages)
    }

    /// How many pages there are for [`alloc_guarded`](Self::alloc_guarded), used or not; `None` when they are taken from those
    /// of [`alloc`](Self::alloc).
    fn guarded_pages(&self) -> Option<usize> {
        None
    }

    /// Reads bytes at a bus address; `EFAULT` when any of them is not memory.
    fn read(&self, address: DmaAddress, bytes: &mut [u8]) -> Result;

    /// Writes bytes at a bus address; `EFAULT` when any of them is not memory.
    fn write(&self, address: DmaAddress, bytes: &[u8]) -> Result;
}

/// Pages owned by the driver; freed when dropped.
pub struct CoherentAllocation {
    platform: Arc<dyn Platform>,
    address: DmaAddress,
    pages: usize,
}

impl CoherentAllocation {
    /// Allocates `pages` zeroed pages from the device's platform.
    pub fn alloc_coherent(platform: &Arc<dyn Platform>, pages: usize) -> Result<Self> {
        let address = platform.dma().alloc(pages)?;
        Ok(CoherentAllocation {
            platform: Arc::clone(platform),
            address,
            pages,
        })
    }

    /// The same for pages that the driver keeps for itself: see [`DmaAllocator::alloc_guarded`].
    pub fn alloc_guarded(platform: &Arc<dyn Platform>, pages: usize) -> Result<Self> {
        let address = platform.dma().alloc_guarded(pages)?;
        Ok(CoherentAllocation {
            platform: Arc::clone(platform),
            address,
            pages,
        })
    }

    /// Bus address of the first byte.
    #[must_use]
    pub fn dma_handle(&self) -> DmaAddress {
        self.address
    }

    /// Bus address of page `index`, or `None` past the end.
    #[must_use]
    pub fn page(&self, index: usize) -> Option<DmaAddress> {
        (index < self.pages).then(|| self.address.wrapping_add((index * PAGE_SIZE) as u64))
    }

    /// Number of pages.
    #[must_use]
    pub fn pages(&self) -> usize {
        self.pages
    }

    /// Size in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.pages * PAGE_SIZE
    }

    fn range(&self, offset: usize, len: usize) -> Result<DmaAddress> {
        match offset.checked_add(len) {
            Some(end) if end <= self.size() => Ok(self.address.wrapping_add(offset as u64)),
            _ => Err(EINVAL),
        }
    }

    /// Reads bytes at `offset`; `EINVAL` when the range leaves the allocation.
    pub fn read(&self, offset: usize, bytes: &mut [u8]) -> Result {
        let address = self.range(offset, bytes.len())?;
        self.platform.dma().read(address, bytes)
    }

    /// Writes bytes at `offset`; `EINVAL` when the range leaves the allocation.
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result {
        let address = self.range(offset, bytes.len())?;
        self.platform.dma().write(address, bytes)
    }

    /// Reads the little-endian dword at `offset`.
    pub fn read32(&self, offset: usize) -> Result<u32> {
        let mut bytes = [0; 4];
        self.read(offset, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Writes a little-endian dword at `offset`.
    pub fn write32(&self, offset: usize, value: u32) -> Result {
        self.write(offset, &value.to_le_bytes())
    }
}

impl Drop for CoherentAllocation {
    fn drop(&mut self) {
        self.platform.dma().free(self.address, self.pages);
    }
}
