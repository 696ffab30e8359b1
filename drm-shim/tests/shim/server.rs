//! A node that is none: answers by the book and writes down what it hears.
//!
//! Requests of its own stand in for the driver's.

use std::collections::{BTreeSet, HashMap};
use std::io::IoSlice;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::socket::{
    AddressFamily, Backlog, ControlMessage, MsgFlags, SockFlag, SockType, UnixAddr, accept4, bind,
    listen, recv, sendmsg, socket, socketpair,
};
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use nix::sys::stat::fstat;
use nix::sys::uio::{RemoteIoVec, process_vm_writev};
use nix::unistd::Pid;
use tempfile::TempDir;
use wire::message::{MAX_PACKET, Remap};
use wire::{Head, Op, Reply};
use zerocopy::{FromBytes, IntoBytes};

use crate::board::Board;

/// Size of each memory.
pub const MEMORY: u64 = 1 << 20;
/// In the second word of a move: another mapping was there when the node looked.
const STALE: u64 = 1 << 63;
/// Offsets in the node from here on lie in the second memory, then in those of the second device.
const SECOND: u64 = 1 << 32;

/// Numbers of requests: `_IOWR('d', number, __u64[2])`.
mod number {
    /// The first word comes back with one more.
    pub const ADD: u32 = 0xa0;
    /// The answer takes so many milliseconds.
    pub const WAIT: u32 = 0x6c;
    /// The same for a request that is no wait.
    pub const WORK: u32 = 0xa7;
    /// The node dies.
    pub const DIE: u32 = 0xa2;
    /// A descriptor is installed: 1 in the first word for close-on-exec; its number comes back. 2 for a dma-buf.
    pub const INSTALL: u32 = 0xa3;
    /// The page at the address in the first word shows the page at the offset in the second.
    pub const MOVE: u32 = 0xa4;
    /// Fails with the errno in the first word.
    pub const FAIL: u32 = 0xa5;
    /// Tells how many files are open and how many connections of threads there are.
    pub const COUNT: u32 = 0xa6;
    pub const VERSION: u32 = 0x00;
    /// Of a dma-buf: without a payload, as its argument is a text.
    pub const SET_NAME: u32 = 0x01;
    pub const GEM_MMAP: u32 = 0x5e;
}

struct Shared {
    /// Two of each device.
    memories: Vec<OwnedFd>,
    /// One of each device: what shows its error state.
    states: Vec<OwnedFd>,
    /// Our ends of open files, and what the node says they are.
    files: Mutex<HashMap<u64, (OwnedFd, [u64; 2])>>,
    dma_bufs: Mutex<HashMap<u64, OwnedFd>>,
    log: Mutex<Vec<String>>,
    threads: AtomicUsize,
    connections: Mutex<Vec<RawFd>>,
    dead: AtomicBool,
    /// Connections of threads from this number on are refused.
    most: AtomicUsize,
    /// Nothing is known of what children have inherited.
    forgets: AtomicBool,
    /// Pages that were told to be mapped, of whatever process.
    mapped: Mutex<BTreeSet<u64>>,
}

/// A running node.
pub struct Server {
    pub path: PathBuf,
    tree: TempDir,
    shared: Arc<Shared>,
}

impl Server {
    pub fn start() -> Server {
        Server::of(1)
    }

    /// A node of so many devices.
    pub fn of(devices: usize) -> Server {
        let tree = tree(devices);
        let path = tree.path().join(wire::env::SOCKET);
        let flags = SockFlag::SOCK_CLOEXEC;
        let listener = socket(AddressFamily::Unix, SockType::SeqPacket, flags, None).unwrap();
        let address = UnixAddr::new(&path).unwrap();
        bind(listener.as_raw_fd(), &address).unwrap();
        listen(&listener, Backlog::new(64).unwrap()).unwrap();
        let shared = Arc::new(Shared {
            memories: (0..2 * devices).map(|_| memory(MEMORY)).collect(),
            states: (0..devices).map(|_| state()).collect(),
            files: Mutex::default(),
            dma_bufs: Mutex::default(),
            log: Mutex::default(),
            threads: AtomicUsize::new(0),
            connections: Mutex::default(),
            dead: AtomicBool::new(false),
            most: AtomicUsize::new(usize::MAX),
            forgets: AtomicBool::new(false),
            mapped: Mutex::default(),
        });
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || accept_all(&serving, listener));
        Server { path, tree, shared }
    }

    pub fn tree(&self) -> &Path {
        self.tree.path()
    }

    /// What was heard, one line a message that changes something.
    pub fn log(&self) -> Vec<String> {
        self.shared.log.lock().unwrap().clone()
    }

    /// Addresses of the pages that are mapped, by what was told: of one process.
    pub fn mapped(&self) -> BTreeSet<u64> {
        self.shared.mapped.lock().unwrap().clone()
    }

    /// Whether all connections of threads have been read to their end.
    pub fn is_idle(&self) -> bool {
        self.shared.threads.load(Ordering::Relaxed) == 0
    }

    /// Refuses connections once there are so many.
    pub fn refuse_from(&self, most: usize) {
        self.shared.most.store(most, Ordering::Relaxed);
    }

    /// Refuses children that have inherited mappings.
    pub fn forget_children(&self) {
        self.shared.forgets.store(true, Ordering::Relaxed);
    }

    /// Writes into a memory.
    pub fn write(&self, which: usize, offset: u64, bytes: &[u8]) {
        let fd = &self.shared.memories[which];
        nix::sys::uio::pwrite(fd, bytes, offset as i64).unwrap();
    }

    /// What the file that shows a device's error state has.
    pub fn state(&self, device: usize) -> String {
        let mut text = vec![0; 64];
        let len = nix::sys::uio::pread(&self.shared.states[device], &mut text, 0).unwrap();
        String::from_utf8_lossy(&text[..len]).into_owned()
    }

    pub fn read(&self, which: usize, offset: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        let fd = &self.shared.memories[which];
        nix::sys::uio::pread(fd, &mut bytes, offset as i64).unwrap();
        bytes
    }
}

fn memory(size: u64) -> OwnedFd {
    let fd = memfd_create(c"memory", MFdFlags::MFD_CLOEXEC).unwrap();
    nix::unistd::ftruncate(&fd, size as i64).unwrap();
    fd
}

/// A file that shows an error state. (A node makes another one for each that asks.)
fn state() -> OwnedFd {
    let fd = memfd_create(c"state", MFdFlags::MFD_CLOEXEC).unwrap();
    nix::unistd::write(&fd, b"the state\n").unwrap();
    fd
}

fn tree(devices: usize) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let at = |path: &str| -> PathBuf {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    std::fs::create_dir_all(dir.path().join("sys/bus/pci")).unwrap();
    symlink("../renderD128", at("dev/dri/by-path/render")).unwrap();
    for (number, id) in ["0x2a02\n", "0x0042\n"]
        .into_iter()
        .enumerate()
        .take(devices)
    {
        device(&at, number, id);
    }
    dir
}

/// What the tree has of a device.
fn device(at: &dyn Fn(&str) -> PathBuf, number: usize, id: &str) {
    let (slot, bus) = wire::device::SLOTS[number];
    let device = format!("sys/devices/{bus}/{slot}");
    let names = [format!("renderD{}", 128 + number), format!("card{number}")];
    for name in &names {
        std::fs::write(at(&format!("dev/dri/{name}")), "").unwrap();
    }
    let [render, card] = names.each_ref().map(|name| format!("drm/{name}/uevent"));
    let state = format!("drm/card{number}/error");
    let uevent = format!("DRIVER=i915\nPCI_SLOT_NAME={slot}\n");
    let [render_name, card_name] = names.each_ref().map(|name| format!("DEVNAME=dri/{name}\n"));
    for (name, text) in [
        ("vendor", "0x8086\n"),
        ("device", id),
        ("subsystem_vendor", "0x17aa\n"),
        ("subsystem_device", "0x20b5\n"),
        ("revision", "0x0c\n"),
        ("uevent", &uevent),
        ("config", "\u{0}\u{0}"),
        (&render, &render_name),
        (&card, &card_name),
        (&state, "no state\n"),
    ] {
        std::fs::write(at(&format!("{device}/{name}")), text).unwrap();
    }
    let link = |target: &str, path: &str| symlink(target, at(path)).unwrap();
    let up = |count: usize| "../".repeat(count);
    link(&(up(3) + "bus/pci"), &format!("{device}/subsystem"));
    for (name, minor) in names.iter().zip([128 + number, number]) {
        link(&(up(3) + slot), &format!("{device}/drm/{name}/device"));
        let target = format!("{}devices/{bus}/{slot}/drm/{name}", up(2));
        link(&target, &format!("sys/dev/char/226:{minor}"));
    }
}

fn accept_all(shared: &Arc<Shared>, listener: OwnedFd) {
    while !shared.dead.load(Ordering::Relaxed) {
        let mut fds = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
        if poll(&mut fds, PollTimeout::from(20_u8)).unwrap_or(0) == 0 {
            continue;
        }
        let Ok(fd) = accept4(listener.as_raw_fd(), SockFlag::SOCK_CLOEXEC) else {
            continue;
        };
        // SAFETY: a descriptor that was made just now.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        let mut connections = shared.connections.lock().unwrap();
        if shared.dead.load(Ordering::Relaxed) {
            // It has died meanwhile, and would hang up on this one no more.
            break;
        }
        if connections.len() >= shared.most.load(Ordering::Relaxed) {
            // Before anything is read.
            let reply = Reply {
                result: -nix::libc::EMFILE,
                ..Reply::default()
            };
            let flags = MsgFlags::MSG_NOSIGNAL;
            nix::sys::socket::send(fd.as_raw_fd(), reply.as_bytes(), flags).unwrap();
            continue;
        }
        connections.push(fd.as_raw_fd());
        drop(connections);
        let shared = Arc::clone(shared);
        std::thread::spawn(move || {
            let connection = Connection {
                shared,
                fd,
                maps: AtomicBool::new(false),
                board: None,
            };
            connection.serve();
        });
    }
    drop(listener);
}

struct Connection {
    shared: Arc<Shared>,
    fd: OwnedFd,
    /// It has been told where something is, and has not mapped it yet.
    maps: AtomicBool,
    /// What is shared with a thread.
    board: Option<Board>,
}

impl Connection {
    fn log(&self, line: String) {
        self.shared.log.lock().unwrap().push(line);
    }

    fn receive(&self) -> Option<(Head, Vec<u8>)> {
        if let Some(question) = self.board.as_ref().and_then(Board::question) {
            assert_eq!(question.0.op, Op::Ioctl as u32);
            return Some(question);
        }
        let mut bytes = vec![0; MAX_PACKET];
        let len = recv(self.fd.as_raw_fd(), &mut bytes, MsgFlags::empty()).ok()?;
        let (head, rest) = Head::read_from_prefix(bytes.get(..len)?).ok()?;
        assert_eq!(rest.len(), head.len as usize);
        Some((head, rest.to_vec()))
    }

    fn send(&self, mut reply: Reply, rest: &[u8], fds: &[RawFd]) {
        reply.len = rest.len() as u32;
        let by_board = |board: &Board| fds.is_empty() && board.answer(&reply, rest);
        if self.board.as_ref().is_some_and(by_board) {
            return;
        }
        let parts = [IoSlice::new(reply.as_bytes()), IoSlice::new(rest)];
        let rights = [ControlMessage::ScmRights(fds)];
        let control = if fds.is_empty() { &[][..] } else { &rights };
        let fd = self.fd.as_raw_fd();
        let _ = sendmsg::<()>(fd, &parts, control, MsgFlags::MSG_NOSIGNAL, None);
        if let Some(board) = &self.board {
            board.divert();
        }
    }

    fn answer(&self, result: i32, value: u64, which: u64, fds: &[RawFd]) {
        let reply = Reply {
            result,
            value,
            which,
            ..Reply::default()
        };
        self.send(reply, &[], fds);
    }

    fn serve(mut self) {
        let Some((head, _)) = self.receive() else {
            return;
        };
        match Op::from_u32(head.op) {
            Some(Op::Life) if head.c != 0 && self.shared.forgets.load(Ordering::Relaxed) => {
                self.answer(-nix::libc::ESRCH, 0, 0, &[]);
            }
            Some(Op::Life) => {
                let child = match (head.c, head.file) {
                    (0, _) => "",
                    (_, 7) => " with its parent's mappings at the fork",
                    _ => " with its parent's mappings",
                };
                self.log(format!("process begins{child}"));
                let memories = &self.shared.memories;
                let fds: Vec<_> = memories.iter().map(AsRawFd::as_raw_fd).collect();
                let inodes = memories.iter().map(|memory| fstat(memory).unwrap().st_ino);
                let inodes: Vec<_> = inodes.collect();
                self.send(Reply::default(), inodes.as_bytes(), &fds);
                assert!(self.receive().is_none());
                self.log("process ends".into());
            }
            Some(Op::Thread) => {
                self.shared.threads.fetch_add(1, Ordering::Relaxed);
                let (board, fd) = Board::new();
                let inode = fstat(&fd).unwrap().st_ino;
                self.answer(0, inode, 0, &[fd.as_raw_fd()]);
                drop(fd);
                self.board = Some(board);
                while let Some((head, payload)) = self.receive() {
                    self.message(&head, payload);
                }
                self.shared.threads.fetch_sub(1, Ordering::Relaxed);
            }
            other => self.log(format!("unexpected first {other:?}")),
        }
        let raw = self.fd.as_raw_fd();
        self.shared
            .connections
            .lock()
            .unwrap()
            .retain(|fd| *fd != raw);
    }

    fn message(&self, head: &Head, payload: Vec<u8>) {
        let (a, b, c) = (head.a, head.b, head.c);
        match Op::from_u32(head.op) {
            Some(Op::Open) => {
                let of = if c == 0 {
                    String::new()
                } else {
                    format!(" of device {c}")
                };
                self.log(format!("open {a} {b}{of}"));
                let kind = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
                let (client, ours) =
                    socketpair(AddressFamily::Unix, SockType::SeqPacket, None, kind).unwrap();
                let inode = fstat(&client).unwrap().st_ino;
                let what = (ours, [1 + a, c]);
                self.shared.files.lock().unwrap().insert(inode, what);
                self.answer(0, inode, 0, &[client.as_raw_fd()]);
            }
            Some(Op::Ioctl) => self.ioctl(head, payload),
            Some(Op::Map) => {
                let (offset, which) = place(b);
                if offset + c > MEMORY || which >= self.shared.memories.len() as u64 {
                    return self.answer(-nix::libc::EINVAL, 0, 0, &[]);
                }
                self.maps.store(true, Ordering::Relaxed);
                self.answer(0, offset, which, &[]);
            }
            Some(Op::Missed) => {
                self.maps.store(false, Ordering::Relaxed);
                self.log("missed".into());
            }
            Some(Op::Mapped) if !self.maps.swap(false, Ordering::Relaxed) => {
                self.log("unexpected: it has not asked where".into());
                self.answer(-nix::libc::EINVAL, 0, 0, &[]);
            }
            Some(Op::Mapped) => {
                self.log(format!("mapped {a:#x} {c:#x}"));
                self.shared.mapped.lock().unwrap().extend(pages(b, c));
                self.answer(0, 0, 0, &[]);
            }
            Some(Op::Forks) => {
                self.log("forks".into());
                self.answer(0, 7, 0, &[]);
            }
            Some(Op::Unmapped) => {
                self.log(format!("unmapped {c:#x}"));
                let mut mapped = self.shared.mapped.lock().unwrap();
                mapped.retain(|page| !(b..b + c).contains(page));
            }
            Some(Op::Copied) => {
                self.log(format!("copied, mapped {c:#x}"));
                let mut mapped = self.shared.mapped.lock().unwrap();
                let copied = pages(a, c).filter(|page| mapped.contains(page));
                let copied: Vec<u64> = copied.map(|page| page - a + b).collect();
                mapped.extend(copied);
                drop(mapped);
                self.answer(0, 0, 0, &[]);
            }
            Some(Op::Identify) => {
                let inode = self.inode(head.file);
                let files = self.shared.files.lock().unwrap();
                let file = files.get(&inode).map(|(_, what)| *what);
                drop(files);
                let buffer = self.shared.dma_bufs.lock().unwrap().contains_key(&inode);
                let [what, device] = match (file, buffer) {
                    (Some(what), _) => what,
                    (_, true) => [3, 0],
                    _ => [0, 0],
                };
                self.answer(0, what, device, &[]);
            }
            Some(Op::Note) => self.log(format!("note {a} {}", String::from_utf8_lossy(&payload))),
            Some(Op::Frames) => self.log(format!("frames {a}")),
            Some(Op::ErrorState) => {
                self.log(format!("error state {a} {b}"));
                match self.shared.states.get(a as usize) {
                    Some(state) => self.answer(0, 0, 0, &[state.as_raw_fd()]),
                    None => self.answer(-nix::libc::ENODEV, 0, 0, &[]),
                }
            }
            other => self.log(format!("unexpected {other:?}")),
        }
    }

    fn ioctl(&self, head: &Head, mut block: Vec<u8>) {
        let word =
            |block: &[u8], index: usize| u64::read_from_prefix(&block[index * 8..]).unwrap().0;
        let set = |block: &mut [u8], index: usize, value: u64| {
            block[index * 8..][..8].copy_from_slice(value.as_bytes());
        };
        let mut result = 0;
        if !self.is_ours(self.inode(head.file)) {
            return self.answer(-nix::libc::EBADF, 0, 0, &[]);
        }
        match head.a as u32 & 0xff {
            number::VERSION => {
                block[..12].copy_from_slice([1_i32, 6, 0].as_bytes());
                for (index, text) in [(2, "i915"), (4, "20201103"), (6, "none")] {
                    let address = word(&block, index + 1);
                    if address != 0 && word(&block, index) >= text.len() as u64 {
                        self.write_client(address, text.as_bytes());
                    }
                    set(&mut block, index, text.len() as u64);
                }
            }
            number::ADD => {
                let value = word(&block, 0);
                set(&mut block, 0, value + 1);
            }
            number::WAIT | number::WORK => {
                std::thread::sleep(Duration::from_millis(word(&block, 0)));
            }
            number::DIE => return self.die(),
            number::INSTALL => {
                let what = word(&block, 0);
                let fd = memory(8192);
                if what == 2 {
                    let inode = fstat(&fd).unwrap().st_ino;
                    let own = fd.try_clone().unwrap();
                    self.shared.dma_bufs.lock().unwrap().insert(inode, own);
                }
                let install = Reply {
                    kind: Reply::INSTALL,
                    which: what & 1,
                    ..Reply::default()
                };
                self.send(install, &[], &[fd.as_raw_fd()]);
                let (answer, _) = self.receive().unwrap();
                assert_eq!(Op::from_u32(answer.op), Some(Op::Installed));
                set(&mut block, 0, answer.a);
            }
            number::MOVE => {
                let (address, to) = (word(&block, 0), word(&block, 1));
                let (offset, which) = place(to & !STALE);
                let (old_offset, old_which) = self.shows(address);
                let remap = Remap {
                    address,
                    len: 4096,
                    offset,
                    which,
                    old_offset: old_offset + if to & STALE != 0 { 4096 } else { 0 },
                    old_which,
                };
                let head = Reply {
                    kind: Reply::REMAP,
                    len: size_of::<Remap>() as u32,
                    ..Reply::default()
                };
                self.send(head, remap.as_bytes(), &[]);
            }
            number::FAIL => result = -(word(&block, 0) as i32),
            number::COUNT => {
                let files = self.open_files();
                set(&mut block, 0, files);
                let threads = self.shared.threads.load(Ordering::Relaxed);
                set(&mut block, 1, threads as u64);
            }
            // The offset of the bytes that are wished for, as the driver answers.
            number::GEM_MMAP => {
                let offset = word(&block, 1);
                set(&mut block, 3, 0x4000 + offset);
            }
            number::SET_NAME if block.is_empty() => {}
            _ => result = -nix::libc::ENOTTY,
        }
        let reply = Reply {
            len: block.len() as u32,
            result,
            ..Reply::default()
        };
        self.send(reply, &block, &[]);
    }

    /// Whether a file was given out here.
    fn is_ours(&self, inode: u64) -> bool {
        let is_file = self.shared.files.lock().unwrap().contains_key(&inode);
        is_file || self.shared.dma_bufs.lock().unwrap().contains_key(&inode)
    }

    /// The inode of a descriptor of the client's; 0 for none.
    fn inode(&self, number: u64) -> u64 {
        let peer = getsockopt(&self.fd, PeerCredentials).unwrap();
        let path = format!("/proc/{}/fd/{number}", peer.pid());
        std::fs::metadata(path).map_or(0, |file| file.ino())
    }

    /// What the client has mapped at an address: where in which memory.
    fn shows(&self, address: u64) -> (u64, u64) {
        let peer = getsockopt(&self.fd, PeerCredentials).unwrap();
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", peer.pid())).unwrap();
        let hex = |text: &str| u64::from_str_radix(text, 16).unwrap();
        let found = maps.lines().find_map(|line| {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let (start, end) = fields[0].split_once('-')?;
            let (start, end) = (hex(start), hex(end));
            let inode: u64 = fields[4].parse().ok()?;
            let which =
                (self.shared.memories.iter()).position(|m| fstat(m).unwrap().st_ino == inode)?;
            let here = (start..end).contains(&address);
            here.then(|| (hex(fields[2]) + (address - start), which as u64))
        });
        found.unwrap_or_default()
    }

    /// Writes into the client's memory, as a driver does.
    fn write_client(&self, address: u64, bytes: &[u8]) {
        let peer = getsockopt(&self.fd, PeerCredentials).unwrap();
        let remote = RemoteIoVec {
            base: address as usize,
            len: bytes.len(),
        };
        let pid = Pid::from_raw(peer.pid());
        process_vm_writev(pid, &[IoSlice::new(bytes)], &[remote]).unwrap();
    }

    /// Files whose other end has not hung up.
    fn open_files(&self) -> u64 {
        let files = self.shared.files.lock().unwrap();
        let open = files.values().filter(|(fd, _)| {
            let mut fds = [PollFd::new(fd.as_fd(), PollFlags::empty())];
            let polled = poll(&mut fds, PollTimeout::ZERO);
            polled.is_ok_and(|count| count == 0)
        });
        open.count() as u64
    }

    fn die(&self) {
        self.shared.dead.store(true, Ordering::Relaxed);
        for fd in self.shared.connections.lock().unwrap().iter() {
            let _ = nix::sys::socket::shutdown(*fd, nix::sys::socket::Shutdown::Both);
        }
        self.shared.files.lock().unwrap().clear();
    }
}

/// The pages of a range.
fn pages(start: u64, len: u64) -> impl Iterator<Item = u64> {
    (start..start + len).step_by(4096)
}

/// Memory and offset of an offset in the node.
fn place(offset: u64) -> (u64, u64) {
    (offset % SECOND, offset / SECOND)
}
