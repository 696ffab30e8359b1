//! The connection that a process keeps until it ends, and its memories.
//!
//! No PRM chapter.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};

use wire::{Head, Op, VERSION};
use zerocopy::IntoBytes;

use crate::own::Handle;
use crate::sys::memory::Block;
use crate::sys::socket::{self, Packet};
use crate::sys::{self, Result};
use crate::{config, own, report};

const NONE: u32 = 0;
const BEGINNING: u32 = 1;
const READY: u32 = 2;
const LOST: u32 = 3;

static STATE: AtomicU32 = AtomicU32::new(NONE);
static PROCESS: AtomicI32 = AtomicI32::new(0);
static CONNECTION: AtomicI32 = AtomicI32::new(-1);
static MEMORIES: [AtomicI32; 2] = [const { AtomicI32::new(-1) }; 2];
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

/// This process's number.
pub fn process() -> i32 {
    PROCESS.load(Ordering::Relaxed)
}

/// The memory that a reply's `which` names.
pub fn memory(which: u64) -> Option<Handle> {
    let fd = MEMORIES.get(usize::try_from(which).ok()?)?;
    Some(fd.load(Ordering::Relaxed)).filter(|fd| *fd >= 0)
}

/// The node has gone: nothing is tried again.
pub fn lost() {
    if STATE.swap(LOST, Ordering::AcqRel) != LOST {
        let name = config::get().name().unwrap_or_default();
        report::say(report::Kind::Node, "the node has gone", name);
    }
}

/// Introduces the process, once.
pub fn begin() -> Result<()> {
    loop {
        match STATE.load(Ordering::Acquire) {
            READY => return Ok(()),
            LOST => return Err(libc::ENODEV),
            BEGINNING => sys::give_way(),
            _ => {
                let (old, new) = (NONE, BEGINNING);
                let order = (Ordering::AcqRel, Ordering::Acquire);
                if STATE.compare_exchange(old, new, order.0, order.1).is_ok() {
                    let result = introduce(0);
                    let state = if result.is_ok() { READY } else { LOST };
                    STATE.store(state, Ordering::Release);
                    return result;
                }
            }
        }
    }
}

/// In a child: what was inherited is forgotten. With `parent`, the node is told that the mappings are still there.
pub fn forked(parent: Option<i32>) {
    let inherited = own::all();
    // Closed after the introduction: the node keeps the parent's mappings as long as the parent's connection is open.
    STATE.store(BEGINNING, Ordering::Relaxed);
    let mut kept = [-1; 256];
    let mut count = 0;
    for handle in inherited {
        if let Some(slot) = kept.get_mut(count) {
            *slot = handle;
            count += 1;
        } else {
            own::close(handle);
        }
    }
    let state = match parent {
        Some(parent) if introduce(parent).is_ok() => READY,
        Some(_) => LOST,
        None => NONE,
    };
    for handle in kept.into_iter().take(count) {
        own::close(handle);
    }
    STATE.store(state, Ordering::Release);
}

fn introduce(parent: i32) -> Result<()> {
    let Some(name) = config::get().name() else {
        let what = "no node: the variable CRESTLINE_NODE is not set";
        report::say(report::Kind::Node, what, &[]);
        return Err(libc::ENODEV);
    };
    let fd = own::adopt(connect(name)?);
    let process = sys::process();
    let numbers = [u64::from(VERSION), process as u64, parent as u64];
    let head = Head::new(Op::Life, 0, numbers);
    let mut packet = Packet::new();
    if let Err(error) = converse(fd, &head, &mut packet) {
        own::close(fd);
        report::say(report::Kind::Node, "the node does not answer", name);
        return Err(error);
    }
    for (index, memory) in MEMORIES.iter().enumerate() {
        let taken = packet.take_fd(index).map_or(-1, own::adopt);
        memory.store(taken, Ordering::Relaxed);
    }
    if let Some(Ok(stat)) = memory(0).map(|memory| own::using(memory, sys::fstat)) {
        NAMELESS.store(stat.st_dev, Ordering::Relaxed);
    } else {
        report::say(report::Kind::Protocol, "the node gives no memory", name);
    }
    CONNECTION.store(fd, Ordering::Relaxed);
    PROCESS.store(process, Ordering::Relaxed);
    Ok(())
}

fn connect(name: &[u8]) -> Result<RawFd> {
    socket::connect(name).map_err(|error| {
        if matches!(error, libc::EMFILE | libc::ENFILE | libc::ENOMEM) {
            return error;
        }
        report::say(report::Kind::Node, "no node at this name", name);
        libc::ENODEV
    })
}

fn converse(fd: Handle, head: &Head, packet: &mut Packet) -> Result<()> {
    socket::send(fd, head.as_bytes(), Block::of(&[])).map_err(|_| libc::ENODEV)?;
    loop {
        match socket::receive(fd, packet, true) {
            Ok(true) if packet.head.result < 0 => return Err(-packet.head.result),
            Ok(true) => return Ok(()),
            Err(libc::EINTR) => {}
            Ok(false) | Err(_) => return Err(libc::ENODEV),
        }
    }
}
