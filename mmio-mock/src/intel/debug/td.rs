//! Thread dispatcher: breakpoints, halts at dispatch, exceptions, EU masks.
//!
//! PRM: volume 4, 3.4.1 and 3.6. Choosing the EU and setting CR0 and CR1 is the dispatcher's.

use regs::any::{fields, reg};

use super::DebugRegs;
use crate::intel::status::Unit;

/// What the dispatcher does to a thread for debugging.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TdDispatch {
    /// Set CR1 bit 15, Breakpoint Enable.
    pub breakpoint_enable: bool,
    /// Set the External Halt exception of CR1.
    pub external_halt: bool,
}

/// Exception enables that replace those of the unit state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExceptionOverride {
    /// Illegal opcode.
    pub illegal_opcode: bool,
    /// Mask stack over- or underflow.
    pub mask_stack: bool,
    /// Software exception.
    pub software: bool,
}

/// Force External Halt in a written TD_CTL.
pub(super) fn force_external_halt(value: u32) -> bool {
    fields::TD_CTL::FORCE_EXTERNAL_HALT.is_set(value)
}

impl DebugRegs {
    /// Whether a control of the dispatcher is on: every other register of it asks one of TD_CTL or TD_CTL2 first.
    pub(super) fn td_directs(&self) -> bool {
        self.acting(reg::TD_CTL) | self.acting(reg::TD_CTL2) != 0
    }

    /// Decides on a thread with this snapshot flag and these debug dwords of r0.
    ///
    /// Force External Halt takes the next dispatch after the bit was written.
    #[inline]
    pub fn td_dispatch(&mut self, flag: bool, r0_6: u32, r0_7: u32) -> TdDispatch {
        if self.directs {
            self.directed(flag, r0_6, r0_7)
        } else {
            TdDispatch::default()
        }
    }

    #[cold]
    fn directed(&mut self, flag: bool, r0_6: u32, r0_7: u32) -> TdDispatch {
        use fields::TD_CTL as CTL;
        let forced = self.halt_next && self.is(reg::TD_CTL, CTL::FORCE_EXTERNAL_HALT);
        if forced {
            self.halt_next = false;
        }
        let matched = self.is(reg::TD_CTL, CTL::EXTERNAL_HALT_ON_R0_DEBUG_MATCH)
            && self.r0_matches(r0_6, r0_7);
        TdDispatch {
            breakpoint_enable: self.is(reg::TD_CTL, CTL::FORCE_THREAD_BREAKPOINT_ENABLE)
                || (flag && self.is(reg::TD_CTL, CTL::BREAKPOINT_ENABLE)),
            external_halt: forced || matched,
        }
    }

    /// Exception enables that replace the unit state's, if any do.
    #[inline]
    pub fn td_exceptions(&self) -> Option<ExceptionOverride> {
        use fields::TD_CTL2 as CTL2;
        if !self.directs {
            return None;
        }
        self.is(reg::TD_CTL, fields::TD_CTL::EXCEPTION_MASK_OVERRIDE)
            .then(|| ExceptionOverride {
                illegal_opcode: self.is(reg::TD_CTL2, CTL2::ILLEGAL_OPCODE_EXCEPTION_OVERRIDE),
                mask_stack: self.is(reg::TD_CTL2, CTL2::MASKSTACK_EXCEPTION_OVERRIDE),
                software: self.is(reg::TD_CTL2, CTL2::SOFTWARE_EXCEPTION_OVERRIDE),
            })
    }

    /// Most active threads per EU, if limited.
    #[inline]
    pub fn td_thread_limit(&self) -> Option<u32> {
        if !self.directs {
            return None;
        }
        self.is(reg::TD_CTL2, fields::TD_CTL2::ACTIVE_THREAD_LIMIT_ENABLE)
            .then(|| self.field(reg::TD_CTL2, fields::TD_CTL2::ACTIVE_THREAD_LIMIT))
    }

    /// EUs that may run threads of a unit, bit per EU.
    #[inline]
    pub fn td_eu_mask(&self, unit: Unit) -> u32 {
        if self.directs {
            self.directed_eu_mask(unit)
        } else {
            0xffff
        }
    }

    #[cold]
    fn directed_eu_mask(&self, unit: Unit) -> u32 {
        use fields::TD_CTL2 as CTL2;
        let (enabled, mask) = match unit {
            Unit::Vs => (
                self.is(reg::TD_CTL2, CTL2::VS_EXECUTION_MASK_ENABLE),
                self.field(reg::TD_VF_VS_EMSK, fields::TD_VF_VS_EMSK::VS_EXECUTION_MASK),
            ),
            // The registers have no masks for them.
            Unit::Hs | Unit::Ds => (false, 0),
            Unit::Gs => (
                self.is(reg::TD_CTL2, CTL2::GS_EXECUTION_MASK_ENABLE),
                self.field(reg::TD_GS_EMSK, fields::TD_GS_EMSK::GS_EXECUTION_MASK),
            ),
            Unit::Clip => (
                self.is(reg::TD_CTL2, CTL2::CLIPPER_EXECUTION_MASK_ENABLE),
                self.field(
                    reg::TD_CLIP_EMSK,
                    fields::TD_CLIP_EMSK::CLIPPER_EXECUTION_MASK,
                ),
            ),
            Unit::Sf => (
                self.is(reg::TD_CTL2, CTL2::SF_EXECUTION_MASK_ENABLE),
                self.field(reg::TD_SF_EMSK, fields::TD_SF_EMSK::SF_EXECUTION_MASK),
            ),
            Unit::Wiz => (
                self.is(reg::TD_CTL2, CTL2::WIZ_EXECUTION_MASK_ENABLE),
                self.field(reg::TD_WIZ_EMSK, fields::TD_WIZ_EMSK::WIZ_EXECUTION_MASK),
            ),
            Unit::Media => (
                self.is(reg::TD_CTL2, CTL2::THREAD_SPAWNER_EXECUTION_MASK_ENABLE),
                self.field(reg::TD_TS_EMSK, fields::TD_TS_EMSK::TS_EXECUTION_MASK),
            ),
        };
        if enabled { mask } else { 0xffff }
    }

    /// Both debug dwords agree with the trigger values wherever their masks are one.
    fn r0_matches(&self, r0_6: u32, r0_7: u32) -> bool {
        let (v6, m6) = (
            fields::TD_0_6_EHTRG_VAL::R0_6_DEBUG_COMPARE_VALUE,
            fields::TD_0_6_EHTRG_MSK::R0_6_DEBUG_COMPARE_MASK,
        );
        let (v7, m7) = (
            fields::TD_0_7_EHTRG_VAL::R0_7_DEBUG_COMPARE_VALUE,
            fields::TD_0_7_EHTRG_MSK::R0_7_DEBUG_COMPARE_MASK,
        );
        let differs6 =
            (r0_6 ^ self.field(reg::TD_0_6_EHTRG_VAL, v6)) & self.field(reg::TD_0_6_EHTRG_MSK, m6);
        let differs7 =
            (r0_7 ^ self.field(reg::TD_0_7_EHTRG_VAL, v7)) & self.field(reg::TD_0_7_EHTRG_MSK, m7);
        differs6 == 0 && differs7 == 0
    }
}
