//! Requests: a batch on its way through the engine.
//!
//! i915 `i915_request`. Not modelled: dependencies between requests, priorities.
use alloc::sync::{Arc, Weak};

use kernel::error::{Result, code::ENODEV, code::ETIME};
use kernel::time::Delta;

use crate::intel::device::{Device, Inner};
use crate::intel::fence::Fence;
use crate::intel::hangcheck;

/// Longest time between two looks at the status page while waiting.
const MAX_STEP: Delta = Delta::from_millis(1);

/// A submitted batch. Dropping it does not cancel it, and it does not keep its device.
pub struct Request {
    device: Weak<Inner>,
    fence: Arc<Fence>,
}

impl Request {
    pub(crate) fn new(device: &Device, fence: Arc<Fence>) -> Self {
        Request {
            device: Arc::downgrade(&device.inner),
            fence,
        }
    }

    fn device(&self) -> Option<Device> {
        self.device.upgrade().map(|inner| Device { inner })
    }

    /// Sequence number.
    #[must_use]
    pub fn seqno(&self) -> u32 {
        self.fence.seqno()
    }

    /// The fence.
    #[must_use]
    pub fn fence(&self) -> &Arc<Fence> {
        &self.fence
    }

    /// Whether the request has ended, well or not.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        if let Some(device) = self.device() {
            device.timeline().retire();
        }
        self.fence.status().is_some()
    }

    /// Waits for the end of the request.
    ///
    /// `ETIME` when it has not ended after `timeout` of the platform's time; the device's error state then says where
    /// it stands. `EIO` when a reset has thrown it away, `ENODEV` when the device was removed first.
    pub fn wait(&self, timeout: Delta) -> Result {
        let Some(device) = self.device() else {
            return self.fence.status().unwrap_or(Err(ENODEV));
        };
        let clock = device.uncore().clock();
        let deadline = clock.now() + timeout;
        let mut step = Delta::from_micros(1);
        loop {
            // The interrupt signals the fence; looking at the status page too survives a lost interrupt.
            device.timeline().retire();
            if let Some(outcome) = self.fence.status() {
                return outcome;
            }
            let now = clock.now();
            if now >= deadline {
                break;
            }
            clock.relax(step.min(deadline - now));
            step = Delta::from_nanos(step.as_nanos() * 2).min(MAX_STEP);
        }
        // TIMEOUT: the caller's.
        hangcheck::timed_out(&device, &self.fence, timeout);
        self.fence.status().unwrap_or(Err(ETIME))
    }
}
