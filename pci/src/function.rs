//! One PCI function: ids, BARs, its driver, its group.
//!
//! Linux `Documentation/PCI/sysfs-pci.rst`. Nothing here writes, but for the configuration space that is handed out for it.

use std::fs;
use std::path::{Path, PathBuf};

use kernel::pci::{ConfigSpace as _, DeviceId, config};
use nix::errno::Errno;

use crate::config::ConfigFile;
use crate::edge::Window;
use crate::tree::{open_plain, text};
use crate::{Address, Bar, Hold, PciError, Space, Tree, resource};

/// BARs of a function.
pub const BARS: usize = 6;
/// Offset of the class, its highest byte (PCI Local Bus Specification 3.0, 6.2.1).
const CLASS: usize = 0x0b;
/// Displays.
const DISPLAY: u8 = 3;

/// Where a function is kept awake, in its directory.
const POWER: &str = "power/control";

/// What a function's registers are wanted for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Using {
    /// Reads alone.
    Reading,
    /// Reads and writes.
    Driving,
}

/// A function, as it was when it was looked at.
#[derive(Clone, Debug)]
pub struct Function {
    tree: Tree,
    address: Address,
    directory: PathBuf,
    id: DeviceId,
    revision: u8,
    class: u8,
    driver: Option<String>,
    bars: [Option<Bar>; BARS],
}

impl Function {
    /// Looks at the function of an address.
    ///
    /// # Errors
    /// When there is none, when it does not answer, and when its files have not what sysfs has.
    pub fn open(tree: &Tree, address: Address) -> Result<Self, PciError> {
        let directory = tree.function(address);
        if let Err(error) = fs::metadata(&directory) {
            if Errno::from_raw(error.raw_os_error().unwrap_or(0)) == Errno::ENOENT {
                let directory = tree.functions();
                return Err(PciError::Missing { address, directory });
            }
            return Err(PciError::file(&directory, error));
        }
        let header = ConfigFile::open(&directory.join("config"), false, [None; BARS])?;
        if header.is_gone() {
            return Err(PciError::Gone(address));
        }
        let (id, revision, class) = (
            DeviceId::of(&header),
            header.read8(config::REVISION_ID),
            header.read8(CLASS),
        );
        let path = directory.join("resource");
        let bars = resource::parse(&text(&path)?, &path)?;
        Ok(Function {
            tree: tree.clone(),
            address,
            id,
            revision,
            class,
            driver: target(&directory.join("driver"))?,
            bars,
            directory,
        })
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> Address {
        self.address
    }

    /// Vendor and device.
    #[must_use]
    pub fn id(&self) -> DeviceId {
        self.id
    }

    /// Revision.
    #[must_use]
    pub fn revision(&self) -> u8 {
        self.revision
    }

    /// Whether it calls itself a display.
    #[must_use]
    pub fn is_display(&self) -> bool {
        self.class == DISPLAY
    }

    /// The kernel driver that is bound to it.
    #[must_use]
    pub fn driver(&self) -> Option<&str> {
        self.driver.as_deref()
    }

    /// Who holds it.
    #[must_use]
    pub fn hold(&self) -> Hold {
        Hold::of(self.driver())
    }

    /// A BAR.
    #[must_use]
    pub fn bar(&self, index: usize) -> Option<Bar> {
        *self.bars.get(index)?
    }

    pub(crate) fn bars(&self) -> [Option<Bar>; BARS] {
        self.bars
    }

    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Configuration space.
    ///
    /// # Errors
    /// When the file cannot be opened so.
    pub fn config(&self, using: Using) -> Result<ConfigFile, PciError> {
        let path = self.directory.join("config");
        ConfigFile::open(&path, using == Using::Driving, self.bars)
    }

    /// The file of a BAR, and the BAR; nothing is mapped yet.
    fn resource(&self, index: usize, using: Using) -> Result<(fs::File, PathBuf, Bar), PciError> {
        let path = self.directory.join(format!("resource{index}"));
        let bar = self.bar(index).filter(|bar| bar.space == Space::Memory);
        let Some(bar) = bar else {
            return Err(PciError::contents(
                &path,
                "the function has no such BAR of memory",
            ));
        };
        let file = open_plain(&path, using == Using::Driving)?;
        let meta = file.metadata();
        let have = meta.map_err(|error| PciError::file(&path, error))?.len();
        if have < bar.range.len {
            let what = format!("{have} bytes, and the BAR has {}", bar.range.len);
            return Err(PciError::contents(&path, what));
        }
        Ok((file, path, bar))
    }

    /// Whether a BAR can be opened for something.
    ///
    /// # Errors
    /// Why not.
    pub fn can_open(&self, index: usize, using: Using) -> Result<(), PciError> {
        self.resource(index, using).map(drop)
    }

    /// Maps a BAR of memory.
    ///
    /// # Errors
    /// When there is no such BAR, and when its file is too short, cannot be opened or cannot be mapped.
    pub fn window(&self, index: usize, using: Using) -> Result<Window, PciError> {
        let (file, path, bar) = self.resource(index, using)?;
        let len = usize::try_from(bar.range.len)
            .map_err(|_| PciError::contents(&path, "larger than this machine's addresses"))?;
        Window::new(&file, 0, len, using).map_err(|error| PciError::file(&path, error))
    }

    /// That the function has power and answers.
    ///
    /// # Errors
    /// What to do about it.
    pub(crate) fn check_power(&self, config: &ConfigFile) -> Result<(), PciError> {
        let Function {
            address, directory, ..
        } = self;
        if let Ok(state) = text(&directory.join("power_state"))
            && state.trim().starts_with("D3")
        {
            return Err(PciError::Refused(format!(
                "{address} sleeps ({}): its registers read as all ones. This wakes it:\n  \
                echo on > /sys/bus/pci/devices/{address}/{POWER}",
                state.trim().escape_default()
            )));
        }
        if config.is_gone() {
            return Err(PciError::Gone(*address));
        }
        Ok(())
    }

    /// That registers can be read: the function has power, and memory decoding is on.
    ///
    /// # Errors
    /// What to do about it.
    pub fn check_awake(&self, config: &ConfigFile) -> Result<(), PciError> {
        self.check_power(config)?;
        let address = self.address;
        if config.read16(config::COMMAND) & config::COMMAND_MEMORY == 0 {
            return Err(PciError::Refused(format!(
                "{address} does not answer to memory accesses (bit 1 of its COMMAND register is 0): its registers read as all ones. \
                This switches them on:\n  echo 1 > /sys/bus/pci/devices/{address}/enable"
            )));
        }
        Ok(())
    }

    /// Number of the IOMMU group and the type of its domain, when there is an IOMMU before the function.
    ///
    /// # Errors
    /// When the link is none.
    pub fn group(&self) -> Result<Option<(String, String)>, PciError> {
        let link = self.directory.join("iommu_group");
        let Some(number) = target(&link)? else {
            return Ok(None);
        };
        let kind = text(&link.join("type")).unwrap_or_default();
        Ok(Some((number, kind.trim().to_owned())))
    }
}

/// The last name of what a link leads to; `None` where there is no link. Links are not followed.
fn target(link: &Path) -> Result<Option<String>, PciError> {
    match fs::read_link(link) {
        Ok(path) => match path.file_name() {
            Some(name) => Ok(Some(name.to_string_lossy().into_owned())),
            None => Err(PciError::contents(link, "the link leads to no name")),
        },
        Err(error) => match error.raw_os_error().map(Errno::from_raw) {
            Some(Errno::ENOENT) => Ok(None),
            Some(Errno::EINVAL) => Err(PciError::contents(link, "this is no link")),
            _ => Err(PciError::file(link, error)),
        },
    }
}
