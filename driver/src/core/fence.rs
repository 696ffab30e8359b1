//! Fences: the completion of one request, or of several together.
//!
//! Shape of the kernel's `dma_fence` and `dma_fence_array`. Not modelled: fences shared between devices, deadlines.
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use kernel::error::{Error, Result};
use kernel::sync::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, SpinLock};
use kernel::time::Ktime;

use crate::core::client::Client;
use crate::core::work;

mod front;
pub(crate) use self::front::Front;

/// What [`Fence::subscribe`] takes.
pub type Callback = Box<dyn FnOnce() + Send>;

/// Where a fence comes from.
enum Source {
    /// A request to a driver of this name.
    Request {
        driver: &'static str,
        /// Of which timeline, see [`new_context`].
        context: u64,
        seqno: u32,
        client: Option<Arc<Client>>,
    },
    /// Signalled from the beginning.
    Stub,
    /// Several requests (`dma_fence_array`), with the name that user space gave.
    Array {
        name: String,
        of: Vec<Arc<Fence>>,
        /// What has to end for all of them to end.
        front: Front,
    },
}

/// A number for a timeline that no other has (`dma_fence_context_alloc`).
pub(crate) fn new_context() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The completion of one request or of several; signalled once, with success or an error.
pub struct Fence {
    source: Source,
    done: AtomicBool,
    /// Errno as its bits, or 0; set at the latest when it is signalled.
    error: AtomicU32,
    /// When it was signalled, by the device's clock.
    at: AtomicU64,
    callbacks: SpinLock<Vec<Callback>>,
}

impl fmt::Debug for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fence")
            .field("seqno", &self.seqno())
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

/// Callbacks of fences that have been signalled; to be run without locks.
#[must_use = "subscribers wait for them"]
#[derive(Default)]
pub(crate) struct Signalled(Vec<Callback>);

impl Signalled {
    /// Tells the subscribers.
    pub(crate) fn tell(self) {
        for callback in self.0 {
            callback();
        }
    }

    /// Those of another fence as well.
    pub(crate) fn and(&mut self, mut other: Signalled) {
        self.0.append(&mut other.0);
    }
}

impl Fence {
    fn with(source: Source) -> Self {
        Fence {
            source,
            done: AtomicBool::new(false),
            error: AtomicU32::new(0),
            at: AtomicU64::new(0),
            callbacks: SpinLock::new(Vec::new()),
        }
    }

    /// The fence of a request to a driver, by the name that user space knows the driver by, on no timeline.
    #[cfg(test)]
    pub(crate) fn new(driver: &'static str, seqno: u32, client: Option<Arc<Client>>) -> Self {
        Self::on((0, seqno), driver, client)
    }

    /// The same of a timeline and a sequence number on it. Requests of one timeline end in the order of their numbers.
    pub(crate) fn on(
        (context, seqno): (u64, u32),
        driver: &'static str,
        client: Option<Arc<Client>>,
    ) -> Self {
        Self::with(Source::Request {
            driver,
            context,
            seqno,
            client,
        })
    }

    /// The timeline of its request; `None` for a stub and for several requests.
    pub(crate) fn context(&self) -> Option<u64> {
        match &self.source {
            Source::Request { context, .. } => Some(*context),
            Source::Stub | Source::Array { .. } => None,
        }
    }

    /// The timeline that its number is one of; `None` also for a request on no timeline.
    fn timeline(&self) -> Option<u64> {
        self.context().filter(|context| *context != 0)
    }

    /// Whether it is signalled, or ends before any later request of a timeline begins.
    pub(crate) fn is_before(self: &Arc<Self>, context: u64) -> bool {
        let before = |fence: &Fence| fence.status().is_some() || fence.context() == Some(context);
        match &self.source {
            Source::Array { front, .. } => front.iter().all(|fence| before(fence)),
            _ => before(self),
        }
    }

    /// A fence that never had to be waited for (the kernel's `dma_fence_get_stub`).
    #[must_use]
    pub fn signalled() -> Self {
        let fence = Self::with(Source::Stub);
        fence.finish(Ok(()), Ktime::from_nanos(0)).tell();
        fence
    }

    /// A fence for all of `fences` (`dma_fence_unwrap_merge`): those that are arrays themselves are taken apart, those
    /// that are signalled without an error are left out.
    #[must_use]
    pub fn merge(name: &str, fences: &[&Arc<Fence>]) -> Arc<Fence> {
        let parts = fences.iter().flat_map(|fence| fence.parts());
        let mut found: Vec<_> = parts
            .filter(|part| part.status() != Some(Ok(())))
            .enumerate()
            .collect();
        // Those that are named again lie side by side then, the first of them first.
        let address = |(_, part): &(usize, Arc<Fence>)| {
            work::one();
            Arc::as_ptr(part).addr()
        };
        found.sort_by_key(address);
        found.dedup_by_key(|one| address(one));
        found.sort_unstable_by_key(|(place, _)| *place);
        let mut of: Vec<_> = found.into_iter().map(|(_, part)| part).collect();
        if of.is_empty() {
            of.push(Arc::new(Fence::signalled()));
        }
        let name = name.into();
        let mut front = Front::default();
        for part in &of {
            front.add(part);
        }
        Arc::new(Self::with(Source::Array { name, of, front }))
    }

    /// The first of several requests that has ended with an error.
    pub(crate) fn failed_part(&self) -> Option<&Arc<Fence>> {
        match &self.source {
            Source::Array { of, .. } => of.iter().find(|part| part.failed()),
            _ => None,
        }
    }

    fn failed(&self) -> bool {
        self.status().is_some_and(|outcome| outcome.is_err())
    }

    /// The fences of single requests that it stands for.
    #[must_use]
    pub fn parts(self: &Arc<Self>) -> Vec<Arc<Fence>> {
        match &self.source {
            Source::Array { of, .. } => of.clone(),
            _ => alloc::vec![Arc::clone(self)],
        }
    }

    /// Sequence number of the request; the last of several, 0 of a stub.
    #[must_use]
    pub fn seqno(&self) -> u32 {
        match &self.source {
            Source::Request { seqno, .. } => *seqno,
            Source::Stub => 0,
            Source::Array { of, .. } => {
                let open = of.iter().filter(|fence| fence.status().is_none());
                let last = open
                    .max_by(|a, b| (a.seqno().wrapping_sub(b.seqno()) as i32).cmp(&0))
                    .or(of.last());
                last.map_or(0, |fence| fence.seqno())
            }
        }
    }

    /// Name of the driver (`dma_fence_ops::get_driver_name`).
    #[must_use]
    pub fn driver_name(&self) -> &'static str {
        match &self.source {
            Source::Request { driver, .. } => driver,
            Source::Stub => "stub",
            Source::Array { .. } => "dma_fence_array",
        }
    }

    /// Name of its timeline (`i915_fence_get_timeline_name`).
    #[must_use]
    pub fn timeline_name(&self) -> String {
        match &self.source {
            Source::Stub => "stub".into(),
            Source::Array { .. } => "unbound".into(),
            Source::Request { .. } if self.status().is_some() => "signaled".into(),
            Source::Request { driver, client, .. } => {
                let who = client.as_ref().and_then(|client| client.who());
                who.map_or_else(
                    || format!("[{driver}]"),
                    |who| format!("{}[{}]", who.name, who.pid),
                )
            }
        }
    }

    /// Name that user space gave when it merged fences; empty otherwise.
    #[must_use]
    pub fn user_name(&self) -> &str {
        match &self.source {
            Source::Array { name, .. } => name,
            _ => "",
        }
    }

    /// `None` while the request is under way, then its outcome. Of several the first error counts.
    #[must_use]
    pub fn status(&self) -> Option<Result> {
        if let Source::Array { of, front, .. } = &self.source
            && !self.done.load(Ordering::Acquire)
        {
            // While one is open the others are not looked at, and once all have ended they are looked at no more.
            if !front.is_done() {
                return None;
            }
            let mut outcome = Ok(());
            for fence in of {
                work::one();
                outcome = outcome.and(fence.status()?);
            }
            if let Err(error) = outcome {
                self.set_error(error);
            }
            self.done.store(true, Ordering::Release);
        }
        if !self.done.load(Ordering::Acquire) {
            return None;
        }
        Some(match self.error.load(Ordering::Acquire) {
            0 => Ok(()),
            errno => Err(Error::from_errno(errno as i32)),
        })
    }

    /// When it was signalled, by the device's clock; `None` while it is under way.
    #[must_use]
    pub fn signalled_at(&self) -> Option<Ktime> {
        if let Source::Array { of, .. } = &self.source {
            let mut last = Ktime::from_nanos(0);
            for fence in of {
                last = last.max(fence.signalled_at()?);
            }
            return Some(last);
        }
        self.done
            .load(Ordering::Acquire)
            .then(|| Ktime::from_nanos(self.at.load(Ordering::Acquire)))
    }

    /// Calls `callback` once when the fence is signalled, at once when it already is (`dma_fence_add_callback`).
    ///
    /// No lock of the driver is held then, but it may be in an interrupt handler: the callback is short and does not
    /// call the driver.
    pub fn subscribe(&self, callback: Callback) {
        if let Source::Array { of, .. } = &self.source {
            let last: SpinLock<_> = SpinLock::new(Some(callback));
            let left = Arc::new((AtomicUsize::new(of.len()), last));
            for fence in of {
                let left = Arc::clone(&left);
                fence.subscribe(Box::new(move || {
                    if left.0.fetch_sub(1, Ordering::AcqRel) == 1 {
                        let callback = left.1.lock().take();
                        if let Some(callback) = callback {
                            callback();
                        }
                    }
                }));
            }
            return;
        }
        let mut callbacks = self.callbacks.lock();
        if !self.done.load(Ordering::Acquire) {
            callbacks.push(callback);
            return;
        }
        drop(callbacks);
        callback();
    }

    /// Order among fences that are under way at the same time: they lie within half of the numbers.
    pub(crate) fn order(&self) -> u32 {
        self.seqno()
    }

    /// Notes the error that it will be signalled with; the first one counts (`i915_request_set_error_once`).
    pub(crate) fn set_error(&self, error: Error) {
        let errno = error.to_errno() as u32;
        let unset = self
            .error
            .compare_exchange(0, errno, Ordering::AcqRel, Ordering::Acquire);
        // Another error was first.
        let _ = unset;
    }

    /// Whether an error has been noted.
    pub(crate) fn has_error(&self) -> bool {
        self.error.load(Ordering::Acquire) != 0
    }

    /// Signals; the callbacks are still to be called. The first signal counts.
    pub(crate) fn finish(&self, outcome: Result, now: Ktime) -> Signalled {
        if self.done.load(Ordering::Acquire) {
            return Signalled::default();
        }
        if let Err(error) = outcome {
            self.set_error(error);
        }
        self.at.store(now.as_nanos(), Ordering::Release);
        self.done.store(true, Ordering::Release);
        Signalled(core::mem::take(&mut *self.callbacks.lock()))
    }

    /// Signals at time 0.
    #[cfg(test)]
    pub(crate) fn signal(&self, outcome: Result) {
        self.finish(outcome, Ktime::from_nanos(0)).tell();
    }
}

/// Whether sequence number `now` is at or behind `seqno`; numbers wrap.
#[must_use]
pub fn seqno_passed(now: u32, seqno: u32) -> bool {
    now.wrapping_sub(seqno) as i32 >= 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::error::code::{EAGAIN, EIO};

    #[test]
    fn sequence_numbers_wrap() {
        assert!(seqno_passed(5, 5));
        assert!(seqno_passed(6, 5));
        assert!(!seqno_passed(4, 5));
        assert!(seqno_passed(2, u32::MAX - 2));
        assert!(!seqno_passed(u32::MAX - 2, 2));
    }

    fn counter() -> (Arc<AtomicUsize>, Callback) {
        let calls = Arc::new(AtomicUsize::new(0));
        let inner = Arc::clone(&calls);
        let callback = Box::new(move || {
            inner.fetch_add(1, Ordering::Relaxed);
        });
        (calls, callback)
    }

    #[test]
    fn subscribers_are_called_once_before_or_after() {
        let fence = Fence::new("test", 1, None);
        let (early, callback) = counter();
        fence.subscribe(callback);
        assert_eq!(early.load(Ordering::Relaxed), 0);
        fence.set_error(EIO);
        assert_eq!(fence.status(), None, "an error is not the end");
        fence.signal(Err(EAGAIN));
        assert_eq!(fence.status(), Some(Err(EIO)), "the first error counts");
        fence.signal(Ok(()));
        let (late, callback) = counter();
        fence.subscribe(callback);
        assert_eq!(early.load(Ordering::Relaxed), 1);
        assert_eq!(late.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn merged_fences_are_done_with_the_last() {
        let fences: Vec<_> = (1..=3)
            .map(|n| Arc::new(Fence::new("test", n, None)))
            .collect();
        let pair = Fence::merge("pair", &[&fences[0], &fences[2]]);
        let done = Arc::new(Fence::signalled());
        let all = Fence::merge("all", &[&pair, &fences[1], &fences[0], &done]);
        assert_eq!(all.parts().len(), 3);
        assert_eq!((all.seqno(), all.user_name()), (3, "all"));
        let (calls, callback) = counter();
        all.subscribe(callback);
        fences[2].signal(Ok(()));
        assert_eq!(all.seqno(), 2);
        fences[0].signal(Err(EIO));
        assert_eq!((all.status(), pair.status()), (None, Some(Err(EIO))));
        assert_eq!(calls.load(Ordering::Relaxed), 0);
        fences[1].signal(Ok(()));
        assert_eq!(all.status(), Some(Err(EIO)));
        assert_eq!(calls.load(Ordering::Relaxed), 1);
        assert_eq!(Fence::merge("none", &[&done]).status(), Some(Ok(())));
    }

    /// Those that have ended with an error are kept, however many they are.
    #[test]
    fn a_merge_of_many_looks_at_each_a_few_times() {
        let count = 1 << 12;
        let fences: Vec<_> = (1..=count)
            .map(|n| {
                let fence = Arc::new(Fence::new("test", n, None));
                fence.signal(Err(EIO));
                fence
            })
            .collect();
        let one = Fence::merge("one", &fences.iter().collect::<Vec<_>>());
        let twice: Vec<_> = fences.iter().rev().chain([&one]).collect();
        let (looks, all) = work::of(|| Fence::merge("all", &twice));
        let seqnos: Vec<_> = all.parts().iter().map(|part| part.seqno()).collect();
        assert_eq!(seqnos, (1..=count).rev().collect::<Vec<_>>());
        // Two keys for each of n log n comparisons, and two more for those side by side.
        let numbers = u64::from(count) * 2;
        assert!(looks <= numbers * (2 * 13 + 4), "{looks}");
    }
}
