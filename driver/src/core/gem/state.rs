//! What an object knows apart from its binding: pages, advice, name, use.
//!
//! i915 `i915_gem_object_types.h`, dma-resv.c.
use alloc::sync::Arc;

use kernel::dma::CoherentAllocation;
use kernel::error::{Result, code::EFAULT};

use crate::core::fence::{Fence, seqno_passed};

/// What user space says of its need for an object (uAPI `I915_MADV_*`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Madvise {
    /// The contents are needed.
    WillNeed,
    /// The contents may go.
    DontNeed,
    /// The contents are gone.
    Purged,
}

/// The part of an object that is not its binding.
pub(crate) struct State {
    pages: Option<Arc<CoherentAllocation>>,
    pub(crate) madvise: Madvise,
    /// Global name, 0 for none, and number of handles.
    pub(crate) name: u32,
    pub(crate) handles: u32,
    /// The last request that uses the object, and the last that writes it.
    used: Option<Arc<Fence>>,
    written: Option<Arc<Fence>>,
}

impl State {
    pub(crate) fn new(pages: CoherentAllocation) -> Self {
        State {
            pages: Some(Arc::new(pages)),
            madvise: Madvise::WillNeed,
            name: 0,
            handles: 0,
            used: None,
            written: None,
        }
    }

    /// The pages; `EFAULT` when they have been purged.
    pub(crate) fn pages(&self) -> Result<&Arc<CoherentAllocation>> {
        self.pages.as_ref().ok_or(EFAULT)
    }

    /// Gives the contents up.
    pub(super) fn purge(&mut self) -> Option<Arc<CoherentAllocation>> {
        self.madvise = Madvise::Purged;
        self.pages.take()
    }

    /// Notes a request that uses the object.
    pub(crate) fn mark_active(&mut self, fence: &Arc<Fence>, write: bool) {
        self.used = Some(Arc::clone(fence));
        if write {
            self.written = Some(Arc::clone(fence));
        }
    }

    /// Notes a request that others have to wait for as if it used the object (dma_resv_add_fence).
    pub(crate) fn await_also(&mut self, fence: &Arc<Fence>, write: bool) {
        if fence.status().is_some() {
            return;
        }
        for (slot, counts) in [(&mut self.used, true), (&mut self.written, write)] {
            // The later of the two stands for both, see `active`.
            let later = |other: &Arc<Fence>| {
                other.status().is_some() || seqno_passed(fence.order(), other.order())
            };
            if counts && slot.as_ref().is_none_or(later) {
                *slot = Some(Arc::clone(fence));
            }
        }
    }

    /// The request that must end before the object is idle, or only before it is no more written.
    pub(crate) fn active(&mut self, writer: bool) -> Option<Arc<Fence>> {
        // Requests end in order, so the last one stands for all.
        for slot in [&mut self.used, &mut self.written] {
            slot.take_if(|fence| fence.status().is_some());
        }
        if writer {
            self.written.clone()
        } else {
            self.used.clone()
        }
    }
}
