//! What a client can do to others by its connection and what it was given.
//!
//! memfd_create(2), unix(7), proc_pid_fd(5).

use std::fs::File;
use std::os::fd::{AsFd as _, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use driver::uapi::{drm, gem};
use node::{Connections, Node, Options};
use wire::{Head, Op, Reply};
use zerocopy::{FromZeros as _, IntoBytes as _};

use crate::support::frame::Party;
use crate::support::{Connection, start};

const PATIENCE: Duration = Duration::from_secs(20);

/// A dma-buf, which alone holds its object.
fn dma_buf(party: &Party, flags: u32) -> OwnedFd {
    let handle = party.create(8192);
    let fd = party.export(handle, flags);
    party.close(handle);
    fd
}

/// Makes an open number that of another file.
fn replace(file: BorrowedFd<'_>, number: i32) {
    // SAFETY: the number stays open, and its owner closes whatever is there.
    let result = unsafe { nix::libc::dup3(file.as_raw_fd(), number, nix::libc::O_CLOEXEC) };
    assert_eq!(result, number);
}

/// What a descriptor is to the node: 0 nothing, 1 the node, 3 a dma-buf.
fn identify(client: &Connection, fd: &impl AsRawFd) -> u64 {
    let head = Head::new(Op::Identify, number(fd), [0; 3]);
    client.call(&head, &[]).reply.value
}

/// As messages name a descriptor.
fn number(fd: &impl AsRawFd) -> u64 {
    fd.as_raw_fd() as u64
}

#[test]
fn memories_cannot_be_made_shorter_or_longer() {
    let (_node, name) = start();
    let (_life, hello) = Connection::new(&name, Op::Life);
    let party = Party::new(&name);
    let mut files: Vec<File> = hello.fds.into_iter().map(File::from).collect();
    files.push(dma_buf(&party, drm::RDWR).into());
    for file in &files {
        let size = file.metadata().unwrap().len();
        for changed in [0, size - 4096, size + 4096] {
            let error = file.set_len(changed).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(nix::libc::EPERM));
        }
        assert_eq!(file.metadata().unwrap().len(), size);
    }
}

/// PRIME_HANDLE_TO_FD without DRM_RDWR: who gets the descriptor may read, and its file lets nobody else open it to write.
#[test]
fn a_dma_buf_is_opened_to_write_when_that_was_asked_for() {
    let (_node, name) = start();
    let party = Party::new(&name);
    for (flags, access, mode) in [
        (0, nix::libc::O_RDONLY, 0o400),
        (drm::RDWR, nix::libc::O_RDWR, 0o600),
    ] {
        let file = File::from(dma_buf(&party, flags));
        // SAFETY: it asks for flags.
        let opened = unsafe { nix::libc::fcntl(file.as_raw_fd(), nix::libc::F_GETFL) };
        assert_eq!(opened & nix::libc::O_ACCMODE, access, "{flags}");
        assert_eq!(
            file.metadata().unwrap().permissions().mode() & 0o777,
            mode,
            "{flags}"
        );
        assert_eq!(identify(&party.client, &file), 3);
    }
}

#[test]
fn a_file_is_reached_by_descriptors_of_the_process_alone() {
    let (node, name) = start();
    let party = Party::new(&name);
    let handle = party.create(4096);
    assert_eq!(handle, 1);
    let mut close = drm::GemClose::new_zeroed();
    // The inode of its descriptor, which everybody can guess, and numbers nearby.
    let inode = nix::sys::stat::fstat(&party.fd).unwrap().st_ino;
    for guess in (inode - 64..inode + 64).chain([u64::MAX, 1 << 32 | party.file]) {
        close.handle = handle;
        let result = party
            .client
            .ioctl(guess, drm::GEM_CLOSE.0, close.as_mut_bytes());
        assert_eq!(result, -9, "{guess}");
    }
    // A descriptor that is closed, and then is something else's number.
    let second = party.fd.try_clone().unwrap();
    assert_eq!(identify(&party.client, &second), 1);
    let place = second.as_raw_fd();
    let null = File::open("/dev/null").unwrap();
    replace(null.as_fd(), place);
    assert_eq!(identify(&party.client, &second), 0);
    close.handle = handle;
    let closed = party
        .client
        .ioctl(number(&second), drm::GEM_CLOSE.0, close.as_mut_bytes());
    assert_eq!(closed, -9);
    drop(second);
    // The object is still there.
    let mut busy = gem::Busy::new_zeroed();
    busy.handle = handle;
    assert_eq!(party.ask(gem::BUSY.0, busy.as_mut_bytes()), 0);
    drop(party);
    assert!(node.quiesce(PATIENCE));
}

#[test]
fn numbers_that_change_hands_during_calls_are_one_file_or_the_other() {
    let (node, name) = start();
    let party = Party::new(&name);
    let handle = party.create(4096);
    let other = party.client.open(false).0;
    let place = party.fd.try_clone().unwrap();
    let null = File::open("/dev/null").unwrap();
    std::thread::scope(|scope| {
        let turning = scope.spawn(|| {
            let files = [party.fd.as_fd(), other.as_fd(), null.as_fd()];
            for file in files.iter().cycle().take(3000) {
                replace(*file, place.as_raw_fd());
            }
        });
        let (client, _) = Connection::new(&name, Op::Thread);
        let mut seen = [0; 3];
        while !turning.is_finished() {
            let mut busy = gem::Busy::new_zeroed();
            busy.handle = handle;
            // The first file has the object, the second none, the third no objects at all.
            match client.ioctl(number(&place), gem::BUSY.0, busy.as_mut_bytes()) {
                0 => seen[0] += 1,
                -2 => seen[1] += 1,
                -9 => seen[2] += 1,
                result => panic!("{result}"),
            }
        }
        println!("{seen:?}");
    });
    drop((place, other, party));
    assert!(node.quiesce(PATIENCE));
}

#[test]
fn a_dma_buf_that_was_opened_again_lives_until_the_last_is_closed() {
    let (node, name) = start();
    let party = Party::new(&name);
    let first = dma_buf(&party, drm::RDWR);
    let again = |write| {
        let path = format!("/proc/self/fd/{}", first.as_raw_fd());
        File::options().read(true).write(write).open(path).unwrap()
    };
    let (writes, reads) = (again(true), again(false));
    // What is closed is noticed in order: another dma-buf that is closed later tells when.
    let settle = || {
        let later = dma_buf(&party, drm::RDWR);
        let held = node.first().platform().allocated_pages();
        drop(later);
        let until = std::time::Instant::now() + PATIENCE;
        while node.first().platform().allocated_pages() >= held {
            assert!(std::time::Instant::now() < until, "the object stays");
            std::thread::yield_now();
        }
    };
    drop(again(true));
    settle();
    assert_eq!(identify(&party.client, &first), 3);
    drop(writes);
    settle();
    assert_eq!(identify(&party.client, &first), 3);
    drop(first);
    settle();
    assert_eq!(identify(&party.client, &reads), 3);
    let objects = node.first().platform().allocated_pages();
    drop(reads);
    drop(party);
    assert!(node.quiesce(PATIENCE));
    assert!(node.first().platform().allocated_pages() < objects);
}

/// The offset of a new object of 1 MiB, and the node's answer to the wish to map it.
fn ask_for_a_mapping(party: &Party) -> (u64, Reply) {
    let mut arg = gem::MmapOffset {
        handle: party.create(1 << 20),
        flags: 2,
        ..gem::MmapOffset::new_zeroed()
    };
    assert_eq!(party.ask(gem::MMAP_OFFSET.0, arg.as_mut_bytes()), 0);
    let ask = Head::new(Op::Map, party.file, [3, arg.offset, 1 << 20]);
    (arg.offset, party.client.call(&ask, &[]).reply)
}

#[test]
fn a_child_inherits_the_mappings_of_its_parent_alone() {
    let (node, name) = start();
    let (life, _) = Connection::new(&name, Op::Life);
    let party = Party::new(&name);
    let (offset, place) = ask_for_a_mapping(&party);
    assert_eq!(place.result, 0);
    let mapped = Head::new(Op::Mapped, party.file, [offset, 1 << 20, 1 << 20]);
    party.client.call(&mapped, &[]);
    party
        .client
        .call(&Head::new(Op::Identify, wire::NO_FILE, [0; 3]), &[]);
    let with = node.first().platform().allocated_pages();
    // This process says that it is a child of its own, which it is not.
    let own = u64::from(std::process::id());
    let (second, refused) = Connection::silent_with(
        &name,
        &Head::new(
            Op::Life,
            wire::NO_FILE,
            [u64::from(wire::VERSION), own, own],
        ),
    );
    assert_eq!(refused.reply.result, -3);
    drop((party, second));
    assert!(node.first().platform().allocated_pages() > with - 256);
    drop(life);
    let until = std::time::Instant::now() + PATIENCE;
    while node.first().platform().allocated_pages() > with - 256 {
        assert!(std::time::Instant::now() < until, "the mapping stays");
        std::thread::yield_now();
    }
}

#[test]
fn a_program_that_loses_its_connection_keeps_what_it_has_mapped() {
    let (node, name) = start();
    let (life, welcome) = Connection::new(&name, Op::Life);
    let party = Party::new(&name);
    let (offset, place) = ask_for_a_mapping(&party);
    assert_eq!(place.result, 0);
    // SAFETY: nobody reads or writes it.
    let map = unsafe {
        memmap2::MmapOptions::new()
            .offset(place.value)
            .len(1 << 20)
            .map_mut(&welcome.fds[place.which as usize])
            .unwrap()
    };
    let at = map.as_ptr().addr() as u64;
    let mapped = Head::new(Op::Mapped, party.file, [offset, at, 1 << 20]);
    assert_eq!(party.client.call(&mapped, &[]).reply.result, 0);
    let with = node.first().platform().allocated_pages();
    let is_there = || node.first().platform().allocated_pages() > with - 256;
    drop((party, life));
    // Over several looks of the node at processes.
    std::thread::sleep(Duration::from_millis(500));
    assert!(is_there());
    // When it comes back it has them still, and gives them up as before.
    let (life, _) = Connection::new(&name, Op::Life);
    let (client, _) = Connection::new(&name, Op::Thread);
    std::thread::sleep(Duration::from_millis(200));
    assert!(is_there());
    drop(map);
    client.send(
        &Head::new(Op::Unmapped, wire::NO_FILE, [0, at, 1 << 20]),
        &[],
    );
    let until = std::time::Instant::now() + PATIENCE;
    while is_there() {
        assert!(std::time::Instant::now() < until, "the mapping stays");
        std::thread::yield_now();
    }
    drop(life);
}

/// A connection, as soon as one is free: the node lets places go after their clients have gone.
fn connected(name: &str) -> Connection {
    let head = Head::new(Op::Thread, wire::NO_FILE, [u64::from(wire::VERSION), 0, 0]);
    let until = std::time::Instant::now() + PATIENCE;
    loop {
        let next = Connection::silent(name);
        if next.try_send(&head).is_ok() && next.receive().reply.result == 0 {
            return next;
        }
        assert!(std::time::Instant::now() < until, "no connection any more");
    }
}

#[test]
fn connections_are_limited_and_told_so() {
    let device = mmio_mock::intel::r#gen::find("gm965").unwrap();
    let node = Node::start(&Options {
        memory: 64 << 20,
        connections: Connections {
            of_process: 8,
            in_all: 100,
        },
        ..Options::new(device)
    })
    .unwrap();
    let name = node.environment()[0].1.to_str().unwrap().to_owned();
    for _ in 0..3 {
        let mut held: Vec<_> = (0..7).map(|_| connected(&name)).collect();
        let party = Party::on(connected(&name));
        for _ in 0..200 {
            let answer = Connection::silent(&name).receive();
            assert_eq!(answer.reply.result, -nix::libc::EMFILE);
        }
        // Those that are there are served, and another is taken when one has gone.
        party.create(4096);
        held.pop();
        drop(connected(&name));
        drop((party, held));
        assert!(node.quiesce(PATIENCE));
    }
}
