//! What the live shell, the platform and the tools need of a device.
//!
//! A device is a value that does nothing by itself: the caller gives it ticks to work with, and asks how
//! that ended.

use super::clock::Clock;
use super::status::FaultRecord;
use super::trace::Log;

/// How a stretch of work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// There is more to do.
    Busy,
    /// There is nothing to do.
    Idle,
    /// What there is to do waits for the host, if only for a reset.
    Blocked,
    /// The parser goes round commands that do nothing: for as long as the host leaves its memory alone.
    Spins,
}

/// What a device is on its bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// PCI vendor and device.
    pub pci: (u16, u16),
    /// PCI revision.
    pub revision: u8,
    /// Bytes of each BAR, 0 for one that the device lacks.
    pub bars: [u64; 6],
    /// What else its configuration space says: byte offsets and values.
    pub config: &'static [(u8, u8)],
}

/// One modelled device.
pub trait Model: Send {
    /// What it is on its bus.
    fn identity(&self) -> Identity;

    /// Its time.
    fn clock(&self) -> &Clock;

    /// Its time, to let it pass.
    fn clock_mut(&mut self) -> &mut Clock;

    /// A 32-bit read at an offset of the register BAR. Offsets with nothing behind them read as zero.
    fn read32(&mut self, offset: u32) -> u32;

    /// A 32-bit write at an offset of the register BAR.
    fn write32(&mut self, offset: u32, value: u32);

    /// A byte of PCI configuration space behind the header, that is from 40h, has been written: what it reads from now on.
    fn write_config(&mut self, offset: u8, value: u8) -> u8 {
        let _ = offset;
        value
    }

    /// Whether the interrupt line is asserted.
    fn irq_line(&self) -> bool;

    /// Works for at most `ticks`, in pieces of about `quantum`, until there is nothing left to do, the parser has gone
    /// round for nothing, or `stop`, asked after every step with the ticks used so far, says so. Only used ticks pass;
    /// returns them and how it ended.
    fn work(&mut self, ticks: u64, quantum: u64, stop: &mut dyn FnMut(u64) -> bool)
    -> (u64, Ended);

    /// Whether every unit is done and no command waits.
    fn idle(&self) -> bool;

    /// A reset of the whole device: registers, units and threads; memory survives.
    fn reset(&mut self);

    /// Takes the faults so far, and the number of those that were not kept.
    fn take_faults(&mut self) -> (Vec<FaultRecord>, u64);

    /// Takes what programs did that the manual forbids without saying what comes of it: text for people.
    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Writes events into a text of at most so many bytes from now on; `None` ends the trace.
    fn log_events(&mut self, limit: Option<usize>);

    /// The text of the events, as far as one is kept.
    fn event_log(&self) -> &Log;

    /// Device time in ticks.
    fn ticks(&self) -> u64 {
        self.clock().ticks()
    }

    /// Device time in nanoseconds.
    fn nanos(&self) -> u64 {
        self.clock().nanos()
    }

    /// Nanoseconds to ticks, rounded up.
    fn ticks_of(&self, nanos: u64) -> u64 {
        self.clock().ticks_of(nanos)
    }

    /// Runs for at most `ticks`, or until there is nothing left to do; returns the ticks used.
    /// Time that nothing used passes all the same.
    fn run(&mut self, ticks: u64) -> u64 {
        let mut used = 0;
        loop {
            let left = ticks - used;
            let (now, ended) = self.work(left, left, &mut |_| false);
            used += now;
            // A parser that goes round goes on, so that its commands are counted.
            if ended != Ended::Spins || now == 0 || used == ticks {
                break;
            }
        }
        self.clock_mut().pass(ticks - used);
        used
    }
}

/// A device whose kind is chosen when the program runs.
impl<M: Model + ?Sized> Model for Box<M> {
    fn identity(&self) -> Identity {
        (**self).identity()
    }
    fn clock(&self) -> &Clock {
        (**self).clock()
    }
    fn clock_mut(&mut self) -> &mut Clock {
        (**self).clock_mut()
    }
    fn read32(&mut self, offset: u32) -> u32 {
        (**self).read32(offset)
    }
    fn write32(&mut self, offset: u32, value: u32) {
        (**self).write32(offset, value);
    }
    fn write_config(&mut self, offset: u8, value: u8) -> u8 {
        (**self).write_config(offset, value)
    }
    fn irq_line(&self) -> bool {
        (**self).irq_line()
    }
    fn work(
        &mut self,
        ticks: u64,
        quantum: u64,
        stop: &mut dyn FnMut(u64) -> bool,
    ) -> (u64, Ended) {
        (**self).work(ticks, quantum, stop)
    }
    fn idle(&self) -> bool {
        (**self).idle()
    }
    fn reset(&mut self) {
        (**self).reset();
    }
    fn take_faults(&mut self) -> (Vec<FaultRecord>, u64) {
        (**self).take_faults()
    }
    fn take_notes(&mut self) -> Vec<String> {
        (**self).take_notes()
    }
    fn log_events(&mut self, limit: Option<usize>) {
        (**self).log_events(limit);
    }
    fn event_log(&self) -> &Log {
        (**self).event_log()
    }
}
