//! Commands of Sandy Bridge that differ from those of Ironlake.
//!
//! Layouts from the tables of `regs`, lengths as i915 `gt/gen6_engine_cs.c` emits them. Not modelled: commands that the
//! driver never emits.
use regs::gen60::{
    MiBatchBufferStart, MiFlushDw, MiLoadRegisterImm, MiStoreRegisterMem, PipeControl,
};

use crate::emit::Sink;

/// MI_FLUSH_DW post-sync operation: immediate data (i915 `MI_FLUSH_DW_OP_STOREDW`).
const STORE: u32 = 1;
/// MI_FLUSH_DW destination address type: global GTT (i915 `MI_FLUSH_DW_USE_GTT`).
const GLOBAL: u32 = 1;
/// MI_BATCH_BUFFER_START address space: that of the process (i915 `MI_BATCH_NON_SECURE_I965`).
const PROCESS: u32 = 1;

/// What an MI_FLUSH_DW makes the engine forget.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Forgets {
    /// Translations of addresses (i915 `MI_INVALIDATE_TLB`).
    pub translations: bool,
    /// Caches of the video pipeline (i915 `MI_INVALIDATE_BSD`).
    pub video: bool,
}

/// The commands, on every sink.
pub trait Commands: Sink {
    /// PIPE_CONTROL with one dword of data.
    fn pipe_control(&mut self, command: PipeControl) {
        let short = command.with_dword_length(2);
        self.put(short.dwords().get(..4).unwrap_or_default());
    }

    /// PIPE_CONTROL with two dwords of data.
    fn pipe_control_long(&mut self, command: PipeControl) {
        self.put(command.with_dword_length(3).dwords());
    }

    /// MI_FLUSH_DW: afterwards `value` goes to byte `offset` of the hardware status page.
    fn flush_store_index(&mut self, offset: u32, value: u32, forgets: Forgets) {
        let command = MiFlushDw::new()
            .with_dword_length(1)
            .with_store_data_index(true)
            .with_post_sync_operation(STORE)
            .with_tlb_invalidate(forgets.translations)
            .with_video_pipeline_cache_invalidate(forgets.video)
            .with_destination_address_type(GLOBAL)
            .with_address(offset)
            .with_immediate_data(value.into());
        self.put(command.dwords().get(..3).unwrap_or_default());
    }

    /// MI_LOAD_REGISTER_IMM of one register.
    fn load_register(&mut self, register: u32, value: u32) {
        let command = MiLoadRegisterImm::new()
            .with_register_offset(register)
            .with_data_dword(value);
        self.put(command.dwords());
    }

    /// MI_STORE_REGISTER_MEM to an address of the global GTT.
    fn store_register(&mut self, register: u32, address: u32) {
        let command = MiStoreRegisterMem::new()
            .with_use_global_gtt(true)
            .with_register_address(register)
            .with_memory_address(address);
        self.put(command.dwords());
    }

    /// MI_BATCH_BUFFER_START; in the space of the process privileged commands are left out.
    fn batch_start(&mut self, address: u32, process: bool) {
        let command = MiBatchBufferStart::new()
            .with_address_space_indicator(if process { PROCESS } else { 0 })
            .with_batch_buffer_start_address(address);
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
        out.pipe_control(PipeControl::new().with_command_streamer_stall_enable(true));
        out.pipe_control_long(PipeControl::new());
        out.flush_store_index(0x100, 7, Forgets::default());
        let all = Forgets {
            translations: true,
            video: true,
        };
        out.flush_store_index(0x200, 0, all);
        out.load_register(0x2220, !0);
        out.store_register(0x2228, 0x7000);
        out.batch_start(0x0010_4008, true);
        out.batch_start(0x0010_4008, false);
        assert_eq!(
            out,
            [
                0x7a00_0002,
                1 << 20,
                0,
                0,
                0x7a00_0003,
                0,
                0,
                0,
                0,
                0x1320_4001,
                0x104,
                7,
                0x1324_4081,
                0x204,
                0,
                0x1100_0001,
                0x2220,
                !0,
                0x1240_0001,
                0x2228,
                0x7000,
                0x1880_0100,
                0x0010_4008,
                0x1880_0000,
                0x0010_4008,
            ]
        );
    }
}
