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
        if !ioctl::is_ours(request) {
            return sys::ioctl(fd, request, argument);
        }
        // The node looks which file the program has at the number. The system is asked only when that file does not belong to the node.
        let tried = inodes::likely(fd).map(|file| ioctl::request(file, request, argument));
        if let Some(Ok(value)) = tried {
            return Ok(value);
        }
        match (tried, inodes::of_fd(fd)) {
            (Some(error), Some(_)) => error,
            (None, Some(file)) => {
                inodes::use_again(file);
                ioctl::request(file, request, argument)
            }
            (_, None) => sys::ioctl(fd, request, argument),
        }
    })
}
