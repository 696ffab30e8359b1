//! How much a process may have of what all processes share, in all it has made.
use alloc::sync::Arc;

use kernel::error::{Result, code::ENOMEM};
use kernel::sync::{AtomicU32, Ordering};

/// Most points of timelines of a process that are kept: some 40 MiB. Mesa has a few for each frame under way.
///
/// Linux takes the memory of each point from that of the process's group (`dma_fence_chain_alloc`, GFP_KERNEL) and says ENOMEM
/// when no memory is left.
pub(crate) const MOST_POINTS: u32 = 1 << 18;

/// What is taken.
#[derive(Default)]
pub struct Budget(AtomicU32);

impl Budget {
    /// Takes `count` more; `ENOMEM` when it would be more than `most` then.
    pub(crate) fn take(self: &Arc<Self>, count: u32, most: u32) -> Result<Permit> {
        let more = |taken: u32| taken.checked_add(count).filter(|&sum| sum <= most);
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.map_err(|_| ENOMEM)?;
        Ok(Permit {
            budget: Arc::clone(self),
            count,
        })
    }

    /// How much is taken.
    #[cfg(test)]
    pub(crate) fn taken(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What is taken; given back when it is dropped.
pub(crate) struct Permit {
    budget: Arc<Budget>,
    count: u32,
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.budget.0.fetch_sub(self.count, Ordering::Relaxed);
    }
}
