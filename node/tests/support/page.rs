//! The page that a connection shares with the node, at the client's end.

use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use memmap2::MmapRaw;
use wire::board::{ANSWER, Part, Place, QUESTION, SIZE, Seen};
use wire::{Head, Op, Reply};
use zerocopy::{FromBytes as _, IntoBytes as _};

use super::{Answer, Connection};

/// TIMEOUT: how long a node may take to look, or to answer.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Page(MmapRaw);

impl Page {
    /// Of a connection, from the answer to its first message.
    pub fn of(first: &Answer) -> Page {
        let map = MmapRaw::map_raw(&first.fds[0].as_fd()).unwrap();
        assert_eq!(map.len(), SIZE);
        let page = Page(map);
        page.place(QUESTION).open();
        page.place(ANSWER).open();
        page
    }

    fn place(&self, part: Part) -> &Place {
        let at = self.0.as_mut_ptr().cast::<std::ffi::c_void>();
        // SAFETY: an aligned word of the page.
        unsafe { &*at.byte_add(part.place).cast::<Place>() }
    }

    /// Asks by the page: other requests by the socket make the node look.
    pub fn ask(&self, client: &Connection, head: &Head, payload: &[u8]) {
        let begun = Instant::now();
        while !self.try_ask(head, payload) {
            assert!(begun.elapsed() < PATIENCE, "the node does not look");
            client.call(&Head::new(Op::Identify, wire::NO_FILE, [0; 3]), &[]);
        }
    }

    /// Asks by the page once the node looks by itself; false where it is not seen to do so in a time.
    pub fn ask_when_it_looks(&self, head: &Head, within: Duration) -> bool {
        let begun = Instant::now();
        while !self.try_ask(head, &[]) {
            if begun.elapsed() > within {
                return false;
            }
        }
        true
    }

    /// Asks if the node looks.
    fn try_ask(&self, head: &Head, payload: &[u8]) -> bool {
        if !self.place(QUESTION).is_awaited() {
            return false;
        }
        let bytes = [head.as_bytes(), payload].concat();
        // SAFETY: the page has room there, and the node reads it once it is told.
        unsafe {
            let to = self.0.as_mut_ptr().add(QUESTION.start);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
        }
        self.place(ANSWER).look();
        let is_asked = self.place(QUESTION).put();
        if !is_asked {
            self.place(ANSWER).taken();
        }
        is_asked
    }

    /// The answer, or nothing when it has come by the socket.
    pub fn answer(&self) -> Option<(Reply, Vec<u8>)> {
        let begun = Instant::now();
        let place = self.place(ANSWER);
        while place.seen() == Seen::Nothing {
            assert!(begun.elapsed() < PATIENCE, "the node does not answer");
            std::thread::yield_now();
        }
        if place.seen() == Seen::Elsewhere {
            return None;
        }
        let mut bytes = vec![0; ANSWER.room];
        // SAFETY: the page is as long, and the node has said that the answer is there.
        unsafe {
            let from = self.0.as_ptr().add(ANSWER.start);
            std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), bytes.len());
        }
        place.taken();
        let (reply, rest) = Reply::read_from_prefix(&bytes).unwrap();
        Some((reply, rest[..reply.len as usize].to_vec()))
    }
}
