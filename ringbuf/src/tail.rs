//! The only write of the RING_TAIL register.
//!
//! PRM vol1 "Ring Buffer Tail": the tail is a qword aligned offset; writing it starts the fetch of what lies before
//! it. Not modelled: automatic report of the head.
use kernel::io::Io;

/// Offset of RING_TAIL from a ring's register base (i915 `RING_TAIL`).
const RING_TAIL: usize = 0x30;

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

    /// Writes the tail register of the ring whose registers start at `base`.
    pub fn write(self, io: &dyn Io, base: usize) {
        io.write32(self.0, base + RING_TAIL);
    }
}
