//! `crestline pack`: a capture directory as one compressed file.
//!
//! No PRM chapter; the format is in docs/captures.md.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crestline_cli::capture::{self, CaptureError, Problem};

use super::Error;
use super::progress::Progress;

/// Arguments of `crestline pack`.
#[derive(clap::Args)]
pub struct Args {
    /// Directory that `crestline exec --record` wrote: it has exec_NNNN directories in it
    dir: PathBuf,
    /// File to write; the usual name is NAME.crest
    out: PathBuf,
}

/// Packs.
pub fn run(args: &Args) -> Result<(), Error> {
    let fail = |e| CaptureError::file(args.out.display().to_string(), Problem::Io(e));
    // Checked before the file is made: what is no capture leaves no file.
    let mut out = Late {
        path: &args.out,
        file: None,
        bytes: 0,
    };
    let progress = Progress::long("packing");
    let packed = capture::pack_into(&args.dir, &mut out);
    drop(progress);
    packed?;
    out.flush().map_err(fail)?;
    let bytes = out.bytes;
    super::print(&format!("{}: {bytes} bytes\n", args.out.display()))
}

/// A file that is made when the first byte is written.
struct Late<'a> {
    path: &'a Path,
    file: Option<BufWriter<File>>,
    bytes: u64,
}

impl Late<'_> {
    fn fail(&self, error: &std::io::Error) -> std::io::Error {
        std::io::Error::new(error.kind(), format!("{}: {error}", self.path.display()))
    }
}

impl Write for Late<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.file.is_none() {
            let file = File::create(self.path).map_err(|e| self.fail(&e))?;
            self.file = Some(BufWriter::new(file));
        }
        let Some(file) = &mut self.file else {
            return Ok(0);
        };
        let written = file.write(bytes);
        let count = written.map_err(|e| self.fail(&e))?;
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
