//! Where nodes have their directories: no other user can put anything there.
//!
//! Others that open a directory can hold its lock for as long as they like, and nodes that begin would wait for them.
//! A program that outlives its node still knows the names of the node's files, the preloaded library among them. In a
//! directory that other users can write, one of them could make these files anew. So nodes have their directories in one
//! of mode 0700, which stays, and whose name no other user can give to something else: all directories above belong to
//! the user or to root, and where all may write in one, it is sticky. A group that the owner lets write is trusted, as where the umask is 002.

use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use kernel::string_helpers::Escaped;

/// Bit of a mode: all users may write (inode(7)).
const ALL_WRITE: u32 = 0o002;
/// Bit of a mode: in the directory users can rename and remove their own files only.
const STICKY: u32 = 0o1000;
/// Bits of a mode for all others than the owner.
const OTHERS: u32 = 0o077;

/// What the names of directories for all nodes of a user begin with.
const PREFIX: &str = "crestline-";

/// The directory for nodes of this process's user: the one for temporary files when that is the user's alone, else one
/// of the user's own in it. Another user can have made the usual name of that first; then it is the directory of the user's session
/// (basedir-spec, `XDG_RUNTIME_DIR`), and without one a directory with a name that is drawn.
pub fn of_user() -> io::Result<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    within(
        &temporary(std::env::temp_dir()),
        // The specification has no other paths.
        runtime.filter(|path| path.is_absolute()).as_deref(),
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

fn within(base: &Path, runtime: Option<&Path>, user: u32) -> io::Result<PathBuf> {
    let base = checked(base, user)?;
    if is_of(&fs::metadata(&base)?, user, OTHERS) {
        return Ok(base);
    }
    let place = base.join(format!("{PREFIX}{user}"));
    // To look does not wait for a program that holds the system's lock of the directory, as making something there does.
    if fs::symlink_metadata(&place).is_err() {
        match DirBuilder::new().mode(0o700).create(&place) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    if is_of_alone(&place, user) {
        return Ok(place);
    }
    let runtime = runtime.and_then(|runtime| checked(runtime, user).ok());
    if let Some(runtime) = runtime
        && is_of(&fs::metadata(&runtime)?, user, OTHERS)
    {
        return Ok(runtime);
    }
    drawn(&base, user)
}

/// A directory without links on the way, which are not looked at again later. No other user can replace it.
fn checked(base: &Path, user: u32) -> io::Result<PathBuf> {
    let base = fs::canonicalize(base).map_err(|error| named(base, &error))?;
    for dir in base.ancestors() {
        if let Some(why) = is_unsafe(&fs::metadata(dir)?, user)? {
            return Err(refused(dir, why));
        }
    }
    Ok(base)
}

/// Whether something is a directory of the user, without certain bits of a mode.
fn is_of(meta: &Metadata, user: u32, closed: u32) -> bool {
    meta.is_dir() && meta.uid() == user && meta.mode() & closed == 0
}

/// Whether it is a directory of the user alone, and not a link of another user's to somewhere else. Where others have put
/// something into it, it may not be trusted as it is.
fn is_of_alone(path: &Path, user: u32) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| is_of(&meta, user, OTHERS))
}

/// A directory whose name no other user could know before it was there. It stays as the usual one does, so a later node looks for it.
fn drawn(base: &Path, user: u32) -> io::Result<PathBuf> {
    let prefix = format!("{PREFIX}{user}-");
    let entries = fs::read_dir(base)?.flatten().map(|entry| entry.path());
    let known = entries.filter(|path| {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        name.starts_with(prefix.as_bytes()) && is_of_alone(path, user)
    });
    if let Some(first) = known.min() {
        return Ok(first);
    }
    let made = tempfile::Builder::new()
        .prefix(&prefix)
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir_in(base)?;
    if is_of_alone(made.path(), user) {
        Ok(made.keep())
    } else {
        Err(refused(
            base,
            "gives this user no directory of its own (mode 0700);",
        ))
    }
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
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_variable_without_text_counts_as_unset() {
        assert_eq!(temporary(PathBuf::new()), Path::new("/tmp"));
        assert_eq!(temporary(PathBuf::from("/var/tmp")), Path::new("/var/tmp"));
    }

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    /// A directory that all may write, as `/tmp` is.
    fn shared() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        mode(dir.path(), 0o1777);
        dir
    }

    #[test]
    fn a_shared_directory_gets_one_of_the_users_own() {
        let user = rustix::process::geteuid().as_raw();
        let dir = tempfile::tempdir().unwrap();
        // Its own: nothing in between.
        mode(dir.path(), 0o700);
        assert_eq!(within(dir.path(), None, user).unwrap(), dir.path());
        let place = dir.path().join(format!("crestline-{user}"));
        // Others may write it, or list it.
        for open in [0o1777, 0o755, 0o710] {
            mode(dir.path(), open);
            for _ in 0..2 {
                assert_eq!(within(dir.path(), None, user).unwrap(), place);
                assert_eq!(fs::metadata(&place).unwrap().mode() & 0o7777, 0o700);
            }
            fs::remove_dir(&place).unwrap();
        }
    }

    /// Somebody has made the usual name first.
    #[test]
    fn a_name_that_is_taken_gets_another_that_stays() {
        let user = rustix::process::geteuid().as_raw();
        let (dir, runtime) = (shared(), tempfile::tempdir().unwrap());
        mode(runtime.path(), 0o700);
        let place = dir.path().join(format!("crestline-{user}"));
        let elsewhere = dir.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        mode(&elsewhere, 0o700);
        let takes: [fn(&Path, &Path); 3] = [
            |place, _| fs::write(place, "").unwrap(),
            |place, elsewhere| symlink(elsewhere, place).unwrap(),
            // Others may have put something into it.
            |place, _| {
                fs::create_dir(place).unwrap();
                mode(place, 0o770);
            },
        ];
        let mut names = Vec::new();
        for take in takes {
            take(&place, &elsewhere);
            let found = within(dir.path(), None, user).unwrap();
            assert_eq!(fs::metadata(&found).unwrap().mode() & 0o7777, 0o700);
            names.push(found);
            // The user's session has a directory of its own.
            let found = within(dir.path(), Some(runtime.path()), user).unwrap();
            assert_eq!(found, runtime.path());
            let _ = fs::remove_file(&place).or_else(|_| fs::remove_dir(&place));
        }
        assert!(names.iter().all(|name| *name == names[0]), "{names:?}");
        let name = names[0].file_name().unwrap().to_str().unwrap();
        assert!(name.len() > format!("crestline-{user}-").len(), "{name}");
        assert_eq!(names[0].parent(), Some(dir.path()));
        // With the usual name free again that one is taken.
        assert_eq!(within(dir.path(), None, user).unwrap(), place);
    }

    #[test]
    fn what_others_have_made_is_not_used() {
        let user = rustix::process::geteuid().as_raw();
        let (dir, runtime) = (shared(), shared());
        fs::write(dir.path().join(format!("crestline-{user}")), "").unwrap();
        let prefix = format!("crestline-{user}-");
        symlink("/", dir.path().join(format!("{prefix}a"))).unwrap();
        let open = dir.path().join(format!("{prefix}b"));
        fs::create_dir(&open).unwrap();
        mode(&open, 0o707);
        // A session's directory that others can write is not taken.
        let found = within(dir.path(), Some(runtime.path()), user).unwrap();
        assert!(found.starts_with(dir.path()) && found != open);
        assert!(!found.ends_with(format!("{prefix}a")), "{found:?}");
        if user == 0 {
            for path in [&found, &dir.path().join(format!("crestline-{user}"))] {
                std::os::unix::fs::chown(path, Some(4242), None).unwrap();
            }
            let other = within(dir.path(), None, user).unwrap();
            assert_ne!(other, found, "it belongs to another user");
        }
        // What a process makes is not that of another user.
        let error = within(dir.path(), None, user + 1).unwrap_err();
        assert!(error.to_string().contains("TMPDIR"), "{error}");
    }

    #[test]
    fn directories_that_others_can_exchange_are_refused() {
        let user = rustix::process::geteuid().as_raw();
        let dir = tempfile::tempdir().unwrap();
        let above = dir.path().join("above");
        let base = above.join("base");
        fs::create_dir_all(&base).unwrap();
        mode(&above, 0o755);
        mode(&base, 0o700);
        assert_eq!(within(&base, None, user).unwrap(), base);
        let refused = |at: &Path, why: &str| {
            let error = within(&base, None, user).unwrap_err();
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
                assert!(within(&base, None, user).is_ok());
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
        assert_eq!(within(&link, None, user).unwrap(), base);
        std::os::unix::fs::chown(&above, Some(4242), None).unwrap();
        assert!(within(&link, None, user).is_err());
    }
}
