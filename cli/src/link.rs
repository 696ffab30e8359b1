//! Files that are made at a place where other users may put links.
//!
//! Every user can make a link in /tmp that leads to a file of the user of this program. The system follows no such link where
//! `fs.protected_symlinks` is set (proc(5)), and some machines do not set it.

pub mod inputs;
mod replacement;
mod spot;

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags, FcntlArg, OFlag, fcntl, openat, readlinkat};
use nix::sys::stat::Mode;
use nix::sys::statfs::{PROC_SUPER_MAGIC, fstatfs};
use nix::unistd::{AccessFlags, UnlinkatFlags, faccessat, unlinkat};

pub use self::replacement::Replacement;
pub use self::spot::{Spot, number};
use crate::shown;

/// Whether the user is this one, or the administrator.
fn is_trusted(meta: &Metadata) -> bool {
    [nix::unistd::geteuid().as_raw(), 0].contains(&meta.uid())
}

/// Links that a path may lead through, as many as the system's own limit (path_resolution(7)).
const LINKS: usize = 40;

/// A file of this system by the directory that it is in, opened, and its name there; no link has that name, unless the directory is of
/// /proc, whose links lead to what is open.
struct Found {
    dir: OwnedFd,
    name: OsString,
}

/// Goes along `path` directory by directory, so that nobody can put a link where a directory was looked at; an error when a part of it is
/// a link that another user has made. Links of this user and of the administrator, such as /dev/stdout, are followed.
fn find(path: &Path) -> io::Result<Found> {
    let begin = |path: &Path| open_dir(AT_FDCWD, if path.is_absolute() { "/" } else { "." });
    let mut dir = begin(path)?;
    let mut left: VecDeque<OsString> = parts(path).collect();
    let mut links = 0;
    while let Some(name) = left.pop_front() {
        if name == ".." {
            dir = open_dir(&dir, "..")?;
            continue;
        }
        let is_last = left.is_empty();
        let flags = OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let part = match openat(&dir, name.as_os_str(), flags, Mode::empty()) {
            Err(Errno::ENOENT) if is_last => return Ok(Found { dir, name }),
            part => File::from(part?),
        };
        let meta = part.metadata()?;
        if !meta.is_symlink() {
            if is_last {
                return Ok(Found { dir, name });
            }
            dir = part.into();
            continue;
        }
        if !is_trusted(&meta) {
            return Err(io::Error::other(format!(
                "{} is a link of user {}, which is not followed",
                shown::path(path_of(path, &left, &name)),
                meta.uid()
            )));
        }
        if is_last && fstatfs(&dir)?.filesystem_type() == PROC_SUPER_MAGIC {
            return Ok(Found { dir, name });
        }
        links += 1;
        if links > LINKS {
            return Err(Errno::ELOOP.into());
        }
        let to = PathBuf::from(readlinkat(&part, "")?);
        if to.is_absolute() {
            dir = begin(&to)?;
        }
        for part in parts(&to).collect::<Vec<_>>().into_iter().rev() {
            left.push_front(part);
        }
    }
    // The path is a directory: /, . or one that ends in `..`.
    Ok(Found {
        dir,
        name: OsString::from("."),
    })
}

/// The names of a path, with `..` among them.
fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        _ => None,
    })
}

/// The part of a path, for messages, behind which others are left; a link's name alone where it is in none of the path's parts.
fn path_of(path: &Path, left: &VecDeque<OsString>, name: &OsStr) -> PathBuf {
    let part = path.ancestors().nth(left.len());
    let part = part.filter(|part| part.file_name() == Some(name));
    part.map_or_else(|| PathBuf::from(name), Path::to_path_buf)
}

fn open_dir(at: impl AsFd, name: &str) -> nix::Result<OwnedFd> {
    let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    openat(at, name, flags, Mode::empty())
}

/// Rights of a file of results, before the user's mask.
pub const ALL: u32 = 0o666;

/// Whether a path leads to a descriptor of this process, whichever user has made what it is open on.
fn is_own_descriptor(path: &Path) -> bool {
    let is = |place: &str| path == Path::new(place);
    let digits = |name: &OsStr| name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
    let is_in = |dir: &str| path.parent() == Some(Path::new(dir));
    let numbered = path.file_name().is_some_and(digits);
    is("/dev/stdout")
        || is("/dev/stderr")
        || numbered && (is_in("/dev/fd") || is_in("/proc/self/fd"))
}

/// Makes a file to be written, or empties one; an error as of [`to_write`].
pub fn create(path: &Path, mode: u32) -> io::Result<File> {
    let file = to_write(path, OFlag::O_CREAT, mode)?;
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    Ok(file)
}

/// Opens a file to be written, with more `flags` of open(2); an error when it is another user's, who could read it, hold it or keep its
/// end. Opening a FIFO of this user waits until a program reads it.
///
/// In a directory where others write, a file that is there is removed first and a new one made: the name may be a second one of a file of
/// this user, and whether it is can change at any moment.
pub fn to_write(path: &Path, flags: OFlag, mode: u32) -> io::Result<File> {
    inputs::check(path)?;
    let found = find(path)?;
    let before = found.metadata().ok();
    let own_fifo = |meta: &Metadata| meta.file_type().is_fifo() && is_trusted(meta);
    let waits = before.as_ref().is_some_and(own_fifo);
    let mut flags = flags | OFlag::O_WRONLY;
    if !waits {
        flags |= OFlag::O_NONBLOCK;
    }
    let shared = found.is_shared()?;
    if shared && let Some(before) = before.as_ref().filter(|meta| meta.is_file()) {
        found.check(before)?;
        unlinkat(
            &found.dir,
            found.name.as_os_str(),
            UnlinkatFlags::NoRemoveDir,
        )?;
        flags |= OFlag::O_CREAT | OFlag::O_EXCL;
    } else if shared && before.is_none() && flags.contains(OFlag::O_CREAT) {
        flags |= OFlag::O_EXCL;
    }
    let file = found.open(flags, mode)?;
    let meta = file.metadata()?;
    if !is_own_descriptor(path) {
        check_owner(&meta)?;
    }
    if shared && meta.is_file() && !flags.contains(OFlag::O_EXCL) {
        return Err(io::Error::other(
            "another user has put this file here at this moment",
        ));
    }
    if !waits {
        let now = OFlag::from_bits_retain(fcntl(&file, FcntlArg::F_GETFL)?);
        fcntl(&file, FcntlArg::F_SETFL(now.difference(OFlag::O_NONBLOCK)))?;
    }
    Ok(file)
}

/// An error when a file is another user's.
fn check_owner(meta: &Metadata) -> io::Result<()> {
    if is_trusted(meta) {
        return Ok(());
    }
    let uid = meta.uid();
    Err(io::Error::other(format!("this is a file of user {uid}")))
}

/// Puts a file in its place, the whole of it or nothing: written beside it, then moved there. What is no regular file (a pipe,
/// /dev/stdout) is written as it is. An error when there is a file that is another user's, or that this user may not write.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    inputs::check(path)?;
    let found = find(path)?;
    let before = found.metadata().ok();
    if before.as_ref().is_some_and(|meta| !meta.is_file()) {
        return create(path, ALL)?.write_all(bytes);
    }
    let mut new = Replacement::of(found, before.as_ref())?;
    new.file().write_all(bytes)?;
    new.finish()
}

/// Opens `path` with `flags` of open(2) and a mode for a new file; an error when a part of it is a link that another user has made.
pub fn open(path: &Path, flags: OFlag, mode: u32) -> io::Result<File> {
    find(path)?.open(flags, mode)
}

impl Found {
    fn open(&self, flags: OFlag, mode: u32) -> io::Result<File> {
        let mut flags = flags | OFlag::O_CLOEXEC;
        if fstatfs(&self.dir)?.filesystem_type() != PROC_SUPER_MAGIC {
            flags |= OFlag::O_NOFOLLOW;
        }
        let mode = Mode::from_bits_truncate(mode);
        Ok(openat(&self.dir, self.name.as_os_str(), flags, mode)?.into())
    }

    /// Whether others may put files into the directory, or rename them there.
    fn is_shared(&self) -> io::Result<bool> {
        let dir = File::from(self.dir.try_clone()?).metadata()?;
        Ok(!is_trusted(&dir) || dir.mode() & 0o022 != 0)
    }

    /// An error when what is there is another user's, or this user may not write it.
    fn check(&self, meta: &Metadata) -> io::Result<()> {
        check_owner(meta)?;
        let (name, flags) = (self.name.as_os_str(), AtFlags::AT_EACCESS);
        Ok(faccessat(&self.dir, name, AccessFlags::W_OK, flags)?)
    }

    /// What is there, if something is.
    fn metadata(&self) -> io::Result<Metadata> {
        let flags = OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let file = openat(&self.dir, self.name.as_os_str(), flags, Mode::empty())?;
        File::from(file).metadata()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};

    use super::*;

    fn write(path: &Path) -> io::Result<File> {
        open(path, OFlag::O_WRONLY | OFlag::O_CREAT, ALL)
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
    fn paths_lead_where_the_system_leads_them() {
        let base = tempfile::tempdir().unwrap();
        let at = |name: &str| base.path().join(name);
        fs::create_dir_all(at("dir/deep")).unwrap();
        symlink("deep/../../dir", at("dir/round")).unwrap();
        symlink(at("dir/deep"), at("away")).unwrap();
        symlink("loop", at("loop")).unwrap();
        symlink("../made", at("dir/last")).unwrap();
        for (path, file) in [
            ("dir/round/one", "dir/one"),
            ("away/../two", "dir/two"),
            ("./dir//./deep/three", "dir/deep/three"),
            ("dir/last", "made"),
        ] {
            for text in ["longer", "text"] {
                create(&at(path), ALL)
                    .unwrap()
                    .write_all(text.as_bytes())
                    .unwrap();
                assert_eq!(fs::read_to_string(at(file)).unwrap(), text);
                fs::set_permissions(at(file), Permissions::from_mode(0o600)).unwrap();
                replace(&at(path), b"replaced").unwrap();
                assert_eq!(fs::metadata(at(file)).unwrap().mode() & 0o777, 0o600);
                assert_eq!(fs::read_to_string(at(file)).unwrap(), "replaced");
            }
        }
        assert!(at("dir/last").is_symlink());
        let error = |path: &str| create(&at(path), ALL).unwrap_err().raw_os_error();
        for (path, number) in [
            ("loop", Errno::ELOOP),
            ("loop/file", Errno::ELOOP),
            ("made/file", Errno::ENOTDIR),
            ("none/file", Errno::ENOENT),
            ("dir", Errno::EISDIR),
            ("dir/..", Errno::EISDIR),
        ] {
            assert_eq!(error(path), Some(number as i32), "{path}");
        }
    }

    #[test]
    fn a_second_name_of_a_file_is_no_place_where_others_write() {
        let base = tempfile::tempdir().unwrap();
        let (file, name) = (base.path().join("file"), base.path().join("name"));
        fs::write(&file, "precious").unwrap();
        fs::hard_link(&file, &name).unwrap();
        create(&name, ALL).unwrap().write_all(b"own").unwrap();
        fs::set_permissions(base.path(), Permissions::from_mode(0o1777)).unwrap();
        for text in ["first", "second"] {
            create(&name, ALL)
                .unwrap()
                .write_all(text.as_bytes())
                .unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), "own");
            assert_eq!(fs::read_to_string(&name).unwrap(), text);
            fs::remove_file(&name).unwrap();
            fs::hard_link(&file, &name).unwrap();
        }
        replace(&name, b"new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "own");
        // What is opened to be written later is a new file, too.
        fs::remove_file(&name).unwrap();
        fs::hard_link(&file, &name).unwrap();
        let mut kept = to_write(&name, OFlag::empty(), ALL).unwrap();
        kept.write_all(b"kept").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "own");
        assert_eq!(fs::read_to_string(&name).unwrap(), "kept");
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
            // A mode for all, which what replaces the file must not get.
            fs::set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
            for path in [&file, &fifo] {
                std::os::unix::fs::chown(path, Some(4242), None).unwrap();
                // Nobody reads the FIFO: that does not hold this process up.
                assert!(create(path, 0o600).is_err());
            }
            let error = replace(&file, b"new").unwrap_err().to_string();
            assert!(error.contains("user 4242"), "{error}");
            assert_eq!(fs::read_to_string(&file).unwrap(), "short");
        }
    }

    #[test]
    fn only_descriptors_of_this_process_may_be_open_on_files_of_others() {
        for path in [
            "/dev/stdout",
            "/dev/stderr",
            "/dev/fd/1",
            "/proc/self/fd/12",
        ] {
            assert!(is_own_descriptor(Path::new(path)), "{path}");
        }
        for path in [
            "/proc/self/fd/../../../tmp/file",
            "/dev/fd",
            "/dev/fd/../shm/1",
            "/proc/self/fd/1/file",
            "/dev/stdout/1",
        ] {
            assert!(!is_own_descriptor(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn names_are_as_long_as_the_system_has_them() {
        let base = tempfile::tempdir().unwrap();
        let name = base.path().join("n".repeat(255));
        for text in ["first", "second"] {
            replace(&name, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&name).unwrap(), text);
        }
    }

    #[test]
    fn a_file_that_may_not_be_written_is_not_replaced() {
        let base = tempfile::tempdir().unwrap();
        let file = base.path().join("file");
        fs::write(&file, "precious").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o400)).unwrap();
        if nix::unistd::geteuid().is_root() {
            // The administrator may write it.
            replace(&file, b"new").unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), "new");
            return;
        }
        let error = replace(&file, b"new").unwrap_err().raw_os_error();
        assert_eq!(error, Some(Errno::EACCES as i32));
        assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
    }
}
