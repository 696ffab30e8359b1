//! Table parser, validation and emitters behind the `regs` crate.
//! Tables cite their chapters. Runs at build time only.
#![forbid(unsafe_code)]

mod amend;
mod docs;
mod emit;
mod load;
mod model;
mod names;
mod origin;
pub mod schema;
mod validate;

#[cfg(test)]
mod tests;

pub use docs::docs;
pub use emit::{any, generation, ids};
pub use load::{generations, load};
pub use model::Tables;

use std::path::PathBuf;

/// Why tables could not be turned into code or pages.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file is no valid table file.
    #[error("{}: {message}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// The parser's message with line and column.
        message: String,
    },
    /// Tables contradict themselves; one line per finding.
    #[error("tables of {generation}:\n  {}", findings.join("\n  "))]
    Invalid {
        /// The generation row.
        generation: String,
        /// `NAME: what is wrong`.
        findings: Vec<String>,
    },
    /// A generated page differs from the one on disk.
    #[error("generated pages are out of date: {}", .0.join(", "))]
    Stale(Vec<String>),
}
