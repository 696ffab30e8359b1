//! Waiting on behalf of a task: for fences and for others to submit.
//!
//! i915 `i915_gem_wait.c`, `intel_engine_heartbeat.c`. Not modelled: heartbeats; an engine that does not move
//! while somebody waits is reset.
use alloc::sync::Arc;

use kernel::error::{Result, code::EINTR, code::ENODEV, code::ETIME};
use kernel::time::{Delta, Ktime};

use crate::device::Device;
use crate::fence::Fence;
use crate::gem::Object;
use crate::hangcheck::{self, Sample};
use crate::task::Task;

/// Longest time between two looks.
const MAX_STEP: Delta = Delta::from_millis(1);
/// Time between two samples of the engine.
const SAMPLE: Delta = Delta::from_millis(500);
/// TIMEOUT: samples without any progress before the engine is taken for hung (i915 needs some seconds as well).
const SAMPLES: u32 = 10;

/// Watches the engine while somebody waits for it.
struct Watch {
    next: Ktime,
    seen: Option<(Sample, Option<u32>, u32)>,
    same: u32,
}

impl Watch {
    fn look(&mut self, device: &Device, now: Ktime) {
        if now < self.next {
            return;
        }
        self.next = now + SAMPLE;
        if device.timeline().pending() == 0 {
            self.seen = None;
            return;
        }
        let resets = device.reset_count();
        let completed = device.timeline().completed().ok();
        let sample = Some((Sample::take(device), completed, resets));
        self.same = if self.seen == sample {
            self.same + 1
        } else {
            0
        };
        self.seen = sample;
        if self.same >= SAMPLES {
            self.same = 0;
            hangcheck::hung(device, resets);
        }
    }
}

/// Waits until `done`; `ETIME` when that takes longer than `timeout` (`None`: for ever), `EINTR` when the task is
/// to stop, `ENODEV` when the device goes away.
pub(crate) fn wait_until(
    device: &Device,
    task: &dyn Task,
    timeout: Option<Delta>,
    mut done: impl FnMut() -> bool,
) -> Result {
    let clock = device.uncore().clock();
    let start = clock.now();
    let mut step = Delta::from_micros(1);
    let mut watch = Watch {
        next: start + SAMPLE,
        seen: None,
        same: 0,
    };
    loop {
        device.timeline().retire();
        if done() {
            return Ok(());
        }
        let now = clock.now();
        let left = match timeout {
            Some(timeout) if now - start >= timeout => return Err(ETIME),
            Some(timeout) => Delta::from_nanos(timeout.as_nanos() - (now - start).as_nanos()),
            None => MAX_STEP,
        };
        if task.signal_pending() {
            return Err(EINTR);
        }
        device.check_live().map_err(|_| ENODEV)?;
        watch.look(device, now);
        clock.relax(step.min(left));
        step = Delta::from_nanos(step.as_nanos() * 2).min(MAX_STEP);
    }
}

/// Waits for a fence; what became of the request does not matter.
pub(crate) fn wait_fence(
    device: &Device,
    task: &dyn Task,
    fence: &Arc<Fence>,
    timeout: Option<Delta>,
) -> Result {
    wait_until(device, task, timeout, || fence.status().is_some())
}

/// Waits until the device is done with an object, or done writing it.
pub(crate) fn wait_object(
    device: &Device,
    task: &dyn Task,
    object: &Object,
    writer: bool,
    timeout: Option<Delta>,
) -> Result {
    device.timeline().retire();
    match object.state(|state| state.active(writer)) {
        Some(fence) => wait_fence(device, task, &fence, timeout),
        None => Ok(()),
    }
}
