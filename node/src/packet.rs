//! Packets on a client's socket, with descriptors attached.
//!
//! One packet is one message of `wire`. Clients send no descriptors: where the system cannot refuse them, a
//! message that has some is left in the socket, and ends the connection. To take it would close them, which may last
//! (`closer`). Requests may come by a page that is shared, too (`board`). Each packet comes with its sender's user: a connection that has been left to a child which is another user's is
//! worth nothing to it.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, UnixCredentials, getsockopt, recvmsg, sendmsg,
    setsockopt, sockopt,
};
use wire::message::MAX_PACKET;
use wire::patience::Patience;
use wire::{Head, Reply};
use zerocopy::{FromBytes, IntoBytes};

use crate::board::Board;

/// How long to look for the next message before sleeping: clients that submit often come back soon.
static PATIENCE: Patience = Patience::new();

/// Messages that come by a board one after another until the socket is looked at.
const UNSIGNED: u32 = 256;

/// The node's end of a connection.
pub struct Socket {
    fd: OwnedFd,
    buffer: Box<[u8]>,
    /// Whether messages may have descriptors.
    takes_rights: bool,
    /// The user that has connected.
    owner: Option<u32>,
    /// Room for a sender's credentials, and for nothing else.
    control: Vec<u8>,
    /// What is shared with the client beside the socket.
    board: Option<Board>,
    /// The last message came by the board: nobody has said whose it is.
    is_unsigned: bool,
    /// Messages that have come by the board since the socket was looked at.
    unsigned: u32,
}

impl Socket {
    pub fn new(fd: OwnedFd) -> Self {
        // The listening socket has it already; a pair that is served directly has not. Without it no message has credentials,
        // and none is taken.
        let _ = setsockopt(&fd, sockopt::PassCred, &true);
        let owner = getsockopt(&fd, sockopt::PeerCredentials);
        Socket {
            takes_rights: crate::edge::takes_rights(&fd),
            owner: owner.ok().map(|credentials| credentials.uid()),
            control: nix::cmsg_space!(UnixCredentials),
            fd,
            buffer: vec![0; MAX_PACKET].into_boxed_slice(),
            board: None,
            is_unsigned: false,
            unsigned: 0,
        }
    }

    /// Messages may come by a board from now on, once the client knows it.
    pub fn add(&mut self, board: Board) {
        self.board = Some(board);
    }

    /// Whether the last message came without its sender's user.
    pub fn is_unsigned(&self) -> bool {
        self.is_unsigned
    }

    /// The socket itself.
    pub fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// The next message, or `None` when the client is gone.
    pub fn receive(&mut self) -> io::Result<Option<(Head, &[u8])>> {
        let size = self.wait()?;
        let Some(packet) = self.buffer.get(..size) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        if packet.is_empty() {
            return Ok(None);
        }
        let (head, payload) = Head::read_from_prefix(packet)
            .map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        Ok(Some((head, payload)))
    }

    fn wait(&mut self) -> io::Result<usize> {
        self.is_unsigned = false;
        let known = self.board.as_ref().filter(|board| board.is_known());
        if let Some(board) = known {
            if let Some(size) = board.await_question(&PATIENCE, &mut self.buffer)? {
                // Whoever has the board may fill it for ever, while the client is gone.
                self.unsigned = (self.unsigned + 1) % UNSIGNED;
                if self.unsigned == 0 && self.hung_up() {
                    return Ok(0);
                }
                self.is_unsigned = true;
                return Ok(size);
            }
            self.unsigned = 0;
            return self.sleep();
        }
        let until = Instant::now() + PATIENCE.next();
        loop {
            match self.take(MsgFlags::MSG_DONTWAIT) {
                Err(Errno::EAGAIN) if Instant::now() < until => std::thread::yield_now(),
                Err(Errno::EAGAIN) => break,
                Err(Errno::EINTR) => {}
                // A client that died with unread replies resets the connection.
                Err(Errno::ECONNRESET) => return Ok(0),
                other => return Ok(other?),
            }
        }
        self.sleep()
    }

    /// Waits for a message that comes by the socket.
    fn sleep(&mut self) -> io::Result<usize> {
        loop {
            match self.take(MsgFlags::empty()) {
                Err(Errno::EINTR) => {}
                Err(Errno::ECONNRESET) => return Ok(0),
                other => return Ok(other?),
            }
        }
    }

    fn take(&mut self, flags: MsgFlags) -> nix::Result<usize> {
        let fd = self.fd.as_raw_fd();
        if self.takes_rights {
            let looks = flags | MsgFlags::MSG_PEEK;
            let seen = recvmsg::<()>(fd, &mut [], Some(&mut self.control), looks)?;
            // Set when there is no room for descriptors (recvmsg(2)).
            if seen.flags.contains(MsgFlags::MSG_CTRUNC) {
                return Err(Errno::EPROTO);
            }
        }
        let mut parts = [IoSliceMut::new(&mut self.buffer)];
        let message = recvmsg::<()>(fd, &mut parts, Some(&mut self.control), flags)?;
        let sender = message.cmsgs()?.find_map(|control| match control {
            ControlMessageOwned::ScmCredentials(credentials) => Some(credentials.uid()),
            _ => None,
        });
        // The end of a connection has no sender.
        if message.bytes > 0 && (sender.is_none() || sender != self.owner) {
            return Err(Errno::EPERM);
        }
        Ok(message.bytes)
    }

    /// Sends an answer; a client that is gone is no error here, the next [`receive`](Self::receive) tells.
    pub fn send(&self, reply: &Reply, parts: &[&[u8]], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        let Some(board) = &self.board else {
            return self.send_packet(reply, parts, fds);
        };
        if fds.is_empty() && board.answer(reply, parts) {
            return Ok(());
        }
        let sent = self.send_packet(reply, parts, fds);
        // Behind it: who looks there then finds it at once. What follows it goes the same way, so that nothing overtakes it.
        board.divert();
        sent
    }

    fn send_packet(
        &self,
        reply: &Reply,
        parts: &[&[u8]],
        fds: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        let mut slices = vec![IoSlice::new(reply.as_bytes())];
        slices.extend(parts.iter().map(|part| IoSlice::new(part)));
        let raw: Vec<_> = fds.iter().map(AsRawFd::as_raw_fd).collect();
        let rights = [ControlMessage::ScmRights(&raw)];
        let control: &[ControlMessage<'_>] = if raw.is_empty() { &[] } else { &rights };
        loop {
            let sent = sendmsg::<()>(
                self.fd.as_raw_fd(),
                &slices,
                control,
                MsgFlags::MSG_NOSIGNAL,
                None,
            );
            match sent {
                Err(Errno::EINTR) => {}
                Err(Errno::EPIPE | Errno::ECONNRESET) | Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Whether the client has closed its end.
    pub fn hung_up(&self) -> bool {
        use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
        use std::os::fd::AsFd;
        let mut fds = [PollFd::new(self.fd.as_fd(), PollFlags::empty())];
        let polled = poll(&mut fds, PollTimeout::ZERO);
        let gone = PollFlags::POLLHUP | PollFlags::POLLERR;
        polled.is_ok_and(|n| n > 0) && fds[0].revents().is_some_and(|seen| seen.intersects(gone))
    }
}
