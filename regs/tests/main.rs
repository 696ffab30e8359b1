//! Tables, typed accessors and decoding against sources that never saw the tables.
//!
//! One program for all of them: each test program costs a link, and most of a cold build was links.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    reason = "tests"
)]

mod document;
mod driver_registers;
mod dump_decode;
mod formats;
mod frames;
mod generations;
mod genxml;
mod properties;
mod rules;
mod tables;
mod typed;
mod vectors;
