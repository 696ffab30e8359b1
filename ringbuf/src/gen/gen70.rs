//! Commands of ValleyView that differ from those of Sandy Bridge.
//!
//! Layouts from the tables of `regs`, lengths as i915 `gt/gen6_engine_cs.c` and `gt/intel_ring_submission.c` emit them. Not modelled: commands
//! that the driver never emits.
use regs::gen70::{MiArbOnOff, MiFlushDw, PipeControl};

use crate::emit::Sink;

/// MI_LOAD_REGISTER_IMM without its length (i915 `MI_LOAD_REGISTER_IMM`).
const LOAD_REGISTER_IMM: u32 = 0x22 << 23;

/// The commands, on every sink.
pub trait Commands: Sink {
    /// PIPE_CONTROL with one dword of data.
    fn pipe_control(&mut self, command: PipeControl) {
        let short = command.with_dword_length(2);
        self.put(short.dwords().get(..4).unwrap_or_default());
    }

    /// MI_FLUSH_DW that writes nothing.
    fn flush_dw(&mut self) {
        let command = MiFlushDw::new().with_dword_length(1);
        self.put(command.dwords().get(..3).unwrap_or_default());
    }

    /// MI_ARB_ON_OFF: whether another context may take the engine.
    fn arbitration(&mut self, on: bool) {
        let command = MiArbOnOff::new().with_arbitration_enable(on);
        self.put(command.dwords());
    }

    /// MI_LOAD_REGISTER_IMM of registers and their values, 127 at most.
    fn load_registers(&mut self, pairs: &[(u32, u32)]) {
        let pairs = pairs.get(..127).unwrap_or(pairs);
        // CAST: at most 127.
        let length = (pairs.len() as u32 * 2).saturating_sub(1);
        self.put(&[LOAD_REGISTER_IMM | length]);
        for (register, value) in pairs {
            self.put(&[*register, *value]);
        }
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
        out.pipe_control(
            PipeControl::new()
                .with_command_streamer_stall_enable(true)
                .with_pipe_control_flush_enable(true)
                .with_destination_address_type(1)
                .with_address(0x7000)
                .with_immediate_data(5),
        );
        out.flush_dw();
        out.arbitration(false);
        out.arbitration(true);
        out.load_registers(&[(0x5280, 0), (0x5284, 7)]);
        assert_eq!(
            out,
            [
                0x7a00_0002,
                1 << 24 | 1 << 20 | 1 << 7,
                0x7000,
                5,
                0x1300_0001,
                0,
                0,
                0x0400_0000,
                0x0400_0001,
                0x1100_0003,
                0x5280,
                0,
                0x5284,
                7,
            ]
        );
    }
}
