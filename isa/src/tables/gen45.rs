//! G45 opcode table: Gen4 plus `pln` and `movi`.
//!
//! PRM: G45 volume 4, instruction set summary. Numbers as in Mesa 22.3.6 `brw_eu.c`; `nenop` is
//! not listed.

use super::{Format, OpcodeDesc, Table, gen40};
use crate::inst::{Opcode, Verx10};

/// The table.
pub static TABLE: Table = Table {
    generation: Verx10(45),
    import: Some(&gen40::TABLE),
    exclude: &[],
    own: ROWS,
};

const ROWS: &[OpcodeDesc] = &[
    OpcodeDesc {
        opcode: Opcode::Movi,
        hw: 3,
        mnemonic: "movi",
        nsrc: 2,
        ndst: 1,
        format: Format::Basic,
    },
    OpcodeDesc {
        opcode: Opcode::Sendc,
        hw: 50,
        mnemonic: "sendc",
        nsrc: 1,
        ndst: 1,
        format: Format::Send,
    },
    OpcodeDesc {
        opcode: Opcode::Pln,
        hw: 90,
        mnemonic: "pln",
        nsrc: 2,
        ndst: 1,
        format: Format::Basic,
    },
];
