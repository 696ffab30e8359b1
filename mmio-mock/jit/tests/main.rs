//! Compiled stretches against the interpreter, bit for bit.
#![allow(clippy::unwrap_used, reason = "tests")]
#![cfg(target_arch = "x86_64")]

mod agree;
mod captured;
mod flow;
mod forms;
mod graph;
mod integers;
mod kernels;
mod straight;
mod truncated;
