//! The kernel cache: instructions decoded once, by page of 4 KiB.
//!
//! PRM: volume 4, 3.4.5 (instruction cache), 11.10. Coherence is the owner's duty: it calls
//! [`KernelCache::invalidate`] where the manual flushes the instruction cache.

use crate::alike::Kernel;
use crate::decoded::Slot;
use crate::r#gen::{InstructionSet, Rules};
use crate::liveness;
use crate::lower::{self, Mode};
use crate::port::Port;
use crate::reach::{self, Reach};
use crate::scoreboard::{self, Footprint};
use crate::warm::Warm;
use isa::{Inst, Verx10};

/// Address bits inside of a page.
const PAGE_BITS: u8 = 12;
/// Pages held at most: 256 KiB of kernels.
const MAX_PAGES: usize = 64;

/// A slot for each place of an instruction.
#[derive(Debug)]
pub(crate) struct Page {
    base: u32,
    slots: Vec<Slot>,
    /// What its instructions may write that were decoded so far.
    reach: Reach,
}

/// Decoded kernels, shared by all threads that fetch from the same address space.
#[derive(Debug)]
pub struct KernelCache {
    pages: Vec<Page>,
    recent: usize,
    mode: Mode,
    set: InstructionSet,
    decoded: u64,
    /// Kernels of which it is known whether their threads are alike.
    pub(crate) kernels: Vec<Kernel>,
    /// Kernels that are compiled.
    pub(crate) warm: Warm,
}

impl KernelCache {
    /// An empty cache of one generation's instructions; `None` for a generation that the interpreter does not run.
    #[must_use]
    pub fn new(generation: Verx10) -> Option<KernelCache> {
        InstructionSet::of(generation).map(KernelCache::of)
    }

    /// An empty cache of an instruction set.
    #[must_use]
    pub fn of(set: InstructionSet) -> KernelCache {
        KernelCache::with_mode(set, Mode::Fast)
    }

    /// An empty cache whose instructions all take the general path, slow but free of special
    /// cases: what the fast paths are compared with.
    #[must_use]
    pub fn general(generation: Verx10) -> Option<KernelCache> {
        let set = InstructionSet::of(generation)?;
        Some(KernelCache::with_mode(set, Mode::General))
    }

    fn with_mode(set: InstructionSet, mode: Mode) -> KernelCache {
        KernelCache {
            pages: Vec::new(),
            recent: 0,
            mode,
            set,
            decoded: 0,
            kernels: Vec::new(),
            warm: Warm::default(),
        }
    }

    /// Forgets everything: the instruction memory, or the base address that the port adds, may
    /// have changed.
    pub fn invalidate(&mut self) {
        self.pages.clear();
        self.kernels.clear();
        self.warm.forget();
        self.recent = 0;
    }

    /// Instructions decoded since the cache was made; repeated decoding shows thrashing.
    pub const fn decoded(&self) -> u64 {
        self.decoded
    }

    /// What the instructions of the page that `page` found may write.
    #[inline]
    pub(crate) fn reach(&self, page: usize) -> Reach {
        // PANIC: `page` comes from `page()`.
        self.pages[page].reach
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

    /// The page that holds `ip`, if one does.
    #[inline]
    pub(crate) fn known(&self, ip: u32) -> Option<usize> {
        let base = ip & !0xfff;
        if self.pages.get(self.recent).is_some_and(|p| p.base == base) {
            return Some(self.recent);
        }
        self.pages.iter().position(|p| p.base == base)
    }

    #[cold]
    fn find(&mut self, base: u32) -> usize {
        self.recent = if let Some(i) = self.pages.iter().position(|p| p.base == base) {
            i
        } else {
            if self.pages.len() >= MAX_PAGES {
                self.pages.clear();
                self.warm.forget();
            }
            let blank = Slot {
                hot: lower::empty(),
                inst: None,
                footprint: Footprint::default(),
                begin: 0,
            };
            self.pages.push(Page {
                base,
                slots: vec![blank; 1 << (PAGE_BITS - self.set.rules.place)],
                reach: Reach::default(),
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

    /// The instruction set.
    #[inline(always)]
    #[must_use]
    pub const fn instructions(&self) -> InstructionSet {
        self.set
    }

    /// Number of the slot of `ip` in a page.
    #[inline(always)]
    pub(crate) const fn slot_index(ip: u32, place: u8) -> usize {
        (ip & ((1 << PAGE_BITS) - 1)) as usize >> place
    }

    /// Fetches, decodes and lowers the instruction at `ip`.
    #[cold]
    pub(crate) fn fill<P: Port>(
        &mut self,
        page: usize,
        ip: u32,
        port: &mut P,
    ) -> Result<(), P::Fault> {
        let (raw, bytes) = self.words(ip, port)?;
        self.decoded += 1;
        let decoded = match bytes {
            8 => isa::uncompact(self.set.generation, [raw[0], raw[1]]).ok(),
            _ => Some(raw),
        };
        let inst = decoded.and_then(|raw| isa::decode::decode(self.set.generation, raw).ok());
        let mut slot = match inst {
            Some(inst) => slot_of(&inst, self.mode, self.set.rules),
            None => Slot {
                hot: lower::illegal(),
                inst: None,
                footprint: Footprint::default(),
                begin: 0,
            },
        };
        slot.hot.bytes = bytes;
        self.put(page, ip, &slot);
        Ok(())
    }

    /// The words of the instruction at `ip` and its size in bytes. Memory is read in pieces of sixteen bytes, so that an
    /// instruction at the end of memory does not ask for what is behind it.
    fn words<P: Port>(&self, ip: u32, port: &mut P) -> Result<([u32; 4], u8), P::Fault> {
        let piece = port.fetch(ip & !15)?;
        let first = if ip & 8 == 0 { piece[0] } else { piece[2] };
        let compacted = isa::compact::is_compacted(self.set.generation, first);
        if ip & 8 == 0 {
            return Ok((piece, if compacted { 8 } else { 16 }));
        }
        if compacted {
            return Ok(([piece[2], piece[3], 0, 0], 8));
        }
        let behind = port.fetch((ip & !15).wrapping_add(16))?;
        Ok(([piece[2], piece[3], behind[0], behind[1]], 16))
    }

    /// Places a decoded instruction without a fetch.
    #[cfg(test)]
    pub(crate) fn place(&mut self, ip: u32, inst: &Inst) {
        let page = self.page(ip);
        self.put(page, ip, &slot_of(inst, self.mode, self.set.rules));
    }

    /// A stretch begins at a slot. The run loop finds it by the test for what is rare.
    pub(crate) fn begin_at(&mut self, page: usize, at: usize, begin: u16) {
        if let Some(slot) = self.pages.get_mut(page).and_then(|p| p.slots.get_mut(at)) {
            slot.begin = begin;
            slot.hot.rare = true;
        }
    }

    fn put(&mut self, page: usize, ip: u32, slot: &Slot) {
        // PANIC: `page` comes from `page()`; a page has a slot for each place.
        let Page { slots, reach, .. } = &mut self.pages[page];
        *reach = reach.and(reach::of(&slot.hot));
        let at = KernelCache::slot_index(ip, self.set.rules.place);
        slots[at] = *slot;
        if self.mode == Mode::Fast {
            liveness::refresh(slots, at, self.set.rules.place);
        }
    }
}

fn slot_of(inst: &Inst, mode: Mode, rules: Rules) -> Slot {
    let hot = lower::lower(inst, mode, rules);
    Slot {
        footprint: scoreboard::footprint(&hot),
        hot,
        inst: Some(*inst),
        begin: 0,
    }
}
