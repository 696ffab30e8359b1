//! The directory that a process works in.
//!
//! Programs get to know the system's name of it, not the tree's.

use core::ffi::{c_char, c_int};
use core::ptr::null_mut;

use libc::AT_FDCWD;

use super::{at, export, text};
use crate::next::{Next, next};
use crate::sys::{self, Result, errno, ours};
use crate::{config, cwd, path};

type Getcwd = unsafe extern "C" fn(*mut c_char, usize) -> *mut c_char;
static GETCWD: Next = Next::new(c"getcwd");

export! {
    [chdir] (path: *const c_char) -> c_int => change;
    [fchdir] (fd: c_int) -> c_int => change_to_fd;
    [getcwd] (to: *mut c_char, len: usize) -> *mut c_char => current;
    [__getcwd_chk] (to: *mut c_char, len: usize, _room: usize) -> *mut c_char
        => |to, len: usize, room: usize| current(to, len.min(room));
    [get_current_dir_name] () -> *mut c_char => || current(null_mut(), 0);
}

/// # Safety
///
/// As [`at`].
unsafe fn change(path: *const c_char) -> c_int {
    let elsewhere = || {
        // SAFETY: as the caller promises.
        match unsafe { text(path) } {
            Some(path) => sys::change_directory(path),
            None => Err(libc::EFAULT),
        }
    };
    // SAFETY: as the caller promises.
    ours(-1, || unsafe {
        at(AT_FDCWD, path, elsewhere, |place| {
            sys::change_directory(place.as_cstr())
        })?;
        let _ = cwd::look(config::get());
        Ok(0)
    })
}

unsafe fn change_to_fd(fd: c_int) -> c_int {
    ours(-1, || {
        // SAFETY: the kernel checks the descriptor.
        sys::check(unsafe { libc::syscall(libc::SYS_fchdir, fd) })?;
        let _ = cwd::look(config::get());
        Ok(0)
    })
}

/// # Safety
///
/// As `getcwd`.
unsafe fn current(to: *mut c_char, len: usize) -> *mut c_char {
    ours(null_mut(), || {
        if !cwd::is_inside() {
            let real = next!(GETCWD, Getcwd).ok_or(libc::ENOSYS)?;
            // SAFETY: the caller's arguments.
            let found = unsafe { real(to, len) };
            return if found.is_null() {
                Err(errno())
            } else {
                Ok(found)
            };
        }
        let place = sys::working_directory()?;
        let tree = config::get().tree().unwrap_or_default();
        // SAFETY: as the caller promises.
        unsafe { give(path::strip(tree, place.bytes()), to, len) }
    })
}

/// Puts a path where the caller wants it, or where there is room for it.
unsafe fn give(path: &[u8], to: *mut c_char, len: usize) -> Result<*mut c_char> {
    let needed = path.len() + 1;
    if len == 0 && !to.is_null() {
        return Err(libc::EINVAL);
    }
    if len != 0 && len < needed {
        return Err(libc::ERANGE);
    }
    // SAFETY: there are `len` bytes at an address that is not null, and as many as are asked for at a new one.
    unsafe {
        let to = if to.is_null() {
            libc::malloc(len.max(needed)).cast()
        } else {
            to
        };
        if to.is_null() {
            return Err(libc::ENOMEM);
        }
        core::ptr::copy_nonoverlapping(path.as_ptr().cast(), to, path.len());
        to.add(path.len()).write(0);
        Ok(to)
    }
}
