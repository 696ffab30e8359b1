//! Workarounds: register settings that silicon needs, each with its reason.
//!
//! i915 `intel_workarounds.c`. The lists of each device are rows of its generation. Not modelled: workarounds in command
//! sequences, which stand with their emitters.
use kernel::pr_warn;

use crate::intel::uncore::Uncore;

/// One register setting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Workaround {
    /// Name.
    pub name: &'static str,
    /// Why, as its source says it.
    pub reason: &'static str,
    /// Byte offset of the register.
    pub register: u32,
    /// The upper half of a write says which bits of the lower half it changes; otherwise a write changes all bits.
    pub masked: bool,
    /// Bits to set.
    pub set: u32,
    /// Bits to clear.
    pub clear: u32,
    /// Bits that read back as written; the others are not verified.
    pub verify: u32,
}

/// Applies a list, then verifies what reads back; a lost setting is reported and lived with.
pub fn apply(uncore: &Uncore, list: &[Workaround]) {
    let io = uncore.io();
    for row in list {
        let (register, changed) = (row.register as usize, row.set | row.clear);
        let value = match (row.masked, changed) {
            (true, _) => changed << 16 | row.set,
            (false, u32::MAX) => row.set,
            (false, _) => io.read32(register) & !changed | row.set,
        };
        io.write32(value, register);
    }
    for row in list.iter().filter(|row| row.verify != 0) {
        let now = io.read32(row.register as usize) & row.verify;
        if now != row.set & row.verify {
            pr_warn!(
                "{} lost: register {:#x} reads {now:#x}",
                row.name,
                row.register
            );
        }
    }
}
