//! The files that show a device's error state: in sysfs and in debugfs.
//!
//! i915 i915_sysfs.c and i915_debugfs.c: a reader gets one state from beginning to end, and a write clears the state whatever is
//! written. Each client that opens one gets a file of its own, without a name: the node writes no file that clients have, whose lock
//! one of them could hold for as long as it likes. What the tree has at these places is for those that list it.
//! Not modelled: a file that is made empty when it is opened (`fopen` does so to write) counts as written.

use std::fs::{File, Permissions};
use std::io::{self, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;

use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use nix::sys::memfd::{MFdFlags, memfd_create};
use parking_lot::Mutex;
use wire::device::RENDER;

use crate::{limits, tree};

/// What the files say when nothing has happened (i915 `error_state_read`).
pub const NO_ERROR: &str = "No error state collected\n";

/// Where those of a device are in the tree.
pub fn places(device: usize) -> [String; 3] {
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

/// The files of a device.
pub struct ErrorFiles {
    /// Tells that one has been written to. Locked until the state is cleared then.
    written: Mutex<Inotify>,
}

impl ErrorFiles {
    pub fn new() -> io::Result<Self> {
        let flags = InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK;
        let written = Mutex::new(Inotify::init(flags)?);
        Ok(ErrorFiles { written })
    }

    /// Calls `clear` when a client has written to a file since the last look.
    pub fn look(&self, clear: impl FnOnce()) {
        let inotify = self.written.lock();
        let mut is_written = false;
        // A client can make events faster than they are read.
        for _ in 0..READS {
            let Ok(events) = inotify.read_events() else {
                break;
            };
            // Where events found no room, a write may be among them. What is left tells that a file is gone.
            let tells = AddWatchFlags::IN_MODIFY | AddWatchFlags::IN_Q_OVERFLOW;
            is_written |= events.iter().any(|event| event.mask.intersects(tells));
        }
        if is_written {
            clear();
        }
    }

    /// A file for a client, with a text. To write into one that is for writing clears the state.
    pub fn open(&self, text: &str, writes: bool) -> io::Result<OwnedFd> {
        limits::allow_file(text.len())?;
        let mut file = File::from(memfd_create(c"error", MFdFlags::MFD_CLOEXEC)?);
        file.write_all(text.as_bytes())?;
        file.set_permissions(Permissions::from_mode(0o600))?;
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        // Opened anew, as the system tells nothing of writes through the first descriptor of such a file (Linux 6.14 and later).
        let client = File::options().read(true).write(writes).open(&path)?;
        limits::not_kept(&client)?;
        if writes {
            self.written
                .lock()
                .add_watch(path.as_str(), AddWatchFlags::IN_MODIFY)?;
        }
        Ok(client.into())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::io::Read as _;

    use super::*;

    fn is_written(files: &ErrorFiles) -> bool {
        let mut is_written = false;
        files.look(|| is_written = true);
        is_written
    }

    #[test]
    fn each_client_has_a_file_of_its_own() {
        let files = ErrorFiles::new().unwrap();
        let [mut first, mut second] = ["first", "second"]
            .map(|text| files.open(text, true).unwrap())
            .map(File::from);
        let mut reader = File::from(files.open("third", false).unwrap());
        assert!(reader.write_all(b"1").is_err() && !is_written(&files));
        for file in [&mut first, &mut second] {
            file.write_all(b"1").unwrap();
            assert!(is_written(&files) && !is_written(&files));
        }
        let mut rest = String::new();
        second.read_to_string(&mut rest).unwrap();
        reader.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "econdthird");
        drop((first, second, reader));
        assert!(!is_written(&files));
    }
}
