//! The user's limits of files: errors here, and as they were given for programs.
//!
//! getrlimit(2). A node needs more than a program: its memories are files. So the soft limit of file sizes goes up to the
//! hard one while a node is made, and down again for what this process writes into the user's files and for the program.
//! That of descriptors a node raises by itself when its first client comes, which is after the program has started. Not
//! modelled: the action of SIGPIPE, which is the default for programs, also where it was ignored.

use std::io;
use std::sync::Arc;

use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};
use nix::sys::signal::Signal;

/// From now on writing past the limit of file sizes is an error of the write. A handler, because a program that is started
/// has the default action again, which an ignored signal would not have.
pub fn survive_large_files() -> io::Result<()> {
    let signal = Signal::SIGXFSZ;
    if !is_ignored(signal) {
        signal_hook::flag::register(signal as i32, Arc::default())?;
    }
    Ok(())
}

/// Whether this process ignores a signal (proc(5)).
pub fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.unwrap_or(0) >> (signal as u32 - 1) & 1 != 0
}

/// The limit of file sizes that the user has given; `None` where it cannot be told.
pub struct FileSize(Option<(rlim_t, rlim_t)>);

impl FileSize {
    /// Goes up to the hard limit.
    pub fn raise() -> Self {
        let given = getrlimit(Resource::RLIMIT_FSIZE).ok();
        let size = FileSize(given);
        if let Some((_, hard)) = given {
            size.set(hard);
        }
        size
    }

    /// The memories of a node have been made: files grow as far as the user says.
    pub fn put_back(&self) {
        if let Some((soft, _)) = self.0 {
            self.set(soft);
        }
    }

    fn set(&self, soft: rlim_t) {
        if let Some((_, hard)) = self.0 {
            // Between what was given and the hard limit every value is allowed.
            let _ = setrlimit(Resource::RLIMIT_FSIZE, soft, hard);
        }
    }

    /// What the limit of file sizes has to do with an error.
    pub fn explain(&self, error: &node::Error) -> Option<String> {
        let (_, hard) = self.0?;
        let too_large = matches!(error, node::Error::System { error, .. } if error.kind() == io::ErrorKind::FileTooLarge);
        too_large
            .then(|| format!("{error}: files of this process may have {hard} bytes (ulimit -f)"))
    }
}
