//! A file that takes another one's place when it is whole.

use std::fs::{File, Metadata, Permissions};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::{ALL, Found, find, inputs};

/// A new file beside the place of another one. It goes when it is dropped before [`finish`](Self::finish).
pub struct Replacement {
    file: NamedTempFile,
    /// The directory, which its path leads to.
    _dir: OwnedFd,
    to: PathBuf,
}

impl Replacement {
    /// For a path in a directory where other users write; `None` in other directories, and where something lies that is no regular file.
    /// An error when there is a file that is another user's, or that this user may not write.
    pub fn where_others_write(path: &Path) -> io::Result<Option<Self>> {
        inputs::check(path)?;
        let found = find(path)?;
        let before = found.metadata().ok();
        let is_other = before.as_ref().is_some_and(|meta| !meta.is_file());
        if is_other || !found.is_shared()? {
            return Ok(None);
        }
        Replacement::of(found, before.as_ref()).map(Some)
    }

    /// For a place, and what there is.
    pub(super) fn of(found: Found, before: Option<&Metadata>) -> io::Result<Self> {
        if let Some(before) = before {
            found.check(before)?;
        }
        let Found { dir, name } = found;
        // The directory, wherever names lead by now.
        let place = PathBuf::from(format!("/proc/self/fd/{}", dir.as_raw_fd()));
        let mut file = tempfile::Builder::new()
            .prefix(".crestline-")
            .suffix(".part")
            .permissions(Permissions::from_mode(ALL))
            .tempfile_in(&place)?;
        // Others may have given another file's mode to this one by a second name.
        if let Some(before) = before.filter(|before| before.nlink() == 1) {
            // A file that is there keeps its mode.
            let rights = Permissions::from_mode(before.mode() & 0o777);
            file.as_file_mut().set_permissions(rights)?;
        }
        Ok(Replacement {
            file,
            _dir: dir,
            to: place.join(name),
        })
    }

    /// What is written.
    pub fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Puts the file in its place.
    pub fn finish(self) -> io::Result<()> {
        self.file.persist(self.to)?;
        Ok(())
    }
}
