//! Files that are made at a place where other users may put links.
//!
//! Every user can make a link in /tmp that leads to a file of the user of this program. The system follows no such link where
//! `fs.protected_symlinks` is set (proc(5)), and some machines do not set it.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{
    FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::Path;

use nix::fcntl::{FcntlArg, OFlag, fcntl};

use crate::shown;

/// Whether the user is this one, or the administrator.
fn is_trusted(meta: &Metadata) -> bool {
    [nix::unistd::geteuid().as_raw(), 0].contains(&meta.uid())
}

/// An error when a part of `path` is a link that another user has made.
fn look(path: &Path) -> io::Result<()> {
    for part in path.ancestors() {
        let Ok(meta) = fs::symlink_metadata(part) else {
            continue;
        };
        if meta.is_symlink() && !is_trusted(&meta) {
            return Err(io::Error::other(format!(
                "{} is a link of user {}, which is not followed",
                shown::path(part),
                meta.uid()
            )));
        }
    }
    Ok(())
}

/// Rights of a file of results, before the user's mask.
pub const ALL: u32 = 0o666;

/// Whether a path leads to a descriptor of this process, whichever user has made what it is open on.
fn is_own_descriptor(path: &Path) -> bool {
    ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc/self/fd"]
        .iter()
        .any(|own| path.starts_with(own))
}

/// Makes a file to be written, or empties one; an error when it is another user's, who could read it, hold it or keep its end. Opening
/// a FIFO of this user waits until a program reads it.
pub fn create(path: &Path, mode: u32) -> io::Result<File> {
    let own_fifo = |meta: Metadata| meta.file_type().is_fifo() && is_trusted(&meta);
    let waits = fs::symlink_metadata(path).is_ok_and(own_fifo);
    let flags = if waits {
        OFlag::empty()
    } else {
        OFlag::O_NONBLOCK
    };
    let mut options = File::options();
    options.write(true).create(true).mode(mode);
    let file = open(&mut options, flags, path)?;
    let meta = file.metadata()?;
    if !is_trusted(&meta) && !is_own_descriptor(path) {
        return Err(io::Error::other(format!(
            "this is a file of user {}",
            meta.uid()
        )));
    }
    if meta.is_file() {
        file.set_len(0)?;
    }
    if !waits {
        let now = OFlag::from_bits_retain(fcntl(&file, FcntlArg::F_GETFL)?);
        fcntl(&file, FcntlArg::F_SETFL(now.difference(OFlag::O_NONBLOCK)))?;
    }
    Ok(file)
}

/// Puts a file in its place, the whole of it or nothing: written beside it, then moved there. What is no regular file (a pipe,
/// /dev/stdout) is written as it is.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|meta| !meta.is_file()) {
        return create(path, ALL)?.write_all(bytes);
    }
    look(path)?;
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let mut file = tempfile::Builder::new()
        .prefix(path.file_name().unwrap_or_default())
        .suffix(".part")
        .permissions(Permissions::from_mode(ALL))
        .tempfile_in(dir.unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

/// Opens `path` with `options` and with `flags` of open(2); an error when a part of it is a link that another user has made. Links of this
/// user and of the administrator, such as /dev/stdout, are followed.
pub fn open(options: &mut OpenOptions, flags: OFlag, path: &Path) -> io::Result<File> {
    look(path)?;
    let straight = options
        .custom_flags((flags | OFlag::O_NOFOLLOW).bits())
        .open(path);
    let is_link = || fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink());
    if straight.is_err() && is_link() {
        look(path)?;
        return options.custom_flags(flags.bits()).open(path);
    }
    straight
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::os::unix::fs::{lchown, symlink};

    use super::*;

    fn write(path: &Path) -> io::Result<File> {
        let mut options = File::options();
        open(options.write(true).create(true), OFlag::empty(), path)
    }

    #[test]
    fn only_links_of_other_users_are_refused() {
        let base = tempfile::tempdir().unwrap();
        let (file, link) = (base.path().join("file"), base.path().join("link"));
        symlink(&file, &link).unwrap();
        write(&link).unwrap();
        assert!(file.exists());
        write(&file).unwrap();
        fs::remove_file(&file).unwrap();
        if nix::unistd::geteuid().is_root() {
            lchown(&link, Some(4242), None).unwrap();
            let error = write(&link).unwrap_err().to_string();
            assert!(error.contains("user 4242"), "{error}");
            assert!(!file.exists());
        }
        let missing = base.path().join("no/file");
        assert_eq!(write(&missing).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn links_of_other_users_on_the_way_are_refused() {
        let base = tempfile::tempdir().unwrap();
        let (dir, link) = (base.path().join("dir"), base.path().join("link"));
        fs::create_dir(&dir).unwrap();
        symlink(&dir, &link).unwrap();
        write(&link.join("file")).unwrap();
        if nix::unistd::geteuid().is_root() {
            lchown(&link, Some(4242), None).unwrap();
            let error = write(&link.join("other")).unwrap_err().to_string();
            assert!(error.contains("user 4242"), "{error}");
            assert!(!dir.join("other").exists());
        }
    }

    #[test]
    fn only_files_of_this_user_are_written() {
        use std::io::Write as _;
        let base = tempfile::tempdir().unwrap();
        let file = base.path().join("file");
        for text in ["longer", "short"] {
            create(&file, 0o600)
                .unwrap()
                .write_all(text.as_bytes())
                .unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
        create(Path::new("/dev/null"), 0o600).unwrap();
        // A FIFO waits for its reader.
        let fifo = base.path().join("fifo");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
        std::thread::scope(|scope| {
            let reads = scope.spawn(|| fs::read_to_string(&fifo).unwrap());
            create(&fifo, 0o600).unwrap().write_all(b"text").unwrap();
            assert_eq!(reads.join().unwrap(), "text");
        });
        if nix::unistd::geteuid().is_root() {
            for path in [&file, &fifo] {
                std::os::unix::fs::chown(path, Some(4242), None).unwrap();
                // Nobody reads the FIFO: that does not hold this process up.
                assert!(create(path, 0o600).is_err());
            }
            assert_eq!(fs::read_to_string(&file).unwrap(), "short");
        }
    }
}
