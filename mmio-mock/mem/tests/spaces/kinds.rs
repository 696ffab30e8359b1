//! Kinds of tables as drivers write them: rows for the walk, and writers.
//!
//! Writers know nothing of the walk: they compute places and entries by the drivers' own formulas. Sources: Linux,
//! drivers/gpu/drm/i915/gt (gen6_ppgtt.c, gen8_ppgtt.c, intel_gtt.h) and drivers/gpu/drm/radeon (radeon_vm.c, ni.c,
//! radeon.h).

use std::collections::BTreeMap;

use mem::table::{Beyond, Entry, Level};
use mem::{GpuAddr, Memory, PhysAddr, Process, Root, Space, TableFormat, Tables};

/// A page of system memory.
pub const PAGE: u64 = 4096;

/// A kind of table.
#[derive(Clone, Copy)]
pub struct Kind {
    pub name: &'static str,
    pub format: &'static TableFormat,
    /// First bit of an address that each level takes, the root's first.
    pub shifts: &'static [u32],
    /// Bits of addresses that mean something.
    pub bits: u32,
    /// Pages can be read only.
    pub protects: bool,
    /// The root's place in a fresh memory.
    pub root: fn(&mut Memory) -> Root,
    /// Writes an entry: of a level, at an index of a table (the root's is `None`).
    pub write: fn(&mut Writer, level: usize, table: Option<u64>, index: u64, value: Value),
}

/// What a writer puts into an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    Nothing,
    Table(u64),
    Page(u64, bool),
}

/// Writes the tables of a space, and knows what it has mapped.
pub struct Writer {
    pub kind: Kind,
    pub process: Process,
    pub mem: Memory,
    pub root: Root,
    /// Tables by level and the bits of the address above their entries.
    tables: BTreeMap<(usize, u64), u64>,
    /// What is mapped, by number of the page.
    pub pages: BTreeMap<u64, (u64, bool)>,
}

impl Writer {
    /// An empty space in a memory of its own.
    pub fn new(kind: Kind, process: u8, bytes: usize) -> Self {
        Self::within(kind, process, Memory::new(bytes, 8192))
    }

    /// An empty space in a memory.
    pub fn within(kind: Kind, process: u8, mut mem: Memory) -> Self {
        let root = (kind.root)(&mut mem);
        let process = Process::new(process).unwrap();
        let mut space = Writer {
            kind,
            process,
            mem,
            root,
            tables: BTreeMap::new(),
            pages: BTreeMap::new(),
        };
        space.load();
        space
    }

    /// Tells the memory where the tables are.
    pub fn load(&mut self) {
        let tables = Tables {
            format: self.kind.format,
            root: self.root,
        };
        self.mem.set_tables(self.process, Some(tables));
    }

    pub fn space(&self) -> Space {
        Space::Process(self.process)
    }

    /// Number of the entry of a level.
    pub fn index(&self, level: usize, va: u64) -> u64 {
        let top = match level {
            0 => self.kind.bits,
            _ => self.kind.shifts[level - 1],
        };
        (va % (1 << top)) >> self.kind.shifts[level]
    }

    /// The table of a level that an address goes through, if it is there.
    fn table(&self, level: usize, va: u64) -> Option<u64> {
        let above = (va % (1 << self.kind.bits)) >> self.kind.shifts[level - 1];
        self.tables.get(&(level, above)).copied()
    }

    /// Writes the entry of a level for an address; the tables above have to be there.
    pub fn put(&mut self, level: usize, va: u64, value: Value) {
        let table = (level > 0).then(|| self.table(level, va).unwrap());
        let index = self.index(level, va);
        (self.kind.write)(self, level, table, index, value);
    }

    /// Maps a page.
    pub fn map(&mut self, va: u64, pa: u64, writable: bool) {
        let levels = self.kind.shifts.len();
        for level in 1..levels {
            if self.table(level, va).is_none() {
                let table = self.mem.alloc_pages(1).unwrap().0;
                let above = (va % (1 << self.kind.bits)) >> self.kind.shifts[level - 1];
                self.tables.insert((level, above), table);
                self.put(level - 1, va, Value::Table(table));
            }
        }
        self.put(levels - 1, va, Value::Page(pa, writable));
        let page = va % (1 << self.kind.bits) / PAGE;
        self.pages.insert(page, (pa, writable));
    }

    /// The level (the root's is 1) and the entry at which the walk for an unmapped address has to end.
    pub fn ends(&self, va: u64) -> (u8, u32) {
        let levels = self.kind.shifts.len();
        let missing = (1..levels).find(|&level| self.table(level, va).is_none());
        let level = missing.map_or(levels - 1, |level| level - 1);
        (level as u8 + 1, self.index(level, va) as u32)
    }

    pub fn read(&mut self, va: u64) -> Result<u64, mem::Fault> {
        let space = self.space();
        self.mem.enter(space).read_u64(GpuAddr(va))
    }

    fn put32(&mut self, table: u64, index: u64, value: u32) {
        let at = PhysAddr(table + index * 4);
        self.mem.phys_write_u32(at, value).unwrap();
    }

    fn put64(&mut self, table: u64, index: u64, value: u64) {
        let at = PhysAddr(table + index * 8);
        self.mem.phys_write(at, &value.to_le_bytes()).unwrap();
    }
}

/// intel_gtt.h GEN6_GTT_ADDR_ENCODE: bits 39:32 of the address go to 11:4.
pub fn gen6_addr_encode(addr: u64) -> u32 {
    (addr | (addr >> 28 & 0xff0)) as u32
}

fn gen6_addr(entry: u64) -> PhysAddr {
    PhysAddr(entry & 0xffff_f000 | (entry >> 4 & 0xff) << 32)
}

fn page_table(raw: u64) -> Entry {
    match raw & 1 {
        1 => Entry::Table(gen6_addr(raw)),
        _ => Entry::Absent,
    }
}

fn snb_page(raw: u64) -> Entry {
    let (at, writable) = (gen6_addr(raw), true);
    if raw & 1 == 0 {
        return Entry::Absent;
    }
    Entry::Memory { at, writable }
}

/// intel_gtt.h BYT_PTE_WRITEABLE.
fn byt_page(raw: u64) -> Entry {
    let (at, writable) = (gen6_addr(raw), raw & 2 != 0);
    if raw & 1 == 0 {
        return Entry::Absent;
    }
    Entry::Memory { at, writable }
}

const fn level(bits: u8, entry_bytes: u8, decode: fn(u64) -> Entry) -> Level {
    Level {
        bits,
        entry_bytes,
        decode,
    }
}

static FLAT: TableFormat = TableFormat::new(&[level(9, 4, snb_page)], Beyond::Faults);
static GEN6: TableFormat = TableFormat::new(
    &[level(9, 4, page_table), level(10, 4, snb_page)],
    Beyond::Wraps(32),
);
static BYT: TableFormat = TableFormat::new(
    &[level(9, 4, page_table), level(10, 4, byt_page)],
    Beyond::Wraps(32),
);

/// intel_gtt.h GEN8_PAGE_PRESENT and GEN8_PAGE_RW; gen8_ppgtt.c gen8_pde_encode sets both in directories.
fn gen8_table(raw: u64) -> Entry {
    match raw & 1 {
        1 => Entry::Table(PhysAddr(raw & 0x7f_ffff_f000)),
        _ => Entry::Absent,
    }
}

/// intel_gtt.h GEN8_PDE_PS_2M.
fn gen8_directory(raw: u64) -> Entry {
    if raw & 0x81 == 0x81 {
        return gen8_page(raw);
    }
    gen8_table(raw)
}

fn gen8_page(raw: u64) -> Entry {
    let (at, writable) = (PhysAddr(raw & 0x7f_ffff_f000), raw & 2 != 0);
    if raw & 1 == 0 {
        return Entry::Absent;
    }
    Entry::Memory { at, writable }
}

/// PDP registers have no bits besides the address; a driver loads all four (gen8_ppgtt.c, lrc.c ASSIGN_CTX_PDP).
fn pdp(raw: u64) -> Entry {
    match raw {
        0 => Entry::Absent,
        raw => Entry::Table(PhysAddr(raw)),
    }
}

static GEN8_3LVL: TableFormat = TableFormat::new(
    &[
        level(2, 8, pdp),
        level(9, 8, gen8_directory),
        level(9, 8, gen8_page),
    ],
    Beyond::Wraps(32),
);
static GEN8_4LVL: TableFormat = TableFormat::new(
    &[
        level(9, 8, gen8_table),
        level(9, 8, gen8_table),
        level(9, 8, gen8_directory),
        level(9, 8, gen8_page),
    ],
    Beyond::Faults,
);

/// radeon.h R600_PTE_VALID, R600_PTE_READABLE, R600_PTE_WRITEABLE.
const VALID: u64 = 1;
const READABLE: u64 = 1 << 5;
const WRITEABLE: u64 = 1 << 6;

fn radeon_table(raw: u64) -> Entry {
    match raw & VALID {
        0 => Entry::Absent,
        _ => Entry::Table(PhysAddr(raw & 0xff_ffff_f000)),
    }
}

fn radeon_page(raw: u64) -> Entry {
    let (at, writable) = (PhysAddr(raw & 0xff_ffff_f000), raw & WRITEABLE != 0);
    if raw & (VALID | READABLE) != VALID | READABLE {
        return Entry::Absent;
    }
    Entry::Memory { at, writable }
}

/// 40 bits: a directory of 2^19 entries, tables of 2^9 (radeon_vm.c, radeon_vm_block_size 9).
static RADEON: TableFormat = TableFormat::new(
    &[level(19, 8, radeon_table), level(9, 8, radeon_page)],
    Beyond::Faults,
);

fn in_pages(mem: &mut Memory, bytes: u64) -> Root {
    Root::Memory(mem.alloc_pages((bytes / PAGE) as usize).unwrap())
}

fn write_flat(s: &mut Writer, _: usize, _: Option<u64>, index: u64, value: Value) {
    let Root::Memory(PhysAddr(table)) = s.root else {
        panic!()
    };
    match value {
        Value::Page(pa, _) => s.put32(table, index, gen6_addr_encode(pa) | 1),
        _ => s.put32(table, index, 0),
    }
}

/// gen6_ppgtt.c gen6_write_pde: the directory lies among the entries of the global GTT.
fn write_gen6(s: &mut Writer, _: usize, table: Option<u64>, index: u64, value: Value) {
    let entry = match value {
        Value::Nothing => 0,
        Value::Table(pa) => gen6_addr_encode(pa) | 1,
        // Cached in the LLC: GEN6_PTE_CACHE_LLC. On ValleyView the bits say snooped and writable.
        Value::Page(pa, false) => gen6_addr_encode(pa) | 1 | 4,
        Value::Page(pa, true) => gen6_addr_encode(pa) | 1 | 2,
    };
    match (table, s.root) {
        (Some(table), _) => s.put32(table, index, entry),
        (None, Root::Gtt(first)) => s.mem.gtt_write(first + index as usize, entry),
        _ => panic!(),
    }
}

fn write_gen8(s: &mut Writer, _: usize, table: Option<u64>, index: u64, value: Value) {
    let entry = match value {
        Value::Nothing => 0,
        Value::Table(pa) => pa | 3,
        Value::Page(pa, writable) => pa | 1 | u64::from(writable) << 1,
    };
    match (table, &mut s.root) {
        (Some(table), _) | (None, &mut Root::Memory(PhysAddr(table))) => {
            s.put64(table, index, entry);
        }
        (None, Root::Registers(entries)) => {
            entries[index as usize] = entry & !0xfff;
            s.load();
        }
        _ => panic!(),
    }
}

fn write_radeon(s: &mut Writer, _: usize, table: Option<u64>, index: u64, value: Value) {
    let entry = match value {
        Value::Nothing => 0,
        Value::Table(pa) => pa | VALID,
        Value::Page(pa, true) => pa | VALID | READABLE | WRITEABLE,
        Value::Page(pa, false) => pa | VALID | READABLE,
    };
    match (table, s.root) {
        (Some(table), _) => s.put64(table, index, entry),
        (None, Root::Memory(PhysAddr(root))) => s.put64(root, index, entry),
        _ => panic!(),
    }
}

/// All kinds, by number of levels: 1, 2, 2, 2, 3, 4.
pub const KINDS: [Kind; 6] = [
    Kind {
        name: "one level",
        format: &FLAT,
        shifts: &[12],
        bits: 21,
        protects: false,
        root: |mem| in_pages(mem, PAGE),
        write: write_flat,
    },
    Kind {
        name: "generation 6",
        format: &GEN6,
        shifts: &[22, 12],
        bits: 31,
        protects: false,
        root: |_| Root::Gtt(4096),
        write: write_gen6,
    },
    Kind {
        name: "ValleyView",
        format: &BYT,
        shifts: &[22, 12],
        bits: 31,
        protects: true,
        root: |_| Root::Gtt(5120),
        write: write_gen6,
    },
    Kind {
        name: "another vendor",
        format: &RADEON,
        shifts: &[21, 12],
        bits: 40,
        protects: true,
        root: |mem| in_pages(mem, 8 << 19),
        write: write_radeon,
    },
    Kind {
        name: "generation 8, 32 bits",
        format: &GEN8_3LVL,
        shifts: &[30, 21, 12],
        bits: 32,
        protects: true,
        root: |_| Root::Registers([0; 4]),
        write: write_gen8,
    },
    Kind {
        name: "generation 8, 48 bits",
        format: &GEN8_4LVL,
        shifts: &[39, 30, 21, 12],
        bits: 48,
        protects: true,
        root: |mem| in_pages(mem, PAGE),
        write: write_gen8,
    },
];

/// A kind by name.
pub fn kind(name: &str) -> Kind {
    *KINDS.iter().find(|kind| kind.name == name).unwrap()
}
