//! The kernel cache: instructions decoded once, by page of 256.
//!
//! PRM: volume 4, 3.4.5 (instruction cache), 11.10. Coherence is the owner's duty: it calls
//! [`KernelCache::invalidate`] where the manual flushes the instruction cache.

use crate::decoded::Slot;
use crate::r#gen::{self, Rules};
use crate::liveness;
use crate::lower::{self, Mode};
use crate::port::Port;
use crate::scoreboard::{self, Footprint};
use isa::{Inst, Verx10};

/// Instructions in a page of 4 KiB.
const SLOTS: usize = 256;
/// Pages held at most: 256 KiB of kernels.
const MAX_PAGES: usize = 64;

/// 256 slots.
#[derive(Debug)]
pub(crate) struct Page {
    base: u32,
    slots: Vec<Slot>,
}

/// Decoded kernels, shared by all threads that fetch from the same address space.
#[derive(Debug)]
pub struct KernelCache {
    pages: Vec<Page>,
    recent: usize,
    mode: Mode,
    generation: Verx10,
    rules: Rules,
    decoded: u64,
}

impl KernelCache {
    /// An empty cache of one generation's instructions.
    pub const fn new(generation: Verx10) -> KernelCache {
        KernelCache::with_mode(generation, Mode::Fast)
    }

    /// An empty cache whose instructions all take the general path, slow but free of special
    /// cases: what the fast paths are compared with.
    pub const fn general(generation: Verx10) -> KernelCache {
        KernelCache::with_mode(generation, Mode::General)
    }

    const fn with_mode(generation: Verx10, mode: Mode) -> KernelCache {
        KernelCache {
            pages: Vec::new(),
            recent: 0,
            mode,
            generation,
            rules: r#gen::rules(generation),
            decoded: 0,
        }
    }

    /// Forgets everything: the instruction memory, or the base address that the port adds, may
    /// have changed.
    pub fn invalidate(&mut self) {
        self.pages.clear();
        self.recent = 0;
    }

    /// Instructions decoded since the cache was made; repeated decoding shows thrashing.
    pub const fn decoded(&self) -> u64 {
        self.decoded
    }

    /// The page that holds `ip`.
    #[inline]
    pub(crate) fn page(&mut self, ip: u32) -> usize {
        let base = ip & !0xfff;
        if self.pages.get(self.recent).is_some_and(|p| p.base == base) {
            return self.recent;
        }
        self.find(base)
    }

    #[cold]
    fn find(&mut self, base: u32) -> usize {
        self.recent = if let Some(i) = self.pages.iter().position(|p| p.base == base) {
            i
        } else {
            if self.pages.len() >= MAX_PAGES {
                self.pages.clear();
            }
            let blank = Slot {
                hot: lower::empty(),
                inst: None,
                footprint: Footprint::default(),
            };
            self.pages.push(Page {
                base,
                slots: vec![blank; SLOTS],
            });
            self.pages.len() - 1
        };
        self.recent
    }

    /// The slots of the page that `page` found.
    #[inline(always)]
    pub(crate) fn slots(&self, page: usize) -> &[Slot] {
        // PANIC: `page` comes from `page()`.
        &self.pages[page].slots
    }

    /// Number of the slot of `ip` in its page.
    #[inline(always)]
    pub(crate) const fn slot_index(ip: u32) -> usize {
        (ip >> 4) as usize & (SLOTS - 1)
    }

    /// Fetches, decodes and lowers the instruction at `ip`.
    #[cold]
    pub(crate) fn fill<P: Port>(
        &mut self,
        page: usize,
        ip: u32,
        port: &mut P,
    ) -> Result<(), P::Fault> {
        let raw = port.fetch(ip)?;
        self.decoded += 1;
        let slot = match isa::decode::decode(self.generation, raw) {
            Ok(inst) => slot_of(&inst, self.mode, self.rules),
            Err(_) => Slot {
                hot: lower::illegal(),
                inst: None,
                footprint: Footprint::default(),
            },
        };
        self.put(page, ip, &slot);
        Ok(())
    }

    /// Places a decoded instruction without a fetch.
    #[cfg(test)]
    pub(crate) fn place(&mut self, ip: u32, inst: &Inst) {
        let page = self.page(ip);
        self.put(page, ip, &slot_of(inst, self.mode, self.rules));
    }

    fn put(&mut self, page: usize, ip: u32, slot: &Slot) {
        // PANIC: `page` comes from `page()`; a page has 256 slots.
        let slots = &mut self.pages[page].slots;
        let at = KernelCache::slot_index(ip);
        slots[at] = *slot;
        if self.mode == Mode::Fast {
            liveness::refresh(slots, at);
        }
    }
}

fn slot_of(inst: &Inst, mode: Mode, rules: Rules) -> Slot {
    let hot = lower::lower(inst, mode, rules);
    Slot {
        footprint: scoreboard::footprint(&hot, inst),
        hot,
        inst: Some(*inst),
    }
}
