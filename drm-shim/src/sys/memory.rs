//! Mapping, unmapping, and copying to a caller's memory.
#![expect(unsafe_code, reason = "system calls on a caller's memory")]

use core::ffi::c_int;
use std::os::fd::RawFd;

use super::{Result, check};

/// Size of a page.
pub const PAGE: u64 = 4096;

/// What a mapping is made of, as `mmap` takes it.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    pub address: usize,
    pub len: usize,
    pub prot: c_int,
    pub flags: c_int,
    pub fd: RawFd,
    pub offset: i64,
}

/// `mmap` as it is.
pub fn map(wish: Wish) -> Result<usize> {
    let Wish {
        address,
        len,
        prot,
        flags,
        fd,
        offset,
    } = wish;
    // SAFETY: a caller's wish, or one within a range that a caller has had mapped.
    check(unsafe { libc::syscall(libc::SYS_mmap, address, len, prot, flags, fd, offset) })
        .map(|address| address as usize)
}

/// `munmap` as it is.
pub fn unmap(address: usize, len: usize) -> Result<c_int> {
    // SAFETY: a caller's wish.
    check(unsafe { libc::syscall(libc::SYS_munmap, address, len) }).map(|result| result as c_int)
}

/// Leaves nothing that can be reached in a range, and nothing else that may come there.
pub fn cover(address: usize, len: usize) {
    let covered = map(Wish {
        address,
        len,
        prot: libc::PROT_NONE,
        flags: libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE,
        fd: -1,
        offset: 0,
    });
    if covered.is_err() {
        let _ = unmap(address, len);
    }
}

/// `mremap` as it is.
pub fn remap(old: usize, len: usize, new_len: usize, flags: c_int, new: usize) -> Result<usize> {
    // SAFETY: a caller's wish.
    check(unsafe { libc::syscall(libc::SYS_mremap, old, len, new_len, flags, new) })
        .map(|address| address as usize)
}

/// `remap_file_pages` as it is.
pub fn reorder(
    address: usize,
    len: usize,
    prot: c_int,
    page: usize,
    flags: c_int,
) -> Result<c_int> {
    // SAFETY: a caller's wish.
    check(unsafe { libc::syscall(libc::SYS_remap_file_pages, address, len, prot, page, flags) })
        .map(|result| result as c_int)
}

/// A page of this library's own, for what is too large for the program's stacks. No allocator is asked: the program's
/// may be what calls.
pub struct Page(usize);

impl Page {
    pub fn new() -> Result<Self> {
        let wish = Wish {
            address: 0,
            len: PAGE as usize,
            prot: libc::PROT_READ | libc::PROT_WRITE,
            flags: libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            fd: -1,
            offset: 0,
        };
        map(wish).map(Page)
    }
}

/// A page that is never given back: its address.
pub fn keep(page: Page) -> usize {
    core::mem::ManuallyDrop::new(page).0
}

impl AsRef<[u8]> for Page {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: a whole page that was mapped for this value and stays until it is dropped.
        unsafe {
            core::slice::from_raw_parts(core::ptr::with_exposed_provenance(self.0), PAGE as usize)
        }
    }
}

impl AsMut<[u8]> for Page {
    fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and borrowed alone.
        unsafe {
            core::slice::from_raw_parts_mut(
                core::ptr::with_exposed_provenance_mut(self.0),
                PAGE as usize,
            )
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = unmap(self.0, PAGE as usize);
    }
}

/// Bytes of a caller, for the kernel to read.
#[derive(Clone, Copy)]
pub struct Block {
    pub address: usize,
    pub len: usize,
}

impl Block {
    pub fn of(bytes: &[u8]) -> Self {
        Block {
            address: bytes.as_ptr().addr(),
            len: bytes.len(),
        }
    }
}

/// Copies a caller's block, whose address may be anything, to memory of this library's: EFAULT when it cannot be read, EPERM
/// or ENOSYS where the system does not copy like this. `pid` is the process whose memory this is.
pub fn copy_in(pid: i32, to: usize, block: Block) -> Result<()> {
    if block.len == 0 {
        return Ok(());
    }
    let part = |address| libc::iovec {
        iov_base: core::ptr::with_exposed_provenance_mut(address),
        iov_len: block.len,
    };
    let (to, from) = (part(to), part(block.address));
    let (one, flags) = (1_usize, 0_usize);
    let (to, from) = (&raw const to, &raw const from);
    // SAFETY: the caller has room for as many bytes; the kernel checks what it reads.
    let read = check(unsafe {
        libc::syscall(libc::SYS_process_vm_readv, pid, to, one, from, one, flags)
    })?;
    if read as usize == block.len {
        Ok(())
    } else {
        Err(libc::EFAULT)
    }
}

/// Copies to a caller's memory, whose address may be anything.
pub fn copy_out(address: usize, bytes: &[u8]) -> Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let from = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let to = libc::iovec {
        iov_base: core::ptr::with_exposed_provenance_mut(address),
        iov_len: bytes.len(),
    };
    let (pid, one, flags) = (super::process(), 1_usize, 0_usize);
    // SAFETY: reads `bytes`; the kernel checks what it writes.
    let written = check(unsafe {
        libc::syscall(
            libc::SYS_process_vm_writev,
            pid,
            &raw const from,
            one,
            &raw const to,
            one,
            flags,
        )
    });
    match written {
        Ok(len) if len as usize == bytes.len() => Ok(()),
        Err(libc::EPERM | libc::ENOSYS) => {
            copy_out_known(address, bytes);
            Ok(())
        }
        _ => Err(libc::EFAULT),
    }
}

/// The same for memory that the kernel has read just now.
pub fn copy_out_known(address: usize, bytes: &[u8]) {
    let to: *mut u8 = core::ptr::with_exposed_provenance_mut(address);
    // SAFETY: the caller's argument block, at least as long as `bytes`, which the kernel could read.
    unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
}

/// A word of this process's memory, when there is memory.
pub fn peek(address: usize) -> Option<u64> {
    let mut word = 0_u64;
    let len = size_of_val(&word);
    let to = libc::iovec {
        iov_base: (&raw mut word).cast(),
        iov_len: len,
    };
    let from = libc::iovec {
        iov_base: core::ptr::with_exposed_provenance_mut(address),
        iov_len: len,
    };
    let (pid, one, flags) = (super::process(), 1_usize, 0_usize);
    let (to, from) = (&raw const to, &raw const from);
    // SAFETY: writes `word`; the kernel checks what it reads.
    let read =
        check(unsafe { libc::syscall(libc::SYS_process_vm_readv, pid, to, one, from, one, flags) });
    (read == Ok(len as i64)).then_some(word)
}
