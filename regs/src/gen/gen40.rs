//! Tables of the 965 and GM965 generation as types and descriptors.
//! PRM volumes 1, 2 and 4; each item cites its own section.
//! Generated from `regs/tables/intel/gen40`.
#![allow(
    clippy::all,
    clippy::pedantic,
    missing_docs,
    unused_imports,
    reason = "generated; the tables hold the prose"
)]

include!(concat!(env!("OUT_DIR"), "/gen40.rs"));
