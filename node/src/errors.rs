//! The files that show a device's error state: in sysfs and in debugfs.
//!
//! i915 i915_sysfs.c and i915_debugfs.c: a reader gets one state from beginning to end, and a write clears the state whatever is
//! written. A client that opens one gets a file without a name: those that read have one together, which nobody writes, and those that
//! write have one each. The node writes no file that clients have, whose lock one of them could hold for as long as it likes; to read or open one takes no lock.
//! What the tree has at these places is for those that list it.
//! Not modelled: a file that is made empty when it is opened (`fopen` does so to write) counts as written.

use std::fmt::{self, Write as _};
use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Weak};

use driver::{ErrorState, NO_ERROR};
use nix::fcntl::{FcntlArg, SealFlag, fcntl};
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use nix::sys::memfd::{MFdFlags, memfd_create};
use parking_lot::Mutex;
use wire::device::RENDER;

use crate::{limits, tree};

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

/// What a client opens a file for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// To read it.
    Read,
    /// To write it.
    Write,
    /// For both.
    Both,
}

impl Access {
    /// As it stands in a message.
    pub fn of(number: u64) -> Access {
        match number {
            0 => Access::Read,
            1 => Access::Write,
            _ => Access::Both,
        }
    }
}

/// The file of those that read.
struct Shown {
    /// The state that it shows; none when there was none.
    state: Weak<ErrorState>,
    file: File,
}

/// The files of a device.
pub struct ErrorFiles {
    /// Tells that one has been written to. Locked until the state is cleared then.
    written: Mutex<Inotify>,
    /// Locked while the text is made, which those that want to read it wait for.
    shown: Mutex<Option<Shown>>,
}

impl ErrorFiles {
    pub fn new() -> io::Result<Self> {
        let flags = InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK;
        Ok(ErrorFiles {
            written: Mutex::new(Inotify::init(flags)?),
            shown: Mutex::default(),
        })
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
            // Of a state that is gone no text is kept.
            *self.shown.lock() = None;
        }
    }

    /// A file for a client that shows a state. To write into one that is for writing clears it.
    pub fn open(&self, state: Option<&Arc<ErrorState>>, access: Access) -> io::Result<OwnedFd> {
        let client = match access {
            Access::Read => self.read(state)?,
            Access::Write | Access::Both => {
                let file = unnamed()?;
                if access == Access::Both {
                    let mut shown = self.read(state)?;
                    io::copy(&mut shown, &mut &file)?;
                }
                self.watched(&file)?
            }
        };
        limits::not_kept(&client)?;
        Ok(client.into())
    }

    /// The file of those that read, opened once more.
    fn read(&self, state: Option<&Arc<ErrorState>>) -> io::Result<File> {
        let now = state.map_or_else(Weak::new, Arc::downgrade);
        let mut shown = self.shown.lock();
        if let Some(shown) = shown.as_ref().filter(|shown| shown.state.ptr_eq(&now)) {
            return File::open(path(&shown.file));
        }
        // Not both at once.
        *shown = None;
        let file = match state {
            Some(state) => with_text(&state.text())?,
            None => with_text(&NO_ERROR)?,
        };
        let client = File::open(path(&file))?;
        *shown = Some(Shown { state: now, file });
        Ok(client)
    }

    /// A file whose changes are told, opened once more: the system tells nothing of writes through the first descriptor of such a file
    /// (Linux 6.14 and later).
    fn watched(&self, file: &File) -> io::Result<File> {
        let path = path(file);
        let client = File::options().read(true).write(true).open(&path)?;
        let inotify = self.written.lock();
        inotify.add_watch(path.as_str(), AddWatchFlags::IN_MODIFY)?;
        Ok(client)
    }
}

/// An empty file without a name, which is this user's alone.
fn unnamed() -> io::Result<File> {
    let flags = MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING;
    let file = File::from(memfd_create(c"error", flags)?);
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

/// A file with a text, which nobody can change. A text can be larger than the memory that is left: it is never there as a whole.
fn with_text(text: &dyn fmt::Display) -> io::Result<File> {
    let mut length = Length(0);
    // A length can always be counted.
    let _ = write!(length, "{text}");
    limits::allow_file(length.0)?;
    let file = unnamed()?;
    let mut out = BufWriter::new(&file);
    write!(out, "{text}")?;
    out.flush()?;
    drop(out);
    file.set_permissions(Permissions::from_mode(0o400))?;
    let seals = SealFlag::F_SEAL_WRITE | SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW;
    fcntl(&file, FcntlArg::F_ADD_SEALS(seals | SealFlag::F_SEAL_SEAL))?;
    Ok(file)
}

fn path(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Counts what is written.
struct Length(usize);

impl fmt::Write for Length {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    fn is_written(files: &ErrorFiles) -> bool {
        let mut is_written = false;
        files.look(|| is_written = true);
        is_written
    }

    #[test]
    fn writes_are_told_and_a_text_is_one_file_for_all_that_read() {
        let files = ErrorFiles::new().unwrap();
        let open = |access| File::from(files.open(None, access).unwrap());
        let mut readers = [(); 3].map(|()| open(Access::Read));
        let inode = |file: &File| file.metadata().unwrap().ino();
        assert!(readers.iter().all(|file| inode(file) == inode(&readers[0])));
        for reader in &mut readers {
            assert_eq!(io::read_to_string(&*reader).unwrap(), NO_ERROR);
            assert!(reader.write_all(b"1").is_err());
            // Not by another way either: it is sealed.
            let writer = File::options().write(true).open(path(reader));
            assert!(writer.is_err() || writer.unwrap().write_all(b"1").is_err());
        }
        assert!(!is_written(&files));
        let mut both = open(Access::Both);
        assert_eq!(io::read_to_string(&both).unwrap(), NO_ERROR);
        let mut writer = open(Access::Write);
        assert_eq!(io::read_to_string(&writer).unwrap(), "");
        for file in [&mut both, &mut writer] {
            file.write_all(b"1").unwrap();
            assert!(is_written(&files) && !is_written(&files));
        }
        assert_eq!(io::read_to_string(open(Access::Read)).unwrap(), NO_ERROR);
        drop((both, writer, readers));
        assert!(!is_written(&files));
    }
}
