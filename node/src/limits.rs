//! Limits that the system sets to this process (getrlimit(2)).

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::Once;

use nix::errno::Errno;
use parking_lot::Mutex;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Most descriptors that are kept free for connections, so that open files do not take all of them.
const KEPT: u64 = 64;
/// Most of these that connections do not take either: requests look at descriptors of clients.
const LAST: u64 = 16;

/// Held while the limit of descriptors is another one than before or after.
static CHANGING: Mutex<()> = Mutex::new(());
/// Descriptors that a node with one client needs: its own, the client's, and those by which its directory is removed.
const LEAST: usize = 32;
/// How many more it needs for each further device.
const EACH: usize = 4;

/// Whether there is room for a node of so many devices and a client at all.
pub fn allow_node(devices: usize) -> io::Result<()> {
    let least = LEAST + EACH * devices.saturating_sub(1);
    let _alone = CHANGING.lock();
    let given = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: given.maximum,
        maximum: given.maximum,
    };
    // As it will be raised for clients. Where that is not allowed the soft limit counts.
    let is_raised = setrlimit(Resource::Nofile, raised).is_ok();
    let first = File::open("/");
    let more = first.and_then(|first| {
        let more = (1..least).map(|_| first.try_clone());
        more.collect::<io::Result<Vec<File>>>()
    });
    if is_raised {
        setrlimit(Resource::Nofile, given)?;
    }
    more.map(drop).map_err(|error| {
        let text = format!(
            "fewer than {least} are free (ulimit -n), without which no client is served: {error}"
        );
        io::Error::new(error.kind(), text)
    })
}

/// Raises the soft limit of descriptors to the hard one, once. Not before the first client is there: a program that is
/// started has the limits of its parent, and should find those that the user has set.
pub fn raise_descriptors() {
    static RAISED: Once = Once::new();
    RAISED.call_once(|| {
        let _alone = CHANGING.lock();
        let limit = getrlimit(Resource::Nofile);
        let raised = Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        };
        if let Err(error) = setrlimit(Resource::Nofile, raised) {
            log::warn!("limit of descriptors: {error}");
        }
    });
}

/// Whether a number of a descriptor is among the last ones, which are kept for connections. The system gives out the
/// lowest number that is free.
fn is_kept(number: i32) -> bool {
    is_among(number, KEPT, 8)
}

/// The same for those that are kept for requests.
pub fn is_last(number: i32) -> bool {
    is_among(number, LAST, 16)
}

fn is_among(number: i32, most: u64, share: u64) -> bool {
    let Some(limit) = getrlimit(Resource::Nofile).current else {
        return false;
    };
    let kept = most.min(limit / share);
    u64::try_from(number).is_ok_and(|number| number >= limit - kept)
}

/// EMFILE for a descriptor whose number is among those that are kept for connections.
pub fn not_kept(fd: &impl AsRawFd) -> io::Result<()> {
    if is_kept(fd.as_raw_fd()) {
        return Err(Errno::EMFILE.into());
    }
    Ok(())
}

/// Whether a file of so many bytes is allowed; to make one that is not ends a process by SIGXFSZ.
pub fn allow_file(bytes: usize) -> io::Result<()> {
    match getrlimit(Resource::Fsize).current {
        Some(limit) if limit < bytes as u64 => {
            let text = format!(
                "{} MiB are more than the limit of file sizes (ulimit -f) allows, {} KiB",
                bytes >> 20,
                limit >> 10
            );
            Err(io::Error::new(io::ErrorKind::FileTooLarge, text))
        }
        _ => Ok(()),
    }
}
