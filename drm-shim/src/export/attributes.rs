//! Extended attributes: the device's files have none.
//!
//! Which names a file system knows decides between two errors: devtmpfs (mm/shmem.c), sysfs
//! (fs/kernfs/inode.c), debugfs (fs/libfs.c).

use core::ffi::{CStr, c_char, c_int};

use libc::AT_FDCWD;

use super::{at, export, text};
use crate::buffer::Buffer;
use crate::config;
use crate::inodes::{self, File, Kind};
use crate::path;
use crate::sys::{self, ours};

export! {
    [getxattr] (path: *const c_char, name: *const c_char, to: *mut c_char, len: usize) -> isize
        => |path, name, to, len| get(libc::SYS_getxattr, 0, path, name, to, len);
    [lgetxattr] (path: *const c_char, name: *const c_char, to: *mut c_char, len: usize) -> isize
        => |path, name, to, len| get(libc::SYS_lgetxattr, libc::AT_SYMLINK_NOFOLLOW, path, name, to, len);
    [fgetxattr] (fd: c_int, name: *const c_char, to: *mut c_char, len: usize) -> isize => get_of_fd;
    [listxattr] (path: *const c_char, to: *mut c_char, len: usize) -> isize
        => |path, to, len| list(libc::SYS_listxattr, 0, path, to, len);
    [llistxattr] (path: *const c_char, to: *mut c_char, len: usize) -> isize
        => |path, to, len| list(libc::SYS_llistxattr, libc::AT_SYMLINK_NOFOLLOW, path, to, len);
    [flistxattr] (fd: c_int, to: *mut c_char, len: usize) -> isize => list_of_fd;
}

/// The error for an attribute of a file that the device has at `path`.
fn missing(path: &[u8], name: &[u8]) -> i32 {
    let begins = |with: &[&[u8]]| with.iter().any(|start| name.starts_with(start));
    let known = if path.starts_with(b"/dev") {
        begins(&[b"security.", b"trusted.", b"system.posix_acl_"])
    } else if path.starts_with(b"/sys/kernel/debug") {
        false
    } else {
        begins(&[b"security.", b"trusted."])
    };
    if known {
        libc::ENODATA
    } else {
        libc::EOPNOTSUPP
    }
}

fn seen(place: &Buffer) -> &[u8] {
    path::strip(config::get().tree().unwrap_or_default(), place.bytes())
}

fn is_node(fd: c_int) -> bool {
    let kind = inodes::of_fd(fd).map(|File { kind, .. }| kind);
    matches!(kind, Some(Kind::Node(_)))
}

/// # Safety
///
/// As `getxattr`; `call` is its number, or that of `lgetxattr`.
unsafe fn get(
    call: libc::c_long,
    flags: c_int,
    path: *const c_char,
    name: *const c_char,
    to: *mut c_char,
    len: usize,
) -> isize {
    let elsewhere = || {
        // SAFETY: the kernel checks what it is given.
        sys::check(unsafe { libc::syscall(call, path, name, to, len) }).map(|got| got as isize)
    };
    // SAFETY: as the caller promises.
    ours(-1, || unsafe {
        at(AT_FDCWD, path, elsewhere, |place| {
            sys::stat_path(place.as_cstr(), flags)?;
            let name = text(name).ok_or(libc::EFAULT)?;
            Err(missing(seen(place), name.to_bytes()))
        })
    })
}

/// # Safety
///
/// As `fgetxattr`.
unsafe fn get_of_fd(fd: c_int, name: *const c_char, to: *mut c_char, len: usize) -> isize {
    ours(-1, || {
        if is_node(fd) {
            // SAFETY: as the caller promises.
            let name = unsafe { text(name) }.map_or(&b""[..], CStr::to_bytes);
            return Err(missing(b"/dev/dri", name));
        }
        // SAFETY: the kernel checks what it is given.
        sys::check(unsafe { libc::syscall(libc::SYS_fgetxattr, fd, name, to, len) })
            .map(|got| got as isize)
    })
}

/// # Safety
///
/// As `listxattr`; `call` is its number, or that of `llistxattr`.
unsafe fn list(
    call: libc::c_long,
    flags: c_int,
    path: *const c_char,
    to: *mut c_char,
    len: usize,
) -> isize {
    let elsewhere = || {
        // SAFETY: the kernel checks what it is given.
        sys::check(unsafe { libc::syscall(call, path, to, len) }).map(|got| got as isize)
    };
    // SAFETY: as the caller promises.
    ours(-1, || unsafe {
        at(AT_FDCWD, path, elsewhere, |place| {
            sys::stat_path(place.as_cstr(), flags).map(|_| 0)
        })
    })
}

/// # Safety
///
/// As `flistxattr`.
unsafe fn list_of_fd(fd: c_int, to: *mut c_char, len: usize) -> isize {
    ours(-1, || {
        if is_node(fd) {
            return Ok(0);
        }
        // SAFETY: the kernel checks what it is given.
        sys::check(unsafe { libc::syscall(libc::SYS_flistxattr, fd, to, len) })
            .map(|got| got as isize)
    })
}
