//! `crestline pack`: a capture directory as one compressed file.
//!
//! No PRM chapter; the format is in docs/captures.md.

use std::path::PathBuf;

use crestline_cli::capture::{self, CaptureError, Problem};

use super::Error;

/// Arguments of `crestline pack`.
#[derive(clap::Args)]
pub struct Args {
    /// Directory with exec_NNNN directories in it
    dir: PathBuf,
    /// File to write, by custom NAME.crest
    out: PathBuf,
}

/// Packs.
pub fn run(args: &Args) -> Result<(), Error> {
    let bytes = capture::pack(&args.dir)?;
    std::fs::write(&args.out, &bytes)
        .map_err(|e| CaptureError::file(args.out.display().to_string(), Problem::Io(e)))?;
    super::print(&format!("{}: {} bytes\n", args.out.display(), bytes.len()))
}
