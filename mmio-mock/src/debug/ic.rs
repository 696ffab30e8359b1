//! Instruction L1 cache: address and opcode breakpoints.
//!
//! PRM: volume 4, 3.4.4 and 3.6. Whether the thread has breakpoints enabled is the EU's to check.

use regs::gen40::{fields, reg};

use super::DebugRegs;

/// An instruction about to issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// Linear address.
    pub address: u32,
    /// Opcode, bits 6:0 of the instruction.
    pub opcode: u32,
    /// A send that ends the thread.
    pub end_of_thread: bool,
}

impl DebugRegs {
    /// Whether any breakpoint register is enabled; when false [`Self::ic_breakpoint`] is too.
    pub fn ic_armed(&self) -> bool {
        self.is(
            reg::ISC_L1CA_BP_ADR1,
            fields::ISC_L1CA_BP_ADR1::BPIP_1_ENABLE,
        ) || self.is(
            reg::ISC_L1CA_BP_ADR2,
            fields::ISC_L1CA_BP_ADR2::BPIP_2_ENABLE,
        ) || self.is(
            reg::ISC_L1CA_BP_OPC1,
            fields::ISC_L1CA_BP_OPC1::BREAKPOINT_OPCODE_1_ENABLE,
        ) || self.is(
            reg::ISC_L1CA_BP_OPC1,
            fields::ISC_L1CA_BP_OPC1::BREAKPOINT_OPCODE_1_EOT_ENABLE,
        ) || self.is(
            reg::ISC_L1CA_BP_OPC2,
            fields::ISC_L1CA_BP_OPC2::BREAKPOINT_OPCODE_2_ENABLE,
        )
    }

    /// Whether an instruction hits one of the four breakpoint registers.
    pub fn ic_breakpoint(&self, fetch: Fetch) -> bool {
        use fields::{ISC_L1CA_BP_ADR1 as A1, ISC_L1CA_BP_ADR2 as A2};
        use fields::{ISC_L1CA_BP_OPC1 as O1, ISC_L1CA_BP_OPC2 as O2};
        let line = fetch.address >> A1::BREAKPOINT_ADDRESS_1.shift;
        let op1 = fetch.opcode == self.field(reg::ISC_L1CA_BP_OPC1, O1::BREAKPOINT_OPCODE_1);
        let op2 = fetch.opcode == self.field(reg::ISC_L1CA_BP_OPC2, O2::BREAKPOINT_OPCODE_2);
        (self.is(reg::ISC_L1CA_BP_ADR1, A1::BPIP_1_ENABLE)
            && line == self.field(reg::ISC_L1CA_BP_ADR1, A1::BREAKPOINT_ADDRESS_1))
            || (self.is(reg::ISC_L1CA_BP_ADR2, A2::BPIP_2_ENABLE)
                && line == self.field(reg::ISC_L1CA_BP_ADR2, A2::BREAKPOINT_ADDRESS_2))
            || (self.is(reg::ISC_L1CA_BP_OPC1, O1::BREAKPOINT_OPCODE_1_ENABLE) && op1)
            || (self.is(reg::ISC_L1CA_BP_OPC1, O1::BREAKPOINT_OPCODE_1_EOT_ENABLE)
                && fetch.end_of_thread)
            || (self.is(reg::ISC_L1CA_BP_OPC2, O2::BREAKPOINT_OPCODE_2_ENABLE) && op2)
    }
}
