//! Registers, commands and state structures, generated from the tables.
//! The tables in `regs/tables` cite their sections; see `regs/tables/SCHEMA.md`.
//! Does not model behaviour: what a write does beyond its access type is the unit's business.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod decode;
pub mod desc;
pub mod field;
pub mod gen40;
pub mod ids;
pub mod platform;

#[cfg(test)]
mod roundtrip;
