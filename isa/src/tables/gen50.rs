//! Ironlake opcode table: the instructions of G45 without `nenop`.
//!
//! PRM: Ironlake volume 4, instruction set summary; Mesa 22.3.6 `brw_eu.c`. Ironlake moves fields of
//! `send` and counts jumps in 64-bit units.

use super::{Table, Verx10, gen45};
use crate::inst::Opcode;

/// The table.
pub static TABLE: Table =
    Table::build(Verx10(50), Some(&gen45::TABLE), EXCLUDED, &[]).named(&["ilk"]);

#[rustfmt::skip]
const EXCLUDED: &[Opcode] = &[
    Opcode::Nenop,
];
