//! An engine: its ring, its timeline, its requests, whose context it holds.
//!
//! PRM vol1 "Ring Buffer"; what follows a reset is that of i915 `intel_ring_submission.c`. Not modelled: execution lists.
pub mod legacy;

use alloc::sync::Arc;
use alloc::vec::Vec;

use kernel::dma::{CoherentAllocation, PAGE_SIZE};
use kernel::error::{Error, Result, code::EIO, code::ENOSPC};
use kernel::sync::{AtomicBool, Ordering, SpinLock};
use ringbuf::RingBuffer;
use ringbuf::tail::Tail;

use crate::core::account::Account;
use crate::core::fence::Fence;
use crate::core::range::Search;
use crate::core::timeline::{Passed, Past};
use crate::intel::gem::{Object, Tiling};
use crate::intel::r#gen::{EngineInfo, Flush, PageUse, Places, SpaceOps, StatusPage};
use crate::intel::gtt::{Ggtt, Pages, Scope};
use crate::intel::identity::INFO;
use crate::intel::prologue::Prologue;
use crate::intel::sample::Check;
use crate::intel::switch::{Image, Plan, Switch};
use crate::intel::timeline::{Left, Pending, RingPlace, Timeline, Uses, Work};
use crate::intel::uncore::EngineRegisters;

/// Pages of the ring (i915 gives legacy rings 16 KiB).
const RING_PAGES: usize = 4;
/// More bytes than a request takes in the ring, with those left free at the ring's end.
const MOST_OF_REQUEST: u32 = 1024;
/// Dwords that suffice for most requests.
const USUAL_DWORDS: usize = 64;
/// An engine.
pub struct Engine {
    registers: EngineRegisters,
    info: &'static EngineInfo,
    ring: SpinLock<RingBuffer>,
    ring_address: u32,
    /// Graphics address of the status page; 0 where the device takes a physical one.
    status_address: u32,
    /// The space of clients: operations and directory.
    process: Option<(&'static SpaceOps, u32)>,
    scratch: Object,
    scratch_address: u32,
    timeline: Arc<Timeline>,
    check: Check,
    switch: Switch,
    wedged: AtomicBool,
    /// A reset is under way.
    closed: AtomicBool,
}

/// What a request does.
#[derive(Clone, Copy)]
enum Payload {
    /// Runs the batch at an address, after what the debugger wants.
    Batch(u32, Prologue),
    /// Nothing (i915 `__i915_request_skip`).
    Skipped,
}

impl Engine {
    /// Allocates ring, status page and scratch page; the hardware is not touched but for the GTT.
    pub fn new(
        ggtt: &Arc<Ggtt>,
        info: &'static EngineInfo,
        timeline: &Arc<Timeline>,
    ) -> Result<Self> {
        let platform = ggtt.uncore().platform();
        let memory = CoherentAllocation::alloc_guarded(platform, RING_PAGES)?;
        // What the driver needs itself lies high, out of the way of addresses that users choose.
        let own = |memory| {
            let used = PageUse {
                cached: ggtt.info().llc,
                writable: true,
            };
            (Pages { memory, used }, Scope::Global)
        };
        let ring_address = ggtt.insert("ring", own(&memory), 0, Search::High)?;
        timeline.set_ring(RingPlace {
            address: ring_address,
            bus: memory.dma_handle(),
            size: memory.size(),
        });
        let status_address = match info.status_page {
            StatusPage::Physical(_) => 0,
            StatusPage::Graphics => {
                let page = own(timeline.status_memory());
                ggtt.insert("status page", page, 0, Search::High)?
            }
        };
        let scratch = Object::new(platform, ggtt, "scratch".into(), 4096, Tiling::None, 0)?;
        let scratch_address = scratch.bind_own()?;
        Ok(Engine {
            registers: EngineRegisters::new(ggtt.uncore(), info.base),
            info,
            ring: SpinLock::new(RingBuffer::new(memory)?),
            ring_address,
            status_address,
            process: ggtt.process(),
            scratch,
            scratch_address,
            timeline: Arc::clone(timeline),
            check: Check::default(),
            switch: Switch::default(),
            wedged: AtomicBool::new(false),
            closed: AtomicBool::new(false),
        })
    }

    /// Its row.
    pub fn info(&self) -> &'static EngineInfo {
        self.info
    }

    /// Its timeline.
    pub fn timeline(&self) -> &Arc<Timeline> {
        &self.timeline
    }

    /// What is known of its hangs.
    pub fn check(&self) -> &Check {
        &self.check
    }

    /// Its registers.
    pub fn registers(&self) -> &EngineRegisters {
        &self.registers
    }

    /// Starts the ring, empty.
    pub fn resume(&self) -> Result {
        let size = {
            let mut ring = self.ring.lock();
            ring.reset();
            ring.ring().size()
        };
        let status_page = match self.info.status_page {
            StatusPage::Physical(value) => value(self.timeline.status_page())?,
            StatusPage::Graphics => self.status_address,
        };
        let ring = (self.ring_address, size);
        legacy::start(&self.registers, self.info, ring, status_page, self.process)
    }

    /// Stops the command streamer and empties the ring, before a reset or the end; notes which context it was in.
    pub fn prepare_reset(&self) {
        let _awake = self.registers.uncore().awake();
        legacy::stop(&self.registers);
        if self.switch.is_ready() {
            self.timeline.note_context(legacy::context(&self.registers));
        }
    }

    /// Whose state the engine holds.
    pub fn switch(&self) -> &Switch {
        &self.switch
    }

    /// A new image of a context, not bound yet, which counts for the process that uses the context first; `ENOMEM` when that
    /// has as many as it may have. The driver's own counts for nobody.
    pub fn new_image(ggtt: &Arc<Ggtt>, account: Option<&Account>) -> Result<Image> {
        let platform = ggtt.uncore().platform();
        let name = "context image".into();
        let size = ggtt.image_size();
        let permits = match (account, platform.dma().guarded_pages()) {
            (Some(account), Some(all)) => Some(account.take_pages(size.div_ceil(PAGE_SIZE), all)?),
            _ => None,
        };
        let object = Object::own(platform, ggtt, name, size)?;
        Ok(Image::new(object, permits))
    }

    /// Stops the engine for good.
    pub fn shutdown(&self) {
        let awake = self.registers.uncore().awake();
        legacy::stop(&self.registers);
        legacy::park_status_page(&self.registers, self.info);
        drop(awake);
        self.scratch.unbind();
        self.switch.clear();
    }

    /// Whether the ring has been read to its end and every request has ended.
    pub fn is_idle(&self) -> bool {
        self.timeline.retire();
        let _awake = self.registers.uncore().awake();
        self.timeline.pending() == 0 && legacy::is_idle(&self.registers)
    }

    /// Whether it takes no more submissions.
    pub fn is_wedged(&self) -> bool {
        self.wedged.load(Ordering::Acquire)
    }

    /// Keeps submissions out; those under way have reached the ring.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
        // Whoever is between the check and the tail write has the lock.
        drop(self.ring.lock());
    }

    /// Lets submissions in again, or refuses them until a reset succeeds when this one has failed.
    pub fn open(&self, well: bool) {
        self.wedged.store(!well, Ordering::Release);
        self.closed.store(false, Ordering::Release);
    }

    /// Whether a reset is under way.
    pub fn is_resetting(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Whether the ring has room for any request now, as far as interrupts have told, or takes none any more.
    pub fn has_room(&self) -> bool {
        let mut ring = self.ring.lock();
        if self.find_room(&mut ring).is_err() {
            // It is found out by the next submission.
            return true;
        }
        self.is_wedged() || !self.is_resetting() && ring.ring().space() >= MOST_OF_REQUEST
    }

    /// Queues the batch at a graphics address; what it uses is kept until it has run. Does not wait: `ENOSPC` when the
    /// ring has no room as far as interrupts have told, or a reset is under way; `EIO` when one has failed.
    pub fn submit(&self, uses: &Uses, batch: u32) -> Result<Arc<Fence>> {
        self.timeline.tidy();
        // The interrupt handler never takes this lock, so holding it across the tail write is safe; it keeps tail
        // writes in the order of sequence numbers.
        let mut ring = self.ring.lock();
        if self.is_resetting() {
            return Err(ENOSPC);
        }
        if self.is_wedged() {
            return Err(EIO);
        }
        self.find_room(&mut ring)?;
        let seqno = self.timeline.next();
        let plan = self.switch.plan(uses.image.as_ref());
        let payload = Payload::Batch(batch, uses.prologue);
        let (head, tail, commands) = self.emit(&mut ring, payload, &plan, seqno)?;
        let client = uses.context.as_ref();
        let client = client.map(|context| Arc::clone(context.client()));
        let place = (self.timeline.context(), seqno);
        let fence = Arc::new(Fence::on(place, INFO.name, client));
        self.timeline.push(Pending {
            fence: Arc::clone(&fence),
            seqno,
            head,
            tail: tail.offset(),
            work: Work {
                batch,
                uses: uses.clone(),
                saves: plan.saves,
                commands,
            },
        });
        self.tell(tail);
        Ok(fence)
    }

    /// Tells the device where the ring ends.
    fn tell(&self, tail: Tail) {
        (self.info.tell)(&self.registers, tail);
    }

    /// What its commands write to.
    fn places(&self) -> Places {
        Places {
            status: self.status_address,
            scratch: self.scratch_address,
        }
    }

    /// Looks how far the parser has come, when the ring is nearly full as far as that is known. Numbers alone do not say so: a
    /// batch can store one and go on.
    fn find_room(&self, ring: &mut RingBuffer) -> Result {
        if ring.ring().space() >= MOST_OF_REQUEST {
            return Ok(());
        }
        match self.passed(ring.ring().size()).free {
            Some(head) => ring.set_head(head),
            None => Ok(()),
        }
    }

    /// Where the parser stands; call it after looking at the numbers.
    fn passed(&self, size: u32) -> Passed<Left> {
        self.timeline.pass(legacy::head(&self.registers), size)
    }

    /// The request in whose commands the parser stands though its number has been stored. For the few commands behind the
    /// number that is so for a moment.
    pub fn lingers(&self) -> Option<Past<Left>> {
        let mut ring = self.ring.lock();
        let passed = self.passed(ring.ring().size());
        if let Some(free) = passed.free {
            // A head that makes no sense is found out by the next submission.
            let _ = ring.set_head(free);
        }
        passed.lingers
    }

    /// Whether the parser stands in the commands of a request.
    pub fn is_in(&self, pending: &Pending) -> bool {
        let size = self.ring.lock().ring().size();
        legacy::ring(&self.registers) == self.ring_address
            && (pending.stretch()).holds(legacy::head(&self.registers), size)
    }

    /// Whether the commands of a request in the ring are not those that the driver has written: a batch has written over
    /// them, its own or an earlier one's.
    pub fn is_altered(&self, pending: &Pending) -> bool {
        let ring = self.ring.lock();
        let mut bytes = alloc::vec![0; pending.commands.len() * 4];
        // CAST: a request is much shorter than the ring. With an odd number there is one more dword.
        let length = (bytes.len() as u32).next_multiple_of(8);
        let start = ring.ring().wrap(pending.tail.wrapping_sub(length));
        let read = ring.memory().read(start as usize, &mut bytes);
        let commands = pending.commands.iter().flat_map(|word| word.to_le_bytes());
        read.is_err() || !commands.eq(bytes)
    }

    /// Writes a request into the ring; where it begins, the tail to tell the device, and the commands.
    fn emit(
        &self,
        ring: &mut RingBuffer,
        payload: Payload,
        plan: &Plan,
        seqno: u32,
    ) -> Result<(u32, Tail, Arc<[u32]>)> {
        let words = self.request(payload, plan, seqno);
        let head = ring.ring().emit();
        let mut room = ring.begin(words.len())?;
        room.emit(&words);
        let tail = room.commit()?;
        self.switch.carried_out(plan);
        Ok((head, tail, words.into()))
    }

    /// Flush, context, batch, flush, sequence number, interrupt.
    fn request(&self, payload: Payload, plan: &Plan, seqno: u32) -> Vec<u32> {
        let emit = self.info.emit;
        let mut words = Vec::with_capacity(USUAL_DWORDS);
        if let Payload::Batch(address, prologue) = payload {
            (emit.flush)(&mut words, Flush::Invalidate, self.scratch_address);
            if let Some((ops, directory)) = self.process {
                (ops.enter)(&mut words, self.info, directory, self.places());
            }
            for step in &plan.steps {
                (emit.set_context)(&mut words, step.address, step.inhibit);
            }
            if prologue.reset_counters {
                (emit.counter_reset)(&mut words);
            }
            if let Some(sip) = prologue.sip {
                (emit.sip)(&mut words, sip);
            }
            if let Some(reset) = emit.reset_offsets.filter(|_| prologue.resets_offsets) {
                reset(&mut words);
            }
            (emit.batch_start)(&mut words, address, prologue.trusted);
            if let Some(second) = prologue.second {
                (emit.batch_start)(&mut words, second, false);
            }
            (emit.flush)(&mut words, Flush::WriteBack, self.scratch_address);
        }
        (emit.breadcrumb)(&mut words, seqno, self.places());
        words
    }

    /// Puts the requests that a reset has left into the empty ring again, in their order and with their numbers, and
    /// lets the device go on.
    pub fn replay(&self) -> Result {
        let mut ring = self.ring.lock();
        let mut last = None;
        self.timeline.replay(|pending| {
            let (payload, plan) = if pending.fence.has_error() {
                (Payload::Skipped, Plan::default())
            } else {
                let plan = self.switch.plan(pending.uses.image.as_ref());
                (Payload::Batch(pending.batch, pending.uses.prologue), plan)
            };
            let (head, tail, commands) = self.emit(&mut ring, payload, &plan, pending.seqno)?;
            let end = tail.offset();
            last = Some(tail);
            let work = Work {
                saves: plan.saves,
                commands,
                ..pending.work.clone()
            };
            Ok((head, end, work))
        })?;
        if let Some(tail) = last {
            self.tell(tail);
        }
        Ok(())
    }

    /// Ends every request under way with an error; the engine stands still.
    pub fn fail_pending(&self, error: Error) -> Result {
        let outcome = self.timeline.fail_pending(error);
        self.timeline.retire();
        outcome
    }
}
