//! Threads that can never go on: what is reported, of which client of memory.
//!
//! PRM: volume 4, 2.6.2 (send).

use super::{Slot, SlotState, Td};
use crate::core::fault::UnitFault;
use crate::intel::machine::Machine;
use crate::intel::status::Client;

impl Td {
    pub(super) fn hang(
        slot: &mut Slot,
        machine: &mut Machine<'_>,
        why: String,
        fault: impl FnOnce() -> UnitFault,
    ) {
        let unit = slot.unit;
        let [kernel, ip] = slot.addresses();
        let fault = fault();
        let client = client_of(&fault, slot, machine.mem);
        machine.fault(client, fault, || {
            format!(
                "{} thread, kernel {kernel:#010x}, instruction {ip:#010x}",
                unit.name()
            )
        });
        slot.state = SlotState::Hung(why);
    }
}

/// Which memory client a thread's fault belongs to: its instruction fetch, or the shared function
/// that the `send` at its instruction pointer addresses.
fn client_of(fault: &UnitFault, slot: &Slot, memory: &mem::Memory) -> Client {
    let at = slot.context.bases.kernels().wrapping_add(slot.thread.ip());
    match fault {
        UnitFault::Memory(fault) if fault.addr == at.into() => Client::InstructionStateCache,
        // Gen4 send: target function in bits 27:24 of dword 3 (PRM vol4 2.6.2).
        _ => match memory
            .read_u32(mem::GpuAddr::from(at.wrapping_add(12)))
            .map(|d| d >> 24 & 0xf)
        {
            Ok(2) => Client::SamplerCache,
            Ok(4) => Client::ReadOnlyCache,
            _ => Client::RenderCache,
        },
    }
}
