//! Which physical page lies behind a page of this process.
//!
//! proc_pid_pagemap(5), Linux `Documentation/admin-guide/mm/pagemap.rst`: without CAP_SYS_ADMIN numbers of pages read as 0.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use crate::tree::open;
use crate::{PciError, Tree};

/// Bytes of a page.
const PAGE: u64 = 4096;

/// The file.
pub(crate) struct Pagemap {
    file: File,
    path: PathBuf,
}

impl Pagemap {
    pub(crate) fn open(tree: &Tree) -> Result<Self, PciError> {
        let path = tree.pagemap();
        let file = open(&path, false)?;
        Ok(Pagemap { file, path })
    }

    /// Physical address of an address of this process that is in use.
    pub(crate) fn physical(&self, address: usize) -> Result<u64, PciError> {
        let address = address as u64;
        let mut entry = [0; 8];
        let read = self.file.read_exact_at(&mut entry, address / PAGE * 8);
        read.map_err(|error| PciError::file(&self.path, error))?;
        let said = |what: &str| PciError::contents(&self.path, what);
        match frame(u64::from_le_bytes(entry)) {
            None => Err(said("the page of the device's memory is not there")),
            Some(0) => Err(said(
                "the kernel does not say where memory lies: that needs root (CAP_SYS_ADMIN)",
            )),
            Some(frame) => Ok(frame * PAGE + address % PAGE),
        }
    }
}

/// Number of the page frame of an entry: bits 54:0 of one whose bit 63 says that the page is there.
fn frame(entry: u64) -> Option<u64> {
    (entry >> 63 == 1).then_some(entry & ((1 << 55) - 1))
}

#[cfg(test)]
mod tests {
    use super::frame;

    #[test]
    fn entries_are_read_as_the_kernel_documents_them() {
        // Present, exclusively mapped (bit 56), soft-dirty (bit 55).
        assert_eq!(frame(0x8180_0000_0012_3400), Some(0x12_3400));
        assert_eq!(frame(0x8000_0000_0000_0000), Some(0));
        // Swapped out.
        assert_eq!(frame(0x4000_0000_0012_3400), None);
    }
}
