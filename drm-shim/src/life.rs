//! The connection that a process keeps until it ends, and its memories.

use core::mem::MaybeUninit;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};

use wire::{Head, NO_FILE, Op, VERSION};
use zerocopy::IntoBytes;

use crate::own::{AtomicHandle, Handle};
use crate::sys::socket::{self, FILES, Packet};
use crate::sys::{self, Result};
use crate::{config, map, own, report};

const NONE: u32 = 0;
const BEGINNING: u32 = 1;
const READY: u32 = 2;
const LOST: u32 = 3;

/// How often a connection is made anew when the program takes its descriptor away, past libc.
pub const ATTEMPTS: usize = 4;

static STATE: AtomicU32 = AtomicU32::new(NONE);
static PROCESS: AtomicI32 = AtomicI32::new(0);
/// The user of the process when it was introduced.
static USER: AtomicU32 = AtomicU32::new(0);
static CONNECTION: AtomicHandle = AtomicHandle::empty();
/// Two of each device.
static MEMORIES: [AtomicHandle; FILES] = [const { AtomicHandle::empty() }; FILES];
/// Device number of files without a name, as which dma-bufs come.
static NAMELESS: AtomicU64 = AtomicU64::new(u64::MAX);

/// Whether the process has been introduced to its node.
pub fn is_ready() -> bool {
    STATE.load(Ordering::Acquire) == READY
}

/// Device number of the files that dma-bufs are.
pub fn nameless() -> u64 {
    NAMELESS.load(Ordering::Relaxed)
}

/// The library is loaded, or a child begins: which process this is.
pub fn arrive() {
    PROCESS.store(sys::process(), Ordering::Relaxed);
}

/// This process's number.
pub fn process() -> i32 {
    PROCESS.load(Ordering::Relaxed)
}

/// The memory that a reply's `which` names.
pub fn memory(which: u64) -> Option<Handle> {
    let memory = MEMORIES.get(usize::try_from(which).ok()?)?;
    memory.load(Ordering::Relaxed)
}

/// The node has gone, or serves this process no more: nothing is tried again.
pub fn lost() {
    if STATE.swap(LOST, Ordering::AcqRel) != LOST {
        let path = config::get().node().unwrap_or_default();
        let what = if socket::user() == USER.load(Ordering::Relaxed) {
            "the node has gone"
        } else {
            "the program has changed its user, and the node serves its own user alone"
        };
        report::say(report::Kind::Node, what, path);
    }
}

/// A descriptor of a connection is no longer there, though the node may be: the next call makes another.
pub fn taken() {
    let what = "the program has closed a descriptor of a connection to the node, past libc";
    report::say(report::Kind::Taken, what, &[]);
}

/// An error in a child that shares its parent's memory (vfork(2), CLONE_VM): the node would take a connection for that of another process,
/// and what the child maps for gone with the child.
pub fn ask_own() -> Result<()> {
    if sys::process() == process() {
        return Ok(());
    }
    let what = "a child that shares its parent's memory (vfork) cannot begin to use the device";
    report::say(report::Kind::Shared, what, &[]);
    Err(libc::ENODEV)
}

/// Introduces the process, once.
pub fn begin() -> Result<()> {
    loop {
        match STATE.load(Ordering::Acquire) {
            READY => return Ok(()),
            LOST => return Err(libc::ENODEV),
            BEGINNING => sys::give_way(),
            _ => {
                ask_own()?;
                let (old, new) = (NONE, BEGINNING);
                let order = (Ordering::AcqRel, Ordering::Acquire);
                if STATE.compare_exchange(old, new, order.0, order.1).is_ok() {
                    // A handler that asked the node would wait for what it has interrupted.
                    let signals = sys::block_signals();
                    let result = introduce(0, NO_FILE);
                    STATE.store(after(result), Ordering::Release);
                    sys::unblock_signals(signals);
                    return result.map_err(|error| match error {
                        libc::EBADF => libc::ENODEV,
                        other => other,
                    });
                }
            }
        }
    }
}

/// The state after an introduction. What there was no room for, and what the program has taken away, is tried again at the
/// next call; so is what failed for mappings that have been taken away by then.
fn after(result: Result<()>) -> u32 {
    match result {
        Ok(()) => READY,
        Err(error) if is_limit(error) || matches!(error, libc::EBADF | libc::ESRCH) => NONE,
        Err(_) => LOST,
    }
}

fn is_limit(error: i32) -> bool {
    matches!(
        error,
        libc::EMFILE | libc::ENFILE | libc::ENOMEM | libc::ENOBUFS
    )
}

/// Says why no connection could be made; the error of the program's call.
pub fn not_connected(error: i32) -> i32 {
    if is_limit(error) {
        let what = "no descriptor is free for a connection to the node (ulimit -n)";
        report::say(report::Kind::Limit, what, &[]);
        return error;
    }
    if error == libc::EBADF {
        return error;
    }
    lost();
    libc::ENODEV
}

/// Says why the node does not take a connection of a thread; the error of the program's call.
pub fn refused(error: i32) -> i32 {
    if is_limit(error) {
        say_full(error);
        return error;
    }
    if error == libc::EBADF {
        return error;
    }
    lost();
    libc::ENODEV
}

fn say_full(error: i32) {
    let what = match error {
        libc::EMFILE => "the node takes no more connections of this process",
        libc::ENFILE => "the node has no room for more connections",
        _ => "the node has no thread or no memory for a connection",
    };
    report::say(report::Kind::Limit, what, &[]);
}

/// What a child has inherited of mappings, and how the node knows them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Inherited {
    /// None.
    Nothing,
    /// By what the node has said when the process forked.
    At { parent: i32, fork: u64 },
    /// By what the parent has: the child was made past libc, where nobody could ask.
    Now { parent: i32 },
    /// Not at all: the node could not be asked.
    Unknown,
}

/// In a child: what was inherited is forgotten, and closed unless the descriptors are the parent's as well. The node is told of the
/// mappings that are still there. Where that fails they are taken away: the node knows nothing of them, so their objects may go and
/// others come where they were.
pub fn forked(inherited: Inherited, shares: bool) {
    let leave = if shares { own::leave } else { own::close };
    // A parent that the node serves no more has nothing that the node keeps.
    let served = is_ready();
    STATE.store(BEGINNING, Ordering::Relaxed);
    let files = MEMORIES.each_ref().map(|memory| {
        let memory = memory.load(Ordering::Relaxed);
        memory.and_then(own::file_of)
    });
    let connection = CONNECTION.load(Ordering::Relaxed);
    let mut kept = None;
    for handle in own::all() {
        if Some(handle) == connection {
            kept = connection;
        } else {
            // First, so that there is room for those of this process.
            leave(handle);
        }
    }
    let asked = match inherited {
        Inherited::Nothing => None,
        Inherited::At { parent, fork } if served => Some((parent, fork)),
        Inherited::Now { parent } if served => Some((parent, NO_FILE)),
        _ => Some((0, 0)),
    };
    let state = match asked {
        None => NONE,
        Some((parent, fork)) => {
            let mut result = if parent == 0 {
                Err(libc::ESRCH)
            } else {
                introduce(parent, fork)
            };
            // As long as the parent lives it has the connection open, too.
            if result.is_err_and(is_limit)
                && let Some(connection) = kept.take()
            {
                leave(connection);
                result = introduce(parent, fork);
            }
            if let Err(error) = result {
                map::take_away(&files);
                say_unknown(error);
            }
            after(result)
        }
    };
    // The node keeps the parent's mappings as long as the parent's connection is open.
    if let Some(connection) = kept {
        leave(connection);
    }
    STATE.store(state, Ordering::Release);
}

fn say_unknown(error: i32) {
    let why: &[u8] = match error {
        libc::ESRCH => b"the node does not know whose they are",
        error if is_limit(error) => b"there was no room for the process at the node",
        _ => b"the node cannot be reached",
    };
    let what = "a child process loses the mappings of graphics memory that it has inherited";
    report::say(report::Kind::Inherited, what, why);
}

fn introduce(parent: i32, fork: u64) -> Result<()> {
    for _ in 0..ATTEMPTS {
        match introduce_once(parent, fork) {
            Err(libc::EBADF) => {}
            other => return other,
        }
    }
    taken();
    Err(libc::EBADF)
}

fn introduce_once(parent: i32, fork: u64) -> Result<()> {
    let Some(path) = config::get().node() else {
        let what = "no node: the variable CRESTLINE_NODE is not set";
        report::say(report::Kind::Node, what, &[]);
        return Err(libc::ENODEV);
    };
    let fd = connect(path)?;
    let process = sys::process();
    let numbers = [u64::from(VERSION), process as u64, parent as u64];
    let head = Head::new(Op::Life, fork, numbers);
    let mut inodes = [MaybeUninit::uninit(); size_of::<[u64; FILES]>()];
    let mut packet = Packet::with(&mut inodes);
    let mut files = [Handle::NONE; FILES];
    let keep = |packet: &mut Packet| socket::keep(packet, &mut files);
    let introduced = socket::introduce(fd, head.as_bytes(), &mut packet, keep);
    if let Err(error) = introduced {
        files.into_iter().for_each(own::close);
        own::close(fd);
        if is_limit(error) && packet.head.result >= 0 {
            // The table had no room for all files.
            return Err(not_connected(error));
        }
        if is_limit(error) {
            say_full(error);
        } else if !matches!(error, libc::EBADF | libc::ESRCH) {
            report::say(report::Kind::Node, "the node does not answer", path);
        }
        return Err(error);
    }
    USER.store(socket::user(), Ordering::Relaxed);
    for (memory, file) in MEMORIES.iter().zip(files) {
        memory.store(file, Ordering::Relaxed);
    }
    if let Some(Ok(stat)) = memory(0).map(|memory| own::using(memory, sys::fstat)) {
        NAMELESS.store(stat.st_dev, Ordering::Relaxed);
    }
    CONNECTION.store(fd, Ordering::Relaxed);
    PROCESS.store(process, Ordering::Relaxed);
    Ok(())
}

fn connect(path: &[u8]) -> Result<Handle> {
    socket::connect(path).map_err(|error| match error {
        error if is_limit(error) => not_connected(error),
        libc::EBADF => libc::EBADF,
        libc::EACCES => {
            let what = "the node at this path is another user's";
            report::say(report::Kind::Node, what, path);
            libc::ENODEV
        }
        _ => {
            report::say(report::Kind::Node, "no node at this path", path);
            libc::ENODEV
        }
    })
}
