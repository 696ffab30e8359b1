//! Sockets of the node: connecting, sending and receiving packets.
//!
//! Straight system calls: no points of cancellation, no functions that this library stands before.
#![expect(unsafe_code, reason = "system calls that take addresses of structures")]

use core::mem::MaybeUninit;
use std::os::fd::RawFd;

use wire::Reply;
use wire::message::MAX_PACKET;
use zerocopy::IntoBytes;

use super::memory::Block;
use super::{Result, check};
use crate::buffer::{Buffer, Short};
use crate::own::{self, Handle};

/// Most files of a node that a process holds: two memories of each device.
pub const FILES: usize = 2 * wire::device::MOST;
/// Most descriptors in one packet.
const FDS: usize = FILES;

/// Room for the body of the largest packet.
pub type Room = [MaybeUninit<u8>; MAX_PACKET];

/// A packet that has come, and its descriptors.
pub struct Packet<'a> {
    /// Its head.
    pub head: Reply,
    body: &'a mut [MaybeUninit<u8>],
    len: usize,
    fds: [RawFd; FDS],
}

impl<'a> Packet<'a> {
    /// For an answer that is a head alone.
    pub fn new() -> Self {
        Self::with(&mut [])
    }

    /// For an answer with a body.
    pub fn with(body: &'a mut [MaybeUninit<u8>]) -> Self {
        Packet {
            head: Reply {
                kind: 0,
                len: 0,
                result: 0,
                pad: 0,
                value: 0,
                which: 0,
            },
            body,
            len: 0,
            fds: [-1; FDS],
        }
    }

    /// What follows the head.
    pub fn body(&self) -> &[u8] {
        // SAFETY: the kernel has written `len` bytes, which are no more than there are.
        unsafe { core::slice::from_raw_parts(self.body.as_ptr().cast(), self.len) }
    }

    /// The same, to be changed.
    pub fn body_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and borrowed alone.
        unsafe { core::slice::from_raw_parts_mut(self.body.as_mut_ptr().cast(), self.len) }
    }

    /// A packet that has come another way: its head, and what puts its body into the room for it and says how long it is.
    pub fn fill(&mut self, head: Reply, body: impl FnOnce(&mut [MaybeUninit<u8>]) -> usize) {
        self.head = head;
        self.len = body(self.body).min(self.body.len());
    }

    /// Takes a descriptor that came along.
    pub fn take_fd(&mut self, index: usize) -> Option<RawFd> {
        let fd = self.fds.get_mut(index)?;
        let taken = core::mem::replace(fd, -1);
        (taken >= 0).then_some(taken)
    }
}

impl Drop for Packet<'_> {
    fn drop(&mut self) {
        for fd in self.fds.into_iter().filter(|fd| *fd >= 0) {
            super::close(fd);
        }
    }
}

/// Connects to the socket at a path, whose process has to be this one's user's: EACCES when it is not.
pub fn connect(path: &[u8]) -> Result<Handle> {
    // Does not block: a program's calls may be waiting for the use of the descriptor to end.
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    let fd = own::make(|| {
        // SAFETY: makes a descriptor.
        check(unsafe { libc::syscall(libc::SYS_socket, libc::AF_UNIX, kind, 0) })
            .map(|fd| fd as RawFd)
    })?;
    let peer = reach(fd, path).and_then(|()| own::using(fd, peer));
    if peer == Ok(user()) {
        return Ok(fd);
    }
    own::close(fd);
    Err(peer.err().unwrap_or(libc::EACCES))
}

/// Connects a socket. The address ends with a zero; a longer path is reached by its directory's descriptor.
fn reach(socket: Handle, path: &[u8]) -> Result<()> {
    let mut short = Short::<108>::new();
    if short.push(path) {
        let address = address_of(&short);
        return persist(|| own::using(socket, |fd| connect_to(fd, &address)));
    }
    let at = path.iter().rposition(|byte| *byte == b'/');
    let (parent, name) = path.split_at(at.ok_or(libc::ENAMETOOLONG)?);
    let mut place = Buffer::new()?;
    if !place.push(parent) {
        return Err(libc::ENAMETOOLONG);
    }
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
    let dir = own::make(|| super::openat(libc::AT_FDCWD, place.as_cstr(), flags, 0))?;
    let result = persist(|| {
        own::using_both([socket, dir], |[fd, dir]| {
            let mut short = Short::<108>::new();
            let number = u64::from(dir.unsigned_abs());
            if !(short.push(b"/proc/self/fd/") && short.push_number(number) && short.push(name)) {
                return Err(libc::ENAMETOOLONG);
            }
            connect_to(fd, &address_of(&short))
        })
    });
    own::close(dir);
    result
}

fn address_of(path: &Short<108>) -> libc::sockaddr_un {
    let mut address = libc::sockaddr_un {
        sun_family: libc::AF_UNIX as libc::sa_family_t,
        sun_path: [0; 108],
    };
    for (to, from) in address.sun_path.iter_mut().zip(path.bytes()) {
        *to = *from as libc::c_char;
    }
    address
}

/// Tries again until a node that is busy takes the connection.
fn persist(once: impl Fn() -> Result<()>) -> Result<()> {
    loop {
        match once() {
            Ok(()) | Err(libc::EISCONN) => return Ok(()),
            Err(libc::EINTR) => {}
            // Too many wait already. TIMEOUT: none, as for the answer.
            Err(libc::EAGAIN) => super::poll(-1, 0, 1).or_else(unless_interrupted)?,
            Err(error) => return Err(error),
        }
    }
}

fn connect_to(fd: RawFd, address: &libc::sockaddr_un) -> Result<()> {
    let (from, len) = (core::ptr::from_ref(address), size_of_val(address));
    // SAFETY: the address is a whole structure.
    check(unsafe { libc::syscall(libc::SYS_connect, fd, from, len) }).map(drop)
}

/// The user of the process that listens at the other end.
fn peer(fd: RawFd) -> Result<u32> {
    // SAFETY: integers only.
    let mut peer: libc::ucred = unsafe { core::mem::zeroed() };
    let mut len = size_of_val(&peer) as libc::socklen_t;
    let (level, name) = (libc::SOL_SOCKET, libc::SO_PEERCRED);
    let (peer_at, len_at) = (&raw mut peer, &raw mut len);
    // SAFETY: the kernel writes one structure and its length.
    check(unsafe { libc::syscall(libc::SYS_getsockopt, fd, level, name, peer_at, len_at) })?;
    Ok(peer.uid)
}

/// The user whose rights this process has.
pub fn user() -> u32 {
    // SAFETY: takes nothing, changes nothing.
    unsafe { libc::syscall(libc::SYS_geteuid) as u32 }
}

/// Introduces a connection: sends its first message and waits for the answer, which a node that refuses it gives before
/// it has heard anything. What comes along is for `keep`, which runs within [`own::alone`]. EBADF when the program has
/// taken a descriptor away, past libc; ENODEV when the node has gone.
pub fn introduce(
    fd: Handle,
    head: &[u8],
    packet: &mut Packet,
    mut keep: impl FnMut(&mut Packet) -> Result<()>,
) -> Result<()> {
    match send(fd, head, Block::of(&[]), Signals::Open) {
        // Closed already: an answer may be there all the same.
        Ok(()) | Err(libc::EPIPE | libc::ECONNRESET) => {}
        Err(error) => return Err(reason(error)),
    }
    let mut resets = 0;
    loop {
        match receive_files(fd, packet, &mut keep) {
            Ok(true) if packet.head.result < 0 => return Err(packet.head.result.wrapping_neg()),
            Ok(true) => return Ok(()),
            Err(libc::EINTR) => {}
            // That our message was not read is told before the answer.
            Err(libc::ECONNRESET) if resets == 0 => resets += 1,
            Ok(false) => return Err(libc::ENODEV),
            Err(error) => return Err(reason(error)),
        }
    }
}

fn reason(error: i32) -> i32 {
    match error {
        libc::EBADF | libc::ENOTSOCK => libc::EBADF,
        libc::EMFILE => libc::EMFILE,
        _ => libc::ENODEV,
    }
}

/// Receives one packet and takes the descriptors in before the program can put anything at their numbers.
fn receive_files(
    from: Handle,
    packet: &mut Packet,
    keep: &mut impl FnMut(&mut Packet) -> Result<()>,
) -> Result<bool> {
    loop {
        let taken = own::alone(|| {
            let is_whole = take(from, packet, Signals::Blocked)?;
            if is_whole && packet.head.result >= 0 {
                keep(packet)?;
            }
            Ok(is_whole)
        });
        match taken {
            Err(libc::EAGAIN) => own::wait(from, libc::POLLIN)?,
            other => return other,
        }
    }
}

/// Takes in the descriptors of a packet, whose body names their inodes. Within [`own::alone`].
pub fn keep(packet: &mut Packet, files: &mut [Handle]) -> Result<()> {
    let mut inodes = [0; FILES];
    let mut count = 0;
    for (to, from) in inodes.iter_mut().zip(packet.body().as_chunks::<8>().0) {
        *to = u64::from_ne_bytes(*from);
        count += 1;
    }
    if count == 0 {
        return Err(libc::ENODEV);
    }
    let mut result = Ok(());
    let known = inodes.into_iter().take(count);
    for (index, (file, inode)) in files.iter_mut().zip(known).enumerate() {
        match packet.take_fd(index) {
            Some(fd) => *file = own::adopt(fd, Some(inode)),
            // The table had no room for it.
            None => result = Err(libc::EMFILE),
        }
        if *file == Handle::NONE {
            result = result.and(Err(libc::EBADF));
        }
    }
    result
}

/// Whether a descriptor is a socket of packets in sequence, the kind that the node gives out.
pub fn is_seqpacket(fd: RawFd) -> bool {
    let (level, name) = (libc::SOL_SOCKET, libc::SO_TYPE);
    let (mut kind, mut len) = (0_i32, size_of::<i32>() as libc::socklen_t);
    let (kind_at, len_at) = (&raw mut kind, &raw mut len);
    // SAFETY: the kernel writes one integer and its length.
    let result = unsafe { libc::syscall(libc::SYS_getsockopt, fd, level, name, kind_at, len_at) };
    result == 0 && kind == libc::SOCK_SEQPACKET
}

fn empty_message() -> libc::msghdr {
    // SAFETY: null addresses and zero lengths say that there is nothing.
    unsafe { core::mem::zeroed() }
}

/// Whether the caller has blocked all signals of this thread.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Signals {
    Blocked,
    Open,
}

/// Sends one packet of two parts.
pub fn send(to: Handle, head: &[u8], payload: Block, signals: Signals) -> Result<()> {
    let mut parts = [
        libc::iovec {
            iov_base: head.as_ptr().cast_mut().cast(),
            iov_len: head.len(),
        },
        libc::iovec {
            iov_base: core::ptr::with_exposed_provenance_mut(payload.address),
            iov_len: payload.len,
        },
    ];
    let mut message = empty_message();
    message.msg_iov = parts.as_mut_ptr();
    message.msg_iovlen = if payload.len == 0 { 1 } else { 2 };
    loop {
        let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
        let sent = use_of(to, signals, |fd| {
            // SAFETY: the kernel reads the parts and answers EFAULT when the caller's cannot be read.
            check(unsafe { libc::syscall(libc::SYS_sendmsg, fd, &raw const message, flags) })
        });
        match sent {
            Err(libc::EINTR) => {}
            Err(libc::EAGAIN) => own::wait(to, libc::POLLOUT).or_else(unless_interrupted)?,
            other => return other.map(|_| ()),
        }
    }
}

fn use_of<T>(handle: Handle, signals: Signals, run: impl FnOnce(RawFd) -> Result<T>) -> Result<T> {
    match signals {
        Signals::Blocked => own::using_quietly(handle, run),
        Signals::Open => own::using(handle, run),
    }
}

/// Receives one packet; false when the other end is gone.
pub fn receive(from: Handle, packet: &mut Packet, wait: bool, signals: Signals) -> Result<bool> {
    loop {
        match take(from, packet, signals) {
            Err(libc::EAGAIN) if wait => own::wait(from, libc::POLLIN)?,
            other => return other,
        }
    }
}

fn unless_interrupted(error: i32) -> Result<()> {
    if error == libc::EINTR {
        Ok(())
    } else {
        Err(error)
    }
}

/// Receives one packet that is there.
fn take(from: Handle, packet: &mut Packet, signals: Signals) -> Result<bool> {
    let mut parts = [
        libc::iovec {
            iov_base: packet.head.as_mut_bytes().as_mut_ptr().cast(),
            iov_len: size_of::<Reply>(),
        },
        libc::iovec {
            iov_base: packet.body.as_mut_ptr().cast(),
            iov_len: packet.body.len(),
        },
    ];
    // Room for the head of a control message (two words) and the descriptors.
    let mut control = [0_u64; 2 + FDS / 2];
    let mut message = empty_message();
    message.msg_iov = parts.as_mut_ptr();
    message.msg_iovlen = parts.len();
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control);
    let flags = libc::MSG_CMSG_CLOEXEC | libc::MSG_DONTWAIT;
    let got = use_of(from, signals, |fd| {
        // SAFETY: the parts and the room for descriptors are as long as they say.
        check(unsafe { libc::syscall(libc::SYS_recvmsg, fd, &raw mut message, flags) })
    })? as usize;
    packet.len = got
        .saturating_sub(size_of::<Reply>())
        .min(packet.body.len());
    packet.fds = descriptors(&message, &control);
    if got < size_of::<Reply>() {
        return Ok(false);
    }
    Ok(true)
}

/// The descriptors of a message, whose control data the kernel lays out as words: length, level and type, numbers.
fn descriptors(message: &libc::msghdr, control: &[u64]) -> [RawFd; FDS] {
    let mut fds = [-1; FDS];
    let head = size_of::<libc::cmsghdr>();
    let [len, kind, numbers @ ..] = control else {
        return fds;
    };
    let rights = libc::SOL_SOCKET as u64 | (libc::SCM_RIGHTS as u64) << 32;
    if message.msg_controllen < head || kind.to_le() != rights {
        return fds;
    }
    let count = (*len as usize).saturating_sub(head) / size_of::<RawFd>();
    let numbers = numbers.iter().flat_map(|pair| [*pair, *pair >> 32]);
    for (to, from) in fds.iter_mut().zip(numbers).take(count) {
        *to = from as RawFd;
    }
    fds
}
