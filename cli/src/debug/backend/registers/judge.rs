//! What becomes of threads that have halted.
//!
//! PRM: volume 4, 3.3.5, 3.3.8, 3.3.9, 3.6, 5.10.6.3. In the order in which the host's side looks: watches, places of
//! instructions, threads, steps. Not modelled: which of the debug registers it was, the hardware does not say.

use driver::debug::breakpoint::ends_thread;
use driver::debug::{self, HaltedThread};
use mmio_mock::intel::debug::host::ThreadKey;
use mmio_mock::intel::status::Unit;

use super::{Inner, failed, registers_of, slot_of};
use crate::debug::Answer;
use crate::debug::backend::{Reason, Slot, Spec, Stop};
use crate::debug::gate::Held;

/// Sequence numbers in r0.6 and r0.7.
const SEQUENCE: u32 = 0x00ff_ffff;
/// Looks until the others go on although a thread is on its way.
const PATIENCE: u32 = 256;

/// A thread that is about to begin.
struct Beginning {
    /// When somebody asks for what is in them.
    registers: Option<debug::Registers>,
    /// Indices of the vertices that it shades, when somebody wants to know.
    vertices: Vec<u32>,
}

impl Beginning {
    fn is_for(&self, spec: Spec, unit: Unit) -> bool {
        match (spec, &self.registers) {
            (Spec::Thread(wanted), _) => wanted == unit,
            (Spec::Vertex(index), _) => self.vertices.contains(&index),
            (Spec::Pixel(x, y), Some(registers)) => covers(unit, registers, x, y),
            (Spec::Object(ordinal), Some(registers)) => object(unit, registers) == Some(ordinal),
            // Which thread of its group it is stands in no register that all kernels have.
            (Spec::Group(group, None), Some(registers)) => in_group(unit, registers, group),
            _ => false,
        }
    }
}

/// Whether a pixel shader payload has the subspan of a pixel among its lit ones: r1.2 to r1.5 (PRM vol4 5.10.6.3).
fn covers(unit: Unit, registers: &debug::Registers, x: u16, y: u16) -> bool {
    let [_, r1, ..] = &registers.grf;
    let lit = registers.state[1];
    let wanted = u32::from(x & !1) | u32::from(y & !1) << 16;
    unit == Unit::Wiz && (0..4).any(|n| lit >> (n * 4) & 15 != 0 && r1[n + 2] == wanted)
}

/// Whether a thread is of a group, whose number is in r0.1, r0.6 and r0.7 (Mesa brw_fs.cpp `emit_work_group_id_setup`).
fn in_group(unit: Unit, registers: &debug::Registers, group: [u32; 3]) -> bool {
    let [r0, ..] = &registers.grf;
    unit == Unit::Media && [r0[1], r0[6], r0[7]] == group
}

/// Number of the object that a setup or a pixel shader thread is for: r0.6, r0.7 (PRM vol4 3.3.8, 3.3.9).
fn object(unit: Unit, registers: &debug::Registers) -> Option<u64> {
    let [r0, ..] = &registers.grf;
    match unit {
        Unit::Sf => Some(u64::from(r0[6] & SEQUENCE)),
        Unit::Wiz => Some(u64::from(r0[7] & SEQUENCE)),
        _ => None,
    }
}

impl Inner {
    /// Whether somebody has to look at a thread after each of its instructions.
    pub(super) fn follows(&self, key: ThreadKey) -> bool {
        let count = self.counts.get(&key);
        self.wants(|spec| match *spec {
            Spec::Memory(..) => true,
            Spec::Register(wanted, ..) => wanted == key,
            Spec::Instruction(wanted, until) => {
                wanted == key && count.is_some_and(|count| *count < until)
            }
            _ => false,
        })
    }

    /// What a thread that stands before its first instruction is for.
    fn beginning(&self, thread: &HaltedThread, unit: Unit) -> Answer<Beginning> {
        let vertices = match &self.vertices {
            Some(vertices) if unit == Unit::Vs => {
                vertices.of(thread).map_err(failed("vertices"))?
            }
            _ => Vec::new(),
        };
        let read = self.wants(|spec| {
            matches!(
                spec,
                Spec::Pixel(..) | Spec::Object(_) | Spec::Group(_, None)
            )
        });
        let registers = read.then(|| registers_of(thread)).transpose()?;
        Ok(Beginning {
            registers,
            vertices,
        })
    }

    /// Why a halted thread stands, unless nobody wants it to.
    fn judge(
        &mut self,
        thread: &HaltedThread,
        key: ThreadKey,
        base: u32,
    ) -> Answer<Option<Reason>> {
        let begins = thread.reason.external_halt;
        if begins {
            self.counts.insert(key, 0);
        } else if let Some(count) = self.counts.get_mut(&key) {
            *count += 1;
        }
        let stepped = match &mut self.travel {
            Some(travel) if travel.key == key => {
                travel.left = travel.left.saturating_sub(1);
                travel.left == 0
            }
            _ => false,
        };
        if let Some(number) = self.change(thread, key)? {
            return Ok(Some(Reason::Break(number)));
        }
        let address = base.wrapping_add(thread.ip);
        let (opcode, inst) = self.instruction(thread)?;
        let count = self.counts.get(&key).copied();
        let beginning = if begins {
            Some(self.beginning(thread, key.unit)?)
        } else {
            None
        };
        let at = |spec: Spec| match spec {
            Spec::Address(wanted) => wanted == address,
            Spec::Opcode(wanted) => wanted == opcode,
            Spec::EndOfThread => inst.as_ref().is_some_and(ends_thread),
            _ => false,
        };
        let first = |spec: Spec| match spec {
            Spec::Instruction(wanted, until) => wanted == key && count == Some(until),
            _ => beginning
                .as_ref()
                .is_some_and(|it| it.is_for(spec, key.unit)),
        };
        let found = self.specs.iter().find(|(_, spec)| at(*spec));
        let found = found.or_else(|| self.specs.iter().find(|(_, spec)| first(*spec)));
        Ok(match found {
            Some((number, _)) => Some(Reason::Break(*number)),
            None => stepped.then_some(Reason::Stepped),
        })
    }

    fn stop_for(&mut self, thread: Option<(ThreadKey, Slot)>, reason: Reason) -> Held {
        self.travel = None;
        self.stop = Some(Stop { thread, reason });
        Held::Yes
    }

    /// Threads that have ended with the instruction that they were to execute.
    fn look_at_ends(&mut self) -> Option<Held> {
        let under_way = std::mem::take(&mut self.under_way);
        let lives = |(key, slot): &(ThreadKey, Slot)| {
            self.info_at(*slot).is_some_and(|info| info.key == *key)
        };
        let (left, ended) = under_way.into_iter().partition(lives);
        self.under_way = left;
        let ended: Vec<(ThreadKey, Slot)> = ended;
        let last = *ended.last()?;
        let travelled =
            |(key, _): &&(ThreadKey, Slot)| self.travel.is_some_and(|travel| travel.key == *key);
        let travelled = ended.iter().find(travelled).copied();
        let (thread, reason) = match (self.memory_change(), travelled) {
            (Some(number), thread) => (thread.unwrap_or(last), Reason::Break(number)),
            (None, Some(thread)) => (thread, Reason::Ended),
            (None, None) => {
                for (key, _) in ended {
                    self.counts.remove(&key);
                }
                return None;
            }
        };
        Some(self.stop_for(Some(thread), reason))
    }

    /// Whether threads take turns, so that it is known who has changed memory: one that waits for others does not keep
    /// them for ever.
    fn goes_alone(&mut self) -> bool {
        self.waited = (self.waited + 1) % PATIENCE;
        self.waited != 0 && self.wants(|spec| matches!(spec, Spec::Memory(..)))
    }

    /// Looks at every halted thread; whether one of them is what was waited for.
    pub(super) fn look(&mut self) -> Answer<Held> {
        if self.stop.is_some() {
            return Ok(Held::Yes);
        }
        if let Some(held) = self.look_at_ends() {
            return Ok(held);
        }
        if self.under_way.is_empty()
            && let Some(number) = self.memory_change()
        {
            // Nobody has executed anything since the last look: it was a unit without threads.
            return Ok(self.stop_for(None, Reason::Break(number)));
        }
        let mut held = Held::No;
        let alone = self.goes_alone();
        for thread in self.halted()? {
            held = Held::Passed;
            let slot = slot_of(&thread);
            let Some(info) = self.info_at(slot) else {
                thread.resume().map_err(failed("resume"))?;
                continue;
            };
            let key = info.key;
            if alone && !self.under_way.is_empty() && !self.under_way.contains(&(key, slot)) {
                continue;
            }
            self.waited = 0;
            let base = info.context.bases.kernels();
            if let Some(reason) = self.judge(&thread, key, base)? {
                return Ok(self.stop_for(Some((key, slot)), reason));
            }
            self.go_on(&thread, key)?;
        }
        Ok(held)
    }
}
