//! Ranges that come and go, right ones and wrong ones.

use std::fs::File;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

use super::*;
use mem::{Access, FLAT_GTT, GpuAddr, PhysAddr, Pte};

fn memory(bytes: usize) -> Memory {
    let mut memory = Memory::over((edge::reserve(bytes).unwrap(), 0), &FLAT_GTT, 64);
    memory.open_windows();
    memory
}

/// A file as QEMU's memory-backend-memfd makes it: sealed against shrinking and growing.
fn sealed(bytes: u64) -> OwnedFd {
    let file = unsealed(bytes);
    let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    fcntl_add_seals(&file, seals).unwrap();
    file
}

fn unsealed(bytes: u64) -> OwnedFd {
    let file = File::from(memfd_create("guest", MemfdFlags::ALLOW_SEALING).unwrap());
    file.set_len(bytes).unwrap();
    file.into()
}

fn range(address: u64, size: u64, offset: u64) -> DmaMap {
    DmaMap {
        argsz: 32,
        flags: dma::READ | dma::WRITE,
        offset,
        address,
        size,
    }
}

fn unmap(address: u64, size: u64) -> DmaUnmap {
    DmaUnmap {
        argsz: 24,
        flags: 0,
        address,
        size,
    }
}

fn read(file: &OwnedFd, at: u64) -> [u8; 4] {
    let mut bytes = [0; 4];
    rustix::io::pread(file, &mut bytes, at).unwrap();
    bytes
}

#[test]
fn the_device_and_the_guest_see_the_same_bytes() {
    let mut memory = memory(64 << 20);
    let mut guest = Guest::default();
    let file = sealed(8 << 20);
    // Below the hole of a PC and above 4 GiB, as a guest with much memory has it.
    guest
        .map(&mut memory, &range(0, 4 << 20, 0), Some(&file))
        .unwrap();
    guest
        .map(&mut memory, &range(4 << 30, 4 << 20, 4 << 20), Some(&file))
        .unwrap();
    assert_eq!(guest.files.len(), 1, "one mapping serves both");
    memory.phys_write(PhysAddr(0x1234), b"down").unwrap();
    memory
        .phys_write(PhysAddr((4 << 30) + 0x1234), b"high")
        .unwrap();
    assert_eq!(read(&file, 0x1234), *b"down");
    assert_eq!(read(&file, (4 << 20) + 0x1234), *b"high");
    rustix::io::pwrite(&file, b"host", 0x2000).unwrap();
    memory.gtt_write(5, Pte::valid(0x2000).0);
    memory.gtt_write(6, Pte::valid((4 << 30) + 0x3000).0);
    memory.gtt_write(7, Pte::valid(1 << 30).0);
    assert_eq!(
        memory.read_u32(GpuAddr(0x5000)),
        Ok(u32::from_le_bytes(*b"host"))
    );
    memory.write_u32(GpuAddr(0x6010), 0x1122_3344).unwrap();
    assert_eq!(read(&file, (4 << 20) + 0x3010), [0x44, 0x33, 0x22, 0x11]);
    assert!(memory.read_u32(GpuAddr(0x7000)).is_err(), "no memory there");
    assert!(memory.phys_write(PhysAddr((4 << 20) - 2), b"over").is_err());
}

#[test]
fn what_is_taken_away_cannot_be_reached_any_more() {
    let mut memory = memory(64 << 20);
    let mut guest = Guest::default();
    let file = sealed(1 << 20);
    memory.gtt_write(0, Pte::valid(0x10_0000).0);
    guest
        .map(&mut memory, &range(0x10_0000, 0x1000, 0x3000), Some(&file))
        .unwrap();
    guest
        .map(&mut memory, &range(0x20_0000, 0x1000, 0x4000), Some(&file))
        .unwrap();
    memory.write_u32(GpuAddr(0), 1).unwrap();
    let index = memory.translate(GpuAddr(0), Access::Read).unwrap();
    // A part of a range: nothing goes.
    for (first, size) in [
        (0x10_0800, 0x800),
        (0x10_0000, 0x800),
        (0, 0x10_0800),
        (0x10_0000, 0),
    ] {
        let refused = guest.unmap(&mut memory, &unmap(first, size));
        assert_eq!(refused, Err(Errno::INVAL), "{first:#x}");
    }
    assert_eq!(guest.len(), 2);
    guest.unmap(&mut memory, &unmap(0x10_0000, 0x1000)).unwrap();
    assert!(memory.read_u32(GpuAddr(0)).is_err());
    assert_eq!(guest.files.len(), 1, "the other page of it is in use");
    guest.unmap(&mut memory, &unmap(0x20_0000, 0x1000)).unwrap();
    assert!(guest.files.is_empty() && guest.is_empty());
    assert_eq!(
        memory.arena_bytes()[index],
        0,
        "the file has left its place"
    );
    // Where nothing is, nothing goes (Linux drivers/vfio/vfio_iommu_type1.c `vfio_dma_do_unmap`).
    guest.unmap(&mut memory, &unmap(0x10_0000, 0x1000)).unwrap();
    // All at once.
    guest
        .map(&mut memory, &range(0x10_0000, 0x1000, 0x3000), Some(&file))
        .unwrap();
    assert_eq!(memory.read_u32(GpuAddr(0)), Ok(1));
    let all = DmaUnmap {
        flags: dma::UNMAP_ALL,
        ..unmap(0, 0)
    };
    guest.unmap(&mut memory, &all).unwrap();
    assert!(memory.read_u32(GpuAddr(0)).is_err());
    // As QEMU does when its IOMMU changes: by large ranges, which hold some pages or none.
    for page in [0, 0x10_0000, 0x1f_f000, 0x20_0000] {
        guest
            .map(&mut memory, &range(page, 0x1000, 0x3000), Some(&file))
            .unwrap();
    }
    guest
        .unmap(&mut memory, &unmap(0x10_0000, 0x10_0000))
        .unwrap();
    assert_eq!(guest.len(), 2);
    assert!(memory.phys_read_u32(PhysAddr(0)).is_ok() && memory.read_u32(GpuAddr(0)).is_err());
    guest.unmap(&mut memory, &unmap(1 << 63, 1 << 63)).unwrap();
    guest.unmap(&mut memory, &unmap(0, 1 << 63)).unwrap();
    assert!(guest.is_empty());
    assert_eq!(
        guest.unmap(&mut memory, &DmaUnmap { flags: 1, ..all }),
        Err(Errno::INVAL)
    );
}

/// vfio-user.rst: "A command to map over an existing region must be failed by the server with EEXIST".
#[test]
fn wrong_ranges_are_refused() {
    let mut memory = memory(16 << 20);
    let mut guest = Guest::default();
    let file = sealed(1 << 20);
    guest
        .map(&mut memory, &range(0x1_0000, 0x4000, 0), Some(&file))
        .unwrap();
    for (range, errno) in [
        (range(0x1_0000, 0x4000, 0), Errno::EXIST),
        (range(0xf000, 0x2000, 0), Errno::EXIST),
        (range(0x1_3000, 0x1000, 0), Errno::EXIST),
        (range(0x2_0000, 0, 0), Errno::INVAL),
        (range(0x2_0000, 0x1001, 0), Errno::INVAL),
        (range(0x2_0001, 0x1000, 0), Errno::INVAL),
        (range(0x2_0000, 0x1000, 0x10), Errno::INVAL),
        (range(u64::MAX - 0xfff, 0x2000, 0), Errno::INVAL),
        (range(0x2_0000, 0x1000, 1 << 20), Errno::INVAL),
        (range(0x2_0000, 0x1000, u64::MAX - 0xfff), Errno::INVAL),
        (range(0x2_0000, 2 << 20, 0), Errno::INVAL),
        (
            DmaMap {
                flags: 0,
                ..range(0x2_0000, 0x1000, 0)
            },
            Errno::INVAL,
        ),
        (
            DmaMap {
                flags: 7,
                ..range(0x2_0000, 0x1000, 0)
            },
            Errno::INVAL,
        ),
    ] {
        let refused = guest.map(&mut memory, &range, Some(&file));
        assert_eq!(refused, Err(errno), "{range:x?}");
    }
    assert_eq!(guest.len(), 1);
    // As much as there is no room for.
    let large = sealed(1 << 40);
    assert_eq!(
        guest.map(&mut memory, &range(1 << 32, 1 << 30, 0), Some(&large)),
        Err(Errno::NOMEM)
    );
    // A part of it fits.
    guest
        .map(&mut memory, &range(1 << 32, 0x2000, 1 << 30), Some(&large))
        .unwrap();
    memory
        .phys_write(PhysAddr((1 << 32) + 0x1ffc), b"part")
        .unwrap();
    assert_eq!(read(&large, (1 << 30) + 0x1ffc), *b"part");
}

/// Each mapping is one of the process's, of which the system allows some ten thousand (proc(5), max_map_count).
#[test]
fn as_many_files_as_are_allowed() {
    let mut memory = memory(1 << 30);
    let mut guest = Guest::default();
    let files: Vec<_> = (0..512).map(|_| sealed(0x1000)).collect();
    for (i, file) in files.iter().enumerate() {
        let page = range((i as u64) << 12, 0x1000, 0);
        guest.map(&mut memory, &page, Some(file)).unwrap();
    }
    assert_eq!(guest.files.len(), 512, "the block is full");
    let one_more = range(1 << 32, 0x1000, 0);
    let refused = guest.map(&mut memory, &one_more, Some(&sealed(0x1000)));
    assert_eq!(refused, Err(Errno::NOMEM));
    guest.clear(&mut memory);
    // Of a file that is larger than the block, what lies around a page is mapped with it.
    let large = sealed(1 << 40);
    for at in [3 << 30, (3 << 30) + 0x5000, (3 << 30) + (32 << 20)] {
        guest
            .map(&mut memory, &range(at, 0x1000, at), Some(&large))
            .unwrap();
    }
    assert_eq!(guest.files.len(), 1);
}

/// A process that touches a mapped page behind the end of its file is ended by SIGBUS.
#[test]
fn a_file_that_can_shrink_is_sealed_or_refused() {
    let mut memory = memory(16 << 20);
    let mut guest = Guest::default();
    let willing = unsealed(1 << 20);
    guest
        .map(&mut memory, &range(0, 1 << 20, 0), Some(&willing))
        .unwrap();
    assert!(File::from(willing).set_len(0).is_err(), "it is sealed now");
    memory.phys_write(PhysAddr(0xf_f000), b"safe").unwrap();
    let stubborn = unsealed(1 << 20);
    fcntl_add_seals(&stubborn, SealFlags::SEAL).unwrap();
    let refused = guest.map(&mut memory, &range(1 << 20, 1 << 20, 0), Some(&stubborn));
    assert_eq!(refused, Err(Errno::PERM));
    let null: OwnedFd = File::open("/dev/null").unwrap().into();
    let refused = guest.map(&mut memory, &range(1 << 20, 1 << 20, 0), Some(&null));
    assert!(refused.is_err());
    let read_only = sealed(1 << 20);
    let path = format!(
        "/proc/self/fd/{}",
        std::os::fd::AsRawFd::as_raw_fd(&read_only)
    );
    let read_only: OwnedFd = File::open(path).unwrap().into();
    let refused = guest.map(&mut memory, &range(1 << 20, 1 << 20, 0), Some(&read_only));
    assert_eq!(refused, Err(Errno::ACCESS));
    // Nothing of these is left, and the room serves others.
    assert_eq!((guest.len(), guest.files.len()), (1, 1));
    guest
        .map(
            &mut memory,
            &range(1 << 20, 1 << 20, 0),
            Some(&sealed(1 << 20)),
        )
        .unwrap();
}

#[test]
fn memory_without_a_file_is_known_and_out_of_reach() {
    let mut memory = memory(16 << 20);
    let mut guest = Guest::default();
    guest
        .map(&mut memory, &range(0xf_0000, 0x1_0000, 0), None)
        .unwrap();
    assert!(guest.is_out_of_reach(0xf_ffff) && !guest.is_out_of_reach(0x10_0000));
    assert!(memory.phys_read_u32(PhysAddr(0xf_0000)).is_err());
    assert_eq!(
        guest.map(&mut memory, &range(0xf_0000, 0x1000, 0), None),
        Err(Errno::EXIST)
    );
    guest
        .unmap(&mut memory, &unmap(0xf_0000, 0x1_0000))
        .unwrap();
    assert!(guest.is_empty());
}

#[test]
fn pages_that_a_device_may_only_read() {
    let mut memory = memory(16 << 20);
    let mut guest = Guest::default();
    let file = sealed(0x4000);
    let only_read = DmaMap {
        flags: dma::READ,
        ..range(0, 0x4000, 0)
    };
    guest.map(&mut memory, &only_read, Some(&file)).unwrap();
    memory.gtt_write(1, Pte::valid(0x1000).0);
    assert_eq!(memory.read_u32(GpuAddr(0x1000)), Ok(0));
    assert!(memory.write_u32(GpuAddr(0x1000), 5).is_err());
    assert!(memory.phys_write_u32(PhysAddr(0x1000), 5).is_err());
}

/// A VMM with an IOMMU maps single pages: as many as the protocol allows, and no more.
#[test]
fn as_many_pages_as_are_allowed() {
    let mut memory = memory(64 << 20);
    let mut guest = Guest::default();
    let file = sealed(1 << 20);
    for i in 0..MAX_WINDOWS as u64 {
        let page = range((1 << 40) + (i << 13), 0x1000, (i % 256) << 12);
        guest.map(&mut memory, &page, Some(&file)).unwrap();
    }
    let one_more = range(0, 0x1000, 0);
    assert_eq!(
        guest.map(&mut memory, &one_more, Some(&file)),
        Err(Errno::NOSPC)
    );
    assert_eq!(guest.files.len(), 1);
    memory
        .phys_write(PhysAddr((1 << 40) + (257 << 13)), b"page")
        .unwrap();
    assert_eq!(read(&file, 0x1000), *b"page");
    guest.clear(&mut memory);
    assert!(guest.is_empty() && guest.files.is_empty());
}
