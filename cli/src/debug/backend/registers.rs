//! The hardware's side: debug registers, the system routine, scratch memory.
//!
//! PRM: volume 4, 3.3.5, 3.4.1, 3.4.4, 3.5, 3.6, 12. Threads have the model's names, which no register tells. Not
//! modelled: watches of the hardware's own, it has none; threads are stepped instead.

mod judge;
mod watch;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use driver::debug::{self, DebugSession, HaltMatch, HaltedThread, Threads, Vertices, Which};
use isa::Inst;
use kernel::error::code::ENODEV;
use mmio_mock::intel::debug::host::ThreadKey;
use mmio_mock::intel::td::debugger::Info;

use super::{Backend, Going, Reason, Slot, Spec, Stop};
use crate::debug::gate::{Held, Holder};
use crate::debug::registers::Registers;
use crate::debug::target::{Reach, of_guest};
use crate::debug::{Answer, Refusal};
use watch::Watched;

/// Registers of each kind that the hardware has.
const EACH: usize = 2;

/// A thread that is stepped, and how many instructions it has left.
#[derive(Clone, Copy, Debug)]
struct Travel {
    key: ThreadKey,
    left: u64,
}

#[derive(Default)]
struct Inner {
    reach: Option<Reach>,
    session: Option<DebugSession>,
    specs: Vec<(u32, Spec)>,
    stop: Option<Stop>,
    travel: Option<Travel>,
    /// Threads that execute one instruction, and have not halted behind it yet.
    under_way: Vec<(ThreadKey, Slot)>,
    /// Looks since one of them has halted.
    waited: u32,
    /// Instructions of threads that have been followed from their first.
    counts: BTreeMap<ThreadKey, u64>,
    /// While vertices are waited for.
    vertices: Option<Vertices>,
    watched: Watched,
}

/// Stops threads as a debugger of the real part would.
#[derive(Default)]
pub struct RegistersBackend(Mutex<Inner>);

/// A device without debug registers answers `ENODEV`.
fn no_registers(device: &driver::Device) -> Refusal {
    Refusal(format!(
        "no public text says what debug registers {} has: the model's own debugger serves it (`--backend host`)",
        device.name()
    ))
}

fn failed(what: &str) -> impl FnOnce(kernel::error::Error) -> Refusal + '_ {
    move |error| Refusal(format!("{what}: {error}"))
}

fn slot_of(thread: &HaltedThread) -> Slot {
    Slot {
        eu: thread.place.eu,
        slot: thread.place.slot,
    }
}

fn registers_of(thread: &HaltedThread) -> Answer<debug::Registers> {
    thread.read_registers().map_err(failed("registers"))
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

    /// The same; a thread of another name may have come to the place meanwhile.
    fn halted_thread(&self, key: ThreadKey, slot: Slot) -> Answer<HaltedThread> {
        match self.info_at(slot) {
            Some(info) if info.key == key => self.halted_at(slot),
            _ => Err(Refusal::of("the thread has ended")),
        }
    }

    fn info(&self, found: impl Fn(&Info) -> bool) -> Option<Info> {
        let reach = self.reach.as_ref()?;
        let infos = reach.with_device(|device| device.threads());
        infos.into_iter().find(found)
    }

    fn info_at(&self, slot: Slot) -> Option<Info> {
        self.info(|info| (info.id.eu, info.id.slot) == (slot.eu, slot.slot))
    }

    fn info_of(&self, key: ThreadKey) -> Option<Info> {
        self.info(|info| info.key == key)
    }

    fn has_begun(&self, key: ThreadKey) -> bool {
        let begun = self.reach.as_ref().map(|reach| {
            let counts = reach.with_device(|device| device.status().activity.threads);
            counts.get(key.unit as usize).copied().unwrap_or(0)
        });
        begun.is_some_and(|begun| begun > key.ordinal)
    }

    fn wants(&self, kind: impl Fn(&Spec) -> bool) -> bool {
        self.specs.iter().any(|(_, spec)| kind(spec))
    }

    /// Whether a new place among the specs is one the hardware has.
    fn check(&self, spec: Spec) -> Answer<()> {
        let like = |wanted: fn(&Spec) -> bool| self.specs.iter().filter(|(_, s)| wanted(s)).count();
        let full = match spec {
            Spec::Address(_) => like(|s| matches!(s, Spec::Address(_))) >= EACH,
            Spec::Opcode(_) => like(|s| matches!(s, Spec::Opcode(_))) >= EACH,
            Spec::Register(key, ..) => {
                if let Some(Info { id, .. }) = self.info_of(key) {
                    let (eu, slot) = (id.eu, id.slot);
                    // A thread that runs cannot be stepped.
                    self.halted_at(Slot { eu, slot })?;
                }
                false
            }
            _ => false,
        };
        if full {
            return Err(format!("the hardware has {EACH} breakpoints of the kind").into());
        }
        Ok(())
    }

    /// Sets the registers as the specs want them.
    fn configure(&mut self) -> Answer<()> {
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
        session.set_end_of_thread_breakpoint(self.wants(|spec| *spec == Spec::EndOfThread));
        // Decided when a thread begins: breakpoints may be set later.
        session.set_threads(Threads::All);
        let begins = self.wants(|spec| match *spec {
            Spec::Address(_) | Spec::Opcode(_) | Spec::EndOfThread => false,
            // In a new run it is still to come.
            Spec::Register(key, ..) => !self.has_begun(key),
            _ => true,
        });
        // Every thread halts before its first instruction; those that nobody wants go on at once.
        session.halt_on_match(begins.then(HaltMatch::default));
        let follows = self.wants(|spec| matches!(spec, Spec::Vertex(_)));
        if follows && self.vertices.is_none() {
            self.vertices = Some(session.follow_vertices().map_err(failed("vertices"))?);
        } else if !follows && let Some(vertices) = self.vertices.take() {
            vertices.end();
        }
        Ok(())
    }

    /// The instruction that a thread stands at: its opcode, and what it is.
    fn instruction(&self, thread: &HaltedThread) -> Answer<(u32, Option<Inst>)> {
        let reach = self.reach.as_ref().ok_or("there is no device")?;
        let isa = reach.with_device(|device| device.info().isa);
        let words = thread.instruction().map_err(failed("instruction"))?;
        let inst = <[u32; 4]>::try_from(words.as_slice()).ok();
        let inst = inst.and_then(|words| isa::decode(isa, words).ok());
        Ok((words.first().copied().unwrap_or(0) & 0x7f, inst))
    }

    /// Lets a halted thread execute one instruction.
    fn step(&mut self, thread: &HaltedThread, key: ThreadKey) -> Answer<()> {
        self.under_way.push((key, slot_of(thread)));
        thread.step().map_err(failed("step"))
    }

    /// Lets a halted thread go on: by one instruction when somebody has to look at it after each.
    fn go_on(&mut self, thread: &HaltedThread, key: ThreadKey) -> Answer<()> {
        let travels = self.travel.is_some_and(|travel| travel.key == key);
        if travels || self.follows(key) {
            if self.watches_registers(key) {
                // What the debugger has changed is no change.
                self.watched
                    .remember(&self.specs, key, &registers_of(thread)?);
            }
            return self.step(thread, key);
        }
        // From here on nobody counts.
        self.counts.remove(&key);
        thread.resume().map_err(failed("resume"))
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
        // No generation whose threads the driver reads has one.
        second_flag: None,
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
        channels: None,
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

    fn attach(&self, reach: &Reach, device: Option<&driver::Device>) -> Answer<()> {
        let device = device.ok_or_else(of_guest)?;
        let session = device.debug().map_err(|error| match error {
            ENODEV => no_registers(device),
            other => failed("debugging session")(other),
        })?;
        session.reset_counters();
        let mut inner = self.lock();
        *inner = Inner {
            reach: Some(reach.clone()),
            session: Some(session),
            ..Inner::default()
        };
        inner.configure()
    }

    fn needs_vs_snapshot(&self, spec: Spec) -> bool {
        matches!(spec, Spec::Vertex(_))
    }

    fn add(&self, number: u32, spec: Spec) -> Answer<()> {
        let mut inner = self.lock();
        inner.check(spec)?;
        inner.specs.push((number, spec));
        inner.remember_memory();
        inner.configure()
    }

    fn remove(&self, number: u32) {
        let mut inner = self.lock();
        inner.specs.retain(|(other, _)| *other != number);
        inner.watched.forget(number);
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
        Ok(of_driver(&registers_of(&thread)?))
    }

    fn write(&self, slot: Slot, registers: &Registers) -> Answer<()> {
        let thread = self.lock().halted_at(slot)?;
        let mut all = registers_of(&thread)?;
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
        let stopped = inner.stop.and_then(|stop| stop.thread);
        let thread = thread.or(stopped);
        let left = match going {
            Going::Continue => None,
            Going::Step(count) => Some(count),
            Going::Finish => Some(u64::MAX),
        };
        if let (Some((key, slot)), Some(_)) = (thread, left) {
            inner.halted_thread(key, slot)?;
        }
        inner.stop = None;
        inner.travel = thread
            .zip(left)
            .map(|((key, _), left)| Travel { key, left });
        // The one that has stopped goes on as well when another one is stepped.
        let other = stopped.filter(|other| Some(*other) != thread);
        for (key, slot) in thread.into_iter().chain(other) {
            // It may have ended.
            if let Ok(halted) = inner.halted_thread(key, slot) {
                inner.go_on(&halted, key)?;
            }
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
            if let Some(vertices) = all.vertices {
                vertices.end();
            }
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
