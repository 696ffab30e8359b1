//! The program and its library: listings, errors, files that it writes.
//!
//! One program for all of them: each test program costs a link, and most of a cold build was links.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    missing_docs,
    reason = "tests"
)]

mod advice;
mod assembler;
mod board;
mod board_replay;
mod boot;
mod captures;
mod common;
mod debug;
mod debug_live;
mod debug_told;
mod decode;
mod eu_run;
mod exec;
mod exec_place;
mod first_kernels;
mod first_steps;
mod links;
mod listing;
mod logging;
mod media_kernels;
mod media_refused;
mod media_run;
mod outputs;
mod pages;
mod program;
mod readme;
mod steps;
mod terminal;
mod traces;
mod vfio_user;
mod why;
