//! The global graphics translation table.
//!
//! PRM: Intel 965 Express Chipset Family, volume 1 (GTT page table entries).
//! Not modelled: the mapping type (snooped or not) beyond keeping its bits, and stale TLB entries.

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

/// Low bit of a slot: the entry is valid and points at memory.
const PRESENT: u32 = 1;

/// The table: the entries as written, and beside each the resolved index into system memory.
#[derive(Debug, Clone)]
pub struct Gtt {
    entries: Vec<Pte>,
    /// Arena index of the page in bits 31:12, [`PRESENT`] in bit 0.
    slots: Vec<u32>,
    arena_len: usize,
}

impl Gtt {
    /// A table of `entries` invalid entries for a system of `arena_len` bytes.
    pub fn new(entries: usize, arena_len: usize) -> Self {
        let entries = entries.min(1 << 20);
        Gtt {
            entries: vec![Pte(0); entries],
            slots: vec![0; entries],
            arena_len,
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

    /// Entry `index` as it was written; past the end reads as 0.
    pub fn read(&self, index: usize) -> Pte {
        self.entries.get(index).copied().unwrap_or_default()
    }

    /// Writes entry `index`; past the end is ignored, as the register file does.
    pub fn write(&mut self, index: usize, pte: Pte) {
        let (Some(entry), Some(slot)) = (self.entries.get_mut(index), self.slots.get_mut(index))
        else {
            return;
        };
        *entry = pte;
        let backed = pte.is_valid() && pte.phys() < self.arena_len as u64;
        // CAST: the arena is below 4 GiB, so the address fits.
        *slot = if backed {
            pte.phys() as u32 | PRESENT
        } else {
            0
        };
    }

    /// Arena index of the byte at `addr`, or `None` when it is not mapped to memory.
    #[inline(always)]
    pub fn lookup(&self, addr: u32) -> Option<usize> {
        let slot = *self.slots.get((addr >> 12) as usize)?;
        if slot & PRESENT == 0 {
            return None;
        }
        Some(((slot & 0xffff_f000) | (addr & 0xfff)) as usize)
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
        let mut g = Gtt::new(4, 0x10000);
        assert_eq!(g.lookup(0), None);
        g.write(2, Pte::valid(0x3000));
        assert_eq!(g.lookup(0x2abc), Some(0x3abc));
        g.write(2, Pte::valid(0x10000));
        assert_eq!(g.lookup(0x2abc), None, "no memory there");
        assert_eq!(g.read(2).phys(), 0x10000);
        g.write(9, Pte::valid(0));
        assert_eq!(g.lookup(0x9000), None);
        assert_eq!(g.lookup(u32::MAX), None);
    }
}
