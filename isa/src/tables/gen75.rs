//! Haswell opcode table: Ivybridge plus `dim` and `calla`.
//!
//! PRM: Haswell volume 2b, instructions; Mesa 22.3.6 `brw_eu.c`.

use super::{Format, OpcodeDesc, Table, Verx10, gen70, row};
use crate::inst::Opcode;

/// The table.
pub static TABLE: Table =
    Table::build(Verx10(75), Some(&gen70::TABLE), &[], ROWS).named(&["hsw", "haswell"]);

#[rustfmt::skip]
const ROWS: &[OpcodeDesc] = &[
    row(Opcode::Dim,      10,  "dim",     1, 1, Format::Dim),
    row(Opcode::Calla,    43,  "calla",   0, 1, Format::Call),
];
