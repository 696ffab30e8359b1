//! Ring arithmetic: offsets, free space, wrap. No memory and no registers.
//!
//! PRM vol1 "Ring Buffer Use": the head must not be greater than the tail when both lie in one cache line, so a cache
//! line is always left free. Not modelled: the wrap count in the upper bits of the head register.
use kernel::error::{Result, code::EINVAL};

/// Bytes of a cache line.
pub const CACHELINE: u32 = 64;

/// Bytes of a page; ring sizes are whole pages.
pub const PAGE: u32 = 4096;

/// Largest ring: RING_CTL counts up to 512 pages (i915 `RING_NR_PAGES`).
pub const MAX_SIZE: u32 = 512 * PAGE;

/// A ring: its size and the two offsets the driver keeps.
///
/// `head` is the last known place up to which the hardware has read; `emit` is where the next dword goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ring {
    size: u32,
    head: u32,
    emit: u32,
}

/// Where a reservation lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placement {
    /// Bytes of NOOP to write at the current place before wrapping, or 0.
    pub fill: u32,
    /// Offset of the first reserved byte.
    pub start: u32,
    /// Offset behind the last reserved byte, wrapped into the ring.
    pub end: u32,
}

impl Ring {
    /// An empty ring of `size` bytes: a power of two of whole pages, at most [`MAX_SIZE`].
    pub const fn new(size: u32) -> Result<Self> {
        if !size.is_power_of_two() || size < PAGE || size > MAX_SIZE {
            return Err(EINVAL);
        }
        Ok(Ring {
            size,
            head: 0,
            emit: 0,
        })
    }

    /// Size in bytes.
    #[must_use]
    pub const fn size(&self) -> u32 {
        self.size
    }

    /// Last known head offset.
    #[must_use]
    pub const fn head(&self) -> u32 {
        self.head
    }

    /// Offset of the next dword to write.
    #[must_use]
    pub const fn emit(&self) -> u32 {
        self.emit
    }

    /// Brings any number into the ring.
    #[must_use]
    pub const fn wrap(&self, offset: u32) -> u32 {
        offset & (self.size - 1)
    }

    /// Bytes that can be written before the head's cache line is reached.
    #[must_use]
    pub const fn space(&self) -> u32 {
        self.wrap(self.head.wrapping_sub(self.emit).wrapping_sub(CACHELINE))
    }

    /// Whether everything written has been read.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.head == self.emit
    }

    /// Notes how far the hardware has read; `EINVAL` when the offset lies outside the written part.
    pub const fn set_head(&mut self, head: u32) -> Result {
        let advance = self.wrap(head.wrapping_sub(self.head));
        let written = self.wrap(self.emit.wrapping_sub(self.head));
        if head >= self.size || advance > written {
            return Err(EINVAL);
        }
        self.head = head;
        Ok(())
    }

    /// Empties the ring and starts again at offset 0.
    pub const fn reset(&mut self) {
        self.head = 0;
        self.emit = 0;
    }

    /// Whether `offset` may be written to the tail register: inside the ring, qword aligned.
    #[must_use]
    pub const fn is_valid_tail(&self, offset: u32) -> bool {
        offset < self.size && offset.is_multiple_of(8)
    }

    /// Where `bytes` would go: here, or at the start behind a fill when they do not fit before the end.
    ///
    /// `bytes` must be a multiple of 8 and fit an empty ring, else `EINVAL`. Nothing is said about free space.
    pub const fn place(&self, bytes: u32) -> Result<Placement> {
        if !bytes.is_multiple_of(8) || bytes > self.size - CACHELINE {
            return Err(EINVAL);
        }
        let remain = self.size - self.emit;
        if bytes > remain {
            return Ok(Placement {
                fill: remain,
                start: 0,
                end: bytes,
            });
        }
        Ok(Placement {
            fill: 0,
            start: self.emit,
            end: self.wrap(self.emit + bytes),
        })
    }

    /// Bytes of free space that a placement of `bytes` consumes.
    #[must_use]
    pub const fn needed(place: &Placement, bytes: u32) -> u32 {
        place.fill + bytes
    }

    /// Moves the write offset behind a placement.
    pub const fn advance(&mut self, place: &Placement) {
        self.emit = self.wrap(place.end);
    }
}

#[cfg(test)]
mod tests;
