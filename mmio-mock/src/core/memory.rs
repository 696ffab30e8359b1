//! Graphics memory, shared by the device and the CPU's view of it.
//!
//! What the memory consists of is the crate `mem`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Graphics memory, shared with the CPU's view of it.
pub type SharedMemory = Arc<Mutex<mem::Memory>>;

/// Locks the memory; a panic elsewhere leaves it usable.
pub fn lock(memory: &SharedMemory) -> MutexGuard<'_, mem::Memory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}
