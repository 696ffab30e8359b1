//! Workarounds: register settings that silicon needs, each with its reason.
//!
//! i915 `intel_workarounds.c`. The lists of each device are rows of its generation. Not modelled: workarounds in command
//! sequences, which stand with their emitters.
use kernel::pr_warn;

use crate::intel::uncore::Uncore;

/// One masked register setting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Workaround {
    /// Name.
    pub name: &'static str,
    /// Why, as its source says it.
    pub reason: &'static str,
    /// Byte offset of the register.
    pub register: u32,
    /// Bits to set.
    pub set: u16,
    /// Bits to clear.
    pub clear: u16,
    /// Bits that read back as written; the others are not verified.
    pub verify: u16,
}

/// Applies a list, then verifies what reads back; a lost setting is reported and lived with.
pub fn apply(uncore: &Uncore, list: &[Workaround]) {
    let io = uncore.io();
    for row in list {
        let mask = u32::from(row.set | row.clear);
        io.write32(mask << 16 | u32::from(row.set), row.register as usize);
    }
    for row in list.iter().filter(|row| row.verify != 0) {
        let now = io.read32(row.register as usize) & u32::from(row.verify);
        if now != u32::from(row.set & row.verify) {
            pr_warn!(
                "{} lost: register {:#x} reads {now:#x}",
                row.name,
                row.register
            );
        }
    }
}
