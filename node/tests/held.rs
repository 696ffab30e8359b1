//! A system call of a client that holds a lock of the system holds up nobody else.
//!
//! A call that copies to or from memory that does not answer lasts as long as its caller likes, and the system keeps the lock of the
//! file or directory meanwhile (Linux `iterate_dir`, `generic_file_write_iter`). Passes, and says so, where the system allows no
//! userfaultfd.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use driver::uapi::gem;
use nix::libc;
use wire::{Head, Op};
use zerocopy::{FromZeros as _, IntoBytes as _};

use crate::support::frame::Party;
use crate::support::held::Unanswered;
use crate::support::{Connection, at_most, error_state, open_error_state, start};

/// TIMEOUT: some milliseconds of work, on a machine with much else to do.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs `work` while a system call on `file` does not come back; whether it was at its end in time.
fn beside(
    file: OwnedFd,
    call: fn(&OwnedFd, usize) -> i64,
    work: impl FnOnce() + Send,
) -> Option<bool> {
    let mut page = Unanswered::new()?;
    let address = page.address();
    let (done, is_done) = channel();
    let in_time = std::thread::scope(|scope| {
        scope.spawn(move || assert!(call(&file, address) > 0));
        page.await_call();
        scope.spawn(move || {
            work();
            done.send(()).unwrap();
        });
        let in_time = is_done.recv_timeout(at_most(PATIENCE)).is_ok();
        drop(page);
        in_time
    });
    Some(in_time)
}

/// A client's write to a file, behind all that is used.
fn write(file: &OwnedFd, address: usize) -> i64 {
    // SAFETY: reads memory that is nobody's.
    unsafe { libc::pwrite(file.as_raw_fd(), address as *const _, 8, 2047 << 20) as i64 }
}

/// A client's listing of a directory.
fn list(directory: &OwnedFd, address: usize) -> i64 {
    let number = directory.as_raw_fd();
    // SAFETY: writes into memory that is nobody's.
    unsafe { libc::syscall(libc::SYS_getdents64, number, address, 4096) }
}

/// Maps a tiled object, and lets go of it.
fn map_tiled(party: &Party) {
    let handle = party.create(65536);
    let mut tiling = gem::SetTiling {
        handle,
        tiling_mode: 1,
        stride: 512,
        ..gem::SetTiling::new_zeroed()
    };
    assert_eq!(party.ask(gem::SET_TILING.0, tiling.as_mut_bytes()), 0);
    let mut map = gem::MmapGtt::new_zeroed();
    map.handle = handle;
    assert_eq!(party.ask(gem::MMAP_GTT.0, map.as_mut_bytes()), 0);
    let head = Head::new(Op::Map, party.file, [3, map.offset, 65536]);
    assert_eq!(party.client.call(&head, &[]).reply.result, 0);
    party.close(handle);
}

#[test]
fn a_write_to_the_file_of_views_holds_no_mapping_up() {
    let (_node, name) = start();
    let party = Party::new(&name);
    map_tiled(&party);
    let (_life, mut memories) = Connection::new(&name, Op::Life);
    let views = memories.fds.remove(1);
    let in_time = beside(views, write, || (0..50).for_each(|_| map_tiled(&party)));
    assert_ne!(in_time, Some(false), "mappings wait for the write");
}

#[test]
fn a_listing_of_the_tree_holds_no_error_state_up_and_no_file_that_is_closed() {
    let (node, name) = start();
    let tree = OwnedFd::from(File::open(node.directory()).unwrap());
    let in_time = beside(tree, list, || {
        let party = Party::new(&name);
        let batch = party.create(4096);
        party.write(batch, &0x7fff_0000_u32.to_le_bytes());
        party.run(batch);
        assert_eq!(party.wait(batch, -1), 0);
        assert!(error_state(&party.client, 0).contains("GPU hang"));
        let mut file = open_error_state(&party.client, 0, true);
        file.write_all(b"1").unwrap();
        assert!(!error_state(&party.client, 0).contains("GPU hang"));
        drop(party);
        assert!(node.quiesce(at_most(PATIENCE)));
    });
    assert_ne!(in_time, Some(false), "the node waits for the listing");
}

#[test]
fn a_listing_of_the_tree_does_not_keep_a_node_from_its_end() {
    let (node, _) = start();
    let place = node.directory().to_owned();
    let tree = OwnedFd::from(File::open(&place).unwrap());
    let in_time = beside(tree, list, || drop(node));
    if in_time.is_none() {
        return;
    }
    assert_eq!(in_time, Some(true), "the node waits for the listing");
    // What the node has left to another process is done now.
    let until = Instant::now() + at_most(PATIENCE);
    while place.exists() {
        assert!(Instant::now() < until, "{} stays", place.display());
        std::thread::sleep(Duration::from_millis(10));
    }
}
