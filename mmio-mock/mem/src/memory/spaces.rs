//! Which space accesses belong to, and how an address of it is found.
//!
//! The slots of the global GTT answer most accesses ([`Memory::translate`]); what comes here is an address of a process,
//! one whose entry has not been looked up yet, or a fault.

use super::Memory;
use crate::table::{Root, Slot, Tables};
use crate::tlb::Tlb;
use crate::windows::Window;
use crate::{Access, Fault, FaultKind, GpuAddr, Space, space};

/// A process's tables and what is kept of them.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    tables: Tables,
    tlb: Tlb,
}

impl Own {
    /// Forgets what was found in the tables.
    pub(super) fn forget(&mut self) {
        self.tlb.invalidate();
    }
}

impl Memory {
    /// Whether accesses may write guarded pages.
    #[inline]
    pub(crate) fn is_trusted(&self) -> bool {
        self.trusted
    }

    /// Sets whether accesses may write guarded pages.
    #[inline]
    pub(crate) fn set_trusted(&mut self, trusted: bool) {
        self.trusted = trusted;
    }

    /// The space that accesses belong to.
    #[inline]
    pub fn space(&self) -> Space {
        self.space
    }

    /// Lets accesses belong to `space`; the one before.
    #[inline]
    pub(crate) fn switch(&mut self, space: Space) -> Space {
        if self.space == space {
            return space;
        }
        self.move_to(space)
    }

    #[cold]
    fn move_to(&mut self, space: Space) -> Space {
        self.gtt.hide(space != Space::Global);
        let tables = self.tables(space);
        self.bus = tables.map_or(u64::MAX, |tables| tables.format.bus());
        std::mem::replace(&mut self.space, space)
    }

    /// The address as the bus of the present space has it. Accesses do that themselves; a unit needs it where it shows
    /// an address or compares one.
    #[inline]
    #[must_use]
    pub fn on_bus(&self, addr: GpuAddr) -> GpuAddr {
        GpuAddr(addr.0 & self.bus)
    }

    /// The tables of a space; `None` for a process without.
    pub fn tables(&self, space: Space) -> Option<Tables> {
        match space {
            Space::Global => Some(Tables {
                format: self.gtt.format(),
                root: Root::Gtt(0),
            }),
            Space::Process(process) => self.own(process).map(|own| own.tables),
        }
    }

    fn own(&self, process: space::Process) -> Option<&Own> {
        self.processes.get(usize::from(process.number()))?.as_ref()
    }

    /// Sets the tables of a process's space, or takes them away: what a device does when a page directory's base is
    /// loaded. What was kept of the tables before is forgotten.
    pub fn set_tables(&mut self, process: space::Process, tables: Option<Tables>) {
        let number = usize::from(process.number());
        if self.processes.len() <= number {
            self.processes.resize_with(number + 1, || None);
        }
        // PANIC: the list has just been made long enough.
        let own = &mut self.processes[number];
        *own = tables.map(|tables| {
            let mut tlb = own.take().map(|own| own.tlb).unwrap_or_default();
            tlb.invalidate();
            Own { tables, tlb }
        });
        if self.space == Space::Process(process) {
            self.bus = tables.map_or(u64::MAX, |tables| tables.format.bus());
        }
    }

    /// Lets physical addresses lie where windows say from now on: at first nowhere.
    pub fn open_windows(&mut self) {
        self.arena.open_windows();
        self.forget();
    }

    /// Adds a window of physical addresses; `false`, and nothing changes, when there are no windows, it meets another one,
    /// or it does not lie in memory in whole pages.
    pub fn add_window(&mut self, first: u64, window: Window) -> bool {
        let aligned =
            (first | window.index as u64 | window.bytes).is_multiple_of(crate::PAGE_SIZE as u64);
        let end = (window.index as u64).checked_add(window.bytes);
        let inside = end.is_some_and(|end| end <= self.arena.whole_pages() as u64);
        let windows = self.arena.windows_mut().filter(|_| aligned && inside);
        windows.is_some_and(|windows| windows.add(first, window))
    }

    /// Takes windows away, each by its range; nothing that was found in them is kept.
    pub fn remove_windows(&mut self, ranges: impl IntoIterator<Item = (u64, u64)>) {
        if let Some(windows) = self.arena.windows_mut() {
            for (first, bytes) in ranges {
                windows.remove(first, bytes);
            }
        }
        self.forget();
    }

    /// Takes all windows away.
    pub fn clear_windows(&mut self) {
        if let Some(windows) = self.arena.windows_mut() {
            windows.clear();
        }
        self.forget();
    }

    /// Forgets what is kept of the tables of a process's space. Of the global GTT nothing stale is kept: its entries are
    /// the device's own.
    pub fn invalidate_translations(&mut self, space: Space) {
        if let Space::Process(process) = space
            && let Some(Some(own)) = self.processes.get_mut(usize::from(process.number()))
        {
            own.tlb.invalidate();
        }
    }

    /// What is kept of an address of the present space, if that is a process's.
    #[inline]
    fn kept(&self, addr: GpuAddr, access: Access) -> Option<usize> {
        match self.space {
            Space::Global => None,
            Space::Process(process) => self.own(process)?.tlb.lookup(addr, access),
        }
    }

    /// [`Memory::translate`] where the slots of the global GTT have no answer: for every access of a process.
    #[inline(never)]
    pub(super) fn look_up(&self, addr: GpuAddr, access: Access) -> Result<usize, Fault> {
        match self.kept(addr, access) {
            Some(index) => Ok(index),
            None => self.walk(addr, access),
        }
    }

    #[cold]
    #[inline(never)]
    fn walk(&self, addr: GpuAddr, access: Access) -> Result<usize, Fault> {
        self.translate_in(self.space, addr, access)
    }

    /// Lets the cache of the host fetch what will be read soon. Only a place that is kept already is looked at: nothing that
    /// accesses can see changes.
    #[inline]
    pub fn foresee(&self, addr: GpuAddr) {
        let known = self.gtt.lookup(addr);
        let known = known.or_else(|| self.kept(addr, Access::Read));
        if let Some(byte) = known.and_then(|index| self.arena.bytes().get(index)) {
            std::hint::black_box(*byte);
        }
    }

    /// [`Memory::translate`] for an address of another space than the present one.
    pub fn translate_in(
        &self,
        space: Space,
        addr: GpuAddr,
        access: Access,
    ) -> Result<usize, Fault> {
        let fault = |addr, kind, level, entry| Fault {
            addr,
            space,
            access,
            kind,
            level,
            entry,
        };
        let own = match space {
            Space::Global => None,
            Space::Process(process) => self.own(process),
        };
        if let Some(own) = own
            && let Some(index) = own.tlb.lookup(addr, access)
        {
            return Ok(index);
        }
        let Some(tables) = self.tables(space) else {
            return Err(fault(addr, FaultKind::NoTables, 0, 0));
        };
        let found = tables
            .walk(addr, |slot| self.entry(slot))
            .and_then(|mut found| {
                let Some(place) = self.arena.place(found.phys) else {
                    return Err(found.refused(FaultKind::NoMemory));
                };
                found.writable &= place.writable;
                if !found.allows(access) {
                    return Err(found.refused(FaultKind::ReadOnly));
                }
                Ok((found, place.index))
            });
        let (found, index) = found.map_err(|miss| {
            let addr = GpuAddr(addr.0 & tables.format.bus());
            fault(addr, miss.kind, miss.level, miss.entry)
        })?;
        let guarded = self.arena.is_guarded(index);
        if guarded && access == Access::Write && !self.trusted {
            return Err(fault(addr, FaultKind::Guarded, found.level, found.entry));
        }
        match own {
            // Who may write a guarded page is asked each time.
            Some(own) => own.tlb.fill(addr, index, found.writable && !guarded),
            None if found.writable && !guarded => self.gtt.fill(addr, index),
            None => {}
        }
        Ok(index)
    }

    /// [`Memory::translate`] for the processor, which writes through the aperture what the device may only read: an entry's leave to write is
    /// asked of the device alone (i915 gt/intel_ring.c `create_ring_vma`, `intel_ring_pin`: rings that ValleyView may not write are filled so).
    pub(super) fn translate_for_processor(&self, addr: GpuAddr) -> Result<usize, Fault> {
        let refused = match self.translate(addr, Access::Write) {
            Err(fault) if fault.kind == FaultKind::ReadOnly => fault,
            other => return other,
        };
        let tables = self.tables(self.space);
        let found = tables.and_then(|tables| tables.walk(addr, |slot| self.entry(slot)).ok());
        let place = found.and_then(|found| self.arena.place(found.phys));
        // Memory that nobody may write stays as it is.
        let place = place.filter(|place| place.writable);
        place.map(|place| place.index).ok_or(refused)
    }

    /// An entry of a table; `None` where there is no memory.
    fn entry(&self, slot: Slot) -> Option<u64> {
        match slot {
            Slot::Gtt(index) => self.gtt.read(index),
            Slot::Memory(at, 4) => {
                let bytes = self.arena.slice(at, 4).ok()?;
                bytes.first_chunk().map(|b| u32::from_le_bytes(*b).into())
            }
            Slot::Memory(at, _) => {
                let bytes = self.arena.slice(at, 8).ok()?;
                bytes.first_chunk().map(|b| u64::from_le_bytes(*b))
            }
        }
    }
}
