//! Tests of the memory: scattered pages, page crossings, faults, aperture.
//!
//! PRM: volume 1 (memory interface). Not covered: timing.
#![allow(clippy::unwrap_used, reason = "tests")]
use super::*;
use crate::FaultKind;
use crate::table::{Beyond, Entry, Level};

/// Two graphics pages mapped to physical pages in reverse order.
fn reversed() -> Memory {
    let mut m = Memory::new(1 << 20, 64);
    let p = m.alloc_pages(2).unwrap();
    m.gtt_map(GpuAddr(0x5000), PhysAddr(p.0 + 0x1000), 1);
    m.gtt_map(GpuAddr(0x6000), p, 1);
    m
}

#[test]
fn accesses_cross_pages() {
    let mut m = reversed();
    m.write_u64(GpuAddr(0x5ffd), 0x8877_6655_4433_2211).unwrap();
    assert_eq!(m.read_u64(GpuAddr(0x5ffd)).unwrap(), 0x8877_6655_4433_2211);
    assert_eq!(m.read_u8(GpuAddr(0x6000)).unwrap(), 0x44);
    assert_eq!(m.read_u16(GpuAddr(0x5fff)).unwrap(), 0x4433);
    let mut phys = [0; 2];
    m.phys_read(PhysAddr(0x1000), &mut phys).unwrap();
    assert_eq!(phys, [0x44, 0x55]);
    let mut dw = [0; 2];
    m.read_dwords(GpuAddr(0x5ffd), &mut dw).unwrap();
    assert_eq!(dw, [0x4433_2211, 0x8877_6655]);
    m.write_dwords(GpuAddr(0x5ff8), &[1, 2, 3, 4]).unwrap();
    let mut dw = [0; 4];
    m.read_dwords(GpuAddr(0x5ff8), &mut dw).unwrap();
    assert_eq!(dw, [1, 2, 3, 4]);
    assert_eq!(m.page(GpuAddr(0x5ff8)).unwrap().len(), 8);
}

#[test]
fn faults_name_their_cause() {
    let mut m = reversed();
    m.gtt_write(8, Pte::valid(0xf_0000_0000).0);
    let kind = |r: Result<u32, Fault>| r.unwrap_err().kind;
    assert_eq!(kind(m.read_u32(GpuAddr(0x7000))), FaultKind::InvalidPte);
    assert_eq!(kind(m.read_u32(GpuAddr(0x8000))), FaultKind::NoMemory);
    assert_eq!(kind(m.read_u32(GpuAddr(0x4_0000))), FaultKind::PastGtt);
    let e = m.write_u32(GpuAddr(0x6ffe), 0).unwrap_err();
    assert_eq!((e.addr, e.access), (GpuAddr(0x7000), Access::Write));
    assert_eq!(
        e.to_string(),
        "Write at 0x00007000: the GTT entry is not valid"
    );
}

#[test]
fn the_aperture_detiles_fenced_ranges() {
    let mut m = Memory::new(1 << 20, 64);
    m.alloc_mapped(GpuAddr(0x8000), 0x8000).unwrap();
    // 1024 bytes a row, Y tiles: byte 16 of row 0 is 512 bytes into the tile.
    m.fence_write(3, Fence::new(0x8000, 0xf000, 1024, Tiling::Y).0);
    let data: Vec<u8> = (0..64).collect();
    m.aperture_write(0x8000, &data).unwrap();
    assert_eq!(m.read_u8(GpuAddr(0x8000 + 512)).unwrap(), 16);
    assert_eq!(m.read_u8(GpuAddr(0x8000 + 3 * 512 + 15)).unwrap(), 63);
    let mut back = [0; 64];
    m.aperture_read(0x8000, &mut back).unwrap();
    assert_eq!(&back[..], &data[..]);
    m.set_swizzle(BitSixSwizzle::None, BitSixSwizzle::Nine);
    m.aperture_write(0x8010, &[0xee]).unwrap();
    assert_eq!(m.read_u8(GpuAddr(0x8000 + 512 + 64)).unwrap(), 0xee);
    assert_eq!(m.fence_read(3), 0x0000_f000_0000_801f);
    assert_eq!(m.fence_read(99), 0);
}

/// Entries of ValleyView: bit 1 lets the device write.
fn decode_guarded(entry: u64) -> Entry {
    Entry::Memory {
        at: PhysAddr(entry & 0xffff_f000),
        writable: entry & 2 != 0,
    }
}

/// i915 gt/intel_ring.c: rings that the device may not write are filled through the aperture.
#[test]
fn the_processor_writes_through_the_aperture_what_the_device_may_only_read() {
    static FORMAT: TableFormat = TableFormat::new(
        &[Level {
            bits: 20,
            entry_bytes: 4,
            decode: decode_guarded,
        }],
        Beyond::Wraps(32),
    );
    let mut m = Memory::with_format(1 << 20, &FORMAT, 64);
    let pages = m.alloc_pages(1).unwrap();
    m.gtt_write_wide(4, pages.0 | 1);
    let refused = m.write_u32(GpuAddr(0x4008), 7).unwrap_err();
    assert_eq!(refused.kind, FaultKind::ReadOnly);
    m.aperture_write(0x4008, &[1, 2, 3, 4]).unwrap();
    assert_eq!(m.read_u32(GpuAddr(0x4008)).unwrap(), 0x0403_0201);
    let refused = m.write_u32(GpuAddr(0x4008), 7).unwrap_err();
    assert_eq!(refused.kind, FaultKind::ReadOnly, "nothing is kept of it");
    m.gtt_write_wide(5, 0x10_0000 | 1);
    let none = m.aperture_write(0x5000, &[0]).unwrap_err();
    assert_eq!(none.kind, FaultKind::NoMemory);
}

#[test]
fn guarded_pages_are_written_for_the_trusted_alone() {
    let mut mem = Memory::new(16 * PAGE_SIZE, 16);
    let page = mem.alloc_mapped(GpuAddr(0x1000), PAGE_SIZE).unwrap();
    // The entry has been looked up before.
    mem.write_u32(GpuAddr(0x1000), 1).unwrap();
    mem.guard_pages(page, 1);
    {
        let mut client = mem.enter(Space::Global);
        client.trust(false);
        assert_eq!(client.read_u32(GpuAddr(0x1000)), Ok(1));
        let fault = client.write_u32(GpuAddr(0x1000), 2).unwrap_err();
        assert_eq!(fault.kind, crate::FaultKind::Guarded);
        assert!(client.device_write_u32(page, 2).is_err());
        // A space that is entered meanwhile changes nothing.
        drop(client.enter(Space::Global));
        assert!(client.write_u8(GpuAddr(0x1fff), 2).is_err());
    }
    mem.write_u32(GpuAddr(0x1000), 3).unwrap();
    mem.device_write_u32(page, 4).unwrap();
    // Given back, the page is like any other.
    mem.free_pages(page, 1).unwrap();
    let mut client = mem.enter(Space::Global);
    client.trust(false);
    assert_eq!(client.read_u32(GpuAddr(0x1000)), Ok(4));
    client.write_u32(GpuAddr(0x1000), 5).unwrap();
}
