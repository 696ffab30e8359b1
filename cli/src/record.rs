//! Recording: every submission of a client becomes part of a capture.
//!
//! The format is described in docs/captures.md. Contents are read when the device has finished what
//! came before, so recording makes a program wait. Files lie in a directory that no other user can list: who lists one can hold its
//! lock (memory that does not answer), and submissions would wait for that. Not modelled: which client a submission is of.

use std::collections::HashMap;
use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use driver::observe::{Observer, Placed, Queued};
use driver::{Device, Tiling, WeakObject};
use kernel::string_helpers::Counted;
use kernel::time::Delta;
use nix::fcntl::{OFlag, openat, renameat};
use nix::sys::stat::{Mode, mkdirat};
use serde_json::json;

use crate::capture::{Capture, CaptureError};
use crate::link;
use crate::shown;

/// TIMEOUT: device time for which the requests before may go on; a hang is found earlier.
const PATIENCE: Delta = Delta::from_secs(60);

/// Extension of a submission's directory until it is whole.
const PART: &str = "part";

/// The directory of a submission.
fn name(number: usize) -> String {
    format!("exec_{number:04}")
}

/// How many of the first submissions somebody has taken away.
fn missing(dir: &Path, submissions: usize) -> usize {
    let there = |number: &usize| dir.join(name(*number)).is_dir();
    (0..submissions).filter(|number| !there(number)).count()
}

/// Writes submissions into a directory.
pub struct Recorder {
    device: Device,
    pci: (u16, u16),
    dir: PathBuf,
    /// The directory that was opened, whatever its name stands for now.
    handle: File,
    /// Held while a submission waits for its turn, however long that takes.
    state: Mutex<State>,
    /// How many are whole on the disk.
    submissions: AtomicUsize,
    error: Mutex<Option<String>>,
}

#[derive(Default)]
struct State {
    /// Number of each buffer, by the object's key; the handle keeps the key from being used again.
    numbers: HashMap<usize, (u64, WeakObject)>,
    last: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recorder {
    /// Records what `device` is given into `dir`, which is made; it must not hold a capture yet.
    pub fn new(device: &Device, pci: (u16, u16), dir: &Path) -> io::Result<Self> {
        let first = dir.join("exec_0000");
        if first.exists() || first.with_extension(PART).exists() {
            return Err(io::Error::other(
                "this directory holds a capture already; name another one, or remove this one",
            ));
        }
        let handle = own_directory(dir)?;
        Ok(Recorder {
            device: device.clone(),
            pci,
            dir: dir.to_owned(),
            handle,
            state: Mutex::default(),
            submissions: AtomicUsize::new(0),
            error: Mutex::default(),
        })
    }

    /// Number of submissions recorded so far; never waits for the device.
    ///
    /// The first error ends the recording; it is what comes back then.
    pub fn finish(&self) -> Result<usize, String> {
        let submissions = self.submissions.load(Ordering::Acquire);
        match &*lock(&self.error) {
            Some(error) => Err(format!(
                "{}: the recording ends after {}: {error}",
                shown::path(&self.dir),
                Counted(submissions, "submission")
            )),
            None => match missing(&self.dir, submissions) {
                0 => Ok(submissions),
                missing => Err(format!(
                    "{}: of {} recorded, {missing} are there no more",
                    shown::path(&self.dir),
                    Counted(submissions, "submission")
                )),
            },
        }
    }

    /// The first `submissions` of what has been recorded.
    pub fn capture(&self, submissions: usize) -> Result<Capture, CaptureError> {
        Capture::load_first(&self.dir, submissions)
    }

    fn record(&self, state: &mut State, queued: &Queued<'_>) -> Result<(), String> {
        self.device
            .wait_idle(PATIENCE)
            .map_err(|error| format!("the device is not done with what came before: {error}"))?;
        let submissions = self.submissions.load(Ordering::Acquire);
        let whole = name(submissions);
        let unfinished = format!("{whole}.{PART}");
        let shown = |name: &str| shown::path(self.dir.join(name));
        let part = Part::make(&self.handle, &unfinished, shown(&unfinished))?;
        let mut buffers = Vec::new();
        for (index, placed) in queued.objects.iter().enumerate() {
            let file = format!("bo_{index:03}.bin");
            let size = placed.object.size();
            let bytes = contents(placed)?;
            part.write(&file, &bytes)?;
            buffers.push(json!({
                "index": index,
                "bo_id": state.number(placed),
                "size": size,
                "gtt_offset": placed.address,
                "tiling": match placed.object.tiling() {
                    Tiling::None => 0,
                    Tiling::X => 1,
                    Tiling::Y => 2,
                },
                "stride": placed.object.stride(),
                "file": file,
                "file_size": bytes.len(),
            }));
        }
        let (vendor, device) = self.pci;
        let exec = json!({
            "pci": format!("{vendor:04x}:{device:04x}"),
            "ring": "render",
            "batch_index": queued.batch,
            "batch_start_offset": queued.start,
            "batch_len": queued.len,
            "complete": true,
            "buffers": buffers,
        });
        part.write("exec.json", format!("{exec:#}\n").as_bytes())?;
        // Now, so that nobody finds half a submission, however this ends.
        renameat(
            &self.handle,
            unfinished.as_str(),
            &self.handle,
            whole.as_str(),
        )
        .map_err(|error| format!("{}: {error}", shown(&whole)))?;
        self.submissions.store(submissions + 1, Ordering::Release);
        Ok(())
    }
}

/// Makes the directory of a recording, which is for this user alone, or opens one that is there; an error when another user can list it.
pub fn own_directory(dir: &Path) -> io::Result<File> {
    if let Some(above) = dir.parent() {
        DirBuilder::new().recursive(true).create(above)?;
    }
    match DirBuilder::new().mode(0o700).create(dir) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let handle = link::open(dir, OFlag::O_RDONLY | OFlag::O_DIRECTORY, 0)?;
    let (meta, user) = (handle.metadata()?, nix::unistd::geteuid().as_raw());
    // By the bits of a mode (inode(7)), which count for lists of users as well (acl(5)).
    if meta.uid() != user || meta.mode() & 0o044 != 0 {
        return Err(io::Error::other(format!(
            "other users can list this directory (user {}, mode {:04o}), and could hold the program up by that; name one that is \
             not there yet",
            meta.uid(),
            meta.mode() & 0o7777,
        )));
    }
    Ok(handle)
}

/// The directory of a submission that is not whole yet. Another user who may write into the directory of the recording can replace
/// this one, or put links into it; no file is written through such a link.
struct Part {
    /// As it was made.
    name: String,
    handle: OwnedFd,
}

impl Part {
    /// Makes one; `shown` is its name in messages.
    fn make(recording: &File, name: &str, shown: String) -> Result<Part, String> {
        mkdirat(recording, name, Mode::S_IRWXU).map_err(|error| format!("{shown}: {error}"))?;
        Part::open(recording, name, shown)
    }

    fn open(recording: &File, name: &str, shown: String) -> Result<Part, String> {
        let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        match openat(recording, name, flags, Mode::empty()) {
            Ok(handle) => Ok(Part {
                name: shown,
                handle,
            }),
            Err(error) => Err(format!("{shown}: {error}")),
        }
    }

    /// Makes a file with these bytes; an error when something has its name, a link among others.
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_CLOEXEC;
        let mode = Mode::from_bits_truncate(0o666);
        let made = openat(&self.handle, name, flags, mode).map_err(io::Error::from);
        let written = made.and_then(|file| File::from(file).write_all(bytes));
        written.map_err(|error| format!("{}/{}: {error}", self.name, shown::path(name)))
    }
}

/// The bytes of an object without the zeros at their end.
fn contents(placed: &Placed<'_>) -> Result<Vec<u8>, String> {
    let mut bytes = vec![0; placed.object.size()];
    placed
        .object
        .read(0, &mut bytes)
        .map_err(|error| format!("{:?}: {error}", placed.object))?;
    let used = bytes.iter().rposition(|byte| *byte != 0);
    bytes.truncate(used.map_or(0, |last| (last + 1).next_multiple_of(4)));
    Ok(bytes)
}

impl State {
    fn number(&mut self, placed: &Placed<'_>) -> u64 {
        let key = placed.object.key();
        let last = &mut self.last;
        let entry = self.numbers.entry(key).or_insert_with(|| {
            *last += 1;
            (*last, placed.object.downgrade())
        });
        entry.0
    }

    /// Buffers that are gone need no number any more.
    fn forget(&mut self) {
        self.numbers.retain(|_, (_, object)| object.is_alive());
    }
}

impl Observer for Recorder {
    fn before(&self, queued: &Queued<'_>) {
        let mut state = lock(&self.state);
        if lock(&self.error).is_some() {
            return;
        }
        state.forget();
        if let Err(error) = self.record(&mut state, queued) {
            log::error!("recording: {error}");
            *lock(&self.error) = Some(error);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn no_other_user_lists_the_directory_of_a_recording() {
        let base = tempfile::tempdir().unwrap();
        let new = base.path().join("above/new");
        own_directory(&new).unwrap();
        let mode = || fs::metadata(&new).unwrap().mode() & 0o7777;
        assert_eq!(mode(), 0o700);
        let set = |mode| fs::set_permissions(&new, fs::Permissions::from_mode(mode)).unwrap();
        for closed in [0o700, 0o711, 0o733, 0o1700] {
            set(closed);
            own_directory(&new).unwrap();
            assert_eq!(mode(), closed);
        }
        for open in [0o755, 0o740, 0o704] {
            set(open);
            let error = own_directory(&new).unwrap_err().to_string();
            assert!(error.contains(&format!("mode {open:04o}")), "{error}");
        }
        if nix::unistd::geteuid().is_root() {
            set(0o700);
            std::os::unix::fs::chown(&new, Some(4242), None).unwrap();
            let error = own_directory(&new).unwrap_err().to_string();
            assert!(error.contains("user 4242"), "{error}");
        }
        let file = base.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(own_directory(&file).is_err());
    }

    #[test]
    fn submissions_that_were_taken_away_are_counted() {
        let dir = tempfile::tempdir().unwrap();
        for number in [0, 2, 3] {
            fs::create_dir(dir.path().join(name(number))).unwrap();
        }
        fs::write(dir.path().join(name(4)), "a file").unwrap();
        let counts = [0, 1, 2, 4, 5].map(|submissions| missing(dir.path(), submissions));
        assert_eq!(counts, [0, 0, 1, 1, 2]);
    }

    /// Another user who may write into the directory puts links into it, or a link in its place.
    #[test]
    fn nothing_is_written_through_links() {
        let base = tempfile::tempdir().unwrap();
        let [dir, away, victim] = ["exec_0000.part", "away", "victim"].map(|n| base.path().join(n));
        fs::create_dir(&dir).unwrap();
        fs::create_dir(&victim).unwrap();
        let secret = victim.join("secret");
        fs::write(&secret, "precious").unwrap();
        symlink(&secret, dir.join("bo_000.bin")).unwrap();
        let recording = File::open(base.path()).unwrap();
        let open = || Part::open(&recording, "exec_0000.part", "exec_0000.part".to_owned());
        let part = open().unwrap();
        let error = part.write("bo_000.bin", b"bytes").unwrap_err();
        assert!(error.contains("exec_0000.part/bo_000.bin"), "{error}");
        fs::rename(&dir, &away).unwrap();
        symlink(&victim, &dir).unwrap();
        part.write("bo_001.bin", b"bytes").unwrap();
        assert_eq!(fs::read(away.join("bo_001.bin")).unwrap(), b"bytes");
        assert_eq!(fs::read_dir(&victim).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(&secret).unwrap(), "precious");
        // A link from the beginning is no directory of ours.
        assert!(open().is_err());
    }
}
