//! Translations that a space keeps from its tables until it is told to forget.
//!
//! Entries are atomics, so that units which may only read memory fill them too. Not modelled: the sizes and the
//! replacement of hardware's TLBs, which are not public.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::{Access, GpuAddr, PAGE_SIZE};

/// Pages that are kept. With twelve bits of the page's number as the place, 40 are left to compare: all of an address.
const PAGES: usize = 1 << 12;

/// Bits of a kept translation: the page's number without its place in 63:24, the page of system memory in 23:4.
const PRESENT: u64 = 1;
const WRITABLE: u64 = 2;
const PLACE_SHIFT: u32 = 4;
const TAG_SHIFT: u32 = 24;

/// Translations of pages, one place for each.
#[derive(Debug)]
pub(crate) struct Tlb(Box<[AtomicU64; PAGES]>);

impl Default for Tlb {
    fn default() -> Self {
        Tlb::of(|_| 0)
    }
}

impl Clone for Tlb {
    fn clone(&self) -> Self {
        Tlb::of(|place| self.0[place].load(Relaxed))
    }
}

impl Tlb {
    fn of(kept: impl Fn(usize) -> u64) -> Tlb {
        Tlb(Box::new(std::array::from_fn(|place| {
            AtomicU64::new(kept(place))
        })))
    }

    #[inline]
    fn place(&self, addr: GpuAddr) -> (&AtomicU64, u64) {
        let page = addr.0 >> 12;
        // PANIC: the mask keeps the index below the length.
        let kept = &self.0[page as usize & (PAGES - 1)];
        (kept, page >> PAGES.trailing_zeros())
    }

    /// Index into system memory of the byte at `addr`, if it is kept and the access is allowed.
    #[inline]
    pub fn lookup(&self, addr: GpuAddr, access: Access) -> Option<usize> {
        let (kept, tag) = self.place(addr);
        let kept = kept.load(Relaxed);
        let needed = match access {
            Access::Read => PRESENT,
            Access::Write => PRESENT | WRITABLE,
        };
        if kept >> TAG_SHIFT != tag || kept & needed != needed {
            return None;
        }
        // CAST: 20 bits of a page's number.
        let page = (kept >> PLACE_SHIFT) as usize & ((1 << (TAG_SHIFT - PLACE_SHIFT)) - 1);
        Some((page * PAGE_SIZE) | addr.in_page())
    }

    /// Keeps where the page of `addr` lies: its byte is at `index` in system memory.
    pub fn fill(&self, addr: GpuAddr, index: usize, writable: bool) {
        let (kept, tag) = self.place(addr);
        let page = (index / PAGE_SIZE) as u64;
        let writable = if writable { WRITABLE } else { 0 };
        kept.store(
            tag << TAG_SHIFT | page << PLACE_SHIFT | writable | PRESENT,
            Relaxed,
        );
    }

    /// Forgets everything.
    pub fn invalidate(&mut self) {
        for kept in self.0.iter_mut() {
            *kept.get_mut() = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_share_a_place_are_told_apart() {
        let mut tlb = Tlb::default();
        let (low, high) = (GpuAddr(0x3_2abc), GpuAddr(0xffff_ff00_0003_2abc));
        tlb.fill(low, 0xfffe_e000, false);
        assert_eq!(tlb.lookup(low, Access::Read), Some(0xfffe_eabc));
        assert_eq!(tlb.lookup(low, Access::Write), None, "read only");
        assert_eq!(tlb.lookup(high, Access::Read), None);
        tlb.fill(high, 0x5000, true);
        assert_eq!(tlb.lookup(low, Access::Read), None, "replaced");
        assert_eq!(tlb.clone().lookup(high, Access::Write), Some(0x5abc));
        tlb.invalidate();
        assert_eq!(tlb.lookup(high, Access::Read), None);
        // A place that nothing was put into must not look like page 0.
        assert_eq!(tlb.lookup(GpuAddr(0), Access::Read), None);
    }
}
