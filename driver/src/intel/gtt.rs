//! The global GTT: enabling, page table entries, address ranges.
//!
//! i915 `intel_ggtt.c`, intel-gtt.c: entries are written through the upper half of BAR 0 and the TLBs follow such
//! writes. Not modelled: a scratch page behind free entries (free entries are invalid, so that a stray access is
//! reported), stolen memory.
pub mod fence_reg;
mod ppgtt;
mod table;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use kernel::dma::{CoherentAllocation, DmaAddress, PAGE_SIZE};
use kernel::error::{Result, code::EINVAL, code::ENODEV, code::ENOMEM, code::ENOSPC};
use kernel::pr_err;
use kernel::sync::{AtomicBool, Ordering, SpinLock};

use self::fence_reg::FenceRegs;
use self::ppgtt::Ppgtt;
use self::table::Table;
pub(crate) use self::table::pte_offset;
use crate::core::gem::WeakObject;
use crate::core::range::{self, Gaps, RangeAllocator, Search};
use crate::intel::r#gen::{DeviceInfo, PageUse, SpaceOps};
use crate::intel::uncore::Uncore;

/// Bytes of a page.
const PAGE: u64 = PAGE_SIZE as u64;

/// Where an object is to go.
#[derive(Clone, Copy, Default, Debug)]
pub struct Place {
    /// Bytes of address space, if more than the object has.
    pub size: u64,
    /// Alignment, a power of two; 0 for a page.
    pub align: u64,
    /// Lowest address.
    pub above: u64,
    /// This address and no other.
    pub fixed: Option<u64>,
    /// In which address spaces the object is bound there.
    pub scope: Scope,
}

/// Memory that is mapped.
#[derive(Clone, Copy)]
pub struct Pages<'a> {
    /// The memory.
    pub memory: &'a CoherentAllocation,
    /// How the device uses it.
    pub used: PageUse,
}

/// Who sees pages at their address. Without a process space everybody sees the global one.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Scope {
    /// Batches of clients.
    #[default]
    Process,
    /// The driver's own commands.
    Global,
    /// Both.
    Everybody,
}

impl Scope {
    fn is_global(self) -> bool {
        self != Scope::Process
    }

    fn is_process(self) -> bool {
        self != Scope::Global
    }
}

/// The global GTT of a device.
pub struct Ggtt {
    uncore: Uncore,
    info: &'static DeviceInfo,
    table: Table,
    ranges: SpinLock<RangeAllocator>,
    /// The objects by address; taken after the ranges.
    bound: SpinLock<BTreeMap<u64, WeakObject>>,
    /// The process space, where there is one.
    process: Option<Ppgtt>,
    /// Who sees what is at an address, where that makes a difference.
    scopes: SpinLock<BTreeMap<u64, Scope>>,
    fences: FenceRegs,
    live: AtomicBool,
}

impl Ggtt {
    /// Finds out the size of the GTT, enables it and clears every entry.
    pub fn probe(uncore: &Uncore, info: &'static DeviceInfo) -> Result<Self> {
        let bar = uncore.config().bar(0).ok_or(ENODEV)?;
        let window = usize::try_from(bar.len)
            .unwrap_or(usize::MAX)
            .saturating_sub(pte_offset(info, 0).ok_or(ENODEV)?)
            / 4;
        let entries = (info.gtt.entries)(uncore).min(window);
        // The last page is never handed out: the command streamer prefetches past the end of what it reads.
        let limit = (entries as u64).saturating_sub(1) * PAGE;
        if limit == 0 {
            return Err(ENODEV);
        }
        let mut ggtt = Ggtt {
            uncore: uncore.clone(),
            info,
            table: Table::new(uncore, info, entries)?,
            ranges: SpinLock::new(RangeAllocator::new(PAGE, limit)),
            bound: SpinLock::new(BTreeMap::new()),
            process: None,
            scopes: SpinLock::new(BTreeMap::new()),
            fences: FenceRegs::new(info),
            live: AtomicBool::new(true),
        };
        ggtt.enable()?;
        ggtt.table.write(0, core::iter::repeat_n(0, entries));
        if let Some(ops) = info.space {
            let size = ops.tables as u64 * PAGE;
            let place = ggtt.ranges.lock().insert(
                "page directory",
                size,
                ops.align.into(),
                Search::High,
            )?;
            // CAST: the GTT has 32 bits of addresses.
            ggtt.process = Some(Ppgtt::new(&ggtt.table, info, ops, place as u32)?);
            (ops.enable)(uncore);
        }
        Ok(ggtt)
    }

    /// The process space: its operations and where its directory is.
    #[must_use]
    pub fn process(&self) -> Option<(&'static SpaceOps, u32)> {
        let process = self.process.as_ref()?;
        Some((process.ops(), process.directory()))
    }

    /// The memory behind a page, as batches see it.
    #[must_use]
    pub fn page(&self, index: usize) -> Option<DmaAddress> {
        if let Some(page) = self.process.as_ref().and_then(|space| space.page(index)) {
            return Some(page);
        }
        let entry = pte_offset(self.info, index).filter(|_| index < self.table.len())?;
        (self.info.gtt.decode)(self.uncore.io().read32(entry))
    }

    /// Turns translation on if the firmware or a reset left it off.
    pub fn enable(&self) -> Result {
        (self.info.gtt.enable)(&self.uncore)?;
        if let Some((ops, _)) = self.process() {
            (ops.enable)(&self.uncore);
        }
        Ok(())
    }

    /// What is true of the device.
    #[must_use]
    pub fn info(&self) -> &'static DeviceInfo {
        self.info
    }

    /// Number of entries.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.table.len()
    }

    /// Writes the entries anew that are not what the driver has written (i915 `i915_ggtt_resume`); how many there were.
    /// The device stands still.
    pub fn restore(&self) -> usize {
        self.table.restore()
    }

    /// Bytes of a context's image.
    #[must_use]
    pub fn image_size(&self) -> usize {
        (self.info.image_size)(&self.uncore)
    }

    /// Number of ranges in use.
    #[must_use]
    pub fn bound(&self) -> usize {
        self.ranges.lock().len()
    }

    /// The fence registers.
    #[must_use]
    pub fn fences(&self) -> &FenceRegs {
        &self.fences
    }

    /// The registers.
    #[must_use]
    pub fn uncore(&self) -> &Uncore {
        &self.uncore
    }

    /// Whether the device is still there.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.live.load(Ordering::Acquire)
    }

    /// Maps pages at a chosen address.
    ///
    /// `EINVAL` for an address that is not page aligned or too high, `ENOSPC` when it overlaps another range; the
    /// message names both.
    pub fn insert_at(&self, owner: &str, pages: Pages<'_>, address: u32) -> Result<u32> {
        if u64::from(address) % PAGE != 0 {
            return Err(EINVAL);
        }
        self.check_live()?;
        let size = pages.memory.size() as u64;
        let found = self
            .ranges
            .lock()
            .insert_at(owner, u64::from(address), size);
        self.finish((pages, Scope::Everybody), found)
    }

    /// Maps pages where there is room.
    pub fn insert(
        &self,
        owner: &str,
        (pages, scope): (Pages<'_>, Scope),
        align: u32,
        search: Search,
    ) -> Result<u32> {
        self.check_live()?;
        let size = pages.memory.size() as u64;
        let align = u64::from(align).max(PAGE);
        let found = self.ranges.lock().insert(owner, size, align, search);
        self.finish((pages, scope), found)
    }

    /// Maps pages as a user asks for it. A full table is not worth a message: the caller makes room.
    pub fn place(&self, owner: &str, pages: Pages<'_>, place: &Place) -> Result<u32> {
        self.check_live()?;
        let size = place.size.max(pages.memory.size() as u64);
        let found = {
            let mut ranges = self.ranges.lock();
            match place.fixed {
                Some(start) => ranges.insert_at(owner, start, size),
                None => ranges.insert_above(owner, size, place.align.max(PAGE), place.above),
            }
        };
        self.mapped((pages, place.scope), found?)
    }

    /// Lets the driver's commands, too, see what is at an address.
    pub fn make_global(&self, pages: Pages<'_>, address: u32) -> Result {
        let start = u64::from(address);
        let missing = self.process.is_some() && {
            let mut scopes = self.scopes.lock();
            let scope = scopes.get_mut(&start);
            scope.is_some_and(|scope| {
                let was = core::mem::replace(scope, Scope::Everybody);
                !was.is_global()
            })
        };
        if missing {
            let entries = self.entries_of(pages)?;
            self.table
                .write((start / PAGE) as usize, entries.into_iter());
        }
        Ok(())
    }

    /// First address behind the space.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.ranges.lock().limit()
    }

    /// Bytes of address space in use.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.ranges.lock().taken()
    }

    /// What is free at the moment, to look for room in.
    #[must_use]
    pub fn gaps(&self) -> Gaps {
        self.ranges.lock().gaps().clone()
    }

    /// What lies in `start..end` in part: the objects; `None` for a range that is not an object's.
    pub(crate) fn objects_in(&self, start: u64, end: u64) -> Vec<Option<WeakObject>> {
        let ranges = self.ranges.lock();
        let bound = self.bound.lock();
        let starts = ranges.starts_in(start, end);
        starts.map(|start| bound.get(&start).cloned()).collect()
    }

    /// Notes whose a range is.
    pub(crate) fn note(&self, address: u32, object: WeakObject) {
        self.bound.lock().insert(u64::from(address), object);
    }

    /// Bytes that the range at an address takes, 0 when there is none.
    #[must_use]
    pub fn size_at(&self, address: u32) -> u64 {
        self.ranges.lock().size_at(u64::from(address))
    }

    fn check_live(&self) -> Result {
        if self.is_live() { Ok(()) } else { Err(ENODEV) }
    }

    fn finish(
        &self,
        pages: (Pages<'_>, Scope),
        found: core::result::Result<u64, range::RangeError>,
    ) -> Result<u32> {
        let start = found.map_err(|error| {
            pr_err!("GTT: {error}");
            error
        })?;
        self.mapped(pages, start)
    }

    fn mapped(&self, pages: (Pages<'_>, Scope), start: u64) -> Result<u32> {
        let address = u32::try_from(start).map_err(|_| ENOSPC)?;
        match self.map(pages, start) {
            Ok(()) => Ok(address),
            Err(error) => {
                self.remove(address);
                Err(error)
            }
        }
    }

    /// The entries of pages.
    fn entries_of(&self, pages: Pages<'_>) -> Result<Vec<u32>> {
        let encode = self.info.gtt.encode;
        let mut entries = Vec::new();
        entries
            .try_reserve_exact(pages.memory.pages())
            .map_err(|_| ENOMEM)?;
        for index in 0..pages.memory.pages() {
            let page = pages.memory.page(index).ok_or(EINVAL)?;
            entries.push(encode(page, pages.used)?);
        }
        Ok(entries)
    }

    fn map(&self, (pages, scope): (Pages<'_>, Scope), start: u64) -> Result {
        let entries = self.entries_of(pages)?;
        let first = (start / PAGE) as usize;
        let Some(process) = &self.process else {
            self.table.write(first, entries.into_iter());
            return Ok(());
        };
        self.scopes.lock().insert(start, scope);
        if scope.is_process() {
            process.insert(&self.table, first, &entries)?;
        }
        if scope.is_global() {
            self.table.write(first, entries.into_iter());
        }
        Ok(())
    }

    /// Takes the entries of a range away.
    fn unmap(&self, start: u64, size: u64) {
        let (first, count) = ((start / PAGE) as usize, (size / PAGE) as usize);
        let scope = self.scopes.lock().remove(&start);
        let scope = scope.unwrap_or(Scope::Everybody);
        if let Some(process) = &self.process
            && scope.is_process()
        {
            process.clear(first, count);
        }
        if scope.is_global() {
            self.table.write(first, core::iter::repeat_n(0, count));
        }
    }

    /// Unmaps the range that starts at `address` and clears its entries.
    pub fn remove(&self, address: u32) {
        let start = u64::from(address);
        self.bound.lock().remove(&start);
        if !self.is_live() {
            self.ranges.lock().remove(start);
            return;
        }
        // The entries go first: the range must not be given out while it still maps the old pages.
        let size = self.ranges.lock().size_at(start);
        if size > 0 {
            self.unmap(start, size);
            self.ranges.lock().remove(start);
        }
    }

    /// Clears the entries of everything still mapped, and lets nothing touch the device from now on.
    pub fn shutdown(&self) {
        let left: Vec<_> = self.ranges.lock().iter().collect();
        for range in left {
            self.unmap(range.start, range.end - range.start);
        }
        self.live.store(false, Ordering::Release);
    }
}

impl Drop for Ggtt {
    fn drop(&mut self) {
        // A probe that failed half-way.
        if self.is_live() {
            self.shutdown();
        }
    }
}
