//! The process at the other end of a connection: its memory, its descriptors.
//!
//! A process is pinned (`pin`), since its number is another's after its end. Its memory
//! and its table are reached by calls that the system allows or refuses at that moment (ptrace(2), "Ptrace access mode
//! checking"): the thread that asks has given up what would exempt it, see `privilege`. So a process that has become
//! somebody else's by set-uid or by the execution of a program cannot be reached any more.
//!
//! A read of its memory may take as long as the process likes (userfaultfd(2), a file of its own file system). So its memory
//! is read on threads that serve it, and under no lock.
//!
//! A process that executes a program keeps its number and its descriptor of itself, while its memory is another's. So a
//! file of its memory (proc_pid_mem(5)) is kept as well, which is of the memory that it had when it was opened. That memory
//! outlives the execution as long as somebody is at it; so what the system has given the program to begin with is compared too
//! (`beginning`), for reads by the same call that reads.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::sync::Arc;

use driver::Origin;
use kernel::string_helpers::escape;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::uio::{RemoteIoVec, process_vm_readv, process_vm_writev};
use nix::unistd::Pid;
use rustix::process::{PidfdGetfdFlags, pidfd_getfd};

use crate::ancestry;
use crate::beginning::Beginning;
use crate::pin::Pin;

/// Most bytes that are copied between two looks whether the memory is still the one that was asked for.
const PIECE: usize = 64 << 10;

/// A process, pinned, while it runs one program.
pub struct Peer {
    pin: Arc<Pin>,
    name: String,
    admin: bool,
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

    fn check(&self, number: Pid) -> nix::Result<()> {
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

    /// Reads it, when it still is the memory of the process with a number; how much there was.
    fn read(&self, number: Pid, base: usize, out: &mut [u8]) -> nix::Result<usize> {
        let there = match self {
            Memory::Of(_, beginning) => beginning.read(number, base, out),
            _ => None,
        };
        let there = if let Some(there) = there {
            Ok(there)
        } else {
            self.check(number)?;
            let remote = [RemoteIoVec {
                base,
                len: out.len(),
            }];
            process_vm_readv(number, &mut [IoSliceMut::new(out)], &remote)
        };
        match there {
            Ok(there) if there == out.len() => Ok(there),
            other => self.read_writable(number, base, out).map_or(other, Ok),
        }
    }

    /// Reads memory that its program may write and has not asked to read: processors let programs read it all the same, and so does Linux where it reads for
    /// them. `None` where some of it may be neither read nor written.
    fn read_writable(&self, number: Pid, base: usize, out: &mut [u8]) -> Option<usize> {
        let Memory::Of(file, beginning) = self else {
            return None;
        };
        let maps = std::fs::read(format!("/proc/{}/maps", number.as_raw())).ok()?;
        let mut next = base as u64;
        let end = next.checked_add(out.len() as u64)?;
        for line in maps.split(|byte| *byte == b'\n') {
            let Some(((from, to), _)) = mapped(line) else {
                continue;
            };
            let rights = line.split(|byte| *byte == b' ').nth(1)?;
            let may = rights.starts_with(b"r") || rights.get(1) == Some(&b'w');
            if (from..to).contains(&next) && may {
                next = to;
            }
            if next >= end {
                // The list was this process's as long as its memory is.
                file.read_exact_at(out, base as u64).ok()?;
                return beginning.is_of(number).then_some(out.len());
            }
        }
        None
    }
}

/// The addresses of a line of proc_pid_maps(5), with device and inode of what is mapped there.
fn mapped(line: &[u8]) -> Option<((u64, u64), (u64, u64))> {
    let number = |text| u64::from_str_radix(text, 16).ok();
    let mut fields = line.split(|byte| *byte == b' ');
    let mut field = || str::from_utf8(fields.next()?).ok();
    let (start, end) = field()?.split_once('-')?;
    let (_rights, _offset) = (field()?, field()?);
    let (major, minor) = field()?.split_once(':')?;
    let device = nix::sys::stat::makedev(number(major)?, number(minor)?);
    let file = (device, field()?.parse().ok()?);
    Some(((number(start)?, number(end)?), file))
}

/// The name of a process (proc_pid_comm(5)) as a part of one line. The system cuts long names, also amid a letter.
fn shown(name: &[u8]) -> String {
    let name = name.strip_suffix(b"\n").unwrap_or(name);
    escape(&String::from_utf8_lossy(name)).into_owned()
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
    /// A process that has connected, with the memory that it has now. This reads its memory.
    pub fn of(pin: &Arc<Pin>) -> Result<Peer, Stranger> {
        let raw = pin.number.as_raw();
        let name = std::fs::read(format!("/proc/{raw}/comm")).unwrap_or_default();
        let peer = Peer {
            pin: Arc::clone(pin),
            name: shown(&name),
            admin: pin.user == 0,
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
            pin: Arc::new(Pin::here()?),
            name: String::new(),
            admin: false,
            memory: Memory::None,
        })
    }

    /// Whether it lives and is not known to have executed another program.
    pub fn runs_the_same(&self) -> bool {
        self.is_alive() && self.memory.check(self.pin.number) != Err(Errno::ESRCH)
    }

    /// Whether it may be a copy of another process, by what both have had to begin with; true where one of them lets nobody look.
    pub fn is_copy_of(&self, other: &Peer) -> bool {
        self.has_begun_as(other) != Some(false)
    }

    /// Whether both are known to run one program from its beginning: the same process, or a copy of it.
    pub fn runs_as(&self, other: &Peer) -> bool {
        self.has_begun_as(other) == Some(true)
    }

    fn has_begun_as(&self, other: &Peer) -> Option<bool> {
        match (&self.memory, &other.memory) {
            (Memory::Of(_, own), Memory::Of(_, other)) => Some(own.is_as(other)),
            _ => None,
        }
    }

    /// Whether it still runs the program that has connected, and that one has one of some files (device and inode) mapped at a range of
    /// addresses that counts; true where the system lets nobody look.
    pub fn has_mapped(&self, files: &[(u64, u64)], counts: impl Fn(u64, u64) -> bool) -> bool {
        if matches!(self.memory, Memory::None) || !self.runs_the_same() {
            return false;
        }
        let maps = std::fs::read(format!("/proc/{}/maps", self.pid()));
        maps.map_or(true, |maps| {
            let lines = maps.split(|byte| *byte == b'\n');
            let mut found = lines.filter_map(mapped);
            found.any(|((start, end), file)| files.contains(&file) && counts(start, end))
        })
    }

    /// Its number.
    pub fn pid(&self) -> i32 {
        self.pin.number.as_raw()
    }

    /// Why the system does not let this process look into its memory, as far as that can be seen; one phrase for each cause.
    pub fn why_closed(&self) -> Vec<String> {
        let mut causes = Vec::new();
        let number = self.pid();
        let owner = std::fs::metadata(format!("/proc/{number}")).map(|meta| meta.uid());
        if owner.is_ok_and(|owner| owner != self.pin.user) {
            // proc(5): such a process's entry is root's.
            causes.push("it is set-uid, has changed its user, or is not dumpable".to_owned());
        }
        let own = Pin::here().and_then(|pin| Ok(pin.permitted()?));
        if let (Ok(its), Ok(own)) = (self.pin.permitted(), own)
            && !own.contains(its)
        {
            causes.push("it has capabilities that this process lacks".to_owned());
        }
        let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
        let scope = scope.ok().and_then(|text| text.trim().parse::<u32>().ok());
        if let Some(scope @ 1..) = scope {
            causes.push(format!("kernel.yama.ptrace_scope is {scope}"));
        }
        causes
    }

    /// Which process it is, and of which family.
    pub fn origin(&self) -> Origin {
        // Found out before a process that has connected is looked at.
        self.pin.origin(None, |_| false)
    }

    /// Its name when it connected first.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it was root's.
    pub fn is_admin(&self) -> bool {
        self.admin
    }

    /// Whether it has not ended, so that its number is still its own.
    pub fn is_alive(&self) -> bool {
        self.pin.is_alive()
    }

    /// The number of its parent, when it is to be had.
    pub fn parent(&self) -> Option<i32> {
        let parent = ancestry::parent(self.pid())?;
        self.is_alive().then_some(parent)
    }

    /// A descriptor of its table, to be looked at and closed at once: as long as it is open here, nobody is told that
    /// the client has closed it.
    pub fn descriptor(&self, number: i32) -> io::Result<OwnedFd> {
        // The call takes no such numbers: it would panic.
        if number < 0 {
            return Err(Errno::EBADF.into());
        }
        Ok(pidfd_getfd(
            self.pin.fd(),
            number,
            PidfdGetfdFlags::empty(),
        )?)
    }

    /// Reads its memory; how much there was. The client has to be at the other end of `connection` still: the execution of a
    /// program closes it.
    pub fn read(&self, base: usize, out: &mut [u8], connection: impl AsFd) -> nix::Result<usize> {
        let mut done = 0;
        for piece in out.chunks_mut(PIECE) {
            let (base, len) = (base.wrapping_add(done), piece.len());
            self.look(&connection)?;
            let there = self.memory.read(self.pin.number, base, piece)?;
            done += there;
            if there < len {
                break;
            }
        }
        Ok(done)
    }

    /// Writes its memory; how much there was room for.
    pub fn write(&self, base: usize, data: &[u8], connection: impl AsFd) -> nix::Result<usize> {
        let mut done = 0;
        for piece in data.chunks(PIECE) {
            let (base, len) = (base.wrapping_add(done), piece.len());
            // The calls know processes by number only, and reach the memory of whatever program runs.
            self.look(&connection)?;
            self.memory.check(self.pin.number)?;
            let remote = [RemoteIoVec { base, len }];
            let there = process_vm_writev(self.pin.number, &[IoSlice::new(piece)], &remote)?;
            done += there;
            if there < len {
                break;
            }
        }
        Ok(done)
    }

    /// Whether the process lives and its client is at the other end: the system is asked once for both.
    fn look(&self, connection: impl AsFd) -> nix::Result<()> {
        let mut fds = [
            PollFd::new(self.pin.fd().as_fd(), PollFlags::POLLIN),
            // Hanging up is always told.
            PollFd::new(connection.as_fd(), PollFlags::empty()),
        ];
        if poll(&mut fds, PollTimeout::ZERO) == Ok(0) {
            Ok(())
        } else {
            Err(Errno::ESRCH)
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};

    use super::*;

    /// PR_SET_NAME (prctl(2)) takes sixteen bytes with the zero at the end, whatever they are.
    #[test]
    fn a_name_that_is_no_text_is_shown_as_far_as_it_is() {
        let (ours, _theirs) = pair();
        // The name is that of the first thread: a program of a name that is cut amid a letter.
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("b\u{fc}cherb\u{fc}cher\u{fc}");
        std::os::unix::fs::symlink("/bin/cat", &program).unwrap();
        let mut child = std::process::Command::new(&program)
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let number = Pid::from_raw(child.id() as i32);
        // The name is there before the arguments.
        let has_begun = || {
            let arguments = std::fs::read(format!("/proc/{number}/cmdline")).unwrap();
            arguments.starts_with(program.as_os_str().as_encoded_bytes())
        };
        while !has_begun() {
            std::thread::yield_now();
        }
        let pin = by_number(&ours, number);
        let name = Peer::of(&pin).unwrap().name;
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(name, "b\u{fc}cherb\u{fc}cher\u{fffd}");
        assert_eq!(shown(b"a\xff\x1b[2J\nb\n"), "a\u{fffd}\\u001b[2J\\u000ab");
        assert_eq!(shown(b"\n"), "");
    }

    /// A process by its number.
    fn by_number(socket: &OwnedFd, number: Pid) -> Arc<Pin> {
        Arc::new(Pin::by_number(socket, number, 0).unwrap())
    }

    fn pair() -> (OwnedFd, OwnedFd) {
        let (kind, flags) = (SockType::SeqPacket, SockFlag::SOCK_CLOEXEC);
        socketpair(AddressFamily::Unix, kind, None, flags).unwrap()
    }

    #[test]
    fn a_process_is_the_same_however_it_is_pinned() {
        let (ours, theirs) = pair();
        let peer = Peer::of(&Arc::new(Pin::of(&ours).unwrap())).unwrap();
        assert_eq!(peer.pid(), nix::unistd::getpid().as_raw());
        assert_eq!(peer.parent(), Some(nix::unistd::getppid().as_raw()));
        assert!(peer.is_alive());
        let peer = Peer {
            pin: by_number(&ours, peer.pin.number),
            ..peer
        };
        let mut out = [0; 4];
        assert_eq!(peer.read(b"here".as_ptr().addr(), &mut out, &ours), Ok(4));
        let ended = pair().0;
        // A program that another test starts may hold a copy of its other end for a moment, between its fork and its exec.
        while peer.read(b"here".as_ptr().addr(), &mut out, &ended) != Err(Errno::ESRCH) {
            std::thread::yield_now();
        }
        assert_eq!(&out, b"here");
        for number in [-1, -100, i32::MIN] {
            let error = peer.descriptor(number).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(nix::libc::EBADF));
        }
        drop(theirs);
        // Of this end, too.
        while Pin::by_number(&ours, peer.pin.number, 0).is_ok() {
            std::thread::yield_now();
        }
    }

    /// The address of a process's stack, where it can be read and written.
    fn stack(number: Pid) -> usize {
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
        let number = Pid::from_raw(child.id() as i32);
        // Its arguments are there when all is that the system gives a program (fs/binfmt_elf.c); its name comes before.
        let arguments = || std::fs::read_to_string(format!("/proc/{number}/cmdline")).unwrap();
        while !arguments().starts_with("sh\0") {
            std::thread::yield_now();
        }
        let (ours, _theirs) = pair();
        let peer = |pin| Peer {
            pin,
            name: String::new(),
            admin: false,
            memory: Memory::open(number.as_raw()).unwrap(),
        };
        let first = peer(by_number(&ours, number));
        assert!(first.runs_the_same());
        assert_eq!(first.read(stack(number), &mut [0], &ours), Ok(1));
        let mut input = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut input, b"\n").unwrap();
        while !arguments().starts_with("cat\0") || first.memory.check(number).is_ok() {
            std::thread::yield_now();
        }
        assert!(first.is_alive() && !first.runs_the_same());
        let at = stack(number);
        assert_eq!(first.read(at, &mut [0], &ours), Err(Errno::ESRCH));
        assert_eq!(first.write(at, &[0], &ours), Err(Errno::ESRCH));
        let second = peer(Arc::clone(&first.pin));
        assert_eq!(second.read(at, &mut [0], &ours), Ok(1));
        drop(input);
        child.wait().unwrap();
    }

    #[test]
    fn a_process_that_has_ended_is_not_reached() {
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let number = Pid::from_raw(child.id() as i32);
        let (ours, _theirs) = pair();
        let peer = Peer {
            pin: by_number(&ours, number),
            name: String::new(),
            admin: false,
            memory: Memory::open(number.as_raw()).unwrap(),
        };
        assert!(peer.is_alive() && peer.descriptor(0).is_ok());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!peer.is_alive());
        assert_eq!(peer.read(4096, &mut [0], &ours), Err(Errno::ESRCH));
        assert_eq!(peer.write(4096, &[0], &ours), Err(Errno::ESRCH));
        assert!(peer.descriptor(0).is_err());
    }
}
