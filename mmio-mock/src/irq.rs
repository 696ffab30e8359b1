//! Interrupts and error status: ISR, IMR, IIR, IER, ESR, EMR, EIR.
//!
//! PRM: volume 1, interrupt control registers; i915 i915_reg.h for the bits.
//! Not modelled: display interrupts, MSI.

use regs::gen40::RegId;

use crate::bus::RegFile;

/// Bits of ISR, IMR, IIR and IER (tables of `regs`).
pub mod bit {
    use regs::gen40::fields::ISR;

    /// PIPE_CONTROL with Notify Enable.
    pub const PIPE_CONTROL: u32 = ISR::PIPE_CONTROL_NOTIFY.mask << ISR::PIPE_CONTROL_NOTIFY.shift;
    /// An unmasked error stands in EIR.
    pub const MASTER_ERROR: u32 = ISR::MASTER_ERROR.mask << ISR::MASTER_ERROR.shift;
    /// Sync flush done.
    pub const SYNC_STATUS: u32 = ISR::SYNC_STATUS.mask << ISR::SYNC_STATUS.shift;
    /// Debug: an EU raised attention.
    pub const DEBUG: u32 = ISR::DEBUG.mask << ISR::DEBUG.shift;
    /// MI_USER_INTERRUPT.
    pub const USER: u32 = ISR::USER.mask << ISR::USER.shift;
}

/// Bits of ESR, EMR and EIR (tables of `regs`).
pub mod error {
    use regs::gen40::fields::ESR;

    /// A GTT entry was not valid.
    pub const PAGE_TABLE: u32 = ESR::PAGE_TABLE_ERROR.mask << ESR::PAGE_TABLE_ERROR.shift;
    /// The instruction parser refused an instruction.
    pub const INSTRUCTION: u32 = ESR::INSTRUCTION_ERROR.mask << ESR::INSTRUCTION_ERROR.shift;
}

/// An event happened: it shows in ISR, and in IIR unless IMR masks it.
pub fn raise(regs: &mut RegFile, bits: u32) {
    let unmasked = bits & !regs.get(RegId::Imr);
    regs.set(RegId::Isr, regs.get(RegId::Isr) | bits);
    regs.set(RegId::Iir, regs.get(RegId::Iir) | unmasked);
}

/// The signal behind an event is down: it no longer shows in ISR; what IIR has latched stays.
pub fn fall(regs: &mut RegFile, bits: u32) {
    let isr = regs.get(RegId::Isr);
    if isr & bits != 0 {
        regs.set(RegId::Isr, isr & !bits);
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
        regs.set(RegId::Isr, regs.get(RegId::Isr) & !bit::MASTER_ERROR);
    } else {
        raise(regs, bit::MASTER_ERROR);
    }
}

/// A one written to EIR acknowledges the error; its source in ESR goes with it.
pub fn acknowledge_errors(regs: &mut RegFile, bits: u32) {
    regs.set(RegId::Esr, regs.get(RegId::Esr) & !bits);
    regs.set(RegId::Eir, regs.get(RegId::Eir) & !bits);
    settle_errors(regs);
}

/// Whether the device asserts its interrupt line.
pub fn line(regs: &RegFile) -> bool {
    regs.get(RegId::Iir) & regs.get(RegId::Ier) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_masked_event_is_pending_but_not_latched() {
        let mut regs = RegFile::new(&regs::platform::GEN40);
        regs.set(RegId::Ier, bit::USER);
        raise(&mut regs, bit::USER);
        assert_eq!(regs.get(RegId::Isr) & bit::USER, bit::USER);
        assert!(!line(&regs));
        regs.set(RegId::Imr, !bit::USER);
        raise(&mut regs, bit::USER);
        assert!(line(&regs));
    }

    #[test]
    fn an_error_reaches_the_line_through_the_master_bit() {
        let mut regs = RegFile::new(&regs::platform::GEN40);
        regs.set(RegId::Imr, 0);
        regs.set(RegId::Ier, bit::MASTER_ERROR);
        raise_error(&mut regs, error::PAGE_TABLE);
        assert!(!line(&regs), "EMR masks everything after reset");
        regs.set(RegId::Emr, 0);
        settle_errors(&mut regs);
        assert!(line(&regs));
        acknowledge_errors(&mut regs, error::PAGE_TABLE);
        assert_eq!(regs.get(RegId::Eir), 0);
        assert_eq!(regs.get(RegId::Isr) & bit::MASTER_ERROR, 0);
    }
}
