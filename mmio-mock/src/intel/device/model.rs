//! The device as shell, platform and tools see it.
//!

use std::sync::Arc;

use super::Device;
use crate::core::memory::lock;
use crate::core::status::FaultRecord;
use crate::core::trace::{Log, Trace};
use crate::core::{Clock, Ended, Identity, Model};
use crate::intel::ff::Step;
use crate::intel::r#gen::reset;

impl Model for Device {
    fn identity(&self) -> Identity {
        Identity {
            pci: self.info.pci,
            revision: self.info.revision,
            bars: [u64::from(self.info.bar_bytes), 0, 0, 0, 0, 0],
            config: self.info.config,
        }
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn clock_mut(&mut self) -> &mut Clock {
        &mut self.clock
    }

    fn read32(&mut self, offset: u32) -> u32 {
        self.show_idle();
        let memory = Arc::clone(&self.memory);
        let mut memory = lock(&memory);
        self.mmio(&mut memory).read32(offset)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        let memory = Arc::clone(&self.memory);
        let mut memory = lock(&memory);
        self.mmio(&mut memory).write32(offset, value);
        self.answer(offset, &mut memory);
        drop(memory);
        self.engines.wake();
        self.answer_reset();
        self.note_irq();
    }

    fn write_config(&mut self, offset: u8, value: u8) -> u8 {
        self.answer_config(offset, value)
    }

    fn irq_line(&self) -> bool {
        self.info.interrupts.line(&self.regs)
    }

    fn work(
        &mut self,
        ticks: u64,
        quantum: u64,
        stop: &mut dyn FnMut(u64) -> bool,
    ) -> (u64, Ended) {
        let memory = Arc::clone(&self.memory);
        let mut memory = lock(&memory);
        let mut left = ticks;
        let ended = loop {
            let owed = self.engines.render.debt.min(left);
            self.engines.render.debt -= owed;
            left -= owed;
            if self.engines.awake && owed > 0 {
                self.step_others(&mut memory, owed);
            }
            self.clock.pass(owed);
            if left == 0 {
                break Ended::Busy;
            }
            let before = left.min(quantum.max(1));
            let mut budget = before;
            let mut step = self.step(0, &mut memory, &mut budget);
            let mut used = before - budget;
            let mut spins = self.engines.render.spins;
            if self.engines.awake {
                // Without work of its own the render engine lets time pass for the others.
                let ticks = if used > 0 { used } else { before };
                let others = self.step_others(&mut memory, ticks);
                if others.used > 0 {
                    spins = others.spin && (spins || step != Step::Progress);
                    used = used.max(others.used);
                    step = Step::Progress;
                }
            }
            self.watch(&mut memory.enter(self.engines.render.cs.space()));
            if self.trace.is_detailed() {
                self.note_irq();
            }
            self.clock.pass(used);
            left -= used;
            match step {
                Step::Progress if spins => break Ended::Spins,
                Step::Progress => {}
                Step::Idle if self.engines.others.iter().any(|e| e.cs.stuck()) => {
                    break Ended::Blocked;
                }
                Step::Idle => break Ended::Idle,
                // Everything waits for something that only time or the host can bring.
                Step::Blocked if used > 0 => {}
                Step::Blocked | Step::Settle | Step::Dead => break Ended::Blocked,
            }
            if stop(ticks - left) {
                break Ended::Busy;
            }
        };
        self.report_faults();
        self.note_irq();
        (ticks - left, ended)
    }

    fn idle(&self) -> bool {
        self.engines.all().all(|engine| engine.idle(&self.regs))
            && self.ff.idle()
            && self.media.idle()
            && self.blt.idle()
            && self.td.idle()
    }

    fn reset(&mut self) {
        self.reset_domains(reset::ALL);
    }

    fn take_faults(&mut self) -> (Vec<FaultRecord>, u64) {
        self.status.take_faults()
    }

    fn take_notes(&mut self) -> Vec<String> {
        self.shared.take_notes()
    }

    fn log_events(&mut self, limit: Option<usize>) {
        self.trace = limit.map(Trace::with_limit).unwrap_or_default();
    }

    fn event_log(&self) -> &Log {
        self.trace.log()
    }
}
