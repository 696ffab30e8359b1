//! Opcode tables by generation: hardware number, mnemonic, operands, format.
//!
//! PRM: volume 4, 13.3 (instruction set summary). Each table imports the previous generation's and
//! excludes what went away; an own row wins over an imported one. Rows for Gen6 and later are not
//! filled in yet.

use crate::inst::{Opcode, Verx10};

pub mod gen40;
pub mod gen45;
pub mod gen50;

/// How the operand words of an instruction are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Destination and up to two sources.
    Basic,
    /// `send`: message register in place of the conditional modifier, descriptor in src1.
    Send,
    /// Structured flow control: jump count and pop count in the last word, other operands unused.
    Branch,
    /// `do`: controls only, operands unused.
    LoopHead,
    /// `jmpi`: ordinary operands, the distance is src1.
    Jump,
    /// No operands and no controls: `nop`, `illegal`.
    Bare,
}

/// One row of an opcode table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpcodeDesc {
    /// Opcode, the same name for every generation.
    pub opcode: Opcode,
    /// Number in bits 6:0 of the first word.
    pub hw: u8,
    /// Assembler mnemonic.
    pub mnemonic: &'static str,
    /// Sources that the instruction reads.
    pub nsrc: u8,
    /// Destinations that the instruction writes (0 or 1).
    pub ndst: u8,
    /// Operand format.
    pub format: Format,
}

/// The opcode table of one generation.
#[derive(Debug)]
pub struct Table {
    /// Generation that the table starts at.
    pub generation: Verx10,
    /// Table whose rows are taken over.
    pub import: Option<&'static Table>,
    /// Imported opcodes that this generation does not have.
    pub exclude: &'static [Opcode],
    /// Own rows.
    pub own: &'static [OpcodeDesc],
}

impl Table {
    /// The table of a generation, `None` when there is none.
    pub fn of(generation: Verx10) -> Option<&'static Table> {
        match generation.0 {
            40 => Some(&gen40::TABLE),
            45 => Some(&gen45::TABLE),
            50 => Some(&gen50::TABLE),
            _ => None,
        }
    }

    /// Row with a hardware number.
    pub fn by_hw(&'static self, hw: u8) -> Option<&'static OpcodeDesc> {
        self.find(|row| row.hw == hw)
    }

    /// Row of an opcode.
    pub fn by_opcode(&'static self, opcode: Opcode) -> Option<&'static OpcodeDesc> {
        self.find(|row| row.opcode == opcode)
    }

    /// Row with a mnemonic.
    pub fn by_mnemonic(&'static self, mnemonic: &str) -> Option<&'static OpcodeDesc> {
        self.find(|row| row.mnemonic == mnemonic)
    }

    /// Every row of the generation, own rows first.
    pub fn rows(&'static self) -> impl Iterator<Item = &'static OpcodeDesc> {
        (0..=0x7f).filter_map(|hw| self.by_hw(hw))
    }

    fn find(
        &'static self,
        wanted: impl Fn(&OpcodeDesc) -> bool + Copy,
    ) -> Option<&'static OpcodeDesc> {
        if let Some(row) = self.own.iter().find(|row| wanted(row)) {
            return Some(row);
        }
        let row = self.import?.find(wanted)?;
        let shadowed = self
            .own
            .iter()
            .any(|own| own.hw == row.hw || own.opcode == row.opcode);
        (!shadowed && !self.exclude.contains(&row.opcode)).then_some(row)
    }
}
