//! Skylake and Broxton opcode table: Broadwell plus the split sends.
//!
//! PRM: Skylake volume 2a, instructions; Mesa 22.3.6 `brw_eu.c`.

use super::{Format, OpcodeDesc, Table, Verx10, gen80, row};
use crate::inst::Opcode;

/// The table.
pub static TABLE: Table = Table::build(Verx10(90), Some(&gen80::TABLE), &[], ROWS)
    .named(&["skl", "skylake", "bxt", "broxton"]);

#[rustfmt::skip]
const ROWS: &[OpcodeDesc] = &[
    row(Opcode::Sends,    51,  "sends",   2, 1, Format::SendSplit),
    row(Opcode::Sendsc,   52,  "sendsc",  2, 1, Format::SendSplit),
];
