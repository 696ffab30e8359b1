//! How threads stand: which are alive, which can run, why others cannot.
//!
//! PRM: volume 4, 2.4 (dispatch).

use eu::ThreadId;

use super::{Slot, SlotId, SlotState, Td};
use crate::intel::status::Unit;

/// Why the thread in a slot stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// It does not: it can run.
    Ready,
    /// For notification register `n`, which is zero.
    Wait(u8),
    /// A shared function did not take its message; the function's ID is in the `send`.
    Busy,
    /// It comes back to where it was with nothing changed, until somebody writes its registers.
    Loops,
    /// For ever.
    Hung,
}

/// A thread as reports show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Who asked for it.
    pub unit: Unit,
    /// Which EU and thread.
    pub id: ThreadId,
    /// Kernel start pointer.
    pub kernel: u32,
    /// Next instruction.
    pub ip: u32,
    /// Why it stands.
    pub pause: Pause,
}

impl Slot {
    /// Graphics addresses of the thread's kernel and of the instruction it stands at.
    pub(super) fn addresses(&self) -> [u32; 2] {
        let base = self.context.bases.kernels();
        [self.kernel, self.thread.ip()].map(|at| base.wrapping_add(at))
    }

    pub(super) fn pause(&self) -> Pause {
        match self.state {
            SlotState::Hung(_) => return Pause::Hung,
            SlotState::Loops => return Pause::Loops,
            SlotState::Free | SlotState::Running => {}
        }
        match self.pause {
            Pause::Wait(n) if self.thread.notified(n) => Pause::Ready,
            pause => pause,
        }
    }
}

impl Td {
    /// Threads that can never end, with the unit, the addresses of kernel and instruction, and the reason.
    pub fn hung(&self) -> impl Iterator<Item = (Unit, u32, u32, &str)> {
        self.slots.iter().filter_map(|s| match &s.state {
            SlotState::Hung(why) => {
                let [kernel, at] = s.addresses();
                Some((s.unit, kernel, at, why.as_str()))
            }
            SlotState::Free | SlotState::Running | SlotState::Loops => None,
        })
    }

    /// Threads that run, with the unit, and the kernel and the instruction they stand at, both from the base of kernels.
    pub fn running(&self) -> impl Iterator<Item = (Unit, u32, u32)> {
        self.slots
            .iter()
            .filter(|s| matches!(s.state, SlotState::Running | SlotState::Loops))
            .map(|s| (s.unit, s.kernel, s.thread.ip()))
    }

    /// The same with graphics addresses.
    pub fn running_addresses(&self) -> impl Iterator<Item = (Unit, u32, u32)> {
        let running = |s: &&Slot| matches!(s.state, SlotState::Running | SlotState::Loops);
        self.slots.iter().filter(running).map(|s| {
            let [kernel, at] = s.addresses();
            (s.unit, kernel, at)
        })
    }

    /// Whether the thread in a slot can run, and why not.
    pub fn pause(&self, id: SlotId) -> Pause {
        self.slots[usize::from(id.0) % self.slots.len()].pause()
    }

    /// Every thread that is alive.
    pub fn standing(&self) -> impl Iterator<Item = Standing> {
        let alive = |s: &&Slot| s.state != SlotState::Free;
        self.slots.iter().filter(alive).map(|s| Standing {
            unit: s.unit,
            id: s.thread.id(),
            kernel: s.kernel,
            ip: s.thread.ip(),
            pause: s.pause(),
        })
    }

    /// Whether every thread that is alive waits for another one, or goes round in a loop, and the host for none of them.
    pub fn waits_for_itself(&self) -> bool {
        let for_others = |pause| matches!(pause, Pause::Wait(0) | Pause::Loops);
        self.standing().all(|thread| for_others(thread.pause))
    }

    /// Why the thread in a slot can never end; `None` when it can.
    pub fn hung_reason(&self, id: SlotId) -> Option<&str> {
        match &self.slots[usize::from(id.0) % self.slots.len()].state {
            SlotState::Hung(why) => Some(why),
            SlotState::Free | SlotState::Running | SlotState::Loops => None,
        }
    }
}
