//! Interrupts and error status: the registers of a device's row, and ESR, EMR, EIR.
//!
//! PRM: volume 1, interrupt control registers; i915 i915_reg.h for the bits.
//! Not modelled: display interrupts, MSI.

use regs::ids::RegId;

use crate::core::bus::RegFile;
pub use crate::intel::interrupts::{Cause, Registers};

/// Bits of ESR, EMR and EIR (tables of `regs`).
pub mod error {
    use regs::any::fields::ESR;

    /// A GTT entry was not valid.
    pub const PAGE_TABLE: u32 = ESR::PAGE_TABLE_ERROR.mask << ESR::PAGE_TABLE_ERROR.shift;
    /// The instruction parser refused an instruction.
    pub const INSTRUCTION: u32 = ESR::INSTRUCTION_ERROR.mask << ESR::INSTRUCTION_ERROR.shift;
}

/// An event happened: it shows in ISR, and in IIR unless IMR masks it.
pub fn raise(regs: &mut RegFile, cause: Cause) {
    let at = regs.interrupts();
    let bit = at.bit(cause);
    let unmasked = bit & !regs.get(at.imr);
    regs.set(at.isr, regs.get(at.isr) | bit);
    regs.set(at.iir, regs.get(at.iir) | unmasked);
}

/// The signal behind an event is down: it no longer shows in ISR; what IIR has latched stays.
pub fn fall(regs: &mut RegFile, cause: Cause) {
    let at = regs.interrupts();
    let isr = regs.get(at.isr);
    if isr & at.bit(cause) != 0 {
        regs.set(at.isr, isr & !at.bit(cause));
    }
}

/// An error happened: it shows in ESR, in EIR unless masked, and then as the master error.
pub fn raise_error(regs: &mut RegFile, bits: u32) {
    regs.set(RegId::Esr, regs.get(RegId::Esr) | bits);
    settle_errors(regs);
}

/// Recomputes EIR and the master error bit after a write to EMR or EIR, or a new error.
pub fn settle_errors(regs: &mut RegFile) {
    let eir = regs.get(RegId::Eir) | (regs.get(RegId::Esr) & !regs.get(RegId::Emr));
    regs.set(RegId::Eir, eir);
    if eir == 0 {
        fall(regs, Cause::MasterError);
    } else {
        raise(regs, Cause::MasterError);
    }
}

/// A one written to EIR acknowledges the error; its source in ESR goes with it.
pub fn acknowledge_errors(regs: &mut RegFile, bits: u32) {
    regs.set(RegId::Esr, regs.get(RegId::Esr) & !bits);
    regs.set(RegId::Eir, regs.get(RegId::Eir) & !bits);
    settle_errors(regs);
}

/// Bits of the interrupts that are latched and enabled.
pub fn pending(regs: &RegFile) -> u32 {
    let at = regs.interrupts();
    regs.get(at.iir) & regs.get(at.ier)
}

/// Whether the device asserts its interrupt line.
pub fn line(regs: &RegFile) -> bool {
    let master = regs.interrupts().master_enable;
    pending(regs) != 0 && master.is_none_or(|(register, bit)| regs.get(register) & bit != 0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// Bits of the 965's interrupt registers (i915 `i915_reg.h`).
    const USER: u32 = 1 << 1;
    const MASTER_ERROR: u32 = 1 << 15;

    fn regs() -> RegFile {
        let device = crate::intel::r#gen::find("gm965").unwrap();
        RegFile::new(device.tables, device.interrupts)
    }

    #[test]
    fn a_masked_event_is_pending_but_not_latched() {
        let mut regs = regs();
        regs.set(RegId::Ier, USER);
        raise(&mut regs, Cause::User);
        assert_eq!(regs.get(RegId::Isr) & USER, USER);
        assert!(!line(&regs));
        regs.set(RegId::Imr, !USER);
        raise(&mut regs, Cause::User);
        assert!(line(&regs));
    }

    #[test]
    fn an_error_reaches_the_line_through_the_master_bit() {
        let mut regs = regs();
        regs.set(RegId::Imr, 0);
        regs.set(RegId::Ier, MASTER_ERROR);
        raise_error(&mut regs, error::PAGE_TABLE);
        assert!(!line(&regs), "EMR masks everything after reset");
        regs.set(RegId::Emr, 0);
        settle_errors(&mut regs);
        assert!(line(&regs));
        acknowledge_errors(&mut regs, error::PAGE_TABLE);
        assert_eq!(regs.get(RegId::Eir), 0);
        assert_eq!(regs.get(RegId::Isr) & MASTER_ERROR, 0);
    }
}
