//! The page that a thread shares with the node: questions past the socket.
//!
//! It belongs to the thread that has made the connection, which alone uses it, with signals blocked, and gives it back. A child
//! with memory of its own does not have the page. So every question comes from a thread with the memory of the process that is served,
//! or from a process to which the program has passed the page's descriptor, past this library.
#![expect(unsafe_code, reason = "memory that another process writes, too")]

use core::num::NonZeroUsize;
use core::time::Duration;
use std::os::fd::RawFd;
use std::time::Instant;

use wire::board::{ANSWER, Part, Place, QUESTION, SIZE, Seen};
use wire::patience::Patience;
use wire::{Head, Reply};
use zerocopy::{FromZeros as _, IntoBytes as _};

use super::memory::{self, Block, Wish};
use super::socket::Packet;
use super::{Result, check, copy};
use crate::life;

/// Looks between two looks at the clock.
const LOOKS: usize = 8;

/// A page that is mapped.
#[derive(Clone, Copy)]
pub struct Board(NonZeroUsize);

impl Board {
    /// The one at an address, where there is one.
    pub fn at(address: usize) -> Option<Board> {
        NonZeroUsize::new(address).map(Board)
    }

    /// Its address.
    pub fn address(self) -> usize {
        self.0.get()
    }

    /// Maps what has come with the answer to a thread's first message, whose value is the inode. Within [`own::alone`](crate::own::alone).
    /// Nothing where nothing has come, or what has come is not the node's any more: a thread may put files at its number,
    /// past libc.
    pub fn take_in(packet: &mut Packet) -> Option<Board> {
        let fd = packet.take_fd(0)?;
        let inode = packet.head.value;
        let is_ours = |fd: RawFd| super::fstat(fd).is_ok_and(|stat| stat.st_ino == inode);
        if !is_ours(fd) {
            return None;
        }
        let mapped = memory::map(Wish {
            address: 0,
            len: SIZE,
            prot: libc::PROT_READ | libc::PROT_WRITE,
            flags: libc::MAP_SHARED,
            fd,
            offset: 0,
        });
        let is_ours = is_ours(fd);
        if is_ours {
            super::close(fd);
        }
        let board = mapped.ok().and_then(Board::at)?;
        if !is_ours || board.keep_from_children().is_err() {
            give_back(board.address());
            return None;
        }
        // Only now does the node look there.
        board.place(QUESTION).open();
        board.place(ANSWER).open();
        Some(board)
    }

    fn keep_from_children(self) -> Result<()> {
        let (address, advice) = (self.address(), libc::MADV_DONTFORK);
        // SAFETY: a page of this library's.
        check(unsafe { libc::syscall(libc::SYS_madvise, address, SIZE, advice) }).map(drop)
    }

    fn start<T>(self, at: usize) -> *mut T {
        core::ptr::with_exposed_provenance_mut(self.address() + at)
    }

    fn place<'a>(self, part: Part) -> &'a Place {
        // SAFETY: an aligned word of the page, which stays until its thread gives it back; both ends change it by atomic
        // operations alone, and any value is valid.
        unsafe { &*self.start(part.place) }
    }

    /// Asks by the page, where the answer is looked for from now on; false when the node does not look, so that the question has
    /// to be sent. EFAULT when the caller's block cannot be read.
    pub fn ask(self, head: &Head, payload: Block) -> Result<bool> {
        self.place(ANSWER).look();
        let question = self.place(QUESTION);
        let size = size_of::<Head>();
        if payload.len > QUESTION.room - size || !question.is_awaited() {
            return Ok(false);
        }
        let start: *mut u8 = self.start(QUESTION.start);
        // SAFETY: the page has room for a head there. The node reads it once it is told that there is a question, and anything
        // that it reads is bytes.
        unsafe { core::ptr::copy_nonoverlapping(head.as_bytes().as_ptr(), start, size) };
        // In a child of vfork, which has its parent's memory, the parent's number is as good.
        let process = life::process();
        match memory::copy_in(process, self.address() + QUESTION.start + size, payload) {
            Ok(()) => Ok(question.put()),
            Err(libc::EFAULT) => Err(libc::EFAULT),
            // The system does not let the program copy like this.
            Err(_) => Ok(false),
        }
    }

    /// Looks for the answer, as long as is worth while; false when it is to be awaited at the socket.
    pub fn await_answer(self, patience: &Patience, packet: &mut Packet) -> bool {
        let place = self.place(ANSWER);
        let longest = patience.next();
        let start = Instant::now();
        let mut last = Duration::ZERO;
        loop {
            let mut seen = place.seen();
            for _ in 0..LOOKS {
                if seen != Seen::Nothing {
                    break;
                }
                core::hint::spin_loop();
                seen = place.seen();
            }
            let now = start.elapsed();
            patience.between(now.saturating_sub(last));
            last = now;
            match seen {
                Seen::Nothing if now < longest => super::give_way(),
                Seen::Nothing | Seen::Elsewhere if place.leave() => return false,
                _ => break,
            }
        }
        self.copy(packet);
        place.taken();
        true
    }

    fn copy(self, packet: &mut Packet) {
        let mut head = Reply::new_zeroed();
        let (size, at): (usize, *const u8) = (size_of::<Reply>(), self.start(ANSWER.start));
        // SAFETY: the page has a head there, and the node has said that it is written.
        unsafe { core::ptr::copy_nonoverlapping(at, head.as_mut_bytes().as_mut_ptr(), size) };
        let len = (head.len as usize).min(ANSWER.room - size);
        packet.fill(head, |to| {
            let len = len.min(to.len());
            // SAFETY: as many bytes lie in the page and in the room.
            unsafe { core::ptr::copy_nonoverlapping(at.add(size), to.as_mut_ptr().cast(), len) };
            len
        });
    }

    /// A message was sent by the socket: a node that looks here is to look there.
    pub fn divert(self) {
        self.place(QUESTION).divert();
    }

    /// No answer is looked for.
    pub fn leave(self) {
        let _ = self.place(ANSWER).leave();
    }
}

/// Gives the page at an address back.
pub fn give_back(address: usize) {
    // A child that was made past libc does not have it.
    if address != 0 && !copy::is_unclaimed() {
        let _ = memory::unmap(address, SIZE);
    }
}
