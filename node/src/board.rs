//! The page that a client's thread and the node share, past the socket.
//!
//! The client can write there what it likes and when it likes. So a message is copied before it is looked at, once, and nothing
//! there is believed. What comes this way has no sender: it is served only where the system lets the node look at the client's
//! table of descriptors, which asks for the same user (`connection`).

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use nix::sys::stat::fstat;
use wire::board::{ANSWER, Part, Place, QUESTION, SIZE, Seen};
use wire::patience::Patience;
use wire::{Head, Op, Reply};
use zerocopy::{FromBytes as _, IntoBytes as _};

use crate::edge::{self, Window};

/// Looks between two looks at the clock.
const LOOKS: usize = 8;

/// A page that is shared with one thread of a client.
pub struct Board(Window);

impl Board {
    /// One that nobody knows yet, with its file and the inode of that.
    pub fn new() -> io::Result<(Board, OwnedFd, u64)> {
        let fd = edge::create(c"crestline-board", SIZE)?;
        let window = Window::new(&fd)?;
        let inode = fstat(&fd)?.st_ino;
        Ok((Board(window), fd, inode))
    }

    fn place(&self, part: Part) -> Option<&Place> {
        self.0.place(part.place)
    }

    /// Whether the client knows it.
    pub fn is_known(&self) -> bool {
        self.place(QUESTION).is_some_and(Place::is_open)
    }

    /// Looks for a question, as long as is worth while, and copies it; its length, or nothing: the next message comes by the socket.
    pub fn await_question(
        &self,
        patience: &Patience,
        into: &mut [u8],
    ) -> io::Result<Option<usize>> {
        let Some(place) = self.place(QUESTION) else {
            return Ok(None);
        };
        let longest = patience.next();
        if longest.is_zero() && place.seen() != Seen::Message {
            return Ok(None);
        }
        place.look();
        let begun = Instant::now();
        let mut last = Duration::ZERO;
        let is_there = loop {
            let mut seen = place.seen();
            for _ in 0..LOOKS {
                if seen != Seen::Nothing {
                    break;
                }
                std::hint::spin_loop();
                seen = place.seen();
            }
            let now = begun.elapsed();
            patience.between(now.saturating_sub(last));
            last = now;
            match seen {
                Seen::Nothing if now < longest => std::thread::yield_now(),
                Seen::Message => break true,
                Seen::Nothing | Seen::Elsewhere => break !place.leave(),
            }
        };
        if !is_there {
            return Ok(None);
        }
        let len = self.copy(into);
        place.taken();
        let len = len.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
        Ok(Some(len))
    }

    /// Copies the question that is there, when it is one.
    fn copy(&self, into: &mut [u8]) -> Option<usize> {
        let size = size_of::<Head>();
        let (first, rest) = into.split_at_mut_checked(size)?;
        if !self.0.read(QUESTION.start, first) {
            return None;
        }
        let head = Head::read_from_bytes(first).ok()?;
        let len = head.len as usize;
        if head.op != Op::Ioctl as u32 || len > QUESTION.room - size {
            return None;
        }
        let is_copied = self.0.read(QUESTION.start + size, rest.get_mut(..len)?);
        is_copied.then_some(size + len)
    }

    /// Puts an answer there; false when the client does not look or there is no room, and it has to be sent.
    pub fn answer(&self, reply: &Reply, parts: &[&[u8]]) -> bool {
        let Some(place) = self.place(ANSWER).filter(|place| place.is_awaited()) else {
            return false;
        };
        let size: usize = parts.iter().map(|part| part.len()).sum();
        if size > ANSWER.room - size_of::<Reply>() || !self.0.write(ANSWER.start, reply.as_bytes())
        {
            return false;
        }
        let mut at = ANSWER.start + size_of::<Reply>();
        for part in parts {
            if !self.0.write(at, part) {
                return false;
            }
            at += part.len();
        }
        place.put()
    }

    /// An answer, or a part of it, was sent by the socket.
    pub fn divert(&self) {
        if let Some(place) = self.place(ANSWER) {
            place.divert();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// What a client writes.
    fn ask(board: &Board, head: &Head, payload: &[u8]) {
        assert!(board.0.write(QUESTION.start, head.as_bytes()));
        let at = QUESTION.start + size_of::<Head>();
        assert!(board.0.write(at, payload));
        let place = board.place(QUESTION).unwrap();
        place.look();
        assert!(place.put());
    }

    fn head(op: Op, len: usize) -> Head {
        Head {
            len: len as u32,
            ..Head::new(op, 3, [4, 5, 6])
        }
    }

    #[test]
    fn questions_are_copied_and_answers_put_where_they_are_looked_for() {
        let (board, _fd, _inode) = Board::new().unwrap();
        assert!(!board.is_known());
        board.place(QUESTION).unwrap().open();
        assert!(board.is_known());
        let mut packet = [0; 64];
        let nothing = board.await_question(&Patience::new(), &mut packet);
        assert_eq!(nothing.unwrap(), None);
        ask(&board, &head(Op::Ioctl, 3), b"why");
        // It is there before it is looked for, and once.
        let there = board.await_question(&Patience::new(), &mut packet);
        assert_eq!(there.unwrap(), Some(43));
        assert_eq!(&packet[40..43], b"why");
        let nothing = board.await_question(&Patience::new(), &mut packet);
        assert_eq!(nothing.unwrap(), None);

        let reply = Reply::default();
        assert!(!board.answer(&reply, &[b"so"]), "nobody looks");
        let place = board.place(ANSWER).unwrap();
        place.look();
        assert!(!board.answer(&reply, &[&[0; 2017]]), "there is no room");
        assert!(board.answer(&reply, &[b"s", b"o"]));
        assert_eq!(place.seen(), Seen::Message);
        let mut answer = [0; 2];
        assert!(board.0.read(ANSWER.start + 32, &mut answer));
        assert_eq!(&answer, b"so");
        place.taken();
        place.look();
        board.divert();
        assert_eq!(place.seen(), Seen::Elsewhere);
        assert!(!board.answer(&reply, &[]), "behind what came by the socket");
    }

    #[test]
    fn a_board_that_is_filled_for_ever_keeps_no_connection_of_a_client_that_is_gone() {
        use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
        let kinds = (AddressFamily::Unix, SockType::SeqPacket);
        let flags = SockFlag::SOCK_CLOEXEC;
        let (node, client) = socketpair(kinds.0, kinds.1, None, flags).unwrap();
        let mut socket = crate::packet::Socket::new(node);
        let (board, fd, _inode) = Board::new().unwrap();
        let other = Board(Window::new(&fd).unwrap());
        other.place(QUESTION).unwrap().open();
        socket.add(board);
        let questions = |socket: &mut crate::packet::Socket| {
            (0..1000).find(|_| {
                ask(&other, &head(Op::Ioctl, 0), &[]);
                socket.receive().unwrap().is_none()
            })
        };
        assert_eq!(questions(&mut socket), None);
        drop(client);
        // A child that another test has forked meanwhile has the client's end, too, until it runs its program.
        let begun = Instant::now();
        while !socket.hung_up() && begun.elapsed() < Duration::from_secs(60) {
            std::thread::yield_now();
        }
        assert!(questions(&mut socket).is_some_and(|asked| asked < 300));
    }

    #[test]
    fn what_is_no_question_ends_the_connection() {
        let room = QUESTION.room - size_of::<Head>();
        for bad in [
            head(Op::Ioctl, room + 1),
            head(Op::Ioctl, u32::MAX as usize),
            head(Op::Open, 0),
            Head {
                op: 99,
                ..head(Op::Ioctl, 0)
            },
        ] {
            let (board, _fd, _inode) = Board::new().unwrap();
            ask(&board, &bad, &[]);
            let mut packet = vec![0; wire::message::MAX_PACKET];
            let error = board.await_question(&Patience::new(), &mut packet);
            assert_eq!(error.unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
        let (board, _fd, _inode) = Board::new().unwrap();
        ask(&board, &head(Op::Ioctl, room), &[]);
        let mut packet = vec![0; wire::message::MAX_PACKET];
        let largest = board.await_question(&Patience::new(), &mut packet);
        assert_eq!(largest.unwrap(), Some(QUESTION.room));
    }
}
