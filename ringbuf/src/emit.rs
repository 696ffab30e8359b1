//! Typed command emission into ring reservations and batches.
//!
//! PRM vol1 "Memory Interface Commands", PRM vol2 for the typed commands of `regs`. Not modelled: validation.
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

    /// MI_FLUSH with the given bits.
    fn flush(&mut self, bits: u32) {
        self.put(&[mi::FLUSH | bits]);
    }

    /// MI_USER_INTERRUPT.
    fn user_interrupt(&mut self) {
        self.put(&[mi::USER_INTERRUPT]);
    }

    /// MI_STORE_DATA_INDEX: `value` goes to byte `offset` of the hardware status page.
    fn store_data_index(&mut self, offset: u32, value: u32) {
        self.put(&[mi::STORE_DATA_INDEX, offset, value]);
    }

    /// MI_BATCH_BUFFER_START at a graphics address, with the given bits.
    fn batch_buffer_start(&mut self, address: u32, bits: u32) {
        self.put(&[mi::BATCH_BUFFER_START | bits, address]);
    }

    /// MI_BATCH_BUFFER_END.
    fn batch_buffer_end(&mut self) {
        self.put(&[mi::BATCH_BUFFER_END]);
    }

    /// PIPE_CONTROL writing `value` to a graphics address.
    fn pipe_control_write(&mut self, address: u32, value: u64) {
        self.put(&[
            mi::PIPE_CONTROL | mi::PIPE_CONTROL_QW_WRITE,
            address | mi::PIPE_CONTROL_GLOBAL_GTT,
            value as u32,
            (value >> 32) as u32,
        ]);
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
