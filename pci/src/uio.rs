//! Interrupts by a file of `uio_pci_generic`.
//!
//! Linux `Documentation/driver-api/uio-howto.rst`: a read gives the number of interrupts so far, the driver has masked the line meanwhile by
//! bit 10 of the COMMAND register, and whoever has handled the interrupt clears it.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::time::Duration;

use kernel::pci::{ConfigSpace as _, config};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::tree::open;
use crate::{ConfigFile, Function, PciError, Source, Using};

/// Interrupt disable in the COMMAND register (PCI Local Bus Specification 3.0, 6.2.2).
const INTX_DISABLE: u16 = 1 << 10;

/// The file, and the configuration space in which the line is masked.
pub(crate) struct Uio {
    file: File,
    config: ConfigFile,
}

impl Uio {
    /// Opens the file of a function that `uio_pci_generic` holds.
    pub(crate) fn open(function: &Function) -> Result<Self, PciError> {
        let name = name(function)?;
        let path = function.tree().device(&name);
        let mut uio = Uio {
            file: open(&path, true)?,
            config: function.config(Using::Driving)?,
        };
        uio.rearm().map_err(|error| PciError::file(&path, error))?;
        Ok(uio)
    }
}

/// The name of the device's file: `uioN`, the only entry of its directory `uio`.
fn name(function: &Function) -> Result<String, PciError> {
    let directory: PathBuf = function.directory().join("uio");
    let names = fs::read_dir(&directory).map_err(|error| PciError::file(&directory, error))?;
    let names = names.flatten().take(64);
    let mut names = names.filter_map(|name| name.file_name().into_string().ok());
    let is_uio = |name: &String| {
        let number = name.strip_prefix("uio");
        number.is_some_and(|number| {
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    names
        .find(is_uio)
        .ok_or_else(|| PciError::contents(&directory, "there is no uioN in it"))
}

impl Source for Uio {
    fn wait(&mut self, patience: Duration) -> io::Result<bool> {
        let wanted = PollFlags::POLLIN;
        let mut all = [PollFd::new(self.file.as_fd(), wanted)];
        let patience = PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX);
        match poll(&mut all, patience) {
            Ok(0) | Err(Errno::EINTR) => return Ok(false),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        // Errors of the file alone would come again at once.
        let [told] = &all;
        if !told.revents().is_some_and(|events| events.contains(wanted)) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let mut count = [0; 4];
        match self.file.read(&mut count) {
            Ok(4) => Ok(true),
            Ok(_) => Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn rearm(&mut self) -> io::Result<()> {
        let command = self.config.read16(config::COMMAND);
        if command & INTX_DISABLE != 0 && command != u16::MAX {
            self.config
                .write16(command & !INTX_DISABLE, config::COMMAND);
        }
        Ok(())
    }
}
