//! Locks, atomics and reference counts for code that may run on several threads.
//!
//! Not modelled: lock dependency checks, interrupt-disabling variants, waiting that a signal ends.
mod completion;

use crate::time::Clock;

pub use self::completion::Completion;
pub use alloc::sync::Arc;
pub use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// A spinning mutual exclusion lock; with feature `std` it yields between two looks, because its holder may not be running.
///
/// Never hold one across a call that can make the device run ([`Io::write32`](crate::io::Io::write32),
/// [`Clock::relax`](crate::time::Clock::relax)) when an interrupt handler takes the same lock, and none at all while
/// waiting for the device: that is what [`Mutex`] is for.
#[cfg(not(feature = "std"))]
pub type SpinLock<T> = spin::mutex::SpinMutex<T>;

/// A spinning mutual exclusion lock; with feature `std` it yields between two looks, because its holder may not be running.
///
/// Never hold one across a call that can make the device run ([`Io::write32`](crate::io::Io::write32),
/// [`Clock::relax`](crate::time::Clock::relax)) when an interrupt handler takes the same lock, and none at all while
/// waiting for the device: that is what [`Mutex`] is for.
#[cfg(feature = "std")]
pub type SpinLock<T> = spin::mutex::SpinMutex<T, spin::relax::Yield>;

#[cfg(not(feature = "std"))]
type Lock<T> = spin::mutex::SpinMutex<T>;
#[cfg(feature = "std")]
type Lock<T> = std::sync::Mutex<T>;

/// What holds a [`Mutex`].
#[cfg(not(feature = "std"))]
pub type MutexGuard<'a, T> = spin::mutex::SpinMutexGuard<'a, T>;
/// What holds a [`Mutex`].
#[cfg(feature = "std")]
pub type MutexGuard<'a, T> = std::sync::MutexGuard<'a, T>;

/// A sleeping mutual exclusion lock: it may be held while waiting for the device. Not for interrupt handlers.
///
/// Without feature `std` there is nobody to sleep with: who waits lets time pass on a clock.
#[derive(Debug, Default)]
pub struct Mutex<T>(Lock<T>);

impl<T> Mutex<T> {
    /// A lock around a value.
    pub const fn new(value: T) -> Self {
        Mutex(Lock::new(value))
    }

    /// Takes the lock.
    #[cfg(feature = "std")]
    pub fn lock(&self, _: &dyn Clock) -> MutexGuard<'_, T> {
        let guard = self.0.lock();
        guard.unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Takes the lock.
    #[cfg(not(feature = "std"))]
    pub fn lock(&self, clock: &dyn Clock) -> MutexGuard<'_, T> {
        /// Longest time between two looks.
        const MAX_STEP: crate::time::Delta = crate::time::Delta::from_micros(64);
        let mut step = crate::time::Delta::from_micros(1);
        loop {
            if let Some(guard) = self.0.try_lock() {
                return guard;
            }
            clock.relax(step);
            step = (step + step).min(MAX_STEP);
        }
    }
}
