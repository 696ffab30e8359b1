//! A bound device: objects, submission, waiting, reset, removal.
//!
//! Not modelled: runtime power management.
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use kernel::error::{Result, code::EIO, code::ENODEV, code::ENOMEM};
use kernel::platform::Platform;
use kernel::print::DevName;
use kernel::sync::{AtomicBool, AtomicU32, Ordering};
use kernel::time::{Delta, delay, read_poll_timeout};
use kernel::{dev_warn, pr_warn};

use crate::core::device::UserState;
use crate::core::fence::Fence;
use crate::core::limits::TimeLimits;
use crate::core::mmap::Offsets;
use crate::core::range::Search;
use crate::core::timeline::Blame;
use crate::intel::copies::Pool;
use crate::intel::debug::hook::Hook;
use crate::intel::engine::Engine;
use crate::intel::error_state::ErrorState;
use crate::intel::gem::{Object, Tiling};
use crate::intel::r#gen::Model;
use crate::intel::r#gen::{DeviceInfo, EngineInfo};
use crate::intel::gtt::Ggtt;
use crate::intel::irq::Interrupts;
use crate::intel::observe::{Observer, Slot};
use crate::intel::sample::Hangcheck;
#[cfg(test)]
use crate::intel::timeline::Timeline;
use crate::intel::uapi::context::CLASS_RENDER;
use crate::intel::uncore::{POLL, Uncore};
use crate::intel::workarounds;

/// TIMEOUT: how long the removal waits for requests under way.
const REMOVE_IDLE_TIMEOUT: Delta = Delta::from_millis(200);

/// Attempts after the first (i915 `RESET_MAX_RETRIES`).
const RESET_RETRIES: u32 = 3;
/// What the error files say when there is no error (i915 `error_state_read`).
pub const NO_ERROR: &str = "No error state collected\n";

pub(crate) struct Inner {
    pub(crate) uncore: Uncore,
    pub(crate) model: &'static Model,
    pub(crate) ggtt: Arc<Ggtt>,
    pub(crate) interrupts: Arc<Interrupts>,
    /// One for each row of the device, the render engine first.
    pub(crate) engines: Vec<Engine>,
    pub(crate) objects: AtomicU32,
    pub(crate) removed: AtomicBool,
    pub(crate) user: UserState,
    pub(crate) observer: Slot,
    /// Copies of batches.
    pub(crate) copies: Pool,
    pub(crate) hangcheck: Hangcheck,
    pub(crate) debug: Hook,
}

/// A bound device; clones share it.
#[derive(Clone)]
pub struct Device {
    pub(crate) inner: Arc<Inner>,
}

impl DevName for Device {
    fn dev_name(&self) -> &str {
        self.inner.model.name
    }
}

impl Device {
    /// Marketing name of the device.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.inner.model.name
    }

    /// What is true of its generation.
    #[must_use]
    pub fn info(&self) -> &'static DeviceInfo {
        self.inner.model.info
    }

    /// The registers.
    #[must_use]
    pub fn uncore(&self) -> &Uncore {
        &self.inner.uncore
    }

    /// The platform.
    #[must_use]
    pub fn platform(&self) -> &Arc<dyn Platform> {
        self.inner.uncore.platform()
    }

    /// The global GTT.
    #[must_use]
    pub fn ggtt(&self) -> &Arc<Ggtt> {
        &self.inner.ggtt
    }

    /// The render engine.
    pub(crate) fn engine(&self) -> &Engine {
        self.inner.render()
    }

    /// All engines, the render engine first.
    pub(crate) fn engines(&self) -> &[Engine] {
        &self.inner.engines
    }

    /// The engine that a fence is of; the render engine for fences of none.
    pub(crate) fn engine_of(&self, fence: &Fence) -> &Engine {
        let mut engines = self.engines().iter();
        engines
            .find(|engine| fence.context() == Some(engine.timeline().context()))
            .unwrap_or(self.engine())
    }

    /// The timeline of the render engine.
    #[cfg(test)]
    pub(crate) fn timeline(&self) -> &Timeline {
        self.engine().timeline()
    }

    /// Signals the requests of all engines that have ended and lets go of what they used.
    pub(crate) fn retire(&self) {
        for engine in self.engines() {
            engine.timeline().retire();
        }
    }

    /// Lets go of what requests used that interrupts have signalled.
    pub(crate) fn tidy(&self) {
        for engine in self.engines() {
            engine.timeline().tidy();
        }
    }

    /// Whether submissions are refused until a reset succeeds.
    pub(crate) fn is_wedged(&self) -> bool {
        self.engine().is_wedged()
    }

    pub(crate) fn interrupts(&self) -> &Interrupts {
        &self.inner.interrupts
    }

    /// What open files share.
    pub(crate) fn user(&self) -> &UserState {
        &self.inner.user
    }

    /// The offsets that `mmap` of the node takes.
    #[must_use]
    pub fn mappings(&self) -> &Offsets {
        &self.inner.user.mappings
    }

    /// Shows every submission of user space to `observer` from now on; `None` ends that.
    pub fn observe(&self, observer: Option<Arc<dyn Observer>>) {
        self.inner.observer.set(observer);
    }

    /// Copies of batches that run with privileges.
    pub(crate) fn copies(&self) -> &Pool {
        &self.inner.copies
    }

    /// The observer of submissions, when there is one.
    pub(crate) fn observer(&self) -> Option<Arc<dyn Observer>> {
        self.inner.observer.get()
    }

    /// Number of resets so far.
    #[must_use]
    pub fn reset_count(&self) -> u32 {
        self.inner.user.resets.load(Ordering::Relaxed)
    }

    /// Objects that the oldest requests under way want to see in an error state.
    #[must_use]
    pub fn captures(&self) -> Vec<Object> {
        let engines = self.engines().iter();
        engines
            .flat_map(|engine| engine.timeline().captures())
            .collect()
    }

    pub(crate) fn check_live(&self) -> Result {
        if self.inner.removed.load(Ordering::Acquire) {
            return Err(ENODEV);
        }
        Ok(())
    }

    /// Creates an object of at least `size` zeroed bytes.
    ///
    /// `EINVAL` for size 0 and for tiled objects whose stride is no multiple of the tile width.
    pub fn create_object(&self, size: usize, tiling: Tiling, stride: u32) -> Result<Object> {
        /// Tries, each with pages that a purge has given back: other threads may have taken them by then.
        const TRIES: usize = 16;
        self.check_live()?;
        for _ in 1..TRIES {
            let before = self.user().lru.purges();
            match self.try_create(size, tiling, stride) {
                Err(ENOMEM) if self.purge(before) => {}
                other => return other,
            }
        }
        self.try_create(size, tiling, stride)
    }

    /// Takes the contents of objects that nobody needs; whether there are more pages now than when [`Lru::purges`] was `before`.
    ///
    /// [`Lru::purges`]: crate::core::shrink::Lru::purges
    pub(crate) fn purge(&self, before: u64) -> bool {
        self.retire();
        self.user().lru.purge(self.platform().clock(), before)
    }

    fn try_create(&self, size: usize, tiling: Tiling, stride: u32) -> Result<Object> {
        let number = self.inner.objects.fetch_add(1, Ordering::Relaxed);
        Object::new(
            self.platform(),
            &self.inner.ggtt,
            Object::name(number),
            size,
            tiling,
            stride,
        )
    }

    /// Binds an object at a chosen page aligned address; returns the address.
    ///
    /// `EBUSY` when it is bound already, `ENOSPC` when it would overlap another object (the log names both).
    pub fn bind_at(&self, object: &Object, address: u32) -> Result<u32> {
        self.check_live()?;
        object.bind_at(address)
    }

    /// Binds an object at the lowest free address; returns the address.
    pub fn bind(&self, object: &Object) -> Result<u32> {
        self.bind_aligned(object, 0)
    }

    /// Binds an object at the lowest free multiple of `align` (a power of two); returns the address.
    pub fn bind_aligned(&self, object: &Object, align: u32) -> Result<u32> {
        self.check_live()?;
        object.bind(align, Search::Low)
    }

    /// Whether the engine has nothing to do and every request has ended.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.check_live().is_err() || self.engines().iter().all(Engine::is_idle)
    }

    /// Waits until the device is idle; `ETIMEDOUT` when it is not in time. Batches that a debugging session has changed
    /// are then as their clients wrote them.
    pub fn wait_idle(&self, timeout: Delta) -> Result {
        read_poll_timeout(
            self.uncore().clock(),
            || Ok(self.is_idle()),
            |idle| *idle,
            POLL,
            timeout,
        )?;
        self.debug_hook().tidy();
        Ok(())
    }

    /// The first error since the last [`take_error_state`](Self::take_error_state).
    #[must_use]
    pub fn error_state(&self) -> Option<Arc<ErrorState>> {
        self.inner.interrupts.error_state()
    }

    /// Takes the error state, making room for the next.
    #[must_use]
    pub fn take_error_state(&self) -> Option<Arc<ErrorState>> {
        self.inner.interrupts.take_error_state()
    }

    /// The recorded error state as `/sys/class/drm/card0/error` and debugfs' `i915_error_state` show it, for
    /// `intel_error_decode` and its like. `None` when there is none; the files then say [`NO_ERROR`].
    ///
    /// Writing anything to the files forgets the error: [`take_error_state`](Self::take_error_state).
    #[must_use]
    pub fn error_text(&self) -> Option<String> {
        self.error_state().map(|state| state.text().to_string())
    }

    /// Captures the device now, whatever its state.
    #[must_use]
    pub fn capture(&self, reason: &str) -> ErrorState {
        self.inner.interrupts.capture(reason)
    }

    /// What is known of hangs.
    pub(crate) fn hangcheck(&self) -> &Hangcheck {
        &self.inner.hangcheck
    }

    /// Sets the device time between two looks of the hang check (250 ms at first); an engine that has stood still for ten
    /// of them hangs.
    pub fn set_hang_check_period(&self, period: Delta) {
        self.hangcheck().set_period(period);
    }

    /// Sets how long one program may keep the engine from others.
    pub fn set_time_limits(&self, limits: TimeLimits) {
        for engine in self.engines() {
            engine.check().share.set_limits(limits);
        }
    }

    /// The debugger's place.
    pub(crate) fn debug_hook(&self) -> &Hook {
        &self.inner.debug
    }

    /// Resets the device and starts it again (i915 `intel_gt_reset`); objects keep contents and addresses.
    ///
    /// The oldest request under way of each engine ends with `EIO` and counts as the fault of its context, which may be banned by it;
    /// requests of a banned context end with `EIO` when it is their turn. All others run again, in their order and with
    /// their numbers. When the device cannot be reset it is wedged: everything under way ends with `EIO` and nothing
    /// is taken any more, until a later reset succeeds.
    ///
    /// Submissions meanwhile wait for its end. When a reset is under way already, this one is the same.
    pub fn reset(&self) -> Result {
        let before = self.reset_count();
        let resetting = self.engine().is_resetting();
        let _one = self.inner.user.reset.lock(self.uncore().clock());
        if resetting && self.reset_count() == before {
            // It has been counted when it began.
            return if self.is_wedged() { Err(EIO) } else { Ok(()) };
        }
        self.reset_alone(Culprit::Oldest, None)
    }

    /// The same for a caller that has the lock of resets. With a fence its request alone is to blame; when it has
    /// ended after all, the oldest one runs again like all others, and so it does when no request is to blame. When the reason
    /// is one engine's that can be reset without the others, these go on.
    pub(crate) fn reset_alone(&self, blame: Culprit<'_>, reason: Option<&Engine>) -> Result {
        self.check_live()?;
        let inner = &*self.inner;
        let beside = self.info().reset_beside;
        let alone = reason.filter(|it| beside.is_some() && it.info().class != CLASS_RENDER);
        let engines = || {
            let all = self.engines().iter();
            all.filter(move |engine| alone.is_none_or(|one| core::ptr::eq(one, *engine)))
        };
        let mut ends = false;
        for engine in engines() {
            let first = engine.timeline().first();
            let guilty = first.filter(|first| match blamed(engine, blame) {
                Blame::Oldest => true,
                Blame::Request(seqno) => first.seqno == seqno,
                Blame::Innocent => false,
            });
            if let Some(first) = guilty {
                let (seqno, client) = (first.seqno, first.fence.timeline_name());
                dev_warn!(self, "reset: request {seqno} of {client} ends with EIO");
                ends = true;
            }
        }
        if !ends {
            dev_warn!(self, "reset: no request ends");
        }
        for engine in engines() {
            engine.close();
        }
        let resets = inner.user.resets.fetch_add(1, Ordering::Relaxed);
        inner.interrupts.set_resets(resets.wrapping_add(1));
        let outcome = match (alone, beside) {
            (Some(engine), Some(reset)) => inner.reset_beside(engine, blame, reset),
            _ => inner.reset(blame),
        };
        for engine in engines() {
            if outcome.is_err() {
                // A status page that cannot be written any more changes nothing: the engine takes no more.
                let _ = engine.fail_pending(EIO);
            }
            engine.open(outcome.is_ok());
            engine.timeline().retire();
        }
        outcome
    }

    /// Unbinds the driver: the ring stands, interrupts are masked, the status page and the GTT point nowhere.
    ///
    /// Objects and requests that are still held keep their memory until they are dropped, but do nothing any more.
    /// `ENODEV` when this has happened already.
    pub fn remove(self) -> Result {
        self.check_live()?;
        // TIMEOUT: what is still running after that is stopped below.
        let _ = self.wait_idle(REMOVE_IDLE_TIMEOUT);
        self.inner.copies.give_back();
        self.inner.shutdown();
        Ok(())
    }
}

/// What a reset is for.
#[derive(Clone, Copy)]
pub(crate) enum Culprit<'a> {
    /// The oldest request of each engine.
    Oldest,
    /// The request of a fence.
    Request(&'a Fence),
    /// Something that is no request.
    NoRequest,
}

/// Which request of an engine is ended by a reset.
fn blamed(engine: &Engine, culprit: Culprit<'_>) -> Blame {
    match culprit {
        Culprit::Oldest => Blame::Oldest,
        Culprit::Request(fence) if fence.context() == Some(engine.timeline().context()) => {
            Blame::Request(fence.seqno())
        }
        Culprit::Request(_) | Culprit::NoRequest => Blame::Innocent,
    }
}

impl Inner {
    /// The render engine.
    pub(crate) fn render(&self) -> &Engine {
        // PANIC: every row of a device has it; see the test of the rows.
        &self.engines[0]
    }

    /// Asks for a reset, and again when the device does not say that it has done so.
    fn ask(&self, reset: impl Fn() -> Result) -> Result {
        let mut outcome = reset();
        for retry in 1..=RESET_RETRIES {
            if outcome.is_ok() {
                break;
            }
            let pause = Delta::from_millis(10 * u64::from(retry));
            delay(self.uncore.clock(), pause);
            outcome = reset();
        }
        outcome
    }

    /// A reset of an engine beside the render engine, with everything before and after it. i915 resets all engines of these
    /// families together (it has `reset_engine` from Ivy Bridge on): then a context loses its state whose image has not been
    /// written yet, and a draw that was under way is drawn twice, although its
    /// program has nothing to do with the hang.
    fn reset_beside(
        &self,
        engine: &Engine,
        blame: Culprit<'_>,
        reset: fn(&Uncore, &EngineInfo) -> Result,
    ) -> Result {
        engine.prepare_reset();
        self.ask(|| reset(&self.uncore, engine.info()))?;
        let left = engine.timeline().rewind(blamed(engine, blame))?;
        engine.switch().reset();
        self.restore_entries();
        let _awake = self.uncore.awake();
        workarounds::apply(&self.uncore, engine.info().workarounds);
        engine.resume()?;
        self.interrupts.clear_errors();
        self.interrupts.enable_user();
        if left > 0 {
            engine.replay()?;
        }
        Ok(())
    }

    /// A reset of all engines with everything before and after it; their requests run again.
    fn reset(&self, blame: Culprit<'_>) -> Result {
        for engine in &self.engines {
            engine.prepare_reset();
        }
        let debug = self.debug.save(&self.uncore);
        self.ask(|| (self.model.info.reset)(&self.uncore))?;
        let mut left = Vec::new();
        for engine in &self.engines {
            left.push(engine.timeline().rewind(blamed(engine, blame))?);
            engine.switch().reset();
        }
        self.restart()?;
        self.debug.restore(&self.uncore, debug.as_ref());
        for (engine, left) in self.engines.iter().zip(left) {
            if left > 0 {
                engine.replay()?;
            }
        }
        Ok(())
    }

    fn restore_entries(&self) {
        let wrong = self.ggtt.restore();
        if wrong > 0 {
            pr_warn!("{wrong} page table entries were not what the driver has written");
        }
    }

    /// Everything after the reset proper; also the end of the probe.
    pub(crate) fn restart(&self) -> Result {
        self.ggtt.enable()?;
        self.restore_entries();
        self.ggtt.fences().restore(&self.uncore);
        self.interrupts.clear_errors();
        self.interrupts.reinstall();
        self.start()
    }

    /// Workarounds, rings, user interrupts.
    pub(crate) fn start(&self) -> Result {
        let _awake = self.uncore.awake();
        workarounds::apply(&self.uncore, self.model.info.workarounds);
        for engine in &self.engines {
            workarounds::apply(&self.uncore, engine.info().workarounds);
            engine.resume()?;
        }
        self.interrupts.enable_user();
        Ok(())
    }

    /// Undoes the probe, in reverse order; only the first call does anything.
    pub(crate) fn shutdown(&self) {
        if self.removed.swap(true, Ordering::AcqRel) {
            return;
        }
        self.interrupts.disable_user();
        for engine in &self.engines {
            engine.shutdown();
            // A status page that cannot be written any more is about to be freed anyway.
            let _ = engine.fail_pending(ENODEV);
        }
        self.interrupts.uninstall();
        self.ggtt.shutdown();
        kernel::pci::clear_master(self.uncore.config());
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.shutdown();
    }
}
