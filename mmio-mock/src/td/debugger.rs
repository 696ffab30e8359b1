//! The dispatcher under a debugger on the host: stops, and what threads show.
//!
//! No PRM section. See `debug::host` for the rules.

use eu::{Grf, ThreadId};

use super::{Pause, Slot, SlotId, SlotState, Td, ThreadRequest};
use crate::debug::host::{Orders, RuleId, Subject, ThreadKey, Why};
use crate::machine::Machine;
use crate::shared::context::ThreadContext;
use crate::status::Unit;
use crate::trace::{Dispatch, Event};

/// What a slot keeps for debuggers.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) ordinal: u64,
    pub(super) subject: Subject,
    /// r0 and r1 as they were dispatched, while a debugger is attached.
    header: [Grf; 2],
    /// The rule that stops the thread before its first instruction.
    first: Option<RuleId>,
    /// The instruction was begun before: a message that the function did not take yet.
    pub(super) again: bool,
}

/// A thread as a debugger sees it.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Its name.
    pub key: ThreadKey,
    /// Where it runs.
    pub id: ThreadId,
    /// What it works on.
    pub subject: Subject,
    /// Kernel start pointer, relative to General State Base Address.
    pub kernel: u32,
    /// What shared functions know of it.
    pub context: ThreadContext,
    /// Instructions that it has executed.
    pub instructions: u64,
    /// Why it stands.
    pub pause: Pause,
    /// r0 and r1 as they were dispatched; zero when no debugger was attached then.
    pub header: [Grf; 2],
}

impl Slot {
    fn key(&self) -> ThreadKey {
        ThreadKey {
            unit: self.unit,
            ordinal: self.kept.ordinal,
        }
    }
}

/// Upper left pixels of the subspans of a pixel shader payload, r1.2 to r1.5 (PRM vol4 5.10.6.3): those with a channel.
fn subspans(request: &ThreadRequest<'_>) -> impl Iterator<Item = (u16, u16)> {
    let pixels = request.unit == Unit::Wiz;
    let r1 = request.header.get(1).copied().unwrap_or_default();
    let mask = request.dispatch_mask;
    let lit = (0..4).filter(move |n| pixels && mask >> (n * 4) & 15 != 0);
    // CAST: two halves of a dword.
    lit.map(move |n| (r1[n + 2] as u16, (r1[n + 2] >> 16) as u16))
}

impl Td {
    /// A thread has been loaded into a slot: notes it for whoever asks.
    pub(super) fn note_dispatch(
        &mut self,
        at: usize,
        request: &ThreadRequest<'_>,
        machine: &mut Machine<'_>,
    ) {
        let slot = &mut self.slots[at];
        let count = &mut machine.status.activity.threads[request.unit as usize];
        slot.kept.ordinal = *count;
        *count += 1;
        slot.kept.subject = request.subject;
        slot.kept.again = false;
        slot.kept.first = None;
        let row = |n| request.header.get(n).copied().unwrap_or_default();
        if let Some(host) = machine.debug.host() {
            slot.kept.header = [row(0), row(1)];
            slot.kept.first = host.at_dispatch(request.unit, request.subject, subspans(request));
        }
        if machine.trace.is_on() {
            let id = slot.thread.id();
            let r1 = row(1);
            machine.note(Event::Dispatch(Dispatch {
                ffid: request.unit.ffid(),
                eu: id.eu,
                slot: id.slot,
                ordinal: slot.kept.ordinal,
                kernel: request.kernel.ip,
                mask: request.dispatch_mask,
                r0: row(0),
                subspans: [r1[2], r1[3], r1[4], r1[5]],
            }));
        }
    }

    /// What the host wants to know of the next run of a slot's thread.
    pub(super) fn orders(&mut self, at: usize, machine: &mut Machine<'_>) -> Option<Orders> {
        let slot = &mut self.slots[at];
        let key = slot.key();
        let host = machine.debug.host_mut()?;
        let (first, again) = (slot.kept.first.take(), slot.kept.again);
        slot.kept.again = false;
        let orders = host.orders(key, slot.instructions, first, again);
        if orders.single {
            // The first look only remembers.
            host.look_at_registers(key, slot.thread.grf());
        }
        Some(orders)
    }

    /// A run is over: what of it the host has to know.
    pub(super) fn after_run(
        slot: &Slot,
        executed: u64,
        why: Option<Why>,
        ended: bool,
        machine: &mut Machine<'_>,
    ) {
        let (key, id) = (slot.key(), slot.thread.id());
        let Some(host) = machine.debug.host_mut() else {
            return;
        };
        let awaited = ended && host.awaits_end(key);
        host.ran(key, executed);
        if let Some(why) = why.or(awaited.then_some(Why::Ended)) {
            host.stop(Some((key, id.eu, id.slot)), why);
        }
    }

    /// The name of the thread in a slot.
    pub(super) fn key(&self, at: usize) -> ThreadKey {
        self.slots[at].key()
    }

    /// The slot of an EU's thread.
    pub fn slot_of(&self, eu: u8, slot: u8) -> Option<SlotId> {
        let per_eu = self.threads_per_eu;
        let at = u16::from(eu) * per_eu + u16::from(slot);
        (u16::from(slot) < per_eu && usize::from(at) < self.slots.len()).then_some(SlotId(at))
    }

    /// Every thread that is alive, as a debugger sees it.
    pub fn infos(&self) -> impl Iterator<Item = Info> {
        let alive = |slot: &&Slot| slot.state != SlotState::Free;
        self.slots.iter().filter(alive).map(|slot| Info {
            key: slot.key(),
            id: slot.thread.id(),
            subject: slot.kept.subject,
            kernel: slot.kernel,
            context: slot.context,
            instructions: slot.instructions,
            pause: slot.pause(),
            header: slot.kept.header,
        })
    }
}
