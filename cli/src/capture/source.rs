//! Where the files of a capture lie: in a directory or in a packed file.
//!
//! Only regular files with plain names are opened.

use std::fs;
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

use kernel::string_helpers::escape;

use super::contents::Contents;
use super::error::{CaptureError, Problem};
use super::pack::Unpacked;
use super::{Limits, pack};
use crate::shown;

/// The files.
pub enum Source {
    /// A directory that holds `exec_NNNN`.
    Directory(PathBuf),
    /// A packed capture: name of the file, and the files in it.
    Packed(String, Unpacked),
}

impl Source {
    /// Opens a directory or a packed file.
    pub fn open(path: &Path, limits: Limits) -> Result<Self, CaptureError> {
        let name = shown::path(path);
        let fail = |problem| CaptureError::file(name.as_str(), problem);
        let meta = fs::metadata(path).map_err(|e| fail(Problem::Io(e)))?;
        if meta.is_dir() {
            return match packed_in(path).map_err(fail)? {
                Some(file) => Self::open(&file, limits),
                None => Ok(Source::Directory(path.to_owned())),
            };
        }
        if !meta.is_file() {
            return Err(fail(Problem::NotACapture("not a regular file")));
        }
        let file = fs::File::open(path).map_err(|e| fail(Problem::Io(e)))?;
        Self::unpack(&name, BufReader::new(file), limits)
    }

    /// Unpacks a packed capture.
    pub fn unpack(
        name: &str,
        packed: impl std::io::BufRead,
        limits: Limits,
    ) -> Result<Self, CaptureError> {
        let files = pack::unpack(name, packed, limits)?;
        Ok(Source::Packed(name.to_owned(), files))
    }

    /// Name of the directory or file.
    pub fn name(&self) -> String {
        match self {
            Source::Directory(path) => shown::path(path),
            Source::Packed(name, _) => name.clone(),
        }
    }

    /// Names of the submissions in order; the empty name stands for the directory itself.
    pub fn execs(&self, limits: Limits) -> Result<Vec<String>, CaptureError> {
        let fail = |problem| CaptureError::file(self.name(), problem);
        let mut names = Vec::new();
        match self {
            Source::Directory(path) => {
                for entry in fs::read_dir(path).map_err(|e| fail(Problem::Io(e)))? {
                    let entry = entry.map_err(|e| fail(Problem::Io(e)))?;
                    let name = entry.file_name();
                    if let Some(name) = name.to_str()
                        && is_exec(name)
                        && entry.path().is_dir()
                    {
                        names.push(name.to_owned());
                    }
                    if names.len() > limits.execs {
                        break;
                    }
                }
                if names.is_empty() && path.join(JSON).exists() {
                    names.push(String::new());
                }
            }
            Source::Packed(_, files) => names.extend(
                files
                    .names()
                    .filter_map(|file| file.strip_suffix("/exec.json"))
                    .filter(|name| is_exec(name))
                    .take(limits.execs.saturating_add(1))
                    .map(str::to_owned),
            ),
        }
        if names.is_empty() {
            let below = match self {
                Source::Directory(path) => super::named::below(path),
                Source::Packed(..) => Vec::new(),
            };
            return Err(fail(Problem::Empty(below)));
        }
        if names.len() > limits.execs {
            return Err(fail(Problem::TooManyExecs {
                found: names.len(),
                limit: limits.execs,
            }));
        }
        // By number; numbers of more digits come last.
        names.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
        Ok(names)
    }

    /// What a file of a submission is called in messages.
    pub fn file_name(&self, exec: &str, file: &str) -> String {
        match self {
            Source::Directory(path) => shown::path(path.join(exec).join(file)),
            Source::Packed(name, _) => format!("{name}:{exec}/{file}"),
        }
    }

    /// Finds a file of a submission.
    pub fn find(&self, exec: &str, file: &str) -> Result<Contents, CaptureError> {
        let shown = self.file_name(exec, file);
        let fail = |problem| CaptureError::file(shown.as_str(), problem);
        match self {
            Source::Directory(path) => {
                let path = path.join(exec).join(file);
                let meta = fs::metadata(&path).map_err(|e| fail(Problem::Io(e)))?;
                if !meta.is_file() {
                    return Err(fail(Problem::NotACapture("not a regular file")));
                }
                Ok(Contents::file(path, meta.len()))
            }
            Source::Packed(_, files) => {
                let Some((at, len)) = files.find(&format!("{exec}/{file}")) else {
                    let error = std::io::Error::new(std::io::ErrorKind::NotFound, "no such file");
                    return Err(fail(Problem::Io(error)));
                };
                Ok(Contents::spooled(files.spool.clone(), shown, at, len))
            }
        }
    }

    /// Reads a file of a submission, of at most `limit` bytes.
    pub fn read(&self, exec: &str, file: &str, limit: u64) -> Result<Vec<u8>, CaptureError> {
        let contents = self.find(exec, file)?;
        let found = contents.len();
        if found > limit {
            let shown = self.file_name(exec, file);
            return Err(CaptureError::file(
                shown,
                Problem::TooLarge { found, limit },
            ));
        }
        contents.to_vec()
    }
}

/// The packed capture in a directory that is no capture itself.
fn packed_in(dir: &Path) -> Result<Option<PathBuf>, Problem> {
    if dir.join(JSON).exists() {
        return Ok(None);
    }
    let mut packed = Vec::new();
    for entry in fs::read_dir(dir).map_err(Problem::Io)?.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if name.to_str().is_some_and(is_exec) && path.is_dir() {
            return Ok(None);
        }
        if path.extension().is_some_and(|e| e == pack::EXTENSION) && path.is_file() {
            packed.push(path);
        }
    }
    packed.sort();
    match packed.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one.clone())),
        several => Err(Problem::Several(several.to_vec())),
    }
}

/// The description of a submission.
pub const JSON: &str = "exec.json";

/// Whether a directory is called `exec_` and a number.
pub fn is_exec(name: &str) -> bool {
    name.strip_prefix("exec_")
        .is_some_and(|n| !n.is_empty() && n.len() <= 9 && n.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether a name stays in its directory, and in its line where it is printed.
pub fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.len() < 256
        && name != "."
        && name != ".."
        && !name.contains(['/', '\\'])
        && escape(name) == name
}

/// Reads at most `limit` bytes of a stream.
pub fn up_to(stream: impl std::io::Read, limit: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}
