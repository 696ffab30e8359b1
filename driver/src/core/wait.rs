//! The one loop that waits: for fences, for room, for others to submit.
//!
//! i915 `i915_gem_wait.c`. Whoever waits looks for hangs as well. Not modelled: priorities of what is waited for.
use alloc::sync::Arc;

use kernel::error::{Result, code::EINTR, code::ENODEV, code::ETIME};
use kernel::time::Delta;

use crate::core::call::Call;
use crate::core::device::Device;
use crate::core::fence::Fence;
use crate::core::gem::Object;
use crate::core::program::Wanted;
use crate::core::task::Task;

/// Longest time between two looks.
const MAX_STEP: Delta = Delta::from_millis(1);

/// Of so many looks at what is waited for, one is at the device's memory as well, and so is the last one. A device that is at work has to stop for that look.
const RETIRES: u32 = 8;

/// How long a wait lasts and what it looks at meanwhile.
#[derive(Clone, Copy)]
pub(crate) struct Patience<'a> {
    /// The longest time; `None`: for ever.
    pub(crate) timeout: Option<Delta>,
    /// On whose behalf it waits; without a task nothing interrupts it.
    pub(crate) task: Option<&'a dyn Task>,
    /// Whether hangs are looked for meanwhile.
    pub(crate) watches: bool,
}

impl<'a> Patience<'a> {
    /// That of a task.
    pub(crate) fn of(task: &'a dyn Task, timeout: Option<Delta>) -> Self {
        Patience {
            timeout,
            task: Some(task),
            watches: true,
        }
    }
}

/// Waits until `done`; `ETIME` when that takes too long, `EINTR` when the task is to stop, `ENODEV` when the device goes
/// away. Requests that have ended are retired before each look.
pub(crate) fn wait(
    device: &dyn Device,
    patience: &Patience<'_>,
    done: impl FnMut() -> bool,
) -> Result {
    wait_resting(device, patience, done, |step| device.clock().relax(step))
}

/// The same where `rest` lets time pass: as much as it is told, unless it is told otherwise of everything that is waited for.
pub(crate) fn wait_resting(
    device: &dyn Device,
    patience: &Patience<'_>,
    mut done: impl FnMut() -> bool,
    rest: impl Fn(Delta),
) -> Result {
    let clock = device.clock();
    let start = clock.now();
    let mut step = Delta::from_micros(1);
    let mut looks = 0u32;
    loop {
        // Interrupts signal fences. Looking at the device's memory too, now and then, survives a lost interrupt.
        device.tidy();
        if done() {
            return Ok(());
        }
        let passed = clock.now() - start;
        let is_over = patience.timeout.is_some_and(|timeout| passed >= timeout);
        if is_over || looks % RETIRES == RETIRES - 1 {
            device.retire();
            if done() {
                return Ok(());
            }
        }
        looks += 1;
        let left = match patience.timeout {
            Some(_) if is_over => return Err(ETIME),
            Some(timeout) => Delta::from_nanos(timeout.as_nanos() - passed.as_nanos()),
            None => MAX_STEP,
        };
        if patience.task.is_some_and(Task::signal_pending) {
            return Err(EINTR);
        }
        device.check_live().map_err(|_| ENODEV)?;
        if patience.watches {
            device.watch();
        }
        rest(step.min(left));
        step = Delta::from_nanos(step.as_nanos() * 2).min(MAX_STEP);
    }
}

/// The same on behalf of a task.
pub(crate) fn wait_until(
    device: &dyn Device,
    task: &dyn Task,
    timeout: Option<Delta>,
    done: impl FnMut() -> bool,
) -> Result {
    wait(device, &Patience::of(task, timeout), done)
}

/// Waits for a fence; what became of the request does not matter. Meanwhile the caller's program is one of those that
/// wait for the engine.
pub(crate) fn wait_fence(call: &Call<'_>, fence: &Arc<Fence>, timeout: Option<Delta>) -> Result {
    let _waits = fence
        .status()
        .is_none()
        .then(|| call.waits(Wanted::of(fence)));
    wait_until(call.device, call.task, timeout, || fence.status().is_some())
}

/// The fence that a reader of an object waits for, or a writer.
pub(crate) fn awaited(device: &dyn Device, object: &Object, writer: bool) -> Option<Arc<Fence>> {
    device.retire();
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
    device: &dyn Device,
    task: &dyn Task,
    object: &Object,
    writer: bool,
) -> Result {
    match awaited(device, object, writer) {
        Some(fence) => wait_until(device, task, None, || fence.status().is_some()),
        None => Ok(()),
    }
}
