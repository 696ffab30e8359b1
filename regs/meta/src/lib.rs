//! Table parser, validation and emitters behind the `regs` crate.
//! No PRM chapter of its own: tables cite theirs. Runs at build time only.
#![forbid(unsafe_code)]

pub mod schema;
