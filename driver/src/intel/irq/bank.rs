//! Mask, enable and identity registers of one set of interrupts.
//!
//! Orders of i915 `i915_irq.c` (`gen3_irq_reset`, `gen3_irq_init`).
use kernel::pr_warn;

use crate::intel::r#gen::InterruptBank;
use crate::intel::uncore::Uncore;

/// The registers of a bank on a device.
#[derive(Clone, Copy)]
pub struct Bank<'a> {
    uncore: &'a Uncore,
    at: InterruptBank,
}

impl<'a> Bank<'a> {
    /// The registers at the offsets of `at`.
    pub fn new(uncore: &'a Uncore, at: InterruptBank) -> Self {
        Bank { uncore, at }
    }

    fn write(self, offset: u32, value: u32) {
        self.uncore.io().write32(value, offset as usize);
    }

    fn posting_read(self, offset: u32) {
        self.uncore.io().posting_read(offset as usize);
    }

    /// Masks everything and clears what is pending.
    pub fn reset(self) {
        self.write(self.at.imr, u32::MAX);
        self.posting_read(self.at.imr);
        self.write(self.at.ier, 0);
        // IIR can hold back a second event behind the first.
        for _ in 0..2 {
            self.write(self.at.iir, u32::MAX);
            self.posting_read(self.at.iir);
        }
    }

    /// Enables the interrupts of `enable`; those of `mask` stay masked.
    pub fn init(self, enable: u32, mask: u32) {
        let pending = self.pending();
        if pending != 0 {
            pr_warn!("IIR is not clear after its reset: {pending:#010x}");
        }
        self.write(self.at.ier, enable);
        self.write(self.at.imr, mask);
        self.posting_read(self.at.imr);
    }

    /// Changes what is enabled.
    pub fn enable(self, enable: u32) {
        self.write(self.at.ier, enable);
    }

    /// Changes what is masked.
    pub fn mask(self, mask: u32) {
        self.write(self.at.imr, mask);
    }

    /// The same, and waits until the device has seen it.
    pub fn mask_now(self, mask: u32) {
        self.mask(mask);
        self.posting_read(self.at.imr);
    }

    /// Interrupts that are not masked and have not been acknowledged.
    pub fn pending(self) -> u32 {
        self.uncore.io().read32(self.at.iir as usize)
    }

    /// Clears interrupts.
    pub fn acknowledge(self, bits: u32) {
        self.write(self.at.iir, bits);
    }
}
