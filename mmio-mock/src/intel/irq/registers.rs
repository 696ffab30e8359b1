//! Which registers a device's interrupts stand in, and the bit of each cause.
//!
//! A row of the device; what the registers do is in `irq`.

use regs::ids::RegId;

/// What interrupts the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// PIPE_CONTROL with Notify Enable.
    PipeControl,
    /// An unmasked error stands in EIR.
    MasterError,
    /// Debug: an EU raised attention.
    Debug,
}

/// The interrupt registers of a device: which they are, and the bit of each cause; 0 for a cause that raises none.
#[derive(Debug, PartialEq, Eq)]
pub struct Registers {
    /// Status: what is signalled now.
    pub isr: RegId,
    /// Mask.
    pub imr: RegId,
    /// Identity: what was signalled and not masked, until it is acknowledged.
    pub iir: RegId,
    /// Enable.
    pub ier: RegId,
    /// Bit of [`Cause::PipeControl`].
    pub pipe_control: u32,
    /// Bit of [`Cause::MasterError`].
    pub master_error: u32,
    /// Bit of [`Cause::Debug`].
    pub debug: u32,
    /// Bit of a page table error in ESR, EMR and EIR.
    pub page_table: u32,
    /// A register and a bit of it that has to be set before anything interrupts.
    pub master_enable: Option<(RegId, u32)>,
}

impl Registers {
    /// The bit of a cause.
    pub fn bit(&self, cause: Cause) -> u32 {
        match cause {
            Cause::PipeControl => self.pipe_control,
            Cause::MasterError => self.master_error,
            Cause::Debug => self.debug,
        }
    }
}
