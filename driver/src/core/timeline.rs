//! Timeline of an engine: the numbers that it stores, requests under way.
//!
//! Requests run in the order of their numbers, and the device stores the number of each when it ends. Not modelled:
//! timelines per context.
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Deref;

use kernel::dma::{CoherentAllocation, DmaAddress};
use kernel::error::{Error, Result, code::EIO};
use kernel::platform::Platform;
use kernel::sync::SpinLock;
use kernel::time::Ktime;

use crate::core::fence::{Fence, Signalled, new_context, seqno_passed};
use crate::core::line::Line;
use crate::core::program::{Mark, Program};
use crate::core::work;

mod past;
use self::past::Pasts;
pub use self::past::{Passed, Past, Stretch};

/// A request under way.
#[derive(Clone)]
pub struct Pending<W> {
    /// Its end.
    pub fence: Arc<Fence>,
    /// Sequence number.
    pub seqno: u32,
    /// Ring offset of its first command, and the one behind its last.
    pub head: u32,
    /// See `head`.
    pub tail: u32,
    /// What the vendor knows of it, kept until the device is done with it.
    pub work: W,
}

impl<W> Pending<W> {
    /// Its commands.
    pub fn stretch(&self) -> Stretch {
        Stretch {
            head: self.head,
            tail: self.tail,
        }
    }
}

impl<W> Deref for Pending<W> {
    type Target = W;

    fn deref(&self) -> &W {
        &self.work
    }
}

/// What a vendor knows of a request: what the engine does, what it uses, on whose behalf.
pub trait Work: Clone + Send {
    /// What is kept of a request whose number has been stored, until the ring's head has left it.
    type Left: Clone + Send;

    /// Whose it was.
    fn left(&self) -> Self::Left;

    /// Whose it is; `None` for the driver's own.
    fn program(&self) -> Option<Program>;

    /// The device has finished it. May be called in an interrupt handler: nothing is freed.
    fn ended(&self);

    /// Whether it may not run any more.
    fn is_banned(&self) -> bool;

    /// A reset found it hanging.
    fn mark_guilty(&self, now: Ktime);

    /// A reset caught it and it is replayed.
    fn mark_innocent(&self);
}

/// Which request a reset ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blame {
    /// The oldest under way.
    Oldest,
    /// That of a sequence number, unless it has ended after all.
    Request(u32),
    /// All run again.
    Innocent,
}

/// How often a request has ended that was of another program than the one before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Turns {
    /// Neither of the same process nor through the same file.
    pub programs: u64,
    /// Not of the same family either.
    pub families: u64,
}

struct Inner<W: Work> {
    submitted: u32,
    pending: VecDeque<Pending<W>>,
    past: Pasts<W::Left>,
    retired: Option<u32>,
    turns: Turns,
    /// Of which program the last request was that has ended.
    last: Option<Mark>,
    /// Since when the oldest request has had the engine: time outside.
    begun: Ktime,
    /// What ended requests used, to be let go outside interrupts.
    done: Vec<W>,
}

impl<W: Work> Inner<W> {
    /// A request has ended at a time outside.
    fn note_end(&mut self, work: &W, now: Ktime) {
        let took = now - self.begun;
        self.begun = now;
        let Some(program) = work.program() else {
            return;
        };
        program.account().note_ended(took, now);
        let mark = program.mark();
        if let Some(last) = self.last.replace(mark)
            && last.is_other_than(&mark)
        {
            self.turns.programs += 1;
            self.turns.families += u64::from(!last.is_kin_of(&mark));
        }
    }
}

/// The timeline.
pub struct Timeline<W: Work> {
    platform: Arc<dyn Platform>,
    /// Its number among all timelines.
    context: u64,
    page: CoherentAllocation,
    /// Byte offset of the number in it.
    offset: usize,
    inner: SpinLock<Inner<W>>,
    /// Programs that wait to queue requests on it.
    line: Line<Program>,
}

impl<W: Work> Timeline<W> {
    /// A timeline over a fresh page, with the number at a byte offset; nothing has been submitted, number 0 is complete.
    pub fn new(platform: &Arc<dyn Platform>, offset: u32) -> Result<Self> {
        let timeline = Timeline {
            platform: Arc::clone(platform),
            context: new_context(),
            page: CoherentAllocation::alloc_guarded(platform, 1)?,
            // CAST: a byte offset in a page.
            offset: offset as usize,
            inner: SpinLock::new(Inner {
                submitted: 0,
                pending: VecDeque::new(),
                past: Pasts::default(),
                retired: None,
                turns: Turns::default(),
                last: None,
                begun: Ktime::default(),
                done: Vec::new(),
            }),
            line: Line::default(),
        };
        timeline.page.write32(timeline.offset, 0)?;
        Ok(timeline)
    }

    fn now(&self) -> Ktime {
        self.platform.clock().now()
    }

    /// The time that programs see.
    fn outside(&self) -> Ktime {
        self.platform.clock().outside()
    }

    /// Programs that wait to queue requests on it.
    pub(crate) fn line(&self) -> &Line<Program> {
        &self.line
    }

    /// Its number among all timelines, which its fences have.
    pub fn context(&self) -> u64 {
        self.context
    }

    /// Bus address of the status page.
    pub fn status_page(&self) -> DmaAddress {
        self.page.dma_handle()
    }

    /// Memory of the status page.
    pub fn status_memory(&self) -> &CoherentAllocation {
        &self.page
    }

    /// Contents of the status page.
    pub fn status_page_contents(&self) -> Vec<u8> {
        let mut bytes = alloc::vec![0; self.page.size()];
        // A page that cannot be read stays zero.
        let _ = self.page.read(0, &mut bytes);
        bytes
    }

    /// The number in the status page: the one that the device has stored last, unless a batch has written over it.
    pub fn completed(&self) -> Result<u32> {
        self.page.read32(self.offset)
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
    pub fn push(&self, pending: Pending<W>) {
        let mut inner = self.inner.lock();
        inner.submitted = pending.seqno;
        // The driver's own requests count for no program: the clock is not read for them.
        if inner.pending.is_empty() && pending.work.program().is_some() {
            inner.begun = self.outside();
        }
        inner.pending.push_back(pending);
    }

    /// Number of requests under way.
    pub fn pending(&self) -> usize {
        self.inner.lock().pending.len()
    }

    /// The oldest request under way.
    pub fn first(&self) -> Option<Pending<W>> {
        self.inner.lock().pending.front().cloned()
    }

    /// Whether a request of such a program is under way.
    pub fn has_program(&self, is_it: impl Fn(&Program) -> bool) -> bool {
        let inner = self.inner.lock();
        let mut programs = inner.pending.iter().filter_map(|one| one.work.program());
        programs.any(|program| is_it(&program))
    }

    /// How often programs have taken turns.
    pub fn turns(&self) -> Turns {
        self.inner.lock().turns
    }

    /// Shows of each request under way whose it is, oldest first; how many there are, the driver's own among them. Interrupt
    /// handlers take the lock under which that is done.
    pub(crate) fn each_program(&self, mut look: impl FnMut(&Program)) -> usize {
        let inner = self.inner.lock();
        for one in &inner.pending {
            work::one();
            if let Some(program) = one.work.program() {
                look(&program);
            }
        }
        inner.pending.len()
    }

    /// All requests under way of such programs are to end with an error at the next reset.
    pub fn cancel(&self, is_it: impl Fn(&Program) -> bool) {
        let inner = self.inner.lock();
        for pending in &inner.pending {
            if pending
                .work
                .program()
                .is_some_and(|program| is_it(&program))
            {
                pending.fence.set_error(EIO);
            }
        }
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
        let now = self.now();
        let mut signalled = Signalled::default();
        {
            let mut inner = self.inner.lock();
            if !seqno_passed(inner.submitted, completed) {
                // No request has it: a batch has written over the status page. The next request that ends puts it right, and a
                // reset does.
                return;
            }
            let mut outside = None;
            while inner
                .pending
                .front()
                .is_some_and(|first| seqno_passed(completed, first.seqno))
                && let Some(first) = inner.pending.pop_front()
            {
                signalled.and(first.fence.finish(Ok(()), now));
                inner.retired = Some(first.tail);
                inner.past.push(Past {
                    seqno: first.seqno,
                    stretch: first.stretch(),
                    left: first.work.left(),
                });
                let next = inner.pending.front().and_then(|next| next.work.program());
                if next.or_else(|| first.work.program()).is_some() {
                    let outside = *outside.get_or_insert_with(|| self.outside());
                    inner.note_end(&first.work, outside);
                }
                first.work.ended();
                inner.done.push(first.work);
            }
        }
        signalled.tell();
    }

    /// Signals, then lets go of what ended requests kept alive; not for interrupt handlers.
    pub fn retire(&self) {
        self.signal();
        self.tidy();
    }

    /// Lets go of what requests kept alive that an interrupt has signalled; does not look at the device's memory, which
    /// can mean to wait for the device.
    pub fn tidy(&self) {
        let done = core::mem::take(&mut self.inner.lock().done);
        // Unbinding touches the device: the lock is free by now.
        drop(done);
    }

    /// Lets go of what a request uses with the next [`retire`](Self::retire), for those who may be in an interrupt.
    pub fn let_go(&self, work: W) {
        self.inner.lock().done.push(work);
    }

    /// Takes in where the ring's head stands, in a ring of `size` bytes. To be read after [`retire`](Self::retire): the number of
    /// the request that it stands in may come at any time.
    pub fn pass(&self, head: u32, size: u32) -> Passed<W::Left> {
        let (gone, passed) = {
            let mut inner = self.inner.lock();
            let (gone, lingers) = inner.past.leave(head, size);
            let free = match &lingers {
                Some(past) => Some(past.stretch.head),
                None => inner.retired.take(),
            };
            (gone, Passed { free, lingers })
        };
        drop(gone);
        passed
    }

    /// Ends every request under way with an error and makes the status page agree (i915 `reset_cancel`).
    pub fn fail_pending(&self, error: Error) -> Result {
        let now = self.now();
        let mut signalled = Signalled::default();
        let past;
        let submitted = {
            let mut inner = self.inner.lock();
            while let Some(pending) = inner.pending.pop_front() {
                signalled.and(pending.fence.finish(Err(error), now));
                inner.done.push(pending.work);
            }
            inner.retired = None;
            past = inner.past.clear();
            inner.submitted
        };
        drop(past);
        signalled.tell();
        self.page.write32(self.offset, submitted)
    }

    /// What a reset does with the requests under way (i915 `reset_rewind`, `__i915_request_reset`): the oldest ends
    /// with `EIO` and is the fault of its context, unless it is not to blame. Requests of
    /// contexts that are banned, by this or before, are to be skipped. The rest is counted as innocent. Returns how many
    /// requests are left to be replayed, skipped ones among them.
    ///
    /// `stopped` gets the oldest one before that. The device stands still.
    pub fn rewind(&self, blame: Blame, stopped: impl FnOnce(&W)) -> Result<usize> {
        // What it has finished after all is not touched.
        self.signal();
        let now = self.now();
        let mut signalled = Signalled::default();
        let past;
        let (left, passed) = {
            let mut inner = self.inner.lock();
            inner.retired = None;
            past = inner.past.clear();
            let mut passed = None;
            if let Some(first) = inner.pending.front() {
                stopped(&first.work);
            }
            let first = inner.pending.front().map(|first| first.seqno);
            let is_guilty = match blame {
                Blame::Oldest => true,
                Blame::Request(seqno) => first == Some(seqno),
                Blame::Innocent => false,
            };
            if is_guilty && let Some(guilty) = inner.pending.pop_front() {
                guilty.work.mark_guilty(now);
                passed = Some(guilty.seqno);
                inner.note_end(&guilty.work, self.outside());
                signalled.and(guilty.fence.finish(Err(EIO), now));
                inner.done.push(guilty.work);
            }
            for pending in &inner.pending {
                if pending.work.is_banned() {
                    pending.fence.set_error(EIO);
                } else if !pending.fence.has_error() {
                    // Otherwise it has been cancelled.
                    pending.work.mark_innocent();
                }
            }
            // Requests end in order: those at the front need not wait for anything.
            while inner
                .pending
                .front()
                .is_some_and(|first| first.fence.has_error())
                && let Some(skipped) = inner.pending.pop_front()
            {
                passed = Some(skipped.seqno);
                signalled.and(skipped.fence.finish(Err(EIO), now));
                inner.done.push(skipped.work);
            }
            // The next begins anew.
            inner.begun = self.outside();
            (inner.pending.len(), passed)
        };
        drop(past);
        signalled.tell();
        if let Some(seqno) = passed {
            self.page.write32(self.offset, seqno)?;
        }
        Ok(left)
    }

    /// Calls `place` for every request under way, oldest first; it tells where in the ring the request lies now, and
    /// what it is from now on. The device stands still.
    pub fn replay(&self, mut place: impl FnMut(&Pending<W>) -> Result<(u32, u32, W)>) -> Result {
        let requests: Vec<Pending<W>> = self.inner.lock().pending.iter().cloned().collect();
        for request in requests {
            let (head, tail, mut work) = place(&request)?;
            let mut inner = self.inner.lock();
            let mut pending = inner.pending.iter_mut();
            if let Some(pending) = pending.find(|pending| pending.seqno == request.seqno) {
                (pending.head, pending.tail) = (head, tail);
                core::mem::swap(&mut pending.work, &mut work);
            }
            drop(inner);
            // What it held before the reset may be unbound by this: not under the lock.
            drop(work);
        }
        Ok(())
    }
}
