//! Descriptors of this library: kept apart from those of the program.
//!
//! A descriptor is held by a [`Handle`], and its number is looked up for each use: when the program puts a file of its
//! own at that number (`dup2`), the descriptor moves away first. Programs that make such system calls without libc are
//! found out before each use, because the file at the number has another device or inode by then. Numbers are high, so
//! that a program finds the low ones free.

mod handle;
mod numbers;
mod rows;
mod uses;

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::life;
use crate::sys::memory::{self, Wish};
use crate::sys::{self, Result, copy};

pub use handle::{AtomicHandle, Handle};

use rows::ROWS;
pub use uses::Uses;

#[cfg_attr(test, expect(unused_imports, reason = "for the exported functions"))]
pub use numbers::{between, is};

/// Numbers that are asked for, the first that the system gives counts; half of the most open files comes last.
const LEAST: [RawFd; 2] = [768, 192];
/// TIMEOUT: how long a program's `dup2` waits for other threads' uses of the descriptors to end, which are single system
/// calls that do not block.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often a new number is tried when the program's files take the ones before.
const ATTEMPTS: usize = 16;
/// Milliseconds between two looks at the number of a descriptor that is waited for.
const LOOK: i32 = 100;

/// Who uses the descriptors and whether one moves.
static USES: Uses = Uses::over(AtomicU32::new(0));
/// Held while a descriptor moves, and across forks.
static MOVING: AtomicBool = AtomicBool::new(false);
/// The program's calls that put files at numbers or close them. They are kept out while a descriptor is made, moved or
/// closed here, because until it has its row such a call cannot be told that the number is taken.
static PLACES: Uses = Uses::over(AtomicU32::new(0));

/// A use of this thread. Signals wait for its end: a handler that jumped out (siglongjmp) would leave it counted for ever.
/// The fields go in this order.
struct Inside {
    #[expect(dead_code, reason = "ends the use")]
    under_way: uses::Use<'static>,
    #[expect(dead_code, reason = "lets signals in again")]
    signals: Blocked,
}

impl Inside {
    fn begin() -> Self {
        let signals = Blocked(sys::block_signals());
        Inside {
            under_way: USES.begin(),
            signals,
        }
    }
}

/// All signals of this thread are blocked; what was blocked before.
struct Blocked(u64);

impl Drop for Blocked {
    fn drop(&mut self) {
        sys::unblock_signals(self.0);
    }
}

fn identity(fd: RawFd) -> Option<(u64, u64)> {
    let stat = sys::fstat(fd).ok()?;
    Some((stat.st_dev, stat.st_ino))
}

/// Runs what makes or closes descriptors of this library: calls of the program that put files at numbers wait meanwhile.
/// `run` must not block, and does not call this again.
pub fn alone<T>(run: impl FnOnce() -> T) -> T {
    let signals = sys::block_signals();
    lock();
    let until = Instant::now() + PATIENCE;
    // Where a call of the program takes long, because a file is slow to close, this goes on without it: what is made is
    // looked at before it is used.
    PLACES.stop(|| Instant::now() < until);
    let result = run();
    PLACES.go_on();
    MOVING.store(false, Ordering::Release);
    sys::unblock_signals(signals);
    result
}

/// Runs a call of the program that puts a file at a number or closes some, while no descriptor is made here.
pub fn placing<T>(run: impl FnOnce() -> T) -> T {
    if sys::process() != life::process() {
        // A child of vfork, as in `make_way`.
        return run();
    }
    // A handler that came in between and jumped out would leave the call counted for ever.
    let signals = sys::block_signals();
    let place = PLACES.begin();
    let result = run();
    drop(place);
    sys::unblock_signals(signals);
    result
}

/// Waits until no descriptor is made here. For `close`: it may sleep for long, and signals are to reach it.
pub fn settle() {
    if PLACES.is_stopped() {
        placing(|| ());
    }
}

/// Makes a descriptor and takes it in; `EBADF` when the program has taken it away, past libc.
pub fn make(make: impl FnOnce() -> Result<RawFd>) -> Result<Handle> {
    let handle = alone(|| make().map(|fd| adopt(fd, None)))?;
    if handle == Handle::NONE {
        return Err(libc::EBADF);
    }
    Ok(handle)
}

/// Takes a new descriptor in under a high number, within [`alone`]. With `inode`, only the file that has it: another is
/// the program's, and stays where it is.
pub fn adopt(fd: RawFd, inode: Option<u64>) -> Handle {
    // That of the file which came. Another thread may put a file of the program's at the new number, past libc, before it
    // is known for ours: then the program's file stays there, and another number is taken.
    let found = identity(fd).filter(|(_, found)| inode.is_none_or(|inode| inode == *found));
    let Some(expected) = found else {
        return Handle::NONE;
    };
    for _ in 0..ATTEMPTS {
        let Some(moved) = duplicate(fd) else { break };
        numbers::set(moved, true);
        if identity(moved) == Some(expected) {
            close_if(fd, expected);
            return enter(moved, expected);
        }
        numbers::set(moved, false);
    }
    // No other number. It may have been closed meanwhile, past libc.
    if identity(fd) != Some(expected) {
        return Handle::NONE;
    }
    numbers::set(fd, true);
    enter(fd, expected)
}

fn enter(fd: RawFd, expected: (u64, u64)) -> Handle {
    ROWS.take(fd, expected).unwrap_or_else(|| {
        numbers::set(fd, false);
        close_if(fd, expected);
        Handle::NONE
    })
}

/// Closes a number that still has the file that was put there.
fn close_if(fd: RawFd, expected: (u64, u64)) {
    if identity(fd) == Some(expected) {
        sys::close(fd);
    }
}

/// The same file under a high number.
fn duplicate(fd: RawFd) -> Option<RawFd> {
    let half = sys::most_files() / 2;
    let least = LEAST.into_iter().chain([half]);
    let mut found = least.filter_map(|least| sys::duplicate(fd, least).ok());
    found.next()
}

/// Uses a descriptor under its number of this moment; `EBADF` when the file there is no longer ours. What is done must
/// not block.
pub fn using<T>(handle: Handle, run: impl FnOnce(RawFd) -> Result<T>) -> Result<T> {
    let _use = Inside::begin();
    run(number(handle)?)
}

/// The same where the caller has blocked all signals.
pub fn using_quietly<T>(handle: Handle, run: impl FnOnce(RawFd) -> Result<T>) -> Result<T> {
    let _use = USES.begin();
    run(number(handle)?)
}

/// Whether it could be used now, with signals blocked: `EBADF` when the file there is no longer ours.
pub fn look(handle: Handle) -> Result<()> {
    using_quietly(handle, |_| Ok(()))
}

/// Uses two of them, likewise.
pub fn using_both<T>(handles: [Handle; 2], run: impl FnOnce([RawFd; 2]) -> Result<T>) -> Result<T> {
    let _use = Inside::begin();
    let [first, second] = handles;
    run([number(first)?, number(second)?])
}

fn number(handle: Handle) -> Result<RawFd> {
    if copy::is_unclaimed() {
        // A child that was made past libc, in a call of its parent's: its answer is not for the child.
        return Err(libc::EBADF);
    }
    let (fd, expected) = ROWS.get(handle).ok_or(libc::EBADF)?;
    if identity(fd) != Some(expected) {
        return Err(libc::EBADF);
    }
    Ok(fd)
}

/// Maps a descriptor under its number of this moment; `EBADF` when the file there is no longer ours.
pub fn map(handle: Handle, wish: Wish) -> Result<usize> {
    using(handle, |fd| {
        let address = memory::map(Wish { fd, ..wish })?;
        // Another thread may have put a file of the program's there just before, past libc. Its bytes are not shown.
        if is_still(handle, fd) {
            return Ok(address);
        }
        take_away(Wish { address, ..wish });
        Err(libc::EBADF)
    })
}

fn is_still(handle: Handle, fd: RawFd) -> bool {
    ROWS.get(handle)
        .is_some_and(|(_, expected)| identity(fd) == Some(expected))
}

/// Takes a mapping away again; what a fixed one has replaced is gone, and nobody else may map anything there.
fn take_away(made: Wish) {
    let replaces = libc::MAP_FIXED | libc::MAP_FIXED_NOREPLACE;
    // Either fails only where the kernel has no memory left.
    let _ = if made.flags & replaces == libc::MAP_FIXED {
        memory::map(Wish {
            prot: libc::PROT_NONE,
            flags: libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            fd: -1,
            offset: 0,
            ..made
        })
        .map(drop)
    } else {
        memory::unmap(made.address, made.len).map(drop)
    };
}

/// Device and inode of the file behind a handle.
pub fn file_of(handle: Handle) -> Option<(u64, u64)> {
    ROWS.get(handle).map(|(_, file)| file)
}

/// Whether the program has put a file of its own at one of our numbers behind our back; the number is the program's then.
pub fn is_replaced(number: RawFd) -> bool {
    // Without a row it is being taken in.
    let Some((handle, expected)) = ROWS.find(number) else {
        return false;
    };
    let replaced = identity(number).is_some_and(|found| found != expected);
    // A descriptor that has moved to another number meanwhile still belongs to the library.
    if replaced && ROWS.get(handle).is_some_and(|(fd, _)| fd == number) {
        disown(handle);
    }
    replaced
}

/// Sleeps until a descriptor has one of the events of `poll`, or a moment has passed.
pub fn wait(handle: Handle, events: i16) -> Result<()> {
    let (fd, _) = ROWS.get(handle).ok_or(libc::EBADF)?;
    // Outside a use: should it move meanwhile, this looks at a file of the program's, which changes nothing about it.
    sys::poll(fd, events, LOOK)
}

/// Closes one.
pub fn close(handle: Handle) {
    if copy::is_unclaimed() {
        // All are closed once it is found out.
        return;
    }
    alone(|| {
        if let Some((fd, expected)) = ROWS.get(handle) {
            numbers::set(fd, false);
            close_if(fd, expected);
            ROWS.free(handle);
        }
    });
}

/// Forgets one whose number has been given to something else behind our back.
pub fn disown(handle: Handle) {
    if let Some((fd, _)) = ROWS.get(handle) {
        numbers::set(fd, false);
        ROWS.free(handle);
    }
}

/// Forgets one that is another process's, in a table of descriptors that both have. The number stays out of the program's reach.
pub fn leave(handle: Handle) {
    ROWS.free(handle);
}

/// The program puts a file of its own at one of our numbers: ours moves away before `place` does so. Where there is no
/// other number for it, it is lost, and its next use fails.
pub fn make_way<T>(number: RawFd, place: impl FnOnce() -> Result<T>) -> Result<T> {
    if sys::process() != life::process() {
        // A child of vfork: its descriptors are copies, but what is noted here is the parent's.
        return place();
    }
    let signals = sys::block_signals();
    lock();
    let until = Instant::now() + PATIENCE;
    // The number that ours moves to may be one that another call is about to close. As in `alone`.
    PLACES.stop(|| Instant::now() < until);
    let until = Instant::now() + PATIENCE;
    let result = if USES.stop(|| Instant::now() < until) {
        relocate(number);
        let result = place();
        USES.go_on();
        result
    } else {
        // What Linux answers a dup2 that meets another thread's open.
        Err(libc::EBUSY)
    };
    PLACES.go_on();
    MOVING.store(false, Ordering::Release);
    sys::unblock_signals(signals);
    result
}

fn relocate(number: RawFd) {
    numbers::set(number, false);
    let Some((handle, expected)) = ROWS.find(number) else {
        return;
    };
    if identity(number) != Some(expected) {
        return;
    }
    let moved = duplicate(number);
    ROWS.move_to(handle, moved.unwrap_or(-1));
    if let Some(moved) = moved {
        numbers::set(moved, true);
    }
}

fn lock() {
    while MOVING.swap(true, Ordering::Acquire) {
        sys::give_way();
    }
}

/// Before a fork: nothing moves until [`forked`]. Signals are blocked.
pub fn forking() {
    lock();
}

/// After a fork; in the child this is the only thread.
pub fn forked(child: bool) {
    if child {
        USES.reset();
        PLACES.reset();
    }
    MOVING.store(false, Ordering::Release);
}

/// All that there are, to be closed one by one.
pub fn all() -> impl Iterator<Item = Handle> {
    ROWS.all()
}
