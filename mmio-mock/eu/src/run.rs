//! The run loop: fetch, observe, execute, count.
//!
//! PRM: volume 4, 2.3, 9.1. Thread switching and instruction timing are not modelled.

use crate::cache::KernelCache;
use crate::decoded::{Next, Slot};
use crate::port::{Observer, Port, Stop};
use crate::thread::Thread;
use crate::{exception, send};
use isa::operand::{Addr, RegFile};

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

impl Thread {
    /// Runs until the thread ends, stops, or has used `budget` instructions; call again to go on.
    /// Every stop is between two instructions.
    pub fn run<P: Port, O: Observer>(
        &mut self,
        cache: &mut KernelCache,
        port: &mut P,
        obs: &mut O,
        budget: &mut u64,
        stats: &mut RunStats,
    ) -> Stop<P::Fault> {
        loop {
            if *budget == 0 {
                return Stop::Budget;
            }
            let ip = self.ip;
            let page = cache.page(ip);
            let mut slot = cache.slot(page, ip);
            if slot.hot.empty {
                if let Err(fault) = cache.fill(page, ip, port) {
                    return Stop::Fault(fault);
                }
                slot = cache.slot(page, ip);
            }
            if slot.hot.breakpoint && exception::breakpoint(self) {
                *budget -= 1;
                continue;
            }
            if O::ACTIVE {
                if let Some(inst) = &slot.inst {
                    if obs.before_inst(self.id(), ip, inst) {
                        return Stop::Observer;
                    }
                }
            }
            if self.stale != 0 && touches(slot, self.stale) {
                return Stop::Hung("PRM 2.6.11: a register waits for a message that was dropped");
            }
            match (slot.hot.run)(self, &slot.hot) {
                Next::Seq if !self.jumped => self.ip = ip.wrapping_add(16),
                Next::Seq | Next::Jump => self.jumped = false,
                Next::Send => {
                    match send::issue(self, &slot.hot, port) {
                        send::Outcome::Sent => {}
                        send::Outcome::Ended => {
                            stats.sends += 1;
                            stats.instructions += 1;
                            stats.simd8 += u64::from(slot.hot.weight);
                            *budget -= 1;
                            if O::ACTIVE {
                                if let Some(inst) = &slot.inst {
                                    obs.after_inst(self.id(), ip, inst);
                                }
                            }
                            return Stop::EndOfThread;
                        }
                        send::Outcome::Stop(stop) => return stop,
                    }
                    stats.sends += 1;
                    self.ip = ip.wrapping_add(16);
                }
                Next::Wait => return Stop::Wait(slot.hot.flag),
                Next::Illegal => {
                    if !exception::illegal(self) {
                        return match port.fetch(ip) {
                            Ok(raw) => Stop::Illegal(raw),
                            Err(fault) => Stop::Fault(fault),
                        };
                    }
                }
                Next::Hung => return Stop::Hung(self.note),
                Next::Unimplemented => return Stop::Unimplemented(slot.hot.note),
            }
            *budget -= 1;
            stats.instructions += 1;
            stats.simd8 += u64::from(slot.hot.weight);
            if self.step != 0 {
                self.finish_step();
            }
            if O::ACTIVE {
                if let Some(inst) = &slot.inst {
                    obs.after_inst(self.id(), ip, inst);
                }
            }
        }
    }
}

/// Whether an instruction names a register that will never be valid.
#[cold]
fn touches(slot: &Slot, stale: u128) -> bool {
    let Some(inst) = &slot.inst else {
        return false;
    };
    let span: u128 = if inst.exec_size > 8 { 3 } else { 1 };
    let bits = |file: RegFile, addr: Addr| match (file, addr) {
        (RegFile::Grf, Addr::Direct { nr, .. }) if nr < 128 => span << nr,
        _ => 0,
    };
    let mut used = bits(inst.dst.file, inst.dst.addr);
    for s in &inst.src[..usize::from(inst.num_src.min(3))] {
        used |= bits(s.file, s.addr);
    }
    used & stale != 0
}
