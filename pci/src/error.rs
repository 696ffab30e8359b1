//! What goes wrong with a function, in words that name the file.

use std::io;
use std::path::{Path, PathBuf};

use kernel::string_helpers::escape;

use crate::Address;

/// Why a function cannot be looked at or used.
#[derive(Debug, thiserror::Error)]
pub enum PciError {
    /// A text is no address.
    #[error("{0:?} is no address of a PCI function, such as 0000:00:02.0 or 00:02.0")]
    Address(String),
    /// There is no such function.
    #[error("there is no PCI function {address}: {} has no such entry", shown(.directory))]
    Missing {
        /// Its address.
        address: Address,
        /// Where the functions are.
        directory: PathBuf,
    },
    /// A file cannot be opened, read, written or mapped.
    #[error("{}: {}", shown(.path), why(.path, .source))]
    File {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A file has not what it should have.
    #[error("{}: {what}", shown(.path))]
    Contents {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The function answers nothing.
    #[error(
        "{0} does not answer: its configuration space reads as all ones. The device is gone or without power; \
        a rescan looks for it again: echo 1 > /sys/bus/pci/rescan"
    )]
    Gone(Address),
    /// A kernel driver has it, or something else is in the way. The text tells what to do about it.
    #[error("{0}")]
    Refused(String),
}

impl PciError {
    /// The error of a file.
    pub(crate) fn file(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        PciError::File { path, source }
    }

    /// The error of what is in a file.
    pub(crate) fn contents(path: &Path, what: impl Into<String>) -> Self {
        let (path, what) = (path.to_owned(), what.into());
        PciError::Contents { path, what }
    }
}

/// A path for messages.
pub(crate) fn shown(path: &Path) -> String {
    escape(&path.to_string_lossy()).into_owned()
}

/// The system's answer, and what it means for this kind of file (Linux drivers/pci/pci-sysfs.c `pci_mmap_resource`).
fn why(path: &Path, error: &io::Error) -> String {
    use nix::errno::Errno;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_resource = name.starts_with("resource");
    let errno = error.raw_os_error().map(Errno::from_raw);
    let hint = match errno {
        Some(Errno::EACCES) => {
            "registers of a device are for the administrator: run this as root, or behind `sudo`"
        }
        Some(Errno::EPERM) if is_resource => {
            "the kernel is locked down (Secure Boot; /sys/kernel/security/lockdown says so) and lets nobody map a device; \
            switch Secure Boot off, or use vfio-pci with an IOMMU"
        }
        Some(Errno::EPERM) => "this needs root: CAP_SYS_ADMIN and CAP_SYS_RAWIO",
        Some(Errno::EINVAL | Errno::EBUSY) if is_resource => {
            "a kernel driver has the registers for itself (CONFIG_IO_STRICT_DEVMEM): unbind it, or boot with iomem=relaxed"
        }
        Some(Errno::ELOOP) => "its links go in circles",
        _ => return error.to_string(),
    };
    format!("{error}; {hint}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::errno::Errno;

    #[test]
    fn answers_of_the_system_come_with_what_helps() {
        let said = |name: &str, errno: Errno| {
            let path = Path::new("/sys/bus/pci/devices/0000:00:02.0").join(name);
            PciError::file(&path, errno.into()).to_string()
        };
        for (name, errno, word) in [
            ("resource0", Errno::EACCES, "run this as root"),
            ("resource0", Errno::EPERM, "locked down"),
            ("resource2", Errno::EINVAL, "iomem=relaxed"),
            ("pagemap", Errno::EPERM, "CAP_SYS_ADMIN"),
            ("config", Errno::ELOOP, "in circles"),
        ] {
            let text = said(name, errno);
            assert!(text.contains(word) && text.contains(name), "{text}");
        }
        assert!(!said("config", Errno::EINVAL).contains("iomem"));
    }
}
