//! Copies of batches that wait for further batches.
//!
//! i915 `gt/intel_gt_buffer_pool.c`. Not modelled: copies that are given back after a while without use.
use alloc::vec::Vec;

use kernel::dma::PAGE_SIZE;
use kernel::sync::SpinLock;

use crate::core::gem::Object;

/// Bytes of copies that are kept for further batches.
const KEPT: usize = 8 << 20;
/// A copy is used for batches that take at least this part of it.
const PART: usize = 4;

/// Copies of a device, in use or not.
#[derive(Default)]
pub(crate) struct Pool(SpinLock<Vec<Object>>);

impl Pool {
    /// A copy with room for so many bytes that no request uses, if there is one.
    pub(crate) fn find(&self, bytes: usize) -> Option<Object> {
        let copies = self.0.lock();
        let fits = |copy: &&Object| {
            let size = copy.size();
            size >= bytes && (size <= PAGE_SIZE || size / PART <= bytes)
        };
        let mut fitting = copies.iter().filter(fits);
        fitting.find(|copy| !copy.is_busy(false)).cloned()
    }

    /// Keeps a copy for later.
    pub(crate) fn keep(&self, copy: &Object) {
        let spare: Vec<Object> = {
            let mut copies = self.0.lock();
            let all: usize = copies.iter().map(Object::size).sum();
            let spare = if all > KEPT {
                copies.extract_if(.., |copy| !copy.is_busy(false)).collect()
            } else {
                Vec::new()
            };
            copies.push(copy.clone());
            spare
        };
        // Unbound outside of the lock.
        drop(spare);
    }
}
