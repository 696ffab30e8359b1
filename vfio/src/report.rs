//! What a guest does with registers: what is missing, a trace, loops.
//!
//! Names are those of the tables; of registers that they lack, those of i915 ([`names`]). Entries of the GTT are left out.

mod names;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::time::Instant;

use regs::platform::Generation;

use crate::spin::Spin;

/// Most registers that are kept apart.
const MAX_REGISTERS: usize = 1 << 16;

/// How often an unmodelled register was touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// Reads of it.
    pub reads: u64,
    /// Writes to it.
    pub writes: u64,
    /// What was written last.
    pub last: Option<u32>,
}

/// What has been noted.
pub struct Report {
    tables: &'static Generation,
    touched: BTreeMap<u32, Touched>,
    trace: Option<BufWriter<File>>,
    begun: Instant,
    spin: Spin,
}

impl Report {
    /// For a device with these tables; accesses are written into a file, if there is one.
    #[must_use]
    pub fn new(tables: &'static Generation, trace: Option<File>) -> Self {
        Report {
            tables,
            touched: BTreeMap::new(),
            trace: trace.map(BufWriter::new),
            begun: Instant::now(),
            spin: Spin::default(),
        }
    }

    /// The name of the dword at an offset; empty when nobody knows it.
    #[must_use]
    pub fn name(&self, offset: u32) -> String {
        let Some((id, index, dword)) = (self.tables.lookup)(offset) else {
            return names::of(offset).unwrap_or_default().to_owned();
        };
        let Some(desc) = (self.tables.register_desc)(id) else {
            return String::new();
        };
        let mut name = desc.name.to_owned();
        if desc.count > 1 {
            // Writing to a String cannot fail.
            let _ = write!(name, "[{index}]");
        }
        if dword > 0 {
            name.push_str(" (high)");
        }
        name
    }

    fn is_modelled(&self, offset: u32) -> bool {
        (self.tables.lookup)(offset).is_some()
    }

    /// A dword was read.
    pub fn read(&mut self, offset: u32, value: u32) {
        self.trace('R', offset, value);
        if let Some(told) = self.spin.read(offset, value) {
            log::warn!(
                "the guest reads {offset:#07x} {} again and again: {} times in {:.1} s, each time {value:#010x}",
                self.name(offset),
                told.count,
                told.lasted.as_secs_f64()
            );
        }
        if let Some(touched) = self.touch(offset, "read") {
            touched.reads += 1;
        }
    }

    /// A dword was written.
    pub fn write(&mut self, offset: u32, value: u32) {
        self.trace('W', offset, value);
        self.spin.progress();
        if let Some(touched) = self.touch(offset, "written") {
            touched.writes += 1;
            touched.last = Some(value);
        }
    }

    /// The counters of an unmodelled register, which is named when it is new.
    fn touch(&mut self, offset: u32, how: &str) -> Option<&mut Touched> {
        if self.is_modelled(offset) {
            return None;
        }
        if !self.touched.contains_key(&offset) {
            if self.touched.len() >= MAX_REGISTERS {
                return None;
            }
            log::info!(
                "{offset:#07x} {} is {how} and not modelled",
                self.name(offset)
            );
        }
        Some(self.touched.entry(offset).or_default())
    }

    fn trace(&mut self, kind: char, offset: u32, value: u32) {
        if self.trace.is_none() {
            return;
        }
        let (seconds, name) = (self.begun.elapsed().as_secs_f64(), self.name(offset));
        let Some(trace) = &mut self.trace else { return };
        let space = if name.is_empty() { "" } else { " " };
        let line = writeln!(
            trace,
            "{seconds:.6} {kind} {offset:#07x} {value:#010x}{space}{name}"
        );
        if let Err(error) = line {
            log::error!("the trace ends: {error}");
            self.trace = None;
        }
    }

    /// Notes in the trace that something else has happened.
    pub fn note(&mut self, what: &str) {
        self.spin.progress();
        let seconds = self.begun.elapsed().as_secs_f64();
        if let Some(trace) = &mut self.trace {
            let line = writeln!(trace, "{seconds:.6} {what}");
            if line.and_then(|()| trace.flush()).is_err() {
                self.trace = None;
            }
        }
    }

    /// The unmodelled registers that were touched, by their offsets.
    pub fn touched(&self) -> impl Iterator<Item = (u32, &Touched)> {
        self.touched
            .iter()
            .map(|(offset, touched)| (*offset, touched))
    }

    /// A line for each unmodelled register: offset, reads, writes, last value written, name. Empty when there is none.
    #[must_use]
    pub fn burndown(&self) -> String {
        let mut out = String::new();
        for (offset, touched) in self.touched() {
            let last = touched
                .last
                .map_or("-".to_owned(), |value| format!("{value:#010x}"));
            // Writing to a String cannot fail.
            let _ = writeln!(
                out,
                "{offset:#07x} {:>8} {:>8} {last:>10} {}",
                touched.reads,
                touched.writes,
                self.name(offset)
            );
        }
        if !out.is_empty() {
            out.insert_str(0, "# offset   reads   writes       last name\n");
        }
        out
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn what_is_not_modelled_is_counted_by_name() {
        // PRB0_TAIL is in the tables, 61204h is not (i915_reg.h: PP_CONTROL).
        let tables = mmio_mock::intel::r#gen::first().tables;
        let mut report = Report::new(tables, None);
        report.read(0x2030, 0);
        report.read(0x6_1204, 0);
        report.write(0x6_1204, 0xabcd_0003);
        report.read(0x6_1204, 0);
        report.write(0x7_fff0, 1);
        let touched: Vec<_> = report
            .touched()
            .map(|(at, t)| (at, t.reads, t.writes))
            .collect();
        assert_eq!(touched, [(0x6_1204, 2, 1), (0x7_fff0, 0, 1)]);
        let text = report.burndown();
        assert!(
            text.contains("0x61204        2        1 0xabcd0003 PP_CONTROL\n"),
            "{text}"
        );
    }

    #[test]
    fn the_trace_has_a_line_for_each_access() {
        let mut file = tempfile::tempfile().unwrap();
        let tables = mmio_mock::intel::r#gen::first().tables;
        let mut report = Report::new(tables, Some(file.try_clone().unwrap()));
        report.write(0x2030, 0x40);
        report.read(0x2034, 0x38);
        report.note("reset");
        std::io::Seek::rewind(&mut file).unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        let lines: Vec<&str> = text
            .lines()
            .map(|line| line.split_once(' ').unwrap().1)
            .collect();
        let name = |offset| report.name(offset);
        let expected = [
            format!("W 0x02030 0x00000040 {}", name(0x2030)),
            format!("R 0x02034 0x00000038 {}", name(0x2034)),
            "reset".to_owned(),
        ];
        assert_eq!(lines, expected);
        assert!(name(0x2030).contains("TAIL"), "{}", name(0x2030));
    }
}
