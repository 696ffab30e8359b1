//! A place for a message in memory that a writer and a reader share.
//!
//! The reader looks there for a moment, and goes to the socket when nothing comes. A message is put there only while the
//! reader looks, so that none is missed: otherwise it goes by the socket, too. Either end may be hostile: whatever the word
//! holds, nobody is kept for longer than it wants to look.
//!
//! `drm-shim/tests/interleavings.rs` runs this file through all orders that threads may take.

use crate::atomics::{AtomicU32, Ordering};

/// What memory has that nobody has written: the other end does not know of the place.
const UNKNOWN: u32 = 0;
/// The reader is at the socket, or at work.
const AWAY: u32 = 1;
const LOOKING: u32 = 2;
const FULL: u32 = 3;

/// What a reader sees that looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    /// Nothing yet.
    Nothing,
    /// A message is there, to be [taken](Place::taken).
    Message,
    /// A message has come by the socket.
    Elsewhere,
}

/// The word that says whether the reader looks and whether a message is there.
#[repr(transparent)]
pub struct Place(AtomicU32);

impl Place {
    /// One over a word that is 0.
    pub const fn over(word: AtomicU32) -> Self {
        Place(word)
    }

    /// The other end is told that this one knows of the place, before anybody looks.
    pub fn open(&self) {
        self.0.store(AWAY, Ordering::Relaxed);
    }

    /// Whether [`open`](Self::open) was called.
    pub fn is_open(&self) -> bool {
        self.0.load(Ordering::Relaxed) != UNKNOWN
    }

    /// The reader looks from now on. What is there already stays.
    pub fn look(&self) {
        // Only the reader changes it while nobody looks.
        if self.0.load(Ordering::Relaxed) != FULL {
            self.0.store(LOOKING, Ordering::Release);
        }
    }

    /// What the reader sees.
    pub fn seen(&self) -> Seen {
        match self.0.load(Ordering::Acquire) {
            FULL => Seen::Message,
            LOOKING => Seen::Nothing,
            _ => Seen::Elsewhere,
        }
    }

    /// The reader looks no longer; false when a message is there all the same.
    #[must_use]
    pub fn leave(&self) -> bool {
        let (gone, not) = (Ordering::Relaxed, Ordering::Acquire);
        self.0.compare_exchange(LOOKING, AWAY, gone, not) != Err(FULL)
    }

    /// The reader has copied the message. The writer may write again once the reader [looks](Self::look).
    pub fn taken(&self) {
        self.0.store(AWAY, Ordering::Relaxed);
    }

    /// Whether the reader looks, so that the writer may write and [`put`](Self::put).
    pub fn is_awaited(&self) -> bool {
        self.0.load(Ordering::Acquire) == LOOKING
    }

    /// The writer has written a message; false when the reader has gone to the socket meanwhile, where it has to be sent.
    #[must_use]
    pub fn put(&self) -> bool {
        let (put, not) = (Ordering::Release, Ordering::Relaxed);
        self.0.compare_exchange(LOOKING, FULL, put, not).is_ok()
    }

    /// The writer has sent a message by the socket, where a reader that looks here is to look.
    pub fn divert(&self) {
        let relaxed = Ordering::Relaxed;
        // Who does not look is there, or will be.
        let _ = self.0.compare_exchange(LOOKING, AWAY, relaxed, relaxed);
    }
}
