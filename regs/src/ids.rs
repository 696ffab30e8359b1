//! Names of all commands, registers and units over all generations.
//! The order is alphabetical.
//! Generated from `regs/tables`.
#![allow(
    clippy::all,
    clippy::pedantic,
    missing_docs,
    unused_imports,
    reason = "generated; the tables hold the prose"
)]

include!(concat!(env!("OUT_DIR"), "/ids.rs"));
