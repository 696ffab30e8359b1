//! What the small concurrent pieces are made of.
//!
//! Their models put something else in its place.

pub use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};

pub use crate::sys::give_way;
