//! A process, pinned: whatever its number is used for later, this one is meant.
//!
//! pidfd_open(2), unix(7). To pin a process asks the system alone: nothing that the process does can make that take long.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::OnceLock;

use driver::Origin;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{getsockopt, sockopt};
use nix::unistd::Pid;
use rustix::process::{PidfdFlags, pidfd_open};
use rustix::thread::CapabilitySet;

use crate::ancestry;
use crate::peer::Stranger;

/// A process, pinned by a descriptor of itself.
pub struct Pin {
    /// Its number.
    pub number: Pid,
    /// Its user when it connected.
    pub user: u32,
    fd: OwnedFd,
    origin: OnceLock<Origin>,
}

impl Pin {
    /// The process that has connected.
    pub fn of(socket: &OwnedFd) -> Result<Pin, Stranger> {
        let (number, user) = credentials(socket)?;
        let fd = match getsockopt(socket, sockopt::PeerPidfd) {
            Ok(fd) => fd,
            // Linux before 6.5 does not know the option.
            Err(Errno::ENOPROTOOPT) => return Pin::by_number(socket, number, user),
            Err(Errno::ESRCH | Errno::EINVAL) => return Err(Stranger::Gone),
            Err(error) => return Err(Stranger::Unknown(error)),
        };
        Ok(Pin::new(number, user, fd))
    }

    fn new(number: Pid, user: u32, fd: OwnedFd) -> Pin {
        Pin {
            number,
            user,
            fd,
            origin: OnceLock::new(),
        }
    }

    /// The process that has a number; it is the one that has connected as long as its end of the connection is open.
    pub fn by_number(socket: &OwnedFd, number: Pid, user: u32) -> Result<Pin, Stranger> {
        let found = rustix::process::Pid::from_raw(number.as_raw()).ok_or(Stranger::Gone)?;
        let fd = pidfd_open(found, PidfdFlags::empty()).map_err(|_| Stranger::Gone)?;
        let mut fds = [PollFd::new(socket.as_fd(), PollFlags::empty())];
        if poll(&mut fds, PollTimeout::ZERO) == Ok(0) {
            Ok(Pin::new(number, user, fd))
        } else {
            Err(Stranger::Gone)
        }
    }

    /// This process.
    pub fn here() -> std::io::Result<Pin> {
        Ok(Pin::new(
            nix::unistd::getpid(),
            rustix::process::geteuid().as_raw(),
            pidfd_open(rustix::process::getpid(), PidfdFlags::empty())?,
        ))
    }

    /// Which process it is, and of which family, as it was when this was asked first. `is_client` says whether a process
    /// uses the node, `program` which one this process has started. It is to be trusted when the process lives afterwards.
    pub fn origin(
        &self,
        program: Option<ancestry::Program>,
        is_client: impl Fn(i32) -> bool,
    ) -> Origin {
        *(self.origin).get_or_init(|| ancestry::of(self.number.as_raw(), program, is_client))
    }

    /// Whether it has not ended, so that its number is still its own.
    pub fn is_alive(&self) -> bool {
        let mut fds = [PollFd::new(self.fd.as_fd(), PollFlags::POLLIN)];
        poll(&mut fds, PollTimeout::ZERO) == Ok(0)
    }

    /// The most that it can do (capabilities(7)).
    pub fn permitted(&self) -> nix::Result<CapabilitySet> {
        let number = rustix::process::Pid::from_raw(self.number.as_raw());
        let sets = rustix::thread::capabilities(number);
        let sets = sets.map_err(|error| Errno::from_raw(error.raw_os_error()))?;
        Ok(sets.permitted)
    }

    /// The descriptor itself.
    pub fn fd(&self) -> &OwnedFd {
        &self.fd
    }
}

/// The number of the process that has connected, and its user at that moment.
pub fn credentials(socket: &OwnedFd) -> Result<(Pid, u32), Stranger> {
    let peer = getsockopt(socket, sockopt::PeerCredentials).map_err(Stranger::Unknown)?;
    // A process of a namespace that is not seen from here has the number 0.
    if peer.pid() <= 0 {
        return Err(Stranger::Gone);
    }
    Ok((Pid::from_raw(peer.pid()), peer.uid()))
}
