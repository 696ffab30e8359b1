//! Registers, commands and state structures, generated from the tables.
//! The tables in `regs/tables` cite their sections; see `regs/tables/SCHEMA.md`.
//! Does not model behaviour: what a write does beyond its access type is the unit's business.
//!
//! `genNN` holds what a generation has. `any` holds what all generations have with one layout, so that
//! code that serves several generations need not name one; a name that means different layouts is absent there.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod any;
pub mod check;
pub mod decode;
pub mod desc;
pub mod field;
pub mod r#gen;
pub mod ids;
mod opcodes;
pub mod platform;
pub mod walk;

pub use r#gen::*;
