//! The render engine: its ring, its timeline, its requests.
//!
//! PRM vol1 "Ring Buffer". Not modelled: more than one engine, execution lists.
pub mod legacy;

use alloc::sync::Arc;
use alloc::vec::Vec;

use kernel::dma::CoherentAllocation;
use kernel::error::{Error, Result, code::EIO, code::ENOSPC};
use kernel::sync::{AtomicBool, Ordering, SpinLock};
use kernel::time::Delta;
use ringbuf::RingBuffer;

use crate::fence::Fence;
use crate::gem::{Object, Tiling};
use crate::r#gen::registers::reg::PRB0_TAIL;
use crate::r#gen::{DeviceInfo, EngineOps, Flush};
use crate::gtt::Ggtt;
use crate::gtt::range::Search;
use crate::timeline::{Timeline, Uses};
use crate::uncore::{POLL, Uncore};

/// Pages of the ring (i915 gives legacy rings 16 KiB).
const RING_PAGES: usize = 4;
/// TIMEOUT: how long a submission waits for room in the ring.
const RING_SPACE_TIMEOUT: Delta = Delta::from_secs(1);
/// Longest time between two looks at the ring.
const MAX_STEP: Delta = Delta::from_millis(1);

/// The render engine.
pub struct Engine {
    uncore: Uncore,
    ops: &'static EngineOps,
    ring: SpinLock<RingBuffer>,
    ring_address: u32,
    scratch: Object,
    scratch_address: u32,
    timeline: Arc<Timeline>,
    /// A reset is under way.
    closed: AtomicBool,
    wedged: AtomicBool,
}

impl Engine {
    /// Allocates ring, status page and scratch page; the hardware is not touched but for the GTT.
    pub fn new(
        ggtt: &Arc<Ggtt>,
        info: &'static DeviceInfo,
        timeline: &Arc<Timeline>,
    ) -> Result<Self> {
        let platform = ggtt.uncore().platform();
        let memory = CoherentAllocation::alloc_coherent(platform, RING_PAGES)?;
        // What the driver needs itself lies high, out of the way of addresses that users choose.
        let ring_address = ggtt.insert("ring", &memory, 0, Search::High)?;
        let scratch = Object::new(platform, ggtt, "scratch".into(), 4096, Tiling::None, 0)?;
        let scratch_address = scratch.bind(0, Search::High)?;
        Ok(Engine {
            uncore: ggtt.uncore().clone(),
            ops: info.ops,
            ring: SpinLock::new(RingBuffer::new(memory)?),
            ring_address,
            scratch,
            scratch_address,
            timeline: Arc::clone(timeline),
            closed: AtomicBool::new(false),
            wedged: AtomicBool::new(false),
        })
    }

    /// Starts the ring, empty.
    pub fn resume(&self) -> Result {
        let size = {
            let mut ring = self.ring.lock();
            ring.reset();
            ring.ring().size()
        };
        let status_page = (self.ops.status_page)(self.timeline.status_page())?;
        legacy::start(&self.uncore, self.ring_address, size, status_page)
    }

    /// Stops the command streamer and empties the ring, before a reset or the end.
    pub fn prepare_reset(&self) {
        legacy::stop(&self.uncore);
    }

    /// Stops the engine for good.
    pub fn shutdown(&self) {
        legacy::stop(&self.uncore);
        legacy::park_status_page(&self.uncore);
        self.scratch.unbind();
    }

    /// Whether the ring has been read to its end and every request has ended.
    pub fn is_idle(&self) -> bool {
        self.timeline.retire();
        self.timeline.pending() == 0 && legacy::is_idle(&self.uncore)
    }

    /// Keeps submissions out; those under way have reached the ring.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
        drop(self.ring.lock());
    }

    /// Lets submissions in again, or refuses them for good when the reset has failed.
    pub fn open(&self, well: bool) {
        self.wedged.store(!well, Ordering::Release);
        self.closed.store(false, Ordering::Release);
    }

    /// Whether it takes no more submissions.
    pub fn is_wedged(&self) -> bool {
        self.wedged.load(Ordering::Acquire)
    }

    /// Queues the batch at a graphics address; what it uses is kept until it has run. Waits for room in the ring.
    pub fn submit(&self, uses: &Uses, batch: u32) -> Result<Arc<Fence>> {
        let clock = self.uncore.clock();
        let deadline = clock.now() + RING_SPACE_TIMEOUT;
        let mut step = POLL;
        loop {
            match self.try_submit(uses, batch) {
                Err(ENOSPC) if self.closed.load(Ordering::Acquire) || clock.now() < deadline => {
                    clock.relax(step);
                    step = (step + step).min(MAX_STEP);
                }
                // The ring has not moved for a second: nothing will.
                Err(ENOSPC) => return Err(EIO),
                other => return other,
            }
        }
    }

    /// The same without waiting: `ENOSPC` when there is no room now, or a reset is under way; `EIO` when one has failed.
    pub fn try_submit(&self, uses: &Uses, batch: u32) -> Result<Arc<Fence>> {
        self.timeline.retire();
        // The interrupt handler never takes this lock, so holding it across the tail write is safe; it keeps tail
        // writes in the order of sequence numbers.
        let mut ring = self.ring.lock();
        if self.closed.load(Ordering::Acquire) {
            return Err(ENOSPC);
        }
        if self.is_wedged() {
            return Err(EIO);
        }
        if let Some(head) = self.timeline.take_retired() {
            ring.set_head(head)?;
        }
        let seqno = self.timeline.next();
        let words = self.request(batch, seqno);
        let mut room = ring.begin(words.len())?;
        room.emit(&words);
        let tail = room.commit()?;
        let fence = Arc::new(Fence::new(seqno));
        self.timeline.push(&fence, tail.offset(), uses);
        tail.write(self.uncore.io(), PRB0_TAIL.offset() as usize);
        Ok(fence)
    }

    /// Flush, batch, flush, sequence number, interrupt.
    fn request(&self, batch: u32, seqno: u32) -> Vec<u32> {
        let mut words = Vec::new();
        (self.ops.emit_flush)(&mut words, Flush::Invalidate, self.scratch_address);
        (self.ops.emit_batch_start)(&mut words, batch);
        (self.ops.emit_flush)(&mut words, Flush::WriteBack, self.scratch_address);
        (self.ops.emit_breadcrumb)(&mut words, seqno);
        words
    }

    /// Ends every request under way with an error; the engine stands still.
    pub fn fail_pending(&self, error: Error) -> Result {
        let guilty = (error == EIO).then(|| self.uncore.clock().now());
        let outcome = self.timeline.fail_pending(error, guilty);
        self.timeline.retire();
        outcome
    }
}
