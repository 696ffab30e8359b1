//! System memory: one block of bytes with a page allocator.
//!
//! PRM: Intel 965 Express Chipset Family, volume 1 (system memory address map).
//! Not modelled: memory holes, stolen memory as a separate range, and NUMA.

use std::alloc::{Layout, handle_alloc_error};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::io;

use memmap2::MmapMut;

use crate::{Access, PAGE_SIZE, PhysAddr, PhysFault};

/// What makes pages of a block that others map as well the owner's alone.
pub trait Backing: Debug + Send + Sync {
    /// Gives the owner private pages in the place of those at an index into the block; what they hold stays. Others keep the
    /// pages that they have mapped, which the owner does not see any more.
    fn seclude(&self, pages: &mut [u8], index: usize) -> io::Result<()>;

    /// Puts the block's own pages back. What they hold is anything.
    fn share(&self, pages: &mut [u8], index: usize) -> io::Result<()>;
}

/// System memory. A physical address is an index into it; page 0 is never handed out.
///
/// The whole block is reserved at construction as zero pages, which the host's kernel backs only
/// when they are touched: its cost grows with use, and no page ever moves.
#[derive(Debug)]
pub struct Arena {
    bytes: MmapMut,
    /// Free runs of pages: first page -> number of pages; neighbours are always joined.
    free: BTreeMap<usize, usize>,
    /// Pages from here on have never been handed out and are zero.
    fresh_from: usize,
    /// Pages that a device writes for its driver alone.
    guarded: BTreeSet<usize>,
    /// Of a block that others map.
    backing: Option<Box<dyn Backing>>,
}

impl Clone for Arena {
    fn clone(&self) -> Self {
        let mut bytes = anonymous(self.bytes.len());
        bytes.copy_from_slice(&self.bytes);
        Arena {
            bytes,
            free: self.free.clone(),
            fresh_from: self.fresh_from,
            guarded: self.guarded.clone(),
            backing: None,
        }
    }
}

/// Private zero pages; when there are none, that ends the process as for every other allocation.
fn anonymous(len: usize) -> MmapMut {
    MmapMut::map_anon(len).unwrap_or_else(|_| {
        let layout = Layout::from_size_align(len, PAGE_SIZE);
        handle_alloc_error(layout.unwrap_or(Layout::new::<u8>()))
    })
}

/// Most pages: 4 GiB less one.
const MAX_PAGES: usize = (1 << 20) - 1;

impl Arena {
    /// Memory of `cap_bytes`, rounded down to whole pages (at least one, at most 4 GiB less a page).
    pub fn new(cap_bytes: usize) -> Self {
        let pages = (cap_bytes / PAGE_SIZE).clamp(1, MAX_PAGES);
        Arena {
            bytes: anonymous(pages * PAGE_SIZE),
            free: free_pages_of(pages),
            fresh_from: 1,
            guarded: BTreeSet::new(),
            backing: None,
        }
    }

    /// Memory over a block that the caller has mapped, such as a file that others map as well; what is past its last
    /// whole page or beyond 4 GiB less a page is not used. Others may have written to any page, so that pages are
    /// cleared whenever they are handed out. With a `backing`, pages that are guarded leave the block until they are given back.
    pub fn over(block: MmapMut, backing: Option<Box<dyn Backing>>) -> Self {
        let pages = (block.len() / PAGE_SIZE).min(MAX_PAGES);
        Arena {
            bytes: block,
            free: free_pages_of(pages),
            fresh_from: pages,
            guarded: BTreeSet::new(),
            backing,
        }
    }

    /// Size in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes of the whole pages: what tables can point at.
    pub fn whole_pages(&self) -> usize {
        self.bytes.len() & !(PAGE_SIZE - 1)
    }

    /// Whether there is no memory at all (never: there is always a page 0).
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// All bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// All bytes, writable.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Number of pages that can still be handed out.
    pub fn free_page_count(&self) -> usize {
        self.free.values().sum()
    }

    /// Hands out `count` adjacent zeroed pages (first fit), or `None` when no run is long enough.
    pub fn alloc_pages(&mut self, count: usize) -> Option<PhysAddr> {
        if count == 0 {
            return None;
        }
        let (&first, &run) = self.free.iter().find(|&(_, &run)| run >= count)?;
        self.free.remove(&first);
        if run > count {
            self.free.insert(first + count, run - count);
        }
        let end = first + count;
        let dirty_end = end.min(self.fresh_from);
        if first < dirty_end {
            self.bytes[first * PAGE_SIZE..dirty_end * PAGE_SIZE].fill(0);
        }
        self.fresh_from = self.fresh_from.max(end);
        Some(PhysAddr((first * PAGE_SIZE) as u64))
    }

    /// Takes back `count` pages from `addr`. A range that is misaligned, outside memory or partly
    /// free already is refused and changes nothing.
    pub fn free_pages(&mut self, addr: PhysAddr, count: usize) -> Result<(), PhysFault> {
        let refuse = PhysFault {
            addr,
            len: count.saturating_mul(PAGE_SIZE),
            access: Access::Write,
        };
        let start = usize::try_from(addr.0).map_err(|_| refuse)?;
        let first = start / PAGE_SIZE;
        let end = first.checked_add(count).ok_or(refuse)?;
        let aligned = start.is_multiple_of(PAGE_SIZE);
        if !aligned || first == 0 || count == 0 || end > self.bytes.len() / PAGE_SIZE {
            return Err(refuse);
        }
        let before = self.free.range(..=first).next_back().map(|(&a, &n)| (a, n));
        let after = self.free.range(first..).next().map(|(&a, &n)| (a, n));
        if before.is_some_and(|(a, n)| a + n > first) || after.is_some_and(|(a, _)| a < end) {
            return Err(refuse);
        }
        let secret: Vec<usize> = self.guarded.range(first..end).copied().collect();
        for page in secret {
            let at = page * PAGE_SIZE;
            // PANIC: the range is inside memory, see above.
            if let Some(backing) = &self.backing
                && backing
                    .share(&mut self.bytes[at..at + PAGE_SIZE], at)
                    .is_err()
            {
                // It stays the owner's: nobody else may get it.
                return Err(refuse);
            }
            self.guarded.remove(&page);
        }
        let (mut run_first, mut run_end) = (first, end);
        if let Some((a, n)) = before
            && a + n == first
        {
            self.free.remove(&a);
            run_first = a;
        }
        if let Some((a, n)) = after
            && a == end
        {
            self.free.remove(&a);
            run_end = a + n;
        }
        self.free.insert(run_first, run_end - run_first);
        Ok(())
    }

    /// Keeps `count` pages from `addr` for the driver until they are given back: see [`Memory::guard_pages`](crate::Memory::guard_pages).
    pub fn guard_pages(&mut self, addr: PhysAddr, count: usize) -> io::Result<()> {
        let first = usize::try_from(addr.0).unwrap_or(usize::MAX) / PAGE_SIZE;
        let end = first
            .saturating_add(count)
            .min(self.bytes.len() / PAGE_SIZE);
        for page in first..end {
            let at = page * PAGE_SIZE;
            // PANIC: no page is behind the last one.
            if let Some(backing) = &self.backing
                && !self.guarded.contains(&page)
            {
                backing.seclude(&mut self.bytes[at..at + PAGE_SIZE], at)?;
            }
            self.guarded.insert(page);
        }
        Ok(())
    }

    /// Whether the byte at an index lies in a page that is kept for the driver.
    pub fn is_guarded(&self, index: usize) -> bool {
        self.guarded.contains(&(index / PAGE_SIZE))
    }

    /// The bytes `addr..addr + len`.
    pub fn slice(&self, addr: PhysAddr, len: usize) -> Result<&[u8], PhysFault> {
        range(addr, len)
            .and_then(|r| self.bytes.get(r))
            .ok_or(PhysFault {
                addr,
                len,
                access: Access::Read,
            })
    }

    /// The bytes `addr..addr + len`, writable.
    pub fn slice_mut(&mut self, addr: PhysAddr, len: usize) -> Result<&mut [u8], PhysFault> {
        range(addr, len)
            .and_then(|r| self.bytes.get_mut(r))
            .ok_or(PhysFault {
                addr,
                len,
                access: Access::Write,
            })
    }
}

/// All pages but page 0.
fn free_pages_of(pages: usize) -> BTreeMap<usize, usize> {
    (pages > 1).then(|| (1, pages - 1)).into_iter().collect()
}

fn range(addr: PhysAddr, len: usize) -> Option<std::ops::Range<usize>> {
    let start = usize::try_from(addr.0).ok()?;
    Some(start..start.checked_add(len)?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn runs_are_split_joined_and_zeroed() {
        let mut a = Arena::new(8 * PAGE_SIZE);
        assert_eq!(a.free_page_count(), 7);
        let p = a.alloc_pages(3).unwrap();
        let q = a.alloc_pages(4).unwrap();
        assert_eq!((p, q), (PhysAddr(0x1000), PhysAddr(0x4000)));
        assert_eq!(a.alloc_pages(1), None);
        a.slice_mut(p, 12288).unwrap().fill(0xaa);
        a.free_pages(p, 3).unwrap();
        assert!(a.free_pages(PhysAddr(0x2000), 1).is_err(), "double free");
        a.free_pages(q, 4).unwrap();
        assert_eq!(a.free_page_count(), 7);
        let all = a.alloc_pages(7).unwrap();
        assert_eq!(all, p);
        assert!(a.slice(all, 7 * PAGE_SIZE).unwrap().iter().all(|&b| b == 0));
    }

    #[test]
    fn pages_of_a_given_block_are_cleared_and_its_ragged_end_is_left() {
        let mut block = MmapMut::map_anon(4 * PAGE_SIZE + 100).unwrap();
        block.fill(0x55);
        let mut a = Arena::over(block, None);
        assert_eq!(a.free_page_count(), 3);
        let p = a.alloc_pages(3).unwrap();
        assert!(a.slice(p, 3 * PAGE_SIZE).unwrap().iter().all(|&b| b == 0));
        assert_eq!(a.clone().slice(p, 16).unwrap(), [0; 16]);
        assert!(a.free_pages(PhysAddr(0x4000), 1).is_err());
    }

    #[test]
    fn wrong_ranges_are_refused() {
        let mut a = Arena::new(4 * PAGE_SIZE);
        assert_eq!(a.alloc_pages(0), None);
        assert_eq!(a.alloc_pages(usize::MAX), None);
        assert!(a.free_pages(PhysAddr(0), 1).is_err());
        assert!(a.free_pages(PhysAddr(0x1001), 1).is_err());
        assert!(a.free_pages(PhysAddr(0x1000), usize::MAX).is_err());
        assert!(a.slice(PhysAddr(u64::MAX), 2).is_err());
        assert!(a.slice(PhysAddr(0x4000), 1).is_err());
    }
}
