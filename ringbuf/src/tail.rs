//! The only write of the RING_TAIL register.
//!
//! PRM vol1 "Ring Buffer Tail": the tail is a qword aligned offset; writing it starts the fetch of what lies before
//! it. Not modelled: automatic report of the head.
use kernel::io::Io;

/// A tail offset: made by a ring buffer only, so it lies in the ring and is qword aligned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tail(u32);

impl Tail {
    /// The tail of an empty, freshly reset ring.
    pub const START: Tail = Tail(0);

    pub(crate) const fn at(offset: u32) -> Self {
        Tail(offset)
    }

    /// The offset in bytes.
    #[must_use]
    pub const fn offset(self) -> u32 {
        self.0
    }

    /// Writes the ring's tail register, which is at `register`.
    pub fn write(self, io: &dyn Io, register: usize) {
        io.write32(self.0, register);
    }
}
