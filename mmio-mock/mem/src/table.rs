//! Translation tables of one to five levels, as rows: one walk for all of them.
//!
//! A generation says how many levels its tables have, how many bits of an address each takes, how long an entry is and
//! what an entry means. The walk itself knows no generation. Not modelled: tables in the device's own memory.

use crate::{Access, FaultKind, GpuAddr, PAGE_SIZE, PhysAddr};

/// Bits of an address in a page.
const PAGE_BITS: u32 = PAGE_SIZE.trailing_zeros();

/// What an entry says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// It is not valid.
    Absent,
    /// The table of the next level begins there.
    Table(PhysAddr),
    /// The addresses that the entry stands for lie there: a page on the last level, a larger range above.
    Memory {
        /// First byte of the range. Bits below the range's size do not count.
        at: PhysAddr,
        /// Writes are allowed.
        writable: bool,
    },
}

/// One level of a table.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// Bits of the address that choose the entry.
    pub bits: u8,
    /// Bytes of an entry: 4 or 8, little-endian.
    pub entry_bytes: u8,
    /// What an entry says.
    pub decode: fn(u64) -> Entry,
}

/// What becomes of an address with bits above those that the levels translate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beyond {
    /// The bus has so many bits, and those above are lost. What the levels do not translate of the rest is a fault.
    Wraps(u8),
    /// Every bit above those of the levels has to be 0. Addresses whose higher bits repeat the highest one come without
    /// the repetition ([`GpuAddr::canonical`]).
    Faults,
}

/// How the tables of a kind are built.
#[derive(Clone, Copy, Debug)]
pub struct TableFormat {
    levels: &'static [Level],
    beyond: Beyond,
}

impl TableFormat {
    /// A format with these levels, the root's first.
    ///
    /// # Panics
    ///
    /// When there are no levels or more than five, when a level takes no bits or more than 20, when an entry is neither
    /// 4 nor 8 bytes long, or when the bits are more than 60 with those in a page. Formats are constants, so that this
    /// is an error of the compiler.
    #[must_use]
    pub const fn new(levels: &'static [Level], beyond: Beyond) -> Self {
        assert!(!levels.is_empty() && levels.len() <= 5);
        let mut i = 0;
        let mut bits = PAGE_BITS;
        while i < levels.len() {
            let level = &levels[i];
            assert!(level.bits > 0 && level.bits <= 20);
            assert!(level.entry_bytes == 4 || level.entry_bytes == 8);
            bits += level.bits as u32;
            i += 1;
        }
        assert!(bits <= 60);
        if let Beyond::Wraps(bus) = beyond {
            assert!(bus >= 12 && bus < 64);
        }
        TableFormat { levels, beyond }
    }

    /// The levels, the root's first.
    pub const fn levels(&self) -> &'static [Level] {
        self.levels
    }

    /// Bits of an address that the tables translate, with those in a page.
    pub fn address_bits(&self) -> u32 {
        let bits = |level: &Level| u32::from(level.bits);
        PAGE_BITS + self.levels.iter().map(bits).sum::<u32>()
    }

    /// The bits of an address that are there at all.
    pub const fn bus(&self) -> u64 {
        match self.beyond {
            Beyond::Wraps(bits) => (1 << bits) - 1,
            Beyond::Faults => u64::MAX,
        }
    }

    /// The bits that the levels translate; `None` when the others make the address impossible.
    fn translated(&self, addr: GpuAddr) -> Option<u64> {
        let addr = addr.0 & self.bus();
        (addr >> self.address_bits() == 0).then_some(addr)
    }
}

/// Where the entries of the root lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Root {
    /// In system memory.
    Memory(PhysAddr),
    /// Among the entries of the global GTT, from this one on.
    Gtt(usize),
    /// In registers: a root of four entries (the PDPs of generation 8), more of them do not exist.
    Registers([u64; 4]),
}

/// The tables of a space.
#[derive(Clone, Copy, Debug)]
pub struct Tables {
    /// How they are built.
    pub format: &'static TableFormat,
    /// Where they begin.
    pub root: Root,
}

/// Where an entry is read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Slot {
    /// In system memory, with its bytes.
    Memory(PhysAddr, u8),
    /// An entry of the global GTT.
    Gtt(usize),
}

/// What a walk found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    /// Physical address of the byte.
    pub phys: u64,
    /// Writes are allowed.
    pub writable: bool,
    /// Level of the entry that says so, the root's being 1.
    pub level: u8,
    /// Number of that entry in its table.
    pub entry: u32,
}

/// Where and why a walk ended early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Miss {
    pub kind: FaultKind,
    pub level: u8,
    pub entry: u32,
}

impl Found {
    /// The same as a miss, for a byte that may not be accessed after all.
    pub fn refused(self, kind: FaultKind) -> Miss {
        Miss {
            kind,
            level: self.level,
            entry: self.entry,
        }
    }

    /// Whether the entry allows the access.
    pub fn allows(self, access: Access) -> bool {
        self.writable || access == Access::Read
    }
}

impl Tables {
    /// Follows the tables. `read` gives an entry, or `None` where there are no entries.
    pub(crate) fn walk(
        &self,
        addr: GpuAddr,
        read: impl Fn(Slot) -> Option<u64>,
    ) -> Result<Found, Miss> {
        let past = Miss {
            kind: FaultKind::PastGtt,
            level: 0,
            entry: 0,
        };
        let addr = self.format.translated(addr).ok_or(past)?;
        let mut shift = self.format.address_bits();
        let mut table = None;
        for (number, level) in (1..).zip(self.format.levels) {
            shift -= u32::from(level.bits);
            // CAST: a level has at most 20 bits.
            let entry = (addr >> shift) as u32 & ((1 << level.bits) - 1);
            let miss = |kind| Miss {
                kind,
                level: number,
                entry,
            };
            let in_memory = |table: PhysAddr| {
                let bytes = u64::from(entry) * u64::from(level.entry_bytes);
                let at = PhysAddr(table.0.saturating_add(bytes));
                read(Slot::Memory(at, level.entry_bytes)).ok_or(miss(FaultKind::NoMemory))
            };
            let raw = match (table, self.root) {
                (Some(table), _) | (None, Root::Memory(table)) => in_memory(table)?,
                (None, Root::Gtt(first)) => {
                    let index = first.saturating_add(entry as usize);
                    read(Slot::Gtt(index)).ok_or(miss(FaultKind::PastGtt))?
                }
                (None, Root::Registers(entries)) => {
                    let value = entries.get(entry as usize).copied();
                    value.ok_or(miss(FaultKind::PastGtt))?
                }
            };
            match (level.decode)(raw) {
                Entry::Absent => return Err(miss(FaultKind::InvalidPte)),
                Entry::Table(next) => table = Some(next),
                Entry::Memory { at, writable } => {
                    let inside = (1 << shift) - 1;
                    let phys = at.0 & !inside | addr & inside;
                    return Ok(Found {
                        phys,
                        writable,
                        level: number,
                        entry,
                    });
                }
            }
            if shift == PAGE_BITS {
                // A last level that says "table" is a row's mistake, or an entry that means nothing.
                return Err(miss(FaultKind::InvalidPte));
            }
        }
        Err(past)
    }
}
