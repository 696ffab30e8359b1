//! The files that show a device's error state: in sysfs and in debugfs.
//!
//! i915 i915_sysfs.c and i915_debugfs.c: a reader gets one state from beginning to end, and a write
//! clears the state whatever is written. A new text is a new file in the place of the old; writers get a file apart.
//! Not modelled: those who read and write through one descriptor get the file itself.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use kernel::string_helpers::Escaped;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify, WatchDescriptor};
use parking_lot::Mutex;
use wire::device::RENDER;

use crate::tree;

/// What the files say when nothing has happened (i915 `error_state_read`).
const NO_ERROR: &str = "No error state collected\n";
/// Where those of a device are in the tree.
fn places(device: usize) -> [String; 3] {
    let debug = |minor: usize| format!("sys/kernel/debug/dri/{minor}/i915_error_state");
    let (place, card) = (tree::place(device), format!("card{device}"));
    [
        format!("{place}/drm/{card}/error"),
        debug(device),
        debug(RENDER as usize + device),
    ]
}

/// Most reads of events at a look; each gives as many as 4 KiB hold. The rest is for the next look.
const READS: usize = 16;

/// The writers' file of a device.
fn sink(tree: &Path, device: usize) -> PathBuf {
    tree.join(format!("{}{device}", wire::env::WRITTEN))
}

struct Inner {
    /// The tree is going away: nothing is put into it any more.
    is_closed: bool,
    inotify: Inotify,
    /// The writers' file.
    written: WatchDescriptor,
    /// What the files show, until a client writes to them.
    shown: Option<String>,
}

/// The files.
pub struct ErrorFiles {
    tree: PathBuf,
    /// Number of the device.
    device: usize,
    inner: Mutex<Inner>,
}

impl ErrorFiles {
    /// Puts those of a device into a tree.
    pub fn new(tree: &Path, device: usize) -> io::Result<Self> {
        let inotify = Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK)?;
        let sink = sink(tree, device);
        File::create(&sink)?;
        let files = ErrorFiles {
            tree: tree.to_owned(),
            device,
            inner: Mutex::new(Inner {
                is_closed: false,
                written: inotify.add_watch(&sink, AddWatchFlags::IN_MODIFY)?,
                inotify,
                shown: None,
            }),
        };
        files.refresh(|| (), || None);
        Ok(files)
    }

    /// Calls `clear` when a client has written to a file; then shows what `text` gives, or that there is nothing.
    pub fn refresh(&self, clear: impl FnOnce(), text: impl FnOnce() -> Option<String>) {
        let mut inner = self.inner.lock();
        if inner.is_closed {
            return;
        }
        if self.is_written(&mut inner) {
            inner.shown = None;
            clear();
        }
        let text = text().unwrap_or_else(|| NO_ERROR.to_owned());
        if inner.shown.as_ref() == Some(&text) {
            return;
        }
        for place in places(self.device) {
            let path = self.tree.join(place);
            if let Err(error) = self.replace(&inner.inotify, &path, &text) {
                log::warn!("{}: {error}", Escaped(path.display()));
            }
        }
        inner.shown = Some(text);
    }

    /// From here on the files stay as they are.
    pub fn close(&self) {
        self.inner.lock().is_closed = true;
    }

    fn is_written(&self, inner: &mut Inner) -> bool {
        let mut is_written = false;
        // A client can make events faster than they are read.
        for _ in 0..READS {
            let Ok(events) = inner.inotify.read_events() else {
                break;
            };
            for event in events {
                if event.mask.contains(AddWatchFlags::IN_Q_OVERFLOW) {
                    // Events that found no room.
                    is_written = true;
                    continue;
                }
                if !event.mask.contains(AddWatchFlags::IN_MODIFY) {
                    // A file that is gone.
                    continue;
                }
                is_written |= event.wd != inner.written || self.empty_written();
            }
        }
        is_written
    }

    /// Makes the writers' file empty; whether it was not. (That is told as a change too.)
    fn empty_written(&self) -> bool {
        let Ok(file) = File::options()
            .write(true)
            .custom_flags(nix::libc::O_NONBLOCK | nix::libc::O_NOFOLLOW)
            .open(sink(&self.tree, self.device))
        else {
            return false;
        };
        file.metadata().is_ok_and(|file| file.len() > 0) && file.set_len(0).is_ok()
    }

    /// Another file takes the place of one: a reader of the old one reads on there.
    fn replace(&self, inotify: &Inotify, path: &Path, text: &str) -> io::Result<()> {
        let new = self.tree.join(format!("new{}", self.device));
        // A client may have put something there that does not open (a FIFO) or is elsewhere (a link).
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        File::create_new(&new)?.write_all(text.as_bytes())?;
        inotify.add_watch(&new, AddWatchFlags::IN_MODIFY)?;
        fs::rename(&new, path)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn nothing_is_put_into_a_tree_that_goes_away() {
        let dir = tempfile::tempdir().unwrap();
        for place in places(0) {
            fs::create_dir_all(dir.path().join(place).parent().unwrap()).unwrap();
        }
        let files = ErrorFiles::new(dir.path(), 0).unwrap();
        let shown = || fs::read_to_string(dir.path().join(&places(0)[0])).unwrap();
        files.refresh(|| (), || Some("first".to_owned()));
        assert_eq!(shown(), "first");
        files.close();
        files.refresh(|| (), || Some("second".to_owned()));
        assert_eq!(shown(), "first");
    }
}
