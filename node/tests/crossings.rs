//! An object through mappings of two kinds: what one writes the other sees.
//!
//! That is so once the program says that it crosses over.
//!
//! i915 `i915_gem_domain.c` and `i915_gem_dmabuf.c`; a fence's mapping shows a tiled object in rows, the others show its pages.

use std::fs::File;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::FileExt as _;

use driver::uapi::gem::domain::{CPU, GTT};
use driver::uapi::{dma_buf, drm, gem};
use wire::{Head, Op};
use zerocopy::{FromZeros as _, IntoBytes as _};

use crate::support::frame::Party;
use crate::support::{Connection, start};

/// Eight rows of X tiles, each a tile wide: bytes lie in the same order in pages and rows.
const SIZE: usize = 65536;

/// One of the memories that a process has of its node, and a place in it.
struct Mapping {
    memory: File,
    offset: u64,
}

impl Mapping {
    fn write(&self, byte: u8) {
        self.memory
            .write_all_at(&vec![byte; SIZE], self.offset)
            .unwrap();
    }

    /// The byte that all bytes are.
    fn read(&self) -> u8 {
        let mut bytes = vec![0; SIZE];
        self.memory.read_exact_at(&mut bytes, self.offset).unwrap();
        assert!(bytes.iter().all(|byte| *byte == bytes[0]));
        bytes[0]
    }
}

/// An object and its mappings: through a fence, and of its pages.
struct Two {
    party: Party,
    handle: u32,
    fence: Mapping,
    pages: Mapping,
    memories: Vec<File>,
    _life: Connection,
}

/// Asks where a mapping of a file goes, and tells the node an address for it.
fn mapped(party: &Party, memories: &[File], file: u64, offset: u64, address: u64) -> Mapping {
    let head = Head::new(Op::Map, file, [3, offset, SIZE as u64]);
    let place = party.client.call(&head, &[]).reply;
    assert_eq!(place.result, 0);
    let head = Head::new(Op::Mapped, file, [offset, address, SIZE as u64]);
    assert_eq!(party.client.call(&head, &[]).reply.result, 0);
    Mapping {
        memory: memories[place.which as usize].try_clone().unwrap(),
        offset: place.value,
    }
}

fn offset_of(party: &Party, handle: u32, kind: u64) -> u64 {
    let mut arg = gem::MmapOffset {
        handle,
        flags: kind,
        ..Default::default()
    };
    assert_eq!(party.ask(gem::MMAP_OFFSET.0, arg.as_mut_bytes()), 0);
    arg.offset
}

fn tiled(party: &Party) -> u32 {
    let handle = party.create(SIZE as u64);
    let mut tiling = gem::SetTiling::new_zeroed();
    (tiling.handle, tiling.tiling_mode, tiling.stride) = (handle, 1, 512);
    assert_eq!(party.ask(gem::SET_TILING.0, tiling.as_mut_bytes()), 0);
    handle
}

impl Two {
    /// `by_dma_buf`: the mapping of the pages is one of a dma-buf, which comes back.
    fn new(name: &str, by_dma_buf: bool) -> (Two, Option<OwnedFd>) {
        let (life, hello) = Connection::new(name, Op::Life);
        let memories: Vec<File> = hello.fds.into_iter().map(File::from).collect();
        let party = Party::new(name);
        let handle = tiled(&party);
        let offset = offset_of(&party, handle, gem::MMAP_OFFSET_GTT);
        let fence = mapped(&party, &memories, party.file, offset, 1 << 30);
        let shared = by_dma_buf.then(|| party.export(handle, drm::RDWR));
        let (file, offset) = if let Some(fd) = &shared {
            (fd.as_raw_fd() as u64, 0)
        } else {
            (party.file, offset_of(&party, handle, gem::MMAP_OFFSET_WB))
        };
        let pages = mapped(&party, &memories, file, offset, 1 << 31);
        let two = Two {
            party,
            handle,
            fence,
            pages,
            memories,
            _life: life,
        };
        (two, shared)
    }

    fn set_domain(&self, domain: u32) {
        let mut arg = gem::SetDomain {
            handle: self.handle,
            read_domains: domain,
            write_domain: domain,
        };
        assert_eq!(self.party.ask(gem::SET_DOMAIN.0, arg.as_mut_bytes()), 0);
    }
}

#[test]
fn set_domain_brings_what_was_written_to_the_other_mapping() {
    let (_node, name) = start();
    let (two, _) = Two::new(&name, false);
    for round in [0, 100] {
        two.set_domain(GTT);
        two.fence.write(round + 1);
        two.set_domain(CPU);
        assert_eq!(two.pages.read(), round + 1);
        two.pages.write(round + 2);
        two.set_domain(GTT);
        assert_eq!(two.fence.read(), round + 2);
    }
}

#[test]
fn a_later_write_to_the_pages_is_not_undone_by_an_earlier_one_through_the_fence() {
    let (_node, name) = start();
    let (two, _) = Two::new(&name, false);
    two.set_domain(GTT);
    two.fence.write(0x11);
    two.set_domain(CPU);
    two.pages.write(0x22);
    // What reads the object brings home what the fence's mapping has.
    assert_eq!(two.party.bytes(two.handle, SIZE), vec![0x22; SIZE]);
    assert_eq!(two.pages.read(), 0x22);
}

#[test]
fn a_mapping_of_the_pages_begins_with_what_the_fence_has() {
    let (_node, name) = start();
    let (_life, hello) = Connection::new(&name, Op::Life);
    let memories: Vec<File> = hello.fds.into_iter().map(File::from).collect();
    let party = Party::new(&name);
    let handle = tiled(&party);
    let map = |kind, address| {
        let offset = offset_of(&party, handle, kind);
        mapped(&party, &memories, party.file, offset, address)
    };
    map(gem::MMAP_OFFSET_GTT, 1 << 30).write(9);
    assert_eq!(map(gem::MMAP_OFFSET_WB, 1 << 31).read(), 9);
}

#[test]
fn an_access_by_dma_buf_sees_and_shows_what_the_fence_has() {
    let (_node, name) = start();
    let (two, shared) = Two::new(&name, true);
    let shared = shared.unwrap();
    let number = shared.as_raw_fd() as u64;
    let sync = |flags: u64| {
        let mut arg = dma_buf::Sync { flags };
        let client = &two.party.client;
        assert_eq!(client.ioctl(number, dma_buf::SYNC.0, arg.as_mut_bytes()), 0);
    };
    two.set_domain(GTT);
    two.fence.write(5);
    sync(dma_buf::READ | dma_buf::WRITE);
    assert_eq!(two.pages.read(), 5);
    two.pages.write(6);
    sync(dma_buf::READ | dma_buf::WRITE | dma_buf::END);
    assert_eq!(two.fence.read(), 6);
}

#[test]
fn a_mapping_that_the_program_could_not_make_holds_nothing() {
    let (node, name) = start();
    let party = Party::new(&name);
    let before = node.first().platform().allocated_pages();
    let handle = party.create(SIZE as u64);
    let offset = offset_of(&party, handle, gem::MMAP_OFFSET_WB);
    let head = Head::new(Op::Map, party.file, [3, offset, SIZE as u64]);
    assert_eq!(party.client.call(&head, &[]).reply.result, 0);
    party
        .client
        .send(&Head::new(Op::Missed, party.file, [0; 3]), &[]);
    party.close(handle);
    assert_eq!(node.first().platform().allocated_pages(), before);
    // Nor is there anything to be mapped by now.
    let head = Head::new(Op::Mapped, party.file, [offset, 1 << 30, SIZE as u64]);
    assert_eq!(
        party.client.call(&head, &[]).reply.result,
        -nix::libc::EINVAL
    );
}

/// Says that the contents of an object may go; whether they are there.
fn advise(party: &Party, handle: u32, madv: u32) -> bool {
    let mut arg = gem::Madvise {
        handle,
        madv,
        ..Default::default()
    };
    assert_eq!(party.ask(gem::MADVISE.0, arg.as_mut_bytes()), 0);
    arg.retained != 0
}

#[test]
fn what_is_mapped_keeps_its_contents_and_no_other_object_comes_there() {
    let (_node, name) = start();
    let (two, _) = Two::new(&name, false);
    two.pages.write(7);
    assert!(advise(&two.party, two.handle, gem::MADV_DONTNEED));
    // The view of another one, which is not mapped any more.
    let idle = tiled(&two.party);
    let view_of = |handle| {
        let offset = offset_of(&two.party, handle, gem::MMAP_OFFSET_GTT);
        let view = mapped(&two.party, &two.memories, two.party.file, offset, 1 << 32);
        let gone = Head::new(Op::Unmapped, two.party.file, [0, 1 << 32, SIZE as u64]);
        two.party.client.send(&gone, &[]);
        view.offset
    };
    let place = view_of(idle);
    assert!(advise(&two.party, idle, gem::MADV_DONTNEED));
    // More than is left: contents that may go do.
    let party = Party::new(&name);
    let mut arg = gem::Create::new_zeroed();
    arg.size = 8 << 20;
    let mut filling = Vec::new();
    while party.ask(gem::CREATE.0, arg.as_mut_bytes()) == 0 {
        filling.push(arg.handle);
        assert!(
            filling.len() < 64,
            "there is more memory than the node was given"
        );
    }
    assert!(!advise(&two.party, idle, gem::MADV_WILLNEED));
    assert_eq!(two.pages.read(), 7);
    assert!(advise(&two.party, two.handle, gem::MADV_WILLNEED));
    for handle in filling {
        party.close(handle);
    }
    // Nobody can map it again, so that its place is free although there is a handle of it.
    let other = tiled(&two.party);
    assert_eq!(view_of(other), place);
}
