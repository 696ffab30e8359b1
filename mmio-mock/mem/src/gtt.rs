//! The global graphics translation table.
//!
//! PRM: Intel 965 Express Chipset Family, volume 1 (GTT page table entries). It is a table of one level whose entries are
//! the device's own; beside each stands what it was found to mean, so that most accesses need no walk. Writing an entry
//! forgets that.
//! Not modelled: the mapping type (snooped or not) beyond keeping its bits, and stale TLB entries.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::table::{Beyond, Entry, Level, TableFormat};
use crate::{GpuAddr, PAGE_SIZE, PhysAddr};

/// Entries of the GTT of the 965 family: 512 KiB of table mapping 512 MiB.
pub const GTT_ENTRIES: usize = 131_072;

/// A GTT entry: bits 31:12 are address bits 31:12, bits 7:4 are address bits 35:32, bit 0 is valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pte(pub u32);

impl Pte {
    /// A valid entry for the page at `phys` (36 bits).
    pub const fn valid(phys: u64) -> Self {
        Pte((phys as u32 & 0xffff_f000) | (((phys >> 32) as u32 & 0xf) << 4) | 1)
    }

    /// Whether the entry maps a page.
    pub const fn is_valid(self) -> bool {
        self.0 & 1 != 0
    }

    /// Physical address of the page, 36 bits.
    pub const fn phys(self) -> u64 {
        (self.0 & 0xffff_f000) as u64 | (((self.0 >> 4) & 0xf) as u64) << 32
    }
}

/// A global GTT of one level: entries of 32 bits ([`Pte`]), 4 GiB of addresses at most, which wrap after 32 bits (generations 4 and 5).
pub static FLAT_GTT: TableFormat = TableFormat::new(
    &[Level {
        bits: 20,
        entry_bytes: 4,
        decode: decode_flat,
    }],
    Beyond::Wraps(32),
);

fn decode_flat(entry: u64) -> Entry {
    // CAST: entries have 32 bits.
    let pte = Pte(entry as u32);
    if !pte.is_valid() {
        return Entry::Absent;
    }
    Entry::Memory {
        at: PhysAddr(pte.phys()),
        writable: true,
    }
}

/// Low bit of a slot: the entry is known to point at memory that may be written.
const PRESENT: u32 = 1;

/// The table: the entries as written, and beside each what it was found to mean.
#[derive(Debug)]
pub struct Gtt {
    format: &'static TableFormat,
    entries: Vec<u64>,
    /// Arena index of the page in bits 31:12, [`PRESENT`] in bit 0; 0 until the entry is looked up for the first time,
    /// which units do that may only read memory. Empty while the slots are hidden.
    slots: Vec<AtomicU32>,
    /// The slots while they are hidden.
    hidden: Vec<AtomicU32>,
}

impl Clone for Gtt {
    fn clone(&self) -> Self {
        let copy = |slots: &[AtomicU32]| {
            let value = |slot: &AtomicU32| AtomicU32::new(slot.load(Relaxed));
            slots.iter().map(value).collect()
        };
        Gtt {
            format: self.format,
            entries: self.entries.clone(),
            slots: copy(&self.slots),
            hidden: copy(&self.hidden),
        }
    }
}

impl Gtt {
    /// A table of `entries` invalid entries. Of `format` the first level counts.
    pub fn new(format: &'static TableFormat, entries: usize) -> Self {
        let entries = entries.min(1 << 20);
        Gtt {
            format,
            entries: vec![0; entries],
            slots: (0..entries).map(|_| AtomicU32::new(0)).collect(),
            hidden: Vec::new(),
        }
    }

    /// How it is built.
    pub fn format(&self) -> &'static TableFormat {
        self.format
    }

    /// While `hidden`, [`Self::lookup`] finds nothing: accesses are those of another space.
    pub(crate) fn hide(&mut self, hidden: bool) {
        if hidden != self.slots.is_empty() {
            std::mem::swap(&mut self.slots, &mut self.hidden);
        }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the table has no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Entry `index` as it was written; `None` past the end.
    pub fn read(&self, index: usize) -> Option<u64> {
        self.entries.get(index).copied()
    }

    /// Writes entry `index`; past the end is ignored, as the register file does.
    pub fn write(&mut self, index: usize, value: u64) {
        let slots = if self.slots.is_empty() {
            &mut self.hidden
        } else {
            &mut self.slots
        };
        let (Some(entry), Some(slot)) = (self.entries.get_mut(index), slots.get_mut(index)) else {
            return;
        };
        *entry = value;
        *slot.get_mut() = 0;
    }

    /// Forgets what entries were found to mean.
    pub(crate) fn forget(&mut self) {
        for slot in self.slots.iter_mut().chain(&mut self.hidden) {
            *slot.get_mut() = 0;
        }
    }

    /// Keeps that the page of `addr` lies at `index` in system memory and may be written.
    pub(crate) fn fill(&self, addr: GpuAddr, index: usize) {
        if let Some(slot) = self.slots.get((addr.0 >> 12) as usize) {
            // CAST: system memory is below 4 GiB, so the index fits.
            let page = (index & !(PAGE_SIZE - 1)) as u32;
            slot.store(page | PRESENT, Relaxed);
        }
    }

    /// Arena index of the byte at `addr`, or `None` when it takes a walk to find it, or why it is not there.
    #[inline(always)]
    pub fn lookup(&self, addr: GpuAddr) -> Option<usize> {
        let slot = self.slots.get((addr.0 >> 12) as usize)?.load(Relaxed);
        if slot & PRESENT == 0 {
            return None;
        }
        Some((slot & 0xffff_f000) as usize | addr.in_page())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_format_of_the_965() {
        // i915 i965_pte_encode: addr |= (addr >> 28) & 0xf0, plus the valid bit.
        let addr: u64 = 0xa_1234_5000;
        let encoded = (addr as u32) | ((addr >> 28) as u32 & 0xf0) | 1;
        assert_eq!(Pte::valid(addr).0, encoded);
        assert_eq!(Pte(encoded).phys(), addr);
    }

    #[test]
    fn lookup_follows_entries() {
        let mut g = Gtt::new(&FLAT_GTT, 4);
        let lookup = |g: &Gtt, addr| g.lookup(GpuAddr(addr));
        let valid = |phys| u64::from(Pte::valid(phys).0);
        assert_eq!(lookup(&g, 0), None);
        g.write(2, valid(0x3000));
        assert_eq!(lookup(&g, 0x2abc), None, "not looked up yet");
        g.fill(GpuAddr(0x2ff0), 0x3ff0);
        assert_eq!(lookup(&g, 0x2abc), Some(0x3abc));
        assert_eq!(lookup(&g.clone(), 0x2abc), Some(0x3abc));
        g.write(2, valid(0x10000));
        assert_eq!(lookup(&g, 0x2abc), None, "another entry");
        assert_eq!(g.read(2), Some(valid(0x10000)));
        g.write(9, valid(0));
        g.fill(GpuAddr(0x9000), 0);
        assert_eq!(lookup(&g, 0x9000), None);
        assert_eq!(lookup(&g, u64::MAX), None);
    }

    #[test]
    fn a_hidden_table_takes_entries_and_finds_nothing() {
        let mut g = Gtt::new(&FLAT_GTT, 4);
        g.fill(GpuAddr(0x1000), 0x2000);
        g.fill(GpuAddr(0x2000), 0x5000);
        g.hide(true);
        g.hide(true);
        g.write(1, u64::from(Pte::valid(0x3000).0));
        assert_eq!(g.lookup(GpuAddr(0x2000)), None);
        assert_eq!(g.len(), 4);
        g.hide(false);
        g.hide(false);
        assert_eq!(g.lookup(GpuAddr(0x1004)), None, "written meanwhile");
        assert_eq!(g.lookup(GpuAddr(0x2004)), Some(0x5004));
        // A table without entries has nothing to hide.
        let mut empty = Gtt::new(&FLAT_GTT, 0);
        empty.hide(true);
        empty.hide(false);
        empty.write(0, 1);
        assert_eq!(empty.lookup(GpuAddr(0)), None);
    }
}
