//! PCI: device ids, id tables, configuration space, the `Driver` trait.
//!
//! Shape of `kernel::pci` of Rust-for-Linux. Not modelled: capabilities, bridges, hot plug, power states.
use alloc::sync::Arc;

use crate::error::{Result, code::ENODEV};
use crate::platform::Platform;

/// Offsets in the type 0 configuration header (PCI Local Bus Specification 3.0, chapter 6.1).
pub mod config {
    /// Vendor id, 16 bits.
    pub const VENDOR_ID: usize = 0x00;
    /// Device id, 16 bits.
    pub const DEVICE_ID: usize = 0x02;
    /// Command register, 16 bits.
    pub const COMMAND: usize = 0x04;
    /// Memory space enable in the command register.
    pub const COMMAND_MEMORY: u16 = 1 << 1;
    /// Bus master enable in the command register.
    pub const COMMAND_MASTER: u16 = 1 << 2;
    /// Revision id, 8 bits.
    pub const REVISION_ID: usize = 0x08;
    /// First base address register, 32 bits.
    pub const BASE_ADDRESS_0: usize = 0x10;
    /// Subsystem vendor id, 16 bits.
    pub const SUBSYSTEM_VENDOR_ID: usize = 0x2c;
    /// Subsystem id, 16 bits.
    pub const SUBSYSTEM_ID: usize = 0x2e;
}

/// Vendor id of Intel.
pub const VENDOR_INTEL: u16 = 0x8086;

/// Access to a function's configuration space; reads of what is not there give all ones.
pub trait ConfigSpace: Send + Sync {
    /// Reads a byte.
    fn read8(&self, offset: usize) -> u8;
    /// Reads a word.
    fn read16(&self, offset: usize) -> u16;
    /// Reads a dword.
    fn read32(&self, offset: usize) -> u32;
    /// Writes a byte.
    fn write8(&self, value: u8, offset: usize);
    /// Writes a word.
    fn write16(&self, value: u16, offset: usize);
    /// Writes a dword.
    fn write32(&self, value: u32, offset: usize);
    /// Where BAR `index` lies, or `None` when it is not implemented.
    fn bar(&self, index: usize) -> Option<Resource>;
}

/// A range of bus addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resource {
    /// First bus address.
    pub start: u64,
    /// Length in bytes.
    pub len: u64,
}

/// One entry of an id table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DeviceId {
    /// Vendor.
    pub vendor: u16,
    /// Device.
    pub device: u16,
}

impl DeviceId {
    /// The id of a vendor's device.
    #[must_use]
    pub const fn from_id(vendor: u16, device: u16) -> Self {
        DeviceId { vendor, device }
    }

    /// Reads the id of the function behind `config`.
    #[must_use]
    pub fn of(config: &dyn ConfigSpace) -> Self {
        DeviceId {
            vendor: config.read16(config::VENDOR_ID),
            device: config.read16(config::DEVICE_ID),
        }
    }
}

/// Devices that a driver knows, each with what the driver wants to remember about it.
pub type IdTable<T> = &'static [(DeviceId, T)];

/// A PCI driver.
pub trait Driver: Sized {
    /// What the id table says about a device.
    type IdInfo: 'static;

    /// The bound state of one device.
    type Bound;

    /// The devices this driver handles.
    const ID_TABLE: IdTable<Self::IdInfo>;

    /// Binds to a device: on failure everything that was started has been undone.
    fn probe(
        device: &Arc<dyn Platform>,
        id: DeviceId,
        info: &'static Self::IdInfo,
    ) -> Result<Self::Bound>;

    /// Unbinds: on return the device is silent and nothing of the driver is left in it.
    fn remove(bound: Self::Bound) -> Result;
}

/// Looks the device up in the driver's id table and probes it; `ENODEV` when it is not listed.
pub fn bind<D: Driver>(platform: &Arc<dyn Platform>) -> Result<D::Bound> {
    let id = DeviceId::of(platform.config());
    let (_, info) = D::ID_TABLE
        .iter()
        .find(|(row, _)| *row == id)
        .ok_or(ENODEV)?;
    D::probe(platform, id, info)
}

/// Enables bus mastering and memory decoding.
pub fn enable_device(config: &dyn ConfigSpace) {
    let command = config.read16(config::COMMAND);
    let wanted = command | config::COMMAND_MEMORY | config::COMMAND_MASTER;
    config.write16(wanted, config::COMMAND);
}

/// Disables bus mastering.
pub fn clear_master(config: &dyn ConfigSpace) {
    let command = config.read16(config::COMMAND);
    config.write16(command & !config::COMMAND_MASTER, config::COMMAND);
}
