//! The unsafe edge: memory shared with clients, sockets, leases.
//!
//! Shared memory is a file without a name, mapped here and in the clients.
#![allow(
    unsafe_code,
    reason = "others may write a mapped file; accept gives a bare number; leases and SO_PASSRIGHTS are no part of nix"
)]

use std::ffi::{CStr, c_void};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

use memmap2::{MmapMut, MmapRaw};
use nix::fcntl::{FcntlArg, SealFlag, fcntl};
use nix::libc;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::socket::{SockFlag, accept4};
use wire::board::Place;

/// A file of `bytes` zeros without a name, whose pages exist once they are touched. Its size is sealed:
/// a process that touches a page behind the end of a file is ended by SIGBUS.
pub fn create(name: &CStr, bytes: usize) -> io::Result<OwnedFd> {
    crate::limits::allow_file(bytes)?;
    let flags = MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING;
    let file = File::from(memfd_create(name, flags)?);
    file.set_len(bytes as u64)?;
    let seals = SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SEAL;
    fcntl(&file, FcntlArg::F_ADD_SEALS(seals))?;
    Ok(file.into())
}

/// Maps all of it.
pub fn map(fd: &OwnedFd) -> io::Result<MmapMut> {
    // SAFETY: the file is sealed against being shortened. Clients that map it change bytes while they are read here, as
    // DMA and CPUs do on hardware: any value of a byte is valid, and nothing is read twice on the assumption that it stays.
    unsafe { MmapMut::map_mut(fd) }
}

/// Maps all of it, with private memory in the place of its last `own` bytes, which are whole pages: what others write there is
/// not seen here, and the other way round.
pub fn map_with_own(fd: &OwnedFd, own: usize) -> io::Result<MmapMut> {
    let mut all = map(fd)?;
    let page = mem::PAGE_SIZE;
    let at = (all.len() / page).saturating_sub(own / page) * page;
    let end = all.get_mut(at..).unwrap_or_default();
    if end.is_empty() {
        return Ok(all);
    }
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    // SAFETY: other memory of the same kind takes the place of pages that belong to this mapping and that nobody refers to yet.
    let mapped = unsafe { libc::mmap(end.as_mut_ptr().cast(), end.len(), access, flags, -1, 0) };
    if mapped == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(all)
}

/// A mapped file whose bytes are copied in and out: threads may be at different places of it at once.
pub struct Window(MmapRaw);

impl Window {
    /// Maps all of a file that [`create`] has made.
    pub fn new(fd: &OwnedFd) -> io::Result<Self> {
        Ok(Window(MmapRaw::map_raw(fd)?))
    }

    fn has(&self, at: usize, len: usize) -> bool {
        at.checked_add(len).is_some_and(|end| end <= self.0.len())
    }

    /// Copies the bytes from `at` on; false, and nothing is copied, when some lie outside.
    pub fn read(&self, at: usize, into: &mut [u8]) -> bool {
        if !self.has(at, into.len()) {
            return false;
        }
        // SAFETY: the range lies inside the mapping, whose file is sealed against being shortened, and `into` is memory of
        // this process alone. Clients may write the bytes meanwhile, see `map`.
        unsafe {
            let from = self.0.as_ptr().add(at);
            std::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len());
        }
        true
    }

    /// Copies bytes to `at`; false, and nothing is copied, when some would lie outside.
    pub fn write(&self, at: usize, from: &[u8]) -> bool {
        if !self.has(at, from.len()) {
            return false;
        }
        // SAFETY: as in `read`; no reference to bytes of the mapping is ever made.
        unsafe {
            let to = self.0.as_mut_ptr().add(at);
            std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len());
        }
        true
    }

    /// The word from `at` on, which both ends change by atomic operations alone; none where there is no aligned word.
    pub fn place(&self, at: usize) -> Option<&Place> {
        if !self.has(at, size_of::<Place>()) || !at.is_multiple_of(align_of::<Place>()) {
            return None;
        }
        let start: *const c_void = self.0.as_ptr().cast();
        // SAFETY: a word inside the mapping, which stays as long as the window and begins at a page. Any value is valid, and
        // `read` and `write` are used on other bytes.
        Some(unsafe { &*start.byte_add(at).cast::<Place>() })
    }
}

/// SIGIO, by which the system asks for a lease back, does nothing from now on instead of ending this process. A handler,
/// which programs that are started do not inherit.
pub fn survive_leases() -> io::Result<()> {
    signal_hook::flag::register(libc::SIGIO, std::sync::Arc::default())?;
    Ok(())
}

/// Takes the next connection.
pub fn accept(listener: &OwnedFd) -> nix::Result<OwnedFd> {
    let fd = accept4(listener.as_raw_fd(), SockFlag::SOCK_CLOEXEC)?;
    // SAFETY: the descriptor is new and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Number of SO_PASSRIGHTS (Linux `include/uapi/asm-generic/socket.h`): whether a Unix socket takes descriptors.
const PASSRIGHTS: i32 = 83;

/// Has the system refuse descriptors that others send to a socket, and to all that connect to it; ENOPROTOOPT before
/// Linux 6.16.
pub fn refuse_rights(socket: &OwnedFd) -> nix::Result<()> {
    let (no, len) = (0_i32, size_of::<i32>() as libc::socklen_t);
    let raw = socket.as_raw_fd();
    // SAFETY: the kernel reads one integer.
    let set = unsafe {
        let no = (&raw const no).cast();
        libc::setsockopt(raw, libc::SOL_SOCKET, PASSRIGHTS, no, len)
    };
    nix::errno::Errno::result(set).map(drop)
}

/// Whether others can send descriptors to a socket.
pub fn takes_rights(socket: &OwnedFd) -> bool {
    let (mut takes, mut len) = (1_i32, size_of::<i32>() as libc::socklen_t);
    let raw = socket.as_raw_fd();
    // SAFETY: the kernel writes one integer and its length.
    let got = unsafe {
        let (takes, len) = ((&raw mut takes).cast(), &raw mut len);
        libc::getsockopt(raw, libc::SOL_SOCKET, PASSRIGHTS, takes, len)
    };
    got != 0 || takes != 0
}

/// Whether a file is open once more than by this descriptor, which reads and writes: a lease for writing is given to
/// none but the only one (fcntl(2), F_SETLEASE).
pub fn is_open_elsewhere(fd: &OwnedFd) -> bool {
    let lease = |kind: i32| {
        // SAFETY: sets a property of an open file; no memory is passed.
        nix::errno::Errno::result(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETLEASE, kind) })
    };
    if let Err(error) = lease(libc::F_WRLCK) {
        return error == nix::errno::Errno::EAGAIN;
    }
    // A process that holds a descriptor of O_PATH can open the file at this moment. The system then asks for the lease back
    // by SIGIO, see `survive_leases`, and that process waits until it is given back here.
    let _ = lease(libc::F_UNLCK);
    false
}
