//! Files that are made at a place where other users may put links.
//!
//! Whoever may write into a directory, as everybody may into /tmp, can have a link there that leads to a file of the user that runs
//! this program. The system refuses to follow those where `fs.protected_symlinks` is set (proc(5)); not everywhere it is.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use nix::fcntl::OFlag;

/// Opens `path` with `options` and with `flags` of open(2); an error when it is a link that another user has made. Links of this user
/// and of the administrator, such as /dev/stdout, are followed.
pub fn open(options: &mut OpenOptions, flags: OFlag, path: &Path) -> io::Result<File> {
    let straight = options
        .custom_flags((flags | OFlag::O_NOFOLLOW).bits())
        .open(path);
    let Err(error) = straight else {
        return straight;
    };
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_symlink() => {
            let user = nix::unistd::geteuid().as_raw();
            if ![user, 0].contains(&meta.uid()) {
                return Err(io::Error::other(format!(
                    "this is a link of user {}, which is not followed",
                    meta.uid()
                )));
            }
            options.custom_flags(flags.bits()).open(path)
        }
        _ => Err(error),
    }
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
}
