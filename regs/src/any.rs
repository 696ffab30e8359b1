//! Types, register fields and values that mean the same in all generations.
//! Each item cites its own section.
//! Generated from `regs/tables`. What differs between generations is absent: the generation's own module decodes it.
#![allow(
    clippy::all,
    clippy::pedantic,
    missing_docs,
    unused_imports,
    reason = "generated; the tables hold the prose"
)]

include!(concat!(env!("OUT_DIR"), "/any.rs"));
