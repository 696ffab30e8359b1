//! Which capture a word of the command line means: a path, or a name of the list.
//!
//! The list has the built-in frame and the captures under a directory. Links are not followed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::source::{JSON, is_exec};
use super::{Capture, CaptureError, EXTENSION, Limits, Reader};
use crate::alike::{self, last};

/// Name of the built-in frame: three gears and a torus, as Mesa submitted it for a GM965.
pub const BUILT_IN: &str = "gears";
/// The frame.
const GEARS: &[u8] = include_bytes!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tests/data/captures/gm965/g_gears/frame.crest"
));
/// A file of this name is called by its directory.
const FRAME: &str = "frame";
/// Directories below the first one that are looked into, and entries that are looked at.
const DEPTH: usize = 6;
const ENTRIES: usize = 20_000;

/// Where a capture is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// At a path.
    Path(PathBuf),
    /// In the program.
    BuiltIn,
}

impl From<PathBuf> for Origin {
    fn from(path: PathBuf) -> Self {
        Origin::Path(path)
    }
}

impl Origin {
    /// Opens it.
    pub fn open(&self) -> Result<Reader, CaptureError> {
        match self {
            Origin::Path(path) => Reader::open(path),
            Origin::BuiltIn => Reader::from_packed("built-in gears frame", GEARS),
        }
    }

    /// Packs it into `out`, as a stream; what is no capture writes nothing.
    pub fn pack_into(&self, out: &mut impl std::io::Write) -> Result<(), CaptureError> {
        match self {
            Origin::Path(path) => super::pack_into(path, out),
            // It is packed already.
            Origin::BuiltIn => out
                .write_all(GEARS)
                .map_err(|e| CaptureError::file(BUILT_IN, super::Problem::Io(e))),
        }
    }

    /// Reads all of it.
    pub fn load(&self) -> Result<Capture, CaptureError> {
        Capture::read(self.open()?, Limits::default(), usize::MAX)
    }
}

/// A capture with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name, which stands for it on the command line: that of its directory or file when no other has the same, `path`
    /// otherwise.
    pub name: String,
    /// Where it lies under the directory of all, which stands for it too.
    pub path: String,
    /// Where it is.
    pub origin: Origin,
}

/// The built-in frame and the captures under a directory, by name.
pub fn list(root: Option<&Path>) -> Vec<Named> {
    let mut found = Vec::new();
    if let Some(root) = root {
        let mut left = ENTRIES;
        search(root, "", DEPTH, &mut left, &mut found);
    }
    let mut list = vec![Named {
        name: BUILT_IN.to_owned(),
        path: BUILT_IN.to_owned(),
        origin: Origin::BuiltIn,
    }];
    let mut count: BTreeMap<String, usize> = BTreeMap::from([(BUILT_IN.to_owned(), 1)]);
    for (path, _) in &found {
        *count.entry(last(path).to_owned()).or_default() += 1;
    }
    found.sort();
    list.extend(found.into_iter().map(|(path, place)| {
        let is_alone = count.get(last(&path)) == Some(&1);
        let name = if is_alone { last(&path) } else { &path };
        Named {
            name: name.to_owned(),
            path,
            origin: Origin::Path(place),
        }
    }));
    list
}

/// The captures below a directory. A packed file that is called by its directory is given as that directory.
pub fn below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    search(directory, "", DEPTH, &mut ENTRIES.clone(), &mut found);
    let mut paths: Vec<PathBuf> = found
        .into_iter()
        .map(|(_, path)| match (path.file_stem(), path.parent()) {
            (Some(stem), Some(parent)) if stem == FRAME && path.is_file() => parent.to_owned(),
            _ => path,
        })
        .collect();
    paths.sort();
    paths
}

/// Finds captures in a directory, whose name under the first one is `prefix`.
fn search(
    dir: &Path,
    prefix: &str,
    depth: usize,
    left: &mut usize,
    found: &mut Vec<(String, PathBuf)>,
) {
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    let under = |name: &str| match prefix {
        "" => name.to_owned(),
        _ => format!("{prefix}/{name}"),
    };
    let mut add = |name: String, path: PathBuf| {
        if !name.is_empty() {
            found.push((name, path));
        }
    };
    let mut inner = Vec::new();
    let mut is_capture = dir.join(JSON).is_file();
    for entry in entries.flatten() {
        if *left == 0 {
            break;
        }
        *left -= 1;
        let (path, name) = (entry.path(), entry.file_name());
        let (Ok(kind), Some(name)) = (entry.file_type(), name.to_str()) else {
            continue;
        };
        if kind.is_dir() {
            if is_exec(name) {
                is_capture |= path.join(JSON).is_file();
            } else {
                inner.push((path, under(name)));
            }
        } else if kind.is_file() && is_packed(&path) {
            match name.strip_suffix(".crest") {
                Some(FRAME) => add(prefix.to_owned(), path),
                Some(stem) => add(under(stem), path),
                None => {}
            }
        }
    }
    if is_capture {
        add(prefix.to_owned(), dir.to_owned());
        return;
    }
    if depth > 0 {
        for (path, name) in inner {
            search(&path, &name, depth - 1, left, found);
        }
    }
}

/// What a word means. When it means nothing, the names and paths that it may have been meant for, the likeliest first.
pub fn find(word: &Path, root: Option<&Path>) -> Result<Origin, Vec<String>> {
    if word.symlink_metadata().is_ok() {
        return Ok(Origin::Path(word.to_owned()));
    }
    let text = word.to_string_lossy();
    let text = text.trim_end_matches('/');
    let list = list(root);
    let is_it = |named: &&Named| named.name == text || named.path == text;
    if let Some(named) = list.iter().find(is_it) {
        return Ok(named.origin.clone());
    }
    let mut names: Vec<String> = list.into_iter().map(|named| named.name).collect();
    names.extend(neighbours(word));
    Err(alike::names(text, names.into_iter()))
}

/// Whether a path has the name of a packed capture.
fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == EXTENSION)
}

/// Whether a directory is a capture, or has one in it.
fn has_captures(dir: &Path) -> bool {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .take(1000)
        .any(|entry| is_packed(&entry.path()) || entry.file_name().to_str().is_some_and(is_exec))
}

/// Captures that lie where a path should lie.
fn neighbours(word: &Path) -> Vec<String> {
    let parent = match word.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let Ok(entries) = fs::read_dir(parent) else {
        return Vec::new();
    };
    let paths = entries.flatten().take(1000).map(|entry| entry.path());
    let captures = paths.filter(|path| is_packed(path) || has_captures(path));
    captures
        .map(|path| {
            let path = path.strip_prefix(".").unwrap_or(&path);
            path.to_string_lossy().into_owned()
        })
        .collect()
}
