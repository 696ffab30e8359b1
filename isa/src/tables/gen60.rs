//! Sandybridge opcode table: no mask stack; `math`, three sources, calls.
//!
//! PRM: Sandybridge volume 4 part 2, instruction set summary; Mesa 22.3.6 `brw_eu.c`. The operands of
//! `case` and `fork` are not published: they are read as two distances.

use super::{Format, OpcodeDesc, Table, Verx10, gen50, row};
use crate::inst::Opcode;

/// The table.
pub static TABLE: Table =
    Table::build(Verx10(60), Some(&gen50::TABLE), EXCLUDED, ROWS).named(&["snb", "sandybridge"]);

#[rustfmt::skip]
const EXCLUDED: &[Opcode] = &[
    Opcode::Iff,
    Opcode::Do,
    Opcode::Msave,
    Opcode::Mrest,
    Opcode::Push,
    Opcode::Pop,
];

#[rustfmt::skip]
const ROWS: &[OpcodeDesc] = &[
    row(Opcode::If,       34,  "if",      0, 0, Format::BranchCount),
    row(Opcode::Else,     36,  "else",    0, 0, Format::BranchCount),
    row(Opcode::Endif,    37,  "endif",   0, 0, Format::BranchCount),
    row(Opcode::Case,     38,  "case",    0, 0, Format::BranchUip),
    row(Opcode::While,    39,  "while",   0, 0, Format::BranchCount),
    row(Opcode::Break,    40,  "break",   0, 0, Format::BranchUip),
    row(Opcode::Cont,     41,  "cont",    0, 0, Format::BranchUip),
    row(Opcode::Halt,     42,  "halt",    0, 0, Format::BranchUip),
    row(Opcode::Call,     44,  "call",    0, 1, Format::Call),
    row(Opcode::Ret,      45,  "ret",     1, 0, Format::Basic),
    row(Opcode::Fork,     46,  "fork",    0, 0, Format::BranchUip),
    row(Opcode::Math,     56,  "math",    2, 1, Format::Math),
    row(Opcode::Mad,      91,  "mad",     3, 1, Format::Three),
    row(Opcode::Lrp,      92,  "lrp",     3, 1, Format::Three),
];
