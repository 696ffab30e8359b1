//! The subcommands: each has its arguments and a `run`.
//!
//! No PRM chapter.

pub mod pack;

/// What a subcommand can fail with; printed as it is.
pub type Error = Box<dyn std::error::Error>;
