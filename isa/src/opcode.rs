//! Mnemonics and classes of opcodes.
//!
//! PRM: volume 4, 13.3. Everything comes from the opcode tables.

use crate::inst::{Inst, Opcode, Verx10};
use crate::tables::{Format, OpcodeDesc, Table, gen50};

impl Opcode {
    /// The row of the opcode in the generation's table.
    pub fn desc(self, generation: Verx10) -> Option<&'static OpcodeDesc> {
        Table::of(generation)?.by_opcode(self)
    }

    /// Assembler mnemonic, `None` for opcodes that no table lists yet.
    pub fn mnemonic(self) -> Option<&'static str> {
        gen50::TABLE.by_opcode(self).map(|row| row.mnemonic)
    }

    /// The opcode that a mnemonic names in a generation.
    pub fn from_mnemonic(generation: Verx10, mnemonic: &str) -> Option<Opcode> {
        Table::of(generation)?
            .by_mnemonic(mnemonic)
            .map(|row| row.opcode)
    }

    /// Whether the opcode can change the instruction pointer or the channel masks.
    pub fn is_flow_control(self) -> bool {
        gen50::TABLE.by_opcode(self).is_some_and(|row| {
            matches!(row.format, Format::Branch | Format::LoopHead | Format::Jump)
        })
    }
}

impl Inst {
    /// Whether the instruction can change the instruction pointer or the channel masks by jumping;
    /// an ordinary write to `ip` does not count.
    pub fn is_flow_control(&self) -> bool {
        self.opcode.is_flow_control()
    }
}
