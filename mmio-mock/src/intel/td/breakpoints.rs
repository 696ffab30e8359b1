//! Where a running thread stops: breakpoint registers, and the host's rules.
//!
//! PRM: volume 4, 3.4.4 and 3.6. Whether the thread has breakpoints enabled is the EU's to say.

use eu::{Observer, ThreadId};
use isa::{Inst, Opcode, Verx10};

use crate::intel::debug::host::{Orders, Why};
use crate::intel::debug::{Fetch, IcBreakpoints};

/// Stops a thread before an instruction that one of the registers or the host names.
pub(super) struct Breakpoints {
    registers: IcBreakpoints,
    /// General State Base Address: the registers hold linear addresses.
    base: u32,
    isa: Verx10,
    /// An instruction that must not stop the thread again.
    pass: Option<u32>,
    /// What the host's debugger asks for.
    pub(super) orders: Option<Orders>,
}

impl Breakpoints {
    /// The breakpoints for a thread whose kernels lie at `base`.
    pub(super) fn new(
        registers: IcBreakpoints,
        base: u32,
        isa: Verx10,
        orders: Option<Orders>,
    ) -> Self {
        Breakpoints {
            registers,
            base,
            isa,
            pass: None,
            orders,
        }
    }

    /// The host's stop that was met, if it was not a register's.
    pub(super) fn met(&mut self) -> Option<Why> {
        self.orders.as_mut()?.hit.take()
    }

    /// Lets the instruction at `ip` execute: the thread did not take its breakpoint.
    pub(super) fn pass(&mut self, ip: u32) {
        self.pass = Some(ip);
    }
}

impl Observer for Breakpoints {
    const ACTIVE: bool = true;

    fn before_inst(&mut self, _: ThreadId, ip: u32, inst: &Inst) -> bool {
        if self.pass.take() == Some(ip) {
            return false;
        }
        let immediate = inst.send.and_then(|send| send.imm);
        let fetch = Fetch {
            address: self.base.wrapping_add(ip),
            opcode: inst
                .opcode
                .desc(self.isa)
                .map_or(0, |row| u32::from(row.hw)),
            end_of_thread: inst.opcode == Opcode::Send && immediate.is_some_and(|d| d >> 31 != 0),
        };
        if let Some(orders) = &mut self.orders
            && orders.before(fetch.address, fetch.opcode, fetch.end_of_thread)
        {
            return true;
        }
        self.registers.hit(fetch)
    }

    fn after_inst(&mut self, _: ThreadId, _: u32, _: &Inst) {
        if let Some(orders) = &mut self.orders {
            orders.after();
        }
    }
}
