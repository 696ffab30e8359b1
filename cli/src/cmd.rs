//! The subcommands: each has its arguments and a `run`.
//!
//! No PRM chapter.

pub mod asm;
mod captured;
pub mod debug;
pub mod decode;
mod device;
pub mod disasm;
pub mod eu;
pub mod exec;
pub mod limits;
mod listing;
pub mod media;
pub mod pack;
pub mod regs;
pub mod replay;
pub mod report;
mod source;
mod summary;
mod trace;
pub mod why;

/// What a subcommand can fail with; printed as it is.
pub type Error = Box<dyn std::error::Error>;

/// Writes to standard output; a reader that has seen enough is no error.
pub fn print(text: &str) -> Result<(), Error> {
    use std::io::{ErrorKind, Write};
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(e.into()),
        _ => Ok(()),
    }
}
