//! State variables: latched base addresses and the workaround switches.
//!
//! PRM: volume 4, 3.3.3.

use regs::any::{fields, reg};

use super::DebugRegs;

/// A base address that SVG latches, in the order of its mux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SvgBase {
    /// General State Base Address.
    GeneralState,
    /// Surface State Base Address.
    SurfaceState,
    /// Indirect Object Base Address.
    IndirectObject,
    /// General State Access Upper Bound.
    GeneralStateBound,
    /// Indirect Object Access Upper Bound.
    IndirectObjectBound,
    /// System Instruction Pointer.
    SystemInstructionPointer,
}

/// The latched values by mux value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bases([u32; 6]);

impl DebugRegs {
    /// A base address changed; it is latched while the global debug enable is set.
    pub fn svg_base(&mut self, base: SvgBase, address: u32) {
        if let Some(slot) = self.svg.0.get_mut(base as usize).filter(|_| self.global) {
            *slot = address;
        }
    }

    /// Chrominance of odd pixels is interpolated rather than replicated (YUV 4:2:2).
    pub fn svg_chrominance_interpolated(&self) -> bool {
        self.interpolates
    }

    /// Bit 0 as it stands, for every sampler message asks.
    pub(super) fn svg_chrominance_mode(&self) -> bool {
        self.is(
            reg::SVG_WORK_CTL,
            fields::SVG_WORK_CTL::YUV_4_2_2_CHROMINANCE_MODE,
        )
    }

    /// WIZ does not force partial payloads against deadlocks.
    pub fn svg_panic_dispatch_disabled(&self) -> bool {
        self.is(
            reg::SVG_WORK_CTL,
            fields::SVG_WORK_CTL::DISABLE_WIZ_PANIC_DISPATCH,
        )
    }

    /// Stateless data port accesses are allowed; matters on DevBW-A,B alone.
    pub fn svg_stateless_allowed(&self) -> bool {
        self.is(
            reg::SVG_WORK_CTL,
            fields::SVG_WORK_CTL::DAP_STATELESS_ACCESS,
        )
    }

    pub(super) fn svg_rdata(&self) -> u32 {
        let mux = self.field(reg::SVG_CTL, fields::SVG_CTL::DEBUG_OUTPUT_MUX_SELECT);
        usize::try_from(mux)
            .ok()
            .and_then(|i| self.svg.0.get(i))
            .copied()
            .unwrap_or(0)
    }
}
