//! Waiting on behalf of a task: for fences and for others to submit.
//!
//! i915 `i915_gem_wait.c`. Whoever waits looks for hangs as well. Not modelled: priorities of what is waited for.
use alloc::sync::Arc;

use kernel::error::{Result, code::EINTR, code::ENODEV, code::ETIME};
use kernel::time::Delta;

use crate::intel::device::Device;
use crate::intel::fence::Fence;
use crate::intel::gem::Object;
use crate::intel::ioctl::Call;
use crate::intel::task::Task;

/// Longest time between two looks.
const MAX_STEP: Delta = Delta::from_millis(1);

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
        device.watch();
        clock.relax(step.min(left));
        step = Delta::from_nanos(step.as_nanos() * 2).min(MAX_STEP);
    }
}

/// Waits for a fence; what became of the request does not matter. Meanwhile the caller's program is one of those that
/// wait for the engine.
pub(crate) fn wait_fence(call: &Call<'_>, fence: &Arc<Fence>, timeout: Option<Delta>) -> Result {
    let _waits = fence.status().is_none().then(|| call.waits());
    wait_until(call.device, call.task, timeout, || fence.status().is_some())
}

/// The fence that a reader of an object waits for, or a writer.
fn awaited(device: &Device, object: &Object, writer: bool) -> Option<Arc<Fence>> {
    device.timeline().retire();
    object.state(|state| state.active(writer))
}

/// Waits until the device is done with an object, or done writing it.
pub(crate) fn wait_object(
    call: &Call<'_>,
    object: &Object,
    writer: bool,
    timeout: Option<Delta>,
) -> Result {
    match awaited(call.device, object, writer) {
        Some(fence) => wait_fence(call, &fence, timeout),
        None => Ok(()),
    }
}

/// The same for a task without a file.
pub(crate) fn wait_shared_object(
    device: &Device,
    task: &dyn Task,
    object: &Object,
    writer: bool,
) -> Result {
    match awaited(device, object, writer) {
        Some(fence) => wait_until(device, task, None, || fence.status().is_some()),
        None => Ok(()),
    }
}
