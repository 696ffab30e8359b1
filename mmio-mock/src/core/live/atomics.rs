//! What the small concurrent pieces are made of.
//!
//! Their models put something else in its place.

pub use std::hint::spin_loop as spin;
pub use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
pub use std::sync::{Mutex, PoisonError};
pub use std::thread::yield_now as give_way;
pub use std::time::Instant;

/// Looks at a flag before the scheduler is asked to run somebody else.
pub const LOOKS: u32 = 32;
/// After so many looks a waiter goes to sleep on the lock.
pub const PATIENCE: u32 = 20_000;
/// Register writes that may wait for the device's thread; whoever comes to more carries them out.
pub const MAX_POSTED: usize = 64;
