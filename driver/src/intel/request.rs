//! Requests: a batch on its way through the engine.
//!
//! i915 `i915_request`. Not modelled: priorities.
use alloc::sync::{Arc, Weak};

use kernel::error::{Result, code::ENODEV, code::ETIME};
use kernel::time::Delta;

use crate::core::fence::Fence;
use crate::core::wait::{Patience, wait};
use crate::intel::device::{Device, Inner};
use crate::intel::hangcheck;

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
            device.retire();
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
        let patience = Patience {
            timeout: Some(timeout),
            task: None,
            watches: false,
        };
        let ended = || self.fence.status().is_some();
        match wait(&device, &patience, ended) {
            Err(ETIME) => {}
            outcome => return outcome.and_then(|()| self.fence.status().unwrap_or(Err(ENODEV))),
        }
        // TIMEOUT: the caller's.
        hangcheck::timed_out(&device, &self.fence, timeout);
        self.fence.status().unwrap_or(Err(ETIME))
    }
}
