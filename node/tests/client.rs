//! A client that speaks to the node directly: files, mappings, descriptors, ends.

use std::os::fd::AsRawFd as _;
use std::time::Duration;

use driver::uapi;
use node::{Node, Options};
use wire::{Head, Op};
use zerocopy::{FromBytes as _, FromZeros as _, IntoBytes as _};

use crate::support::Connection;

const PATIENCE: Duration = Duration::from_secs(20);

fn start() -> (Node, String) {
    let device = mmio_mock::intel::r#gen::find("gm965").unwrap();
    let node = Node::start(&Options {
        memory: 64 << 20,
        ..Options::new(device)
    })
    .unwrap();
    let name = node.environment()[0].1.to_str().unwrap().to_owned();
    (node, name)
}

fn create(client: &Connection, file: u64, size: u64) -> u32 {
    let mut arg = uapi::gem::Create {
        size,
        ..uapi::gem::Create::new_zeroed()
    };
    let request = uapi::gem::CREATE.0;
    assert_eq!(client.ioctl(file, request, arg.as_mut_bytes()), 0);
    arg.handle
}

#[test]
fn the_driver_answers() {
    let (_node, name) = start();
    let (client, _) = Connection::new(&name, Op::Thread);
    let (_fd, file) = client.open(false);
    let mut version = uapi::drm::Version::new_zeroed();
    assert_eq!(
        client.ioctl(file, uapi::drm::VERSION.0, version.as_mut_bytes()),
        0
    );
    assert_eq!((version.major, version.minor), (1, 6));
    assert_eq!(version.name_len, 4);
    // Memory of the client beyond the block: the name goes where a pointer in it says.
    let text = [0_u8; 4];
    version.name = text.as_ptr().addr() as u64;
    assert_eq!(
        client.ioctl(file, uapi::drm::VERSION.0, version.as_mut_bytes()),
        0
    );
    assert_eq!(&std::hint::black_box(text), b"i915");
}

#[test]
fn a_file_closes_with_its_last_descriptor() {
    let (node, name) = start();
    let (client, _) = Connection::new(&name, Op::Thread);
    let (fd, file) = client.open(false);
    let second = fd.try_clone().unwrap();
    create(&client, file, 1 << 20);
    let held = node.first().platform().allocated_pages();
    drop(fd);
    let identify = Head::new(Op::Identify, second.as_raw_fd() as u64, [0; 3]);
    assert_eq!(client.call(&identify, &[]).reply.value, 1);
    drop(second);
    assert!(node.quiesce(PATIENCE));
    assert_eq!(client.call(&identify, &[]).reply.value, 0);
    assert_eq!(node.first().platform().allocated_pages(), held - 256);
}

#[test]
fn mappings_show_the_object_and_keep_it() {
    let (node, name) = start();
    let (_life, hello) = Connection::new(&name, Op::Life);
    assert_eq!(hello.fds.len(), 2);
    let (client, _) = Connection::new(&name, Op::Thread);
    let (fd, file) = client.open(false);
    let handle = create(&client, file, 8192);
    let mut arg = uapi::gem::MmapOffset {
        handle,
        flags: 1,
        ..uapi::gem::MmapOffset::new_zeroed()
    };
    assert_eq!(
        client.ioctl(file, uapi::gem::MMAP_OFFSET.0, arg.as_mut_bytes()),
        0
    );
    let offset = arg.offset;
    let place = client.call(&Head::new(Op::Map, file, [3, offset, 8192]), &[]);
    assert_eq!((place.reply.result, place.reply.which), (0, 0));
    // SAFETY: the memory is a file that nobody shortens.
    let mut map = unsafe {
        memmap2::MmapOptions::new()
            .offset(place.reply.value)
            .len(8192)
            .map_mut(&hello.fds[0])
            .unwrap()
    };
    map[4096..4100].copy_from_slice(b"here");
    let mut out = [0_u8; 4];
    let mut read = uapi::gem::Transfer {
        handle,
        offset: 4096,
        size: 4,
        data_ptr: out.as_mut_ptr().addr() as u64,
        ..uapi::gem::Transfer::new_zeroed()
    };
    assert_eq!(
        client.ioctl(file, uapi::gem::PREAD.0, read.as_mut_bytes()),
        0
    );
    assert_eq!(&std::hint::black_box(out), b"here");
    let address = map.as_ptr().addr() as u64;
    client.call(&Head::new(Op::Mapped, file, [offset, address, 8192]), &[]);
    let with = node.first().platform().allocated_pages();
    drop(fd);
    assert!(
        !node.quiesce(Duration::from_millis(200)),
        "the process is still there"
    );
    assert_eq!(node.first().platform().allocated_pages(), with);
    client.send(&Head::new(Op::Unmapped, 0, [0, address, 8192]), &[]);
    client.call(&Head::new(Op::Identify, file, [0; 3]), &[]);
    assert_eq!(node.first().platform().allocated_pages(), with - 2);
}

/// mremap(2) moves a part of a mapping.
#[test]
fn mappings_that_move_keep_their_object_and_are_followed() {
    let (node, name) = start();
    let (_life, _) = Connection::new(&name, Op::Life);
    let (client, _) = Connection::new(&name, Op::Thread);
    let (fd, file) = client.open(false);
    let handle = create(&client, file, 8192);
    let mut arg = uapi::gem::MmapGtt {
        handle,
        ..uapi::gem::MmapGtt::new_zeroed()
    };
    let result = client.ioctl(file, uapi::gem::MMAP_GTT.0, arg.as_mut_bytes());
    assert_eq!(result, 0);
    let map = Head::new(Op::Map, file, [3, arg.offset, 8192]);
    let old = client.call(&map, &[]).reply;
    assert_eq!((old.result, old.which), (0, 0));
    let (from, to) = (1 << 20, 3 << 20);
    client.call(&Head::new(Op::Mapped, file, [arg.offset, from, 8192]), &[]);
    let held = node.first().platform().allocated_pages();
    let copied = Head::new(Op::Copied, 0, [from + 4096, to, 8192]);
    assert_eq!(client.call(&copied, &[]).reply.result, 0);
    client.send(&Head::new(Op::Unmapped, 0, [0, from, 8192]), &[]);
    // It follows the layout: rows of 512 bytes in tiles of 4 KiB (i915, tiling X).
    let mut tiling = uapi::gem::SetTiling::new_zeroed();
    (tiling.handle, tiling.tiling_mode, tiling.stride) = (handle, 1, 512);
    let head = [u64::from(uapi::gem::SET_TILING.0), 0, 0];
    let answer = client.call(&Head::new(Op::Ioctl, file, head), tiling.as_bytes());
    assert_eq!(answer.reply.kind, wire::Reply::REMAP);
    let remap = wire::message::Remap::read_from_bytes(&answer.payload).unwrap();
    let answer = client.receive();
    assert_eq!((answer.reply.kind, answer.reply.result), (0, 0));
    let place = client.call(&map, &[]).reply;
    let expected = wire::message::Remap {
        address: to,
        len: 4096,
        offset: place.value + 4096,
        which: place.which,
        old_offset: old.value + 4096,
        old_which: old.which,
    };
    assert_eq!((place.which, remap), (1, expected));
    // A mapping whose place was told before a change is made anew when it is known.
    (tiling.tiling_mode, tiling.stride) = (0, 0);
    let answer = client.call(&Head::new(Op::Ioctl, file, head), tiling.as_bytes());
    assert_eq!(answer.reply.kind, wire::Reply::REMAP);
    assert_eq!(client.receive().reply.kind, 0);
    let answer = client.call(&Head::new(Op::Mapped, file, [arg.offset, from, 8192]), &[]);
    assert_eq!(answer.reply.kind, wire::Reply::REMAP);
    let remap = wire::message::Remap::read_from_bytes(&answer.payload).unwrap();
    assert_eq!(
        (remap.address, remap.old_offset, remap.offset),
        (from, place.value, old.value)
    );
    assert_eq!(client.receive().reply.kind, 0);
    client.send(&Head::new(Op::Unmapped, 0, [0, from, 8192]), &[]);
    drop(fd);
    assert!(!node.quiesce(Duration::from_millis(200)));
    assert_eq!(node.first().platform().allocated_pages(), held);
    // What has no room at the other place is nowhere, and a part of it goes with that.
    for [a, b] in [[to, u64::MAX - 4095], [u64::MAX, 0], [5, 7]] {
        client.call(&Head::new(Op::Copied, 0, [a, b, u64::MAX]), &[]);
    }
    client.send(&Head::new(Op::Unmapped, 0, [0, 0, u64::MAX]), &[]);
    drop(client);
    assert!(!node.quiesce(Duration::from_millis(200)));
    assert_eq!(node.first().platform().allocated_pages(), held - 2);
}

/// Not every client says what a submission writes: Mesa's crocus does not when depth is off and stencil is written.
#[test]
fn a_view_mapped_under_an_undeclared_write_is_current_after_the_wait() {
    const NOOPS: usize = 1 << 18;
    let (_node, name) = start();
    let (_life, hello) = Connection::new(&name, Op::Life);
    let (client, _) = Connection::new(&name, Op::Thread);
    let (_fd, file) = client.open(false);
    let call = |request: uapi::Request, block: &mut [u8]| {
        assert_eq!(client.ioctl(file, request.0, block), 0);
    };
    let target = create(&client, file, 8192);
    let mut tiling = uapi::gem::SetTiling {
        handle: target,
        tiling_mode: 1,
        stride: 1024,
        ..uapi::gem::SetTiling::new_zeroed()
    };
    call(uapi::gem::SET_TILING, tiling.as_mut_bytes());
    // MI_NOOPs take a while; MI_STORE_DATA_IMM to a global address (PRM volume 1), MI_BATCH_BUFFER_END.
    let mut batch = vec![0_u32; NOOPS];
    batch.extend([0x1040_0002, 0, 0, 0x0403_0201, 0x0500_0000, 0]);
    let size = (batch.len() * 4) as u64;
    let commands = create(&client, file, size);
    let mut write = uapi::gem::Transfer {
        handle: commands,
        size,
        data_ptr: batch.as_ptr().addr() as u64,
        ..uapi::gem::Transfer::new_zeroed()
    };
    call(uapi::gem::PWRITE, write.as_mut_bytes());
    // X tiles are 512 bytes by 8 rows (PRM volume 1): byte 8 of row 3 is that of row 3 in the first tile.
    let relocation = uapi::exec::Relocation {
        target_handle: target,
        delta: 3 * 512 + 8,
        offset: NOOPS as u64 * 4 + 8,
        presumed_offset: u64::MAX,
        read_domains: uapi::gem::domain::RENDER,
        ..uapi::exec::Relocation::new_zeroed()
    };
    let objects = [
        uapi::exec::Object {
            handle: target,
            ..uapi::exec::Object::new_zeroed()
        },
        uapi::exec::Object {
            handle: commands,
            relocation_count: 1,
            relocs_ptr: std::ptr::from_ref(&relocation).addr() as u64,
            ..uapi::exec::Object::new_zeroed()
        },
    ];
    let mut exec = uapi::exec::Execbuffer2 {
        buffers_ptr: objects.as_ptr().addr() as u64,
        buffer_count: 2,
        flags: uapi::exec::RENDER,
        ..uapi::exec::Execbuffer2::new_zeroed()
    };
    call(uapi::exec::EXECBUFFER2, exec.as_mut_bytes());
    std::hint::black_box((&batch, &relocation, &objects));
    let mut map = uapi::gem::MmapGtt {
        handle: target,
        ..uapi::gem::MmapGtt::new_zeroed()
    };
    call(uapi::gem::MMAP_GTT, map.as_mut_bytes());
    let place = client.call(&Head::new(Op::Map, file, [3, map.offset, 8192]), &[]);
    assert_eq!((place.reply.result, place.reply.which), (0, 1));
    let mut wait = uapi::gem::Wait {
        bo_handle: target,
        timeout_ns: -1,
        ..uapi::gem::Wait::new_zeroed()
    };
    call(uapi::gem::WAIT, wait.as_mut_bytes());
    // SAFETY: the memory is a file that nobody shortens.
    let view = unsafe {
        memmap2::MmapOptions::new()
            .offset(place.reply.value)
            .len(8192)
            .map(&hello.fds[1])
            .unwrap()
    };
    let pixel = 3 * 1024 + 8;
    assert_eq!(view[pixel..pixel + 4], [1, 2, 3, 4]);
}

/// The kernel takes any size of a call's argument: libdrm_intel's GEM_MMAP has no flags.
#[test]
fn a_mapping_may_be_asked_for_without_flags() {
    let (_node, name) = start();
    let (client, _) = Connection::new(&name, Op::Thread);
    let (_fd, file) = client.open(false);
    let handle = create(&client, file, 8192);
    let mut whole = uapi::gem::Mmap {
        handle,
        offset: 4096,
        size: 4096,
        ..uapi::gem::Mmap::new_zeroed()
    };
    let request = uapi::gem::MMAP.0;
    assert_eq!(client.ioctl(file, request, whole.as_mut_bytes()), 0);
    let mut short = uapi::gem::Mmap {
        addr_ptr: 0,
        ..whole
    };
    let block = &mut short.as_mut_bytes()[..32];
    assert_eq!(client.ioctl(file, 0xc020_645e, block), 0);
    assert_eq!(short, whole);
}

/// What Linux does not write stays as it is, also where the request says that something comes back.
#[test]
fn an_answer_has_what_the_driver_wrote_and_no_more() {
    let (_node, name) = start();
    let (client, _) = Connection::new(&name, Op::Thread);
    let (_fd, file) = client.open(true);
    let ask = |request: u32, payload: &[u8]| {
        let head = Head::new(Op::Ioctl, file, [u64::from(request), 0x10_0000, 0]);
        let answer = client.call(&head, payload);
        (answer.reply.result, answer.payload.len())
    };
    // _IOR of a number that nobody has, of another type, and of AUTH_MAGIC, which is _IOW.
    assert_eq!(ask(0x8010_64ff, &[]), (-22, 0));
    assert_eq!(ask(0x8010_6546, &[]), (-25, 0));
    assert_eq!(ask(0x8004_6411, &[]), (-22, 0));
    // GET_MAGIC, shorter and longer than it is.
    assert_eq!(ask(0x8004_6402, &[]), (0, 4));
    assert_eq!(ask(0x8002_6402, &[]), (0, 2));
    assert_eq!(ask(0x8010_6402, &[]), (0, 16));
    // GET_CAP of a capability that there is not: the block comes back all the same.
    assert_eq!(ask(0xc010_640c, &[1; 16]), (-95, 16));
}

#[test]
fn nonsense_is_refused() {
    let (_node, name) = start();
    let (client, _) = Connection::new(&name, Op::Thread);
    let (_fd, file) = client.open(false);
    let none = client.call(&Head::new(Op::Map, file, [3, 0, 4096]), &[]);
    assert_eq!(none.reply.result, -22);
    let nobody = client.call(
        &Head::new(Op::Ioctl, 1, [u64::from(uapi::drm::VERSION.0), 0, 0]),
        &[],
    );
    assert_eq!(nobody.reply.result, -9);
    let mut head = Head::new(Op::Identify, 0, [0; 3]);
    head.op = 999;
    assert_eq!(client.call(&head, &[]).reply.result, -22);
    let mut bad = [0_u8; 8];
    assert_eq!(client.ioctl(file, 0xc008_6401 + 0xf0, &mut bad), -22);
    let (stranger, hello) = Connection::new(&name, Op::Open);
    assert_eq!(hello.reply.result, -22);
    drop(stranger);
}
