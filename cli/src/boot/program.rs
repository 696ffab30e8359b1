//! What goes into the guest beside its tree: program, libraries, files.
//!
//! Libraries are those that the dynamic loader of this machine takes (ldd(1)); what the tree has of them stays the tree's.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use super::archive::Archive;
use super::tree::{LIBRARIES, Tree};
use super::{Error, output};
use crate::{shown, start};

/// The directory in the guest where the program runs.
pub const OUT: &str = "/out";
/// Bytes of a script's first line that Linux looks at (execve(2)).
const FIRST_LINE: u64 = 256;

/// Files of this machine by their places in the guest, and how the program is called there.
#[derive(Debug, Default)]
pub struct Luggage {
    files: BTreeMap<String, PathBuf>,
    library_dirs: Vec<String>,
    /// The program and its arguments, in the guest.
    pub words: Vec<OsString>,
}

impl Luggage {
    /// Packs a program with what it needs. A word with a slash is a file of this machine, any other a program of the guest or, where
    /// that has none, of this machine's PATH.
    ///
    /// # Errors
    /// When there is no such program, or a library of it is missing.
    pub fn program(&mut self, command: &[OsString], tree: &Tree) -> Result<(), Error> {
        let Some((name, rest)) = command.split_first() else {
            return Ok(());
        };
        let place = self.find(name, tree)?;
        self.words.push(place.into());
        self.words.extend(rest.iter().cloned());
        Ok(())
    }

    /// Where the program will lie.
    fn find(&mut self, name: &OsStr, tree: &Tree) -> Result<String, Error> {
        let text = name.to_string_lossy();
        if !text.contains('/')
            && let Some(place) = tree.program(&text)
        {
            return Ok(format!("/{place}"));
        }
        let path = Path::new(name);
        match start::look_for(path) {
            Ok(found) => self.executable(&found, tree, true),
            Err(_) if path.is_absolute() && tree.has(&text) => Ok(text.into_owned()),
            Err(error) => Err(Error::NoProgram(format!(
                "{}: {}",
                shown::path(path),
                start::why(path, &error)
            ))),
        }
    }

    /// Packs a file that can be executed, and what runs it. Where it will lie: where it lies here.
    fn executable(&mut self, path: &Path, tree: &Tree, follow: bool) -> Result<String, Error> {
        let place = self.file(path, None)?;
        if let Some(interpreter) = interpreter(path).map_err(Error::at(path))? {
            let text = interpreter.to_string_lossy().into_owned();
            // An interpreter may be a script with an interpreter of its own. execve(2) follows four of them; two are enough here.
            if !tree.has(&text) && follow {
                self.executable(&interpreter, tree, false)?;
            }
        } else {
            self.libraries(path, tree)?;
        }
        Ok(place)
    }

    fn libraries(&mut self, path: &Path, tree: &Tree) -> Result<(), Error> {
        let mut command = Command::new("ldd");
        command.arg(path).env("LC_ALL", "C");
        let output = output(&mut command, "libc-bin", "it names the program's libraries")?;
        // It fails for what is linked statically, which needs none.
        let text = String::from_utf8_lossy(&output.stdout);
        for library in ldd(&text) {
            let library = library.map_err(|name| {
                Error::Told(format!(
                    "{}: its library {name} is not on this machine",
                    shown::path(path)
                ))
            })?;
            let name = library.rsplit('/').next().unwrap_or_default();
            if tree.has_library(name) || tree.has(library) {
                continue;
            }
            let place = self.file(Path::new(library), None)?;
            let dir = place.rsplit_once('/').map_or("", |(dir, _)| dir);
            let usual = super::archive::place(dir);
            if !LIBRARIES.contains(&usual.as_str()) && !self.library_dirs.iter().any(|d| d == dir) {
                self.library_dirs.push(dir.to_owned());
            }
        }
        Ok(())
    }

    /// Packs a file or a directory of this machine, `HOST[:GUEST]`. Without a place in the guest it has that of this machine; one that
    /// does not begin with a slash is below the directory where the program runs.
    ///
    /// # Errors
    /// When it is not there.
    pub fn add(&mut self, words: &OsStr) -> Result<(), Error> {
        let text = words.to_string_lossy();
        // A file of the whole name goes before.
        let (host, guest) = match text.rsplit_once(':') {
            Some((host, guest)) if !Path::new(words).exists() => {
                (PathBuf::from(host), Some(guest.to_owned()))
            }
            _ => (PathBuf::from(words), None),
        };
        self.file(&host, guest.as_deref()).map(drop)
    }

    fn file(&mut self, host: &Path, guest: Option<&str>) -> Result<String, Error> {
        fs::metadata(host).map_err(Error::at(host))?;
        let place = match guest {
            Some(guest) => Path::new(OUT).join(guest),
            None => std::path::absolute(host).map_err(Error::at(host))?,
        };
        let place = plain(&place);
        let place = place.to_str().ok_or_else(|| {
            Error::at(host)(io::Error::other(
                "the name is not UTF-8; --add HOST:GUEST gives another",
            ))
        })?;
        self.files.insert(place.to_owned(), host.to_path_buf());
        Ok(place.to_owned())
    }

    /// Directories of libraries that the guest's loader has to be told.
    pub fn library_path(&self) -> String {
        self.library_dirs.join(":")
    }

    /// Writes all of it into an archive.
    ///
    /// # Errors
    /// Names the file that cannot be read.
    pub fn pack<W: io::Write>(&self, archive: &mut Archive<W>) -> Result<(), Error> {
        for (place, path) in &self.files {
            if path.is_dir() {
                archive.directory(place).map_err(Error::at(path))?;
                archive.tree(path, place, &|_| true)?;
            } else {
                archive.file(place, path).map_err(Error::at(path))?;
            }
        }
        Ok(())
    }
}

/// A path without `.` and `..`, as they are written.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::Normal(part) => plain.push(part),
            Component::ParentDir => drop(plain.pop()),
            _ => {}
        }
    }
    plain
}

/// The interpreter that a script's first line names.
fn interpreter(path: &Path) -> io::Result<Option<PathBuf>> {
    let mut line = Vec::new();
    let file = BufReader::new(File::open(path)?);
    file.take(FIRST_LINE).read_until(b'\n', &mut line)?;
    let Some(rest) = line.strip_prefix(b"#!") else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(rest);
    Ok(text.split_whitespace().next().map(PathBuf::from))
}

/// The files in what ldd prints; the error is a library that it has not found.
fn ldd(text: &str) -> impl Iterator<Item = Result<&str, &str>> {
    text.lines().filter_map(|line| {
        let line = line.trim();
        let (name, file) = line.split_once(" => ").unwrap_or((line, line));
        if file == "not found" {
            return Some(Err(name));
        }
        let file = file.split(" (0x").next()?;
        file.starts_with('/').then_some(Ok(file))
    })
}

#[cfg(test)]
mod tests;
