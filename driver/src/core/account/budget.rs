//! How many points of timelines a process may have under way, in all it has made.
//!
//! Linux takes the memory of each point from that of the process's group (`dma_fence_chain_alloc`, GFP_KERNEL) and says ENOMEM
//! when no memory is left.
use alloc::sync::Arc;

use kernel::error::{Result, code::ENOMEM};
use kernel::sync::{AtomicU32, Ordering};

/// Most points of a process that are kept: some 40 MiB. Mesa has a few for each frame under way.
pub(crate) const MOST_POINTS: u32 = 1 << 18;

/// The points of a process.
#[derive(Default)]
pub struct Budget(AtomicU32);

impl Budget {
    /// Room for one point more; `ENOMEM` when there are as many as there may be.
    pub(crate) fn take(self: &Arc<Self>) -> Result<Permit> {
        let more = |taken| (taken < MOST_POINTS).then_some(taken + 1);
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.map_err(|_| ENOMEM)?;
        Ok(Permit(Arc::clone(self)))
    }

    /// How many there are.
    #[cfg(test)]
    pub(crate) fn taken(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Room for a point; given back when it is dropped.
pub(crate) struct Permit(Arc<Budget>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}
