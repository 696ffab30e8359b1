//! Closing: this library's own descriptors stay open.
//!
//! What a program closes of the node's is the node's matter.

use core::ffi::{c_int, c_uint};
use std::os::fd::RawFd;

use super::export;
use crate::sys::{self, Result, ours};
use crate::{inodes, own};

export! {
    [close __close] (fd: c_int) -> c_int => close_one;
    [close_range] (first: c_uint, last: c_uint, flags: c_int) -> c_int => close_some;
    [closefrom] (first: c_int) -> () => close_from;
    [shutdown] (fd: c_int, how: c_int) -> c_int => shut_down;
}

unsafe fn close_one(fd: c_int) -> c_int {
    ours(-1, || {
        if !sys::is_open(fd) {
            // Nor is it closed a moment later: what comes there until then may be ours.
            return Err(libc::EBADF);
        }
        own::settle();
        if own::is(fd) && !own::is_replaced(fd) {
            return Err(libc::EBADF);
        }
        sys::close_given(fd)
    })
}

unsafe fn close_some(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    ours(-1, || own::placing(|| close_between(first, last, flags)))
}

unsafe fn close_from(first: c_int) {
    let first = first.max(0) as c_uint;
    ours(0, || own::placing(|| close_between(first, c_uint::MAX, 0)));
}

/// A device is no socket. What stands for it is one, which would be closed for all processes that have it.
unsafe fn shut_down(fd: c_int, how: c_int) -> c_int {
    ours(-1, || {
        if own::is(fd) && !own::is_replaced(fd) {
            return Err(libc::EBADF);
        }
        if inodes::of_fd(fd).is_some() {
            return Err(libc::ENOTSOCK);
        }
        sys::shut_down(fd, how)
    })
}

/// Closes the gaps between our own.
fn close_between(first: c_uint, last: c_uint, flags: c_int) -> Result<c_int> {
    if first > last {
        return Err(libc::EINVAL);
    }
    let mut from = first;
    for fd in own::between(first, last) {
        if own::is_replaced(fd as RawFd) {
            continue;
        }
        if fd > from {
            sys::close_range(from, fd - 1, flags)?;
        }
        from = fd + 1;
    }
    if from > last {
        return Ok(0);
    }
    sys::close_range(from, last, flags)
}
