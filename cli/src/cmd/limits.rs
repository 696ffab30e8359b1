//! The user's limits of files: errors here, and as they were given for programs.
//!
//! getrlimit(2). A node needs more than a program: its memory is a file, and each client thread and each descriptor of the
//! node is a file that is open. So soft limits go up to the hard ones while a node is made and works, and down again for
//! what this process writes into the user's files and for the program. Not modelled: the action of SIGPIPE, which is the
//! default for programs, also where it was ignored.

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

struct Limit {
    of: Resource,
    soft: rlim_t,
    hard: rlim_t,
}

impl Limit {
    fn of(of: Resource) -> Option<Self> {
        let (soft, hard) = getrlimit(of).ok()?;
        Some(Limit { of, soft, hard })
    }

    fn set(&self, soft: rlim_t) {
        // Between what was given and the hard limit every value is allowed.
        let _ = setrlimit(self.of, soft, self.hard);
    }
}

/// What the user has given.
pub struct Limits {
    files: Option<Limit>,
    size: Option<Limit>,
}

impl Limits {
    /// Goes up to the hard limits.
    pub fn raise() -> Self {
        let limits = Limits {
            files: Limit::of(Resource::RLIMIT_NOFILE),
            size: Limit::of(Resource::RLIMIT_FSIZE),
        };
        for limit in [&limits.files, &limits.size].into_iter().flatten() {
            limit.set(limit.hard);
        }
        limits
    }

    /// The memories of a node have been made: files grow as far as the user says.
    pub fn keep_files_small(&self) {
        if let Some(size) = &self.size {
            size.set(size.soft);
        }
    }

    /// Runs `start`, which starts a program, with the limits that were given.
    pub fn as_given<T>(&self, start: impl FnOnce() -> T) -> T {
        self.keep_files_small();
        if let Some(files) = &self.files {
            files.set(files.soft);
        }
        let started = start();
        if let Some(files) = &self.files {
            files.set(files.hard);
        }
        started
    }

    /// What the limit of file sizes has to do with an error.
    pub fn explain(&self, error: &node::Error) -> Option<String> {
        let size = self.size.as_ref()?;
        let too_large = matches!(error, node::Error::System { error, .. } if error.kind() == io::ErrorKind::FileTooLarge);
        too_large.then(|| {
            format!(
                "{error}: files of this process may have {} bytes (ulimit -f)",
                size.hard
            )
        })
    }
}
