//! Where nodes have their directories: no other user can put anything there.
//!
//! A program that outlives its node still knows the names of the node's files, the preloaded library among them. In a
//! directory that other users can write, one of them could make these files anew. So nodes have their directories in one
//! of mode 0700, which stays, and whose name no other user can give to something else: all directories above belong to
//! the user or to root, and where all may write in one, it is sticky. A group that the owner lets write is trusted, as where the umask is 002.

use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use kernel::string_helpers::Escaped;

/// Bits of a mode by which others than the owner may write (inode(7)).
const OTHERS_WRITE: u32 = 0o022;
/// Bit of a mode: all users may write.
const ALL_WRITE: u32 = 0o002;
/// Bit of a mode: in the directory users can rename and remove their own files only.
const STICKY: u32 = 0o1000;
/// Bits of a mode for all others than the owner.
const OTHERS: u32 = 0o077;

/// The directory for nodes of this process's user: the one for temporary files when that is the user's alone, else one
/// of the user's own in it.
pub fn of_user() -> io::Result<PathBuf> {
    within(
        &temporary(std::env::temp_dir()),
        rustix::process::geteuid().as_raw(),
    )
}

/// The directory for temporary files. A variable without text counts as one that is not set (environ(7)).
fn temporary(named: PathBuf) -> PathBuf {
    if named.as_os_str().is_empty() {
        PathBuf::from("/tmp")
    } else {
        named
    }
}

fn within(base: &Path, user: u32) -> io::Result<PathBuf> {
    // Links on the way are not looked at again later.
    let base = fs::canonicalize(base).map_err(|error| named(base, &error))?;
    for dir in base.ancestors() {
        if let Some(why) = is_unsafe(&fs::metadata(dir)?, user)? {
            return Err(refused(dir, why));
        }
    }
    let is_ours = |meta: &Metadata, closed: u32| {
        meta.is_dir() && meta.uid() == user && meta.mode() & closed == 0
    };
    if is_ours(&fs::metadata(&base)?, OTHERS_WRITE) {
        return Ok(base);
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
    let why = if fs::symlink_metadata(&place)?.uid() == user {
        // Where others have put something into it, it may not be trusted as it is.
        "is no directory of this user alone (mode 0700); remove it, or"
    } else {
        // Only its owner can remove it where the directory is sticky.
        "belongs to another user;"
    };
    Err(refused(&place, why))
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        format!("{}: {error}", Escaped(path.display())),
    )
}

fn refused(path: &Path, why: &str) -> io::Error {
    let why = format!(
        "{} {why} name another directory in TMPDIR",
        Escaped(path.display())
    );
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

/// Why other users could replace what lies in a directory.
fn is_unsafe(dir: &Metadata, user: u32) -> io::Result<Option<&'static str>> {
    // Whose the root directory is has the whole system anyway. In a user namespace root has another number.
    let owners = [user, 0, fs::metadata("/")?.uid()];
    if !owners.contains(&dir.uid()) {
        return Ok(Some("belongs to another user;"));
    }
    let is_open = dir.mode() & (ALL_WRITE | STICKY) == ALL_WRITE;
    Ok(is_open.then_some("can be written by all users and is not sticky;"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_variable_without_text_counts_as_unset() {
        assert_eq!(temporary(PathBuf::new()), Path::new("/tmp"));
        assert_eq!(temporary(PathBuf::from("/var/tmp")), Path::new("/var/tmp"));
    }

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
        let error = within(dir.path(), 4242).unwrap_err().to_string();
        if user == 0 {
            // Its directory cannot be removed by the other user.
            let expected =
                "crestline-4242 belongs to another user; name another directory in TMPDIR";
            assert!(error.ends_with(expected), "{error}");
        }
    }

    #[test]
    fn directories_that_others_can_exchange_are_refused() {
        let user = rustix::process::geteuid().as_raw();
        let dir = tempfile::tempdir().unwrap();
        let above = dir.path().join("above");
        let base = above.join("base");
        fs::create_dir_all(&base).unwrap();
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        };
        mode(&above, 0o755);
        mode(&base, 0o700);
        assert_eq!(within(&base, user).unwrap(), base);
        let refused = |at: &Path, why: &str| {
            let error = within(&base, user).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
            let text = error.to_string();
            assert!(
                text.starts_with(&format!("{} {why}", at.display())) && text.contains("TMPDIR"),
                "{text}"
            );
        };
        for (at, closed) in [(&base, 0o700), (&above, 0o755)] {
            for open in [0o777, 0o707] {
                mode(at, open);
                refused(at, "can be written by all users");
            }
            for kept in [0o1777, 0o775, closed] {
                mode(at, kept);
                assert!(within(&base, user).is_ok());
            }
        }
        if user != 0 {
            println!("skipped: not root");
            return;
        }
        // Whatever the modes are, an owner can change them.
        for at in [&base, &above] {
            std::os::unix::fs::chown(at, Some(4242), None).unwrap();
            refused(at, "belongs to another user");
            std::os::unix::fs::chown(at, Some(0), None).unwrap();
        }
        // Nor by a link.
        let link = dir.path().join("link");
        symlink(&base, &link).unwrap();
        assert_eq!(within(&link, user).unwrap(), base);
        std::os::unix::fs::chown(&above, Some(4242), None).unwrap();
        assert!(within(&link, user).is_err());
    }
}
