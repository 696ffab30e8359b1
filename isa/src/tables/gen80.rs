//! Broadwell opcode table: distances in bytes, `csel`, `madm`, `goto`, `join`.
//!
//! PRM: Broadwell volume 2a, instructions; Mesa 22.3.6 `brw_eu.c`, which lacks `join`.

use super::{Format, OpcodeDesc, Table, Verx10, gen75, row};
use crate::inst::Opcode;

/// The table.
pub static TABLE: Table =
    Table::build(Verx10(80), Some(&gen75::TABLE), EXCLUDED, ROWS).named(&["bdw", "broadwell"]);

#[rustfmt::skip]
const EXCLUDED: &[Opcode] = &[
    Opcode::Dim,
    Opcode::F32to16,
    Opcode::F16to32,
];

#[rustfmt::skip]
const ROWS: &[OpcodeDesc] = &[
    row(Opcode::Smov,     10,  "smov",    2, 1, Format::Basic),
    row(Opcode::Csel,     18,  "csel",    3, 1, Format::Three),
    row(Opcode::Else,     36,  "else",    0, 0, Format::BranchUip),
    row(Opcode::Goto,     46,  "goto",    0, 0, Format::BranchUip),
    row(Opcode::Join,     47,  "join",    0, 0, Format::BranchJip),
    row(Opcode::Madm,     93,  "madm",    3, 1, Format::Three),
];
