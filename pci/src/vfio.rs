//! A function that `vfio-pci` holds: regions, interrupts, memory.
//!
//! Linux `Documentation/driver-api/vfio.rst`. The container has one group and one device. Not tried without an IOMMU (noiommu).

use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::{EfdFlags, EventFd};

use crate::edge::vfio::Device;
use crate::edge::{Memory, Window};
use crate::function::BARS;
use crate::tree::open;
use crate::{Bar, Chunk, ConfigFile, Function, PciError, Pool, Source, Using};

/// Number of the region with configuration space (`VFIO_PCI_CONFIG_REGION_INDEX`).
const CONFIG: u32 = 7;
/// Bus address of the memory: some way from 0, and far below the addresses of interrupt messages (FEE00000h).
const BASE: u64 = 16 << 20;
/// First address that devices do not reach, and that interrupt messages do not take.
const LIMIT: u64 = 0xfee0_0000;

/// The device, by the files of VFIO.
pub(crate) struct Vfio {
    device: Arc<Device>,
    /// The group's file, for errors.
    path: PathBuf,
    bars: [Option<Bar>; BARS],
}

impl Vfio {
    /// Takes the function's group.
    pub(crate) fn open(function: &Function) -> Result<Self, PciError> {
        let address = function.address();
        let (group, _) = function.group()?.ok_or_else(|| {
            PciError::Refused(format!(
                "{address} belongs to vfio-pci, and no IOMMU stands before it: boot with intel_iommu=on, or give it to uio_pci_generic"
            ))
        })?;
        let tree = function.tree();
        let path = tree.device("vfio").join(&group);
        let container = open(&tree.device("vfio").join("vfio"), true)?;
        let file = open(&path, true)?;
        let device = Device::open(container, file, &address.to_string());
        let device = device.map_err(|error| PciError::file(&path, error))?;
        Ok(Vfio {
            device: Arc::new(device),
            path,
            bars: function.bars(),
        })
    }

    fn file(&self) -> Result<File, PciError> {
        let file = self.device.file().try_clone();
        file.map_err(|error| PciError::file(&self.path, error))
    }

    /// Configuration space.
    pub(crate) fn config(&self) -> Result<ConfigFile, PciError> {
        let said = |error| PciError::file(&self.path, error);
        let region = self.device.region(CONFIG).map_err(said)?;
        ConfigFile::within(
            self.file()?,
            &self.path,
            region.offset,
            region.size,
            self.bars,
        )
    }

    /// Maps a BAR.
    pub(crate) fn window(&self, index: u8) -> Result<Window, PciError> {
        let said = |error| PciError::file(&self.path, error);
        let region = self.device.region(index.into()).map_err(said)?;
        let bar = self.bars.get(usize::from(index)).copied().flatten();
        let len = bar.map_or(0, |bar| bar.range.len);
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        if !region.maps || len == 0 || region.size < len as u64 {
            let what = format!(
                "BAR {index} cannot be mapped: {} bytes of {len}",
                region.size
            );
            return Err(PciError::contents(&self.path, what));
        }
        Window::new(self.device.file(), region.offset, len, Using::Driving).map_err(said)
    }

    /// Memory that the device sees.
    pub(crate) fn memory(&self, len: NonZeroUsize) -> Result<Pool, PciError> {
        let said = |error| PciError::file(&self.path, error);
        let memory = Memory::plain(len).map_err(said)?;
        self.device.map(&memory, BASE).map_err(said)?;
        let chunk = Chunk {
            bus: BASE,
            at: 0,
            len: len.get(),
        };
        let pool = Pool::new(memory, vec![chunk], LIMIT);
        if pool.size() == 0 {
            let text = format!("{len} bytes are more memory than the device reaches");
            return Err(PciError::Refused(text));
        }
        Ok(pool)
    }

    /// Its interrupts.
    pub(crate) fn interrupts(&self) -> Result<Events, PciError> {
        events(&self.device).map_err(|error| PciError::file(Path::new(&self.path), error))
    }
}

fn events(device: &Arc<Device>) -> io::Result<Events> {
    let event = EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)?;
    device.signal(event.as_fd().as_raw_fd())?;
    Ok(Events {
        event,
        device: Arc::clone(device),
    })
}

/// Interrupts by an eventfd; the kernel masks the line at each.
pub(crate) struct Events {
    event: EventFd,
    device: Arc<Device>,
}

impl Source for Events {
    fn wait(&mut self, patience: Duration) -> io::Result<bool> {
        let mut all = [PollFd::new(self.event.as_fd(), PollFlags::POLLIN)];
        let patience = PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX);
        match poll(&mut all, patience) {
            Ok(0) | Err(Errno::EINTR) => return Ok(false),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        match self.event.read() {
            Ok(_) => Ok(true),
            Err(Errno::EAGAIN) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn rearm(&mut self) -> io::Result<()> {
        self.device.unmask()
    }
}
