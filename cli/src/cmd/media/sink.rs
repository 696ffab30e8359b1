//! Where `crestline media run` writes: files opened early, standard output.
//!
//! A file that is there changes when there is something to write. In a directory where other users write it is made anew when it is opened.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crestline_cli::{link, shown};
use nix::fcntl::OFlag;

use crate::cmd::Error;

/// A file that can be written, or standard output, which is `-`.
pub struct Sink {
    path: PathBuf,
    /// `None` is standard output.
    file: Option<File>,
    /// It was not there before, and nothing has been written yet.
    fresh: bool,
}

impl Sink {
    /// Opens a file, or makes it; what is in it stays.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let opened = || -> std::io::Result<(Option<File>, bool)> {
            if path == Path::new("-") {
                return Ok((None, false));
            }
            match link::to_write(path, OFlag::empty(), link::ALL) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    // Through a link that leads nowhere a file may come to be, which stays then.
                    let fresh = path.symlink_metadata().is_err();
                    let file = link::to_write(path, OFlag::O_CREAT, link::ALL)?;
                    Ok((Some(file), fresh))
                }
                other => Ok((Some(other?), false)),
            }
        };
        let (file, fresh) = opened().map_err(|error| format!("{}: {error}", shown::path(path)))?;
        Ok(Sink {
            path: path.to_owned(),
            file,
            fresh,
        })
    }

    /// The name for messages.
    pub fn name(&self) -> String {
        match self.file {
            Some(_) => shown::path(&self.path),
            None => "<stdout>".to_owned(),
        }
    }

    /// Whether it is standard output.
    pub fn is_stdout(&self) -> bool {
        self.file.is_none()
    }

    /// Whether both are one file by whatever names, or both are standard output. Devices and pipes are never one.
    pub fn same(&self, other: &Sink) -> bool {
        let place = |file: &File| {
            let meta = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
            Some((meta.dev(), meta.ino()))
        };
        match (&self.file, &other.file) {
            (Some(one), Some(two)) => place(one).is_some_and(|one| Some(one) == place(two)),
            (None, None) => true,
            _ => false,
        }
    }

    /// Replaces the contents by what `put` writes.
    pub fn write(
        &mut self,
        put: impl FnOnce(&mut dyn Write) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.fresh = false;
        let written = if let Some(file) = &self.file {
            replace(file, put)
        } else {
            let mut out = std::io::stdout().lock();
            let put = put(&mut out).and_then(|()| Ok(out.flush()?));
            // A reader that has seen enough is no error.
            put.or_else(|error| match error.downcast_ref::<std::io::Error>() {
                Some(io) if io.kind() == ErrorKind::BrokenPipe => Ok(()),
                _ => Err(error),
            })
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

/// Opens what will be written, each once.
pub fn open_all<'a>(paths: impl Iterator<Item = &'a Path>) -> Result<Vec<Sink>, Error> {
    let mut sinks: Vec<Sink> = Vec::new();
    for path in paths {
        let sink = Sink::open(path)?;
        if let Some(other) = sinks.iter().find(|other| other.same(&sink)) {
            let (name, other) = (sink.name(), other.name());
            let which = if name == other {
                "it is written twice".to_owned()
            } else {
                format!("it is the same file as {other}, and both are written")
            };
            return Err(format!("{name}: {which}").into());
        }
        sinks.push(sink);
    }
    Ok(sinks)
}
