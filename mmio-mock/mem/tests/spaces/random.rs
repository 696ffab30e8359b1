//! Random pages against a plain map, and random words as tables.
//!
//! No PRM section.

use std::collections::BTreeSet;

use crate::kinds::{KINDS, PAGE, Writer};
use mem::{Access, FaultKind, GpuAddr, Memory, PhysAddr, Process, Root, Space, Tables};

/// Pages of one kind of space that random addresses are compared on.
const PAGES: usize = 120;

/// A random page of a space, often near one of before.
fn page(rng: &mut fastrand::Rng, bits: u32, near: &[u64]) -> u64 {
    let all = 1u64 << (bits - 12);
    if near.is_empty() || rng.u8(..3) == 0 {
        return rng.u64(..all);
    }
    let old = near[rng.usize(..near.len())];
    (old + rng.u64(..8)) % all
}

#[test]
fn random_pages_of_every_kind_are_found_and_no_others() {
    let mut rng = fastrand::Rng::with_seed(0x5eed_1234);
    for kind in KINDS {
        let mut space = Writer::new(kind, 7, 16 << 20);
        let mut numbers = Vec::new();
        while numbers.len() < PAGES {
            let number = page(&mut rng, kind.bits, &numbers);
            if space.pages.contains_key(&number) {
                continue;
            }
            let at = space.mem.alloc_pages(1).unwrap();
            let words: Vec<u8> = std::iter::repeat_with(|| rng.u8(..))
                .take(PAGE as usize)
                .collect();
            space.mem.phys_write(at, &words).unwrap();
            let writable = !kind.protects || rng.bool();
            space.map(number * PAGE, at.0, writable);
            numbers.push(number);
        }
        let name = space.space();
        for _ in 0..4000 {
            let va = if rng.bool() {
                numbers[rng.usize(..PAGES)] * PAGE + rng.u64(..PAGE)
            } else {
                page(&mut rng, kind.bits, &numbers) * PAGE + rng.u64(..PAGE)
            };
            let addr = GpuAddr(va);
            let mapped = space.pages.get(&(va / PAGE)).copied();
            let ends = space.ends(va);
            let mut mem = space.mem.enter(name);
            match (mem.read_u8(addr), mapped) {
                (Ok(read), Some((at, _))) => {
                    assert_eq!(read, byte(&mem, at, va % PAGE), "{}", kind.name);
                }
                (Err(fault), None) => {
                    assert_eq!(fault.kind, FaultKind::InvalidPte);
                    assert_eq!((fault.level, fault.entry), ends, "{} {va:#x}", kind.name);
                    assert_eq!((fault.addr, fault.space), (addr, name));
                }
                (got, expected) => panic!("{}: {va:#x}: {got:?}, {expected:?}", kind.name),
            }
            if let Some((at, writable)) = mapped {
                let value = rng.u8(..);
                let wrote = mem.write_u8(addr, value);
                assert_eq!(wrote.is_ok(), writable, "{}", kind.name);
                if let Err(fault) = wrote {
                    assert_eq!(
                        (fault.kind, fault.access),
                        (FaultKind::ReadOnly, Access::Write)
                    );
                } else {
                    assert_eq!(byte(&mem, at, va % PAGE), value);
                }
            }
        }
        let distinct: BTreeSet<u64> = space.pages.values().map(|&(at, _)| at).collect();
        assert_eq!(distinct.len(), PAGES);
    }
}

/// The byte at an offset of a page, by physical address.
fn byte(mem: &Memory, page: u64, offset: u64) -> u8 {
    let mut byte = [0];
    mem.phys_read(PhysAddr(page + offset), &mut byte).unwrap();
    byte[0]
}

/// Words that are now and then a valid entry.
fn word(rng: &mut fastrand::Rng) -> u64 {
    match rng.u8(..6) {
        0 => rng.u64(..),
        1 => rng.u64(..1 << 22) | 1,
        2 => (rng.u64(..66) << 12) | 0x63,
        3 | 4 => (rng.u64(..66) << 12) | 3,
        _ => 0,
    }
}

#[test]
fn no_table_and_no_address_is_a_panic() {
    let mut rng = fastrand::Rng::with_seed(0x00ab_cdef);
    let mut found = 0;
    for round in 0..300 {
        let kind = KINDS[round % KINDS.len()];
        // Of pages and a bit, so that the last one is not whole.
        let block = memmap2::MmapMut::map_anon(64 * 4096 + rng.usize(..4096)).unwrap();
        let mut mem = Memory::over((block, 0), &mem::FLAT_GTT, rng.usize(..64));
        for at in (0..64 * 4096).step_by(8) {
            let word = word(&mut rng).to_le_bytes();
            mem.phys_write(PhysAddr(at), &word).unwrap();
        }
        for index in 0..64 {
            mem.gtt_write(index, word(&mut rng) as u32);
        }
        let root = match rng.u8(..3) {
            0 => Root::Memory(PhysAddr(word(&mut rng) & !u64::from(rng.u16(..)))),
            1 => Root::Gtt(rng.usize(..80)),
            _ => Root::Registers(std::array::from_fn(|_| word(&mut rng))),
        };
        let format = kind.format;
        let process = Process::new(rng.u8(..255)).unwrap();
        mem.set_tables(process, Some(Tables { format, root }));
        for space in [Space::Global, Space::Process(process)] {
            let mut mem = mem.enter(space);
            for _ in 0..200 {
                let addr = match rng.u8(..4) {
                    0 => rng.u64(..),
                    1 => u64::MAX - rng.u64(..8192),
                    2 => rng.u64(..1 << 32),
                    _ => rng.u64(..1 << 18),
                };
                let addr = GpuAddr(addr);
                if let Ok(index) = mem.translate(addr, Access::Write) {
                    assert!(index < 64 * 4096);
                    assert_eq!(index % 4096, addr.in_page());
                    found += 1;
                }
                let _ = mem.on_bus(addr);
                let _ = mem.page(addr);
                let _ = mem.read_u64(addr);
                let mut bytes = vec![0; rng.usize(..9000)];
                let _ = mem.read_bytes(addr, &mut bytes);
                bytes.truncate(40);
                let _ = mem.write_bytes(addr, &bytes);
                let mut dwords = vec![0; rng.usize(..2000)];
                let _ = mem.read_dwords(addr, &mut dwords);
                let _ = mem.write_dwords(addr, &dwords[..dwords.len().min(8)]);
            }
            mem.invalidate_translations(space);
        }
    }
    assert!(found > 1000, "{found}");
}
