//! Address spaces: tables of one to four levels, faults, what is kept of tables.
//!
//! The expectations are a plain map of what was mapped, and the place of an entry by the drivers' formulas.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "tests"
)]

mod kinds;
mod random;

use kinds::{KINDS, PAGE, Value, Writer, gen6_addr_encode, kind};
use mem::table::{Beyond, Entry, Level};
use mem::{
    Access, Fault, FaultKind, GpuAddr, Memory, PhysAddr, Process, Pte, Root, Space, TableFormat,
    Tables,
};

/// A page of memory full of one byte.
fn page_of(mem: &mut Memory, byte: u8) -> u64 {
    let page = mem.alloc_pages(1).unwrap();
    mem.phys_write(page, &[byte; PAGE as usize]).unwrap();
    page.0
}

/// An address in the middle of the space of a kind.
fn middle(space: &Writer) -> u64 {
    (1 << (space.kind.bits - 2)) + 5 * PAGE
}

#[test]
fn an_entry_that_is_missing_is_named_by_its_level() {
    for kind in KINDS {
        let levels = kind.shifts.len();
        for level in 0..levels {
            let mut space = Writer::new(kind, 3, 16 << 20);
            let page = page_of(&mut space.mem, 0x5a);
            let va = middle(&space);
            space.map(va, page, true);
            assert_eq!(
                space.read(va + 8),
                Ok(0x5a5a_5a5a_5a5a_5a5a),
                "{}",
                kind.name
            );
            space.put(level, va, Value::Nothing);
            let kept = space.read(va + 8);
            let forgotten = matches!(space.root, Root::Registers(_)) && level == 0;
            assert_eq!(
                kept.is_err(),
                forgotten,
                "registers were loaded, else it is kept"
            );
            space.mem.invalidate_translations(space.space());
            let fault = Fault {
                addr: GpuAddr(va + 8),
                space: space.space(),
                access: Access::Read,
                kind: FaultKind::InvalidPte,
                level: level as u8 + 1,
                entry: space.index(level, va) as u32,
            };
            assert_eq!(
                space.read(va + 8),
                Err(fault),
                "{}, level {level}",
                kind.name
            );
        }
    }
}

#[test]
fn faults_of_a_process_say_where_they_happened() {
    let mut space = Writer::new(kind("generation 6"), 3, 1 << 20);
    let page = page_of(&mut space.mem, 0);
    space.map(0x0040_0000, page, true);
    let text = |r: Result<u64, Fault>| r.unwrap_err().to_string();
    assert_eq!(
        text(space.read(0x0040_2000)),
        "Read at 0x00402000 of space 3: entry 2 of level 2 is not valid"
    );
    assert_eq!(
        text(space.read(0x7fc0_0000)),
        "Read at 0x7fc00000 of space 3: entry 511 of level 1 is not valid"
    );
    assert_eq!(
        text(space.read(0x8000_0000)),
        "Read at 0x80000000 of space 3: the address is past the end of the space"
    );
    // An address bit that the memory does not reach (bits 11:4 of the entry), then a table there.
    space.put(1, 0x0040_0000, Value::Page(0x12_3456_7000, true));
    space.mem.invalidate_translations(space.space());
    assert_eq!(
        text(space.read(0x0040_0000)),
        "Read at 0x00400000 of space 3: entry 0 of level 2 points at no memory"
    );
    space.put(0, 0x0040_0000, Value::Table(0x12_3456_7000));
    assert_eq!(
        text(space.read(0x0040_1000)),
        "Read at 0x00401000 of space 3: entry 1 of level 2 points at no memory"
    );
    space.mem.set_tables(space.process, None);
    assert_eq!(
        text(space.read(0x0040_0000)),
        "Read at 0x00400000 of space 3: the space has no tables"
    );
    let mut space = Writer::new(kind("ValleyView"), 254, 1 << 20);
    let page = page_of(&mut space.mem, 7);
    space.map(0x1000, page, false);
    assert_eq!(space.read(0x1000), Ok(0x0707_0707_0707_0707));
    let name = space.space();
    let fault = space.mem.enter(name).write_u8(GpuAddr(0x1008), 1);
    assert_eq!(
        fault.unwrap_err().to_string(),
        "Write at 0x00001008 of space 254: entry 1 of level 2 allows no writes"
    );
}

#[test]
fn a_directory_can_lie_past_the_end_of_the_gtt_or_of_memory() {
    let mut space = Writer::new(kind("generation 6"), 0, 1 << 20);
    for first in [8192 - 511, 8192, usize::MAX] {
        space.root = Root::Gtt(first);
        space.load();
        let fault = space.read(0x7fff_f000).unwrap_err();
        let found = (fault.kind, fault.level, fault.entry);
        assert_eq!(found, (FaultKind::PastGtt, 1, 511), "{first}");
    }
    let mut space = Writer::new(kind("generation 8, 48 bits"), 0, 1 << 20);
    for at in [1 << 20, (1 << 20) - 0x7f8, u64::MAX] {
        space.root = Root::Memory(PhysAddr(at));
        space.load();
        let fault = space.read(0x7fff_ffff_f000).unwrap_err();
        let found = (fault.kind, fault.level, fault.entry);
        assert_eq!(found, (FaultKind::NoMemory, 1, 255), "{at:#x}");
    }
}

#[test]
fn addresses_beyond_a_space_fault_or_wrap_as_its_bus_does() {
    for kind in KINDS {
        let mut space = Writer::new(kind, 0, 16 << 20);
        let page = page_of(&mut space.mem, 0x11);
        space.map(0, page, true);
        let last = (1 << (kind.bits - 1)) * 2 - PAGE;
        let page = page_of(&mut space.mem, 0x22);
        space.map(last, page, true);
        let past = |space: &mut Writer, va: u64| {
            let fault = space.read(va).unwrap_err();
            assert_eq!(
                (fault.kind, fault.level),
                (FaultKind::PastGtt, 0),
                "{}",
                kind.name
            );
            fault.addr
        };
        let wraps = kind.name.contains("generation 6")
            || kind.name.contains("ValleyView")
            || kind.name.contains("32 bits");
        let low = Ok(0x1111_1111_1111_1111);
        assert_eq!(space.read(0), low);
        if wraps {
            // The bus of generations 6 and 7 has 32 bits.
            assert_eq!(space.read(0x1_0000_0000), low, "{}", kind.name);
            assert_eq!(space.read(0xdead_beef_0000_0000), low);
            if kind.bits == 31 {
                assert_eq!(past(&mut space, 0x8000_0000), GpuAddr(0x8000_0000));
                assert_eq!(past(&mut space, 0x5_8000_0000), GpuAddr(0x8000_0000));
            }
        } else {
            if kind.bits == 48 {
                // Commands have addresses in canonical form: 63:48 are as bit 47.
                let addr = |raw| GpuAddr::canonical(raw, 48).0;
                past(&mut space, addr(0x0000_8000_0000_0000));
                past(&mut space, addr(0x7fff_ffff_ffff_f000));
                assert_eq!(space.read(addr(last | 0xffff << 48)), space.read(last));
            }
            past(&mut space, 1 << kind.bits);
            past(&mut space, u64::MAX - 7);
            assert_eq!(space.read(last), Ok(0x2222_2222_2222_2222));
        }
        // Eight bytes across the last address of all.
        let name = space.space();
        assert!(
            space
                .mem
                .enter(name)
                .read_u64(GpuAddr(u64::MAX - 3))
                .is_err()
                || wraps
        );
    }
}

#[test]
fn an_access_goes_on_past_4_gib_where_addresses_are_longer() {
    let mut space = Writer::new(kind("generation 8, 48 bits"), 0, 1 << 20);
    let (low, high) = (page_of(&mut space.mem, 1), page_of(&mut space.mem, 2));
    space.map(0xffff_f000, low, true);
    space.map(0x1_0000_0000, high, true);
    assert_eq!(space.read(0xffff_fffc), Ok(0x0202_0202_0101_0101));
    let name = space.space();
    let mut mem = space.mem.enter(name);
    let end = GpuAddr(0xffff_fff0).offset(0x20);
    mem.write_u8(end, 9).unwrap();
    assert_eq!(mem.read_u32(GpuAddr(0x1_0000_0010)), Ok(0x0202_0209));
    assert_eq!(mem.on_bus(end), end);
}

#[test]
fn the_global_gtt_wraps_after_32_bits() {
    let mut mem = Memory::new(1 << 20, 1 << 20);
    mem.alloc_mapped(GpuAddr(0), 4096).unwrap();
    mem.alloc_mapped(GpuAddr(0xffff_f000), 4096).unwrap();
    mem.write_u64(GpuAddr(0xffff_fffc), 0x1122_3344_5566_7788)
        .unwrap();
    assert_eq!(mem.read_u32(GpuAddr(0)), Ok(0x1122_3344));
    assert_eq!(
        mem.read_u32(GpuAddr(0xffff_ff00).offset(0x100)),
        Ok(0x1122_3344)
    );
    assert_eq!(
        mem.on_bus(GpuAddr(0xffff_ff00).offset(0x180)),
        GpuAddr(0x80)
    );
    let fault = mem
        .read_u8(GpuAddr(0xffff_ff00).offset(0x1100))
        .unwrap_err();
    assert_eq!(
        fault.to_string(),
        "Read at 0x00001000: the GTT entry is not valid"
    );
    assert_eq!(
        (fault.space, fault.level, fault.entry),
        (Space::Global, 1, 1)
    );
}

#[test]
fn two_spaces_and_the_global_one_differ_at_one_address() {
    let va = 0x0123_4000;
    let mut first = Writer::new(kind("generation 6"), 0, 8 << 20);
    let page = page_of(&mut first.mem, 0xaa);
    first.map(va, page, true);
    let mut second = Writer::within(kind("another vendor"), 1, first.mem);
    let page = page_of(&mut second.mem, 0xbb);
    second.map(va, page, true);
    let mem = &mut second.mem;
    let page = page_of(mem, 0xcc);
    mem.gtt_map(GpuAddr(va), PhysAddr(page), 1);
    let [first, second] = [0, 1].map(|n| Space::Process(Process::new(n).unwrap()));
    let byte = |mem: &Memory| mem.read_u8(GpuAddr(va)).unwrap();
    assert_eq!(byte(mem), 0xcc);
    {
        let mut inside = mem.enter(first);
        assert_eq!((byte(&inside), inside.space()), (0xaa, first));
        inside.write_u8(GpuAddr(va), 0xa1).unwrap();
        {
            let mut deeper = inside.enter(Space::Global);
            assert_eq!(byte(&deeper), 0xcc);
            assert_eq!(byte(&deeper.enter(second)), 0xbb);
            deeper.write_u8(GpuAddr(va), 0xc1).unwrap();
        }
        assert_eq!(byte(&inside), 0xa1);
        // Entries of the global GTT can be written meanwhile, and the aperture is not the process's.
        let page = page_of(&mut inside, 0xdd);
        inside.gtt_write((va >> 12) as usize + 1, Pte::valid(page).0);
        assert_eq!(byte(&inside), 0xa1);
        let elsewhere = inside.translate_in(second, GpuAddr(va), Access::Read);
        assert_eq!(inside.arena_bytes()[elsewhere.unwrap()], 0xbb);
    }
    assert_eq!(mem.space(), Space::Global);
    assert_eq!(byte(mem), 0xc1);
    assert_eq!(mem.read_u8(GpuAddr(va + PAGE)), Ok(0xdd));
    assert_eq!(byte(&mem.clone().enter(second)), 0xbb);
}

#[test]
fn translations_are_kept_until_they_are_invalidated() {
    for kind in KINDS {
        let mut space = Writer::new(kind, 0, 16 << 20);
        let (old, new) = (page_of(&mut space.mem, 1), page_of(&mut space.mem, 2));
        let va = middle(&space);
        // A fault is not kept.
        assert!(space.read(va).is_err());
        space.map(va, old, true);
        assert_eq!(space.read(va), Ok(0x0101_0101_0101_0101));
        space.map(va, new, true);
        assert_eq!(space.read(va), Ok(0x0101_0101_0101_0101), "stale");
        let name = space.space();
        space.mem.enter(name).write_u64(GpuAddr(va), 3).unwrap();
        // Neither another space's invalidation nor the global one's is this one's.
        let other = Space::Process(Process::new(9).unwrap());
        space.mem.invalidate_translations(other);
        space.mem.invalidate_translations(Space::Global);
        assert_eq!(space.read(va), Ok(3), "{}", kind.name);
        space.mem.invalidate_translations(name);
        assert_eq!(space.read(va), Ok(0x0202_0202_0202_0202), "{}", kind.name);
        space.map(va, old, true);
        assert_eq!(space.read(va), Ok(0x0202_0202_0202_0202));
        space.load();
        assert_eq!(space.read(va), Ok(3), "the base was loaded again");
    }
}

#[test]
fn an_entry_above_the_last_level_can_be_memory() {
    let mut space = Writer::new(kind("generation 8, 48 bits"), 0, 8 << 20);
    let page = page_of(&mut space.mem, 1);
    space.map(0x1234_5640_0000, page, true);
    // GEN8_PDE_PS_2M in a directory's entry; the range is the third one of 2 MiB.
    let Root::Memory(PhysAddr(mut table)) = space.root else {
        panic!()
    };
    for level in 0..2 {
        let mut entry = [0; 8];
        let at = PhysAddr(table + space.index(level, 0x1234_5640_0000) * 8);
        space.mem.phys_read(at, &mut entry).unwrap();
        table = u64::from_le_bytes(entry) & !0xfff;
    }
    let entry = PhysAddr(table + space.index(2, 0x1234_5640_0000) * 8);
    let large: u64 = 2 << 21 | 0x83;
    space.mem.phys_write(entry, &large.to_le_bytes()).unwrap();
    let bytes = 0x1122_3344_5566_7788_u64.to_le_bytes();
    space
        .mem
        .phys_write(PhysAddr(2 << 21 | 0x1_2340), &bytes)
        .unwrap();
    assert_eq!(space.read(0x1234_5641_2340), Ok(0x1122_3344_5566_7788));
    // The next two megabytes have an entry of their own.
    assert_eq!(space.read(0x1234_5660_0000).unwrap_err().level, 3);
    // Where memory ends inside of the range, so does what can be reached.
    let large: u64 = 8 << 20 | 0x83;
    space.mem.phys_write(entry, &large.to_le_bytes()).unwrap();
    space.mem.invalidate_translations(space.space());
    let fault = space.read(0x1234_5641_2340).unwrap_err();
    assert_eq!((fault.kind, fault.level), (FaultKind::NoMemory, 3));
}

#[test]
fn the_global_gtt_can_have_other_entries() {
    /// intel_gtt.h: GEN8_PAGE_PRESENT, entries of 64 bits.
    static WIDE: TableFormat = TableFormat::new(
        &[Level {
            bits: 20,
            entry_bytes: 8,
            decode: |raw| match raw & 1 {
                0 => Entry::Absent,
                _ => Entry::Memory {
                    at: PhysAddr(raw & 0x7f_ffff_f000),
                    writable: raw & 2 != 0,
                },
            },
        }],
        Beyond::Wraps(32),
    );
    let mut mem = Memory::with_format(1 << 20, &WIDE, 16);
    let page = page_of(&mut mem, 0x77);
    mem.gtt_write_wide(2, page | 3);
    mem.gtt_write_wide(3, page | 1);
    mem.gtt_write_wide(4, 1 << 38 | page | 3);
    assert_eq!(mem.read_u8(GpuAddr(0x2fff)), Ok(0x77));
    mem.write_u8(GpuAddr(0x2fff), 0x78).unwrap();
    assert_eq!(mem.read_u8(GpuAddr(0x3fff)), Ok(0x78));
    let kind = |r: Result<(), Fault>| r.unwrap_err().kind;
    assert_eq!(kind(mem.write_u8(GpuAddr(0x3000), 0)), FaultKind::ReadOnly);
    assert_eq!(kind(mem.write_u8(GpuAddr(0x4000), 0)), FaultKind::NoMemory);
    assert_eq!(
        kind(mem.write_u8(GpuAddr(0x5000), 0)),
        FaultKind::InvalidPte
    );
    assert_eq!(kind(mem.write_u8(GpuAddr(0x1_0000), 0)), FaultKind::PastGtt);
}

#[test]
fn a_page_that_memory_holds_in_part_is_no_memory() {
    let block = memmap2::MmapMut::map_anon(4 * 4096 + 100).unwrap();
    let mut mem = Memory::over((block, 0), &mem::FLAT_GTT, 16);
    mem.gtt_write(1, gen6_addr_encode(4 * PAGE) | 1);
    let fault = mem.read_u8(GpuAddr(0x1000)).unwrap_err();
    assert_eq!(fault.kind, FaultKind::NoMemory);
    let tables = Tables {
        format: kind("one level").format,
        root: Root::Memory(PhysAddr(PAGE)),
    };
    mem.set_tables(Process::FIRST, Some(tables));
    mem.phys_write_u32(PhysAddr(PAGE), gen6_addr_encode(4 * PAGE) | 1)
        .unwrap();
    let inside = mem.enter(Space::Process(Process::FIRST));
    let fault = inside.read_u8(GpuAddr(0)).unwrap_err();
    assert_eq!((fault.kind, fault.level), (FaultKind::NoMemory, 1));
}
