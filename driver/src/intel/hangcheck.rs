//! Hang check: does the engine get on, and does one program keep it from others?
//!
//! i915's hang check compared active heads over time and kept a score (`i915_hangcheck_elapsed` up to Linux 4.15); later
//! ones send heartbeats instead, which end every request that takes long. Here time alone is no reason while no other
//! program waits (`share`): as long as threads retire, commands are parsed or requests end, the engine is left alone. Not
//! told from work: batches that start themselves for ever and draw in between; those that store are found late.
use alloc::format;

use kernel::sync::Ordering;
use kernel::time::{Delta, delay};
use kernel::{dev_dbg, dev_err, dev_warn};

use crate::core::fence::Fence;
use crate::intel::device::{Culprit, Device};
use crate::intel::engine::Engine;
use crate::intel::sample::{Sample, Seen, Stray};
use crate::intel::timeline::Pending;

use crate::core::ends::settle;
pub use crate::core::limits::TimeLimits;
use crate::core::reason::Why;

/// Time between the two samples of a wait that has timed out.
const SAMPLE_PERIOD: Delta = Delta::from_micros(10);

/// Keeps hangs from being looked for; see [`Device::suspend_hang_check`].
pub struct Suspension {
    device: Device,
}

impl Suspension {
    pub(crate) fn new(device: &Device) -> Self {
        let check = device.hangcheck();
        check.suspensions.fetch_add(1, Ordering::AcqRel);
        Suspension {
            device: device.clone(),
        }
    }
}

impl Drop for Suspension {
    fn drop(&mut self) {
        let check = self.device.hangcheck();
        for engine in self.device.engines() {
            engine.check().forget();
        }
        check.suspensions.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Device {
    /// Looks whether the engine hangs, or is kept from others for too long, and resets it then. To be called now and then, say every 100 ms of real time, by
    /// the host that keeps the device running, so that hangs are found while no task waits; waits of tasks call it as well.
    /// Cheap when it was called shortly before. Not for interrupt handlers.
    pub fn watch(&self) {
        watch(self);
    }

    /// Nothing is a hang until the guard is dropped, and no time counts: a debugger has halted a thread.
    #[must_use]
    pub fn suspend_hang_check(&self) -> Suspension {
        Suspension::new(self)
    }
}

/// Takes a sample when it is time for one, and resets the device when it hangs.
pub(crate) fn watch(device: &Device) {
    for engine in device.engines() {
        look_at_share(device, engine);
    }
    let check = device.hangcheck();
    if !check.is_due(device.uncore().clock().now()) || device.check_live().is_err() {
        return;
    }
    for engine in device.engines() {
        sample(device, engine);
    }
}

/// Where an engine stands.
fn look(device: &Device, engine: &Engine) -> Sample {
    Sample::take(device.info(), engine.info(), engine.registers())
}

/// Takes a sample of an engine.
fn sample(device: &Device, engine: &Engine) {
    let check = engine.check();
    let resets = device.reset_count();
    engine.timeline().retire();
    let first = engine.timeline().first();
    let held = device.hangcheck().suspended() || device.debug_hook().holds(device.uncore());
    let Some(first) = first.filter(|_| !held && !engine.is_resetting()) else {
        check.forget();
        if !held {
            look_for_stray(device, engine, resets);
        }
        return;
    };
    let sample = look(device, engine);
    let hangs = {
        let mut seen = check.seen.lock();
        seen.get_or_insert(Seen::new(first.seqno, sample))
            .look(first.seqno, sample)
    };
    if hangs {
        check.forget();
        end(device, engine, &first, (resets, Why::Hangs));
    }
}

/// Resets a device whose engine is at work though nothing is under way. On this family batches can write over the ring and
/// the status page; the next request would be blamed for what such a one has left.
fn look_for_stray(device: &Device, engine: &Engine, resets: u32) {
    let is_stray = {
        let mut stray = engine.check().stray.lock();
        if engine.is_resetting() || engine.is_idle() || engine.timeline().pending() > 0 {
            *stray = Stray::default();
            return;
        }
        // A request that is submitted meanwhile has another number.
        stray.look(engine.timeline().submitted())
    };
    if !is_stray {
        return;
    }
    let _one = device.user().reset.lock(device.uncore().clock());
    if device.reset_count() != resets {
        return;
    }
    let reason = "the engine is at work without a request: a batch has written over its ring or its status page";
    dev_err!(device, "{reason}");
    device.interrupts().record(engine.info(), reason, true);
    if let Err(error) = device.reset_alone(Culprit::NoRequest) {
        dev_err!(device, "the reset after {reason:?} failed: {error}");
    }
}

/// Looks when it is time to, and ends the oldest request when it has kept the engine for too long.
fn look_at_share(device: &Device, engine: &Engine) {
    let check = engine.check();
    let now = device.uncore().clock().outside();
    let Some(limits) = check.share.due(now) else {
        return;
    };
    if device.check_live().is_err() || engine.is_resetting() {
        return;
    }
    let resets = device.reset_count();
    engine.timeline().retire();
    if device.hangcheck().suspended() || device.debug_hook().holds(device.uncore()) {
        // Time goes on without being counted.
        check.share.pause(now);
        return;
    }
    let found = (check.share).look(device.user(), &**engine.timeline(), now, &limits);
    if let Some((first, why)) = found {
        check.forget();
        end(device, engine, &first, (resets, why));
    }
}

/// Records the error state of a request that has not ended after `timeout`, unless it ends while being looked at.
pub(crate) fn timed_out(device: &Device, fence: &Fence, timeout: Delta) {
    if device.debug_hook().holds(device.uncore()) {
        return;
    }
    let engine = device.engine_of(fence);
    let before = look(device, engine);
    delay(device.uncore().clock(), SAMPLE_PERIOD);
    engine.timeline().signal();
    if fence.status().is_some() {
        return;
    }
    let verdict = if look(device, engine) == before {
        "the engine stands still"
    } else {
        "the engine is still moving"
    };
    let seqno = fence.seqno();
    let reason = format!("request {seqno} not done after {timeout}: {verdict}");
    // The waiting task is told, and its caller reports it.
    dev_dbg!(device, "{reason}");
    device.interrupts().record(engine.info(), &reason, true);
}

/// Resets a device to end the oldest request, unless that has just come to its end, or another thread has done so:
/// `resets` is their number when there was reason to.
fn end(device: &Device, engine: &Engine, first: &Pending, (resets, why): (u32, Why)) {
    let _one = device.user().reset.lock(device.uncore().clock());
    if device.reset_count() != resets {
        return;
    }
    engine.timeline().signal();
    if first.fence.status().is_some() {
        return;
    }
    let name = first.fence.timeline_name();
    let reason = why.reason(&first.fence);
    match why {
        // i915 makes no error state of it either (`__reset_context`), and says so with little emphasis.
        Why::Closed(_) => dev_warn!(device, "{reason}"),
        Why::Hangs | Why::Request(_) | Why::Row(_) | Why::Family(_) => {
            dev_err!(device, "{reason}");
            device.interrupts().record(engine.info(), &reason, true);
        }
    }
    let now = device.uncore().clock().outside();
    let share = &engine.check().share;
    if settle(
        share,
        (device.user(), &**engine.timeline()),
        first,
        (why, now),
    ) {
        dev_err!(
            device,
            "{name} is banned: requests of it have been ended three times because others waited"
        );
    }
    if let Err(error) = device.reset_alone(Culprit::Request(&first.fence)) {
        dev_err!(device, "the reset after {reason:?} failed: {error}");
    }
}
