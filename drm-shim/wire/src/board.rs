//! The page that both ends of a connection may share: what lies where.
//!
//! A question of [`Op::Ioctl`](crate::Op::Ioctl) and its answer go by it while the other end looks there, instead of by the
//! socket: a head and its payload, as in a packet.

pub use crate::place::{Place, Seen};

/// Bytes of the page.
pub const SIZE: usize = 4096;

/// A place for a message in the page.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Where its [`Place`] lies.
    pub place: usize,
    /// Where the message begins.
    pub start: usize,
    /// Bytes of the largest message, its head included.
    pub room: usize,
}

/// What the client asks. The words of both places are on lines of the cache of their own.
pub const QUESTION: Part = Part {
    place: 0,
    start: 128,
    room: 1920,
};
/// What the node answers.
pub const ANSWER: Part = Part {
    place: 64,
    start: 2048,
    room: 2048,
};
