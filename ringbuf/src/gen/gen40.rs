//! Typed memory interface commands of the 965 family.
//!
//! PRM vol1 "Memory Interface Commands", PRM vol2 PIPE_CONTROL; layouts from the tables of `regs`.
//! Not modelled: commands that the driver never emits.
use regs::gen40::values::post_sync_operation::WRITE_IMMEDIATE_DATA;
use regs::gen40::{
    MiBatchBufferStart, MiFlush, MiSetContext, MiStoreDataIndex, MiUserInterrupt, PipeControl,
};

use crate::emit::Sink;

/// MI_BATCH_BUFFER_START memory space: graphics addresses, translated by the global GTT (i915 `MI_BATCH_GTT`).
const SPACE_GTT: u32 = 2;
/// MI_SET_CONTEXT memory space: graphics addresses (i915 `MI_MM_SPACE_GTT`).
const CONTEXT_GTT: u32 = 1;
/// PIPE_CONTROL destination address type: global GTT (i915 `PIPE_CONTROL_GLOBAL_GTT`).
const DESTINATION_GTT: u32 = 1;

/// Bits of MI_FLUSH.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlushBits {
    /// State and instruction caches are invalidated too.
    pub state_instruction_invalidate: bool,
    /// The render cache is not written back.
    pub render_cache_inhibit: bool,
    /// The snapshot counters of all units restart at 0 (PRM vol4 3.2.1).
    pub snapshot_count_reset: bool,
}

/// The typed commands, on every sink.
pub trait Commands: Sink {
    /// MI_FLUSH.
    fn flush(&mut self, bits: FlushBits) {
        let command = MiFlush::new()
            .with_state_instruction_cache_invalidate(bits.state_instruction_invalidate.into())
            .with_render_cache_flush_inhibit(bits.render_cache_inhibit.into())
            .with_global_snapshot_count_reset(bits.snapshot_count_reset.into());
        self.put(command.dwords());
    }

    /// MI_USER_INTERRUPT.
    fn user_interrupt(&mut self) {
        self.put(MiUserInterrupt::new().dwords());
    }

    /// MI_STORE_DATA_INDEX: `value` goes to byte `offset` of the hardware status page.
    fn store_data_index(&mut self, offset: u32, value: u32) {
        let command = MiStoreDataIndex::new()
            .with_offset(offset)
            .with_data_dword_0(value);
        // The table has room for a second data dword; the header's default length is that of one.
        self.put(command.dwords().get(..3).unwrap_or_default());
    }

    /// MI_SET_CONTEXT to the image at a graphics address, all of the state; `inhibit` does not load it.
    fn set_context(&mut self, address: u32, inhibit: bool) {
        let command = MiSetContext::new()
            .with_memory_space_select(CONTEXT_GTT)
            .with_extended_state_save_enable(true)
            .with_extended_state_restore_enable(true)
            .with_restore_inhibit(inhibit)
            .with_logical_context_address(address);
        self.put(command.dwords());
    }

    /// MI_BATCH_BUFFER_START at a graphics address; `non_secure` keeps privileged commands out of the batch.
    fn batch_buffer_start(&mut self, address: u32, non_secure: bool) {
        let command = MiBatchBufferStart::new()
            .with_memory_space_select(SPACE_GTT)
            .with_buffer_security_indicator(non_secure.into())
            .with_batch_buffer_start_address(address);
        self.put(command.dwords());
    }

    /// PIPE_CONTROL writing `value` to a graphics address.
    fn pipe_control_write(&mut self, address: u32, value: u64) {
        let command = PipeControl::new()
            .with_post_sync_operation(WRITE_IMMEDIATE_DATA)
            .with_destination_address_type(DESTINATION_GTT)
            .with_address(address)
            .with_immediate_data(value);
        self.put(command.dwords());
    }
}

impl<S: Sink + ?Sized> Commands for S {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Literal dwords of i915 `intel_gpu_commands.h`.
    #[test]
    fn commands_are_the_documented_dwords() {
        let mut out = Vec::new();
        out.flush(FlushBits {
            state_instruction_invalidate: true,
            render_cache_inhibit: true,
            snapshot_count_reset: true,
        });
        out.user_interrupt();
        out.store_data_index(0x100, 0xdead_beef);
        out.batch_buffer_start(0x0010_4008, true);
        out.batch_buffer_start(0x0010_4008, false);
        out.pipe_control_write(0x7000, 0x1_0000_0002);
        assert_eq!(
            out,
            [
                0x0200_000e,
                0x0100_0000,
                0x1080_0001,
                0x100,
                0xdead_beef,
                0x1880_0180,
                0x0010_4008,
                0x1880_0080,
                0x0010_4008,
                0x7a00_4002,
                0x7004,
                2,
                1,
            ]
        );
    }
}
