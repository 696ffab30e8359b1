//! Timeline of the render engine: the status page and the requests under way.
//!
//! Sequence numbers land in the hardware status page (i915 `I915_GEM_HWS_SEQNO`). Not modelled: timelines per context.
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use kernel::dma::{CoherentAllocation, DmaAddress};
use kernel::error::{Error, Result, code::EIO};
use kernel::platform::Platform;
use kernel::sync::SpinLock;
use kernel::time::Ktime;

use crate::context::Context;
use crate::debug::hook::Prologue;
use crate::engine::switch::Held;
use crate::fence::{Fence, Signalled, seqno_passed};
use crate::gem::Object;
use crate::hangcheck::{Account, Program};

/// Byte offset of the sequence number in the status page (i915: dword 0x40).
pub const HWS_SEQNO: u32 = 0x40 * 4;
/// Byte offset of the scratch dword in the status page (i915: dword 0x80).
pub const HWS_SCRATCH: u32 = 0x80 * 4;

/// A request under way.
#[derive(Clone)]
pub struct Pending {
    /// Its end.
    pub fence: Arc<Fence>,
    /// Sequence number.
    pub seqno: u32,
    /// Graphics address of the batch.
    pub batch: u32,
    /// Ring offset of its first command, and the one behind its last.
    pub head: u32,
    /// See `head`.
    pub tail: u32,
    /// What it uses, kept until the device is done with it.
    pub uses: Uses,
    /// Contexts whose state the device saves when it begins.
    pub saves: Vec<Arc<Held>>,
}

/// What a request uses.
#[derive(Clone, Default)]
pub struct Uses {
    /// The objects, the batch among them.
    pub objects: Vec<Object>,
    /// Those whose contents belong into an error state (uAPI `EXEC_OBJECT_CAPTURE`).
    pub capture: Vec<Object>,
    /// On whose behalf it runs.
    pub context: Option<Arc<Context>>,
    /// The process that has submitted it, when that is known.
    pub account: Option<Arc<Account>>,
    /// The image of that context; without one it runs in the driver's own.
    pub image: Option<Arc<Held>>,
    /// What the debugger wants done before the batch.
    pub prologue: Prologue,
}

impl Uses {
    /// Whose it is; `None` for the driver's own.
    pub fn program(&self) -> Option<Program> {
        let context = self.context.as_ref()?;
        Some(Program::new(context.client(), self.account.clone()))
    }

    /// Whether it may not run any more.
    pub(crate) fn is_banned(&self) -> bool {
        let context = self.context.as_ref();
        context.is_some_and(|context| context.is_banned())
            || self.program().is_some_and(|program| program.is_banned())
    }
}

/// Where the ring lies, for error states.
#[derive(Clone, Copy, Default)]
pub struct RingPlace {
    /// Graphics address.
    pub address: u32,
    /// Bus address.
    pub bus: DmaAddress,
    /// Bytes.
    pub size: usize,
}

/// How often a request has ended that was of another program than the one before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Turns {
    /// Neither of the same process nor through the same file.
    pub programs: u64,
    /// Not of the same family either.
    pub families: u64,
}

#[derive(Default)]
struct Inner {
    submitted: u32,
    pending: VecDeque<Pending>,
    retired: Option<u32>,
    ring: RingPlace,
    /// The image that was current when the engine was stopped for a reset.
    stopped_in: Option<u32>,
    turns: Turns,
    /// Of which program the last request was that has ended: its file, its process, its family.
    last: Option<([usize; 2], Option<u64>)>,
    /// What ended requests used, to be let go outside interrupts.
    done: Vec<(Uses, Vec<Arc<Held>>)>,
}

impl Inner {
    /// A request has ended.
    fn note_turn(&mut self, uses: &Uses) {
        let Some(mark) = uses.program().map(|program| program.mark()) else {
            return;
        };
        if let Some(last) = self.last.replace(mark)
            && last.0[0] != mark.0[0]
            && last.0[1] != mark.0[1]
        {
            self.turns.programs += 1;
            let is_kin = mark.1.is_some() && last.1 == mark.1;
            self.turns.families += u64::from(!is_kin);
        }
    }
}

/// The timeline.
pub struct Timeline {
    platform: Arc<dyn Platform>,
    page: CoherentAllocation,
    inner: SpinLock<Inner>,
}

impl Timeline {
    /// A timeline over a fresh status page; nothing has been submitted, number 0 is complete.
    pub fn new(platform: &Arc<dyn Platform>) -> Result<Self> {
        let timeline = Timeline {
            platform: Arc::clone(platform),
            page: CoherentAllocation::alloc_coherent(platform, 1)?,
            inner: SpinLock::new(Inner::default()),
        };
        timeline.page.write32(HWS_SEQNO as usize, 0)?;
        Ok(timeline)
    }

    fn now(&self) -> Ktime {
        self.platform.clock().now()
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

    /// Notes where the ring lies.
    pub fn set_ring(&self, ring: RingPlace) {
        self.inner.lock().ring = ring;
    }

    /// Where the ring lies.
    pub fn ring(&self) -> RingPlace {
        self.inner.lock().ring
    }

    /// The number that the device has stored last.
    pub fn completed(&self) -> Result<u32> {
        self.page.read32(HWS_SEQNO as usize)
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
    pub fn push(&self, pending: Pending) {
        let mut inner = self.inner.lock();
        inner.submitted = pending.seqno;
        inner.pending.push_back(pending);
    }

    /// Number of requests under way.
    pub fn pending(&self) -> usize {
        self.inner.lock().pending.len()
    }

    /// The oldest request under way.
    pub fn first(&self) -> Option<Pending> {
        self.inner.lock().pending.front().cloned()
    }

    /// Whether a request of such a program is under way.
    pub fn has_program(&self, is_it: impl Fn(&Program) -> bool) -> bool {
        let inner = self.inner.lock();
        let mut programs = inner.pending.iter().filter_map(|one| one.uses.program());
        programs.any(|program| is_it(&program))
    }

    /// How often programs have taken turns.
    pub fn turns(&self) -> Turns {
        self.inner.lock().turns
    }

    /// Number of requests of such programs under way.
    pub fn count(&self, is_it: impl Fn(&Program) -> bool) -> usize {
        let inner = self.inner.lock();
        let programs = inner.pending.iter().filter_map(|one| one.uses.program());
        programs.filter(is_it).count()
    }

    /// All requests under way of such programs are to end with an error at the next reset.
    pub fn cancel(&self, is_it: impl Fn(&Program) -> bool) {
        let inner = self.inner.lock();
        for pending in &inner.pending {
            if pending
                .uses
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
            while inner
                .pending
                .front()
                .is_some_and(|first| seqno_passed(completed, first.seqno))
                && let Some(first) = inner.pending.pop_front()
            {
                signalled.and(first.fence.finish(Ok(()), now));
                inner.retired = Some(first.tail);
                inner.note_turn(&first.uses);
                for held in &first.saves {
                    held.mark_saved();
                }
                inner.done.push((first.uses, first.saves));
            }
        }
        signalled.tell();
    }

    /// Signals, then lets go of what ended requests kept alive; not for interrupt handlers.
    pub fn retire(&self) {
        self.signal();
        let done = core::mem::take(&mut self.inner.lock().done);
        // Unbinding touches the device: the lock is free by now.
        drop(done);
    }

    /// Lets go of what a request uses with the next [`retire`](Self::retire), for those who may be in an interrupt.
    pub fn let_go(&self, uses: Uses) {
        self.inner.lock().done.push((uses, Vec::new()));
    }

    /// Ring offset up to which the ring may be used again, when it has moved since the last call.
    pub fn take_retired(&self) -> Option<u32> {
        self.inner.lock().retired.take()
    }

    /// What the oldest request under way wants to see in an error state.
    pub fn captures(&self) -> Vec<Object> {
        self.first()
            .map_or_else(Vec::new, |first| first.uses.capture)
    }

    /// Ends every request under way with an error and makes the status page agree (i915 `reset_cancel`).
    pub fn fail_pending(&self, error: Error) -> Result {
        let now = self.now();
        let mut signalled = Signalled::default();
        let submitted = {
            let mut inner = self.inner.lock();
            while let Some(pending) = inner.pending.pop_front() {
                signalled.and(pending.fence.finish(Err(error), now));
                inner.done.push((pending.uses, pending.saves));
            }
            inner.retired = None;
            inner.submitted
        };
        signalled.tell();
        self.page.write32(HWS_SEQNO as usize, submitted)
    }

    /// Notes the context's image that the engine was stopped in.
    pub fn note_context(&self, image: Option<u32>) {
        self.inner.lock().stopped_in = image;
    }

    /// What a reset does with the requests under way (i915 `reset_rewind`, `__i915_request_reset`): the oldest ends
    /// with `EIO` and is the fault of its context, unless `blame` is another one, which has ended after all. Requests of
    /// contexts that are banned, by this or before, are to be skipped. The rest is counted as innocent. Returns how many
    /// requests are left to be replayed, skipped ones among them.
    ///
    /// The device stands still.
    pub fn rewind(&self, blame: Option<u32>) -> Result<usize> {
        // What it has finished after all is not touched.
        self.signal();
        let now = self.now();
        let mut signalled = Signalled::default();
        let (left, passed) = {
            let mut inner = self.inner.lock();
            inner.retired = None;
            let mut passed = None;
            let stopped_in = inner.stopped_in.take();
            // When it was stopped in its own context, the device had saved those before it.
            if let Some(first) = inner.pending.front()
                && let Some(image) = &first.uses.image
                && Some(image.address()) == stopped_in
            {
                for held in &first.saves {
                    held.mark_saved();
                }
            }
            let first = inner.pending.front().map(|first| first.seqno);
            if (blame.is_none() || blame == first)
                && let Some(guilty) = inner.pending.pop_front()
            {
                if let Some(context) = &guilty.uses.context {
                    context.mark_guilty(now);
                }
                passed = Some(guilty.seqno);
                inner.note_turn(&guilty.uses);
                signalled.and(guilty.fence.finish(Err(EIO), now));
                inner.done.push((guilty.uses, guilty.saves));
            }
            for pending in &inner.pending {
                if pending.uses.is_banned() {
                    pending.fence.set_error(EIO);
                } else if pending.fence.has_error() {
                    // It has been cancelled.
                } else if let Some(context) = &pending.uses.context {
                    context.mark_innocent();
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
                inner.done.push((skipped.uses, skipped.saves));
            }
            (inner.pending.len(), passed)
        };
        signalled.tell();
        if let Some(seqno) = passed {
            self.page.write32(HWS_SEQNO as usize, seqno)?;
        }
        Ok(left)
    }

    /// Calls `place` for every request under way, oldest first; it tells where in the ring the request lies now, and
    /// which contexts are saved when it begins. The device stands still.
    pub fn replay(
        &self,
        mut place: impl FnMut(&Pending) -> Result<(u32, u32, Vec<Arc<Held>>)>,
    ) -> Result {
        let requests: Vec<Pending> = self.inner.lock().pending.iter().cloned().collect();
        for request in requests {
            let (head, tail, mut saves) = place(&request)?;
            let mut inner = self.inner.lock();
            let mut pending = inner.pending.iter_mut();
            if let Some(pending) = pending.find(|pending| pending.seqno == request.seqno) {
                (pending.head, pending.tail) = (head, tail);
                core::mem::swap(&mut pending.saves, &mut saves);
            }
            drop(inner);
            // What it held before the reset may be unbound by this: not under the lock.
            drop(saves);
        }
        Ok(())
    }
}
