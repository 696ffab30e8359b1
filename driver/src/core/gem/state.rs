//! What an object knows apart from its binding: pages, advice, name, use.
//!
//! i915 `i915_gem_object_types.h`, dma-resv.c.
use alloc::sync::Arc;
use alloc::vec::Vec;

use kernel::dma::CoherentAllocation;
use kernel::error::{Result, code::EBUSY, code::EFAULT};

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

/// A submission that waits until the requests of other timelines have let go of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    /// Its number: submissions that come later have higher ones.
    pub(crate) ticket: u64,
    /// On which timeline its request will be.
    pub(crate) timeline: u64,
    pub(crate) write: bool,
}

impl Claim {
    /// Whether the other one has come before and has to be queued first.
    fn is_behind(&self, other: &Claim) -> bool {
        other.ticket < self.ticket && other.timeline != self.timeline && (other.write || self.write)
    }
}

/// The part of an object that is not its binding.
pub(crate) struct State {
    pages: Option<Arc<CoherentAllocation>>,
    pub(crate) madvise: Madvise,
    /// Something has been done with the object for which Linux gives it pages. A new object has no pages there, and PWRITE gives it
    /// none (shmem_pwrite); what has no pages goes at once when it is not needed.
    pub(crate) touched: bool,
    /// Global name, 0 for none, and number of handles.
    pub(crate) name: u32,
    pub(crate) handles: u32,
    /// The last request of each timeline that uses the object, and the last that writes it.
    used: Vec<Arc<Fence>>,
    written: Vec<Arc<Fence>>,
    /// Submissions that wait for it.
    claims: Vec<Claim>,
    /// Mappings of it.
    shown: usize,
    /// One of them has had its pages as they lie.
    pub(super) has_shown_pages: bool,
}

impl State {
    pub(crate) fn new(pages: CoherentAllocation) -> Self {
        State {
            pages: Some(Arc::new(pages)),
            madvise: Madvise::WillNeed,
            touched: false,
            name: 0,
            handles: 0,
            used: Vec::new(),
            written: Vec::new(),
            claims: Vec::new(),
            shown: 0,
            has_shown_pages: false,
        }
    }

    /// Notes a mapping.
    pub(super) fn show(&mut self, as_pages: bool) {
        self.shown = self.shown.saturating_add(1);
        self.has_shown_pages |= as_pages;
        self.touched = true;
    }

    /// A mapping is gone.
    pub(super) fn hide(&mut self) {
        self.shown = self.shown.saturating_sub(1);
    }

    /// Whether there is a mapping.
    pub(super) fn is_shown(&self) -> bool {
        self.shown > 0
    }

    /// The pages; `EFAULT` when they have been purged.
    pub(crate) fn pages(&self) -> Result<&Arc<CoherentAllocation>> {
        self.pages.as_ref().ok_or(EFAULT)
    }

    /// Notes a submission that waits for the object.
    pub(crate) fn claim(&mut self, claim: Claim) {
        self.claims.push(claim);
    }

    /// Forgets the one of a number.
    pub(crate) fn give_up(&mut self, ticket: u64) {
        self.claims.retain(|claim| claim.ticket != ticket);
        if self.claims.is_empty() {
            self.claims = Vec::new();
        }
    }

    /// Whether a submission has to let another one go first.
    pub(crate) fn is_claimed_before(&self, claim: &Claim) -> bool {
        self.claims.iter().any(|other| claim.is_behind(other))
    }

    /// Gives the contents up, and comes back with the pages that there were; `EBUSY` when user space, a mapping or the device needs them.
    /// Nobody changes the advice in between (i915 `i915_gem_madvise_ioctl` and the shrinker hold the object's lock).
    pub(super) fn purge(&mut self) -> Result<Option<Arc<CoherentAllocation>>> {
        if self.madvise != Madvise::DontNeed || self.is_shown() || !self.users(false).is_empty() {
            return Err(EBUSY);
        }
        self.madvise = Madvise::Purged;
        Ok(self.pages.take())
    }

    /// Notes a request that uses the object.
    pub(crate) fn mark_active(&mut self, fence: &Arc<Fence>, write: bool) {
        note(&mut self.used, fence);
        if write {
            note(&mut self.written, fence);
        }
    }

    /// Notes a request that others have to wait for as if it used the object (dma_resv_add_fence).
    pub(crate) fn await_also(&mut self, fence: &Arc<Fence>, write: bool) {
        if fence.status().is_some() {
            return;
        }
        for (list, counts) in [(&mut self.used, true), (&mut self.written, write)] {
            // The later of two of a timeline stands for both, see `users`.
            let is_later = |other: &Arc<Fence>| {
                other.context() == fence.context()
                    && other.status().is_none()
                    && !seqno_passed(fence.order(), other.order())
            };
            if counts && !list.iter().any(is_later) {
                note(list, fence);
            }
        }
    }

    /// The requests that must end before the object is idle, or only before it is no more written: one of each timeline.
    pub(crate) fn users(&mut self, writer: bool) -> &[Arc<Fence>] {
        // Requests of a timeline end in order, so the last one stands for all.
        for list in [&mut self.used, &mut self.written] {
            list.retain(|fence| fence.status().is_none());
        }
        if writer { &self.written } else { &self.used }
    }

    /// The same as one fence.
    pub(crate) fn active(&mut self, writer: bool) -> Option<Arc<Fence>> {
        match self.users(writer) {
            [] => None,
            [one] => Some(Arc::clone(one)),
            several => Some(Fence::merge("", &several.iter().collect::<Vec<_>>())),
        }
    }
}

/// Puts a request in the place of those of its timeline and of those that have ended.
fn note(list: &mut Vec<Arc<Fence>>, fence: &Arc<Fence>) {
    list.retain(|other| other.status().is_none() && other.context() != fence.context());
    list.push(Arc::clone(fence));
}
