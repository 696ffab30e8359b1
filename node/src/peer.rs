//! The process at the other end of a connection: its memory, its descriptors.
//!
//! A process is pinned by a descriptor of itself (pidfd_open(2)), since its number is another's after its end. Its memory
//! and its table are reached by calls that the system allows or refuses at that moment (ptrace(2), "Ptrace access mode
//! checking"): the thread that asks has given up what would exempt it, see `privilege`. So a process that has become
//! somebody else's by set-uid or by the execution of a program cannot be reached any more.
//!
//! A process that executes a program keeps its number and its descriptor of itself, while its memory is another's. So a
//! file of its memory (proc_pid_mem(5)) is kept as well, which is of the memory that it had when it was opened. That memory
//! outlives the execution as long as somebody is at it; so what the system has given the program to begin with is compared too.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use kernel::string_helpers::escape;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{getsockopt, sockopt};
use nix::sys::uio::{RemoteIoVec, process_vm_readv, process_vm_writev};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use rustix::thread::CapabilitySet;

/// Most bytes that are copied between two looks whether the memory is still the one that was asked for.
const PIECE: usize = 64 << 10;

/// A process, pinned, while it runs one program.
pub struct Peer {
    number: nix::unistd::Pid,
    pin: Arc<OwnedFd>,
    name: String,
    admin: bool,
    permitted: CapabilitySet,
    /// What tells whether its memory is still the same.
    memory: Memory,
}

/// The memory of a process, as far as it is needed to know it again.
enum Memory {
    /// Of the program that it ran when it connected: reads of the file give no bytes as soon as no process has that memory.
    Of(File, Beginning),
    /// The system lets nobody look.
    Closed,
    /// This process stands for a client without memory.
    None,
}

impl Memory {
    fn open(number: i32) -> Result<Memory, Stranger> {
        match File::open(format!("/proc/{number}/mem")) {
            Ok(file) => Ok(Memory::Of(file, Beginning::of(number))),
            Err(error) => match error.raw_os_error().map(Errno::from_raw) {
                Some(Errno::ENOENT | Errno::ESRCH) => Err(Stranger::Gone),
                Some(error @ (Errno::EMFILE | Errno::ENFILE)) => Err(Stranger::Unknown(error)),
                _ => Ok(Memory::Closed),
            },
        }
    }

    fn check(&self, number: nix::unistd::Pid) -> nix::Result<()> {
        match self {
            // Where nothing is mapped the read fails, as long as the memory is there.
            Memory::Of(file, beginning) => match file.read_at(&mut [0], 0) {
                Ok(1..) | Err(_) if beginning.is_of(number) => Ok(()),
                _ => Err(Errno::ESRCH),
            },
            Memory::Closed => Err(Errno::EPERM),
            Memory::None => Err(Errno::EFAULT),
        }
    }
}

/// What the system gives a program when it begins (getauxval(3)); sixteen bytes of it are drawn at random each time.
struct Beginning {
    vector: Vec<u8>,
    random: [u8; 16],
}

impl Beginning {
    fn of(number: i32) -> Beginning {
        let vector = std::fs::read(format!("/proc/{number}/auxv")).unwrap_or_default();
        let number = nix::unistd::Pid::from_raw(number);
        let random = drawn(number, &vector).unwrap_or_default();
        Beginning { vector, random }
    }

    /// Whether a process still runs the program that has begun so.
    fn is_of(&self, number: nix::unistd::Pid) -> bool {
        // A program may have written over its bytes. Their place is drawn as well, unless the user wants none of that.
        drawn(number, &self.vector) == Some(self.random)
            || std::fs::read(format!("/proc/{number}/auxv")).is_ok_and(|now| now == self.vector)
    }
}

/// The random bytes where a vector says that they are.
fn drawn(number: nix::unistd::Pid, vector: &[u8]) -> Option<[u8; 16]> {
    let word = |bytes: &[u8]| bytes.try_into().ok().map(usize::from_ne_bytes);
    let mut rows = vector.chunks_exact(2 * size_of::<usize>());
    let row = rows.find(|row| {
        let kind = row.get(..size_of::<usize>()).and_then(word);
        kind == Some(nix::libc::AT_RANDOM as usize)
    })?;
    let base = row.get(size_of::<usize>()..).and_then(word)?;
    let mut bytes = [0; 16];
    let remote = [RemoteIoVec { base, len: 16 }];
    let there = process_vm_readv(number, &mut [IoSliceMut::new(&mut bytes)], &remote);
    (there == Ok(16)).then_some(bytes)
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
        let pin = Arc::new(match getsockopt(socket, sockopt::PeerPidfd) {
            Ok(pin) => pin,
            // Linux before 6.5 does not know the option.
            Err(Errno::ENOPROTOOPT) => pin_by_number(socket, number)?,
            Err(Errno::ESRCH | Errno::EINVAL) => return Err(Stranger::Gone),
            Err(error) => return Err(Stranger::Unknown(error)),
        });
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
            memory: Memory::open(raw)?,
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
            pin: Arc::new(pidfd_open(rustix::process::getpid(), PidfdFlags::empty())?),
            name: String::new(),
            admin: false,
            permitted: CapabilitySet::empty(),
            memory: Memory::None,
        })
    }

    /// Makes it known as the process that another is: they may run different programs.
    pub fn is_known_as(&mut self, other: &Peer) {
        self.pin = Arc::clone(&other.pin);
    }

    /// Whether two are of one process.
    pub fn is_process_of(&self, other: &Peer) -> bool {
        Arc::ptr_eq(&self.pin, &other.pin)
    }

    /// Whether it lives and is not known to have executed another program.
    pub fn runs_the_same(&self) -> bool {
        self.is_alive() && self.memory.check(self.number) != Err(Errno::ESRCH)
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

    /// Reads its memory; how much there was. `waits` says whether the client is still at the other end.
    pub fn read(
        &self,
        base: usize,
        out: &mut [u8],
        waits: impl Fn() -> bool,
    ) -> nix::Result<usize> {
        let mut done = 0;
        for piece in out.chunks_mut(PIECE) {
            let (base, len) = (base.wrapping_add(done), piece.len());
            self.check(&waits)?;
            let remote = [RemoteIoVec { base, len }];
            let there = process_vm_readv(self.number, &mut [IoSliceMut::new(piece)], &remote)?;
            done += there;
            if there < len {
                break;
            }
        }
        Ok(done)
    }

    /// Writes its memory; how much there was room for.
    pub fn write(&self, base: usize, data: &[u8], waits: impl Fn() -> bool) -> nix::Result<usize> {
        let mut done = 0;
        for piece in data.chunks(PIECE) {
            let (base, len) = (base.wrapping_add(done), piece.len());
            self.check(&waits)?;
            let remote = [RemoteIoVec { base, len }];
            let there = process_vm_writev(self.number, &[IoSlice::new(piece)], &remote)?;
            done += there;
            if there < len {
                break;
            }
        }
        Ok(done)
    }

    /// These calls know processes by number only, and reach the memory of whatever program runs.
    fn check(&self, waits: impl Fn() -> bool) -> nix::Result<()> {
        if !self.is_alive() || !waits() {
            return Err(Errno::ESRCH);
        }
        self.memory.check(self.number)
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
            pin: Arc::new(pin_by_number(&ours, peer.number).unwrap()),
            ..peer
        };
        let mut out = [0; 4];
        assert_eq!(peer.read(b"here".as_ptr().addr(), &mut out, || true), Ok(4));
        let gone = peer.read(b"here".as_ptr().addr(), &mut out, || false);
        assert_eq!(gone, Err(Errno::ESRCH), "the connection has ended");
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

    /// The address of a process's stack, where it can be read and written.
    fn stack(number: nix::unistd::Pid) -> usize {
        let maps = std::fs::read_to_string(format!("/proc/{number}/maps")).unwrap();
        let line = maps.lines().find(|line| line.ends_with("[stack]")).unwrap();
        let (_, end) = line.split_once('-').unwrap();
        let (end, _) = end.split_once(' ').unwrap();
        usize::from_str_radix(end, 16).unwrap() - 4096
    }

    #[test]
    fn a_program_that_is_executed_is_not_reached() {
        let mut child = std::process::Command::new("sh")
            .args(["-c", "read line; exec cat"])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let number = nix::unistd::Pid::from_raw(child.id() as i32);
        let comm = || std::fs::read_to_string(format!("/proc/{number}/comm")).unwrap();
        while comm().trim() != "sh" {
            std::thread::yield_now();
        }
        let (ours, _theirs) = pair();
        let peer = |pin| Peer {
            pin,
            number,
            name: String::new(),
            admin: false,
            permitted: CapabilitySet::empty(),
            memory: Memory::open(number.as_raw()).unwrap(),
        };
        let first = peer(Arc::new(pin_by_number(&ours, number).unwrap()));
        assert!(first.runs_the_same());
        assert_eq!(first.read(stack(number), &mut [0], || true), Ok(1));
        let mut input = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut input, b"\n").unwrap();
        while comm().trim() != "cat" || first.memory.check(first.number).is_ok() {
            std::thread::yield_now();
        }
        assert!(first.is_alive() && !first.runs_the_same());
        let at = stack(number);
        assert_eq!(first.read(at, &mut [0], || true), Err(Errno::ESRCH));
        assert_eq!(first.write(at, &[0], || true), Err(Errno::ESRCH));
        let second = peer(Arc::clone(&first.pin));
        assert!(second.is_process_of(&first));
        assert_eq!(second.read(at, &mut [0], || true), Ok(1));
        drop(input);
        child.wait().unwrap();
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
            pin: Arc::new(pin_by_number(&ours, number).unwrap()),
            number,
            name: String::new(),
            admin: false,
            permitted: CapabilitySet::empty(),
            memory: Memory::open(number.as_raw()).unwrap(),
        };
        assert!(peer.is_alive() && peer.descriptor(0).is_ok());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!peer.is_alive());
        assert_eq!(peer.read(4096, &mut [0], || true), Err(Errno::ESRCH));
        assert_eq!(peer.write(4096, &[0], || true), Err(Errno::ESRCH));
        assert!(peer.descriptor(0).is_err());
    }
}
