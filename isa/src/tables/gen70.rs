//! Ivybridge and ValleyView opcode table: JIP and UIP everywhere, bit fields.
//!
//! PRM: Ivybridge volume 4 part 3, instruction set; Mesa 22.3.6 `brw_eu.c`.

use super::{Format, OpcodeDesc, Table, Verx10, gen60, row};
use crate::inst::Opcode;

/// The table.
pub static TABLE: Table = Table::build(Verx10(70), Some(&gen60::TABLE), EXCLUDED, ROWS).named(&[
    "ivb",
    "ivybridge",
    "vlv",
    "baytrail",
]);

#[rustfmt::skip]
const EXCLUDED: &[Opcode] = &[
    Opcode::Case,
    Opcode::Fork,
];

#[rustfmt::skip]
const ROWS: &[OpcodeDesc] = &[
    row(Opcode::F32to16,  19,  "f32to16", 1, 1, Format::Basic),
    row(Opcode::F16to32,  20,  "f16to32", 1, 1, Format::Basic),
    row(Opcode::Bfrev,    23,  "bfrev",   1, 1, Format::Basic),
    row(Opcode::Bfe,      24,  "bfe",     3, 1, Format::Three),
    row(Opcode::Bfi1,     25,  "bfi1",    2, 1, Format::Basic),
    row(Opcode::Bfi2,     26,  "bfi2",    3, 1, Format::Three),
    row(Opcode::Brd,      33,  "brd",     0, 0, Format::BranchReg),
    row(Opcode::If,       34,  "if",      0, 0, Format::BranchUip),
    row(Opcode::Brc,      35,  "brc",     0, 0, Format::BranchReg2),
    row(Opcode::Else,     36,  "else",    0, 0, Format::BranchJip),
    row(Opcode::Endif,    37,  "endif",   0, 0, Format::BranchJip),
    row(Opcode::While,    39,  "while",   0, 0, Format::BranchJip),
    row(Opcode::Fbh,      75,  "fbh",     1, 1, Format::Basic),
    row(Opcode::Fbl,      76,  "fbl",     1, 1, Format::Basic),
    row(Opcode::Cbit,     77,  "cbit",    1, 1, Format::Basic),
    row(Opcode::Addc,     78,  "addc",    2, 1, Format::Basic),
    row(Opcode::Subb,     79,  "subb",    2, 1, Format::Basic),
];
