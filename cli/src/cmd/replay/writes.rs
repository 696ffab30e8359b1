//! Writes to a device, by the names of registers, as lines of text.
//!
//! Writes to neighbours in an array are one line, when the value is the same or rises by a page: those of a page table.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::mem::take;
use std::sync::{Mutex, MutexGuard, PoisonError};

use kernel::pci::config;
use kernel::string_helpers::Counted;
use pci::Write;
use regs::desc::{RegisterDesc, Space};
use regs::platform::Generation;

use super::super::{Error, print};

/// Text that is kept before it is printed.
const KEPT: usize = 32 << 10;
/// What entries of a page table rise by.
const PAGE: u32 = 4096;

/// A write to a register of the tables.
#[derive(Clone, Copy)]
struct Named {
    register: &'static RegisterDesc,
    index: u32,
    dword: u32,
}

/// Writes to elements that follow one another.
#[derive(Clone, Copy)]
struct Run {
    first: Named,
    offset: usize,
    value: u32,
    /// What each value is more than the one before, once there are two.
    step: u32,
    count: u32,
}

#[derive(Default)]
struct Inner {
    run: Option<Run>,
    text: String,
    writes: u64,
    registers: BTreeSet<usize>,
    failed: Option<String>,
}

/// The lines.
pub struct Writes {
    generation: &'static Generation,
    inner: Mutex<Inner>,
}

impl Writes {
    /// Lines with the names of a generation.
    pub fn new(generation: &'static Generation) -> Self {
        Writes {
            generation,
            inner: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints a write, or keeps it for the line of its run.
    pub fn tell(&self, write: Write) {
        let mut inner = self.lock();
        inner.writes += 1;
        match write {
            Write::Register(offset, value) => self.register(&mut inner, offset, value),
            Write::Aperture(offset, value) => {
                inner.close();
                let _ = writeln!(inner.text, "  aperture {offset:#x} = {value:#010x}");
            }
            Write::Config(offset, bytes, value) => {
                inner.close();
                let name = self.config_name(offset);
                let digits = 2 + 2 * usize::from(bytes);
                // Writing to a String cannot fail, here and elsewhere.
                let _ = writeln!(
                    inner.text,
                    "  {:>10}  {name} = {value:#0digits$x}",
                    format!("pci {offset:#04x}")
                );
            }
        }
        if inner.text.len() > KEPT {
            inner.print();
        }
    }

    fn register(&self, inner: &mut Inner, offset: usize, value: u32) {
        let at = u32::try_from(offset).ok();
        let found = at.and_then(self.generation.lookup);
        let named = found.and_then(|(id, index, dword)| {
            let register = (self.generation.register_desc)(id)?;
            Some(Named {
                register,
                index,
                dword,
            })
        });
        let Some(named) = named else {
            inner.close();
            inner.registers.insert(offset);
            let _ = writeln!(
                inner.text,
                "  {offset:#010x}  (not in the tables) = {value:#010x}"
            );
            return;
        };
        inner.registers.insert(named.register.offset as usize);
        if inner
            .run
            .as_mut()
            .is_some_and(|run| run.goes_on(named, value))
        {
            return;
        }
        inner.close();
        inner.run = Some(Run {
            first: named,
            offset,
            value,
            step: 0,
            count: 1,
        });
    }

    fn config_name(&self, offset: usize) -> &'static str {
        if offset == config::COMMAND {
            return "COMMAND";
        }
        let mut registers = self.generation.registers.iter();
        let found = registers.find(|r| r.space == Space::Pci && r.offset as usize == offset);
        found.map_or("(not in the tables)", |register| register.name)
    }

    /// Prints the rest; how much there was, in words.
    pub fn end(&self) -> Result<String, Error> {
        let mut inner = self.lock();
        inner.close();
        inner.print();
        if let Some(error) = inner.failed.take() {
            return Err(error.into());
        }
        Ok(format!(
            "{} to {}; what the commands in ring and batch write is not among them, `crestline decode` shows it",
            Counted(inner.writes, "write"),
            Counted(inner.registers.len(), "register")
        ))
    }
}

impl Run {
    /// Whether the write is the next of the run.
    fn goes_on(&mut self, next: Named, value: u32) -> bool {
        let same = next.register.id == self.first.register.id && next.dword == self.first.dword;
        if !same || next.register.count == 1 || next.index != self.first.index + self.count {
            return false;
        }
        let step = match self.count {
            1 => value.wrapping_sub(self.value),
            _ => self.step,
        };
        let wanted = self.value.wrapping_add(step.wrapping_mul(self.count));
        if value != wanted || (step != 0 && step != PAGE) {
            return false;
        }
        self.step = step;
        self.count += 1;
        true
    }

    fn line(&self) -> String {
        let Named {
            register,
            index,
            dword,
        } = self.first;
        let mut name = register.name.to_owned();
        if self.count > 1 {
            let _ = write!(name, "[{index}..{}]", index + self.count - 1);
        } else if register.count > 1 {
            let _ = write!(name, "[{index}]");
        }
        if register.dwords() > 1 {
            let _ = write!(name, " dword {dword}");
        }
        let (offset, value) = (self.offset, self.value);
        let mut out = format!("  {offset:#010x}  {name} = {value:#010x}");
        match (self.count, self.step) {
            (1, _) => {}
            (count, 0) => {
                let _ = write!(out, ", {count} times");
            }
            (count, step) => {
                let _ = write!(out, ", {count} times, each {step:#x} more");
            }
        }
        out + "\n"
    }
}

impl Inner {
    /// Ends the line of the run.
    fn close(&mut self) {
        if let Some(run) = self.run.take() {
            self.text += &run.line();
        }
    }

    fn print(&mut self) {
        if let Err(error) = print(&take(&mut self.text)) {
            self.failed.get_or_insert(error.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_line_when_their_values_follow_one_another() {
        let writes = Writes::new(&regs::platform::GEN40);
        for index in 0..4 {
            writes.tell(Write::Register(
                0x8_0000 + 4 * index as usize,
                0x1000_0001 + 0x1000 * index,
            ));
        }
        // Of no run, then a run of equal values, then an element that is not the next one.
        for (offset, value) in [(0x8_0010, 5), (0x8_0014, 0), (0x8_0018, 0), (0x8_0020, 0)] {
            writes.tell(Write::Register(offset, value));
        }
        // i915 i915_reg.h: the render ring's tail is 2030; a fence is 64 bits at 3000 and on; nothing is at 7fffc.
        for (offset, value) in [(0x2030, 8), (0x3004, 7), (0x7_fffc, 1)] {
            writes.tell(Write::Register(offset, value));
        }
        writes.tell(Write::Config(4, 2, 6));
        writes.tell(Write::Config(0xc0, 1, 1));
        let mut inner = writes.lock();
        inner.close();
        let lines: Vec<&str> = inner.text.lines().collect();
        assert_eq!(
            lines,
            [
                "  0x00080000  GTT_PTE[0..3] = 0x10000001, 4 times, each 0x1000 more",
                "  0x00080010  GTT_PTE[4] = 0x00000005",
                "  0x00080014  GTT_PTE[5..6] = 0x00000000, 2 times",
                "  0x00080020  GTT_PTE[8] = 0x00000000",
                "  0x00002030  PRB0_TAIL = 0x00000008",
                "  0x00003004  FENCE[0] dword 1 = 0x00000007",
                "  0x0007fffc  (not in the tables) = 0x00000001",
                "    pci 0x04  COMMAND = 0x0006",
                "    pci 0xc0  GDRST = 0x01",
            ]
        );
        assert_eq!((inner.writes, inner.registers.len()), (13, 4));
    }
}
