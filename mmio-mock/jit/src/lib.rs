//! Machine code and vectors: what is made for the host that the model runs on.
//!
//! Stretches of kernels become machine code on hosts with AVX2 and FMA, else loops. The only code of the model that is unsafe: it calls what it has made, functions that only some hosts can run, and work that other threads
//! have ([`Crew`]). Memory is written first and executable then, never both. The host's rounding mode and flags stay as Rust has them.
#![deny(unsafe_code)]
#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, reason = "the emitter is for one architecture")
)]

use eu::stretch::Compiler;
use std::sync::Arc;

mod clean;
#[cfg(target_arch = "x86_64")]
mod code;
mod constants;
mod crew;
pub mod eight;
#[cfg(target_arch = "x86_64")]
mod emit;
#[cfg(target_arch = "x86_64")]
mod held;
mod loops;
mod vectors;

pub use crew::Crew;
pub use loops::{loops, plain_loops};
pub use vectors::{vectors, wide};

/// The compiler of this host; `None` where it has none: another architecture, no AVX2 or FMA, or no memory that may be
/// made executable.
#[must_use]
pub fn compiler() -> Option<Arc<dyn Compiler>> {
    #[cfg(target_arch = "x86_64")]
    {
        code::compiler()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        None
    }
}
