//! Objects larger than the aperture: the processor reaches all, the device none.
//!
//! i915 `i915_gem_mman.c` (`vm_fault_gtt` shows such an object in parts), `i915_vma.c` (`i915_vma_insert`: ENOSPC for what is larger than
//! the address space).

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use driver::uapi::gem::domain::{CPU, GTT};
use driver::uapi::{exec, gem};
use mmio_mock::intel::r#gen::find;
use nix::libc;
use node::{Node, Options};
use wire::{Head, Op};
use zerocopy::{FromZeros as _, IntoBytes as _};

use crate::support::Connection;
use crate::support::frame::Party;

/// MI_BATCH_BUFFER_END.
const END: u32 = 0x0500_0000;
/// Bytes of a row of the tiled object, and those of a row of tiles.
const STRIDE: u32 = 4096;
const TILES: u64 = 8 * STRIDE as u64;

struct Large {
    party: Party,
    memories: Vec<File>,
    handle: u32,
    size: u64,
    /// Where the next mapping is said to be.
    next: std::cell::Cell<u64>,
    _life: Connection,
}

impl Large {
    /// An object that is a little larger than the aperture of a node's device.
    fn new(name: &str) -> Large {
        let (life, hello) = Connection::new(name, Op::Life);
        let party = Party::new(name);
        let mut aperture = gem::GetAperture::new_zeroed();
        assert_eq!(party.ask(gem::GET_APERTURE.0, aperture.as_mut_bytes()), 0);
        let size = aperture.aper_size + TILES;
        Large {
            handle: party.create(size),
            party,
            memories: hello.fds.into_iter().map(File::from).collect(),
            size,
            next: 1_u64.wrapping_shl(40).into(),
            _life: life,
        }
    }

    fn transfer(&self, request: u32, offset: u64, data: &mut [u8]) {
        let mut arg = gem::Transfer {
            handle: self.handle,
            offset,
            size: data.len() as u64,
            data_ptr: data.as_mut_ptr().addr() as u64,
            ..gem::Transfer::new_zeroed()
        };
        assert_eq!(self.party.ask(request, arg.as_mut_bytes()), 0);
    }

    fn write(&self, offset: u64, text: &[u8]) {
        self.transfer(gem::PWRITE.0, offset, &mut text.to_vec());
    }

    fn read(&self, offset: u64) -> [u8; 4] {
        let mut bytes = [0; 4];
        self.transfer(gem::PREAD.0, offset, &mut bytes);
        bytes
    }

    /// A mapping of all of the object: its memory, and where it begins there.
    fn map(&self, flags: u64) -> (&File, u64) {
        let mut arg = gem::MmapOffset {
            handle: self.handle,
            flags,
            ..gem::MmapOffset::new_zeroed()
        };
        let party = &self.party;
        assert_eq!(party.ask(gem::MMAP_OFFSET.0, arg.as_mut_bytes()), 0);
        let head = Head::new(Op::Map, party.file, [3, arg.offset, self.size]);
        let place = party.client.call(&head, &[]).reply;
        assert_eq!(place.result, 0, "{flags}");
        let address = self.next.get();
        self.next.set(address + (1 << 32));
        let head = Head::new(Op::Mapped, party.file, [arg.offset, address, self.size]);
        assert_eq!(party.client.call(&head, &[]).reply.result, 0);
        (&self.memories[place.which as usize], place.value)
    }

    fn set_domain(&self, domain: u32) {
        let mut arg = gem::SetDomain {
            handle: self.handle,
            read_domains: domain,
            write_domain: domain,
        };
        assert_eq!(self.party.ask(gem::SET_DOMAIN.0, arg.as_mut_bytes()), 0);
    }

    /// The result of EXECBUFFER2 with a list of objects, of which the last is the batch.
    fn exec(&self, handles: &[u32]) -> i32 {
        let list: Vec<exec::Object> = handles
            .iter()
            .map(|handle| exec::Object {
                handle: *handle,
                ..exec::Object::new_zeroed()
            })
            .collect();
        let mut arg = exec::Execbuffer2 {
            buffers_ptr: list.as_ptr().addr() as u64,
            buffer_count: list.len() as u32,
            batch_len: 8,
            flags: exec::RENDER,
            ..exec::Execbuffer2::new_zeroed()
        };
        self.party.ask(exec::EXECBUFFER2.0, arg.as_mut_bytes())
    }
}

fn start(device: &str) -> (Node, String) {
    let node = Node::start(&Options {
        memory: 3 << 30,
        ..Options::new(find(device).unwrap())
    })
    .unwrap();
    let name = node.environment()[0].1.to_str().unwrap().to_owned();
    (node, name)
}

fn at(map: (&File, u64), offset: u64) -> [u8; 4] {
    let mut bytes = [0; 4];
    map.0.read_exact_at(&mut bytes, map.1 + offset).unwrap();
    bytes
}

fn put(map: (&File, u64), offset: u64, text: [u8; 4]) {
    map.0.write_all_at(&text, map.1 + offset).unwrap();
}

#[test]
fn the_processor_reaches_all_of_an_object_that_the_device_has_no_room_for() {
    for device in ["gm965", "valleyview"] {
        let (node, name) = start(device);
        let large = Large::new(&name);
        let last = large.size - 4;
        large.write(0, b"head");
        large.write(last, b"tail");
        assert_eq!([large.read(0), large.read(last)], [*b"head", *b"tail"]);
        // Every kind of mapping shows the same bytes.
        let kinds = [
            gem::MMAP_OFFSET_GTT,
            gem::MMAP_OFFSET_WC,
            gem::MMAP_OFFSET_WB,
        ];
        let maps = kinds.map(|kind| large.map(kind));
        for (index, map) in maps.into_iter().enumerate() {
            assert_eq!([at(map, 0), at(map, last)], [*b"head", *b"tail"]);
            let text = [b'0' + index as u8; 4];
            put(map, last - 4, text);
            large.set_domain(if index == 0 { GTT } else { CPU });
            assert_eq!(large.read(last - 4), text);
            assert!(maps.iter().all(|other| at(*other, last - 4) == text));
        }
        // The device has no address for it, as batch or beside one; without it the batch runs, and nothing is lost.
        let batch = large.party.create(4096);
        large.party.write(batch, [END, 0].as_bytes());
        for _ in 0..2 {
            assert_eq!(
                large.exec(&[large.handle, batch]),
                -libc::ENOSPC,
                "{device}"
            );
            assert_eq!(
                large.exec(&[batch, large.handle]),
                -libc::ENOSPC,
                "{device}"
            );
            assert_eq!(large.exec(&[batch]), 0);
        }
        assert_eq!(large.party.wait(batch, -1), 0);
        assert_eq!([large.read(0), large.read(last)], [*b"head", *b"tail"]);
        drop(large);
        assert!(node.quiesce(std::time::Duration::from_secs(20)));
    }
}

/// Where a tile lies in memory: rows of tiles, each of 512 bytes by 8 rows (X tiles).
#[test]
fn a_tiled_object_larger_than_the_aperture_is_shown_in_rows() {
    let (_node, name) = start("gm965");
    let large = Large::new(&name);
    let mut tiling = gem::SetTiling::new_zeroed();
    (tiling.handle, tiling.tiling_mode, tiling.stride) = (large.handle, 1, STRIDE);
    let party = &large.party;
    assert_eq!(party.ask(gem::SET_TILING.0, tiling.as_mut_bytes()), 0);
    let (rows, pages) = (
        large.map(gem::MMAP_OFFSET_GTT),
        large.map(gem::MMAP_OFFSET_WB),
    );
    // The second row of the last row of tiles, third tile: the linear byte, and the tiled one.
    let begin = large.size - TILES;
    let (linear, tiled) = (
        begin + u64::from(STRIDE) + 1024 + 8,
        begin + 2 * 4096 + 512 + 8,
    );
    large.set_domain(GTT);
    put(rows, linear, *b"rows");
    large.set_domain(CPU);
    assert_eq!(at(pages, tiled), *b"rows");
    assert_eq!(large.read(tiled), *b"rows");
    put(pages, tiled, *b"page");
    large.set_domain(GTT);
    assert_eq!(at(rows, linear), *b"page");
}
