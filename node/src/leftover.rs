//! Directories of nodes are removed: its own, and those of killed nodes.
//!
//! A node holds a lock on its own directory; one without is nobody's. A program can hold the system's lock of a directory, by a listing
//! into memory that does not answer, and who removes the directory waits then, even when it is told to end. So another process removes it,
//! which is left to itself when it takes long.

use std::fs::{self, DirEntry, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use kernel::string_helpers::Escaped;
use nix::fcntl::{Flock, FlockArg};

/// What the names of all directories begin with.
pub const PREFIX: &str = "crestline-node-";
/// A directory without a lock may just have been made.
const YOUNG: Duration = Duration::from_secs(60);

/// The lock of a directory that is in use; `None` when somebody has it, or when there are no locks there.
pub fn lock(dir: &Path) -> Option<Flock<File>> {
    let file = File::open(dir).ok()?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).ok()
}

/// TIMEOUT: how long the removal of directories may take; some thousandths of a second are usual.
const PATIENCE: Duration = Duration::from_secs(5);
/// The pauses between looks grow by this, up to [`PAUSE`].
const LONGER: Duration = Duration::from_micros(200);
/// The longest of the pauses.
const PAUSE: Duration = Duration::from_millis(20);

/// Removes a directory with all that is in it, also with what others put into it meanwhile.
pub fn remove(dir: &Path) -> io::Result<()> {
    remove_until(dir, Instant::now() + PATIENCE)
}

fn remove_until(dir: &Path, until: Instant) -> io::Result<()> {
    let mut pause = Duration::ZERO;
    loop {
        remove_once(dir, until)?;
        if fs::symlink_metadata(dir).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            return Ok(());
        }
        // Others still put something into it.
        rest(&mut pause, until)?;
    }
}

/// Tries it once; an error when that is not at its end in time.
fn remove_once(dir: &Path, until: Instant) -> io::Result<()> {
    let mut remove = Command::new("/bin/rm");
    remove
        .arg("-rf")
        .arg("--")
        .arg(dir)
        .current_dir("/")
        .env_clear();
    remove.stdin(Stdio::null()).stdout(Stdio::null());
    let Ok(mut child) = remove.stderr(Stdio::null()).spawn() else {
        // No process is left for it (ulimit -u), or there is no such program.
        let _ = fs::remove_dir_all(dir);
        return Ok(());
    };
    let mut pause = Duration::ZERO;
    while child.try_wait()?.is_none() {
        rest(&mut pause, until)?;
    }
    Ok(())
}

fn rest(pause: &mut Duration, until: Instant) -> io::Result<()> {
    if Instant::now() >= until {
        let text = "a program holds it; it is removed once that program lets go";
        return Err(io::Error::new(ErrorKind::TimedOut, text));
    }
    *pause = (*pause + LONGER).min(PAUSE);
    sleep(*pause);
    Ok(())
}

/// Removes those that lie beside `own`, as far as they are the same user's.
pub fn sweep(own: &Path) {
    let until = Instant::now() + PATIENCE;
    let Some(uid) = fs::metadata(own).ok().map(|meta| meta.uid()) else {
        return;
    };
    let entries = own.parent().and_then(|parent| fs::read_dir(parent).ok());
    for entry in entries.into_iter().flatten().flatten() {
        if is_old(&entry, uid)
            && let Some(_lock) = lock(&entry.path())
            // Somebody else may be at it as well.
            && let Err(error) = remove_until(&entry.path(), until)
        {
            log::debug!("{}: {error}", Escaped(entry.path().display()));
        }
    }
}

fn is_old(entry: &DirEntry, uid: u32) -> bool {
    let name = entry.file_name();
    name.as_encoded_bytes().starts_with(PREFIX.as_bytes())
        && entry.metadata().is_ok_and(|meta| {
            let age = meta.modified().ok().and_then(|time| time.elapsed().ok());
            let is_node = entry.path().join("dev/dri").is_dir();
            meta.is_dir() && meta.uid() == uid && is_node && age.is_some_and(|age| age > YOUNG)
        })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_directory_goes_also_while_others_put_files_into_it() {
        let base = tempfile::tempdir().unwrap();
        for round in 0..50 {
            let dir = base.path().join(round.to_string());
            fs::create_dir(&dir).unwrap();
            std::thread::scope(|scope| {
                let put = scope.spawn(|| {
                    // Fewer than can be removed in all tries, so that it ends in any case.
                    let names = (0..2000).map(|name| dir.join((name % 64).to_string()));
                    names.take_while(|name| File::create(name).is_ok()).count()
                });
                while !dir.join("0").exists() {
                    std::thread::yield_now();
                }
                let removed = remove(&dir);
                put.join().unwrap();
                removed.unwrap();
            });
        }
    }

    /// What looks like a node's directory by its name only is somebody's own, and stays.
    #[test]
    fn directories_of_nodes_alone_are_swept() {
        let base = tempfile::tempdir().unwrap();
        let make = |name: &str, inside: &str, age: u64| -> PathBuf {
            let path = base.path().join(name);
            fs::create_dir_all(path.join(inside)).unwrap();
            let then = SystemTime::now() - Duration::from_secs(age);
            File::open(&path).unwrap().set_modified(then).unwrap();
            path
        };
        let node = |name: &str, age| make(&format!("{PREFIX}{name}"), "dev/dri", age);
        let own = node("own", 1000);
        let _lock = lock(&own).unwrap();
        let killed = node("killed", 1000);
        let (young, used) = (node("young", 1), node("used", 1000));
        let _used = lock(&used).unwrap();
        let others = [
            make(&format!("{PREFIX}backup"), "data", 1000),
            make(&format!("{PREFIX}empty"), "", 1000),
            make("my-crestline-node-1", "dev/dri", 1000),
        ];
        let link = base.path().join(format!("{PREFIX}link"));
        symlink(&others[2], &link).unwrap();
        sweep(&own);
        assert!(!killed.exists());
        assert!(own.is_dir() && young.is_dir() && used.is_dir() && link.is_dir());
        for path in &others {
            assert!(path.is_dir(), "{}", path.display());
        }
        assert!(others[0].join("data").is_dir() && others[2].join("dev/dri").is_dir());
    }
}
