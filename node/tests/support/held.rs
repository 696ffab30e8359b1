//! Memory that does not answer: system calls that use it do not come back.
//!
//! userfaultfd(2): a page that is missing is waited for until the process that has registered it brings it. A file system of an
//! unprivileged user (FUSE) can do the same.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::FromRawFd as _;

use nix::libc;

/// linux/userfaultfd.h: UFFD_API, UFFDIO_API, UFFDIO_REGISTER, UFFDIO_REGISTER_MODE_MISSING.
const API: u64 = 0xaa;
const ASK_API: u64 = 0xc018_aa3f;
const REGISTER: u64 = 0xc020_aa00;
const MISSING: u64 = 1;

/// A page that does not answer until this is dropped.
pub struct Unanswered {
    faults: File,
    page: usize,
}

impl Unanswered {
    /// Makes one of a page of this process; `None` where the system allows no userfaultfd.
    ///
    /// # Safety
    ///
    /// Nobody may use the page but for what is to wait.
    pub unsafe fn over(page: usize) -> Option<Self> {
        // SAFETY: plain system calls; the page is the caller's.
        let faults = unsafe {
            let number = libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC);
            if number < 0 {
                println!("skipped: no userfaultfd");
                return None;
            }
            let mut api = [API, 0, 0];
            assert_eq!(libc::ioctl(number as i32, ASK_API, &mut api), 0);
            let mut range = [page as u64, 4096, MISSING, 0];
            assert_eq!(libc::ioctl(number as i32, REGISTER, &mut range), 0);
            let bare = libc::madvise(page as *mut _, 4096, libc::MADV_DONTNEED);
            assert_eq!(bare, 0);
            File::from_raw_fd(number as i32)
        };
        Some(Unanswered { faults, page })
    }

    /// A page that nobody uses.
    pub fn new() -> Option<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: new memory, which nobody refers to.
        unsafe {
            let page = libc::mmap(std::ptr::null_mut(), 4096, access, flags, -1, 0);
            assert_ne!(page, libc::MAP_FAILED);
            Unanswered::over(page.addr())
        }
    }

    /// Its address.
    pub fn address(&self) -> usize {
        self.page
    }

    /// Returns once a system call waits for the page.
    pub fn await_call(&mut self) {
        self.faults.read_exact(&mut [0; 32]).unwrap();
    }
}
