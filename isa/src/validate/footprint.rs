//! Byte offsets of a region's elements, from the start of its first register.
//!
//! PRM: volume 4, 11.3.6 (regions). Indirect and align16 operands are not laid out.

use crate::operand::Region;

/// Bytes of one register.
pub(super) const REGISTER: u32 = 32;

/// A region laid out for an execution size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Footprint {
    base: u32,
    width: u32,
    vstep: u32,
    hstep: u32,
    size: u32,
    count: u32,
}

impl Footprint {
    /// `None` when a row is longer than the execution size.
    pub(super) fn new(base: u32, region: Region, size: u32, count: u32) -> Option<Footprint> {
        let width = u32::from(region.width);
        if width == 0 || width > count {
            return None;
        }
        Some(Footprint {
            base,
            width,
            vstep: u32::from(region.vstride) * size,
            hstep: u32::from(region.hstride) * size,
            size,
            count,
        })
    }

    /// First byte of an element.
    pub(super) fn offset(&self, element: u32) -> u32 {
        self.base + element / self.width * self.vstep + element % self.width * self.hstep
    }

    /// First bytes of all elements, in channel order.
    pub(super) fn offsets(self) -> impl Iterator<Item = u32> {
        (0..self.count).map(move |element| self.offset(element))
    }

    /// First byte of the last element.
    pub(super) fn last(&self) -> u32 {
        self.offset(self.count - 1)
    }

    /// Whether an element reaches into a register after the first.
    pub(super) fn is_beyond_first(&self, offset: u32) -> bool {
        offset + self.size > REGISTER
    }

    /// Registers touched: 1 or 2, more count as 2.
    pub(super) fn registers(&self) -> u32 {
        if self.is_beyond_first(self.last()) {
            2
        } else {
            1
        }
    }

    /// Whether some row leaves the register that it begins in.
    pub(super) fn row_crosses(&self) -> bool {
        (0..self.count / self.width).any(|row| {
            let first = self.offset(row * self.width);
            let end = self.offset(row * self.width + self.width - 1) + self.size;
            first / REGISTER != (end - 1) / REGISTER
        })
    }

    /// Elements that start in the second register.
    pub(super) fn in_second(&self) -> u32 {
        self.offsets()
            .filter(|&offset| self.is_beyond_first(offset))
            .count() as u32
    }

    /// Elements.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// One past the last byte.
    pub(super) fn end(&self) -> u32 {
        self.last() + self.size
    }
}
