//! Files that a command writes: none is one that it reads, no two are one.

use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use crestline_cli::capture::Origin;
use crestline_cli::{link, shown};
use link::{Spot, inputs};

use super::Error;

/// What a command reads and writes.
#[derive(Default)]
pub struct Files<'a> {
    inputs: Vec<&'a Path>,
    /// Read before anything is written.
    early: Vec<&'a Path>,
    outputs: Vec<&'a Path>,
    dash_is_stdout: bool,
}

impl<'a> Files<'a> {
    /// Files, or a directory that is a capture.
    pub fn read(mut self, paths: impl IntoIterator<Item = &'a Path>) -> Self {
        self.inputs.extend(paths);
        self
    }

    /// Files that other results of the command may replace, when they have been read.
    pub fn read_early(mut self, paths: impl IntoIterator<Item = &'a Path>) -> Self {
        self.early.extend(paths);
        self
    }

    /// A capture.
    pub fn replays(self, origin: &'a Origin) -> Self {
        match origin {
            Origin::Path(path) => self.read([path.as_path()]),
            Origin::BuiltIn => self,
        }
    }

    /// Files that are told to be written.
    pub fn write(mut self, paths: impl IntoIterator<Item = &'a Path>) -> Self {
        self.outputs.extend(paths);
        self
    }

    /// The output `-` is standard output, and no file of this name.
    pub fn with_dash(mut self) -> Self {
        self.dash_is_stdout = true;
        self
    }

    /// An error when an output cannot be there, is read as well, or is written twice. When one is what standard output leads to, the
    /// command's words go to standard error from now on.
    pub fn check(&self) -> Result<(), Error> {
        for path in &self.inputs {
            inputs::note(path);
        }
        let mut before: Vec<(&Path, Spot)> = Vec::new();
        for &path in &self.outputs {
            let is_dash = self.dash_is_stdout && path == Path::new("-");
            if !is_dash {
                super::has_place(path)?;
            }
            let to_stdout = is_dash || is_stdout(path);
            if to_stdout {
                super::talk_on_stderr();
            }
            let spot = if to_stdout {
                Spot::of_stdout()
            } else {
                Spot::of(path)
            };
            let Some(spot) = spot else {
                continue;
            };
            let name = shown::path(path);
            if let Some(input) =
                inputs::read_as(&spot, self.inputs.iter().chain(&self.early).copied())
            {
                let input = shown::path(input);
                return Err(if input == name {
                    format!("{name}: this file is read, and would be written over").into()
                } else {
                    format!("{name}: this file is read as {input}, and would be written over")
                        .into()
                });
            }
            if let Some((other, _)) = before.iter().find(|(_, other)| other.is_same(&spot)) {
                let other = shown::path(other);
                return Err(if other == name {
                    format!("{name}: it is written twice").into()
                } else {
                    format!("{name}: it is the same file as {other}, and both are written").into()
                });
            }
            before.push((path, spot));
        }
        Ok(())
    }
}

/// Whether a path leads to the file or the pipe that standard output is. On a terminal nothing gets lost.
fn is_stdout(path: &Path) -> bool {
    let Ok(meta) = fs::metadata(path) else {
        return false;
    };
    let stdout = fs::metadata("/dev/stdout");
    let is_it = stdout.is_ok_and(|stdout| link::number(&stdout) == link::number(&meta));
    is_it && !meta.file_type().is_char_device()
}
