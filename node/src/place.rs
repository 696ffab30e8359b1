//! Where nodes have their directories: no other user can put anything there.
//!
//! A program that outlives its node still knows the names of the node's files, the preloaded library among them. In a
//! directory that other users can write, one of them could make these files anew. So nodes have their directories in one
//! of mode 0700, which stays.

use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Bits of a mode by which others than the owner may write (inode(7)).
const OTHERS_WRITE: u32 = 0o022;
/// Bits of a mode for all others than the owner.
const OTHERS: u32 = 0o077;

/// The directory for nodes of this process's user: the one for temporary files when that is the user's alone, else one
/// of the user's own in it.
pub fn of_user() -> io::Result<PathBuf> {
    within(&std::env::temp_dir(), rustix::process::geteuid().as_raw())
}

fn within(base: &Path, user: u32) -> io::Result<PathBuf> {
    let is_ours = |meta: &Metadata, closed: u32| {
        meta.is_dir() && meta.uid() == user && meta.mode() & closed == 0
    };
    if is_ours(&fs::metadata(base)?, OTHERS_WRITE) {
        return Ok(base.to_owned());
    }
    let place = base.join(format!("crestline-{user}"));
    match DirBuilder::new().mode(0o700).create(&place) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    // Not a link of another user's to somewhere else.
    if is_ours(&fs::symlink_metadata(&place)?, OTHERS) {
        return Ok(place);
    }
    let why = format!(
        "{} is no directory of this user alone (mode 0700); remove it, or name another directory in TMPDIR",
        place.display()
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_shared_directory_gets_one_of_the_users_own() {
        let user = rustix::process::geteuid().as_raw();
        let dir = tempfile::tempdir().unwrap();
        // Its own: nothing in between.
        assert_eq!(within(dir.path(), user).unwrap(), dir.path());
        fs::set_permissions(dir.path(), Permissions::from_mode(0o1777)).unwrap();
        let place = dir.path().join(format!("crestline-{user}"));
        for _ in 0..2 {
            assert_eq!(within(dir.path(), user).unwrap(), place);
            assert_eq!(fs::metadata(&place).unwrap().mode() & 0o7777, 0o700);
        }
        fs::set_permissions(&place, Permissions::from_mode(0o770)).unwrap();
        assert!(within(dir.path(), user).is_err());
        fs::remove_dir(&place).unwrap();
        fs::create_dir(dir.path().join("elsewhere")).unwrap();
        symlink(dir.path().join("elsewhere"), &place).unwrap();
        let error = within(dir.path(), user).unwrap_err();
        assert!(error.to_string().contains("TMPDIR"), "{error}");
        fs::remove_file(&place).unwrap();
        // Another user's, as seen by a process of a third.
        fs::create_dir(dir.path().join("crestline-4242")).unwrap();
        assert!(within(dir.path(), 4242).is_err());
    }
}
