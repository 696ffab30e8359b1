//! The files that a guest sends: taken apart, and put into a directory.
//!
//! A guest may send anything. Only files and directories are made, only below the directory, and no more bytes than it is told.

use std::fs;
use std::io::{self, BufRead};
use std::path::{Component, Path, PathBuf};

use cpio::newc::Reader;

use crate::link;

/// Bits of a mode: the kind of a file, a directory, a file (inode(7)).
const KIND: u32 = 0o170000;
const DIRECTORY: u32 = 0o040000;
const REGULAR: u32 = 0o100000;

/// What has come.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Returned {
    /// Files that have been made.
    pub files: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// Names of what has not been made: links, devices, names that lead elsewhere.
    pub left_out: Vec<String>,
}

/// Names that are kept of those that are left out.
const NAMES: usize = 20;

/// Reads an archive to its end and makes its files in a directory, which has to be there. A stream without a byte is an archive without
/// files. No more than `limit` bytes are read.
///
/// # Errors
/// What is no archive, ends amid a file or is too long, and what the system refuses.
pub fn unpack(mut from: impl BufRead, into: &Path, limit: u64) -> io::Result<Returned> {
    let mut returned = Returned::default();
    if from.fill_buf()?.is_empty() {
        return Ok(returned);
    }
    let mut from = from.take(limit);
    loop {
        let entry = Reader::new(from)?;
        let head = entry.entry().clone();
        if head.is_trailer() {
            return Ok(returned);
        }
        let place = below(head.name());
        let kind = head.mode() & KIND;
        if returned.bytes + u64::from(head.file_size()) > limit {
            return Err(too_long(limit));
        }
        from = match (place, kind) {
            (Some(place), DIRECTORY) => {
                fs::create_dir_all(into.join(place))?;
                entry.finish()?
            }
            (Some(place), REGULAR) => {
                let path = into.join(place);
                if let Some(dir) = path.parent() {
                    fs::create_dir_all(dir)?;
                }
                let mode = if head.mode() & 0o100 == 0 {
                    0o666
                } else {
                    0o777
                };
                let mut file = link::create(&path, mode)?;
                let rest = entry.to_writer(&mut file)?;
                if file.metadata()?.len() != u64::from(head.file_size()) {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                returned.files += 1;
                returned.bytes += u64::from(head.file_size());
                rest
            }
            _ => {
                if returned.left_out.len() < NAMES {
                    let name = head.name().chars().take(200);
                    returned.left_out.push(name.collect());
                }
                entry.finish()?
            }
        };
    }
}

fn too_long(limit: u64) -> io::Error {
    io::Error::other(format!(
        "more than {limit} bytes, which the guest cannot have"
    ))
}

/// A name as a path that leads nowhere but below a directory.
fn below(name: &str) -> Option<PathBuf> {
    let mut place = PathBuf::new();
    for part in Path::new(name).components() {
        match part {
            Component::Normal(part) => place.push(part),
            Component::CurDir => {}
            _ => return None,
        }
    }
    Some(place)
}

#[cfg(test)]
mod tests;
