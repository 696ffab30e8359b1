//! The served node, asked by clients in this process and in others.
//!
//! One program for all of them: each test program costs a link, and most of a cold build was links.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    reason = "tests"
)]

mod boards;
mod client;
mod closing;
mod contexts;
mod crossings;
mod devices;
mod endless;
mod errors;
mod held;

mod hostile;
mod large;
mod limits;
mod loops;
mod processes;
mod requests;
mod steps;
mod stuck;
mod support;
mod tree;
mod trust;
mod users;
mod views;
