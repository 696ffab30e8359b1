//! Waves: pixel threads that are computed side by side and end in their order.
//!
//! What a pixel thread computes depends on its payload and on what it reads, and it changes nothing before its last message,
//! which writes its pixels. So threads that follow one another wait for a while, are computed aside, by several threads of the
//! host if there are some, and then end one by one as if each had run alone: ticks, numbers, counters and pixels are the same.
//! A thread that asks for more runs once more, in the usual way; it has not changed anything. Not gathered: threads that
//! a trace, a debug register or a debugger may look at, and those for which the time slice may be too short.

mod compute;
mod draw;
mod record;
mod workers;

use eu::{Grf, Thread};

use super::fill::Seen;
use super::{Td, ThreadRequest, payload};
use crate::intel::machine::Machine;
use crate::intel::shared::context::{Events, ThreadPixels, sfid};
use crate::intel::shared::dataport::buffer::Lost;
use crate::intel::status::Unit;
use compute::{Around, Computed};
pub use draw::Draw;
pub use record::{Record, Recorded};
use workers::Workers;
pub use workers::choose;

/// Registers that a fixed function fills, at most.
const REGISTERS: usize = 64;

/// A thread that waits for the others of its wave.
#[derive(Clone, Debug)]
struct Waiting {
    /// What it is; of one that is no record, kernel and snapshot flag alone.
    record: Record,
    /// What it begins with is here, in place of a record.
    whole: bool,
    dispatch_mask: u32,
    header: Vec<Grf>,
    pixels: ThreadPixels,
    /// Its render target writes need no header: `pixels` is its.
    headerless: bool,
}

impl Waiting {
    fn new() -> Waiting {
        Waiting {
            record: Record::default(),
            whole: false,
            dispatch_mask: 0,
            header: Vec::new(),
            pixels: ThreadPixels::default(),
            headerless: false,
        }
    }

    /// The wish for this thread, of which `common` says what all of the wave have in common; without registers and pixels where
    /// it is a record.
    #[inline]
    fn request<'a>(&'a self, common: &ThreadRequest<'a>) -> ThreadRequest<'a> {
        let has_pixels = self.whole && self.headerless;
        ThreadRequest {
            kernel: self.record.kernel,
            dispatch_mask: self.dispatch_mask,
            header: if self.whole { &self.header } else { &[] },
            pixels: has_pixels.then_some(&self.pixels),
            snapshot: self.record.snapshot,
            ..*common
        }
    }
}

/// What the threads of a wave have in common.
#[derive(Clone, Copy, Debug)]
pub struct Common<'a> {
    /// The wish for each, but for what it begins with.
    pub request: &'a ThreadRequest<'a>,
    /// Their primitive, where some are records.
    pub recorded: Option<&'a dyn Recorded>,
}

/// What the first thread of a wave begins with, when it has to run in the usual way.
#[derive(Debug)]
struct First {
    registers: [Grf; REGISTERS],
    pixels: ThreadPixels,
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
    first: Option<Box<First>>,
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

    /// The next one that waits.
    #[inline]
    fn more(&mut self) -> &mut Waiting {
        if self.threads.len() == self.waiting {
            self.threads.push(Waiting::new());
        }
        self.waiting += 1;
        // PANIC: there is one more.
        &mut self.threads[self.waiting - 1]
    }

    /// Lets a thread wait.
    #[inline]
    pub fn push(&mut self, request: &ThreadRequest<'_>) {
        let to = self.more();
        to.record.kernel = request.kernel;
        to.record.snapshot = request.snapshot;
        to.whole = true;
        to.dispatch_mask = request.dispatch_mask;
        to.header.clear();
        to.header.extend_from_slice(request.header);
        to.headerless = request.pixels.is_some();
        if let Some(pixels) = request.pixels {
            to.pixels.assign(pixels);
        }
    }

    /// Lets a thread wait for which the fixed function will fill so many registers.
    #[inline]
    pub fn push_record(&mut self, record: &Record, registers: usize) {
        let to = self.more();
        to.record = *record;
        // CAST: fewer than there are.
        to.record.registers = registers as u8;
        to.whole = false;
        to.dispatch_mask = record.dispatch_mask();
    }

    /// The wish for the next thread; `None` when none waits.
    pub fn first<'a>(&'a mut self, common: &Common<'a>) -> Option<ThreadRequest<'a>> {
        let first = self.threads[..self.waiting].get(self.ended)?;
        let request = first.request(common.request);
        let Some(recorded) = common.recorded.filter(|_| !first.whole) else {
            return Some(request);
        };
        let built = self.first.get_or_insert_with(|| {
            Box::new(First {
                registers: [Grf::default(); REGISTERS],
                pixels: ThreadPixels::default(),
            })
        });
        let count = recorded.fill(&first.record, &mut built.registers);
        recorded.pixels(&first.record, &mut built.pixels);
        Some(ThreadRequest {
            // PANIC: no more than there are.
            header: &built.registers[..count.min(REGISTERS)],
            pixels: recorded.headerless().then_some(&built.pixels),
            ..request
        })
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

/// What a thread of the host needs to compute threads.
#[derive(Debug)]
struct Hand {
    thread: Thread,
    /// Those of the thread, where a record has them.
    pixels: ThreadPixels,
}

/// What the dispatcher has for waves.
#[derive(Debug)]
pub(super) struct Waves {
    workers: Workers,
    /// One for each thread of the host.
    hands: Vec<Hand>,
    events: Events,
    ran: Ran,
    /// Constants and data of the threads of the present wave.
    rows: Vec<Grf>,
}

impl Default for Waves {
    fn default() -> Self {
        Waves {
            workers: Workers::chosen(),
            hands: Vec::new(),
            events: Events::default(),
            ran: Ran::default(),
            rows: Vec::new(),
        }
    }
}

impl Td {
    /// How many threads of the host compute waves, 16 at most. Without any, every thread runs when it is asked for.
    pub fn set_workers(&mut self, count: usize) {
        self.waves.workers = Workers::new(count);
        self.waves.hands.clear();
    }

    /// Pixel threads since power-on.
    pub fn ran(&self) -> Ran {
        self.waves.ran
    }

    /// Whether a thread may wait with those of a wave, when `reserve` ticks of the slice are not theirs: by its kernel and how many
    /// registers the fixed function fills, if that is known.
    #[inline]
    pub fn may_wait(
        &mut self,
        (kernel, registers): (u32, Option<usize>),
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
        let Some(registers) = registers.filter(|_| draw.most() > 0) else {
            ran.first += 1;
            return false;
        };
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
                let alike = self.cache.alike(kernel, registers);
                alike == eu::Alike::No
            }
        };
        if others {
            self.cache.warm_up(kernel);
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
        common: &Common<'_>,
        machine: &mut Machine<'_>,
    ) -> u64 {
        if !self.unwatched(machine) {
            return 0;
        }
        let Waves {
            workers,
            hands,
            rows,
            ..
        } = &mut self.waves;
        let whole = payload::rows(common.request, (machine.mem, machine.urb), rows);
        let around = Around {
            cache: &self.cache,
            isa: self.cache.instructions(),
            sip: self.sip,
            fftid: self.fftid,
            mem: machine.mem,
            rows: whole.then_some(rows),
            shared: machine.shared,
            draw: &wave.draw,
            common: common.request,
            recorded: common.recorded,
        };
        if wave.computed.len() < wave.threads.len() {
            wave.computed
                .resize_with(wave.threads.len(), Computed::default);
        }
        // PANIC: what has ended is no more than what waits, and there are as many threads.
        let threads = &wave.threads[wave.ended..wave.waiting];
        let computed = &mut wave.computed[wave.ended..wave.waiting];
        workers.run(&around, (threads, computed), hands);
        self.end(wave, common, machine)
    }

    /// Ends the threads that were computed.
    fn end(&mut self, wave: &mut Wave, common: &Common<'_>, machine: &mut Machine<'_>) -> u64 {
        let mut passed = 0;
        machine.shared.pixel.default_color = None;
        while !wave.is_empty() {
            // PANIC: as many as there are threads, see `compute`.
            let (thread, computed) = (&wave.threads[wave.ended], &wave.computed[wave.ended]);
            if let Some(why) = computed.cannot {
                wave.draw.refused(why, common.request, machine);
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
                let mixed = &computed.ending.mixed;
                match shared.dataport.write_packed(machine.mem, packed, mixed) {
                    Ok(true) => Ok(0),
                    Ok(false) => break,
                    Err(fault) => Err(fault),
                }
            } else {
                let events = &mut self.waves.events;
                events.clear();
                match common.recorded {
                    Some(recorded) if !thread.whole => {
                        recorded.pixels(&thread.record, &mut events.pixels);
                    }
                    _ if thread.headerless => events.pixels.assign(&thread.pixels),
                    _ => {}
                }
                let last = &computed.ending.message;
                let written = shared.dataport.write(
                    last.request,
                    &last.message(),
                    machine.mem,
                    &common.request.context,
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
