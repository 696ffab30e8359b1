//! The process at the other end of a connection: its memory, its descriptors.
//!
//! A process is pinned by a descriptor of itself (pidfd_open(2)), since its number is another's after its end. Its memory
//! and its table are reached by calls that the system allows or refuses at that moment (ptrace(2), "Ptrace access mode
//! checking"): the thread that asks has given up what would exempt it, see `privilege`. So a process that has become
//! somebody else's by set-uid or by the execution of a program cannot be reached any more.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, OwnedFd};

use kernel::string_helpers::escape;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{getsockopt, sockopt};
use nix::sys::uio::{RemoteIoVec, process_vm_readv, process_vm_writev};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use rustix::thread::CapabilitySet;

/// A process, pinned.
pub struct Peer {
    number: nix::unistd::Pid,
    pin: OwnedFd,
    name: String,
    admin: bool,
    permitted: CapabilitySet,
    /// Whether its memory can be reached at all.
    has_memory: bool,
}

/// Why a process gets no connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Stranger {
    /// It is another user's.
    #[error("a process of user {0} asks for the node of another user")]
    User(u32),
    /// It has ended, or cannot be seen from here.
    #[error("a process that cannot be seen asks for the node")]
    Gone,
    /// The system does not say which process it is.
    #[error("the system does not tell which process asks for the node: {0}")]
    Unknown(Errno),
}

impl Peer {
    /// The process that has connected. `own` is the user whose processes are served.
    pub fn of(socket: &OwnedFd, own: u32) -> Result<Peer, Stranger> {
        let (number, user) = credentials(socket)?;
        if user != own {
            return Err(Stranger::User(user));
        }
        let pin = match getsockopt(socket, sockopt::PeerPidfd) {
            Ok(pin) => pin,
            // Linux before 6.5 does not know the option.
            Err(Errno::ENOPROTOOPT) => pin_by_number(socket, number)?,
            Err(Errno::ESRCH | Errno::EINVAL) => return Err(Stranger::Gone),
            Err(error) => return Err(Stranger::Unknown(error)),
        };
        let raw = number.as_raw();
        let permitted = rustix::thread::capabilities(rustix::process::Pid::from_raw(raw))
            .map_err(|_| Stranger::Gone)?
            .permitted;
        let name = std::fs::read_to_string(format!("/proc/{raw}/comm"));
        let peer = Peer {
            number,
            pin,
            name: name.map_or_else(
                |_| String::new(),
                |name| escape(name.trim_end_matches('\n')).into_owned(),
            ),
            admin: user == 0,
            permitted,
            has_memory: true,
        };
        // What was found by the number was the pinned process's as long as that one has the number.
        if peer.is_alive() {
            Ok(peer)
        } else {
            Err(Stranger::Gone)
        }
    }

    /// This process, with its descriptors and without its memory, as an unprivileged client.
    pub fn here() -> io::Result<Peer> {
        Ok(Peer {
            number: nix::unistd::getpid(),
            pin: pidfd_open(rustix::process::getpid(), PidfdFlags::empty())?,
            name: String::new(),
            admin: false,
            permitted: CapabilitySet::empty(),
            has_memory: false,
        })
    }

    /// Its number.
    pub fn pid(&self) -> i32 {
        self.number.as_raw()
    }

    /// Its name when it connected first.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it was root's.
    pub fn is_admin(&self) -> bool {
        self.admin
    }

    /// The most that it could do when it connected first (capabilities(7)).
    pub fn permitted(&self) -> CapabilitySet {
        self.permitted
    }

    /// Whether it has not ended, so that its number is still its own.
    pub fn is_alive(&self) -> bool {
        let mut fds = [PollFd::new(self.pin.as_fd(), PollFlags::POLLIN)];
        poll(&mut fds, PollTimeout::ZERO) == Ok(0)
    }

    /// The number of its parent, when it is to be had.
    pub fn parent(&self) -> Option<i32> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.number)).ok()?;
        // The name may have parentheses and spaces; state and parent stand behind it (proc_pid_stat(5)).
        let (_, rest) = text.rsplit_once(')')?;
        let parent = rest.split_ascii_whitespace().nth(1)?.parse().ok()?;
        self.is_alive().then_some(parent)
    }

    /// A descriptor of its table, to be looked at and closed at once: as long as it is open here, nobody is told that
    /// the client has closed it.
    pub fn descriptor(&self, number: i32) -> io::Result<OwnedFd> {
        // The call takes no such numbers: it would panic.
        if number < 0 {
            return Err(Errno::EBADF.into());
        }
        Ok(pidfd_getfd(&self.pin, number, PidfdGetfdFlags::empty())?)
    }

    /// Reads its memory; how much there was.
    pub fn read(&self, base: usize, out: &mut [u8]) -> nix::Result<usize> {
        let remote = [RemoteIoVec {
            base,
            len: out.len(),
        }];
        self.check()?;
        process_vm_readv(self.number, &mut [IoSliceMut::new(out)], &remote)
    }

    /// Writes its memory; how much there was room for.
    pub fn write(&self, base: usize, data: &[u8]) -> nix::Result<usize> {
        let remote = [RemoteIoVec {
            base,
            len: data.len(),
        }];
        self.check()?;
        process_vm_writev(self.number, &[IoSlice::new(data)], &remote)
    }

    /// These calls know processes by number only.
    fn check(&self) -> nix::Result<()> {
        if !self.has_memory {
            Err(Errno::EFAULT)
        } else if self.is_alive() {
            Ok(())
        } else {
            Err(Errno::ESRCH)
        }
    }
}

/// The number of the process that has connected, and its user at that moment.
pub fn credentials(socket: &OwnedFd) -> Result<(nix::unistd::Pid, u32), Stranger> {
    let peer = getsockopt(socket, sockopt::PeerCredentials).map_err(Stranger::Unknown)?;
    // A process of a namespace that is not seen from here has the number 0.
    if peer.pid() <= 0 {
        return Err(Stranger::Gone);
    }
    Ok((nix::unistd::Pid::from_raw(peer.pid()), peer.uid()))
}

/// Pins the process that has a number; it is the one that has connected as long as its end of the connection is open.
fn pin_by_number(socket: &OwnedFd, number: nix::unistd::Pid) -> Result<OwnedFd, Stranger> {
    let number = rustix::process::Pid::from_raw(number.as_raw()).ok_or(Stranger::Gone)?;
    let pin = pidfd_open(number, PidfdFlags::empty()).map_err(|_| Stranger::Gone)?;
    let mut fds = [PollFd::new(socket.as_fd(), PollFlags::empty())];
    if poll(&mut fds, PollTimeout::ZERO) == Ok(0) {
        Ok(pin)
    } else {
        Err(Stranger::Gone)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};

    use super::*;

    fn pair() -> (OwnedFd, OwnedFd) {
        let (kind, flags) = (SockType::SeqPacket, SockFlag::SOCK_CLOEXEC);
        socketpair(AddressFamily::Unix, kind, None, flags).unwrap()
    }

    #[test]
    fn a_process_is_the_same_however_it_is_pinned() {
        let (ours, theirs) = pair();
        let own = rustix::process::geteuid().as_raw();
        let peer = Peer::of(&ours, own).unwrap();
        assert_eq!(peer.pid(), nix::unistd::getpid().as_raw());
        assert_eq!(peer.parent(), Some(nix::unistd::getppid().as_raw()));
        assert!(peer.is_alive());
        let peer = Peer {
            pin: pin_by_number(&ours, peer.number).unwrap(),
            ..peer
        };
        let mut out = [0; 4];
        assert_eq!(peer.read(b"here".as_ptr().addr(), &mut out), Ok(4));
        assert_eq!(&out, b"here");
        for number in [-1, -100, i32::MIN] {
            let error = peer.descriptor(number).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(nix::libc::EBADF));
        }
        drop(theirs);
        // A program that another test starts may hold a copy for a moment, between its fork and its exec.
        while pin_by_number(&ours, peer.number).is_ok() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn others_are_strangers() {
        let (ours, _theirs) = pair();
        let own = rustix::process::geteuid().as_raw();
        let found = Peer::of(&ours, own + 1).err();
        assert_eq!(found, Some(Stranger::User(own)));
    }

    #[test]
    fn a_process_that_has_ended_is_not_reached() {
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let number = nix::unistd::Pid::from_raw(child.id() as i32);
        let (ours, _theirs) = pair();
        let peer = Peer {
            pin: pin_by_number(&ours, number).unwrap(),
            number,
            name: String::new(),
            admin: false,
            permitted: CapabilitySet::empty(),
            has_memory: true,
        };
        assert!(peer.is_alive() && peer.descriptor(0).is_ok());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!peer.is_alive());
        assert_eq!(peer.read(4096, &mut [0]), Err(Errno::ESRCH));
        assert_eq!(peer.write(4096, &[0]), Err(Errno::ESRCH));
        assert!(peer.descriptor(0).is_err());
    }
}
