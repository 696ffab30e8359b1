//! Timeline of the render engine: the status page and the requests under way.
//!
//! Sequence numbers land in the hardware status page (i915 `I915_GEM_HWS_SEQNO`). Not modelled: timelines per context.
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use kernel::dma::{CoherentAllocation, DmaAddress};
use kernel::error::{Error, Result};
use kernel::platform::Platform;
use kernel::sync::SpinLock;

use crate::fence::{Fence, seqno_passed};
use crate::gem::Object;

/// Byte offset of the sequence number in the status page (i915: dword 0x40).
pub const HWS_SEQNO: u32 = 0x40 * 4;
/// Byte offset of the scratch dword in the status page (i915: dword 0x80).
pub const HWS_SCRATCH: u32 = 0x80 * 4;

struct Pending {
    fence: Arc<Fence>,
    /// Ring offset behind the request.
    tail: u32,
    /// Kept until the device is done with it.
    batch: Object,
}

#[derive(Default)]
struct Inner {
    submitted: u32,
    pending: VecDeque<Pending>,
    retired: Option<u32>,
    /// Batches of ended requests, to be let go outside interrupts.
    done: Vec<Object>,
}

/// The timeline.
pub struct Timeline {
    page: CoherentAllocation,
    inner: SpinLock<Inner>,
}

impl Timeline {
    /// A timeline over a fresh status page; nothing has been submitted, number 0 is complete.
    pub fn new(platform: &Arc<dyn Platform>) -> Result<Self> {
        let timeline = Timeline {
            page: CoherentAllocation::alloc_coherent(platform, 1)?,
            inner: SpinLock::new(Inner::default()),
        };
        timeline.page.write32(HWS_SEQNO as usize, 0)?;
        Ok(timeline)
    }

    /// Bus address of the status page.
    pub fn status_page(&self) -> DmaAddress {
        self.page.dma_handle()
    }

    /// The number that the device has stored last.
    pub fn completed(&self) -> Result<u32> {
        self.page.read32(HWS_SEQNO as usize)
    }

    /// The number submitted last.
    pub fn submitted(&self) -> u32 {
        self.inner.lock().submitted
    }

    /// The number of the next request.
    pub fn next(&self) -> u32 {
        self.inner.lock().submitted.wrapping_add(1)
    }

    /// Notes a request that is about to become visible to the device.
    pub fn push(&self, fence: &Arc<Fence>, tail: u32, batch: &Object) {
        let mut inner = self.inner.lock();
        inner.submitted = fence.seqno();
        inner.pending.push_back(Pending {
            fence: Arc::clone(fence),
            tail,
            batch: batch.clone(),
        });
    }

    /// Number of requests under way.
    pub fn pending(&self) -> usize {
        self.inner.lock().pending.len()
    }

    /// Signals every request that the device has finished. Safe in an interrupt handler: nothing is freed.
    pub fn signal(&self) {
        // A status page that cannot be read signals nothing; the waiters time out.
        let Ok(completed) = self.completed() else {
            return;
        };
        let mut inner = self.inner.lock();
        while inner
            .pending
            .front()
            .is_some_and(|first| seqno_passed(completed, first.fence.seqno()))
            && let Some(first) = inner.pending.pop_front()
        {
            first.fence.signal(Ok(()));
            inner.retired = Some(first.tail);
            inner.done.push(first.batch);
        }
    }

    /// Signals, then lets go of what ended requests kept alive; not for interrupt handlers.
    pub fn retire(&self) {
        self.signal();
        let done = core::mem::take(&mut self.inner.lock().done);
        // Unbinding touches the device: the lock is free by now.
        drop(done);
    }

    /// Ring offset up to which the ring may be used again, when it has moved since the last call.
    pub fn take_retired(&self) -> Option<u32> {
        self.inner.lock().retired.take()
    }

    /// Ends every request under way with an error and makes the status page agree.
    pub fn fail_pending(&self, error: Error) -> Result {
        let submitted = {
            let mut inner = self.inner.lock();
            while let Some(pending) = inner.pending.pop_front() {
                pending.fence.signal(Err(error));
                inner.done.push(pending.batch);
            }
            inner.retired = None;
            inner.submitted
        };
        self.page.write32(HWS_SEQNO as usize, submitted)
    }
}
