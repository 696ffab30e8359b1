//! What a unit borrows of the machine around it while it works.
//!
//! Units hold no references to one another; what one needs of another is lent for one step.

use mem::GpuAddr;

use crate::core::fault::UnitFault;
use crate::intel::debug::DebugRegs;
use crate::intel::shared::SharedFunctions;
use crate::intel::status::{Client, Status};
use crate::intel::trace::{Event, Trace};
use crate::intel::urb::Urb;

/// Short-lived borrows of everything below the thread dispatcher.
pub struct Machine<'a> {
    /// Graphics memory.
    pub mem: &'a mut mem::Memory,
    /// Unified return buffer.
    pub urb: &'a mut Urb,
    /// SharedFunctions functions.
    pub shared: &'a mut SharedFunctions,
    /// Debug registers.
    pub debug: &'a mut DebugRegs,
    /// Counters and faults.
    pub status: &'a mut Status,
    /// Event trace.
    pub trace: &'a mut Trace,
    /// Ticks left in this time slice.
    pub budget: &'a mut u64,
    /// Ticks that work has taken beyond its slice; the device pays them before anything else runs.
    pub debt: &'a mut u64,
}

impl Machine<'_> {
    /// Takes the ticks of work that was done. What the slice does not have is owed.
    #[inline]
    pub fn charge(&mut self, ticks: u64) {
        let paid = ticks.min(*self.budget);
        *self.budget -= paid;
        *self.debt = self.debt.saturating_add(ticks - paid);
    }

    /// Notes an event when the trace is on.
    #[inline]
    pub fn note(&mut self, event: Event) {
        self.trace.event_at(*self.budget, event);
    }

    /// Notes that a unit besides the data port has written memory, for sinks.
    #[inline]
    pub fn note_write(&mut self, client: &'static str, addr: GpuAddr, bytes: usize) {
        if self.trace.is_detailed() {
            self.note(Event::Memory {
                client,
                addr: addr.low(),
                // CAST: a command or a row of a blit has fewer.
                bytes: bytes as u32,
                write: true,
            });
        }
    }

    /// Records a fault with its place.
    pub fn fault(&mut self, client: Client, fault: UnitFault, place: impl FnOnce() -> String) {
        self.status.fault(client, fault, place);
    }
}
