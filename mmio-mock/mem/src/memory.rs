//! The memory that all units see: pages behind tables, and the aperture.
//!
//! PRM: Intel 965 Express Chipset Family, volume 1 (memory interface).
//! Not modelled: write combining, caches, and the order of accesses from different units.

use zerocopy::{FromBytes, IntoBytes};

use crate::arena::Arena;
use crate::fence::{FENCE_COUNT, Fence, PITCH_SHIFT};
use crate::gtt::{FLAT_GTT, GTT_ENTRIES, Gtt, Pte};
use crate::table::TableFormat;
use crate::tiling::{BitSixSwizzle, Tiling};
use crate::{Access, Fault, GpuAddr, PAGE_SIZE, PhysAddr, PhysFault, Space};

mod spaces;

/// Default size of system memory: 256 MiB less what the table of a full GTT takes.
pub const DEFAULT_SYSTEM_BYTES: usize = (256 << 20) - (1 << 20);

/// System memory, tables and fences. The device and the CPU's view share one behind a lock.
///
/// An access belongs to the space that was entered ([`Memory::enter`]), which is the global one without that.
#[derive(Debug, Clone)]
pub struct Memory {
    arena: Arena,
    gtt: Gtt,
    /// The tables of processes, by number.
    processes: Vec<Option<spaces::Own>>,
    /// What accesses belong to.
    space: Space,
    /// The bits of an address that there are in that space.
    bus: u64,
    /// Accesses may write guarded pages.
    trusted: bool,
    fences: [Fence; FENCE_COUNT],
    /// First bit of the pitch in them.
    fence_pitch: u32,
    swizzle_x: BitSixSwizzle,
    swizzle_y: BitSixSwizzle,
}

impl Default for Memory {
    fn default() -> Self {
        Memory::new(DEFAULT_SYSTEM_BYTES, GTT_ENTRIES)
    }
}

macro_rules! accessors {
    ($($read:ident $write:ident $ty:ty, $n:literal;)*) => {$(
        #[doc = concat!("Reads a little-endian ", stringify!($ty), " at any alignment.")]
        #[inline]
        pub fn $read(&self, addr: GpuAddr) -> Result<$ty, Fault> {
            Ok(<$ty>::from_le_bytes(self.read_array::<$n>(addr)?))
        }
        #[doc = concat!("Writes a little-endian ", stringify!($ty), " at any alignment.")]
        #[inline]
        pub fn $write(&mut self, addr: GpuAddr, value: $ty) -> Result<(), Fault> {
            self.write_array::<$n>(addr, value.to_le_bytes())
        }
    )*};
}

impl Memory {
    /// Memory of `system_bytes_cap` bytes (rounded down to pages, below 4 GiB) behind a flat GTT of
    /// `gtt_entries` invalid entries.
    pub fn new(system_bytes_cap: usize, gtt_entries: usize) -> Self {
        Self::with_arena(Arena::new(system_bytes_cap), &FLAT_GTT, gtt_entries)
    }

    /// The same for a device whose global GTT has entries of any format.
    pub fn with_format(bytes: usize, format: &'static TableFormat, gtt_entries: usize) -> Self {
        Self::with_arena(Arena::new(bytes), format, gtt_entries)
    }

    /// Memory over a block that the caller has mapped: its first byte is physical address 0. Others may map it too and
    /// see what the device does; pages are cleared when they are handed out.
    /// The last `own` bytes nobody else maps: guarded pages lie there, and no others.
    pub fn over(
        (block, own): (memmap2::MmapMut, usize),
        format: &'static TableFormat,
        gtt_entries: usize,
    ) -> Self {
        Self::with_arena(Arena::over(block, own), format, gtt_entries)
    }

    fn with_arena(arena: Arena, format: &'static TableFormat, gtt_entries: usize) -> Self {
        let gtt = Gtt::new(format, gtt_entries);
        Memory {
            arena,
            gtt,
            processes: Vec::new(),
            space: Space::Global,
            bus: format.bus(),
            trusted: true,
            fences: [Fence::default(); FENCE_COUNT],
            fence_pitch: PITCH_SHIFT,
            swizzle_x: BitSixSwizzle::None,
            swizzle_y: BitSixSwizzle::None,
        }
    }

    /// Index into [`Self::arena_bytes`] of the byte at `addr`; good up to the end of its page.
    #[inline(always)]
    pub fn translate(&self, addr: GpuAddr, access: Access) -> Result<usize, Fault> {
        match self.gtt.lookup(addr) {
            Some(index) => Ok(index),
            None => self.look_up(addr, access),
        }
    }

    /// Reads `N` bytes.
    #[inline]
    pub fn read_array<const N: usize>(&self, addr: GpuAddr) -> Result<[u8; N], Fault> {
        let index = self.translate(addr, Access::Read)?;
        if addr.in_page() + N <= PAGE_SIZE
            && let Some(&bytes) = self.arena.bytes()[index..].first_chunk::<N>()
        {
            return Ok(bytes);
        }
        let mut bytes = [0; N];
        self.read_bytes(addr, &mut bytes)?;
        Ok(bytes)
    }

    /// Writes `N` bytes.
    #[inline]
    pub fn write_array<const N: usize>(
        &mut self,
        addr: GpuAddr,
        bytes: [u8; N],
    ) -> Result<(), Fault> {
        let index = self.translate(addr, Access::Write)?;
        if addr.in_page() + N <= PAGE_SIZE
            && let Some(to) = self.arena.bytes_mut()[index..].first_chunk_mut::<N>()
        {
            *to = bytes;
            return Ok(());
        }
        self.write_bytes(addr, &bytes)
    }

    accessors! {
        read_u8 write_u8 u8, 1;
        read_u16 write_u16 u16, 2;
        read_u32 write_u32 u32, 4;
        read_u64 write_u64 u64, 8;
    }

    /// The bytes from `addr` to the end of its page.
    #[inline]
    pub fn page(&self, addr: GpuAddr) -> Result<&[u8], Fault> {
        let index = self.translate(addr, Access::Read)?;
        let end = (index | (PAGE_SIZE - 1)) + 1;
        Ok(&self.arena.bytes()[index..end])
    }

    /// The bytes from `addr` to the end of its page, writable.
    #[inline]
    pub fn page_mut(&mut self, addr: GpuAddr) -> Result<&mut [u8], Fault> {
        let index = self.translate(addr, Access::Write)?;
        let end = (index | (PAGE_SIZE - 1)) + 1;
        Ok(&mut self.arena.bytes_mut()[index..end])
    }

    /// Fills `out` from `addr` on. On a fault, earlier pages have been read.
    pub fn read_bytes(&self, addr: GpuAddr, out: &mut [u8]) -> Result<(), Fault> {
        let mut addr = addr;
        let mut out = out;
        while !out.is_empty() {
            let page = self.page(addr)?;
            let n = page.len().min(out.len());
            let (now, rest) = out.split_at_mut(n);
            now.copy_from_slice(&page[..n]);
            out = rest;
            addr = addr.after(n);
        }
        Ok(())
    }

    /// Writes `data` from `addr` on. On a fault, earlier pages have been written.
    pub fn write_bytes(&mut self, addr: GpuAddr, data: &[u8]) -> Result<(), Fault> {
        let mut addr = addr;
        let mut data = data;
        while !data.is_empty() {
            let page = self.page_mut(addr)?;
            let n = page.len().min(data.len());
            let (now, rest) = data.split_at(n);
            page[..n].copy_from_slice(now);
            data = rest;
            addr = addr.after(n);
        }
        Ok(())
    }

    /// Reads a structure that lies in memory as it is, such as a state structure of `regs`.
    pub fn read_struct<T: FromBytes + IntoBytes>(&self, addr: GpuAddr) -> Result<T, Fault> {
        let mut value = T::new_zeroed();
        self.read_bytes(addr, value.as_mut_bytes())?;
        Ok(value)
    }

    /// Fills `out` with little-endian dwords from `addr` on.
    pub fn read_dwords(&self, addr: GpuAddr, out: &mut [u32]) -> Result<(), Fault> {
        let mut addr = addr;
        let mut out = out;
        while !out.is_empty() {
            let page = self.page(addr)?;
            let n = (page.len() / 4).min(out.len());
            if n == 0 {
                // A dword across the page's end.
                let (now, rest) = out.split_at_mut(1);
                now[0] = self.read_u32(addr)?;
                out = rest;
                addr = addr.after(4);
                continue;
            }
            let (now, rest) = out.split_at_mut(n);
            for (dword, bytes) in now.iter_mut().zip(page.as_chunks::<4>().0) {
                *dword = u32::from_le_bytes(*bytes);
            }
            out = rest;
            addr = addr.after(4 * n);
        }
        Ok(())
    }

    /// The same where all of them lie in the page of `addr`; `false`, with `out` as it was, where they do not or cannot be read.
    #[inline]
    #[must_use]
    pub fn read_page_dwords(&self, addr: GpuAddr, out: &mut [u32]) -> bool {
        let Ok(page) = self.page(addr) else {
            return false;
        };
        let (dwords, _) = page.as_chunks::<4>();
        let Some(from) = dwords.get(..out.len()) else {
            return false;
        };
        for (dword, bytes) in out.iter_mut().zip(from) {
            *dword = u32::from_le_bytes(*bytes);
        }
        true
    }

    /// Writes little-endian dwords from `addr` on.
    pub fn write_dwords(&mut self, addr: GpuAddr, data: &[u32]) -> Result<(), Fault> {
        for (i, &dword) in data.iter().enumerate() {
            self.write_u32(addr.after(4 * i), dword)?;
        }
        Ok(())
    }

    /// All system memory, indexed by what [`Self::translate`] returns.
    #[inline]
    pub fn arena_bytes(&self) -> &[u8] {
        self.arena.bytes()
    }

    /// All system memory, writable.
    #[inline]
    pub fn arena_bytes_mut(&mut self) -> &mut [u8] {
        self.arena.bytes_mut()
    }

    /// Bytes of system memory.
    pub fn system_bytes(&self) -> usize {
        self.arena.len()
    }

    /// Hands out `count` adjacent zeroed pages.
    pub fn alloc_pages(&mut self, count: usize) -> Option<PhysAddr> {
        self.arena.alloc_pages(count)
    }

    /// Takes back `count` pages that [`Self::alloc_pages`] handed out.
    pub fn free_pages(&mut self, addr: PhysAddr, count: usize) -> Result<(), PhysFault> {
        self.arena.free_pages(addr, count)
    }

    /// Hands out zeroed pages that are guarded ([`Self::guard_pages`]), in the part of memory that nobody else maps if there is one.
    pub fn alloc_guarded(&mut self, count: usize) -> Option<PhysAddr> {
        let addr = self.arena.alloc_guarded(count)?;
        self.forget();
        Some(addr)
    }

    /// How many pages the part that nobody else maps has; `None` without one.
    pub fn own_pages(&self) -> Option<usize> {
        self.arena.own_pages()
    }

    /// Keeps pages for the driver until they are given back: what a device does for an untrusted client
    /// ([`Entered::trust`](crate::Entered::trust)) may read them and not write them. The parts of this family have no such guard but the tables of
    /// processes: a driver that serves strangers asks for it, and a device without it ignores that.
    pub fn guard_pages(&mut self, addr: PhysAddr, count: usize) {
        self.arena.guard_pages(addr, count);
        self.forget();
    }

    /// Drops what is kept of looked-up entries: they may have pointed to pages that are guarded now.
    fn forget(&mut self) {
        self.gtt.forget();
        for own in self.processes.iter_mut().flatten() {
            own.forget();
        }
    }

    /// Pages that can still be handed out.
    pub fn free_page_count(&self) -> usize {
        self.arena.free_page_count()
    }

    /// Reads system memory by physical address.
    pub fn phys_read(&self, addr: PhysAddr, out: &mut [u8]) -> Result<(), PhysFault> {
        out.copy_from_slice(self.arena.slice(addr, out.len())?);
        Ok(())
    }

    /// Writes system memory by physical address.
    pub fn phys_write(&mut self, addr: PhysAddr, data: &[u8]) -> Result<(), PhysFault> {
        self.arena
            .slice_mut(addr, data.len())?
            .copy_from_slice(data);
        Ok(())
    }

    /// Reads a little-endian dword by physical address.
    pub fn phys_read_u32(&self, addr: PhysAddr) -> Result<u32, PhysFault> {
        let mut bytes = [0; 4];
        self.phys_read(addr, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Writes a little-endian dword by physical address for the device, which a guarded page refuses from the untrusted.
    pub fn device_write_u32(&mut self, addr: PhysAddr, value: u32) -> Result<(), PhysFault> {
        let index = usize::try_from(addr.0).unwrap_or(usize::MAX);
        if !self.trusted
            && (self.arena.is_guarded(index) || self.arena.is_guarded(index.saturating_add(3)))
        {
            return Err(PhysFault {
                addr,
                len: 4,
                access: Access::Write,
            });
        }
        self.phys_write_u32(addr, value)
    }

    /// Writes a little-endian dword by physical address.
    pub fn phys_write_u32(&mut self, addr: PhysAddr, value: u32) -> Result<(), PhysFault> {
        self.phys_write(addr, &value.to_le_bytes())
    }

    /// The bytes `addr..addr + len` of system memory.
    pub fn phys_slice(&self, addr: PhysAddr, len: usize) -> Result<&[u8], PhysFault> {
        self.arena.slice(addr, len)
    }

    /// The bytes `addr..addr + len` of system memory, writable.
    pub fn phys_slice_mut(&mut self, addr: PhysAddr, len: usize) -> Result<&mut [u8], PhysFault> {
        self.arena.slice_mut(addr, len)
    }

    /// Number of GTT entries.
    pub fn gtt_entries(&self) -> usize {
        self.gtt.len()
    }

    /// The low dword of GTT entry `index` as written; 0 past the end.
    pub fn gtt_read(&self, index: usize) -> u32 {
        // CAST: the low dword of longer entries.
        self.gtt.read(index).unwrap_or(0) as u32
    }

    /// Writes GTT entry `index`; ignored past the end.
    pub fn gtt_write(&mut self, index: usize, pte: u32) {
        self.gtt.write(index, pte.into());
    }

    /// Writes GTT entry `index` of a table with entries of 64 bits; ignored past the end.
    pub fn gtt_write_wide(&mut self, index: usize, pte: u64) {
        self.gtt.write(index, pte);
    }

    /// Maps `count` adjacent physical pages from `phys` at the page of `addr`, with entries of the 965 (a helper for
    /// tests and loaders; a driver writes entries itself).
    pub fn gtt_map(&mut self, addr: GpuAddr, phys: PhysAddr, count: usize) {
        for i in 0..count.min(self.gtt.len()) {
            let page = phys.0.wrapping_add((i * PAGE_SIZE) as u64);
            let index = (addr.0 >> 12) as usize;
            self.gtt
                .write(index.saturating_add(i), Pte::valid(page).0.into());
        }
    }

    /// Allocates `bytes` (whole pages) and maps them at `addr`: a helper for tests and loaders.
    pub fn alloc_mapped(&mut self, addr: GpuAddr, bytes: usize) -> Option<PhysAddr> {
        let pages = bytes.div_ceil(PAGE_SIZE);
        let phys = self.alloc_pages(pages)?;
        self.gtt_map(addr, phys, pages);
        Some(phys)
    }

    /// Sets which bit the pitch of fence registers begins at.
    pub fn set_fence_pitch(&mut self, shift: u32) {
        self.fence_pitch = shift.min(52);
    }

    /// Fence register `index`; 0 when there is no such register.
    pub fn fence_read(&self, index: usize) -> u64 {
        self.fences.get(index).map_or(0, |f| f.0)
    }

    /// Writes fence register `index`; ignored when there is no such register.
    pub fn fence_write(&mut self, index: usize, value: u64) {
        if let Some(fence) = self.fences.get_mut(index) {
            *fence = Fence(value);
        }
    }

    /// Sets the bit-6 swizzle that X and Y tiled accesses use.
    pub fn set_swizzle(&mut self, x: BitSixSwizzle, y: BitSixSwizzle) {
        self.swizzle_x = x;
        self.swizzle_y = y;
    }

    /// The swizzle in force for a tiling.
    #[inline]
    pub fn swizzle(&self, tiling: Tiling) -> BitSixSwizzle {
        match tiling {
            Tiling::Linear => BitSixSwizzle::None,
            Tiling::X => self.swizzle_x,
            Tiling::Y => self.swizzle_y,
        }
    }

    /// The graphics address behind an aperture offset, fences applied, and the number of bytes
    /// from there that stay adjacent.
    pub fn aperture_resolve(&self, offset: u32) -> (GpuAddr, usize) {
        match self.fences.iter().find(|f| f.covers(offset)) {
            None => {
                // The next fence may begin on any page.
                let to_page_end = PAGE_SIZE - (offset as usize & (PAGE_SIZE - 1));
                (offset.into(), to_page_end)
            }
            Some(f) => {
                let at = self
                    .swizzle(f.tiling())
                    .apply(f.detile_by(offset, f.pitch_at(self.fence_pitch)));
                (at.into(), 16 - (offset as usize & 15))
            }
        }
    }

    /// Reads through the aperture as the CPU does: fenced ranges appear linear.
    pub fn aperture_read(&self, offset: u32, out: &mut [u8]) -> Result<(), Fault> {
        let mut offset = offset;
        let mut out = out;
        while !out.is_empty() {
            let (addr, n) = self.aperture_resolve(offset);
            let n = n.min(out.len());
            let (now, rest) = out.split_at_mut(n);
            self.read_bytes(addr, now)?;
            out = rest;
            offset = offset.wrapping_add(n as u32);
        }
        Ok(())
    }

    /// Writes through the aperture as the CPU does.
    pub fn aperture_write(&mut self, offset: u32, data: &[u8]) -> Result<(), Fault> {
        let mut offset = offset;
        let mut data = data;
        while !data.is_empty() {
            let (addr, n) = self.aperture_resolve(offset);
            let (now, rest) = data.split_at(n.min(data.len()));
            // What is adjacent lies in one page.
            let index = self.translate_for_processor(addr)?;
            if let Some(to) = self.arena.bytes_mut()[index..].get_mut(..now.len()) {
                to.copy_from_slice(now);
            }
            data = rest;
            offset = offset.wrapping_add(now.len() as u32);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
