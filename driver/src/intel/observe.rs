//! Who looks at submissions before the device does.
//!
//! Recorders and what keeps other views of objects current; a kernel has tracepoints here.
use alloc::sync::Arc;

use kernel::sync::SpinLock;

use crate::core::gem::Object;

/// An object of a submission.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    /// The object.
    pub object: &'a Object,
    /// Its graphics address.
    pub address: u32,
    /// Whether user space said that the device writes it.
    pub write: bool,
}

/// A submission whose objects are in place and relocated, about to be queued.
#[derive(Clone, Copy, Debug)]
pub struct Queued<'a> {
    /// The objects in the order of the list.
    pub objects: &'a [Placed<'a>],
    /// Which of them holds the batch.
    pub batch: usize,
    /// Byte offset of the first command in it.
    pub start: u32,
    /// Bytes of commands, 0 up to the end of the object.
    pub len: u32,
}

/// Somebody who wants to know.
pub trait Observer: Send + Sync {
    /// Called when a submission has come in, with its objects: contents that the CPU has written by now must be there
    /// when it returns. No lock of the driver and no turn is held, so this may take its time; several calls at a time.
    fn arrives(&self, _objects: &mut dyn Iterator<Item = &Object>) {}

    /// Called before each submission of user space, one call at a time. Others wait for their turn meanwhile.
    fn before(&self, queued: &Queued<'_>);

    /// Called when the submission is in the ring and its objects are marked as busy with it.
    fn after(&self, _queued: &Queued<'_>) {}
}

/// The observer of a device, if there is one.
#[derive(Default)]
pub(crate) struct Slot(SpinLock<Option<Arc<dyn Observer>>>);

impl Slot {
    pub(crate) fn set(&self, observer: Option<Arc<dyn Observer>>) {
        let old = core::mem::replace(&mut *self.0.lock(), observer);
        drop(old);
    }

    pub(crate) fn get(&self) -> Option<Arc<dyn Observer>> {
        self.0.lock().clone()
    }
}
