//! One connection: of a client's process, or of one of its threads.
//!
//! A thread's requests are answered one after the other, as system calls are.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;

use driver::{Node, Object, Opener, Shared, uapi};
use kernel::error::{
    Error, Result as KernelResult,
    code::{EBADF, EINVAL, EMFILE, ENODEV, ENOMEM, ENOTTY, EPERM, ESRCH, ESTALE},
};
use nix::errno::Errno;
use nix::sys::stat::fstat;
use wire::message::{MAX_REMAPS, Remap};
use wire::{Head, Op, Reply};
use zerocopy::IntoBytes as _;

use crate::board::Board;
use crate::card::Card;
use crate::descriptors::{Found, What};
use crate::errors::Access;
use crate::packet::Socket;
use crate::peer::{Peer, Stranger};
use crate::peers::{Admitted, Refusal};
use crate::process::{Mapped, Refused};
use crate::server::Server;
use crate::task::{Block, Caller};
use crate::{lane, listen, map, privilege};

/// What is said when a mapping cannot be kept, which would show other objects' bytes once its own object is gone.
const NO_ROOM: &str = "no room is left for mappings of clients: ENOMEM";

/// Serves a connection that was admitted until the client closes it. The process is looked at on this thread, which is
/// the connection's own: a process that makes that last for ever stops itself alone.
pub fn serve_admitted(server: &Arc<Server>, fd: OwnedFd, admitted: &Admitted) {
    let mut socket = Socket::new(fd);
    let private = |error| server.say_own(&format!("privileges of a client's thread: {error}"));
    let (first, peer) = match greet(&mut socket, admitted, &private) {
        Ok(Some(greeted)) => greeted,
        // There is nothing to do, or it has ended meanwhile.
        Ok(None) | Err(Refusal::Stranger(Stranger::Gone)) => return,
        Err(refusal) => return listen::answer(server, socket.fd(), refusal),
    };
    if let Err(error) = privilege::share(admitted.permitted, false) {
        return private(error);
    }
    run(server, socket, &peer, Some(first));
}

/// The first message of a client, and its process; nothing when there is no more to do.
fn greet(
    socket: &mut Socket,
    admitted: &Admitted,
    private: &dyn Fn(io::Error),
) -> Result<Option<(Head, Arc<Peer>)>, Refusal> {
    // At once: later another program may run in that process.
    let (peer, is_fresh) = admitted.look()?;
    if let Err(error) = privilege::share(admitted.permitted, true) {
        private(error);
        return Ok(None);
    }
    let Ok(Some((first, _))) = socket.receive() else {
        return Ok(None);
    };
    let begins = Op::from_u32(first.op) == Some(Op::Life);
    let peer = if begins && !is_fresh {
        admitted.look_anew()?
    } else {
        peer
    };
    Ok(Some((first, peer)))
}

/// Serves a connection of a process until it is closed.
pub fn serve(server: &Arc<Server>, fd: OwnedFd, peer: &Arc<Peer>) {
    run(server, Socket::new(fd), peer, None);
}

fn run(server: &Arc<Server>, socket: Socket, peer: &Arc<Peer>, first: Option<Head>) {
    lane::enter(server.lanes.of(peer.pid()));
    let mut connection = Connection {
        server,
        peer,
        mapping: None,
        socket,
    };
    if let Err(error) = connection.run(first) {
        let (pid, name) = (peer.pid(), peer.name());
        match error.kind() {
            // The process was killed.
            io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
                log::debug!("connection of {name}[{pid}]: {error}");
            }
            _ => log::warn!("connection of {name}[{pid}]: {error}"),
        }
    }
}

struct Connection<'a> {
    server: &'a Arc<Server>,
    peer: &'a Arc<Peer>,
    /// What the last [`Op::Map`] has told a place of, until it is mapped there.
    mapping: Option<(Arc<Card>, Mapped)>,
    /// The last to go: its close may take long, where clients can have put descriptors into it.
    socket: Socket,
}

impl Connection<'_> {
    /// `first` is the first message, when it has come.
    fn run(&mut self, first: Option<Head>) -> io::Result<()> {
        let head = match first {
            Some(head) => head,
            None => match self.socket.receive()? {
                Some((head, _)) => head,
                None => return Ok(()),
            },
        };
        if head.a != u64::from(wire::VERSION) {
            let reply = failure(EINVAL);
            return self.socket.send(&reply, &[], &[]);
        }
        match Op::from_u32(head.op) {
            Some(Op::Life) => self.life(&head),
            Some(Op::Thread) => {
                self.greet_thread()?;
                while let Some((head, payload)) = self.socket.receive()? {
                    let payload = payload.to_vec();
                    self.request(&head, payload)?;
                }
                Ok(())
            }
            _ => self.socket.send(&failure(EINVAL), &[], &[]),
        }
    }

    /// Answers the first message of a thread. A board is worth having and not needed: without room for one there is none.
    fn greet_thread(&mut self) -> io::Result<()> {
        let Ok((board, fd, inode)) = Board::new() else {
            return self.socket.send(&Reply::default(), &[], &[]);
        };
        let reply = Reply {
            value: inode,
            ..Reply::default()
        };
        self.socket.send(&reply, &[], &[fd.as_fd()])?;
        self.socket.add(board);
        Ok(())
    }

    /// A process, until it ends.
    fn life(&mut self, head: &Head) -> io::Result<()> {
        let server = self.server;
        let peer = self.peer;
        let parent = i32::try_from(head.c).ok().filter(|pid| *pid > 0);
        let life = match server.processes.begin(peer, parent, head.file) {
            Ok(life) => life,
            Err(Refused::Room) => {
                server.say_own(NO_ROOM);
                return self.socket.send(&failure(ENOMEM), &[], &[]);
            }
            // The child says what it does about that.
            Err(Refused::Unknown) => return self.socket.send(&failure(ESRCH), &[], &[]),
        };
        let memories = server.cards.iter();
        let memories = memories.flat_map(|card| [card.memory.as_fd(), card.views.fd().as_fd()]);
        let fds: Vec<BorrowedFd<'_>> = memories.collect();
        let files = fds
            .iter()
            .map(|fd| fstat(fd).map(|stat| (stat.st_dev, stat.st_ino)));
        let files = files.collect::<nix::Result<Vec<(u64, u64)>>>()?;
        let inodes: Vec<u64> = files.iter().map(|(_, inode)| *inode).collect();
        let reply = Reply {
            len: inodes.as_bytes().len() as u32,
            ..Reply::default()
        };
        self.socket.send(&reply, &[inodes.as_bytes()], &fds)?;
        let end = loop {
            match self.socket.receive() {
                Ok(Some(_)) => {}
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        server.processes.end(peer.pid(), life, &files);
        server.note_ended();
        end
    }

    /// What a descriptor of the client is at this moment, when it is the node's.
    fn file(&self, number: u64) -> KernelResult<Found> {
        let refused = |error| if error == EPERM { EBADF } else { error };
        self.look_up(number).map_err(refused)
    }

    /// The same; EPERM where the system does not let this thread look.
    fn look_up(&self, number: u64) -> KernelResult<Found> {
        let number = i32::try_from(number).map_err(|_| EBADF)?;
        match self.peer.descriptor(number) {
            Ok(fd) => self.server.descriptors.find(fd).ok_or(EBADF),
            Err(error) => match error.raw_os_error().map(Errno::from_raw) {
                Some(Errno::EMFILE) => {
                    self.server.say_full(&error);
                    Err(EMFILE)
                }
                // The process has another user by now, or is nobody's.
                Some(Errno::EPERM) => Err(EPERM),
                _ => Err(EBADF),
            },
        }
    }

    fn request(&mut self, head: &Head, payload: Vec<u8>) -> io::Result<()> {
        let server = self.server;
        server.begin_request();
        match Op::from_u32(head.op) {
            Some(Op::Ioctl) => self.ioctl(head, payload),
            Some(Op::Open) => self.open(head),
            Some(Op::Map) => {
                server.processes.know(self.peer);
                let room = server.processes.has_room(self.peer.pid());
                let room = room.then_some(()).ok_or_else(|| {
                    server.say_own(NO_ROOM);
                    ENOMEM
                });
                let found = room.and_then(|()| self.file(head.file));
                let reply = match found.and_then(|found| map::map(server, found, head)) {
                    Ok((card, mapped)) => {
                        let place = mapped.place;
                        self.mapping = Some((card, mapped));
                        Reply {
                            value: place.offset,
                            which: place.which,
                            ..Reply::default()
                        }
                    }
                    Err(error) => failure(error),
                };
                self.socket.send(&reply, &[], &[])
            }
            Some(Op::Mapped) => {
                let pid = self.peer.pid();
                let Some((card, mapped)) = self.mapping.take() else {
                    return self.socket.send(&failure(EINVAL), &[], &[]);
                };
                if !server.processes.map(pid, head.b, mapped) {
                    server.say_own(NO_ROOM);
                    return self.socket.send(&failure(ENOMEM), &[], &[]);
                }
                let remap = map::remap_new(server, &card, pid, head.b);
                self.send_remaps(remap.as_slice())?;
                self.socket.send(&Reply::default(), &[], &[])
            }
            Some(Op::Missed) => {
                self.mapping = None;
                Ok(())
            }
            Some(Op::Forks) => {
                let reply = match server.processes.forks(self.peer.pid()) {
                    Some(value) => Reply {
                        value,
                        ..Reply::default()
                    },
                    None => failure(ENOMEM),
                };
                self.socket.send(&reply, &[], &[])
            }
            Some(Op::Unmapped) => {
                server.processes.unmap(self.peer.pid(), head.b, head.c);
                Ok(())
            }
            Some(Op::Copied) => {
                let pid = self.peer.pid();
                let reply = if server.processes.copy(pid, head.a, head.b, head.c) {
                    Reply::default()
                } else {
                    failure(ENOMEM)
                };
                self.socket.send(&reply, &[], &[])
            }
            Some(Op::Stayed) => {
                let back = server.processes.stay(self.peer.pid(), head.b, head.c);
                let reply = if back.iter().any(|mapped| map::is_elsewhere(server, mapped)) {
                    failure(ESTALE)
                } else {
                    Reply::default()
                };
                self.socket.send(&reply, &[], &[])
            }
            Some(Op::Identify) => {
                let found = self.file(head.file).ok();
                let reply = Reply {
                    value: found.as_ref().map_or(0, |found| found.what.number()),
                    which: found.map_or(0, |found| found.card.number() as u64),
                    ..Reply::default()
                };
                self.socket.send(&reply, &[], &[])
            }
            Some(Op::Note) => {
                server.note(self.peer, head.a, &String::from_utf8_lossy(&payload));
                Ok(())
            }
            Some(Op::Frames) => {
                server.count_frames(head.a);
                Ok(())
            }
            Some(Op::ErrorState) => self.error_state(head),
            Some(Op::Life | Op::Thread | Op::Installed) | None => {
                self.socket.send(&failure(EINVAL), &[], &[])
            }
        }
    }

    fn open(&self, head: &Head) -> io::Result<()> {
        let node = if head.a == 0 {
            Node::Render
        } else {
            Node::Primary
        };
        let who = Opener {
            pid: self.peer.pid().unsigned_abs(),
            admin: self.peer.is_admin(),
        };
        let server = self.server;
        let Some(card) = self.card(head.c) else {
            return self.socket.send(&failure(ENODEV), &[], &[]);
        };
        match server.descriptors.open(card, node, who) {
            Ok((fd, inode)) => {
                let reply = Reply {
                    value: inode,
                    ..Reply::default()
                };
                server.note_opened(card);
                self.socket.send(&reply, &[], &[fd.as_fd()])
            }
            Err(error) => self.not_opened(&error),
        }
    }

    fn error_state(&self, head: &Head) -> io::Result<()> {
        let Some(card) = self.card(head.a) else {
            return self.socket.send(&failure(ENODEV), &[], &[]);
        };
        match card.error_file(Access::of(head.b)) {
            Ok(fd) => self.socket.send(&Reply::default(), &[], &[fd.as_fd()]),
            Err(error) => self.not_opened(&error),
        }
    }

    /// The device with a number.
    fn card(&self, number: u64) -> Option<&Arc<Card>> {
        let number = usize::try_from(number).ok()?;
        self.server.cards.get(number)
    }

    fn not_opened(&self, error: &io::Error) -> io::Result<()> {
        let errno = match error.kind() {
            io::ErrorKind::FileTooLarge => Errno::EFBIG as i32,
            _ => error.raw_os_error().unwrap_or(Errno::EMFILE as i32),
        };
        if errno == Errno::EMFILE as i32 || errno == Errno::ENFILE as i32 {
            self.server.say_full(error);
        }
        let reply = failure(Error::from_errno(-errno));
        self.socket.send(&reply, &[], &[])
    }

    fn ioctl(&mut self, head: &Head, payload: Vec<u8>) -> io::Result<()> {
        let server = self.server;
        let request = head.a as u32;
        let block = Block::new(request, head.b, payload);
        let handle =
            (block.bytes.borrow().first_chunk()).map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let found = match self.look_up(head.file) {
            Ok(found) => found,
            // A packet says whose it is.
            Err(EPERM) if self.socket.is_unsigned() => return self.socket.send(&again(), &[], &[]),
            Err(EPERM) => {
                server.say_closed("open files", self.peer);
                return self.socket.send(&failure(EBADF), &[], &[]);
            }
            Err(error) => return self.socket.send(&failure(error), &[], &[]),
        };
        let card = &found.card;
        let caller = Caller {
            server,
            card,
            peer: self.peer,
            socket: RefCell::new(&mut self.socket),
            block,
        };
        let mut remaps = Vec::new();
        let result = match &found.what {
            What::File(file) => {
                let around = Around::new(card, file, request, handle);
                let result = driver::ioctl(file, request, head.b, &caller);
                card.end_request();
                remaps = around.after(server, self.peer.pid());
                if let Err(error) = result {
                    server.refused(self.peer, request, error);
                }
                result
            }
            What::Shared(shared) => {
                let device = card.device();
                let result = match shared {
                    Shared::Object(object) => {
                        let (views, live) = (&card.views, card.live());
                        let crosses = request == uapi::dma_buf::SYNC.0;
                        if crosses {
                            views.push(live, object);
                        }
                        let result =
                            driver::dma_buf::ioctl(device, object, request, head.b, &caller);
                        if crosses {
                            views.changed(object);
                            views.pull(live, object);
                        }
                        result
                    }
                    _ => driver::sync_file::ioctl(device, shared, request, head.b, &caller),
                };
                if let Err(error @ ENOTTY) = result {
                    server.refused(self.peer, request, error);
                }
                result
            }
        };
        let block = caller.block.into_reply();
        // Before the client hears of it: when it closes the file then, the last is gone.
        drop(found);
        let reply = Reply {
            kind: 0,
            len: block.len() as u32,
            result: result.unwrap_or_else(Error::to_errno),
            ..Reply::default()
        };
        self.send_remaps(&remaps)?;
        self.socket.send(&reply, &[&block], &[])
    }

    fn send_remaps(&self, remaps: &[Remap]) -> io::Result<()> {
        for remaps in remaps.chunks(MAX_REMAPS) {
            let head = Reply {
                kind: Reply::REMAP,
                len: size_of_val(remaps) as u32,
                ..Reply::default()
            };
            self.socket.send(&head, &[remaps.as_bytes()], &[])?;
        }
        Ok(())
    }
}

fn again() -> Reply {
    Reply {
        kind: Reply::AGAIN,
        ..Reply::default()
    }
}

fn failure(error: Error) -> Reply {
    Reply {
        result: error.to_errno(),
        ..Reply::default()
    }
}

/// What has to be done to linear views before and after a request.
struct Around<'a> {
    card: &'a Card,
    number: u32,
    object: Option<Object>,
    /// The client goes from a mapping of one kind to one of another.
    crosses: bool,
}

impl<'a> Around<'a> {
    fn new(card: &'a Card, file: &driver::File, request: u32, handle: u32) -> Self {
        let number = uapi::Request(request).number();
        let is = |other: uapi::Request| other.number() == number;
        let touches = is(uapi::gem::PREAD)
            || is(uapi::gem::PWRITE)
            || is(uapi::gem::SET_TILING)
            || is(uapi::gem::SET_DOMAIN)
            || is(uapi::gem::WAIT)
            || is(uapi::gem::BUSY);
        let object = touches.then(|| file.object(handle).ok()).flatten();
        let has_pages = object.as_ref().is_some_and(Object::has_shown_pages);
        let crosses = is(uapi::gem::SET_DOMAIN) && has_pages;
        if let Some(object) = &object {
            if is(uapi::gem::SET_TILING) {
                card.views.relayout(card.live(), object);
            } else if crosses || is(uapi::gem::PREAD) || is(uapi::gem::PWRITE) {
                card.views.push(card.live(), object);
            }
        }
        Around {
            card,
            number,
            object,
            crosses,
        }
    }

    fn after(self, server: &Server, pid: i32) -> Vec<Remap> {
        let is = |other: uapi::Request| other.number() == self.number;
        let (card, live) = (self.card, self.card.live());
        match self.object {
            Some(object) => {
                if is(uapi::gem::SET_TILING) {
                    return map::remaps(server, card, pid, &object);
                }
                // Other mappings may have been written before.
                if is(uapi::gem::PWRITE) || self.crosses {
                    card.views.changed(&object);
                }
                card.views.pull(live, &object);
            }
            None => {
                if is(uapi::syncobj::WAIT)
                    || is(uapi::syncobj::TIMELINE_WAIT)
                    || is(uapi::gem::THROTTLE)
                {
                    let mut stale = BTreeSet::new();
                    let look = |mapped: &_| stale = card.views.stale(mapped);
                    server.processes.with_mappings(pid, look);
                    // Outside the lock of the mappings: the process's other threads go on mapping.
                    card.views.pull_all(live, &stale);
                }
            }
        }
        Vec::new()
    }
}
