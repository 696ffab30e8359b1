//! What has been fetched, kept for the next time.
//!
//! A piece is a directory named after its version, and a link `NAME` leads to the one in use. It is made under another name and
//! renamed when it is complete, by one process at a time; a process that has a piece in use keeps it when a newer one comes.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use super::Error;

/// What directories are called that are not complete.
const NEW: &str = ".new-";

/// The directory of all pieces.
pub struct Cache(PathBuf);

/// The right to make pieces, as long as this value is there.
pub struct Making<'a> {
    cache: &'a Cache,
    _lock: Flock<File>,
}

/// Where pieces are kept: the user's directory for such files (XDG Base Directory Specification), and in it one of this command.
pub fn standard() -> Result<PathBuf, Error> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let base = variable("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let home = || variable("HOME").filter(|path| path.is_absolute());
    let base = base.or_else(|| Some(home()?.join(".cache")));
    let base = base.ok_or_else(|| {
        Error::Told("neither XDG_CACHE_HOME nor HOME says where files can be kept".to_owned())
    })?;
    Ok(base.join("crestline/boot"))
}

impl Cache {
    /// The cache in a directory, which is made when a piece is.
    pub fn at(dir: PathBuf) -> Self {
        Cache(dir)
    }

    /// A piece that is complete.
    pub fn piece(&self, name: &str) -> Option<PathBuf> {
        fs::canonicalize(self.0.join(name)).ok()
    }

    /// Takes the right to make pieces; `waits` is called when another process has it, which is waited for.
    ///
    /// # Errors
    /// When the directory cannot be made or locked.
    pub fn making(&self, waits: impl FnOnce()) -> Result<Making<'_>, Error> {
        let dir = &self.0;
        let mut builder = DirBuilder::new();
        builder
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .map_err(Error::at(dir))?;
        let path = dir.join("lock");
        let open = || File::create(&path).map_err(Error::at(&path));
        let lock = match Flock::lock(open()?, FlockArg::LockExclusiveNonblock) {
            Err((file, Errno::EWOULDBLOCK)) => {
                waits();
                Flock::lock(file, FlockArg::LockExclusive)
            }
            other => other,
        };
        let lock = lock.map_err(|(_, error)| Error::at(&path)(error.into()))?;
        self.sweep();
        Ok(Making {
            cache: self,
            _lock: lock,
        })
    }

    /// Removes what processes have left that were interrupted. Under the lock nobody else makes such directories.
    fn sweep(&self) {
        for entry in fs::read_dir(&self.0).into_iter().flatten().flatten() {
            if entry
                .file_name()
                .as_encoded_bytes()
                .starts_with(NEW.as_bytes())
            {
                // What cannot be removed is in nobody's way.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

impl Making<'_> {
    /// Makes a piece: `fill` gets an empty directory and says which version it has put there.
    ///
    /// # Errors
    /// Those of `fill`, after which nothing is left, and those of the system.
    pub fn make(
        &self,
        name: &str,
        fill: impl FnOnce(&Path) -> Result<String, Error>,
    ) -> Result<PathBuf, Error> {
        let dir = &self.cache.0;
        let new = tempfile::Builder::new().prefix(NEW).tempdir_in(dir);
        let new = new.map_err(Error::at(dir))?;
        let version = fill(new.path())?;
        let version: String = version
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || "+-.~".contains(c) {
                    c
                } else {
                    '_'
                }
            })
            .collect();
        let name_of = format!("{name}={version}");
        let place = dir.join(&name_of);
        match fs::rename(new.path(), &place) {
            // It is ours no more, and not removed.
            Ok(()) => drop(new.keep()),
            // The same version is there, and may be in use.
            Err(error) if is_there(&error) => drop(new),
            Err(error) => return Err(Error::at(&place)(error)),
        }
        self.point(name, &name_of).map_err(Error::at(&place))?;
        Ok(place)
    }

    /// Lets a link lead somewhere else, so that it leads somewhere at each moment.
    fn point(&self, name: &str, to: &str) -> io::Result<()> {
        let dir = tempfile::Builder::new()
            .prefix(NEW)
            .tempdir_in(&self.cache.0)?;
        let link = dir.path().join(name);
        symlink(to, &link)?;
        fs::rename(link, self.cache.0.join(name))
    }

    /// A directory that stays from run to run and is no piece.
    pub fn scratch(&self, name: &str) -> Result<PathBuf, Error> {
        let dir = self.cache.0.join(name);
        fs::create_dir_all(&dir).map_err(Error::at(&dir))?;
        Ok(dir)
    }

    /// A directory that is removed with this value, or by the next process that makes a piece.
    pub fn passing(&self) -> Result<tempfile::TempDir, Error> {
        let dir = tempfile::Builder::new()
            .prefix(NEW)
            .tempdir_in(&self.cache.0);
        dir.map_err(Error::at(&self.cache.0))
    }
}

/// Whether a directory could not be renamed because there is one.
fn is_there(error: &io::Error) -> bool {
    let number = error.raw_os_error().map(Errno::from_raw);
    matches!(number, Some(Errno::EEXIST | Errno::ENOTEMPTY))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_piece_is_there_when_it_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path().join("a/b"));
        assert_eq!(cache.piece("tree"), None);
        let making = cache.making(|| panic!("nobody else")).unwrap();
        let failed = making.make("tree", |new| {
            fs::write(new.join("half"), "").unwrap();
            Err(Error::Told("interrupted".to_owned()))
        });
        assert!(failed.is_err());
        assert_eq!(cache.piece("tree"), None);
        for version in ["1:2/3", "2", "1:2/3"] {
            let fill = |new: &Path| {
                fs::write(new.join("version"), version).unwrap();
                Ok(version.to_owned())
            };
            let made = making.make("tree", fill).unwrap();
            let piece = cache.piece("tree").unwrap();
            assert_eq!(fs::canonicalize(made).unwrap(), piece);
            assert_eq!(fs::read_to_string(piece.join("version")).unwrap(), version);
        }
        let names = fs::read_dir(dir.path().join("a/b")).unwrap();
        let mut names: Vec<_> = names.map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["lock", "tree", "tree=1_2_3", "tree=2"]);
    }

    #[test]
    fn what_an_interrupted_process_has_left_goes_and_a_second_process_waits() {
        let dir = tempfile::tempdir().unwrap();
        let left = dir.path().join(".new-abc");
        fs::create_dir_all(left.join("deep")).unwrap();
        let path = dir.path().to_path_buf();
        let (told, is_told) = std::sync::mpsc::channel();
        let cache = Cache::at(path.clone());
        let making = cache.making(|| panic!("nobody else")).unwrap();
        assert!(!left.exists());
        let second = std::thread::spawn(move || {
            let cache = Cache::at(path);
            drop(cache.making(|| told.send(()).unwrap()).unwrap());
        });
        is_told.recv().unwrap();
        drop(making);
        second.join().unwrap();
    }
}
