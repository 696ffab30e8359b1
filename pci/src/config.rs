//! Configuration space through the file that sysfs has of it.
//!
//! Linux drivers/pci/pci-sysfs.c `pci_read_config`: others than the administrator see the header's 64 bytes.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use kernel::pci::{ConfigSpace, Resource, config};

use crate::function::BARS;
use crate::tree::open_plain;
use crate::{Bar, PciError};

/// Bytes of the header.
const HEADER: usize = 64;
/// Most bytes of a function (PCI Express).
const MOST: u64 = 4096;

/// The file.
pub struct ConfigFile {
    file: File,
    /// Where it begins in the file.
    base: u64,
    len: u64,
    bars: [Option<Bar>; BARS],
    failed: AtomicBool,
}

impl ConfigFile {
    /// Opens it; a file that is shorter than the header is refused.
    pub(crate) fn open(
        path: &Path,
        write: bool,
        bars: [Option<Bar>; BARS],
    ) -> Result<Self, PciError> {
        let file = open_plain(path, write)?;
        let len = file
            .metadata()
            .map_err(|error| PciError::file(path, error))?
            .len();
        Self::within(file, path, 0, len, bars)
    }

    /// The part of a file that begins at `base`.
    pub(crate) fn within(
        file: File,
        path: &Path,
        base: u64,
        len: u64,
        bars: [Option<Bar>; BARS],
    ) -> Result<Self, PciError> {
        // The size that sysfs gives is the same for everybody: what is read counts.
        let mut header = [0; HEADER];
        let mut have = 0;
        while let Some(rest) = header.get_mut(have..).filter(|rest| !rest.is_empty()) {
            match file.read_at(rest, base.saturating_add(have as u64)) {
                Ok(0) => {
                    let what = format!("{have} bytes, and the header of a function has {HEADER}");
                    return Err(PciError::contents(path, what));
                }
                Ok(more) => have += more,
                Err(error) => return Err(PciError::file(path, error)),
            }
        }
        Ok(ConfigFile {
            file,
            base,
            len: len.clamp(HEADER as u64, MOST),
            bars,
            failed: AtomicBool::new(false),
        })
    }

    /// Whether there is nothing behind the address: the vendor reads as all ones (PCI Local Bus Specification 3.0, 6.1).
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.read16(config::VENDOR_ID) == u16::MAX
    }

    fn read<const N: usize>(&self, offset: usize) -> [u8; N] {
        let mut bytes = [u8::MAX; N];
        let inside = (offset as u64).checked_add(N as u64) <= Some(self.len);
        if inside
            && self
                .file
                .read_exact_at(&mut bytes, self.base.saturating_add(offset as u64))
                .is_err()
        {
            // What is behind the end of the file reads as what is not there.
            bytes = [u8::MAX; N];
        }
        bytes
    }

    fn write(&self, bytes: &[u8], offset: usize) {
        let end = (offset as u64).checked_add(bytes.len() as u64);
        if end.is_none_or(|end| end > self.len) {
            return;
        }
        if let Err(error) = self
            .file
            .write_all_at(bytes, self.base.saturating_add(offset as u64))
            && !self.failed.swap(true, Ordering::Relaxed)
        {
            log::error!("a write to configuration space at {offset:#x}: {error}");
        }
    }
}

impl ConfigSpace for ConfigFile {
    fn read8(&self, offset: usize) -> u8 {
        u8::from_le_bytes(self.read(offset))
    }
    fn read16(&self, offset: usize) -> u16 {
        u16::from_le_bytes(self.read(offset))
    }
    fn read32(&self, offset: usize) -> u32 {
        u32::from_le_bytes(self.read(offset))
    }
    fn write8(&self, value: u8, offset: usize) {
        self.write(&[value], offset);
    }
    fn write16(&self, value: u16, offset: usize) {
        self.write(&value.to_le_bytes(), offset);
    }
    fn write32(&self, value: u32, offset: usize) {
        self.write(&value.to_le_bytes(), offset);
    }
    fn bar(&self, index: usize) -> Option<Resource> {
        Some((*self.bars.get(index)?)?.range)
    }
}
