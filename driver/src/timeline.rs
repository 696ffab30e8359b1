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
use kernel::time::Ktime;

use crate::context::Context;
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
    /// What it uses, kept until the device is done with it.
    uses: Uses,
}

/// What a request uses.
#[derive(Clone, Default)]
pub struct Uses {
    /// The objects, the batch among them.
    #[expect(dead_code, reason = "held, not looked at")]
    pub objects: Vec<Object>,
    /// Those whose contents belong into an error state (uAPI `EXEC_OBJECT_CAPTURE`).
    pub capture: Vec<Object>,
    /// On whose behalf it runs.
    pub context: Option<Arc<Context>>,
}

#[derive(Default)]
struct Inner {
    submitted: u32,
    pending: VecDeque<Pending>,
    retired: Option<u32>,
    /// What ended requests used, to be let go outside interrupts.
    done: Vec<Uses>,
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
    pub fn push(&self, fence: &Arc<Fence>, tail: u32, uses: &Uses) {
        let mut inner = self.inner.lock();
        inner.submitted = fence.seqno();
        inner.pending.push_back(Pending {
            fence: Arc::clone(fence),
            tail,
            uses: uses.clone(),
        });
    }

    /// Number of requests under way.
    pub fn pending(&self) -> usize {
        self.inner.lock().pending.len()
    }

    /// Signals every request that the device has finished. Safe in an interrupt handler: nothing is freed.
    pub fn signal(&self) {
        if self.inner.lock().pending.is_empty() {
            return;
        }
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
            inner.done.push(first.uses);
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

    /// What the oldest request under way wants to see in an error state.
    pub fn captures(&self) -> Vec<Object> {
        let inner = self.inner.lock();
        let first = inner.pending.front();
        first.map_or_else(Vec::new, |first| first.uses.capture.clone())
    }

    /// Ends every request under way with an error and makes the status page agree. `guilty` is the time of a hang that
    /// is the fault of the first.
    pub fn fail_pending(&self, error: Error, mut guilty: Option<Ktime>) -> Result {
        let submitted = {
            let mut inner = self.inner.lock();
            while let Some(pending) = inner.pending.pop_front() {
                pending.fence.signal(Err(error));
                if let Some(context) = &pending.uses.context {
                    // The first is what hung; the others had no chance.
                    match guilty.take() {
                        Some(now) => context.mark_guilty(now),
                        None => context.mark_innocent(),
                    }
                }
                guilty = None;
                inner.done.push(pending.uses);
            }
            inner.retired = None;
            inner.submitted
        };
        self.page.write32(HWS_SEQNO as usize, submitted)
    }
}
