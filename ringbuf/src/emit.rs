//! Emission of commands into ring reservations and batches.
//!
//! PRM vol1 "Memory Interface Commands". The typed commands of a generation are in its own module.
//! Not modelled: validation.
use alloc::vec::Vec;

use crate::mi;
use crate::reserve::Reservation;

/// Something that takes command dwords in order.
pub trait Sink {
    /// Appends dwords.
    fn put(&mut self, dwords: &[u32]);

    /// MI_NOOP.
    fn noop(&mut self) {
        self.put(&[mi::NOOP]);
    }

    /// MI_BATCH_BUFFER_END.
    fn batch_buffer_end(&mut self) {
        self.put(&[mi::BATCH_BUFFER_END]);
    }
}

impl Sink for Reservation<'_> {
    fn put(&mut self, dwords: &[u32]) {
        self.emit(dwords);
    }
}

impl Sink for Vec<u32> {
    fn put(&mut self, dwords: &[u32]) {
        self.extend_from_slice(dwords);
    }
}
