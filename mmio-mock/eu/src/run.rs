//! The run loop: fetch, observe, execute, count.
//!
//! PRM: volume 4, 2.3, 9.1. Thread switching and instruction timing are not modelled.

use crate::cache::KernelCache;
use crate::decoded::{Next, Slot};
use crate::port::{Observer, Port, Stop};
use crate::thread::Thread;
use crate::{exception, scoreboard, send};

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
}

/// Counts of the present run: in registers, where the caller's would be in memory.
struct Counts {
    left: u64,
    ran: RunStats,
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
        self.acc_lazy = !O::ACTIVE && self.step == 0 && !exception::breakpoints(self);
        self.place = cache.place_bits();
        let mut counts = Counts {
            left: *budget,
            ran: *stats,
        };
        let stop = loop {
            let base = self.ip & PAGE_MASK;
            let page = cache.page(base);
            let slots = cache.slots(page);
            // A constant shift in either loop.
            let stop = match self.place {
                3 => self.run_page::<3, _, _>(base, slots, port, obs, &mut counts),
                _ => self.run_page::<4, _, _>(base, slots, port, obs, &mut counts),
            };
            if let Some(stop) = stop {
                break stop;
            }
            let ip = self.ip;
            if ip & PAGE_MASK == base
                && let Err(fault) = cache.fill(page, ip, port)
            {
                break Stop::Fault(fault);
            }
        };
        *budget = counts.left;
        *stats = counts.ran;
        stop
    }

    /// Runs in one page, whose slots are two to the power of `PLACE` bytes apart, until the thread stops, leaves it or meets
    /// a new instruction.
    #[inline(always)]
    fn run_page<const PLACE: u8, P: Port, O: Observer>(
        &mut self,
        base: u32,
        slots: &[Slot],
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
            if slot.hot.empty {
                break;
            }
            if let Some(stop) = self.step_one(slot, port, obs, counts) {
                return Some(stop);
            }
        }
        None
    }

    /// Executes one instruction, or stops before it.
    #[inline(always)]
    fn step_one<P: Port, O: Observer>(
        &mut self,
        slot: &Slot,
        port: &mut P,
        obs: &mut O,
        counts: &mut Counts,
    ) -> Option<Stop<P::Fault>> {
        let ip = self.ip;
        let hot = &slot.hot;
        // One test for what few instructions have.
        let rare = hot.rare | self.waiting;
        if rare && hot.breakpoint && exception::breakpoint(self) {
            counts.left -= 1;
            return None;
        }
        if O::ACTIVE
            && let Some(inst) = &slot.inst
            && obs.before_inst(self.id(), ip, inst)
        {
            return Some(Stop::Observer);
        }
        if rare && let Err(why) = scoreboard::issue(self, slot) {
            return Some(Stop::Hung(why));
        }
        let mut ended = None;
        let next = (hot.run)(self, hot);
        // Nearly always: a branch that is foretold, where a table of jumps is not.
        if next == Next::Seq && !self.jumped {
            self.ip = ip.wrapping_add(u32::from(hot.bytes));
        } else {
            match next {
                Next::Seq | Next::Jump => {
                    self.jumped = false;
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
                    counts.ran.sends += 1;
                    // The instruction itself is paid below.
                    counts.left -= port.charge(counts.left - 1);
                }
                Next::Wait => return Some(Stop::Wait(hot.flag)),
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
        }
        counts.left -= 1;
        counts.ran.instructions += 1;
        counts.ran.simd8 += u64::from(hot.weight);
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
