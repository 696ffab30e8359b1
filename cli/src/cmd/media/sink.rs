//! Where `crestline media run` writes: files opened early, standard output.
//!
//! A file that is there changes when there is something to write.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crestline_cli::link::{self, Replacement};
use crestline_cli::shown;
use nix::fcntl::OFlag;

use crate::cmd::Error;
use crate::cmd::outputs::Files;

/// A file that can be written, or standard output, which is `-`.
pub struct Sink {
    path: PathBuf,
    to: To,
    /// It was not there before, and nothing has been written yet.
    fresh: bool,
}

enum To {
    Stdout,
    File(File),
    /// In a directory where others write.
    Replacement(Option<Replacement>),
}

impl Sink {
    /// Opens a file, or makes it; what is in it stays.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let opened = || -> std::io::Result<(To, bool)> {
            if is_stdout(path) {
                return Ok((To::Stdout, false));
            }
            if let Some(new) = Replacement::where_others_write(path)? {
                return Ok((To::Replacement(Some(new)), false));
            }
            match link::to_write(path, OFlag::empty(), link::ALL) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    // Through a link that leads nowhere a file may come to be, which stays then.
                    let fresh = path.symlink_metadata().is_err();
                    let file = link::to_write(path, OFlag::O_CREAT, link::ALL)?;
                    Ok((To::File(file), fresh))
                }
                other => Ok((To::File(other?), false)),
            }
        };
        let (to, fresh) = opened().map_err(|error| format!("{}: {error}", shown::path(path)))?;
        Ok(Sink {
            path: path.to_owned(),
            to,
            fresh,
        })
    }

    /// The name for messages.
    pub fn name(&self) -> String {
        match self.to {
            To::Stdout => "<stdout>".to_owned(),
            _ => shown::path(&self.path),
        }
    }

    /// Whether it is standard output.
    pub fn is_stdout(&self) -> bool {
        matches!(self.to, To::Stdout)
    }

    /// Replaces the contents by what `put` writes.
    pub fn write(
        &mut self,
        put: impl FnOnce(&mut dyn Write) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.fresh = false;
        let written = match &mut self.to {
            To::File(file) => replace(file, put),
            To::Replacement(new) => match new.take() {
                Some(mut new) => replace(new.file(), put).and_then(|()| Ok(new.finish()?)),
                None => Err("it is written twice".into()),
            },
            To::Stdout => {
                let mut out = std::io::stdout().lock();
                let put = put(&mut out).and_then(|()| Ok(out.flush()?));
                // A reader that has seen enough is no error.
                put.or_else(|error| match error.downcast_ref::<std::io::Error>() {
                    Some(io) if io.kind() == ErrorKind::BrokenPipe => Ok(()),
                    _ => Err(error),
                })
            }
        };
        written.map_err(|error| format!("{}: {error}", self.name()).into())
    }
}

fn replace(
    file: &File,
    put: impl FnOnce(&mut dyn Write) -> Result<(), Error>,
) -> Result<(), Error> {
    // A device has no length.
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    let mut out = BufWriter::new(file);
    put(&mut out)?;
    Ok(out.flush()?)
}

impl Drop for Sink {
    fn drop(&mut self) {
        if self.fresh {
            // It is empty, and what cannot be removed stays.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Opens the files that will be written. An error when two of them are one file, or one of them is a kernel.
pub fn open_all<'a>(
    paths: impl Iterator<Item = &'a Path>,
    kernels: impl Iterator<Item = &'a Path>,
) -> Result<Vec<Sink>, Error> {
    let paths: Vec<&Path> = paths.collect();
    let files = paths.iter().copied();
    Files::default()
        .read(kernels)
        .write(files)
        .with_dash()
        .check()?;
    if paths.iter().filter(|path| is_stdout(path)).count() > 1 {
        return Err("<stdout>: it is written twice".into());
    }
    paths.into_iter().map(Sink::open).collect()
}

/// Whether a path stands for standard output.
fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}
