//! The unsafe edge: memory shared with clients, sockets from the listener.
//!
//! No PRM chapter. Shared memory is a file without a name, mapped here and in the clients.
#![allow(
    unsafe_code,
    reason = "others may write a mapped file; accept gives a bare number"
)]

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

use memmap2::MmapMut;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::socket::{SockFlag, accept4};

/// A file of `bytes` zeros without a name, whose pages exist once they are touched.
pub fn create(name: &CStr, bytes: usize) -> io::Result<OwnedFd> {
    let fd = memfd_create(name, MFdFlags::MFD_CLOEXEC)?;
    let file = File::from(fd);
    file.set_len(bytes as u64)?;
    Ok(file.into())
}

/// Maps all of it.
pub fn map(fd: &OwnedFd) -> io::Result<MmapMut> {
    // SAFETY: the file is never shortened. Clients that map it change bytes while they are read here, as DMA and CPUs
    // do on hardware: any value of a byte is valid, and nothing is read twice on the assumption that it stays.
    unsafe { MmapMut::map_mut(fd) }
}

/// Takes the next connection.
pub fn accept(listener: &OwnedFd) -> nix::Result<OwnedFd> {
    let fd = accept4(listener.as_raw_fd(), SockFlag::SOCK_CLOEXEC)?;
    // SAFETY: the descriptor is new and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
