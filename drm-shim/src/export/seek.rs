//! `lseek`: of a dma-buf it tells the size, and of an open node nothing.
//!
//! dma-buf.c (`dma_buf_llseek`): its ends alone can be asked for, and no position is kept; i915_driver.c (`noop_llseek`).

use core::ffi::c_int;

use super::export;
use crate::inodes::{self, File, Kind};
use crate::sys::{self, Result, ours};

export! {
    [lseek lseek64] (fd: c_int, offset: libc::off64_t, whence: c_int) -> libc::off64_t => seek;
}

unsafe fn seek(fd: c_int, offset: libc::off64_t, whence: c_int) -> libc::off64_t {
    ours(-1, || position(fd, offset, whence))
}

fn kind(fd: c_int) -> Option<Kind> {
    inodes::of_fd(fd).map(|File { kind, .. }| kind)
}

fn position(fd: c_int, offset: libc::off64_t, whence: c_int) -> Result<libc::off64_t> {
    let is_end = offset == 0 && matches!(whence, libc::SEEK_SET | libc::SEEK_END);
    // The file of a dma-buf is empty and has the size of the object.
    if !is_end && kind(fd) == Some(Kind::DmaBuf) {
        return Err(libc::EINVAL);
    }
    // SAFETY: the call takes integers alone.
    match sys::check(unsafe { libc::syscall(libc::SYS_lseek, fd, offset, whence) }) {
        Err(libc::ESPIPE) if matches!(kind(fd), Some(Kind::Node(_))) => Ok(0),
        result => result,
    }
}
