//! Where the system's files about devices are.
//!
//! sysfs, devtmpfs and procfs of the machine, or directories of the same shape. What is read is bounded.

use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use nix::libc;

use crate::{Address, PciError};

/// The directories below which everything is.
#[derive(Clone, Debug)]
pub struct Tree {
    sys: PathBuf,
    dev: PathBuf,
    proc: PathBuf,
}

impl Default for Tree {
    /// The machine's.
    fn default() -> Self {
        Tree::below(Path::new("/"))
    }
}

/// Most bytes of a text: a page is what an attribute of sysfs has.
const MOST: u64 = 64 << 10;

impl Tree {
    /// `sys`, `dev` and `proc` of a directory.
    #[must_use]
    pub fn below(root: &Path) -> Self {
        Tree {
            sys: root.join("sys"),
            dev: root.join("dev"),
            proc: root.join("proc"),
        }
    }

    /// The directory of all functions.
    #[must_use]
    pub fn functions(&self) -> PathBuf {
        self.sys.join("bus/pci/devices")
    }

    /// The directory of a function.
    #[must_use]
    pub fn function(&self, address: Address) -> PathBuf {
        self.functions().join(address.to_string())
    }

    /// A device file.
    #[must_use]
    pub fn device(&self, name: &str) -> PathBuf {
        self.dev.join(name)
    }

    /// Where the kernel says which physical page lies behind each page of this process (proc_pid_pagemap(5)).
    #[must_use]
    pub fn pagemap(&self) -> PathBuf {
        self.proc.join("self/pagemap")
    }

    /// Directory of the consoles, whose drivers draw on a display.
    pub(crate) fn consoles(&self) -> PathBuf {
        self.sys.join("class/vtconsole")
    }

    /// Pages of 2 MiB that nobody uses, when the kernel says.
    pub(crate) fn free_huge_pages(&self) -> Option<u64> {
        let path = self
            .sys
            .join("kernel/mm/hugepages/hugepages-2048kB/free_hugepages");
        text(&path).ok()?.trim().parse().ok()
    }
}

/// Opens a plain file or a device; nothing that waits for somebody at its other end.
pub(crate) fn open(path: &Path, write: bool) -> Result<File, PciError> {
    OpenOptions::new()
        .read(true)
        .write(write)
        .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open(path)
        .map_err(|error| PciError::file(path, error))
}

/// Opens a plain file: what sysfs has, and never a directory, a pipe or a device.
pub(crate) fn open_plain(path: &Path, write: bool) -> Result<File, PciError> {
    let file = open(path, write)?;
    let meta = file
        .metadata()
        .map_err(|error| PciError::file(path, error))?;
    if meta.is_file() {
        Ok(file)
    } else {
        Err(PciError::contents(path, "this is no plain file"))
    }
}

/// The text of an attribute.
pub(crate) fn text(path: &Path) -> Result<String, PciError> {
    let mut bytes = Vec::new();
    let read = open_plain(path, false)?
        .take(MOST + 1)
        .read_to_end(&mut bytes);
    read.map_err(|error| PciError::file(path, error))?;
    if bytes.len() as u64 > MOST {
        return Err(PciError::contents(path, "more text than an attribute has"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
