//! Where the files of a capture lie: in a directory or in a packed file.
//!
//! No PRM chapter. Only regular files with plain names are opened.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::error::{CaptureError, Problem};
use super::{Limits, pack};

/// The files.
pub enum Source {
    /// A directory that holds `exec_NNNN`.
    Directory(PathBuf),
    /// A packed capture: name of the file, and the files in it by `exec_NNNN/file`.
    Packed(String, BTreeMap<String, Vec<u8>>),
}

impl Source {
    /// Opens a directory or a packed file.
    pub fn open(path: &Path, limits: Limits) -> Result<Self, CaptureError> {
        let name = path.display().to_string();
        let meta =
            fs::metadata(path).map_err(|e| CaptureError::file(name.as_str(), Problem::Io(e)))?;
        if meta.is_dir() {
            return Ok(Source::Directory(path.to_owned()));
        }
        let limit = limits.buffer_bytes + limits.json_bytes;
        let bytes = read_file(path, &name, limit)?;
        Self::unpack(&name, &bytes, limits)
    }

    /// Opens a packed capture in memory.
    pub fn unpack(name: &str, bytes: &[u8], limits: Limits) -> Result<Self, CaptureError> {
        let files = pack::unpack(name, bytes, limits)?;
        Ok(Source::Packed(name.to_owned(), files))
    }

    /// Name of the directory or file.
    pub fn name(&self) -> String {
        match self {
            Source::Directory(path) => path.display().to_string(),
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
                    .keys()
                    .filter_map(|file| file.strip_suffix("/exec.json"))
                    .filter(|name| is_exec(name))
                    .map(str::to_owned),
            ),
        }
        if names.is_empty() {
            return Err(fail(Problem::Empty));
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
            Source::Directory(path) => path.join(exec).join(file).display().to_string(),
            Source::Packed(name, _) => format!("{name}:{exec}/{file}"),
        }
    }

    /// Reads a file of a submission, of at most `limit` bytes.
    pub fn read(&mut self, exec: &str, file: &str, limit: u64) -> Result<Vec<u8>, CaptureError> {
        let shown = self.file_name(exec, file);
        match self {
            Source::Directory(path) => read_file(&path.join(exec).join(file), &shown, limit),
            Source::Packed(_, files) => {
                let found = files.get(&format!("{exec}/{file}"));
                let found = found.ok_or_else(|| {
                    let error = std::io::Error::new(std::io::ErrorKind::NotFound, "no such file");
                    CaptureError::file(shown.as_str(), Problem::Io(error))
                })?;
                if found.len() as u64 > limit {
                    let found = found.len() as u64;
                    return Err(CaptureError::file(
                        shown,
                        Problem::TooLarge { found, limit },
                    ));
                }
                Ok(found.clone())
            }
        }
    }
}

/// The description of a submission.
pub const JSON: &str = "exec.json";

/// Whether a directory is called `exec_` and a number.
pub fn is_exec(name: &str) -> bool {
    name.strip_prefix("exec_")
        .is_some_and(|n| !n.is_empty() && n.len() <= 9 && n.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether a name stays in its directory.
pub fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.len() < 256
        && name != "."
        && name != ".."
        && !name.contains(['/', '\\', '\0'])
}

fn read_file(path: &Path, shown: &str, limit: u64) -> Result<Vec<u8>, CaptureError> {
    let fail = |problem| CaptureError::file(shown, problem);
    let meta = fs::metadata(path).map_err(|e| fail(Problem::Io(e)))?;
    if !meta.is_file() {
        return Err(fail(Problem::NotACapture("not a regular file")));
    }
    if meta.len() > limit {
        let found = meta.len();
        return Err(fail(Problem::TooLarge { found, limit }));
    }
    let file = fs::File::open(path).map_err(|e| fail(Problem::Io(e)))?;
    let mut bytes = Vec::new();
    // The file may grow while it is read.
    file.take(limit)
        .read_to_end(&mut bytes)
        .map_err(|e| fail(Problem::Io(e)))?;
    Ok(bytes)
}
