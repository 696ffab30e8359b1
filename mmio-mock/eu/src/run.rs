//! The run loop: fetch, observe, execute, count.
//!
//! PRM: volume 4, 2.3, 9.1. Thread switching and instruction timing are not modelled.

use crate::cache::KernelCache;
use crate::decoded::{Next, Slot};
use crate::port::{NoObserver, Observer, Port, Stop};
use crate::rounding::Rounding;
use crate::stretch::Channels;
use crate::thread::Thread;
use crate::warm::{TURNS, Warm};
use crate::{exception, flow, scoreboard, send};

/// Address bits that choose a page of the kernel cache.
const PAGE_MASK: u32 = !0xfff;

/// What a thread, or many, executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunStats {
    /// Instructions.
    pub instructions: u64,
    /// The same in units of eight channels: a 16-wide instruction counts twice.
    pub simd8: u64,
    /// Messages sent.
    pub sends: u64,
    /// Instructions that compiled code did.
    pub compiled: u64,
}

/// Counts of the present run: in registers, where the caller's would be in memory.
struct Counts {
    /// What is left of the budget.
    left: u64,
    /// What was taken from the budget for other things than instructions that were executed. Those are not counted one by
    /// one: the rest of what was taken is their number.
    others: u64,
    simd8: u64,
    sends: u64,
    /// Instructions that compiled code did.
    compiled: u64,
    /// Jumps back.
    turns: u32,
}

/// What becomes of an instruction before it is executed.
enum Before<F> {
    Executed,
    /// It goes to the system routine instead.
    Excepted,
    Stop(Stop<F>),
}

impl Counts {
    /// Takes from a budget what was used of it, and adds what was counted.
    #[inline(always)]
    fn settle(&self, budget: &mut u64, stats: &mut RunStats) {
        stats.instructions += *budget - self.left - self.others;
        stats.simd8 += self.simd8;
        stats.sends += self.sends;
        stats.compiled += self.compiled;
        *budget = self.left;
    }

    /// An instruction has been executed.
    #[inline(always)]
    fn pay(&mut self, slot: &Slot) {
        self.left -= 1;
        self.simd8 += u64::from(slot.hot.weight);
    }
}

impl Thread {
    /// Runs until the thread ends, stops, or has used `budget` instructions; call again to go on.
    /// Every stop is between two instructions.
    // One caller, which runs a thread of few instructions: the call and its eight arguments show.
    #[inline(always)]
    pub fn run<P: Port, O: Observer>(
        &mut self,
        cache: &mut KernelCache,
        port: &mut P,
        obs: &mut O,
        budget: &mut u64,
        stats: &mut RunStats,
    ) -> Stop<P::Fault> {
        let mut counts = self.begin::<O>(cache, *budget);
        cache.warm_up(self.ip);
        let stop = loop {
            let base = self.ip & PAGE_MASK;
            let page = cache.page(base);
            let stop = self.run_in(base, (cache, page), port, obs, &mut counts);
            if let Some(stop) = stop {
                break stop;
            }
            if counts.turns >= TURNS {
                counts.turns = 0;
                cache.compile_loop(self.ip);
                // Slots are other ones now.
                continue;
            }
            let ip = self.ip;
            if ip & PAGE_MASK == base
                && let Err(fault) = cache.fill(page, ip, port)
            {
                break Stop::Fault(fault);
            }
        };
        cache.count_compiled(counts.compiled);
        cache.ran(*budget - counts.left);
        counts.settle(budget, stats);
        stop
    }

    /// The same with a cache that others look into, too: nothing is decoded, counted or compiled. `None`: the next instruction
    /// is not decoded yet.
    pub fn run_decoded<P: Port>(
        &mut self,
        cache: &KernelCache,
        port: &mut P,
        budget: &mut u64,
        stats: &mut RunStats,
    ) -> Option<Stop<P::Fault>> {
        let mut counts = self.begin::<NoObserver>(cache, *budget);
        let stop = loop {
            let base = self.ip & PAGE_MASK;
            let Some(page) = cache.known(base) else {
                break None;
            };
            let stop = self.run_in(base, (cache, page), port, &mut NoObserver, &mut counts);
            if stop.is_some() {
                break stop;
            }
            if counts.turns < TURNS && self.ip & PAGE_MASK == base {
                break None;
            }
            counts.turns = 0;
        };
        counts.settle(budget, stats);
        stop
    }

    /// The thread as one that runs, and the counts of a run with a budget.
    #[inline(always)]
    fn begin<O: Observer>(&mut self, cache: &KernelCache, budget: u64) -> Counts {
        self.acc_lazy = !O::ACTIVE && self.step == 0 && !exception::breakpoints(self);
        self.prepare(cache.instructions());
        Counts {
            left: budget,
            others: 0,
            simd8: 0,
            sends: 0,
            compiled: 0,
            turns: 0,
        }
    }

    /// Runs in a page of the cache, and notes what its instructions write.
    #[inline(always)]
    fn run_in<P: Port, O: Observer>(
        &mut self,
        base: u32,
        (cache, page): (&KernelCache, usize),
        port: &mut P,
        obs: &mut O,
        counts: &mut Counts,
    ) -> Option<Stop<P::Fault>> {
        let decoded = (cache.slots(page), &cache.warm);
        // A constant shift in either loop.
        let stop = match self.place {
            3 => self.run_page::<3, _, _>(base, decoded, port, obs, counts),
            _ => self.run_page::<4, _, _>(base, decoded, port, obs, counts),
        };
        self.touch(cache.reach(page));
        stop
    }

    /// Runs in one page, whose slots are two to the power of `PLACE` bytes apart, until the thread stops, leaves it or meets
    /// a new instruction.
    #[inline(always)]
    fn run_page<const PLACE: u8, P: Port, O: Observer>(
        &mut self,
        base: u32,
        (slots, warm): (&[Slot], &Warm),
        port: &mut P,
        obs: &mut O,
        counts: &mut Counts,
    ) -> Option<Stop<P::Fault>> {
        while self.ip & PAGE_MASK == base {
            if counts.left == 0 {
                return Some(Stop::Budget);
            }
            // PANIC: a page has as many slots as `slot_index` has values.
            let slot = &slots[KernelCache::slot_index(self.ip, PLACE)];
            let hot = &slot.hot;
            // One test for what few instructions have.
            let rare = hot.rare | self.waiting;
            if rare || O::ACTIVE {
                if hot.empty {
                    break;
                }
                if !O::ACTIVE
                    && slot.begin != 0
                    && self.run_stretch(slot.begin, (slots, warm), counts)
                {
                    continue;
                }
                match self.before(slot, rare, obs) {
                    Before::Executed => {}
                    Before::Excepted => {
                        counts.left -= 1;
                        counts.others += 1;
                        continue;
                    }
                    Before::Stop(stop) => return Some(stop),
                }
            }
            let ip = self.ip;
            let next = (hot.run)(self, hot);
            // Nearly always: branches that are foretold, where a table of jumps is not.
            if next == Next::Seq && !self.jumped && self.step == 0 && !O::ACTIVE {
                self.ip = ip.wrapping_add(u32::from(hot.bytes));
                counts.pay(slot);
                continue;
            }
            if let Some(stop) = self.after((ip, slot, next), port, obs, counts) {
                return Some(stop);
            }
            if counts.turns >= TURNS {
                break;
            }
        }
        None
    }

    /// Runs the compiled stretch that begins here, when the interpreter would run all of it and nothing else.
    #[inline(always)]
    fn run_stretch(
        &mut self,
        begin: u16,
        (slots, warm): (&[Slot], &Warm),
        counts: &mut Counts,
    ) -> bool {
        let Some((begin, kernel)) = warm.begin(begin) else {
            return false;
        };
        if self.waiting {
            self.wake();
        }
        let ready = counts.left >= u64::from(begin.done.steps)
            && self.acc_lazy
            && self.acc_on
            && self.step == 0
            && !self.alt
            && !(begin.leaves != 0 && self.spf)
            && self.rounding == Rounding::Nearest
            && !(self.waiting
                && (self.stale != 0 || self.parked.within(self.ip, u32::from(begin.done.bytes))));
        if !ready {
            return false;
        }
        let before = warm.checked.then(|| Box::new(self.clone()));
        let mut channels = Channels {
            enabled: self.emask,
            flags: self.flag,
            accumulator: &mut self.acc,
        };
        let ended = kernel.run(
            usize::from(begin.stretch),
            self.regs.all_mut(),
            &mut channels,
        );
        self.flag = channels.flags;
        let first = self.ip;
        let done = warm.done(begin, ended);
        self.ip = first.wrapping_add(u32::from(done.bytes));
        if let Some(before) = before {
            let interpreted = before.interpreted(usize::from(done.steps), slots);
            if *self != *interpreted {
                let end = self.ip;
                warm.differs(format!("instructions {first:#010x} to {end:#010x}"));
            }
            *self = *interpreted;
        }
        counts.left -= u64::from(done.steps);
        counts.simd8 += u64::from(done.simd8);
        counts.compiled += u64::from(done.steps);
        // The instruction that it has ended before is the interpreter's, also where a stretch begins at it.
        done.steps != 0
    }

    /// The thread after so many instructions in a row that the interpreter runs.
    #[cold]
    fn interpreted(self: Box<Thread>, steps: usize, slots: &[Slot]) -> Box<Thread> {
        let mut thread = self;
        for _ in 0..steps {
            if let Some(slot) = slots.get(KernelCache::slot_index(thread.ip, thread.place)) {
                (slot.hot.run)(&mut thread, &slot.hot);
                thread.ip = thread.ip.wrapping_add(u32::from(slot.hot.bytes));
            }
        }
        thread
    }

    /// Looks whether an instruction may be executed.
    #[inline(always)]
    fn before<F, O: Observer>(&mut self, slot: &Slot, rare: bool, obs: &mut O) -> Before<F> {
        if rare && self.parked.any() {
            self.wake();
        }
        if !O::ACTIVE && !slot.hot.rare && self.stale == 0 {
            // It was looked at for channels that wait elsewhere, and for nothing else.
            return Before::Executed;
        }
        if rare && slot.hot.breakpoint && exception::breakpoint(self) {
            return Before::Excepted;
        }
        if O::ACTIVE
            && let Some(inst) = &slot.inst
            && obs.before_inst(self.id(), self.ip, inst)
        {
            return Before::Stop(Stop::Observer);
        }
        if rare && let Err(why) = scoreboard::issue(self, slot) {
            return Before::Stop(Stop::Hung(why));
        }
        Before::Executed
    }

    /// Goes on behind an instruction that was executed, or stops there.
    #[inline(always)]
    fn after<P: Port, O: Observer>(
        &mut self,
        (ip, slot, next): (u32, &Slot, Next),
        port: &mut P,
        obs: &mut O,
        counts: &mut Counts,
    ) -> Option<Stop<P::Fault>> {
        let hot = &slot.hot;
        let mut ended = None;
        match next {
            Next::Seq if !self.jumped => self.ip = ip.wrapping_add(u32::from(hot.bytes)),
            Next::Seq | Next::Jump => {
                self.jumped = false;
                counts.turns += u32::from(self.ip <= ip);
                if std::mem::take(&mut self.aip_behind) {
                    self.cr[2] = ip.wrapping_add(u32::from(hot.bytes));
                }
            }
            Next::Send => {
                match send::issue(self, hot, port) {
                    send::Outcome::Sent => self.ip = ip.wrapping_add(u32::from(hot.bytes)),
                    send::Outcome::Ended => ended = Some(Stop::EndOfThread),
                    send::Outcome::Stop(stop) => return Some(stop),
                }
                counts.sends += 1;
                // The instruction itself is paid below.
                let charge = port.charge(counts.left - 1);
                counts.left -= charge;
                counts.others += charge;
            }
            Next::Wait => return Some(Stop::Wait(hot.flag)),
            Next::Time => {
                flow::timed(self, hot, port.timestamp());
                self.ip = ip.wrapping_add(u32::from(hot.bytes));
            }
            Next::Unimplemented => return Some(Stop::Unimplemented(self.note)),
            Next::Illegal => {
                if !exception::illegal(self) {
                    return Some(match port.fetch(ip) {
                        Ok(raw) => Stop::Illegal(raw),
                        Err(fault) => Stop::Fault(fault),
                    });
                }
            }
            Next::Hung => return Some(Stop::Hung(self.note)),
        }
        counts.pay(slot);
        if self.step != 0 {
            self.finish_step();
        }
        if O::ACTIVE
            && let Some(inst) = &slot.inst
        {
            obs.after_inst(self.id(), ip, inst);
        }
        ended
    }
}
