//! Translation tables of ValleyView: the global one, and those of processes.
//!
//! i915 gt/intel_ggtt.c `byt_pte_encode`, gt/intel_gtt.h `GEN6_PTE_ADDR_ENCODE`, `GEN6_PDE_VALID`, gt/gen6_ppgtt.c. Not modelled: what
//! snooping changes; memory is coherent.

use mem::table::{Beyond, Entry, Level};
use mem::{PhysAddr, TableFormat};

/// Bit 0: the entry is valid.
const VALID: u64 = 1;
/// Bit 1 of a page's entry: the device may write it (i915 `BYT_PTE_WRITEABLE`).
const WRITABLE: u64 = 1 << 1;

/// The page of an entry: address bits 31:12 in place, 39:32 in bits 11:4.
const fn page(entry: u64) -> PhysAddr {
    PhysAddr(entry & 0xffff_f000 | (entry & 0xff0) << 28)
}

fn memory(entry: u64) -> Entry {
    if entry & VALID == 0 {
        return Entry::Absent;
    }
    Entry::Memory {
        at: page(entry),
        writable: entry & WRITABLE != 0,
    }
}

fn table(entry: u64) -> Entry {
    if entry & VALID == 0 {
        return Entry::Absent;
    }
    Entry::Table(page(entry))
}

/// Entries of a table of the last level, one a page.
const PAGES: Level = Level {
    bits: 20,
    entry_bytes: 4,
    decode: memory,
};

/// The global GTT: one level, addresses that wrap after 32 bits.
pub static GLOBAL: TableFormat = TableFormat::new(&[PAGES], Beyond::Wraps(32));

/// Tables of a process: 512 entries of a directory, tables of 1024.
pub static PROCESS: TableFormat = TableFormat::new(
    &[
        Level {
            bits: 9,
            entry_bytes: 4,
            decode: table,
        },
        Level { bits: 10, ..PAGES },
    ],
    Beyond::Wraps(32),
);

/// The entry of the global GTT with which a directory begins: PP_DIR_BASE counts cache lines of entries from bit 16 on.
pub fn directory(base: u32) -> usize {
    (base >> 16) as usize * 64 / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `GEN6_PTE_ADDR_ENCODE(addr)`: addr | (addr >> 28) & 0xff0; 0x12_3456_7000 with BYT_PTE_SNOOPED_BY_CPU_CACHES, BYT_PTE_WRITEABLE and
    /// GEN6_PTE_VALID.
    #[test]
    fn entries_say_whether_the_device_writes() {
        let entry = 0x3456_7000 | 0x12 << 4 | 1 << 2 | 1 << 1 | 1;
        let at = PhysAddr(0x12_3456_7000);
        let writable = true;
        assert_eq!(memory(entry), Entry::Memory { at, writable });
        let writable = false;
        assert_eq!(memory(entry & !2), Entry::Memory { at, writable });
        assert_eq!(memory(entry & !1), Entry::Absent);
        // Entries of a directory have no such bit.
        assert_eq!(table(entry & !2), Entry::Table(at));
        assert_eq!(PROCESS.address_bits(), 31);
    }

    /// `gen6_ppgtt_create`: pp_dir = offset / PAGE_SIZE * sizeof(gen6_pte_t) << 10.
    #[test]
    fn a_directory_is_named_by_its_first_entry() {
        let entry = 0x7_fe00u32;
        assert_eq!(directory((entry * 4) << 10), 0x7_fe00);
    }
}
