//! System calls as they are, past the functions that this library stands before.
//!
//! Errors are numbers of errno; the variable itself is put back by [`ours`].
#![expect(
    unsafe_code,
    reason = "system calls take addresses; this is the edge that checks what it can"
)]

pub mod board;
pub mod copy;
pub mod key;
pub mod memory;
pub mod socket;

use core::ffi::{CStr, c_int, c_long};
use std::os::fd::RawFd;

use crate::buffer::{Buffer, Short, Text};

/// A value, or a number of errno.
pub type Result<T> = core::result::Result<T, i32>;

/// The thread's errno.
pub fn errno() -> i32 {
    // SAFETY: the address is that of a variable of this thread.
    unsafe { *libc::__errno_location() }
}

/// Sets the thread's errno.
pub fn set_errno(value: i32) {
    // SAFETY: the address is that of a variable of this thread.
    unsafe { *libc::__errno_location() = value }
}

/// Runs `body` as a function of libc: errno changes when it fails and is as before otherwise.
pub fn ours<T>(failure: T, body: impl FnOnce() -> Result<T>) -> T {
    let before = errno();
    match body() {
        Ok(value) => {
            set_errno(before);
            value
        }
        Err(error) => {
            set_errno(error);
            failure
        }
    }
}

/// The result of a system call.
pub fn check(result: c_long) -> Result<c_long> {
    if result == -1 {
        Err(errno())
    } else {
        Ok(result)
    }
}

pub fn openat(dir: RawFd, path: &CStr, flags: c_int, mode: libc::mode_t) -> Result<RawFd> {
    // SAFETY: the path ends with a zero; the kernel checks the rest.
    check(unsafe { libc::syscall(libc::SYS_openat, dir, path.as_ptr(), flags, mode) })
        .map(|fd| fd as RawFd)
}

pub fn close(fd: RawFd) {
    // SAFETY: only descriptors that this library made are closed here.
    unsafe { libc::syscall(libc::SYS_close, fd) };
}

/// Closes for a caller.
pub fn close_given(fd: RawFd) -> Result<c_int> {
    // SAFETY: the caller's descriptor, at the caller's wish.
    check(unsafe { libc::syscall(libc::SYS_close, fd) }).map(|result| result as c_int)
}

/// Closes a range for a caller.
pub fn close_range(first: u32, last: u32, flags: c_int) -> Result<c_int> {
    // SAFETY: the caller's descriptors, at the caller's wish.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) })
        .map(|result| result as c_int)
}

/// Ends a connection in one direction or both, for a caller.
pub fn shut_down(fd: RawFd, how: c_int) -> Result<c_int> {
    // SAFETY: the caller's descriptor, at the caller's wish.
    check(unsafe { libc::syscall(libc::SYS_shutdown, fd, how) }).map(|result| result as c_int)
}

/// Reads what comes next; 0 at the end.
pub fn read(fd: RawFd, to: &mut [u8]) -> Result<usize> {
    let (len, to) = (to.len(), to.as_mut_ptr());
    // SAFETY: the kernel writes at most `len` bytes.
    check(unsafe { libc::syscall(libc::SYS_read, fd, to, len) }).map(|len| len as usize)
}

fn empty_stat() -> libc::stat {
    // SAFETY: the structure has integers only.
    unsafe { core::mem::zeroed() }
}

/// Whether a descriptor was opened to write, too.
pub fn writes(fd: RawFd) -> bool {
    // SAFETY: it asks for flags.
    let flags = check(unsafe { libc::syscall(libc::SYS_fcntl, fd, libc::F_GETFL, 0) });
    flags.is_ok_and(|flags| flags as c_int & libc::O_ACCMODE != libc::O_RDONLY)
}

pub fn fstat(fd: RawFd) -> Result<libc::stat> {
    let mut stat = empty_stat();
    // SAFETY: the structure is the kernel's on the machines that have this call.
    check(unsafe { libc::syscall(libc::SYS_fstat, fd, &raw mut stat) }).map(|_| stat)
}

pub fn stat_path(path: &CStr, flags: c_int) -> Result<libc::stat> {
    let mut stat = empty_stat();
    let (dir, path) = (libc::AT_FDCWD, path.as_ptr());
    // SAFETY: the path ends with a zero, and the structure is the kernel's.
    check(unsafe { libc::syscall(libc::SYS_newfstatat, dir, path, &raw mut stat, flags) })
        .map(|_| stat)
}

pub fn readlinkat(dir: RawFd, path: &CStr, to: &mut [u8]) -> Result<usize> {
    let (len, to) = (to.len(), to.as_mut_ptr());
    // SAFETY: the kernel writes at most `len` bytes.
    check(unsafe { libc::syscall(libc::SYS_readlinkat, dir, path.as_ptr(), to, len) })
        .map(|len| len as usize)
}

/// Appends what a link says, as far as there is room.
pub fn read_link<B: AsRef<[u8]> + AsMut<[u8]>>(link: &CStr, to: &mut Text<B>) -> Result<()> {
    let mut result = Ok(0);
    to.fill(|room| {
        result = readlinkat(libc::AT_FDCWD, link, room);
        result.unwrap_or(0)
    });
    result.map(drop)
}

/// Appends what the system says that a descriptor was opened by, as far as there is room.
pub fn path_of<B: AsRef<[u8]> + AsMut<[u8]>>(fd: RawFd, to: &mut Text<B>) -> Result<()> {
    let mut link = Short::<32>::new();
    link.push(b"/proc/self/fd/");
    link.push_number(u64::from(fd.unsigned_abs()));
    read_link(link.as_cstr(), to)
}

/// The path of the directory that the process works in.
pub fn working_directory() -> Result<Buffer> {
    let mut path = Buffer::new()?;
    read_link(c"/proc/self/cwd", &mut path)?;
    Ok(path)
}

/// Works in another directory from now on.
pub fn change_directory(path: &CStr) -> Result<c_int> {
    // SAFETY: the path ends with a zero.
    check(unsafe { libc::syscall(libc::SYS_chdir, path.as_ptr()) }).map(|result| result as c_int)
}

pub fn faccessat(dir: RawFd, path: &CStr, mode: c_int, flags: c_int) -> Result<c_int> {
    let path = path.as_ptr();
    // SAFETY: the path ends with a zero.
    let result = unsafe {
        if flags == 0 {
            libc::syscall(libc::SYS_faccessat, dir, path, mode)
        } else {
            libc::syscall(libc::SYS_faccessat2, dir, path, mode, flags)
        }
    };
    check(result).map(|result| result as c_int)
}

/// An ioctl as it is.
pub fn ioctl(fd: RawFd, request: u32, argument: usize) -> Result<c_int> {
    // SAFETY: the caller's argument, checked by the kernel.
    check(unsafe { libc::syscall(libc::SYS_ioctl, fd, request, argument) })
        .map(|result| result as c_int)
}

/// Sets or clears close-on-exec.
pub fn set_cloexec(fd: RawFd, on: bool) {
    let flags = if on { libc::FD_CLOEXEC } else { 0 };
    // SAFETY: changes a flag of a descriptor.
    unsafe { libc::syscall(libc::SYS_fcntl, fd, libc::F_SETFD, flags) };
}

/// Makes an open file one that does not block.
pub fn set_nonblocking(fd: RawFd, on: bool) {
    let flags = if on { libc::O_NONBLOCK } else { 0 };
    // SAFETY: changes a flag of a file that was opened just now.
    unsafe { libc::syscall(libc::SYS_fcntl, fd, libc::F_SETFL, flags) };
}

/// The same file under a number of at least `least`, closed on exec.
pub fn duplicate(fd: RawFd, least: RawFd) -> Result<RawFd> {
    // SAFETY: makes a new descriptor.
    check(unsafe { libc::syscall(libc::SYS_fcntl, fd, libc::F_DUPFD_CLOEXEC, least) })
        .map(|fd| fd as RawFd)
}

/// Sleeps until a descriptor has one of the events, or so many milliseconds have passed.
pub fn poll(fd: RawFd, events: i16, millis: i32) -> Result<()> {
    let mut wanted = libc::pollfd {
        fd,
        events,
        revents: 0,
    };
    let time = libc::timespec {
        tv_sec: 0,
        tv_nsec: libc::c_long::from(millis) * 1_000_000,
    };
    let (one, none) = (1_usize, core::ptr::null::<u64>());
    // SAFETY: one structure of each, and no set of signals.
    check(unsafe {
        libc::syscall(
            libc::SYS_ppoll,
            &raw mut wanted,
            one,
            &raw const time,
            none,
            0_usize,
        )
    })
    .map(|_| ())
}

/// Puts the file of `old` at the number `new`, for a caller.
pub fn duplicate_onto(old: RawFd, new: RawFd, flags: c_int) -> Result<RawFd> {
    // SAFETY: the caller's descriptors, at the caller's wish.
    check(unsafe { libc::syscall(libc::SYS_dup3, old, new, flags) }).map(|fd| fd as RawFd)
}

/// Whether a number is that of an open file.
pub fn is_open(fd: RawFd) -> bool {
    // SAFETY: reads a flag of a descriptor.
    check(unsafe { libc::syscall(libc::SYS_fcntl, fd, libc::F_GETFD) }).is_ok()
}

/// How many files the process may have open.
pub fn most_files() -> RawFd {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    let (this, which) = (0, libc::RLIMIT_NOFILE);
    let none = core::ptr::null::<libc::rlimit>();
    // SAFETY: the structure is the kernel's on 64-bit machines, and nothing is set.
    unsafe { libc::syscall(libc::SYS_prlimit64, this, which, none, &raw mut limit) };
    RawFd::try_from(limit.rlim_cur).unwrap_or(RawFd::MAX)
}

pub fn process() -> i32 {
    // SAFETY: takes nothing, changes nothing.
    unsafe { libc::syscall(libc::SYS_getpid) as i32 }
}

/// Whether this process and another have one table of descriptors; so it is taken where that cannot be told.
pub fn shares_files(other: i32) -> bool {
    const FILES: c_int = 2; // KCMP_FILES of <linux/kcmp.h>
    let (this, none) = (process(), 0_usize);
    // SAFETY: compares, and changes nothing.
    let compared = check(unsafe { libc::syscall(libc::SYS_kcmp, this, other, FILES, none, none) });
    match compared {
        Ok(order) => order == 0,
        Err(error) => error != libc::ESRCH,
    }
}

/// Lets another thread run.
pub fn give_way() {
    // SAFETY: takes nothing.
    unsafe { libc::syscall(libc::SYS_sched_yield) };
}

/// Whether this runs on the stack that the program has set up for handlers of signals.
pub fn is_on_alternate_stack() -> bool {
    // SAFETY: integers and an address.
    let mut stack: libc::stack_t = unsafe { core::mem::zeroed() };
    let none = core::ptr::null::<libc::stack_t>();
    // SAFETY: the kernel writes one structure.
    let result = unsafe { libc::syscall(libc::SYS_sigaltstack, none, &raw mut stack) };
    result == 0 && stack.ss_flags & libc::SS_ONSTACK != 0
}

/// Blocks all signals of this thread; what was blocked before.
pub fn block_signals() -> u64 {
    let (all, mut before) = (u64::MAX, 0_u64);
    let (how, size) = (libc::SIG_SETMASK, size_of::<u64>());
    // SAFETY: both sets have the kernel's size, which is passed.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            how,
            &raw const all,
            &raw mut before,
            size,
        )
    };
    before
}

/// Blocks the signals of this thread that the program handles, and those in `before`. What the others do, they do: those
/// that end the program must not have to wait.
pub fn block_handled_signals(before: u64) {
    let mut mask = before;
    for number in 1..=64 {
        // The kernel's structure begins with the handler; it has no more words than these on any processor.
        let mut action = [0_u64; 20];
        let (new, size) = (core::ptr::null::<u64>(), size_of::<u64>());
        // SAFETY: nothing is set, and the answer has room; the size is that of the kernel's set of signals.
        let result = unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                number,
                new,
                action.as_mut_ptr(),
                size,
            )
        };
        let handler = action[0] as libc::sighandler_t;
        if result == 0 && handler != libc::SIG_DFL && handler != libc::SIG_IGN {
            mask |= 1 << (number - 1);
        }
    }
    unblock_signals(mask);
}

/// Puts back what [`block_signals`] gave.
pub fn unblock_signals(before: u64) {
    let (how, size) = (libc::SIG_SETMASK, size_of::<u64>());
    let none = core::ptr::null_mut::<u64>();
    // SAFETY: the set has the kernel's size, which is passed.
    unsafe { libc::syscall(libc::SYS_rt_sigprocmask, how, &raw const before, none, size) };
}

/// Writes one line to the standard error stream.
pub fn complain(line: &[u8]) {
    // SAFETY: the bytes are read within their bounds. A line that cannot be written is lost.
    unsafe { libc::syscall(libc::SYS_write, 2, line.as_ptr(), line.len()) };
}

/// A variable of the environment.
pub fn environment(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: the name ends with a zero. What comes back is copied at once, before the program can change it.
    unsafe {
        let value = libc::getenv(name.as_ptr());
        (!value.is_null()).then(|| CStr::from_ptr(value))
    }
}
