//! Opcode tables by generation: hardware number, mnemonic, operands, format.
//!
//! PRM: volume 4, 13.3 (instruction set summary). Each table imports the previous generation's and
//! excludes what went away; an own row wins over an imported one. The flat indices are built when
//! the crate is compiled.

use crate::inst::Opcode;

pub(crate) mod codes;
pub(crate) mod compact;
mod features;
pub mod gen40;
pub mod gen45;
pub mod gen50;
pub mod gen60;
pub mod gen70;
pub mod gen75;
pub mod gen80;
pub mod gen90;
mod generations;
pub(crate) mod layout;
pub(crate) mod message;
pub(crate) mod message_words;
mod properties;
mod version;

pub(crate) use features::{Control28, Features, lacks_type};
pub use generations::{Generations, Part};
pub use properties::{Controls, Properties, TypeSet};
pub use version::{Dotted, Verx10, Whole};

/// Calls a function that is generic over the generation.
macro_rules! by_generation {
    ($generation:expr, $function:ident ( $($arg:expr),* ), $otherwise:expr) => {
        match $generation.times_ten() {
            40 => $function::<40>($($arg),*),
            45 => $function::<45>($($arg),*),
            50 => $function::<50>($($arg),*),
            60 => $function::<60>($($arg),*),
            70 => $function::<70>($($arg),*),
            75 => $function::<75>($($arg),*),
            80 => $function::<80>($($arg),*),
            90 => $function::<90>($($arg),*),
            _ => $otherwise,
        }
    };
}
pub(crate) use by_generation;

/// How the operand words of an instruction are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Destination and up to two sources.
    Basic,
    /// Like `Basic`, a function in the place of the conditional modifier.
    Math,
    /// `dim`: destination and an immediate of 64 bits.
    Dim,
    /// Destination and three sources, align16.
    Three,
    /// `send`: message register or target in place of the conditional modifier, descriptor in src1.
    Send,
    /// `sends`: two payloads, descriptor and extended descriptor.
    SendSplit,
    /// Gen4 and Gen5 flow control: jump count and pop count in the last word, other operands unused.
    Branch,
    /// Gen6 `if`, `else`, `endif`, `while`: jump count in the destination's place; sources 0 and 1
    /// are compared when there is a conditional modifier.
    BranchCount,
    /// One distance, JIP.
    BranchJip,
    /// Two distances, JIP and UIP.
    BranchUip,
    /// `brd`: JIP, or source 0 holds it.
    BranchReg,
    /// `brc`: JIP and UIP, or source 0 holds them.
    BranchReg2,
    /// `call`: destination, and JIP or source 0.
    Call,
    /// `do`: controls only, operands unused.
    LoopHead,
    /// `jmpi`: ordinary operands, the distance is src1.
    Jump,
    /// No operands and no controls: `nop`, `illegal`.
    Bare,
}

impl Format {
    /// Whether instructions of the format change the flow of control.
    pub const fn is_flow_control(self) -> bool {
        matches!(
            self,
            Format::Branch
                | Format::BranchCount
                | Format::BranchJip
                | Format::BranchUip
                | Format::BranchReg
                | Format::BranchReg2
                | Format::Call
                | Format::LoopHead
                | Format::Jump
        )
    }
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
    /// Types, controls and restrictions in the generation of the table that holds the row.
    pub properties: Properties,
}

const fn row(
    opcode: Opcode,
    hw: u8,
    mnemonic: &'static str,
    nsrc: u8,
    ndst: u8,
    format: Format,
) -> OpcodeDesc {
    OpcodeDesc {
        opcode,
        hw,
        mnemonic,
        nsrc,
        ndst,
        format,
        // The table that takes the row fills in its generation's.
        properties: properties::of(Verx10::GEN40, opcode),
    }
}

/// Opcode numbers have seven bits.
const NUMBERS: usize = 128;

/// No row.
const NO_ROW: u8 = 0xff;

/// The opcode table of one generation.
#[derive(Debug)]
pub struct Table {
    /// Generation that the table starts at.
    pub generation: Verx10,
    /// What people call it beside its number.
    pub names: &'static [&'static str],
    /// Table whose rows are taken over.
    pub import: Option<&'static Table>,
    /// Imported opcodes that this generation does not have.
    pub exclude: &'static [Opcode],
    /// Own rows, with the properties that they have on Gen4.
    pub own: &'static [OpcodeDesc],
    /// All rows by number.
    by_hw: [Option<OpcodeDesc>; NUMBERS],
    /// Number of an opcode.
    by_opcode: [u8; Opcode::COUNT],
    /// Numbers in the order of the mnemonics, then `NO_ROW`.
    by_name: [u8; NUMBERS],
    /// How many rows there are.
    len: usize,
    /// What words and text of its instructions have.
    features: Features,
}

impl Table {
    /// A table with its flat indices. Own rows replace imported ones of the same number or opcode.
    pub const fn build(
        generation: Verx10,
        import: Option<&'static Table>,
        exclude: &'static [Opcode],
        own: &'static [OpcodeDesc],
    ) -> Table {
        let mut by_hw = match import {
            Some(table) => table.by_hw,
            None => [None; NUMBERS],
        };
        let mut hw = 0;
        while hw < NUMBERS {
            if let Some(row) = by_hw[hw] {
                let mut index = 0;
                while index < exclude.len() {
                    if exclude[index] as u8 == row.opcode as u8 {
                        by_hw[hw] = None;
                    }
                    index += 1;
                }
                index = 0;
                while index < own.len() {
                    if own[index].opcode as u8 == row.opcode as u8 {
                        by_hw[hw] = None;
                    }
                    index += 1;
                }
            }
            hw += 1;
        }
        let mut index = 0;
        while index < own.len() {
            by_hw[own[index].hw as usize] = Some(own[index]);
            index += 1;
        }
        hw = 0;
        while hw < NUMBERS {
            if let Some(row) = by_hw[hw] {
                by_hw[hw] = Some(OpcodeDesc {
                    properties: properties::of(generation, row.opcode),
                    ..row
                });
            }
            hw += 1;
        }
        let mut by_opcode = [NO_ROW; Opcode::COUNT];
        let mut by_name = [NO_ROW; NUMBERS];
        let mut len = 0;
        hw = 0;
        while hw < NUMBERS {
            if let Some(row) = by_hw[hw] {
                by_opcode[row.opcode as usize] = hw as u8;
                let mut place = len;
                while place > 0 && before(row.mnemonic, name(&by_hw, by_name[place - 1])) {
                    by_name[place] = by_name[place - 1];
                    place -= 1;
                }
                by_name[place] = hw as u8;
                len += 1;
            }
            hw += 1;
        }
        Table {
            generation,
            names: &[],
            import,
            exclude,
            own,
            by_hw,
            by_opcode,
            by_name,
            len,
            features: Features::of(generation.0),
        }
    }

    /// The table with names for its generation.
    #[must_use]
    pub const fn named(self, names: &'static [&'static str]) -> Table {
        Table { names, ..self }
    }

    /// The table of a generation as people write it: 4, 4.5, 45, or by a name in any case.
    pub fn spelled(text: &str) -> Option<&'static Table> {
        // Numbers are parsed with a sign before them, too.
        let text = text.strip_prefix('+').map_or(text, |_| "");
        let mut tables = Self::GENERATIONS.into_iter().filter_map(Self::of);
        tables.find(|table| {
            let Verx10(number) = table.generation;
            let mut names = table.names.iter();
            names.any(|name| name.eq_ignore_ascii_case(text))
                || text.parse() == Ok(number)
                || match text.split_once('.') {
                    Some((major, minor)) => {
                        major.parse() == Ok(number / 10) && minor.parse() == Ok(number % 10)
                    }
                    None => text.parse() == Ok(number / 10) && number.is_multiple_of(10),
                }
        })
    }

    /// The table of a generation, `None` when there is none.
    pub const fn of(generation: Verx10) -> Option<&'static Table> {
        Some(match generation.0 {
            40 => &gen40::TABLE,
            45 => &gen45::TABLE,
            50 => &gen50::TABLE,
            60 => &gen60::TABLE,
            70 => &gen70::TABLE,
            75 => &gen75::TABLE,
            80 => &gen80::TABLE,
            90 => &gen90::TABLE,
            _ => return None,
        })
    }

    /// Every generation that has a table, in order.
    pub const GENERATIONS: [Verx10; 8] = [
        Verx10(40),
        Verx10(45),
        Verx10(50),
        Verx10(60),
        Verx10(70),
        Verx10(75),
        Verx10(80),
        Verx10(90),
    ];

    /// Row with a hardware number.
    pub fn by_hw(&'static self, hw: u8) -> Option<&'static OpcodeDesc> {
        self.by_hw.get(usize::from(hw))?.as_ref()
    }

    /// Row of an opcode.
    pub fn by_opcode(&'static self, opcode: Opcode) -> Option<&'static OpcodeDesc> {
        self.by_hw(*self.by_opcode.get(opcode as usize)?)
    }

    /// Row with a mnemonic.
    pub fn by_mnemonic(&'static self, mnemonic: &str) -> Option<&'static OpcodeDesc> {
        let sorted = self.by_name.get(..self.len)?;
        let place = sorted
            .binary_search_by(|&hw| name(&self.by_hw, hw).cmp(mnemonic))
            .ok()?;
        self.by_hw(*sorted.get(place)?)
    }

    /// Every row of the generation, by number.
    pub fn rows(&'static self) -> impl Iterator<Item = &'static OpcodeDesc> {
        self.by_hw.iter().flatten()
    }
}

/// Mnemonic of a row, empty without one.
const fn name(by_hw: &[Option<OpcodeDesc>; NUMBERS], hw: u8) -> &'static str {
    if (hw as usize) < NUMBERS
        && let Some(row) = by_hw[hw as usize]
    {
        return row.mnemonic;
    }
    ""
}

/// Order of two mnemonics, as `str` orders them.
const fn before(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut index = 0;
    while index < left.len() && index < right.len() {
        if left[index] != right[index] {
            return left[index] < right[index];
        }
        index += 1;
    }
    left.len() < right.len()
}
