//! What a unit borrows of the machine around it while it works.
//!
//! No PRM section: this is the seam that keeps units from holding references to one another.

use crate::debug::DebugRegs;
use crate::fault::UnitFault;
use crate::shared::Shared;
use crate::status::{Client, Status};
use crate::trace::Trace;
use crate::urb::Urb;

/// Short-lived borrows of everything below the thread dispatcher.
pub struct Machine<'a> {
    /// Graphics memory.
    pub mem: &'a mut mem::Memory,
    /// Unified return buffer.
    pub urb: &'a mut Urb,
    /// Shared functions.
    pub shared: &'a mut Shared,
    /// Debug registers.
    pub debug: &'a mut DebugRegs,
    /// Counters and faults.
    pub status: &'a mut Status,
    /// Event trace.
    pub trace: &'a mut Trace,
    /// EU instructions left in this time slice.
    pub budget: &'a mut u64,
}

impl Machine<'_> {
    /// Records a fault with its place.
    pub fn fault(&mut self, client: Client, fault: UnitFault, place: impl FnOnce() -> String) {
        self.status.fault(client, fault, place);
    }
}
