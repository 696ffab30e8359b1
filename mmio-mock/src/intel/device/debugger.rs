//! The device under a debugger on the host: stops, threads, their registers.
//!
//! `debug::host` has the rules by which a thread stops.

use std::sync::Arc;

use eu::Thread;
use regs::any::fields;
use regs::ids::RegId;

use super::Device;
use crate::core::memory::lock;
use crate::intel::debug::host::{Host, Why};
use crate::intel::ff::state::PipelineState;
use crate::intel::td::debugger::Info;

impl Device {
    /// Stops everything when a unit without threads has changed watched memory.
    #[inline]
    pub(super) fn watch(&mut self, memory: &mut mem::Memory) {
        if let Some(host) = self.debug.host_mut().filter(|host| host.watches_memory())
            && let Some(id) = host.look(memory)
            && host.stopped().is_none()
        {
            host.stop(None, Why::Rule(id));
        }
    }

    /// Attaches a debugger on the host, or takes it away; stopped threads go on then.
    pub fn set_debugger(&mut self, on: bool) {
        self.debug.set_host(on);
    }

    /// Takes over the debugger of a device in whose place this one comes. Its rules go on; what it has stopped is gone.
    pub fn inherit_debugger(&mut self, old: &mut Device) {
        self.debug.inherit_host(&mut old.debug);
        if self.debug.host().is_some() {
            self.number_threads();
        }
    }

    /// Has units number what they start, as under the debug registers: payloads tell what a thread is for.
    pub fn number_threads(&mut self) {
        let on = fields::INSTPM::GLOBAL_DEBUG_ENABLE::SET.value;
        self.write_register(RegId::Instpm, 0, on << 16 | on);
    }

    /// The debugger's rules and what has stopped, while one is attached.
    pub fn debugger(&mut self) -> Option<&mut Host> {
        self.debug.host_mut()
    }

    /// Looks at memory that has just been watched: what differs from now on has changed.
    pub fn look_first(&mut self) {
        let memory = Arc::clone(&self.memory);
        let space = self.engines.render.cs.space();
        if let Some(host) = self.debug.host_mut() {
            host.look_first(&mut lock(&memory).enter(space));
        }
    }

    /// What commands have latched for the 3D pipeline.
    pub fn pipeline_state(&self) -> &PipelineState {
        &self.ff.state
    }

    /// Every thread that is alive.
    pub fn threads(&self) -> Vec<Info> {
        self.td.infos().collect()
    }

    /// The registers of an EU's thread; `None` when the device has no such EU or slot. A slot without a thread
    /// shows what the last one left.
    pub fn thread(&self, eu: u8, slot: u8) -> Option<&Thread> {
        Some(self.td.thread(self.td.slot_of(eu, slot)?))
    }

    /// The same, to change them. The thread must stand between two instructions, as it does between two calls of
    /// [`run`](Self::run).
    pub fn thread_mut(&mut self, eu: u8, slot: u8) -> Option<&mut Thread> {
        let slot = self.td.slot_of(eu, slot)?;
        Some(self.td.thread_mut(slot))
    }

    /// Forgets decoded instructions: whoever changes kernels behind the device's back has to say so.
    pub fn invalidate_kernels(&mut self) {
        self.td.invalidate();
    }
}
