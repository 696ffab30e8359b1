//! The page of a connection, with a test in the place of the node.

use std::ffi::c_void;
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use wire::board::{ANSWER, Part, Place, QUESTION, SIZE, Seen};
use wire::{Head, Reply};
use zerocopy::{FromBytes as _, IntoBytes as _};

/// How long a question is looked for.
const PATIENCE: Duration = Duration::from_micros(200);

pub struct Board(NonNull<c_void>);

impl Drop for Board {
    fn drop(&mut self) {
        // SAFETY: a mapping of this value's alone.
        unsafe { munmap(self.0, SIZE) }.unwrap();
    }
}

impl Board {
    pub fn new() -> (Board, OwnedFd) {
        let fd = memfd_create(c"board", MFdFlags::MFD_CLOEXEC).unwrap();
        nix::unistd::ftruncate(&fd, SIZE as i64).unwrap();
        let len = NonZeroUsize::new(SIZE).unwrap();
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new mapping, in no other's place.
        let at = unsafe { mmap(None, len, access, MapFlags::MAP_SHARED, &fd, 0) };
        (Board(at.unwrap()), fd)
    }

    fn place(&self, part: Part) -> &Place {
        // SAFETY: an aligned word of the page.
        unsafe { self.0.byte_add(part.place).cast().as_ref() }
    }

    fn read(&self, at: usize, len: usize) -> Vec<u8> {
        assert!(at + len <= SIZE);
        // SAFETY: bytes of the page, which the client does not change once it has asked.
        unsafe { std::slice::from_raw_parts(self.0.byte_add(at).cast().as_ptr(), len) }.to_vec()
    }

    /// A question that comes soon.
    pub fn question(&self) -> Option<(Head, Vec<u8>)> {
        let place = self.place(QUESTION);
        if !place.is_open() {
            return None;
        }
        place.look();
        let begun = Instant::now();
        while place.seen() == Seen::Nothing && begun.elapsed() < PATIENCE {
            std::thread::yield_now();
        }
        if place.seen() != Seen::Message && place.leave() {
            return None;
        }
        let head = Head::read_from_bytes(&self.read(QUESTION.start, size_of::<Head>())).unwrap();
        let payload = self.read(QUESTION.start + size_of::<Head>(), head.len as usize);
        place.taken();
        Some((head, payload))
    }

    /// Puts an answer there; false when the client does not look.
    pub fn answer(&self, reply: &Reply, rest: &[u8]) -> bool {
        let place = self.place(ANSWER);
        let bytes = [reply.as_bytes(), rest].concat();
        if !place.is_awaited() || bytes.len() > ANSWER.room {
            return false;
        }
        let to = self.0.cast::<u8>();
        // SAFETY: the page has room there, and the client does not read before it is told.
        unsafe {
            let to = to.byte_add(ANSWER.start).as_ptr();
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
        }
        place.put()
    }

    /// Something was sent by the socket.
    pub fn divert(&self) {
        self.place(ANSWER).divert();
    }
}
