//! `crestline pack`: a capture directory as one compressed file.
//!
//! The format is in docs/captures.md.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crestline_cli::capture::{CaptureError, Problem};
use crestline_cli::{link, shown};
use kernel::string_helpers::Counted;

use super::outputs::Files;
use super::progress::Progress;
use super::{Error, captured};

/// Arguments of `crestline pack`.
#[derive(clap::Args)]
pub struct Args {
    #[arg(value_name = "CAPTURE", help = captured::HELP)]
    capture: PathBuf,
    /// File to write; the usual name is NAME.crest
    out: PathBuf,
}

/// Packs.
pub fn run(args: &Args) -> Result<(), Error> {
    let fail = |e| CaptureError::file(shown::path(&args.out), Problem::Io(e));
    let origin = captured::find(&args.capture)?;
    Files::default()
        .replays(&origin)
        .write([args.out.as_path()])
        .check()?;
    // Checked before the file is made: what is no capture leaves no file.
    let mut out = Late {
        path: &args.out,
        file: None,
        bytes: 0,
        failed: false,
    };
    let progress = Progress::long("packing");
    let packed = origin.pack_into(&mut out);
    drop(progress);
    match packed {
        // The file that is written has failed, not the capture.
        Err(CaptureError {
            problem: problem @ Problem::Io(_),
            ..
        }) if out.failed => {
            return Err(CaptureError::file(shown::path(&args.out), problem).into());
        }
        packed => packed?,
    }
    out.flush().map_err(fail)?;
    let bytes = Counted(out.bytes, "byte");
    super::print(&format!("{}: {bytes}\n", shown::path(&args.out)))
}

/// A file that is made when the first byte is written.
struct Late<'a> {
    path: &'a Path,
    file: Option<BufWriter<File>>,
    bytes: u64,
    /// An error was one of this file.
    failed: bool,
}

impl Write for Late<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.file.is_none() {
            let file = link::create(self.path, link::ALL).inspect_err(|_| self.failed = true)?;
            self.file = Some(BufWriter::new(file));
        }
        let Some(file) = &mut self.file else {
            return Ok(0);
        };
        let count = file.write(bytes).inspect_err(|_| self.failed = true)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match &mut self.file {
            Some(file) => file.flush(),
            None => Ok(()),
        }
    }
}
