//! Requests by the page that a thread of a client shares with the node.

use std::os::fd::AsRawFd as _;

use driver::uapi::{drm, syncobj};
use nix::sys::socket::{MsgFlags, recv};
use wire::{Head, Op, Reply};
use zerocopy::{FromZeros as _, IntoBytes as _};

use crate::support::page::Page;
use crate::support::{Connection, start};

/// A request for the name of the driver, and its block.
fn version(file: u64, name: &mut [u8; 4]) -> (Head, drm::Version) {
    let mut block = drm::Version::new_zeroed();
    block.name_len = 4;
    block.name = name.as_mut_ptr().addr() as u64;
    (ioctl(file, drm::VERSION.0, block.as_bytes()), block)
}

fn ioctl(file: u64, request: u32, block: &[u8]) -> Head {
    Head {
        len: block.len() as u32,
        ..Head::new(Op::Ioctl, file, [u64::from(request), 16, 0])
    }
}

#[test]
fn a_request_by_the_page_is_answered_there() {
    let (_node, name) = start();
    let (client, first) = Connection::new(&name, Op::Thread);
    assert_eq!(
        first.reply.value,
        nix::sys::stat::fstat(&first.fds[0]).unwrap().st_ino
    );
    let page = Page::of(&first);
    let (_fd, file) = client.open(false);
    for _ in 0..20 {
        let mut text = [0; 4];
        let (head, block) = version(file, &mut text);
        page.ask(&client, &head, block.as_bytes());
        let (reply, payload) = page.answer().unwrap();
        assert_eq!((reply.kind, reply.result), (0, 0));
        assert_eq!(payload.len(), size_of::<drm::Version>());
        assert_eq!(std::hint::black_box(&text), b"i915");
    }
    // A number that is none of the client's, and one of another file.
    for other in [u64::MAX, 1 << 20, client.raw() as u64] {
        let (head, block) = version(other, &mut [0; 4]);
        page.ask(&client, &head, block.as_bytes());
        let (reply, _) = page.answer().unwrap();
        assert_eq!((reply.kind, reply.result), (0, -nix::libc::EBADF));
    }
}

#[test]
fn an_answer_with_a_descriptor_comes_by_the_socket() {
    let (_node, name) = start();
    let (client, first) = Connection::new(&name, Op::Thread);
    let page = Page::of(&first);
    let (_fd, file) = client.open(false);
    let mut create = syncobj::Create::new_zeroed();
    assert_eq!(
        client.ioctl(file, syncobj::CREATE.0, create.as_mut_bytes()),
        0
    );
    let mut export = syncobj::Handle::new_zeroed();
    export.handle = create.handle;
    let head = ioctl(file, syncobj::HANDLE_TO_FD.0, export.as_bytes());
    page.ask(&client, &head, export.as_bytes());
    assert!(page.answer().is_none());
    let install = client.receive();
    assert_eq!((install.reply.kind, install.fds.len()), (Reply::INSTALL, 1));
    let number = install.fds[0].as_raw_fd() as u64;
    // And so does what follows it.
    let installed = Head::new(Op::Installed, wire::NO_FILE, [number, 0, 0]);
    let last = client.call(&installed, &[]);
    assert_eq!((last.reply.kind, last.reply.result), (0, 0));
}

#[test]
fn what_is_no_request_ends_its_connection_and_no_other() {
    let (_node, name) = start();
    let (other, _) = Connection::new(&name, Op::Thread);
    let (_fd, file) = other.open(false);
    let long = Head {
        len: u32::MAX,
        ..Head::new(Op::Ioctl, file, [0; 3])
    };
    for bad in [Head::new(Op::Open, wire::NO_FILE, [0, 1, 0]), long] {
        let (client, first) = Connection::new(&name, Op::Thread);
        let page = Page::of(&first);
        page.ask(&client, &bad, &[]);
        let end = recv(client.raw(), &mut [0; 8], MsgFlags::empty());
        assert!(
            matches!(end, Ok(0) | Err(nix::errno::Errno::ECONNRESET)),
            "{end:?}"
        );
    }
    let mut block = drm::Version::new_zeroed();
    assert_eq!(other.ioctl(file, drm::VERSION.0, block.as_mut_bytes()), 0);
}
