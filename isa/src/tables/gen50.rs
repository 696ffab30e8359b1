//! Ironlake opcode table: the same instructions as G45.
//!
//! PRM: Ironlake volume 4, instruction set summary. Ironlake moves fields of `send` and counts jumps
//! in 64-bit units; the decoder does not accept this generation yet.

use super::{Table, gen45};
use crate::inst::Verx10;

/// The table.
pub static TABLE: Table = Table {
    generation: Verx10(50),
    import: Some(&gen45::TABLE),
    exclude: &[],
    own: &[],
};
