//! Tables of ValleyView as types and descriptors.
//! genxml and i915; each item cites its own section.
//! Generated from `regs/tables/intel/gen70`.
#![allow(
    clippy::all,
    clippy::pedantic,
    missing_docs,
    unused_imports,
    reason = "generated; the tables hold the prose"
)]

include!(concat!(env!("OUT_DIR"), "/gen70.rs"));
