//! Handles of this library's descriptors, and places for them that threads share.
//!
//! `tests/handlers.rs` runs this file with a handler of a signal at each of its steps.

use crate::atomics::{AtomicI32, Ordering};

/// A descriptor of this library; not its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Handle(i32);

impl Handle {
    /// Names no descriptor.
    pub const NONE: Handle = Handle(-1);

    /// One that names a row of the table.
    pub(super) const fn of(value: i32) -> Self {
        Handle(value)
    }

    /// What names the row; `None` for [`Handle::NONE`].
    pub(super) fn get(self) -> Option<u32> {
        u32::try_from(self.0).ok()
    }
}

/// A place for a handle.
pub struct AtomicHandle(AtomicI32);

impl AtomicHandle {
    /// One with [`Handle::NONE`] in it.
    pub const fn empty() -> Self {
        AtomicHandle(AtomicI32::new(Handle::NONE.0))
    }

    /// The handle in it; `None` for [`Handle::NONE`].
    pub fn load(&self, order: Ordering) -> Option<Handle> {
        Self::some(self.0.load(order))
    }

    pub fn store(&self, handle: Handle, order: Ordering) {
        self.0.store(handle.0, order);
    }

    /// Takes the handle out.
    pub fn take(&self, order: Ordering) -> Option<Handle> {
        Self::some(self.0.swap(Handle::NONE.0, order))
    }

    fn some(value: i32) -> Option<Handle> {
        Some(Handle(value)).filter(|handle| *handle != Handle::NONE)
    }
}
