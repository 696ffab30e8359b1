//! Commands that Ironlake has beside those of G45.
//!
//! Layouts from the tables of `regs`.
use regs::gen50::MiSuspendFlush;

use crate::emit::Sink;

/// The commands, on every sink.
pub trait Commands: Sink {
    /// MI_SUSPEND_FLUSH: until it is given again with `false`, flushes wait.
    fn suspend_flush(&mut self, suspend: bool) {
        let command = MiSuspendFlush::new().with_suspend_flush(suspend);
        self.put(command.dwords());
    }
}

impl<S: Sink + ?Sized> Commands for S {}
