//! The host's side: rules of the model's own debugger.
//!
//! PRM: none of it; registers and threads are the model's own. Not modelled: what real hardware could not do.

use std::sync::{Mutex, MutexGuard, PoisonError};

use mmio_mock::Device;
use mmio_mock::Model;
use mmio_mock::intel::debug::host::{Go, Host, Rule, RuleId, ThreadKey, Why};

use regs::any::reg::INSTPM;

use super::{Backend, Going, Reason, Slot, Spec, Stop};
use crate::debug::gate::{Held, Holder};
use crate::debug::registers::Registers;
use crate::debug::target::Reach;
use crate::debug::{Answer, Refusal};

/// INSTPM: the global debug enable (PRM vol4 3.2.1).
const GLOBAL_DEBUG_ENABLE: u32 = 1 << 4;

#[derive(Default)]
struct Inner {
    reach: Option<Reach>,
    /// Numbers of breakpoints and their rules.
    rules: Vec<(u32, RuleId)>,
}

/// Stops threads by rules that no guest sees.
#[derive(Default)]
pub struct HostBackend(Mutex<Inner>);

impl HostBackend {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reach(&self) -> Answer<Reach> {
        let reach = self.lock().reach.clone();
        reach.ok_or_else(|| Refusal::of("there is no device"))
    }

    fn with_host<T>(&self, look: impl FnOnce(&mut Host) -> T) -> Answer<T> {
        let found = self
            .reach()?
            .with_device(|device| device.debugger().map(look));
        found.ok_or_else(|| Refusal::of("the device has no debugger"))
    }
}

const fn rule(spec: Spec) -> Rule {
    match spec {
        Spec::Opcode(opcode) => Rule::Opcode(opcode),
        Spec::EndOfThread => Rule::EndOfThread,
        Spec::Address(address) => Rule::Address(address),
        Spec::Pixel(x, y) => Rule::Subspan { x, y },
        Spec::Vertex(index) => Rule::Vertex(index),
        Spec::Object(ordinal) => Rule::Object(ordinal),
        Spec::Group(group, thread) => Rule::Group { group, thread },
        Spec::Invocation(group, invocation) => Rule::Invocation { group, invocation },
        Spec::Patch(patch) => Rule::Patch(patch),
        Spec::Point(patch, point) => Rule::Point { patch, point },
        Spec::Geometry(object, instance) => Rule::Geometry { object, instance },
        Spec::Thread(unit) => Rule::Dispatch(unit),
        Spec::Memory(addr, bytes) => Rule::Memory { addr, bytes },
        Spec::Register(key, register, dword) => Rule::Register {
            key,
            register,
            dword,
        },
        Spec::Instruction(key, count) => Rule::Instruction { key, count },
    }
}

impl Holder for HostBackend {
    fn held(&self) -> Held {
        match self.with_host(|host| host.stopped()) {
            Ok(Some(_)) => Held::Yes,
            _ => Held::No,
        }
    }
}

impl Backend for HostBackend {
    fn name(&self) -> &'static str {
        "host"
    }

    fn attach(&self, reach: &Reach, _: Option<&driver::Device>) -> Answer<()> {
        reach.with_device(|device| device.set_debugger(true));
        *self.lock() = Inner {
            reach: Some(reach.clone()),
            rules: Vec::new(),
        };
        // Payloads carry what they would under the debug registers.
        self.number();
        Ok(())
    }

    fn number(&self) {
        if let Ok(reach) = self.reach() {
            reach.with_device(Device::number_threads);
        }
    }

    fn add(&self, number: u32, spec: Spec) -> Answer<()> {
        let id = self.with_host(|host| host.add(rule(spec)))?;
        if matches!(spec, Spec::Memory(..)) {
            self.reach()?.with_device(Device::look_first);
        }
        self.lock().rules.push((number, id));
        Ok(())
    }

    fn remove(&self, number: u32) {
        let mut inner = self.lock();
        let (gone, kept) = inner.rules.iter().partition(|(other, _)| *other == number);
        let gone: Vec<(u32, RuleId)> = gone;
        inner.rules = kept;
        drop(inner);
        for (_, id) in gone {
            // Without a device there are no rules either.
            let _ = self.with_host(|host| host.remove(id));
        }
    }

    fn stopped(&self) -> Option<Stop> {
        let stopped = self.with_host(|host| host.stopped()).ok()??;
        let inner = self.lock();
        let number = |id| {
            let found = inner.rules.iter().find(|(_, other)| *other == id);
            found.map(|(number, _)| *number)
        };
        let reason = match stopped.why {
            Why::Rule(id) => number(id).map_or(Reason::Asked, Reason::Break),
            Why::Stepped => Reason::Stepped,
            Why::Ended => Reason::Ended,
            Why::Asked => Reason::Asked,
        };
        let thread = stopped.thread;
        Some(Stop {
            thread: thread.map(|(key, eu, slot)| (key, Slot { eu, slot })),
            reason,
        })
    }

    fn count(&self, key: ThreadKey) -> Option<u64> {
        let infos = self.reach().ok()?.with_device(|device| device.threads());
        let info = infos.iter().find(|info| info.key == key)?;
        Some(info.instructions)
    }

    fn read(&self, slot: Slot) -> Answer<Registers> {
        let found = self
            .reach()?
            .with_device(|device| device.thread(slot.eu, slot.slot).map(Registers::of));
        found.ok_or_else(|| Refusal::of("there is no such thread"))
    }

    fn write(&self, slot: Slot, registers: &Registers) -> Answer<()> {
        let done = self.reach()?.with_device(|device| {
            let thread = device.thread_mut(slot.eu, slot.slot)?;
            for (to, from) in thread.grf_mut().iter_mut().zip(&registers.grf) {
                *to = *from;
            }
            for (to, from) in thread.mrf_mut().iter_mut().zip(&registers.mrf) {
                *to = *from;
            }
            thread.set_flag(registers.flag);
            if let Some(flag) = registers.second_flag {
                thread.set_second_flag(flag);
            }
            thread.set_address(registers.address);
            if thread.view().masks != registers.masks {
                thread.set_masks(registers.masks);
            }
            thread.set_ip(registers.ip);
            Some(())
        });
        done.ok_or_else(|| Refusal::of("there is no such thread"))
    }

    fn go(&self, thread: Option<(ThreadKey, Slot)>, going: Going) -> Answer<()> {
        let how = match going {
            Going::Continue => Go::Continue,
            Going::Step(count) => Go::Step(count),
            Going::Finish => Go::Finish,
        };
        self.with_host(|host| {
            let stopped = host.stopped().and_then(|stopped| stopped.thread);
            if let Some((key, slot)) = thread
                && stopped.is_none_or(|(other, ..)| other != key)
            {
                // Another thread than the one that has stopped goes first.
                host.stop(Some((key, slot.eu, slot.slot)), Why::Asked);
            }
            host.go(how);
        })
    }

    fn stop(&self) {
        // A device that is gone stands.
        let _ = self.with_host(|host| {
            if host.stopped().is_none() {
                host.stop(None, Why::Asked);
            }
        });
    }

    fn detach(&self, go: &mut dyn FnMut()) {
        if let Ok(reach) = self.reach() {
            reach.with_device(|device| {
                device.set_debugger(false);
                device.write32(INSTPM.offset(), GLOBAL_DEBUG_ENABLE << 16);
            });
        }
        self.lock().rules.clear();
        go();
    }
}
