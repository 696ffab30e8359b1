//! What a device tells people: counts, threads that run, hang or wait.
//!
//! No guest sees any of it.

use std::collections::BTreeMap;

use super::{Device, waits};
use crate::intel::shared::FUNCTIONS;
use crate::intel::shared::dataport::Outside;
use crate::intel::status::Unit;
use crate::intel::td::engine::Done;

impl Device {
    /// Messages to the shared functions since the last reset, by function ID.
    pub fn messages(&self) -> [u64; FUNCTIONS] {
        self.shared.stats.messages
    }

    /// Pixel threads that were spared since power-on, because what they would do was known.
    pub fn spared_threads(&self) -> u64 {
        self.td.spared()
    }

    /// What executes kernels, and how much of them it has done since it was chosen.
    pub fn done_by_engine(&self) -> Done {
        self.td.done_by_engine()
    }

    /// Accesses of threads past the end of surfaces, by binding table index.
    pub fn outside(&self) -> &BTreeMap<u8, Outside> {
        &self.shared.dataport.outside
    }

    /// What media threads and their units wait for, one line each.
    pub fn waits(&self) -> Vec<String> {
        let mut lines = waits::lines(&self.td, &self.shared, |unit| unit == Unit::Media);
        lines.extend(self.media.waits(&self.shared));
        lines
    }

    /// Threads that can never end: unit, kernel, instruction, reason. When media threads wait for one another,
    /// what each waits for. When nothing moves a draw, the stages that hold it up, and what their threads wait for.
    pub fn hung_threads(&self) -> Vec<String> {
        let mut lines = self.faulted_threads();
        if self.media.deadlocked(&self.td) {
            lines.extend(self.waits());
        }
        if let Some(line) = self.ff.waits(&self.urb) {
            lines.push(line);
            let of_draws = |unit| unit != Unit::Media;
            lines.extend(waits::lines(&self.td, &self.shared, of_draws));
        }
        lines
    }

    /// Threads that a fault has stopped.
    fn faulted_threads(&self) -> Vec<String> {
        self.td
            .hung()
            .map(|(unit, kernel, ip, why)| {
                format!(
                    "{} thread, kernel {kernel:#010x}, at {ip:#010x}: {why}",
                    unit.name()
                )
            })
            .collect()
    }

    /// Threads that have not ended yet, each with its unit, its kernel and the instruction it stands at, from the base of
    /// kernels.
    pub fn running(&self) -> Vec<(Unit, u32, u32)> {
        self.td.running().collect()
    }

    /// The same with graphics addresses.
    pub fn running_addresses(&self) -> Vec<(Unit, u32, u32)> {
        self.td.running_addresses().collect()
    }

    /// Threads that have not ended yet: unit, kernel, instruction.
    pub fn running_threads(&self) -> Vec<String> {
        self.td
            .running_addresses()
            .map(|(unit, kernel, ip)| {
                format!(
                    "{} thread, kernel {kernel:#010x}, at {ip:#010x}: still running",
                    unit.name()
                )
            })
            .collect()
    }

    /// A blit in work: what it is, where it stands and how far it came.
    pub fn running_blit(&self) -> Option<String> {
        let mut blitting = self.engines.all().filter_map(|engine| engine.cs.blitting());
        let (name, addr) = blitting.next()?;
        let (done, rows) = self.blt.rows()?;
        Some(format!(
            "{name} at {addr}: still drawing, {done} of {rows} rows"
        ))
    }
}
