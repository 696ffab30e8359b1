//! Commands of G45 and GM45 that differ from those of the 965.
//!
//! Layouts from the tables of `regs`.
use regs::gen45::MiFlush;

use crate::emit::Sink;

/// The commands, on every sink.
pub trait Commands: Sink {
    /// MI_FLUSH that invalidates the state and instruction caches and the indirect state pointers
    /// (i915 `MI_EXE_FLUSH | MI_INVALIDATE_ISP`).
    fn flush_invalidate(&mut self) {
        let command = MiFlush::new()
            .with_state_instruction_cache_invalidate(1)
            .with_indirect_state_pointers_disable(true);
        self.put(command.dwords());
    }
}

impl<S: Sink + ?Sized> Commands for S {}
