//! `ioctl`: requests of the node go to it, all others to the system.

use core::ffi::{c_int, c_ulong};

use super::export;
use crate::sys::{self, ours};
use crate::{inodes, ioctl};

export! {
    [ioctl __ioctl] (fd: c_int, request: c_ulong, argument: usize) -> c_int => control;
}

unsafe fn control(fd: c_int, request: c_ulong, argument: usize) -> c_int {
    // The kernel looks at 32 bits.
    let request = request as u32;
    ours(-1, || {
        if ioctl::is_ours(request)
            && let Some(file) = inodes::of_fd(fd)
        {
            return ioctl::request(file, request, argument);
        }
        sys::ioctl(fd, request, argument)
    })
}
