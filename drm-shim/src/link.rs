//! A thread's connection: one message, one answer.
//!
//! A connection belongs to one call at a time: a handler of a signal that comes in between takes another, and one that
//! never comes back leaves no half-read answer to others (`sys/key.rs`). A wait is not cut short by signals. Where the node
//! may write into the program's memory, handlers run after the call, as they do on Linux: one that jumped out would leave
//! the node writing over what lies there next.

use core::time::Duration;
use std::os::fd::RawFd;
use std::time::Instant;

use wire::patience::Patience;
use wire::{Head, NO_FILE, Op, Reply, VERSION};
use zerocopy::IntoBytes;

use crate::config::Node;
use crate::own::Handle;
use crate::sys::board::{self, Board};
use crate::sys::key::{self, Claim, Mark};
use crate::sys::memory::Block;
use crate::sys::socket::{self, Packet, Signals};
use crate::sys::{self, Result, copy};
use crate::{config, fork, life, map, own, report};

/// How long threads look for an answer.
static PATIENCE: Patience = Patience::new();

/// A connection in use.
pub struct Link<'a> {
    fd: Handle,
    broken: bool,
    /// Whether the program has taken the descriptor away, past libc; the node may live.
    is_taken: bool,
    /// Whether it outlives the call, in the call's slot.
    is_held: bool,
    /// The thread's blocked signals before the call, while all are blocked.
    before: Option<u64>,
    /// The slot of the call, which has the page by which the node is asked while it looks there.
    claim: Option<&'a Claim>,
}

/// Uses a connection of the thread, and makes one when the thread has no connection yet.
pub fn with<T>(run: impl Fn(&mut Link) -> Result<T>) -> Result<T> {
    fork::find_out();
    // After a loss every call fails alike, also on connections that are still open.
    life::begin()?;
    let mark = Mark::new();
    let claim = key::claim(&mark);
    let result = attempt(claim.as_ref(), run);
    if let Some(claim) = claim {
        claim.release();
    }
    drop(mark);
    result
}

fn attempt<T>(claim: Option<&Claim>, run: impl Fn(&mut Link) -> Result<T>) -> Result<T> {
    let mut link = match claim.and_then(Claim::connection) {
        Some(fd) => Link {
            is_held: true,
            ..Link::over(fd, claim)
        },
        None => Link::make(claim)?,
    };
    let mut result = run(&mut link);
    if link.broken && result.as_ref().is_err_and(|error| *error == libc::EBADF) {
        // The program has closed all descriptors that it did not know. Nothing was sent.
        let signals = sys::block_signals();
        own::disown(link.fd);
        if let Some(claim) = claim.filter(|_| link.is_held) {
            claim.take();
        }
        sys::unblock_signals(signals);
        link = Link::make(claim)?;
        result = run(&mut link);
    }
    if link.broken {
        let is_taken = link.is_taken;
        link.close(claim);
        if is_taken {
            life::taken();
        } else {
            life::lost();
        }
        return result.map_err(|_| libc::ENODEV);
    }
    if !link.is_held {
        link.close(None);
    }
    result
}

/// Uses a connection of the thread as [`with`] does; handlers of signals run after it.
pub fn with_signals_blocked<T>(run: impl Fn(&mut Link) -> Result<T>) -> Result<T> {
    let before = sys::block_signals();
    let result = with_blocked(before, run);
    sys::unblock_signals(before);
    result
}

/// The same where the caller has blocked them, which were `before`.
pub fn with_blocked<T>(before: u64, run: impl Fn(&mut Link) -> Result<T>) -> Result<T> {
    with(|link| {
        link.before = Some(before);
        run(link)
    })
}

/// The process forks: the number by which its child asks for what is mapped now.
pub fn forks() -> Result<u64> {
    with(|link| {
        let mut packet = Packet::new();
        link.ask(
            Head::new(Op::Forks, NO_FILE, [0; 3]),
            Block::of(&[]),
            &mut packet,
        )?;
        Ok(packet.head.value)
    })
}

/// Sends text for the node's report, see [`Op::Note`]; it is lost when there is no node.
pub fn note(what: u64, text: &[u8]) {
    if config::get().node().is_some() {
        let head = Head::new(Op::Note, NO_FILE, [what, 0, 0]);
        // What cannot be noted is not worth an error of the program's call.
        let _ = with(|link| link.send(head, Block::of(text)));
    }
}

impl<'a> Link<'a> {
    fn over(fd: Handle, claim: Option<&'a Claim>) -> Self {
        Link {
            fd,
            broken: false,
            is_taken: false,
            is_held: false,
            before: None,
            claim,
        }
    }

    /// A new one, also where the program's calls past libc have taken away what the first attempt made.
    fn make(claim: Option<&'a Claim>) -> Result<Self> {
        for _ in 0..life::ATTEMPTS {
            match Link::new(claim) {
                Err(libc::EBADF) => {}
                other => return other,
            }
        }
        life::taken();
        Err(libc::ENODEV)
    }

    #[cold]
    #[inline(never)]
    fn new(claim: Option<&'a Claim>) -> Result<Self> {
        let path = config::get().node().ok_or(libc::ENODEV)?;
        life::ask_own()?;
        // A handler that jumps out finds either no connection or one that is known.
        let signals = sys::block_signals();
        let made = socket::connect(path);
        let is_held = match (made, claim) {
            (Ok(fd), Some(claim)) => claim.hold(fd),
            _ => false,
        };
        sys::unblock_signals(signals);
        let fd = made.map_err(life::not_connected)?;
        let link = Link {
            is_held,
            ..Link::over(fd, claim)
        };
        let process = life::process() as u64;
        let head = Head::new(Op::Thread, NO_FILE, [u64::from(VERSION), process, 0]);
        let mut packet = Packet::new();
        let keep = |packet: &mut Packet| {
            let address = Board::take_in(packet).map_or(0, Board::address);
            if !claim.is_some_and(|claim| is_held && claim.keep(address)) {
                board::give_back(address);
            }
            Ok(())
        };
        if let Err(error) = socket::introduce(fd, head.as_bytes(), &mut packet, keep) {
            link.close(claim);
            return Err(life::refused(error));
        }
        Ok(link)
    }

    fn close(self, claim: Option<&Claim>) {
        let signals = sys::block_signals();
        if let Some(claim) = claim.filter(|_| self.is_held) {
            claim.take();
        }
        own::close(self.fd);
        sys::unblock_signals(signals);
    }

    /// Sends a message without an answer.
    pub fn send(&mut self, mut head: Head, payload: Block) -> Result<()> {
        head.len = payload.len as u32;
        match socket::send(self.fd, head.as_bytes(), payload, self.signals()) {
            Ok(()) => {
                self.divert();
                Ok(())
            }
            // The caller's block cannot be read, or there is no memory.
            Err(error @ (libc::EFAULT | libc::ENOMEM | libc::ENOBUFS)) => Err(error),
            Err(error) => {
                self.broken = true;
                self.is_taken = matches!(error, libc::EBADF | libc::ENOTSOCK);
                Err(if self.is_taken {
                    libc::EBADF
                } else {
                    libc::ENODEV
                })
            }
        }
    }

    /// Whether all signals of this thread are blocked.
    fn signals(&self) -> Signals {
        if self.before.is_some() {
            Signals::Blocked
        } else {
            Signals::Open
        }
    }

    /// The page, to be looked up once signals are blocked: a handler that comes before may fork and return in the child, which
    /// does not have it, or take the slot.
    fn board(&self) -> Option<Board> {
        let claim = self.claim.filter(|_| copy::is_own())?;
        Board::at(claim.board())
    }

    /// Runs something with the page, if there is one, and with signals blocked.
    fn with_board<T>(&mut self, run: impl FnOnce(&mut Self, Board) -> T) -> Option<T> {
        let board = self.board()?;
        if self.before.is_some() {
            return Some(run(self, board));
        }
        let before = sys::block_signals();
        self.before = Some(before);
        let result = self.board().map(|board| run(self, board));
        self.before = None;
        sys::unblock_signals(before);
        result
    }

    /// Something was sent by the socket.
    fn divert(&mut self) {
        self.with_board(|_, board| board.divert());
    }

    /// Sends a message and waits for its answer; a result below zero is an error.
    pub fn ask(&mut self, head: Head, payload: Block, packet: &mut Packet) -> Result<i32> {
        // Other messages may have to be read before or behind those that have no answer, and those go by the socket.
        let quick = match Op::from_u32(head.op) {
            Some(Op::Ioctl) => {
                self.with_board(|link, board| link.ask_by(board, head, payload, packet))
            }
            _ => None,
        };
        let (mut is_there, patience) = if let Some(is_answered) = quick {
            // It has been looked for.
            (is_answered?, Duration::ZERO)
        } else {
            self.send(head, payload)?;
            (false, PATIENCE.next())
        };
        loop {
            if !is_there {
                self.receive(packet, patience)?;
            }
            is_there = false;
            match packet.head.kind {
                Reply::INSTALL => {
                    let number = install(packet);
                    let head = Head::new(Op::Installed, NO_FILE, [number as u64, 0, 0]);
                    self.send(head, Block::of(&[]))?;
                }
                // What it has to tell the node goes by another connection.
                Reply::REMAP => map::remap_all(packet.body()),
                Reply::AGAIN => self.send(head, payload)?,
                _ => {
                    return match packet.head.result {
                        result if result < 0 => Err(result.wrapping_neg()),
                        result => Ok(result),
                    };
                }
            }
        }
    }

    /// Asks by the page, or by the socket when the node does not look there, and looks for the answer for a moment; whether it
    /// has come.
    fn ask_by(
        &mut self,
        board: Board,
        mut head: Head,
        payload: Block,
        packet: &mut Packet,
    ) -> Result<bool> {
        head.len = payload.len as u32;
        // What does not come by the page comes by the socket, which the program may have closed, past libc: then nothing is
        // asked here, and the call makes a new connection.
        if let Err(error) = own::look(self.fd) {
            self.broken = true;
            self.is_taken = true;
            return Err(error);
        }
        let asked = match board.ask(&head, payload) {
            Ok(false) => self.send(head, payload),
            other => other.map(drop),
        };
        if let Err(error) = asked {
            board.leave();
            return Err(error);
        }
        Ok(board.await_answer(&PATIENCE, packet))
    }

    /// Receives a packet. It is looked for during the time of `patience` before the thread sleeps.
    fn receive(&mut self, packet: &mut Packet, patience: Duration) -> Result<()> {
        let start = Instant::now();
        let mut wait = false;
        loop {
            // Once it waits, a handler that the program sets up meanwhile may come.
            let signals = if wait { Signals::Open } else { self.signals() };
            match socket::receive(self.fd, packet, wait, signals) {
                Ok(true) => return Ok(()),
                Err(libc::EINTR) => {}
                // TIMEOUT: none; the node answers or hangs up, and a wait in the driver has the caller's limit.
                Err(libc::EAGAIN) if start.elapsed() >= patience => {
                    if let Some(before) = self.before.filter(|_| !wait) {
                        sys::block_handled_signals(before);
                    }
                    wait = true;
                }
                Err(libc::EAGAIN) => sys::give_way(),
                other => {
                    self.broken = true;
                    self.is_taken = matches!(other, Err(libc::EBADF | libc::ENOTSOCK));
                    return Err(libc::ENODEV);
                }
            }
        }
    }
}

/// Takes a descriptor into the program's table; its number, or the negative of an errno.
fn install(packet: &mut Packet) -> i64 {
    match packet.take_fd(0) {
        Some(fd) => {
            if packet.head.which != 1 {
                sys::set_cloexec(fd, false);
            }
            i64::from(fd)
        }
        // The table was full.
        None => -i64::from(libc::EMFILE),
    }
}

/// Opens a node; the descriptor.
#[inline(never)]
pub fn open(node: Node, cloexec: bool) -> Result<RawFd> {
    with(|link| {
        let numbers = [
            u64::from(node.primary),
            u64::from(cloexec),
            node.device as u64,
        ];
        let head = Head::new(Op::Open, NO_FILE, numbers);
        let mut packet = Packet::new();
        link.ask(head, Block::of(&[]), &mut packet)?;
        let Some(fd) = packet.take_fd(0) else {
            return Err(libc::EMFILE);
        };
        if !cloexec {
            sys::set_cloexec(fd, false);
        }
        crate::inodes::opened(packet.head.value, node);
        Ok(fd)
    })
}

/// Says what is not known where it does not matter whether anybody hears it.
pub fn protocol(what: &str) {
    report::say(report::Kind::Protocol, what, &[]);
}
