//! What the small concurrent pieces are made of.
//!
//! Their models put something else in its place.

pub use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};

pub use crate::sys::give_way;
