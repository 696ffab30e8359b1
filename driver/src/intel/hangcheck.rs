//! Hang check: does the engine get on, and does one program keep it from others?
//!
//! i915's hang check compared active heads over time and kept a score (`i915_hangcheck_elapsed` up to Linux 4.15); later
//! ones send heartbeats instead, which end every request that takes long. Here time alone is no reason while no other
//! program waits (`share`): as long as threads retire, commands are parsed or requests end, the engine is left alone. Not
//! told from work: batches that start themselves for ever and draw in between; those that store are found late.
use alloc::format;

use kernel::sync::{Ordering, SpinLock};
use kernel::time::{Delta, delay};
use kernel::{dev_dbg, dev_err, dev_warn};

use crate::core::fence::Fence;
use crate::core::share::has_program;
use crate::core::timeline::Past;
use crate::intel::device::{Culprit, Device};
use crate::intel::engine::Engine;
use crate::intel::sample::{Odd, Sample, Seen, Stray};
use crate::intel::timeline::{Left, Pending};

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
    let held = device.hangcheck().suspended() || device.debug_hook().holds(device.uncore());
    if held || look_for_stray(device, engine, &check.stray[0]) {
        check.forget();
        return;
    }
    let first = engine.timeline().first();
    let Some(first) = first.filter(|_| !engine.is_resetting()) else {
        check.forget();
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

/// What an engine is at that no engine should be at.
fn odd(engine: &Engine) -> (Option<Odd>, Option<Past<Left>>) {
    if let Some(past) = engine.lingers() {
        return (Some(Odd::Lingers(past.seqno)), Some(past));
    }
    let odd = match engine.timeline().first() {
        Some(first) if engine.is_in(&first) => None,
        Some(first) => Some(Odd::Skipped(first.seqno)),
        // A request that is submitted meanwhile has another number.
        None if engine.is_idle() => None,
        None => Some(Odd::Idle(engine.timeline().submitted())),
    };
    (odd, None)
}

/// Resets a device whose engine is at something else than the oldest request under way; whether there was reason to. On this
/// family batches can write over the ring and the status page; the next request would be blamed for what such a one has left.
/// Requests that have ended must have been retired.
fn look_for_stray(device: &Device, engine: &Engine, stray: &SpinLock<Stray>) -> bool {
    if engine.is_resetting() {
        *stray.lock() = Stray::default();
        return false;
    }
    let resets = device.reset_count();
    let (odd, past) = odd(engine);
    let now = device.uncore().clock().now();
    if !stray.lock().look(odd, now) {
        return false;
    }
    let Some(odd) = odd else {
        return false;
    };
    let _one = device.user().reset.lock(device.uncore().clock());
    if device.reset_count() != resets {
        return true;
    }
    *stray.lock() = Stray::default();
    let first = engine.timeline().first();
    let first = first.filter(|first| odd == Odd::Skipped(first.seqno));
    let why = "a batch has written over its ring or its status page";
    let reason = match (odd, &past) {
        (Odd::Lingers(seqno), Some(past)) => {
            let name = past.left.name();
            format!("request {seqno} of {name} goes on behind its own number: {why}")
        }
        (Odd::Skipped(seqno), _) => {
            format!("the engine has left request {seqno} without its number: {why}")
        }
        _ => format!("the engine is at work without a request: {why}"),
    };
    dev_err!(device, "{reason}");
    device.interrupts().record(engine.info(), &reason, true);
    if let Some(past) = past {
        blame_past(device, engine, &past);
    }
    let culprit = match &first {
        Some(first) if !is_spared(device, engine, first) => Culprit::Request(&first.fence),
        _ => Culprit::NoRequest,
    };
    if let Err(error) = device.reset_alone(culprit, Some(engine)) {
        dev_err!(device, "the reset after {reason:?} failed: {error}");
    }
    true
}

/// What going on behind its number means for a request's context and program: what a hang does, and what a request means that
/// is ended because others wait.
fn blame_past(device: &Device, engine: &Engine, past: &Past<Left>) {
    past.left.mark_guilty(device.uncore().clock().now());
    let Some(program) = past.left.program() else {
        return;
    };
    let (user, timeline) = (device.user(), &**engine.timeline());
    if !has_program(user, timeline, |other| other.is_other_than(program)) {
        return;
    }
    let (account, now) = (program.account(), device.uncore().clock().outside());
    user.ledger.note(&account, now);
    if account.mark_unfair(now, engine.check().share.limit()) {
        banned(device, &past.left.name());
    }
}

fn banned(device: &Device, name: &str) {
    dev_err!(
        device,
        "{name} is banned: requests of it have been ended three times because others waited"
    );
}

/// Whether a request runs again though the engine has hung with it: what has become of its commands may be the work of one
/// before it. When it happens to the same again, with nothing before it in its ring, it has done so itself. An engine beside
/// may do so once more.
fn is_spared(device: &Device, engine: &Engine, first: &Pending) -> bool {
    let most = device.engines().len();
    engine.check().spared.lock().once_more(first.seqno, most)
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
    if look_for_stray(device, engine, &check.stray[1]) {
        check.forget();
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
    let is_itself = engine.is_in(first) && !engine.is_altered(first);
    if !is_itself && is_spared(device, engine, first) {
        let reason =
            format!("{reason}, with commands in the ring that are not its own: it runs again");
        dev_err!(device, "{reason}");
        device.interrupts().record(engine.info(), &reason, true);
        if let Err(error) = device.reset_alone(Culprit::NoRequest, Some(engine)) {
            dev_err!(device, "the reset after {reason:?} failed: {error}");
        }
        return;
    }
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
        banned(device, &name);
    }
    if let Err(error) = device.reset_alone(Culprit::Request(&first.fence), Some(engine)) {
        dev_err!(device, "the reset after {reason:?} failed: {error}");
    }
}
