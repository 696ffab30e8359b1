//! Waves: pixel threads that are computed side by side and end in their order.
//!
//! What a pixel thread computes depends on its payload and on what it reads, and it changes nothing before its last message,
//! which writes its pixels. So threads that follow one another wait for a while, are computed aside, by several threads of the
//! host if there are some, and then end one by one as if each had run alone: ticks, numbers, counters and pixels are the same.
//! A thread that asks for more runs once more, in the usual way; it has not changed anything. Not gathered: threads that
//! a trace, a debug register or a debugger may look at, and those for which the time slice may be too short.

mod compute;
mod draw;
mod finish;
mod queue;
mod record;
mod run;
mod workers;

use eu::straight::Registers;
use eu::{Grf, Thread};

use super::fill::Seen;
use super::{KernelState, Outcome, Td, ThreadRequest, payload};
use crate::intel::machine::Machine;
use crate::intel::shared::context::{Events, ThreadPixels};
use compute::{Around, Rows};
pub use draw::Draw;
pub(super) use draw::{always, pages};
pub use queue::Queue;
pub use record::{Primitive, Primitives, Record, Recorded};
pub use run::Run;
use workers::Workers;
pub use workers::choose;

/// Threads that wait for one another.
#[derive(Debug, Default)]
pub struct Wave {
    /// The threads.
    pub queue: Queue,
    /// What is known of the draw.
    pub draw: Draw,
    /// Those that wait have no numbers: one in front of them lives on.
    pub unnumbered: bool,
}

impl Wave {
    /// Ticks that are still to be charged for the threads that wait, at most, if they are like those before them.
    #[inline]
    pub fn ticks(&self) -> u64 {
        self.queue.owing() as u64 * self.draw.longest()
    }

    /// How many more threads may wait whose ticks are known.
    #[inline]
    pub fn room(&self) -> u32 {
        let room = self.draw.most(true).saturating_sub(self.queue.len());
        u32::try_from(room).unwrap_or(u32::MAX)
    }

    /// Takes up a thread of sixteen lit pixels as the next of the last run, when a budget has room for it beside ticks that are others';
    /// comes back with its ticks, which are to be charged.
    #[inline]
    pub fn extend(
        &mut self,
        of: (u32, &KernelState),
        (at, first): ((u16, u16), u8),
        budget: u64,
        others: u64,
    ) -> Option<u64> {
        let most = self.draw.most(true);
        let room = self.queue.len() < most;
        let run = self.queue.last_run()?;
        let ticks = run.ticks;
        if !room || !run.charged || budget <= others + ticks || !run.extend(of, at, first) {
            return None;
        }
        self.queue.extended();
        Some(ticks)
    }
}

/// What the threads of a wave have in common.
#[derive(Clone, Copy, Debug)]
pub struct Common<'a> {
    /// The wish for each, but for what it begins with.
    pub request: &'a ThreadRequest<'a>,
    /// Their primitives.
    pub primitives: &'a dyn Primitives,
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

/// Whether a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// It runs now.
    No,
    /// Its ticks are charged when it ends.
    Owing,
    /// It takes so many ticks, which can be charged now.
    Charged(u64),
    /// Those that wait have to end before it is asked for again: there is no room beside them.
    Full,
}

/// Why a thread runs alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alone {
    First,
    Slice,
    Watched,
    Alike,
}

/// What a thread of the host needs to compute threads.
#[derive(Debug)]
struct Hand {
    thread: Thread,
    /// Those of threads whose kernel has no branches.
    registers: Registers,
    /// Those of the thread, where a record has them.
    pixels: ThreadPixels,
    rows: Rows,
}

/// What the dispatcher has for waves.
#[derive(Debug)]
pub(super) struct Waves {
    workers: Workers,
    /// One for each thread of the host.
    hands: Vec<Hand>,
    events: Events,
    ran: Ran,
    /// Constants of the threads of the present wave.
    constants: Vec<Grf>,
}

impl Default for Waves {
    fn default() -> Self {
        Waves {
            workers: Workers::chosen(),
            hands: Vec::new(),
            events: Events::default(),
            ran: Ran::default(),
            constants: Vec::new(),
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
    /// registers the fixed function fills, if that is known. A thread that may not is counted by the reason.
    #[inline]
    pub fn may_wait(
        &mut self,
        kernel: (u32, Option<usize>),
        wave: &Wave,
        reserve: u64,
        machine: &Machine<'_>,
    ) -> Waits {
        if !self.waves.workers.any() {
            return Waits::No;
        }
        let waits = self.waits(kernel, wave, reserve, machine);
        let ran = &mut self.waves.ran;
        match waits {
            Ok(waits) => return waits,
            Err(Alone::Slice) if !wave.queue.is_empty() => return Waits::Full,
            Err(Alone::First) => ran.first += 1,
            Err(Alone::Slice) => ran.slice += 1,
            Err(Alone::Watched) => ran.watched += 1,
            Err(Alone::Alike) => ran.alike += 1,
        }
        Waits::No
    }

    /// The same for a thread with pixels that are all lit, which is not counted.
    #[inline]
    pub fn may_wait_whole(
        &mut self,
        kernel: (u32, Option<usize>),
        wave: &Wave,
        reserve: u64,
        machine: &Machine<'_>,
    ) -> Option<u64> {
        if !wave.draw.takes_runs(kernel.0) || machine.debug.global_enable() {
            return None;
        }
        match self.waits(kernel, wave, reserve, machine) {
            Ok(Waits::Charged(ticks)) => Some(ticks),
            _ => None,
        }
    }

    /// Whether threads of lit pixels may be runs, as far as that does not change while the windower works.
    #[inline]
    pub fn takes_runs(&self, kernel: &KernelState, wave: &Wave, machine: &Machine<'_>) -> bool {
        wave.draw.takes_runs(kernel.ip) && self.unwatched(machine)
    }

    fn waits(
        &mut self,
        (kernel, registers): (u32, Option<usize>),
        wave: &Wave,
        reserve: u64,
        machine: &Machine<'_>,
    ) -> Result<Waits, Alone> {
        let draw = &wave.draw;
        let exact = draw.exact(kernel);
        let Some(registers) = registers.filter(|_| draw.most(false) > 0) else {
            return Err(Alone::First);
        };
        let own = exact.map_or(draw.longest(), |exact| exact.ticks);
        if wave.queue.len() >= draw.most(exact.is_some())
            || *machine.budget <= reserve + wave.ticks() + own
        {
            return Err(Alone::Slice);
        }
        if !self.unwatched(machine) {
            return Err(Alone::Watched);
        }
        let others = match self.seen {
            Seen::Others => true,
            Seen::Colour(_) => false,
            Seen::Nothing => {
                let alike = self.cache.alike(kernel, registers);
                alike == eu::Alike::No
            }
        };
        if !others {
            return Err(Alone::Alike);
        }
        self.cache.warm_up(kernel);
        Ok(exact.map_or(Waits::Owing, |exact| Waits::Charged(exact.ticks)))
    }

    /// Computes the threads of a wave and ends them in their order, up to the first that has to run in the usual way; that one
    /// is the wave's first then. Comes back with the pixels that have passed late tests.
    pub fn compute(
        &mut self,
        wave: &mut Wave,
        common: &Common<'_>,
        machine: &mut Machine<'_>,
    ) -> u64 {
        if !unwatched(machine) || wave.draw.most(false) == 0 {
            *machine.budget += wave.queue.take_charges();
            return 0;
        }
        let Waves {
            workers,
            hands,
            constants,
            ..
        } = &mut self.waves;
        let whole = payload::constants(common.request, (machine.mem, machine.urb), constants);
        let Wave { queue, draw, .. } = wave;
        let early = draw.reads_early() && queue.is_of_one_primitive();
        let around = Around {
            cache: &self.cache,
            isa: self.cache.instructions(),
            sip: self.sip,
            mem: machine.mem,
            constants: whole.then_some(constants),
            shared: machine.shared,
            draw,
            early,
            common: common.request,
            primitives: common.primitives,
        };
        let work = (queue.len() as u64).saturating_mul(Workers::cost(draw));
        let portions = queue.portions(Workers::portion(draw));
        workers.run(&around, (portions, work), hands);
        let early = early && wave.queue.has_ready();
        self.end(wave, (common, early), machine)
    }

    /// Whether nobody looks at single threads, and the next one would be alone.
    #[inline]
    pub(super) fn unwatched(&self, machine: &Machine<'_>) -> bool {
        let free = |slot: &super::Slot| slot.state == super::SlotState::Free;
        self.alive == 0 && unwatched(machine) && self.slots.first().is_some_and(free)
    }

    /// Numbers so many threads that wait; the number of the first, modulo 256.
    #[inline]
    pub fn number(&mut self, threads: u32) -> u8 {
        let first = self.fftid.wrapping_add(1);
        // CAST: numbers of threads, modulo 256.
        self.fftid = self.fftid.wrapping_add(threads as u8);
        first
    }

    /// Takes the numbers of the last so many threads back, which still wait.
    #[inline]
    pub fn take_numbers(&mut self, threads: u32) {
        // CAST: numbers of threads, modulo 256.
        self.fftid = self.fftid.wrapping_sub(threads as u8);
    }

    /// Runs a thread that has waited, and has its number since then.
    pub fn dispatch_numbered(
        &mut self,
        (number, request): (u8, &ThreadRequest<'_>),
        machine: &mut Machine<'_>,
    ) -> Option<Outcome> {
        let last = std::mem::replace(&mut self.fftid, number.wrapping_sub(1));
        let outcome = self.dispatch(request, &[], machine);
        self.fftid = last;
        outcome
    }

    /// What the threads of a primitive find behind their constants, where no memory but the URB has it.
    pub fn data(request: &ThreadRequest<'_>, machine: &Machine<'_>, rows: &mut Vec<Grf>) {
        payload::data(request, machine.urb, rows);
    }
}

/// Whether nobody looks at single threads.
#[inline]
fn unwatched(machine: &Machine<'_>) -> bool {
    machine.debug.plain() && !machine.trace.is_on()
}
