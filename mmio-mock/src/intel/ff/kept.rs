//! Pixel threads that are kept waiting while the stages above go on.
//!
//! They will write pages that the stages above must not read before. A stage looks here first, and asks with
//! [`Step::Settle`](super::Step::Settle) for their end when it has to.

use std::sync::Arc;

use mem::{Access, GpuAddr, Memory, PAGE_SIZE};

use super::state::UnitConfig;
use crate::intel::machine::Machine;
use crate::intel::td::Td;

/// Pages that are known to be others.
const KNOWN: usize = 16;
/// Pages of one thing that are looked at, at most.
const MOST: u64 = 1 << 12;

/// What threads that are kept will write.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// Pages of memory in order; `None` when no thread is kept.
    pages: Option<Arc<Vec<usize>>>,
    /// Pages of the address space that the threads will not write. The low bits of a page's number choose its place in the table.
    others: [Option<u64>; KNOWN],
    /// Kernels and binding tables of threads that read none of these.
    looked: Vec<(u32, u32)>,
}

impl Kept {
    /// Whether threads are kept.
    #[inline]
    pub fn any(&self) -> bool {
        self.pages.is_some()
    }

    /// Threads are kept that write these pages of memory and no others.
    pub fn keep(&mut self, pages: &Arc<Vec<usize>>) {
        let same = |kept: &Arc<Vec<usize>>| Arc::ptr_eq(kept, pages);
        if !self.pages.as_ref().is_some_and(same) {
            self.pages = Some(pages.clone());
            self.others = [None; KNOWN];
            self.looked.clear();
        }
    }

    /// They have ended.
    pub fn end(&mut self) {
        self.pages = None;
    }

    /// Whether they may write what lies at these addresses.
    #[inline]
    pub fn meets(&mut self, mem: &Memory, from: GpuAddr, bytes: u64) -> bool {
        if self.pages.is_none() || bytes == 0 {
            return false;
        }
        let page = |at: u64| at / PAGE_SIZE as u64;
        let first = page(from.0);
        let last = page(from.0.saturating_add(bytes - 1));
        if last - first >= MOST {
            return true;
        }
        (first..=last).any(|page| self.meets_page(mem, page))
    }

    #[inline]
    fn meets_page(&mut self, mem: &Memory, page: u64) -> bool {
        // CAST: a remainder.
        let known = &mut self.others[(page % KNOWN as u64) as usize];
        if *known == Some(page) {
            return false;
        }
        let at = GpuAddr(page * PAGE_SIZE as u64);
        let pages = self.pages.as_ref();
        // To read an address without a page is a fault. The threads in front of the reader end before the fault is reported.
        let meets = mem.translate(at, Access::Read).map_or(true, |index| {
            let page = index / PAGE_SIZE;
            pages.is_some_and(|pages| pages.binary_search(&page).is_ok())
        });
        if !meets {
            *known = Some(page);
        }
        meets
    }

    /// Whether a thread of a unit might read what they write, or change what they read.
    pub fn meets_thread(&mut self, unit: &UnitConfig, td: &mut Td, machine: &Machine<'_>) -> bool {
        let looked = (unit.kernel.ip, unit.context.binding_table_pointer);
        if !self.any() || self.looked.contains(&looked) {
            return false;
        }
        let around = (&unit.context, unit.pushed.as_ref());
        let Some(ranges) = td.reads(&unit.kernel, around, machine) else {
            return true;
        };
        let mut ranges = ranges.into_iter();
        if ranges.any(|range| self.meets(machine.mem, range.base, range.bytes)) {
            return true;
        }
        self.looked.push(looked);
        false
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn what_is_kept_meets_its_pages_and_what_is_not_there() {
        let mut mem = Memory::new(1 << 20, 64);
        mem.alloc_mapped(GpuAddr::from(0x4000), 0x3000).unwrap();
        let at = GpuAddr::from(0x5000);
        let page = mem.translate(at, Access::Read).unwrap() / PAGE_SIZE;
        let mut kept = Kept::default();
        let meets = |kept: &mut Kept, from: u32, bytes| kept.meets(&mem, from.into(), bytes);
        assert!(!kept.any() && !meets(&mut kept, 0x5000, 4));
        kept.keep(&Arc::new(vec![page]));
        for _ in 0..2 {
            assert!(!meets(&mut kept, 0x4000, 0x1000));
            assert!(meets(&mut kept, 0x4ffe, 4) && meets(&mut kept, 0x5ffc, 4));
            assert!(!meets(&mut kept, 0x5ffc, 0));
            assert!(!meets(&mut kept, 0x6000, 4));
            // Beside it in the table of pages that are others.
            assert!(meets(&mut kept, 0x15000, 4));
            assert!(meets(&mut kept, 0x7000, 1));
            assert!(meets(&mut kept, 0x4000, 0x3000));
            assert!(meets(&mut kept, 0x6000, u64::MAX));
        }
        // The same page at another address.
        let page = mem.gtt_read(5);
        mem.gtt_write(9, page);
        assert!(kept.meets(&mem, GpuAddr::from(0x9010), 4));
        kept.end();
        assert!(!kept.meets(&mem, at, 4));
    }
}
