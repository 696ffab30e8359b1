//! `Io` on a mapped PCI BAR: the only module with unsafe code.
//!
//! Volatile cells come from `volatile-register`, which dereferences the address that it is given.
//! Not modelled: write combining, byte order other than the host's.
#![allow(unsafe_code, reason = "device memory is reached through raw pointers")]
use core::mem::{align_of, size_of};

use volatile_register::RW;

use crate::error::{Result, code::EINVAL};
use crate::io::Io;

/// A mapped memory BAR.
pub struct Bar {
    base: usize,
    len: usize,
}

impl Bar {
    /// Wraps `len` bytes of device memory mapped at `base`.
    ///
    /// Returns `EINVAL` when `base` is null, not aligned to a register, or the range wraps.
    ///
    /// # Safety
    ///
    /// `base..base + len` must be mapped device memory, readable by this process for as long as the `Bar` lives, and
    /// writable as well if anything is written through it.
    pub unsafe fn new(base: *mut u8, len: usize) -> Result<Self> {
        let base = base.expose_provenance();
        if base == 0 || !base.is_multiple_of(align_of::<u32>()) || base.checked_add(len).is_none() {
            return Err(EINVAL);
        }
        Ok(Bar { base, len })
    }

    fn cell(&self, offset: usize) -> Option<&RW<u32>> {
        let end = offset.checked_add(size_of::<u32>())?;
        if end > self.len || !offset.is_multiple_of(align_of::<u32>()) {
            return None;
        }
        let address = core::ptr::with_exposed_provenance::<RW<u32>>(self.base.wrapping_add(offset));
        // SAFETY: `new` was promised that base..base+len is mapped while `self` lives; the register lies inside it,
        // is aligned (base and offset are multiples of 4), and `RW<u32>` is a transparent cell over any u32.
        unsafe { address.as_ref() }
    }
}

impl Io for Bar {
    fn read32(&self, offset: usize) -> u32 {
        self.cell(offset).map_or(u32::MAX, RW::read)
    }

    fn write32(&self, value: u32, offset: usize) {
        if let Some(cell) = self.cell(offset) {
            // SAFETY: writing a register has effects on the device only; the driver above decides which it wants.
            unsafe { cell.write(value) }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn reads_and_writes_stay_inside_the_mapping() {
        let mut block = [0u32; 4];
        // SAFETY: the array outlives the `Bar` and is not touched otherwise meanwhile.
        let bar = unsafe { Bar::new(block.as_mut_ptr().cast(), 16) }.unwrap();
        bar.write32(0x1234, 8);
        assert_eq!(bar.read32(8), 0x1234);
        assert_eq!(bar.read32(16), u32::MAX);
        assert_eq!(bar.read32(2), u32::MAX);
        assert_eq!(bar.read32(usize::MAX), u32::MAX);
        bar.write32(7, 14);
        assert_eq!(bar.read32(12), 0);
    }
}
