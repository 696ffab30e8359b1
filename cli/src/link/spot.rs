//! Whether two paths lead to one file.

use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::{Found, find};

/// Where a file lies, or would: by whatever names and links a path leads there, the spot is the same.
#[derive(Clone, Debug)]
pub struct Spot {
    /// The directory's device and number, and the name in it.
    place: ((u64, u64), OsString),
    /// Device and number of the file, if there is one: it may have several names.
    file: Option<(u64, u64)>,
}

impl Spot {
    /// Where standard output leads, when that is a file.
    pub fn of_stdout() -> Option<Self> {
        let meta = std::fs::metadata("/dev/stdout").ok()?;
        meta.is_file().then(|| Spot {
            place: (number(&meta), OsString::new()),
            file: Some(number(&meta)),
        })
    }

    /// Where a path leads; `None` when that cannot be told, and for what keeps no bytes, such as a pipe or a terminal.
    pub fn of(path: &Path) -> Option<Self> {
        let found = find(path).ok()?;
        let meta = found.metadata().ok();
        if meta.as_ref().is_some_and(|meta| !meta.is_file()) {
            return None;
        }
        let Found { dir, name } = found;
        let dir = std::fs::File::from(dir).metadata().ok()?;
        Some(Spot {
            place: (number(&dir), name),
            file: meta.as_ref().map(number),
        })
    }

    /// Whether both are one file.
    pub fn is_same(&self, other: &Spot) -> bool {
        self.place == other.place || self.file.is_some() && self.file == other.file
    }

    /// Whether a file is the one that is here.
    pub fn is(&self, meta: &Metadata) -> bool {
        self.file == Some(number(meta))
    }
}

/// A file's device and number.
pub fn number(meta: &Metadata) -> (u64, u64) {
    (meta.dev(), meta.ino())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_has_one_spot_by_all_its_names() {
        let base = tempfile::tempdir().unwrap();
        let at = |name: &str| base.path().join(name);
        fs::create_dir(at("dir")).unwrap();
        fs::write(at("file"), "").unwrap();
        fs::hard_link(at("file"), at("second")).unwrap();
        symlink("file", at("link")).unwrap();
        symlink("missing", at("nowhere")).unwrap();
        let spot = |name: &str| Spot::of(&at(name)).unwrap();
        for name in ["file", "second", "link", "dir/../file"] {
            assert!(spot("file").is_same(&spot(name)), "{name}");
            assert!(spot(name).is(&fs::metadata(at("file")).unwrap()), "{name}");
        }
        // What is not there yet has one, too.
        assert!(spot("missing").is_same(&spot("nowhere")));
        assert!(!spot("missing").is_same(&spot("file")));
        assert!(!spot("missing").is_same(&spot("other")));
        assert!(Spot::of(Path::new("/dev/null")).is_none());
        assert!(Spot::of(&at("dir")).is_none());
        assert!(Spot::of(&at("no/file")).is_none());
    }
}
