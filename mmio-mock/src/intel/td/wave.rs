//! Waves: pixel threads that are computed side by side and end in their order.
//!
//! What a pixel thread computes depends on its payload and on what it reads, and it changes nothing before its last message,
//! which writes its pixels. So threads that follow one another wait for a while, are computed aside, by several threads of the
//! host if there are some, and then end one by one as if each had run alone: ticks, numbers, counters and pixels are the same.
//! A thread that asks for more runs once more, in the usual way; it has not changed anything. Not gathered: threads that
//! a trace, a debug register or a debugger may look at, and those for which the time slice may be too short.

mod compute;
mod draw;
mod workers;

use eu::{Grf, Thread};

use super::fill::Seen;
use super::{KernelState, Td, ThreadRequest};
use crate::intel::machine::Machine;
use crate::intel::shared::context::{Events, ThreadPixels, sfid};
use crate::intel::shared::dataport::buffer::Lost;
use crate::intel::status::Unit;
use compute::{Around, Computed};
pub use draw::Draw;
use workers::Workers;
pub use workers::choose;

/// A thread that waits for the others of its wave.
#[derive(Clone, Debug)]
struct Waiting {
    kernel: KernelState,
    dispatch_mask: u32,
    header: Vec<Grf>,
    pixels: ThreadPixels,
    /// Its render target writes need no header: `pixels` is its.
    headerless: bool,
    snapshot: bool,
}

impl Waiting {
    fn new() -> Waiting {
        Waiting {
            kernel: KernelState::default(),
            dispatch_mask: 0,
            header: Vec::new(),
            pixels: ThreadPixels::default(),
            headerless: false,
            snapshot: false,
        }
    }

    /// The wish for this thread, of which `common` says what all of the wave have in common.
    fn request<'a>(&'a self, common: &ThreadRequest<'a>) -> ThreadRequest<'a> {
        ThreadRequest {
            kernel: self.kernel,
            dispatch_mask: self.dispatch_mask,
            header: &self.header,
            pixels: self.headerless.then_some(&self.pixels),
            snapshot: self.snapshot,
            ..*common
        }
    }
}

/// Threads of one primitive, the first of which is the next to end.
#[derive(Debug, Default)]
pub struct Wave {
    /// Kept for their allocations; the first ones wait.
    threads: Vec<Waiting>,
    /// What has been computed of each.
    computed: Vec<Computed>,
    waiting: usize,
    /// Those of them that have ended.
    ended: usize,
    /// What is known of the draw.
    pub draw: Draw,
}

impl Wave {
    /// Whether no thread waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting == self.ended
    }

    /// How many threads wait.
    #[inline]
    pub fn len(&self) -> usize {
        self.waiting - self.ended
    }

    /// Ticks that the threads that wait take at most, if they are like those before them.
    #[inline]
    pub fn ticks(&self) -> u64 {
        self.len() as u64 * self.draw.longest()
    }

    /// Lets a thread wait.
    #[inline]
    pub fn push(&mut self, request: &ThreadRequest<'_>) {
        if self.threads.len() == self.waiting {
            self.threads.push(Waiting::new());
        }
        // PANIC: there is one more.
        let to = &mut self.threads[self.waiting];
        to.kernel = request.kernel;
        to.dispatch_mask = request.dispatch_mask;
        to.header.clear();
        to.header.extend_from_slice(request.header);
        to.headerless = request.pixels.is_some();
        if let Some(pixels) = request.pixels {
            to.pixels.assign(pixels);
        }
        to.snapshot = request.snapshot;
        self.waiting += 1;
    }

    /// The wish for the next thread; `None` when none waits.
    #[inline]
    pub fn first<'a>(&'a self, common: &ThreadRequest<'a>) -> Option<ThreadRequest<'a>> {
        let first = self.threads[..self.waiting].get(self.ended)?;
        Some(first.request(common))
    }

    /// The next thread waits no longer.
    #[inline]
    pub fn pop(&mut self) {
        self.ended += 1;
        if self.is_empty() {
            self.clear();
        }
    }

    /// Forgets all threads.
    pub fn clear(&mut self) {
        self.waiting = 0;
        self.ended = 0;
    }
}

/// Pixel threads by how they ran, where there are workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// Computed with others.
    pub waves: u64,
    /// Alone: among the first of their draw, or of a draw whose threads cannot be computed with others.
    pub first: u64,
    /// Alone: the time slice might have been too short.
    pub slice: u64,
    /// Alone: somebody looks at single threads.
    pub watched: u64,
    /// Alone: all threads of the kernel do the same.
    pub alike: u64,
    /// Once more: they wanted something that they do not get with others.
    pub again: u64,
}

/// What the dispatcher has for waves.
#[derive(Debug)]
pub(super) struct Waves {
    workers: Workers,
    /// One for each thread of the host.
    threads: Vec<Thread>,
    events: Events,
    ran: Ran,
}

impl Default for Waves {
    fn default() -> Self {
        Waves {
            workers: Workers::chosen(),
            threads: Vec::new(),
            events: Events::default(),
            ran: Ran::default(),
        }
    }
}

impl Td {
    /// How many threads of the host compute waves, 16 at most. Without any, every thread runs when it is asked for.
    pub fn set_workers(&mut self, count: usize) {
        self.waves.workers = Workers::new(count);
        self.waves.threads.clear();
    }

    /// Pixel threads since power-on.
    pub fn ran(&self) -> Ran {
        self.waves.ran
    }

    /// Whether a thread may wait with those of a wave, when `reserve` ticks of the slice are not theirs.
    #[inline]
    pub fn may_wait(
        &mut self,
        request: &ThreadRequest<'_>,
        wave: &Wave,
        reserve: u64,
        machine: &Machine<'_>,
    ) -> bool {
        if !self.waves.workers.any() {
            return false;
        }
        let draw = &wave.draw;
        let threads = wave.len() as u64 + 1;
        let ran = &mut self.waves.ran;
        if draw.most() == 0 {
            ran.first += 1;
            return false;
        }
        if wave.len() >= draw.most() || *machine.budget <= reserve + threads * draw.longest() {
            ran.slice += 1;
            return false;
        }
        if !self.unwatched(machine) {
            self.waves.ran.watched += 1;
            return false;
        }
        let others = match self.seen {
            Seen::Others => true,
            Seen::Colour(_) => false,
            Seen::Nothing => {
                let alike = self.cache.alike(request.kernel.ip, request.header.len());
                alike == eu::Alike::No
            }
        };
        if others {
            self.cache.warm_up(request.kernel.ip);
        } else {
            self.waves.ran.alike += 1;
        }
        others
    }

    /// Computes the threads of a wave and ends them in their order, up to the first that has to run in the usual way; that one
    /// is the wave's first then. Comes back with the pixels that have passed late tests.
    pub fn compute(
        &mut self,
        wave: &mut Wave,
        common: &ThreadRequest<'_>,
        machine: &mut Machine<'_>,
    ) -> u64 {
        if !self.unwatched(machine) {
            return 0;
        }
        let around = Around {
            cache: &self.cache,
            isa: self.cache.instructions(),
            sip: self.sip,
            fftid: self.fftid,
            mem: machine.mem,
            urb: machine.urb,
            shared: machine.shared,
            draw: &wave.draw,
            common,
        };
        if wave.computed.len() < wave.threads.len() {
            wave.computed
                .resize_with(wave.threads.len(), Computed::default);
        }
        // PANIC: what has ended is no more than what waits, and there are as many threads.
        let threads = &wave.threads[wave.ended..wave.waiting];
        let computed = &mut wave.computed[wave.ended..wave.waiting];
        let Waves {
            workers,
            threads: own,
            ..
        } = &mut self.waves;
        workers.run(&around, (threads, computed), own);
        self.end(wave, common, machine)
    }

    /// Ends the threads that were computed.
    fn end(
        &mut self,
        wave: &mut Wave,
        common: &ThreadRequest<'_>,
        machine: &mut Machine<'_>,
    ) -> u64 {
        let mut passed = 0;
        machine.shared.pixel.default_color = None;
        while !wave.is_empty() {
            // PANIC: as many as there are threads, see `compute`.
            let (thread, computed) = (&wave.threads[wave.ended], &wave.computed[wave.ended]);
            if let Some(why) = computed.cannot {
                wave.draw.refused(why, common, machine);
                self.waves.ran.again += 1;
                break;
            }
            let Some(done) = computed.done.as_ref() else {
                break;
            };
            if done.ticks >= *machine.budget {
                break;
            }
            let shared = &mut *machine.shared;
            let written = if let Some(packed) = &computed.ending.packed {
                match shared.dataport.write_packed(machine.mem, packed) {
                    Ok(true) => Ok(0),
                    Ok(false) => break,
                    Err(fault) => Err(fault),
                }
            } else {
                let events = &mut self.waves.events;
                events.clear();
                if thread.headerless {
                    events.pixels.assign(&thread.pixels);
                }
                let last = &computed.ending.message;
                let written = shared.dataport.write(
                    last.request,
                    &last.message(),
                    machine.mem,
                    &common.context,
                    &shared.pixel,
                    events,
                );
                written.map(|()| events.depth_count)
            };
            match written {
                Ok(more) => passed += u64::from(more),
                Err(fault) => {
                    // It runs once more and meets the same: what the message has written up to there is not written again.
                    self.met = Some(fault);
                    break;
                }
            }
            wave.draw.ran_aside(done.ticks);
            self.fftid = self.fftid.wrapping_add(1);
            self.waves.ran.waves += 1;
            self.cache.count_compiled(done.stats.compiled);
            self.cache.ran(done.stats.instructions);
            shared.stats.messages[usize::from(sfid::MATH)] += done.served.math;
            shared.stats.messages[usize::from(sfid::SAMPLER)] += done.served.sampler;
            shared.stats.messages[usize::from(sfid::DATAPORT_READ)] += done.served.reads;
            shared.stats.messages[usize::from(sfid::DATAPORT_WRITE)] += 1;
            shared.sampler.samples += done.served.pixels;
            for (index, lost) in done.served.lost {
                if lost != Lost::default() {
                    shared.dataport.lose(index, lost);
                }
            }
            let activity = &mut machine.status.activity;
            activity.threads[Unit::Wiz as usize] += 1;
            activity.instructions[Unit::Wiz as usize] += done.stats.instructions;
            activity.simd8[Unit::Wiz as usize] += done.stats.simd8;
            let ticks = done.ticks;
            machine.charge(ticks);
            wave.pop();
        }
        passed
    }

    /// Whether nobody looks at single threads, and the next one would be alone.
    #[inline]
    pub(super) fn unwatched(&self, machine: &Machine<'_>) -> bool {
        let free = |slot: &super::Slot| slot.state == super::SlotState::Free;
        self.alive == 0
            && machine.debug.plain()
            && !machine.trace.is_on()
            && self.slots.first().is_some_and(free)
    }
}
