//! The `stat` family and `access`.
//!
//! Structures of 64-bit machines, which are the kernel's.

use core::ffi::{CStr, c_char, c_int, c_uint};

use libc::{AT_EMPTY_PATH, AT_FDCWD, AT_SYMLINK_NOFOLLOW, stat as Stat, statx as Statx};

use super::{at, export, text};
use crate::sys::{self, Result, ours};
use crate::{config, stat as view};

export! {
    [stat stat64] (path: *const c_char, to: *mut Stat) -> c_int => |path, to| stat_at(AT_FDCWD, path, to, 0);
    [lstat lstat64] (path: *const c_char, to: *mut Stat) -> c_int
        => |path, to| stat_at(AT_FDCWD, path, to, AT_SYMLINK_NOFOLLOW);
    [fstatat fstatat64] (dir: c_int, path: *const c_char, to: *mut Stat, flags: c_int) -> c_int => stat_at;
    [fstat fstat64] (fd: c_int, to: *mut Stat) -> c_int => stat_fd;
    [__xstat __xstat64] (_version: c_int, path: *const c_char, to: *mut Stat) -> c_int
        => |_, path, to| stat_at(AT_FDCWD, path, to, 0);
    [__lxstat __lxstat64] (_version: c_int, path: *const c_char, to: *mut Stat) -> c_int
        => |_, path, to| stat_at(AT_FDCWD, path, to, AT_SYMLINK_NOFOLLOW);
    [__fxstat __fxstat64] (_version: c_int, fd: c_int, to: *mut Stat) -> c_int => |_, fd, to| stat_fd(fd, to);
    [__fxstatat __fxstatat64] (_version: c_int, dir: c_int, path: *const c_char, to: *mut Stat, flags: c_int) -> c_int
        => |_, dir, path, to, flags| stat_at(dir, path, to, flags);
    [statx] (dir: c_int, path: *const c_char, flags: c_int, mask: c_uint, to: *mut Statx) -> c_int => statx_at;
    [access] (path: *const c_char, mode: c_int) -> c_int => |path, mode| access_at(AT_FDCWD, path, mode, 0);
    [euidaccess eaccess] (path: *const c_char, mode: c_int) -> c_int
        => |path, mode| access_at(AT_FDCWD, path, mode, libc::AT_EACCESS);
    [faccessat] (dir: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int => access_at;
}

/// The descriptor that a call is about when its path is empty.
///
/// # Safety
///
/// As [`text`].
unsafe fn by_fd(dir: c_int, path: *const c_char, flags: c_int) -> Option<c_int> {
    if flags & AT_EMPTY_PATH == 0 || dir < 0 {
        return None;
    }
    // SAFETY: as the caller promises.
    let empty = unsafe { text(path) }.is_none_or(CStr::is_empty);
    empty.then_some(dir)
}

/// # Safety
///
/// As `fstatat`.
unsafe fn stat_at(dir: c_int, path: *const c_char, to: *mut Stat, flags: c_int) -> c_int {
    // SAFETY: as the caller promises.
    let fd = unsafe { by_fd(dir, path, flags) };
    let run = |dir: c_int, path: *const c_char| -> Result<c_int> {
        // SAFETY: the kernel checks addresses; what it has filled can be changed.
        unsafe {
            sys::check(libc::syscall(libc::SYS_newfstatat, dir, path, to, flags))?;
            if let Some(to) = to.as_mut() {
                view::patch(config::get(), to, fd);
            }
        }
        Ok(0)
    };
    // SAFETY: as the caller promises.
    ours(-1, || unsafe {
        at(
            dir,
            path,
            || run(dir, path),
            |place| run(AT_FDCWD, place.as_cstr().as_ptr()),
        )
    })
}

/// # Safety
///
/// As `fstat`.
unsafe fn stat_fd(fd: c_int, to: *mut Stat) -> c_int {
    ours(-1, || {
        // SAFETY: as above.
        unsafe {
            sys::check(libc::syscall(libc::SYS_fstat, fd, to))?;
            if let Some(to) = to.as_mut() {
                view::patch(config::get(), to, Some(fd));
            }
        }
        Ok(0)
    })
}

/// # Safety
///
/// As `statx`.
unsafe fn statx_at(
    dir: c_int,
    path: *const c_char,
    flags: c_int,
    mask: c_uint,
    to: *mut Statx,
) -> c_int {
    // SAFETY: as the caller promises.
    let fd = unsafe { by_fd(dir, path, flags) };
    let run = |dir: c_int, path: *const c_char| -> Result<c_int> {
        // SAFETY: as above.
        unsafe {
            sys::check(libc::syscall(libc::SYS_statx, dir, path, flags, mask, to))?;
            if let Some(to) = to.as_mut() {
                view::patch_statx(config::get(), to, fd);
            }
        }
        Ok(0)
    };
    // SAFETY: as the caller promises.
    ours(-1, || unsafe {
        at(
            dir,
            path,
            || run(dir, path),
            |place| run(AT_FDCWD, place.as_cstr().as_ptr()),
        )
    })
}

/// # Safety
///
/// As `faccessat`.
unsafe fn access_at(dir: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int {
    let elsewhere = || {
        // SAFETY: as the caller promises.
        match unsafe { text(path) } {
            Some(path) => sys::faccessat(dir, path, mode, flags),
            None => Err(libc::EFAULT),
        }
    };
    // SAFETY: as the caller promises.
    ours(-1, || unsafe {
        at(dir, path, elsewhere, |place| {
            sys::faccessat(AT_FDCWD, place.as_cstr(), mode, flags)
        })
    })
}
