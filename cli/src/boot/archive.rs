//! Archives that Linux unpacks as its first file system.
//!
//! Format "newc" of Linux's Documentation/driver-api/early-userspace/buffer-format.rst, by the crate `cpio`. A guest has what Debian
//! has: `bin`, `lib` and their like are links to the directories of the same name in `usr`.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use cpio::newc::{Builder, ModeFileType, trailer};

use super::Error;

/// Directories that are links into `usr`.
const MERGED: [&str; 4] = ["bin", "lib", "lib64", "sbin"];
/// An archive begins at a multiple of so many bytes.
const ALIGN: u64 = 4;

/// An archive that is being written. Names are paths in the guest, with or without the slash at their beginning.
pub struct Archive<W> {
    to: W,
    names: BTreeSet<String>,
}

/// Where a name lies when the directories that are links have been followed, without a slash at its beginning.
pub fn place(name: &str) -> String {
    let parts = name.split('/').filter(|part| !["", "."].contains(part));
    let name = parts.collect::<Vec<_>>().join("/");
    let first = name.split('/').next().unwrap_or_default();
    if MERGED.contains(&first) && name.len() > first.len() {
        format!("usr/{name}")
    } else {
        name
    }
}

impl<W: Write> Archive<W> {
    /// An archive without files.
    pub fn new(to: W) -> Self {
        Archive {
            to,
            names: BTreeSet::new(),
        }
    }

    /// The links from `/bin` and its like into `usr`.
    pub fn merged(&mut self) -> io::Result<()> {
        for name in MERGED {
            self.directory(&format!("usr/{name}"))?;
            self.link(name, &format!("usr/{name}"))?;
        }
        Ok(())
    }

    /// A directory and those above it, unless they are there.
    pub fn directory(&mut self, name: &str) -> io::Result<()> {
        let name = place(name);
        self.parents(&name)?;
        self.one_directory(&name)
    }

    fn one_directory(&mut self, name: &str) -> io::Result<()> {
        if name.is_empty() || MERGED.contains(&name) || !self.names.insert(name.to_owned()) {
            return Ok(());
        }
        let entry = Builder::new(name).mode(0o755).nlink(2);
        let entry = entry.set_mode_file_type(ModeFileType::Directory);
        entry.write(&mut self.to, 0).finish().map(drop)
    }

    fn parents(&mut self, name: &str) -> io::Result<()> {
        for (end, _) in name.match_indices('/') {
            self.one_directory(&name[..end])?;
        }
        Ok(())
    }

    /// A link; one of the same name that is there stays.
    pub fn link(&mut self, name: &str, target: &str) -> io::Result<()> {
        let name = place(name);
        self.parents(&name)?;
        if !self.names.insert(name.clone()) {
            return Ok(());
        }
        let entry = Builder::new(&name).mode(0o777);
        let entry = entry.set_mode_file_type(ModeFileType::Symlink);
        self.write(entry, &mut target.as_bytes(), target.len() as u64)
    }

    /// A file of this content; one of the same name that is there stays.
    pub fn bytes(&mut self, name: &str, mode: u32, bytes: &[u8]) -> io::Result<()> {
        self.content(name, mode, &mut &*bytes, bytes.len() as u64)
    }

    /// A file of this machine; one of the same name in the archive that is there stays.
    pub fn file(&mut self, name: &str, from: &Path) -> io::Result<()> {
        let mut file = File::open(from)?;
        let meta = file.metadata()?;
        self.content(name, meta.permissions().mode(), &mut file, meta.len())
    }

    fn content(&mut self, name: &str, mode: u32, from: &mut dyn Read, len: u64) -> io::Result<()> {
        let name = place(name);
        self.parents(&name)?;
        if !self.names.insert(name.clone()) {
            return Ok(());
        }
        let entry = Builder::new(&name).mode(mode & 0o7777);
        let entry = entry.set_mode_file_type(ModeFileType::Regular);
        self.write(entry, from, len)
    }

    fn write(&mut self, entry: Builder, from: &mut dyn Read, len: u64) -> io::Result<()> {
        let size = u32::try_from(len).map_err(|_| io::Error::other("4 GiB or more"))?;
        let mut to = entry.write(&mut self.to, size);
        let written = io::copy(&mut from.take(len), &mut to)?;
        if written != len {
            return Err(io::Error::other("it has become shorter while it was read"));
        }
        to.finish().map(drop)
    }

    /// All below a directory of this machine whose name in the guest `keep` wants. Second names of a file become links.
    ///
    /// # Errors
    /// Names the file that cannot be read, or whose name is not text.
    pub fn tree(
        &mut self,
        root: &Path,
        to: &str,
        keep: &dyn Fn(&str) -> bool,
    ) -> Result<(), Error> {
        self.level(root, to, keep, &mut HashMap::new())
    }

    fn level(
        &mut self,
        dir: &Path,
        to: &str,
        keep: &dyn Fn(&str) -> bool,
        seen: &mut HashMap<(u64, u64), String>,
    ) -> Result<(), Error> {
        let entries = fs::read_dir(dir).map_err(Error::at(dir))?;
        let entries: Result<Vec<_>, _> = entries.collect();
        let mut entries = entries.map_err(Error::at(dir))?;
        // The same tree gives the same archive.
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let no_text = || io::Error::other("the name is not UTF-8");
            let name = entry.file_name().into_string();
            let name = name.map_err(|_| Error::at(&path)(no_text()))?;
            let name = place(&format!("{to}/{name}"));
            if !keep(&name) {
                continue;
            }
            let meta = fs::symlink_metadata(&path).map_err(Error::at(&path))?;
            if meta.is_dir() {
                self.directory(&name).map_err(Error::at(&path))?;
                self.level(&path, &name, keep, seen)?;
            } else if meta.is_symlink() {
                let target = fs::read_link(&path).map_err(Error::at(&path))?;
                let target = target.to_str().ok_or_else(|| Error::at(&path)(no_text()))?;
                self.link(&name, target).map_err(Error::at(&path))?;
            } else if meta.is_file() {
                let first = seen.entry((meta.dev(), meta.ino()));
                let first = first.or_insert_with(|| name.clone());
                let done = if *first == name {
                    self.file(&name, &path)
                } else {
                    self.link(&name, &format!("/{first}"))
                };
                done.map_err(Error::at(&path))?;
            }
        }
        Ok(())
    }

    /// Whether a name is there.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(&place(name))
    }

    /// Ends the archive: where it went, and the names in it.
    pub fn finish(self) -> io::Result<(W, BTreeSet<String>)> {
        Ok((trailer(self.to)?, self.names))
    }
}

/// Appends archives, compressed or not, to a file: Linux unpacks one after another.
pub fn append(to: &mut File, parts: &[&Path]) -> Result<(), Error> {
    let mut at = 0;
    for part in parts {
        let mut from = File::open(part).map_err(Error::at(part))?;
        at += io::copy(&mut from, to).map_err(Error::at(part))?;
        let pad = at.next_multiple_of(ALIGN) - at;
        io::copy(&mut io::repeat(0).take(pad), to).map_err(Error::at(part))?;
        at += pad;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
