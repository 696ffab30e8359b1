//! Directories of nodes that were killed.
//!
//! No PRM chapter. A node holds a lock on its own directory; one without is nobody's.

use std::fs::{self, DirEntry, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

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

/// Removes those that lie beside `own`, as far as they are the same user's.
pub fn sweep(own: &Path) {
    let Some(uid) = fs::metadata(own).ok().map(|meta| meta.uid()) else {
        return;
    };
    let entries = own.parent().and_then(|parent| fs::read_dir(parent).ok());
    for entry in entries.into_iter().flatten().flatten() {
        if is_old(&entry, uid)
            && let Some(_lock) = lock(&entry.path())
        {
            // Somebody else may be at it as well.
            let _ = fs::remove_dir_all(entry.path());
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
