//! DRM shapes: driver information, device, file, GEM object, ioctl table.
//!
//! Shape of `kernel::drm` of Rust-for-Linux. Handles, PRIME, sync objects and mmap offsets are the driver's own
//! for now.
use alloc::sync::Arc;

use crate::error::{Result, code::EINVAL};

/// What `DRM_IOCTL_VERSION` tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DriverInfo {
    /// Major version.
    pub major: i32,
    /// Minor version.
    pub minor: i32,
    /// Patch level.
    pub patchlevel: i32,
    /// Short name.
    pub name: &'static str,
    /// Description.
    pub desc: &'static str,
}

/// Features of a driver (`drm_driver.driver_features`).
pub mod feat {
    /// Manages buffers with GEM.
    pub const GEM: u32 = 1 << 0;
    /// Has a render node.
    pub const RENDER: u32 = 1 << 3;
}

/// A buffer object of a driver.
pub trait BaseObject: Send + Sync {
    /// Size in bytes.
    fn size(&self) -> usize;
}

/// Per-open state of a driver.
pub trait DriverFile: Sized + Send + Sync {
    /// The driver.
    type Driver: Driver;

    /// Opens a file on a device.
    fn open(device: &Arc<<Self::Driver as Driver>::Data>) -> Result<Self>;
}

/// A DRM driver.
pub trait Driver: Sized + 'static {
    /// The device's private data.
    type Data: Send + Sync;
    /// The buffer object.
    type Object: BaseObject;
    /// The per-open state.
    type File: DriverFile<Driver = Self>;

    /// Name and version.
    const INFO: DriverInfo;
    /// Features, see [`feat`].
    const FEATURES: u32;
    /// Driver ioctls, sorted by number.
    const IOCTLS: &'static [IoctlDescriptor<Self>];
}

/// Ioctl handler: device, file, the argument block (in and out).
pub type IoctlHandler<D> =
    fn(&Arc<<D as Driver>::Data>, &<D as Driver>::File, &mut [u8]) -> Result<u32>;

/// One row of an ioctl table.
pub struct IoctlDescriptor<D: Driver> {
    /// Number, relative to `DRM_COMMAND_BASE`.
    pub number: u32,
    /// Size of the argument block in bytes.
    pub size: usize,
    /// See [`ioctl_flags`].
    pub flags: u32,
    /// Name, for messages.
    pub name: &'static str,
    /// The handler.
    pub handler: IoctlHandler<D>,
}

/// Flags of an ioctl (`drm_ioctl_flags`).
pub mod ioctl_flags {
    /// Needs an authenticated file.
    pub const AUTH: u32 = 1 << 0;
    /// Needs the master.
    pub const MASTER: u32 = 1 << 1;
    /// Allowed on a render node.
    pub const RENDER_ALLOW: u32 = 1 << 5;
}

/// First ioctl number of drivers (uAPI `drm.h`).
pub const COMMAND_BASE: u32 = 0x40;

/// Finds and calls the handler of driver ioctl `number`; `EINVAL` when there is none or the block is too short.
pub fn dispatch<D: Driver>(
    data: &Arc<D::Data>,
    file: &D::File,
    number: u32,
    argument: &mut [u8],
) -> Result<u32> {
    let row = number
        .checked_sub(COMMAND_BASE)
        .and_then(|number| D::IOCTLS.iter().find(|row| row.number == number))
        .ok_or(EINVAL)?;
    let block = argument.get_mut(..row.size).ok_or(EINVAL)?;
    (row.handler)(data, file, block)
}
