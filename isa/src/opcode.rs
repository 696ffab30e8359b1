//! Mnemonics and classes of opcodes.
//!
//! PRM: volume 4, 13.3. Everything comes from the opcode tables.

use crate::inst::{Inst, Opcode, Verx10};
use crate::tables::{OpcodeDesc, Table};

impl Opcode {
    /// The row of the opcode in the generation's table.
    pub fn desc(self, generation: Verx10) -> Option<&'static OpcodeDesc> {
        Table::of(generation)?.by_opcode(self)
    }

    /// Assembler mnemonic, the same in every generation that has the opcode.
    pub fn mnemonic(self) -> Option<&'static str> {
        self.any_row().map(|row| row.mnemonic)
    }

    /// The row of the first generation that has the opcode.
    fn any_row(self) -> Option<&'static OpcodeDesc> {
        Table::GENERATIONS
            .into_iter()
            .find_map(|generation| self.desc(generation))
    }

    /// The opcode that a mnemonic names in a generation.
    pub fn from_mnemonic(generation: Verx10, mnemonic: &str) -> Option<Opcode> {
        Table::of(generation)?
            .by_mnemonic(mnemonic)
            .map(|row| row.opcode)
    }

    /// Whether the opcode can change the instruction pointer or the channel masks.
    pub fn is_flow_control(self) -> bool {
        self.any_row()
            .is_some_and(|row| row.format.is_flow_control())
    }
}

impl Inst {
    /// Whether the instruction can change the instruction pointer or the channel masks by jumping;
    /// an ordinary write to `ip` does not count.
    pub fn is_flow_control(&self) -> bool {
        self.opcode.is_flow_control()
    }
}
