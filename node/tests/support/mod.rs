//! A client without a shim: speaks the messages itself.
#![allow(dead_code, reason = "no test uses everything")]

pub mod child;
pub mod frame;
pub mod held;
pub mod page;
pub mod random;
pub mod recorded;

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::time::Duration;

use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, MsgFlags, SockFlag, SockType, UnixAddr, connect, recvmsg,
    sendmsg, socket,
};
use wire::message::MAX_PACKET;
use wire::{Head, Op, Reply};
use zerocopy::{FromBytes as _, IntoBytes as _};

/// How long the device may take at most. Under a sanitizer that is not checked, as it may make the device a hundred times slower.
pub fn at_most(usual: Duration) -> Duration {
    if std::env::var_os("CRESTLINE_SANITIZER").is_some() {
        println!("not checked: how long it takes, under a sanitizer");
        return Duration::from_secs(86_400);
    }
    usual
}

/// A device of each generation, of which there are captured frames.
pub const DEVICES: [&str; 5] = ["gm965", "g45", "ironlake", "sandybridge", "valleyview"];

/// A connection to a node.
pub struct Connection(OwnedFd);

/// An answer: its head, what stands behind it, descriptors.
pub struct Answer {
    pub reply: Reply,
    pub payload: Vec<u8>,
    pub fds: Vec<OwnedFd>,
}

impl Connection {
    /// Connects, and says what it is.
    pub fn new(name: &str, op: Op) -> (Self, Answer) {
        let connection = Connection::silent(name);
        let pid = u64::from(std::process::id());
        let answer = connection.call(&Head::new(op, 0, [u64::from(wire::VERSION), pid, 0]), &[]);
        (connection, answer)
    }

    /// A connection that has said nothing.
    pub fn silent(name: &str) -> Self {
        Connection::try_silent(name).unwrap()
    }

    /// The same, or why there is none.
    pub fn try_silent(name: &str) -> nix::Result<Self> {
        let kind = SockType::SeqPacket;
        let fd = socket(AddressFamily::Unix, kind, SockFlag::SOCK_CLOEXEC, None)?;
        connect(fd.as_raw_fd(), &UnixAddr::new(name)?)?;
        Ok(Connection(fd))
    }

    /// A connection that begins with a message; its answer.
    pub fn silent_with(name: &str, head: &Head) -> (Self, Answer) {
        let connection = Connection::silent(name);
        let answer = connection.call(head, &[]);
        (connection, answer)
    }

    /// One that another process has made.
    pub fn inherited(number: RawFd) -> Self {
        // SAFETY: it was left to this process, where nobody else uses it.
        Connection(unsafe { OwnedFd::from_raw_fd(number) })
    }

    /// Its number.
    pub fn raw(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Itself, to set options.
    pub fn borrow(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    pub fn send(&self, head: &Head, payload: &[u8]) {
        let parts = [IoSlice::new(head.as_bytes()), IoSlice::new(payload)];
        sendmsg::<()>(
            self.0.as_raw_fd(),
            &parts,
            &[],
            MsgFlags::MSG_NOSIGNAL,
            None,
        )
        .unwrap();
    }

    /// Sends a head to a node that may have hung up.
    pub fn try_send(&self, head: &Head) -> nix::Result<usize> {
        let flags = MsgFlags::MSG_NOSIGNAL;
        nix::sys::socket::send(self.0.as_raw_fd(), head.as_bytes(), flags)
    }

    pub fn receive(&self) -> Answer {
        let mut bytes = vec![0; MAX_PACKET];
        let mut control = nix::cmsg_space!([std::os::fd::RawFd; 16]);
        let mut parts = [IoSliceMut::new(&mut bytes)];
        let flags = MsgFlags::MSG_CMSG_CLOEXEC;
        let raw = self.0.as_raw_fd();
        let mut resets = 0;
        let message = loop {
            match recvmsg::<()>(raw, &mut parts, Some(&mut control), flags) {
                // That our message was not read comes before the answer to the connection itself.
                Err(nix::errno::Errno::ECONNRESET) if resets == 0 => resets += 1,
                other => break other.unwrap(),
            }
        };
        let mut fds = Vec::new();
        for part in message.cmsgs().unwrap() {
            if let ControlMessageOwned::ScmRights(numbers) = part {
                // SAFETY: they are new and nobody else has them.
                fds.extend(
                    numbers
                        .iter()
                        .map(|fd| unsafe { OwnedFd::from_raw_fd(*fd) }),
                );
            }
        }
        let len = message.bytes;
        let (reply, payload) = Reply::read_from_prefix(&bytes[..len]).unwrap();
        Answer {
            reply,
            payload: payload.to_vec(),
            fds,
        }
    }

    pub fn call(&self, head: &Head, payload: &[u8]) -> Answer {
        self.send(head, payload);
        self.receive()
    }

    /// Opens a node; the descriptor and its number, by which requests name it.
    pub fn open(&self, primary: bool) -> (OwnedFd, u64) {
        self.open_of(0, primary)
    }

    /// The same of a device.
    pub fn open_of(&self, device: u64, primary: bool) -> (OwnedFd, u64) {
        let numbers = [u64::from(primary), 1, device];
        let mut answer = self.call(&Head::new(Op::Open, 0, numbers), &[]);
        assert_eq!(answer.reply.result, 0);
        let fd = answer.fds.remove(0);
        let number = fd.as_raw_fd() as u64;
        (fd, number)
    }

    /// An ioctl whose argument lies in `block`; result, and the block as the driver left it.
    pub fn ioctl(&self, file: u64, request: u32, block: &mut [u8]) -> i32 {
        let head = Head::new(
            Op::Ioctl,
            file,
            [u64::from(request), block.as_ptr().addr() as u64, 0],
        );
        let answer = self.call(&head, block);
        let len = answer.payload.len().min(block.len());
        block[..len].copy_from_slice(&answer.payload[answer.payload.len() - len..]);
        answer.reply.result
    }
}

/// Opens a file that shows the error state of a device, to be read, or for both when `writes`.
pub fn open_error_state(client: &Connection, device: u64, writes: bool) -> std::fs::File {
    let access = if writes { 2 } else { 0 };
    let head = Head::new(Op::ErrorState, 0, [device, access, 0]);
    let mut answer = client.call(&head, &[]);
    assert_eq!((answer.reply.result, answer.fds.len()), (0, 1));
    answer.fds.remove(0).into()
}

/// What the files show of a device.
pub fn error_state(client: &Connection, device: u64) -> String {
    let file = open_error_state(client, device, false);
    std::io::read_to_string(file).unwrap()
}

/// A node whose hangs are found soon, but not that soon that a device whose thread waits for a processor seems to hang;
/// its path.
pub fn start() -> (node::Node, String) {
    start_with(DEVICES[0], Some(kernel::time::Delta::from_millis(4)))
}

/// The same with a device by its name.
pub fn start_on(device: &str) -> (node::Node, String) {
    start_with(device, Some(kernel::time::Delta::from_millis(4)))
}

/// A node with the driver's own hang check; its path.
pub fn start_as_is() -> (node::Node, String) {
    start_as_is_on(DEVICES[0])
}

/// The same with a device by its name.
pub fn start_as_is_on(device: &str) -> (node::Node, String) {
    start_with(device, None)
}

fn start_with(device: &str, hang_check: Option<kernel::time::Delta>) -> (node::Node, String) {
    let device = mmio_mock::intel::r#gen::find(device).unwrap();
    let node = node::Node::start(&node::Options {
        memory: 128 << 20,
        hang_check,
        ..node::Options::new(device)
    })
    .unwrap();
    let name = node.environment()[0].1.to_str().unwrap().to_owned();
    (node, name)
}
