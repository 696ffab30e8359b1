//! System memory: one block of bytes with a page allocator.
//!
//! PRM: Intel 965 Express Chipset Family, volume 1 (system memory address map).
//! Not modelled: memory holes, stolen memory as a separate range, and NUMA.

use std::alloc::{Layout, handle_alloc_error};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use memmap2::MmapMut;

use crate::windows::{Place, Windows};
use crate::{Access, PAGE_SIZE, PhysAddr, PhysFault};

/// System memory. A physical address is an index into it, unless windows say where it lies; page 0 is never handed out.
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
    /// Pages from here on nobody else maps.
    own_from: usize,
    /// Pages that a device writes for its driver alone.
    guarded: BTreeSet<usize>,
    /// Where physical addresses lie, when they are not indices.
    windows: Option<Windows>,
}

impl Clone for Arena {
    fn clone(&self) -> Self {
        let mut bytes = anonymous(self.bytes.len());
        bytes.copy_from_slice(&self.bytes);
        Arena {
            bytes,
            free: self.free.clone(),
            fresh_from: self.fresh_from,
            own_from: self.own_from,
            guarded: self.guarded.clone(),
            windows: self.windows.clone(),
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
            own_from: pages,
            guarded: BTreeSet::new(),
            windows: None,
        }
    }

    /// Memory over a block that the caller has mapped, such as a file that others map as well; what is past its last
    /// whole page or beyond 4 GiB less a page is not used. Others may have written to any page, so that pages are
    /// cleared whenever they are handed out. The last `own` bytes are the caller's alone: guarded pages lie there, and no others.
    pub fn over(block: MmapMut, own: usize) -> Self {
        let pages = (block.len() / PAGE_SIZE).min(MAX_PAGES);
        let own_from = pages.saturating_sub(own / PAGE_SIZE).max(1);
        let mut free = free_pages_of(own_from);
        if own_from < pages {
            free.insert(own_from, pages - own_from);
        }
        Arena {
            bytes: block,
            free,
            fresh_from: pages,
            own_from,
            guarded: BTreeSet::new(),
            windows: None,
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

    /// Lets physical addresses lie where windows say from now on: at first nowhere.
    pub fn open_windows(&mut self) {
        self.windows = Some(Windows::default());
    }

    /// The windows, to change them; `None` while physical addresses are indices.
    pub fn windows_mut(&mut self) -> Option<&mut Windows> {
        self.windows.as_mut()
    }

    /// Where the byte at a physical address lies.
    #[inline]
    pub(crate) fn place(&self, at: u64) -> Option<Place> {
        match &self.windows {
            None => {
                let left = (self.whole_pages() as u64).checked_sub(at);
                Some(Place {
                    // CAST: below the end of the block.
                    index: at as usize,
                    left: left.filter(|left| *left > 0)?,
                    writable: true,
                })
            }
            Some(windows) => windows.place(at),
        }
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

    /// How many pages the part that nobody else maps has; `None` without one.
    pub fn own_pages(&self) -> Option<usize> {
        (self.bytes.len() / PAGE_SIZE)
            .checked_sub(self.own_from)
            .filter(|&pages| pages > 0)
    }

    /// Hands out `count` adjacent zeroed pages (first fit), or `None` when no run is long enough.
    pub fn alloc_pages(&mut self, count: usize) -> Option<PhysAddr> {
        self.take(count, 0..self.own_from)
    }

    /// The same for pages that are kept for the driver until they are given back: see
    /// [`Memory::alloc_guarded`](crate::Memory::alloc_guarded).
    pub fn alloc_guarded(&mut self, count: usize) -> Option<PhysAddr> {
        let from = if self.own_from < self.bytes.len() / PAGE_SIZE {
            self.own_from
        } else {
            0
        };
        let addr = self.take(count, from..usize::MAX)?;
        self.guard_pages(addr, count);
        Some(addr)
    }

    /// Hands out a run that begins in a range of pages.
    fn take(&mut self, count: usize, starts: Range<usize>) -> Option<PhysAddr> {
        if count == 0 {
            return None;
        }
        let mut runs = self.free.range(starts);
        let (&first, &run) = runs.find(|&(_, &run)| run >= count)?;
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
        self.guarded.retain(|page| !(first..end).contains(page));
        let (mut run_first, mut run_end) = (first, end);
        // The two parts stay apart.
        if let Some((a, n)) = before
            && a + n == first
            && first != self.own_from
        {
            self.free.remove(&a);
            run_first = a;
        }
        if let Some((a, n)) = after
            && a == end
            && end != self.own_from
        {
            self.free.remove(&a);
            run_end = a + n;
        }
        self.free.insert(run_first, run_end - run_first);
        Ok(())
    }

    /// Keeps `count` pages from `addr` for the driver until they are given back: see [`Memory::guard_pages`](crate::Memory::guard_pages).
    pub fn guard_pages(&mut self, addr: PhysAddr, count: usize) {
        let Ok(start) = usize::try_from(addr.0) else {
            return;
        };
        let first = start / PAGE_SIZE;
        let end = first.saturating_add(count);
        self.guarded
            .extend(first..end.min(self.bytes.len() / PAGE_SIZE));
    }

    /// Whether the byte at an index lies in a page that is kept for the driver.
    pub fn is_guarded(&self, index: usize) -> bool {
        self.guarded.contains(&(index / PAGE_SIZE))
    }

    /// The bytes `addr..addr + len`.
    pub fn slice(&self, addr: PhysAddr, len: usize) -> Result<&[u8], PhysFault> {
        self.range(addr, len, Access::Read)
            .and_then(|r| self.bytes.get(r))
            .ok_or(PhysFault {
                addr,
                len,
                access: Access::Read,
            })
    }

    /// The bytes `addr..addr + len`, writable.
    pub fn slice_mut(&mut self, addr: PhysAddr, len: usize) -> Result<&mut [u8], PhysFault> {
        self.range(addr, len, Access::Write)
            .and_then(|r| self.bytes.get_mut(r))
            .ok_or(PhysFault {
                addr,
                len,
                access: Access::Write,
            })
    }

    fn range(&self, addr: PhysAddr, len: usize, access: Access) -> Option<Range<usize>> {
        let start = match &self.windows {
            None => usize::try_from(addr.0).ok()?,
            Some(windows) => {
                let place = windows.place(addr.0)?;
                let fits = len as u64 <= place.left;
                let allowed = access == Access::Read || place.writable;
                (fits && allowed).then_some(place.index)?
            }
        };
        Some(start..start.checked_add(len)?)
    }
}

/// All pages but page 0.
fn free_pages_of(pages: usize) -> BTreeMap<usize, usize> {
    (pages > 1).then(|| (1, pages - 1)).into_iter().collect()
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
        let mut a = Arena::over(block, 0);
        assert_eq!(a.free_page_count(), 3);
        let p = a.alloc_pages(3).unwrap();
        assert!(a.slice(p, 3 * PAGE_SIZE).unwrap().iter().all(|&b| b == 0));
        assert_eq!(a.clone().slice(p, 16).unwrap(), [0; 16]);
        assert!(a.free_pages(PhysAddr(0x4000), 1).is_err());
    }

    #[test]
    fn guarded_pages_lie_in_the_part_that_nobody_else_maps() {
        let block = MmapMut::map_anon(8 * PAGE_SIZE).unwrap();
        let mut a = Arena::over(block, 3 * PAGE_SIZE);
        let shared = a.alloc_pages(4).unwrap();
        assert_eq!(shared, PhysAddr(0x1000));
        assert_eq!(a.alloc_pages(1), None, "what is left is the owner's");
        let own = a.alloc_guarded(2).unwrap();
        assert_eq!(own, PhysAddr(0x5000));
        assert!(a.is_guarded(0x5000) && a.is_guarded(0x6fff) && !a.is_guarded(0x7000));
        assert_eq!(a.alloc_guarded(2), None);
        a.free_pages(own, 2).unwrap();
        a.free_pages(shared, 4).unwrap();
        assert!(!a.is_guarded(0x5000));
        // Given back in any order, the two parts do not become one run.
        assert_eq!(a.alloc_pages(5), None);
        assert_eq!(a.alloc_guarded(3), Some(PhysAddr(0x5000)));
        assert_eq!(a.alloc_pages(4), Some(PhysAddr(0x1000)));
        // Without such a part they lie anywhere.
        let mut a = Arena::new(4 * PAGE_SIZE);
        let addr = a.alloc_guarded(3).unwrap();
        assert!(a.is_guarded(addr.0 as usize));
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
