//! G45 opcode table: Gen4 plus `movi`, `sendc`, `pln` and `nenop`.
//!
//! PRM: G45 volume 4, instruction set summary. Numbers as in Mesa 22.3.6 `brw_eu.c`, which does not
//! say whether G45 has `sendc`; its assembler takes it.

use super::{Format, OpcodeDesc, Table, Verx10, gen40, row};
use crate::inst::Opcode;

/// The table.
pub static TABLE: Table = Table::build(Verx10(45), Some(&gen40::TABLE), &[], ROWS).named(&["g4x"]);

#[rustfmt::skip]
const ROWS: &[OpcodeDesc] = &[
    row(Opcode::Movi,     3,   "movi",    2, 1, Format::Basic),
    row(Opcode::Sendc,    50,  "sendc",   1, 1, Format::Send),
    row(Opcode::Pln,      90,  "pln",     2, 1, Format::Basic),
    row(Opcode::Nenop,    125, "nenop",   0, 0, Format::Bare),
];
