//! Interrupts and error status: the registers of a device's row, and ESR, EMR, EIR.
//!
//! PRM: volume 1, interrupt control registers; i915 i915_reg.h for the bits.
//! Not modelled: display interrupts, MSI.

mod registers;

use regs::ids::RegId;

use crate::intel::registers::RegFile;

pub use registers::{Cause, Registers};

/// The bit of ESR, EMR and EIR that is the same on all devices (tables of `regs`).
pub mod error {
    use regs::any::fields::ESR;

    /// The instruction parser refused an instruction.
    pub const INSTRUCTION: u32 = ESR::INSTRUCTION_ERROR.mask << ESR::INSTRUCTION_ERROR.shift;
}

impl Registers {
    /// An event happened: it shows in ISR, and in IIR unless IMR masks it.
    pub fn raise(&self, regs: &mut RegFile, cause: Cause) {
        self.raise_bits(regs, self.bit(cause));
    }

    /// The same of an event that has its bit in another row: the user interrupt of an engine.
    pub fn raise_bits(&self, regs: &mut RegFile, bit: u32) {
        let unmasked = bit & !regs.get(self.imr);
        regs.set(self.isr, regs.get(self.isr) | bit);
        regs.set(self.iir, regs.get(self.iir) | unmasked);
    }

    /// The signal behind an event is down: it no longer shows in ISR; what IIR has latched stays.
    pub fn fall(&self, regs: &mut RegFile, cause: Cause) {
        let isr = regs.get(self.isr);
        if isr & self.bit(cause) != 0 {
            regs.set(self.isr, isr & !self.bit(cause));
        }
    }

    /// An error happened: it shows in ESR, in EIR unless masked, and then as the master error.
    pub fn raise_error(&self, regs: &mut RegFile, bits: u32) {
        regs.set(RegId::Esr, regs.get(RegId::Esr) | bits);
        self.settle_errors(regs);
    }

    /// Recomputes EIR and the master error bit after a write to EMR or EIR, or a new error.
    pub fn settle_errors(&self, regs: &mut RegFile) {
        let eir = regs.get(RegId::Eir) | (regs.get(RegId::Esr) & !regs.get(RegId::Emr));
        regs.set(RegId::Eir, eir);
        if eir == 0 {
            self.fall(regs, Cause::MasterError);
        } else {
            self.raise(regs, Cause::MasterError);
        }
    }

    /// A one written to EIR acknowledges the error; its source in ESR goes with it.
    pub fn acknowledge_errors(&self, regs: &mut RegFile, bits: u32) {
        regs.set(RegId::Esr, regs.get(RegId::Esr) & !bits);
        regs.set(RegId::Eir, regs.get(RegId::Eir) & !bits);
        self.settle_errors(regs);
    }

    /// Bits of the interrupts that are latched and enabled.
    pub fn pending(&self, regs: &RegFile) -> u32 {
        regs.get(self.iir) & regs.get(self.ier)
    }

    /// Whether the device asserts its interrupt line.
    pub fn line(&self, regs: &RegFile) -> bool {
        self.pending(regs) != 0
            && self
                .master_enable
                .is_none_or(|(register, bit)| regs.get(register) & bit != 0)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// Bits of the 965's interrupt registers (i915 `i915_reg.h`).
    const USER: u32 = 1 << 1;
    const MASTER_ERROR: u32 = 1 << 15;

    fn device() -> (&'static Registers, RegFile) {
        let device = crate::intel::r#gen::find("gm965").unwrap();
        (device.interrupts, RegFile::new(device.tables))
    }

    #[test]
    fn a_masked_event_is_pending_but_not_latched() {
        let (irq, mut regs) = device();
        regs.set(RegId::Ier, USER);
        irq.raise_bits(&mut regs, USER);
        assert_eq!(regs.get(RegId::Isr) & USER, USER);
        assert!(!irq.line(&regs));
        regs.set(RegId::Imr, !USER);
        irq.raise_bits(&mut regs, USER);
        assert!(irq.line(&regs));
    }

    #[test]
    fn an_error_reaches_the_line_through_the_master_bit() {
        let (irq, mut regs) = device();
        regs.set(RegId::Imr, 0);
        regs.set(RegId::Ier, MASTER_ERROR);
        irq.raise_error(&mut regs, irq.page_table);
        assert!(!irq.line(&regs), "EMR masks everything after reset");
        regs.set(RegId::Emr, 0);
        irq.settle_errors(&mut regs);
        assert!(irq.line(&regs));
        irq.acknowledge_errors(&mut regs, irq.page_table);
        assert_eq!(regs.get(RegId::Eir), 0);
        assert_eq!(regs.get(RegId::Isr) & MASTER_ERROR, 0);
    }
}
