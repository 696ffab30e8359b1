//! What the small concurrent pieces are made of.
//!
//! Their models put something else in its place.

pub use core::sync::atomic::{AtomicU32, Ordering};
