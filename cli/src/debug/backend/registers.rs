//! The hardware's side: debug registers, the system routine, scratch memory.
//!
//! PRM: volume 4, 3.4.1, 3.4.4, 3.5, 3.6, 12. Threads have the model's names, which no register tells. Not modelled:
//! watches, vertices by index; both are the host's alone.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use driver::debug::breakpoint::ends_thread;
use driver::debug::{self, DebugSession, HaltMatch, HaltedThread, Threads, Which};
use isa::Inst;
use mmio_mock::debug::host::ThreadKey;
use mmio_mock::status::Unit;
use mmio_mock::td::debugger::Info;

use super::{Backend, Going, Reason, Slot, Spec, Stop};
use crate::debug::gate::{Held, Holder};
use crate::debug::registers::Registers;
use crate::debug::target::Reach;
use crate::debug::{Answer, Refusal};

/// Registers of each kind that the hardware has.
const EACH: usize = 2;
/// Sequence numbers in r0.6 and r0.7.
const SEQUENCE: u32 = 0x00ff_ffff;

/// A thread that is stepped.
#[derive(Clone, Copy, Debug)]
struct Travel {
    key: ThreadKey,
    slot: Slot,
    left: u64,
    /// The instruction that it executes ends it.
    ends: bool,
}

#[derive(Default)]
struct Inner {
    reach: Option<Reach>,
    session: Option<DebugSession>,
    specs: Vec<(u32, Spec)>,
    stop: Option<Stop>,
    travel: Option<Travel>,
    /// Instructions of threads that have been followed from their first.
    counts: BTreeMap<ThreadKey, u64>,
}

/// What becomes of a halted thread.
enum Verdict {
    Stop(Reason),
    Step,
    Resume,
}

/// Stops threads as a debugger of the real part would.
#[derive(Default)]
pub struct RegistersBackend(Mutex<Inner>);

fn failed(what: &str) -> impl FnOnce(kernel::error::Error) -> Refusal + '_ {
    move |error| Refusal(format!("{what}: {error}"))
}

fn slot_of(thread: &HaltedThread) -> Slot {
    Slot {
        eu: thread.place.eu,
        slot: thread.place.slot,
    }
}

impl Inner {
    fn session(&self) -> Answer<&DebugSession> {
        self.session
            .as_ref()
            .ok_or_else(|| Refusal::of("there is no device"))
    }

    fn halted(&self) -> Answer<Vec<HaltedThread>> {
        self.session()?.halted().map_err(failed("halted threads"))
    }

    fn halted_at(&self, slot: Slot) -> Answer<HaltedThread> {
        let found = self.halted()?.into_iter().find(|t| slot_of(t) == slot);
        found.ok_or_else(|| {
            Refusal::of("the thread has not halted: the debug registers show halted threads only")
        })
    }

    fn info(&self, slot: Slot) -> Option<Info> {
        let reach = self.reach.as_ref()?;
        let infos = reach.with_device(|device| device.threads());
        infos
            .into_iter()
            .find(|info| (info.id.eu, info.id.slot) == (slot.eu, slot.slot))
    }

    /// Whether a new place among the specs is one the hardware has.
    fn check(&self, spec: Spec) -> Answer<()> {
        let like = |wanted: fn(&Spec) -> bool| self.specs.iter().filter(|(_, s)| wanted(s)).count();
        let full = match spec {
            Spec::Address(_) => like(|s| matches!(s, Spec::Address(_))) >= EACH,
            Spec::Opcode(_) => like(|s| matches!(s, Spec::Opcode(_))) >= EACH,
            Spec::Vertex(_) => {
                return Err("the debug registers know vertices by sequence numbers, not by their index: that needs `--backend host`".into());
            }
            Spec::Memory(..) | Spec::Register(..) => {
                return Err("the hardware has no watches: that needs `--backend host`".into());
            }
            _ => false,
        };
        if full {
            return Err(format!("the hardware has {EACH} breakpoints of the kind").into());
        }
        Ok(())
    }

    /// Sets the registers as the specs want them.
    fn configure(&self) -> Answer<()> {
        let session = self.session()?;
        let mut addresses = self.specs.iter().filter_map(|(_, s)| match s {
            Spec::Address(address) => Some(*address),
            _ => None,
        });
        let mut opcodes = self.specs.iter().filter_map(|(_, s)| match s {
            Spec::Opcode(opcode) => u8::try_from(*opcode).ok(),
            _ => None,
        });
        for which in [Which::First, Which::Second] {
            session
                .set_address_breakpoint(which, addresses.next())
                .map_err(failed("address breakpoint"))?;
            session
                .set_opcode_breakpoint(which, opcodes.next())
                .map_err(failed("opcode breakpoint"))?;
        }
        let ends = self.specs.iter().any(|(_, s)| *s == Spec::EndOfThread);
        session.set_end_of_thread_breakpoint(ends);
        // Decided when a thread begins: breakpoints may be set later.
        session.set_threads(Threads::All);
        let begins = self.specs.iter().any(|(_, s)| {
            matches!(
                s,
                Spec::Pixel(..) | Spec::Object(_) | Spec::Thread(_) | Spec::Instruction(..)
            )
        });
        // Every thread halts before its first instruction; those that nobody wants go on at once.
        session.halt_on_match(begins.then(HaltMatch::default));
        Ok(())
    }

    fn judge(&mut self, thread: &HaltedThread) -> Answer<Verdict> {
        let slot = slot_of(thread);
        let Some(info) = self.info(slot) else {
            return Ok(Verdict::Resume);
        };
        let key = info.key;
        let begins = thread.reason.external_halt;
        if begins {
            self.counts.insert(key, 0);
        } else if let Some(count) = self.counts.get_mut(&key) {
            *count += 1;
        }
        let stepped = match &mut self.travel {
            Some(travel) if travel.key == key => {
                travel.left = travel.left.saturating_sub(1);
                Some(travel.left)
            }
            _ => None,
        };
        let base = info.context.bases.general_state_base;
        let address = base.wrapping_add(thread.ip);
        let words = thread.instruction().map_err(failed("instruction"))?;
        let inst = decode(info_isa(self)?, &words);
        let opcode = words.first().copied().unwrap_or(0) & 0x7f;
        let count = self.counts.get(&key).copied();
        let registers = if begins {
            Some(thread.read_registers().map_err(failed("registers"))?)
        } else {
            None
        };
        // In the order in which the host's side looks: places of instructions, then threads, then steps.
        let at = |spec: &Spec| match *spec {
            Spec::Address(wanted) => wanted == address,
            Spec::Opcode(wanted) => wanted == opcode,
            Spec::EndOfThread => inst.as_ref().is_some_and(ends_thread),
            _ => false,
        };
        let first = |spec: &Spec| match (*spec, &registers) {
            (Spec::Instruction(wanted, wanted_count), _) => {
                wanted == key && count == Some(wanted_count)
            }
            (Spec::Thread(unit), Some(_)) => unit == key.unit,
            (Spec::Pixel(x, y), Some(registers)) => covers(key.unit, registers, x, y),
            (Spec::Object(ordinal), Some(registers)) => {
                object(key.unit, registers) == Some(ordinal)
            }
            _ => false,
        };
        let found = self.specs.iter().find(|(_, s)| at(s));
        let found = found.or_else(|| self.specs.iter().find(|(_, s)| first(s)));
        if let Some((number, _)) = found {
            return Ok(Verdict::Stop(Reason::Break(*number)));
        }
        if stepped == Some(0) {
            return Ok(Verdict::Stop(Reason::Stepped));
        }
        let on_the_way = self.specs.iter().any(|(_, s)| match *s {
            Spec::Instruction(wanted, wanted_count) => {
                wanted == key && count.is_some_and(|count| count < wanted_count)
            }
            _ => false,
        });
        if stepped.is_some() || on_the_way {
            if let Some(travel) = &mut self.travel
                && travel.key == key
            {
                travel.ends = inst.as_ref().is_some_and(ends_thread);
            }
            return Ok(Verdict::Step);
        }
        // From here on nobody counts.
        self.counts.remove(&key);
        Ok(Verdict::Resume)
    }

    /// Looks at every halted thread; whether one of them is what was waited for.
    fn look(&mut self) -> Answer<Held> {
        if self.stop.is_some() {
            return Ok(Held::Yes);
        }
        if let Some(travel) = self.travel
            && travel.ends
            && self
                .info(travel.slot)
                .is_none_or(|info| info.key != travel.key)
        {
            self.travel = None;
            self.stop = Some(Stop {
                thread: Some((travel.key, travel.slot)),
                reason: Reason::Ended,
            });
            return Ok(Held::Yes);
        }
        let mut held = Held::No;
        for thread in self.halted()? {
            held = Held::Passed;
            match self.judge(&thread)? {
                Verdict::Stop(reason) => {
                    let slot = slot_of(&thread);
                    let key = self.info(slot).map(|info| info.key);
                    self.travel = None;
                    self.stop = Some(Stop {
                        thread: key.map(|key| (key, slot)),
                        reason,
                    });
                    return Ok(Held::Yes);
                }
                Verdict::Step => thread.step().map_err(failed("step"))?,
                Verdict::Resume => thread.resume().map_err(failed("resume"))?,
            }
        }
        Ok(held)
    }
}

fn info_isa(inner: &Inner) -> Answer<isa::inst::Verx10> {
    let reach = inner.reach.as_ref().ok_or("there is no device")?;
    Ok(reach.with_device(|device| device.info().isa))
}

fn decode(isa: isa::inst::Verx10, words: &[u32]) -> Option<Inst> {
    let words: [u32; 4] = words.try_into().ok()?;
    isa::decode(isa, words).ok()
}

/// Whether a pixel shader payload has the subspan of a pixel among its lit ones: r1.2 to r1.5 (PRM vol4 5.10.6.3).
fn covers(unit: Unit, registers: &debug::Registers, x: u16, y: u16) -> bool {
    let [_, r1, ..] = &registers.grf;
    let lit = registers.state[1];
    let wanted = u32::from(x & !1) | u32::from(y & !1) << 16;
    unit == Unit::Wiz && (0..4).any(|n| lit >> (n * 4) & 15 != 0 && r1[n + 2] == wanted)
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

fn of_driver(registers: &debug::Registers) -> Registers {
    let masks = &registers.masks;
    let [amask, imask, lmask, cmask] = masks.current;
    let [ims, lms, cms] = masks.stacks;
    let [imsd, lmsd] = masks.depths;
    Registers {
        grf: registers.grf.to_vec(),
        mrf: registers.mrf.to_vec(),
        address: registers.address,
        acc: registers.acc,
        flag: registers.flags,
        masks: eu::Masks {
            amask,
            imask,
            lmask,
            cmask,
            ims,
            lms,
            cms,
            imsd,
            lmsd,
        },
        control: registers.control,
        notification: registers.notification,
        ip: registers.ip(),
    }
}

impl RegistersBackend {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Holder for RegistersBackend {
    fn held(&self) -> Held {
        self.lock().look().unwrap_or_else(|refusal| {
            // A device that is lost holds nothing.
            log::debug!("{refusal}");
            Held::No
        })
    }
}

impl Backend for RegistersBackend {
    fn name(&self) -> &'static str {
        "registers"
    }

    fn attach(&self, reach: &Reach, device: &driver::Device) -> Answer<()> {
        let session = device.debug().map_err(failed("debugging session"))?;
        session.reset_counters();
        let mut inner = self.lock();
        *inner = Inner {
            reach: Some(reach.clone()),
            session: Some(session),
            ..Inner::default()
        };
        inner.configure()
    }

    fn add(&self, number: u32, spec: Spec) -> Answer<()> {
        let mut inner = self.lock();
        inner.check(spec)?;
        inner.specs.push((number, spec));
        inner.configure()
    }

    fn remove(&self, number: u32) {
        let mut inner = self.lock();
        inner.specs.retain(|(other, _)| *other != number);
        // A device that is gone has no breakpoints.
        let _ = inner.configure();
    }

    fn stopped(&self) -> Option<Stop> {
        self.lock().stop
    }

    fn count(&self, key: ThreadKey) -> Option<u64> {
        self.lock().counts.get(&key).copied()
    }

    fn read(&self, slot: Slot) -> Answer<Registers> {
        let thread = self.lock().halted_at(slot)?;
        let registers = thread.read_registers().map_err(failed("registers"))?;
        Ok(of_driver(&registers))
    }

    fn write(&self, slot: Slot, registers: &Registers) -> Answer<()> {
        let thread = self.lock().halted_at(slot)?;
        let mut all = thread.read_registers().map_err(failed("registers"))?;
        for (to, from) in all.grf.iter_mut().zip(&registers.grf) {
            *to = *from;
        }
        for (to, from) in all.mrf.iter_mut().zip(&registers.mrf) {
            *to = *from;
        }
        all.address = registers.address;
        all.flags = registers.flag;
        let masks = &registers.masks;
        all.masks = debug::Masks {
            current: [masks.amask, masks.imask, masks.lmask, masks.cmask],
            stacks: [masks.ims, masks.lms, masks.cms],
            depths: [masks.imsd, masks.lmsd],
        };
        all.control[2] = registers.ip;
        thread.write_registers(&all).map_err(failed("registers"))
    }

    fn go(&self, thread: Option<(ThreadKey, Slot)>, going: Going) -> Answer<()> {
        let mut inner = self.lock();
        let thread = match thread {
            Some(thread) => Some(thread),
            None => inner.stop.and_then(|stop| stop.thread),
        };
        let left = match going {
            Going::Continue => None,
            Going::Step(count) => Some(count),
            Going::Finish => Some(u64::MAX),
        };
        let halted = thread.map(|(_, slot)| inner.halted_at(slot));
        let travel = match (thread, &halted, left) {
            (Some((key, slot)), Some(Ok(halted)), Some(left)) => {
                let words = halted.instruction().map_err(failed("instruction"))?;
                let inst = decode(info_isa(&inner)?, &words);
                let ends = inst.as_ref().is_some_and(ends_thread);
                Some(Travel {
                    key,
                    slot,
                    left,
                    ends,
                })
            }
            (Some(_), Some(Err(refusal)), Some(_)) => return Err(refusal.clone()),
            _ => None,
        };
        inner.stop = None;
        inner.travel = travel;
        if let Some(Ok(halted)) = halted {
            let on_the_way = inner.specs.iter().any(|(_, s)| {
                matches!(s, Spec::Instruction(key, _) if thread.is_some_and(|(other, _)| other == *key))
            });
            if let Some((key, _)) = thread
                && travel.is_none()
                && !on_the_way
            {
                inner.counts.remove(&key);
            }
            let done = if travel.is_some() || on_the_way {
                halted.step()
            } else {
                halted.resume()
            };
            done.map_err(failed("the thread does not go on"))?;
        }
        Ok(())
    }

    fn stop(&self) {
        self.lock().stop.get_or_insert(Stop {
            thread: None,
            reason: Reason::Asked,
        });
    }

    fn detach(&self, go: &mut dyn FnMut()) {
        let (session, reach) = {
            let mut inner = self.lock();
            let all = std::mem::take(&mut *inner);
            (all.session, all.reach)
        };
        // Halted threads leave the system routine only while the device runs: by itself, or because the end of the
        // session waits for it. A replay would take what still stands for a hang.
        if matches!(reach, Some(Reach::Live(_))) {
            go();
            drop(session);
        } else {
            drop(session);
            go();
        }
    }
}
