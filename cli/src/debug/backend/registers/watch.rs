//! Watches: what is compared after each instruction of a thread that is stepped.
//!
//! PRM: volume 4, 3.6.1 (the single step). Not modelled: what caches of the part have not written to memory yet.

use std::collections::BTreeMap;

use driver::debug::{self, HaltedThread};
use mmio_mock::intel::debug::host::ThreadKey;

use super::{Inner, registers_of};
use crate::debug::Answer;
use crate::debug::backend::Spec;

/// What was there at the last look, by the numbers of the watches.
#[derive(Default)]
pub(super) struct Watched {
    memory: BTreeMap<u32, Vec<u8>>,
    registers: BTreeMap<u32, u32>,
}

impl Watched {
    pub(super) fn forget(&mut self, number: u32) {
        self.memory.remove(&number);
        self.registers.remove(&number);
    }

    /// Remembers the watched registers of a thread; the first that has changed since it was last remembered.
    pub(super) fn remember(
        &mut self,
        specs: &[(u32, Spec)],
        key: ThreadKey,
        registers: &debug::Registers,
    ) -> Option<u32> {
        let mut found = None;
        for &(number, spec) in specs {
            let Spec::Register(wanted, register, dword) = spec else {
                continue;
            };
            if wanted != key {
                continue;
            }
            let row = registers.grf.get(usize::from(register));
            let now = row.and_then(|row| row.get(usize::from(dword)));
            let now = now.copied().unwrap_or(0);
            let before = self.registers.insert(number, now);
            if before.is_some_and(|before| before != now) {
                found = found.or(Some(number));
            }
        }
        found
    }
}

impl Inner {
    pub(super) fn watches_registers(&self, key: ThreadKey) -> bool {
        self.wants(|spec| matches!(spec, Spec::Register(wanted, ..) if *wanted == key))
    }

    /// What is in the memory of each watch now.
    fn memory_now(&self) -> Vec<(u32, Vec<u8>)> {
        let read = |&(number, spec): &(u32, Spec)| {
            let Spec::Memory(address, bytes) = spec else {
                return None;
            };
            let mut now = vec![0; bytes as usize];
            if self
                .session
                .as_ref()?
                .read_memory(address, &mut now)
                .is_err()
            {
                // What is not mapped reads as zero, and changes when it is.
                now.fill(0);
            }
            Some((number, now))
        };
        self.specs.iter().filter_map(read).collect()
    }

    /// The first look at the memory of new watches.
    pub(super) fn remember_memory(&mut self) {
        for (number, now) in self.memory_now() {
            self.watched.memory.entry(number).or_insert(now);
        }
    }

    /// The watch whose memory has changed since the last look.
    pub(super) fn memory_change(&mut self) -> Option<u32> {
        let mut found = None;
        for (number, now) in self.memory_now() {
            let before = self.watched.memory.get(&number);
            if before.is_some_and(|before| *before != now) {
                found = found.or(Some(number));
            }
            self.watched.memory.insert(number, now);
        }
        found
    }

    /// The watch that the instruction has met which a thread has just executed.
    pub(super) fn change(&mut self, thread: &HaltedThread, key: ThreadKey) -> Answer<Option<u32>> {
        let before = self.under_way.len();
        self.under_way.retain(|(other, _)| *other != key);
        if self.under_way.len() == before {
            return Ok(None);
        }
        let by_memory = self.memory_change();
        let by_register = if self.watches_registers(key) {
            let registers = registers_of(thread)?;
            self.watched.remember(&self.specs, key, &registers)
        } else {
            None
        };
        Ok(by_memory.or(by_register))
    }
}
