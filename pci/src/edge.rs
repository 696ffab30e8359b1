//! The unsafe edge: mapped BARs, memory that a device reaches, lost pages.
//!
//! A page of a mapped file that is gone (a device that was pulled out: Linux fs/kernfs/file.c; a file that was made shorter) ends a process
//! by SIGBUS. Here it reads as all ones from then on, as a bus does where nobody answers.
#![allow(
    unsafe_code,
    reason = "device memory is mapped and reached through raw pointers, and SIGBUS has a handler"
)]

mod lost;
pub(crate) mod vfio;

use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::ptr::NonNull;

use kernel::bar::Bar;
use kernel::io::Io;
use memmap2::{MmapOptions, MmapRaw};
use nix::libc::c_void;
use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::Using;
use lost::Watch;

/// A mapped BAR.
pub struct Window {
    bar: Bar,
    using: Using,
    // Before the mapping, which must not be taken for another's once it has gone.
    watch: Watch,
    _map: MmapRaw,
}

impl Window {
    /// Maps `len` bytes of a file from a multiple of the page size on; it has so many.
    pub(crate) fn new(file: &File, offset: u64, len: usize, using: Using) -> io::Result<Self> {
        let mut options = MmapOptions::new();
        let options = options.offset(offset).len(len);
        let map = match using {
            Using::Reading => options.map_raw_read_only(file)?,
            Using::Driving => options.map_raw(file)?,
        };
        let watch = Watch::new(map.as_ptr().expose_provenance(), len)?;
        // SAFETY: the mapping lies at this address as long as the window, and is writable unless `using` says that nothing is
        // written, which `write32` sees to. A page of the file that goes away is replaced by memory: see `lost`.
        let bar = unsafe { Bar::new(map.as_mut_ptr(), len) };
        let bar = bar.map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(Window {
            bar,
            using,
            watch,
            _map: map,
        })
    }

    /// Whether the device, or a part of its file, has gone since it was mapped.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.watch.is_lost()
    }
}

impl Io for Window {
    fn read32(&self, offset: usize) -> u32 {
        self.bar.read32(offset)
    }

    fn write32(&self, value: u32, offset: usize) {
        if self.using == Using::Driving {
            self.bar.write32(value, offset);
        }
    }
}

/// Memory of this process that a device reads and writes while it is used here.
pub(crate) struct Memory {
    start: NonNull<c_void>,
    len: usize,
}

// SAFETY: the memory belongs to no thread, and bytes are copied in and out without references to them.
unsafe impl Send for Memory {}
// SAFETY: as above. Two threads that copy to one place at a time leave either's bytes there, as devices do.
unsafe impl Sync for Memory {}

/// Bytes of a line of the caches of x86-64.
const LINE: usize = 64;

impl Memory {
    /// Zeroed memory in pages of 2 MiB, which the kernel does not move.
    pub(crate) fn huge(len: NonZeroUsize) -> io::Result<Self> {
        Self::map(
            len,
            MapFlags::MAP_HUGETLB
                | MapFlags::MAP_HUGE_2MB
                | MapFlags::MAP_POPULATE
                | MapFlags::MAP_LOCKED,
        )
    }

    /// Zeroed memory in ordinary pages.
    pub(crate) fn plain(len: NonZeroUsize) -> io::Result<Self> {
        Self::map(len, MapFlags::empty())
    }

    fn map(len: NonZeroUsize, flags: MapFlags) -> io::Result<Self> {
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // Shared: after a fork the pages of private memory would be copied at the next write, and the device would keep the old ones.
        let flags = MapFlags::MAP_SHARED | flags;
        // SAFETY: new memory at an address of the system's choice.
        let start = unsafe { mmap_anonymous(None, len, access, flags) }?;
        let len = len.get();
        Ok(Memory { start, len })
    }

    /// Address of the first byte in this process.
    pub(crate) fn address(&self) -> usize {
        self.start.as_ptr().expose_provenance()
    }

    /// Bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Where a range lies, when it is inside.
    fn range(&self, at: usize, len: usize) -> Option<*mut u8> {
        let end = at.checked_add(len)?;
        // SAFETY: `at` is at most the length of the memory.
        (end <= self.len).then(|| unsafe { self.start.as_ptr().cast::<u8>().add(at) })
    }

    /// Copies bytes from `at` on as the device has left them; false when some lie outside.
    pub(crate) fn read(&self, at: usize, into: &mut [u8]) -> bool {
        let Some(from) = self.range(at, into.len()) else {
            return false;
        };
        flush(from, into.len());
        // SAFETY: the range is inside, and `into` is memory of nobody else.
        unsafe { std::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) };
        true
    }

    /// Copies bytes to `at` for the device to see; false, and nothing is copied, when some would lie outside.
    pub(crate) fn write(&self, at: usize, from: &[u8]) -> bool {
        let Some(to) = self.range(at, from.len()) else {
            return false;
        };
        // SAFETY: as in `read`.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
        flush(to, from.len());
        true
    }

    /// Makes bytes zero; false when some lie outside.
    pub(crate) fn clear(&self, at: usize, len: usize) -> bool {
        let Some(to) = self.range(at, len) else {
            return false;
        };
        // SAFETY: the range is inside.
        unsafe { std::ptr::write_bytes(to, 0, len) };
        flush(to, len);
        true
    }
}

/// Brings the lines of a range to memory and out of the caches: devices without a cache in common with the processor do not look into
/// its caches for pages of the GTT (i915 `drm_clflush_virt_range`).
#[cfg(target_arch = "x86_64")]
fn flush(start: *mut u8, len: usize) {
    use core::arch::x86_64::{_mm_clflush, _mm_mfence};
    if len == 0 {
        return;
    }
    let before = start.addr() % LINE;
    // SAFETY: every processor of this architecture has both. Each line has a byte of the range in it, so that it is mapped.
    unsafe {
        _mm_mfence();
        let mut at = 0;
        while at < before + len {
            let byte = at.saturating_sub(before).min(len - 1);
            _mm_clflush(start.add(byte));
            at += LINE;
        }
        _mm_mfence();
    }
}

/// Where DMA and caches agree by themselves.
#[cfg(not(target_arch = "x86_64"))]
fn flush(_: *mut u8, _: usize) {
    let _ = LINE;
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the memory was mapped here, with this length, and nobody refers to it any more.
        let _ = unsafe { munmap(self.start, self.len) };
    }
}

#[cfg(test)]
mod tests;
