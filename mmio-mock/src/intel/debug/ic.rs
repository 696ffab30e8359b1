//! Instruction L1 cache: address and opcode breakpoints.
//!
//! PRM: volume 4, 3.4.4 and 3.6. Whether the thread has breakpoints enabled is the EU's to check.

use regs::any::{fields, reg};

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

/// The breakpoint registers as they stand when a thread starts a stretch of instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IcBreakpoints {
    /// Addresses without their low four bits.
    addresses: [Option<u32>; 2],
    opcodes: [Option<u32>; 2],
    end_of_thread: bool,
}

impl IcBreakpoints {
    /// Whether an instruction hits one of them.
    pub fn hit(&self, fetch: Fetch) -> bool {
        let line = fetch.address >> fields::ISC_L1CA_BP_ADR1::BREAKPOINT_ADDRESS_1.shift;
        self.addresses.contains(&Some(line))
            || self.opcodes.contains(&Some(fetch.opcode))
            || (self.end_of_thread && fetch.end_of_thread)
    }
}

impl DebugRegs {
    /// The breakpoints, if any is enabled.
    pub fn ic_breakpoints(&self) -> Option<IcBreakpoints> {
        use fields::{ISC_L1CA_BP_ADR1 as A1, ISC_L1CA_BP_ADR2 as A2};
        use fields::{ISC_L1CA_BP_OPC1 as O1, ISC_L1CA_BP_OPC2 as O2};
        let breakpoints = IcBreakpoints {
            addresses: [
                self.is(reg::ISC_L1CA_BP_ADR1, A1::BPIP_1_ENABLE)
                    .then(|| self.field(reg::ISC_L1CA_BP_ADR1, A1::BREAKPOINT_ADDRESS_1)),
                self.is(reg::ISC_L1CA_BP_ADR2, A2::BPIP_2_ENABLE)
                    .then(|| self.field(reg::ISC_L1CA_BP_ADR2, A2::BREAKPOINT_ADDRESS_2)),
            ],
            opcodes: [
                self.is(reg::ISC_L1CA_BP_OPC1, O1::BREAKPOINT_OPCODE_1_ENABLE)
                    .then(|| self.field(reg::ISC_L1CA_BP_OPC1, O1::BREAKPOINT_OPCODE_1)),
                self.is(reg::ISC_L1CA_BP_OPC2, O2::BREAKPOINT_OPCODE_2_ENABLE)
                    .then(|| self.field(reg::ISC_L1CA_BP_OPC2, O2::BREAKPOINT_OPCODE_2)),
            ],
            end_of_thread: self.is(reg::ISC_L1CA_BP_OPC1, O1::BREAKPOINT_OPCODE_1_EOT_ENABLE),
        };
        (breakpoints != IcBreakpoints::default()).then_some(breakpoints)
    }
}
