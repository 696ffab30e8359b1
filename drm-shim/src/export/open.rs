//! Opening the node, and files of its tree.
//!
//! Not modelled: `creat`, which nobody calls on a device.

use core::ffi::{c_char, c_int};

use libc::{AT_FDCWD, mode_t};

use super::{at, export};
use crate::buffer::Buffer;
use crate::sys::{self, Result, ours};
use crate::{config, fresh, link};

export! {
    [open open64 __open __open64] (path: *const c_char, flags: c_int, mode: mode_t) -> c_int
        => |path, flags, mode| open_at(AT_FDCWD, path, flags, mode);
    [openat openat64] (dir: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int => open_at;
    [__open_2 __open64_2] (path: *const c_char, flags: c_int) -> c_int
        => |path, flags| open_at(AT_FDCWD, path, flags, 0);
    [__openat_2 __openat64_2] (dir: c_int, path: *const c_char, flags: c_int) -> c_int
        => |dir, path, flags| open_at(dir, path, flags, 0);
}

/// # Safety
///
/// As [`at`].
unsafe fn open_at(dir: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    let elsewhere = || {
        // SAFETY: the kernel checks what it is given.
        sys::check(unsafe { libc::syscall(libc::SYS_openat, dir, path, flags, mode) })
            .map(|fd| fd as c_int)
    };
    // SAFETY: as the caller promises.
    ours(-1, || unsafe {
        at(dir, path, elsewhere, |place| open_tree(place, flags))
    })
}

fn open_tree(place: &Buffer, flags: c_int) -> Result<c_int> {
    // Nothing is made in the tree, and what is written to an attribute does not shorten it first.
    let plain = flags & !(libc::O_CREAT | libc::O_TRUNC | libc::O_EXCL);
    if flags & libc::O_PATH == 0
        && let Some(node) = node(place)
    {
        if flags & libc::O_DIRECTORY != 0 {
            return Err(libc::ENOTDIR);
        }
        if flags & libc::O_CREAT != 0 && flags & libc::O_EXCL != 0 {
            return Err(libc::EEXIST);
        }
        let fd = link::open(node, flags & libc::O_CLOEXEC != 0)?;
        if flags & libc::O_NONBLOCK == 0 {
            sys::set_nonblocking(fd, false);
        }
        return Ok(fd);
    }
    if flags & libc::O_PATH == 0
        && let Some(state) = fresh::state(place, flags & libc::O_ACCMODE)?
    {
        return state.open(plain);
    }
    sys::openat(AT_FDCWD, place.as_cstr(), plain, 0)
}

/// The node that an entry of the tree, or a link to it, stands for.
fn node(place: &Buffer) -> Option<config::Node> {
    let stat = sys::stat_path(place.as_cstr(), 0).ok()?;
    config::get().entry(stat.st_dev, stat.st_ino)
}
