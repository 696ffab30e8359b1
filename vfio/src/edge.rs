//! What needs unsafe code: memory of other processes in the block.
//!
//! mmap(2). A file may take a place only if it cannot become shorter while it is mapped, so no access ends the process
//! by SIGBUS: it is a memfd (tmpfs) that is sealed against that, or lets itself be sealed. Pages of hugetlbfs are refused:
//! a client that gives its reservation back leaves the next access without a page.
#![allow(
    unsafe_code,
    reason = "mmap over a part of a mapping that is there already"
)]

use std::os::fd::{AsFd, BorrowedFd};

use memmap2::{MmapMut, MmapOptions};
use rustix::fs::{SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, fstatfs};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous};

/// The kind of file system of a memfd (statfs(2), TMPFS_MAGIC).
const TMPFS: u64 = 0x0102_1994;

/// A file that may be mapped: it will not become shorter.
#[derive(Clone, Copy, Debug)]
pub struct Sealed<'a> {
    file: BorrowedFd<'a>,
    /// Device and inode, by which two descriptors of one file are known.
    pub id: (u64, u64),
    /// Bytes.
    pub len: u64,
}

impl<'a> Sealed<'a> {
    /// Looks at a descriptor, and seals its file against being shortened if it is not sealed yet.
    ///
    /// # Errors
    /// `EOPNOTSUPP` for other files than those of tmpfs, `EPERM` for one that can be shortened and not be sealed.
    pub fn new(file: &'a impl AsFd) -> Result<Self, Errno> {
        let file = file.as_fd();
        // CAST: a number of 32 bits whatever its type.
        if fstatfs(file)?.f_type as u64 != TMPFS {
            return Err(Errno::OPNOTSUPP);
        }
        let seals = fcntl_get_seals(file).map_err(|_| Errno::OPNOTSUPP)?;
        if !seals.contains(SealFlags::SHRINK) {
            fcntl_add_seals(file, SealFlags::SHRINK).map_err(|_| Errno::PERM)?;
        }
        // Behind the seal: before it, the size may have changed.
        let stat = fstat(file)?;
        Ok(Sealed {
            file,
            id: (stat.st_dev, stat.st_ino),
            len: u64::try_from(stat.st_size).map_err(|_| Errno::INVAL)?,
        })
    }
}

/// Bytes of address space, zero pages that cost nothing until they are touched.
pub fn reserve(bytes: usize) -> std::io::Result<MmapMut> {
    MmapOptions::new().len(bytes).no_reserve_swap().map_anon()
}

/// Puts a part of a file in the place of bytes of the block; both begin at a page and have whole pages.
///
/// # Errors
/// `EINVAL` when they do not or the file has no such part; those of mmap(2).
pub fn place(bytes: &mut [u8], file: &Sealed<'_>, offset: u64) -> Result<(), Errno> {
    is_pages(bytes)?;
    let end = offset.checked_add(bytes.len() as u64);
    if end.is_none_or(|end| end > file.len) || !offset.is_multiple_of(mem::PAGE_SIZE as u64) {
        return Err(Errno::INVAL);
    }
    let (access, flags) = (
        ProtFlags::READ | ProtFlags::WRITE,
        MapFlags::SHARED | MapFlags::FIXED,
    );
    // SAFETY: the pages belong to the block, which stays one mapping in the eyes of its owner, and nobody else refers to them,
    // because they are borrowed here. The file has all of the part and keeps it (`Sealed`). Its other owners change bytes while
    // they are read here, as CPUs do on hardware: any value of a byte is valid, and nothing is read twice on the
    // assumption that it stays.
    let placed = unsafe {
        mmap(
            bytes.as_mut_ptr().cast(),
            bytes.len(),
            access,
            flags,
            file.file,
            offset,
        )
    };
    if let Err(error) = placed {
        // The system may have taken the old pages away before it refused the new ones.
        if let Err(error) = clear(bytes) {
            log::error!("no pages for the place of a guest's memory: {error}");
            std::process::abort();
        }
        return Err(error);
    }
    Ok(())
}

/// Puts zero pages of this process in the place of bytes of the block.
///
/// # Errors
/// `EINVAL` when they are no whole pages; those of mmap(2).
pub fn clear(bytes: &mut [u8]) -> Result<(), Errno> {
    is_pages(bytes)?;
    let (access, flags) = (
        ProtFlags::READ | ProtFlags::WRITE,
        MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE,
    );
    // SAFETY: as in `place`, with memory of this process.
    unsafe { mmap_anonymous(bytes.as_mut_ptr().cast(), bytes.len(), access, flags) }?;
    Ok(())
}

fn is_pages(bytes: &[u8]) -> Result<(), Errno> {
    let whole = (bytes.as_ptr().addr() | bytes.len()).is_multiple_of(mem::PAGE_SIZE);
    if whole && !bytes.is_empty() {
        Ok(())
    } else {
        Err(Errno::INVAL)
    }
}
