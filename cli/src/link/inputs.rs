//! Files that this program reads: no result goes over one of them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use super::Spot;

/// Directories in a capture's directory, one in the other, that have files of the capture.
const DEPTH: usize = 3;
/// Files of a capture that are looked at; one has some hundred.
const MOST: usize = 1 << 20;

static READ: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Notes that a file, or a capture in a directory, is read. `-` is standard input.
pub fn note(path: &Path) {
    let path = actual(path);
    let mut read = READ.lock();
    if !read.iter().any(|other| other == path) {
        read.push(path.to_owned());
    }
}

/// Where a path of the command line leads.
fn actual(path: &Path) -> &Path {
    if path == Path::new("-") {
        Path::new("/dev/stdin")
    } else {
        path
    }
}

/// The one among paths that are read to which a place belongs.
pub fn read_as<'a>(spot: &Spot, paths: impl IntoIterator<Item = &'a Path>) -> Option<&'a Path> {
    paths.into_iter().find(|path| {
        let path = actual(path);
        fs::metadata(path).is_ok_and(|meta| {
            let mut left = MOST;
            spot.is(&meta) || meta.is_dir() && has(path, spot, DEPTH, &mut left)
        })
    })
}

/// Whether a file of the capture in a directory lies at a place: the packed one, or what the directories of its submissions have. Other
/// results may lie beside them.
fn has(directory: &Path, spot: &Spot, depth: usize, left: &mut usize) -> bool {
    let is_submission = directory.join("exec.json").exists();
    let is_unpacked = is_submission || directory.join("exec_0000").exists();
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| {
        if *left == 0 {
            return false;
        }
        *left -= 1;
        let path = entry.path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        let is_part = match extension {
            Some("json" | "bin") => is_submission,
            Some("crest") => !is_unpacked,
            _ => false,
        };
        fs::metadata(&path).is_ok_and(|meta| {
            is_part && spot.is(&meta)
                || depth > 0 && meta.is_dir() && has(&path, spot, depth - 1, left)
        })
    })
}

/// An error when a result would go over a file that is read.
pub(super) fn check(path: &Path) -> io::Result<()> {
    let read = READ.lock();
    if read.is_empty() {
        return Ok(());
    }
    let spot = Spot::of(path);
    match spot.and_then(|spot| read_as(&spot, read.iter().map(PathBuf::as_path))) {
        Some(_) => Err(io::Error::other(
            "this file is read, and would be written over",
        )),
        None => Ok(()),
    }
}
