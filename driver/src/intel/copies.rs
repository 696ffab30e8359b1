//! Copies of batches that wait for further batches.
//!
//! i915 `gt/intel_gt_buffer_pool.c`. Not modelled: copies that are given back after a while without use.
use alloc::vec::Vec;

use kernel::dma::PAGE_SIZE;
use kernel::sync::SpinLock;

use crate::core::gem::Object;

/// Bytes of copies that are kept for further batches: some dozens of Mesa's.
const KEPT: usize = 1 << 20;
/// A copy is used for batches that take at least this part of it.
const PART: usize = 4;

/// Copies of a device, in use or not.
#[derive(Default)]
pub(crate) struct Pool(SpinLock<Vec<Object>>);

impl Pool {
    /// Takes a copy with room for so many bytes that no request uses, if there is one.
    pub(crate) fn take(&self, bytes: usize) -> Option<Object> {
        let mut copies = self.0.lock();
        let fits = |copy: &Object| {
            let size = copy.size();
            size >= bytes && (size <= PAGE_SIZE || size / PART <= bytes)
        };
        let index = (copies.iter()).position(|copy| fits(copy) && !copy.is_busy(false))?;
        Some(copies.swap_remove(index))
    }

    /// Keeps a copy for later, when its request has ended.
    pub(crate) fn keep(&self, copy: &Object) {
        let all: usize = {
            let mut copies = self.0.lock();
            copies.push(copy.clone());
            copies.iter().map(Object::size).sum()
        };
        if all > KEPT {
            self.give_back();
        }
    }

    /// Gives copies back that no request uses.
    pub(crate) fn give_back(&self) {
        let idle = |copy: &mut Object| !copy.is_busy(false);
        let spare: Vec<Object> = self.0.lock().extract_if(.., idle).collect();
        // Unbound outside of the lock.
        drop(spare);
    }
}
