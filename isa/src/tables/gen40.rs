//! Gen4 (965, G35, GM965) opcode table.
//!
//! PRM: volume 4, 13.3 and 14.2 (46 instructions, `nop` among them, and `illegal`). Numbers as in
//! Mesa 22.3.6 `brw_eu.c`. What the mask stack instructions read is not settled: both sources and the
//! destination are decoded.

use super::{Format, OpcodeDesc, Table, Verx10, row};
use crate::inst::Opcode;

/// The table.
pub static TABLE: Table = Table::build(Verx10::GEN40, None, &[], ROWS).named(&["brw"]);

#[rustfmt::skip]
const ROWS: &[OpcodeDesc] = &[
    row(Opcode::Illegal, 0,   "illegal", 0, 0, Format::Bare),
    row(Opcode::Mov,     1,   "mov",     1, 1, Format::Basic),
    row(Opcode::Sel,     2,   "sel",     2, 1, Format::Basic),
    row(Opcode::Not,     4,   "not",     1, 1, Format::Basic),
    row(Opcode::And,     5,   "and",     2, 1, Format::Basic),
    row(Opcode::Or,      6,   "or",      2, 1, Format::Basic),
    row(Opcode::Xor,     7,   "xor",     2, 1, Format::Basic),
    row(Opcode::Shr,     8,   "shr",     2, 1, Format::Basic),
    row(Opcode::Shl,     9,   "shl",     2, 1, Format::Basic),
    row(Opcode::Asr,     12,  "asr",     2, 1, Format::Basic),
    row(Opcode::Cmp,     16,  "cmp",     2, 1, Format::Basic),
    row(Opcode::Cmpn,    17,  "cmpn",    2, 1, Format::Basic),
    row(Opcode::Jmpi,    32,  "jmpi",    2, 1, Format::Jump),
    row(Opcode::If,      34,  "if",      0, 0, Format::Branch),
    row(Opcode::Iff,     35,  "iff",     0, 0, Format::Branch),
    row(Opcode::Else,    36,  "else",    0, 0, Format::Branch),
    row(Opcode::Endif,   37,  "endif",   0, 0, Format::Branch),
    row(Opcode::Do,      38,  "do",      0, 0, Format::LoopHead),
    row(Opcode::While,   39,  "while",   0, 0, Format::Branch),
    row(Opcode::Break,   40,  "break",   0, 0, Format::Branch),
    row(Opcode::Cont,    41,  "cont",    0, 0, Format::Branch),
    row(Opcode::Halt,    42,  "halt",    0, 0, Format::Branch),
    row(Opcode::Msave,   44,  "msave",   2, 1, Format::Basic),
    row(Opcode::Mrest,   45,  "mrest",   2, 1, Format::Basic),
    row(Opcode::Push,    46,  "push",    2, 1, Format::Basic),
    row(Opcode::Pop,     47,  "pop",     2, 1, Format::Basic),
    row(Opcode::Wait,    48,  "wait",    1, 1, Format::Basic),
    row(Opcode::Send,    49,  "send",    1, 1, Format::Send),
    row(Opcode::Add,     64,  "add",     2, 1, Format::Basic),
    row(Opcode::Mul,     65,  "mul",     2, 1, Format::Basic),
    row(Opcode::Avg,     66,  "avg",     2, 1, Format::Basic),
    row(Opcode::Frc,     67,  "frc",     1, 1, Format::Basic),
    row(Opcode::Rndu,    68,  "rndu",    1, 1, Format::Basic),
    row(Opcode::Rndd,    69,  "rndd",    1, 1, Format::Basic),
    row(Opcode::Rnde,    70,  "rnde",    1, 1, Format::Basic),
    row(Opcode::Rndz,    71,  "rndz",    1, 1, Format::Basic),
    row(Opcode::Mac,     72,  "mac",     2, 1, Format::Basic),
    row(Opcode::Mach,    73,  "mach",    2, 1, Format::Basic),
    row(Opcode::Lzd,     74,  "lzd",     1, 1, Format::Basic),
    row(Opcode::Sad2,    80,  "sad2",    2, 1, Format::Basic),
    row(Opcode::Sada2,   81,  "sada2",   2, 1, Format::Basic),
    row(Opcode::Dp4,     84,  "dp4",     2, 1, Format::Basic),
    row(Opcode::Dph,     85,  "dph",     2, 1, Format::Basic),
    row(Opcode::Dp3,     86,  "dp3",     2, 1, Format::Basic),
    row(Opcode::Dp2,     87,  "dp2",     2, 1, Format::Basic),
    row(Opcode::Line,    89,  "line",    2, 1, Format::Basic),
    row(Opcode::Nop,     126, "nop",     0, 0, Format::Bare),
];
