//! Messages on a client's socket, with descriptors attached.
//!
//! unix(7): descriptors come with the first byte that they were sent with, which is the header's; those that come with other
//! bytes are closed by the system. Waits end when the server is told to stop.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendFlags, recv, recvmsg,
    send,
};
use zerocopy::{FromZeros as _, IntoBytes as _};

use crate::protocol::{Header, MAX_FILES};

/// TIMEOUT: how long a stop may go unnoticed.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// What has come.
pub enum Got {
    /// The header of a message, and its descriptors.
    Message(Header, Vec<OwnedFd>),
    /// The same with more descriptors than a message may have; all of them are closed.
    TooMany(Header),
    /// The other descriptor can be read.
    Other,
    /// The client has gone, or the server stops.
    End,
}

/// The server's end of a connection.
pub struct Channel<'a> {
    stream: UnixStream,
    stop: &'a AtomicBool,
}

impl<'a> Channel<'a> {
    pub fn new(stream: UnixStream, stop: &'a AtomicBool) -> Self {
        Channel { stream, stop }
    }

    fn stops(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Waits until the socket, or `other` for reading, is ready; whether `other` is. Returns now and then for nothing.
    fn wait(&self, what: PollFlags, other: Option<BorrowedFd<'_>>) -> io::Result<bool> {
        let own = PollFd::new(&self.stream, what);
        let outcome = match &other {
            None => poll(&mut [own], Some(&LOOK)).map(|_| false),
            Some(other) => {
                let mut fds = [own, PollFd::new(other, PollFlags::IN)];
                poll(&mut fds, Some(&LOOK)).map(|_| fds[1].revents().contains(PollFlags::IN))
            }
        };
        match outcome {
            Err(Errno::INTR) => Ok(false),
            outcome => Ok(outcome?),
        }
    }

    /// The next header, or that `other` can be read.
    pub fn receive(&self, other: Option<BorrowedFd<'_>>) -> io::Result<Got> {
        let mut header = Header::new_zeroed();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FILES))];
        let (taken, files, cut) = loop {
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let mut into = [IoSliceMut::new(header.as_mut_bytes())];
            let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
            match recvmsg(&self.stream, &mut into, &mut control, flags) {
                Ok(got) => {
                    let mut files = Vec::new();
                    for message in control.drain() {
                        if let RecvAncillaryMessage::ScmRights(rights) = message {
                            files.extend(rights);
                        }
                    }
                    break (got.bytes, files, got.flags.contains(ReturnFlags::CTRUNC));
                }
                Err(Errno::AGAIN) if self.stops() => return Ok(Got::End),
                Err(Errno::AGAIN) => {
                    if self.wait(PollFlags::IN, other)? {
                        return Ok(Got::Other);
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::CONNRESET) => return Ok(Got::End),
                Err(error) => return Err(error.into()),
            }
        };
        let rest = header.as_mut_bytes().get_mut(taken..).unwrap_or_default();
        if taken == 0 || !self.fill(rest)? {
            return Ok(Got::End);
        }
        if cut {
            return Ok(Got::TooMany(header));
        }
        Ok(Got::Message(header, files))
    }

    /// Fills `into`; `false` when the client goes before that, or the server stops.
    pub fn fill(&self, into: &mut [u8]) -> io::Result<bool> {
        let mut into = into;
        while !into.is_empty() {
            match recv(&self.stream, &mut *into, RecvFlags::DONTWAIT) {
                Ok((0, _)) | Err(Errno::CONNRESET) => return Ok(false),
                Ok((count, _)) => into = into.get_mut(count..).unwrap_or_default(),
                Err(Errno::AGAIN) if self.stops() => return Ok(false),
                Err(Errno::AGAIN) => drop(self.wait(PollFlags::IN, None)?),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    /// Sends bytes; `false` when the client has gone, or the server stops.
    pub fn send(&self, bytes: &[u8]) -> io::Result<bool> {
        let mut bytes = bytes;
        while !bytes.is_empty() {
            match send(
                self.stream.as_fd(),
                bytes,
                SendFlags::DONTWAIT | SendFlags::NOSIGNAL,
            ) {
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(Errno::PIPE | Errno::CONNRESET) => return Ok(false),
                Err(Errno::AGAIN) if self.stops() => return Ok(false),
                Err(Errno::AGAIN) => drop(self.wait(PollFlags::OUT, None)?),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }
}
