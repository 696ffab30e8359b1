//! Locks, atomics and reference counts for code that may run on several threads.
//!
//! Not modelled: sleeping locks, lock dependency checks, interrupt-disabling variants.
pub use alloc::sync::Arc;
pub use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// A spinning mutual exclusion lock.
///
/// Never hold one across a call that can make the device run ([`Io::write32`](crate::io::Io::write32),
/// [`Clock::relax`](crate::time::Clock::relax)) when an interrupt handler takes the same lock.
pub use spin::mutex::SpinMutex as SpinLock;
