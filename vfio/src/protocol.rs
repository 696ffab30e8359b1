//! Messages of vfio-user: numbers, structures and limits.
//!
//! QEMU docs/interop/vfio-user.rst, Linux include/uapi/linux/vfio.h. All values have the host's byte order.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Commands; the client sends all of those that are served here.
pub mod command {
    /// Proposes a version and capabilities: the first message.
    pub const VERSION: u16 = 1;
    /// Tells of memory that the device may access.
    pub const DMA_MAP: u16 = 2;
    /// Takes such memory away.
    pub const DMA_UNMAP: u16 = 3;
    /// Asks what the device is.
    pub const DEVICE_GET_INFO: u16 = 4;
    /// Asks for a region.
    pub const DEVICE_GET_REGION_INFO: u16 = 5;
    /// Asks for the interrupts of a kind.
    pub const DEVICE_GET_IRQ_INFO: u16 = 7;
    /// Says where interrupts go, masks and unmasks them.
    pub const DEVICE_SET_IRQS: u16 = 8;
    /// Reads a region.
    pub const REGION_READ: u16 = 9;
    /// Writes a region.
    pub const REGION_WRITE: u16 = 10;
    /// Resets the device.
    pub const DEVICE_RESET: u16 = 13;
}

/// Bits of [`Header::flags`].
pub mod flag {
    /// The kind of a message.
    pub const TYPE: u32 = 0xf;
    /// The kind of a command.
    pub const COMMAND: u32 = 0;
    /// The kind of a reply.
    pub const REPLY: u32 = 1;
    /// The sender wants no reply.
    pub const NO_REPLY: u32 = 1 << 4;
    /// The command has failed, and [`Header::error`](super::Header::error) says why.
    pub const ERROR: u32 = 1 << 5;
}

/// Regions of a PCI device (`VFIO_PCI_*_REGION_INDEX`).
pub mod region {
    /// The first of six BARs.
    pub const BAR0: u32 = 0;
    /// The third BAR.
    pub const BAR2: u32 = 2;
    /// The fifth BAR.
    pub const BAR4: u32 = 4;
    /// Configuration space.
    pub const CONFIG: u32 = 7;
    /// How many there are.
    pub const COUNT: u32 = 9;
    /// Its bytes may be read (`VFIO_REGION_INFO_FLAG_READ`).
    pub const READ: u32 = 1 << 0;
    /// Its bytes may be written (`VFIO_REGION_INFO_FLAG_WRITE`).
    pub const WRITE: u32 = 1 << 1;
}

/// Kinds of interrupts of a PCI device (`VFIO_PCI_*_IRQ_INDEX`), and what is done with them.
pub mod irq {
    /// The pin.
    pub const INTX: u32 = 0;
    /// Messages.
    pub const MSI: u32 = 1;
    /// How many kinds there are.
    pub const COUNT: u32 = 5;

    /// Goes by event descriptors (`VFIO_IRQ_INFO_*`).
    pub const EVENTFD: u32 = 1 << 0;
    /// May be masked.
    pub const MASKABLE: u32 = 1 << 1;
    /// Is masked when it has been signalled.
    pub const AUTOMASKED: u32 = 1 << 2;
    /// All interrupts of the kind are set at once.
    pub const NORESIZE: u32 = 1 << 3;

    /// No data (`VFIO_IRQ_SET_DATA_*`).
    pub const DATA_NONE: u32 = 1 << 0;
    /// A byte for each interrupt says whether it is meant.
    pub const DATA_BOOL: u32 = 1 << 1;
    /// A descriptor for each interrupt.
    pub const DATA_EVENTFD: u32 = 1 << 2;
    /// All kinds of data.
    pub const DATA: u32 = 7;
    /// Masks (`VFIO_IRQ_SET_ACTION_*`).
    pub const MASK: u32 = 1 << 3;
    /// Unmasks.
    pub const UNMASK: u32 = 1 << 4;
    /// Signals.
    pub const TRIGGER: u32 = 1 << 5;
    /// All actions.
    pub const ACTION: u32 = 7 << 3;
}

/// Bits of [`DmaMap::flags`].
pub mod dma {
    /// The device may read.
    pub const READ: u32 = 1 << 0;
    /// The device may write.
    pub const WRITE: u32 = 1 << 1;
    /// In [`DmaUnmap::flags`](super::DmaUnmap::flags): everything (`VFIO_DMA_UNMAP_FLAG_ALL`).
    pub const UNMAP_ALL: u32 = 1 << 1;
}

/// The version that is spoken.
pub const MAJOR: u16 = 0;
/// Its minor number.
pub const MINOR: u16 = 1;
/// Most bytes that a read or write may have (`VFIO_USER_DEFAULT_MAX_DATA_XFER_SIZE`).
pub const MAX_TRANSFER: u32 = 1 << 20;
/// Most descriptors of a message.
pub const MAX_FILES: usize = 8;
/// Most windows of memory at a time.
pub const MAX_WINDOWS: usize = 65535;
/// Most bytes behind the header: a write of the largest size.
pub const MAX_PAYLOAD: usize = MAX_TRANSFER as usize + size_of::<RegionAccess>();
/// Bits of [`DeviceInfo::flags`]: the device can be reset, and is a PCI device.
pub const DEVICE_FLAGS: u32 = 1 << 0 | 1 << 1;

/// What every message begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Header {
    /// The sender's number, which the reply repeats.
    pub id: u16,
    /// The command.
    pub command: u16,
    /// Bytes of the message, these included.
    pub size: u32,
    /// See [`flag`].
    pub flags: u32,
    /// Of a reply: what has failed, as an errno.
    pub error: u32,
}

/// The first bytes of [`command::VERSION`]; text in JSON follows, with a zero byte behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Version {
    /// Major number.
    pub major: u16,
    /// Minor number.
    pub minor: u16,
}

/// [`command::DMA_MAP`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct DmaMap {
    /// Bytes of this structure.
    pub argsz: u32,
    /// See [`dma`].
    pub flags: u32,
    /// Where it begins in the file of the descriptor.
    pub offset: u64,
    /// Where it begins for the device.
    pub address: u64,
    /// Bytes.
    pub size: u64,
}

/// [`command::DMA_UNMAP`] and its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct DmaUnmap {
    /// Most bytes of the reply.
    pub argsz: u32,
    /// See [`dma`].
    pub flags: u32,
    /// Where it begins for the device.
    pub address: u64,
    /// Bytes.
    pub size: u64,
}

/// [`command::DEVICE_GET_INFO`] and its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct DeviceInfo {
    /// Most bytes of the reply; in the reply, its bytes.
    pub argsz: u32,
    /// See [`DEVICE_FLAGS`].
    pub flags: u32,
    /// How many regions there are.
    pub regions: u32,
    /// How many kinds of interrupts there are.
    pub irqs: u32,
}

/// [`command::DEVICE_GET_REGION_INFO`] and its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct RegionInfo {
    /// Most bytes of the reply; in the reply, its bytes.
    pub argsz: u32,
    /// See [`region`].
    pub flags: u32,
    /// Which region.
    pub index: u32,
    /// Where capabilities of the region begin; there are none.
    pub cap_offset: u32,
    /// Bytes; 0 for a region that the device lacks.
    pub size: u64,
    /// Where it begins in the file that may be mapped; there is none.
    pub offset: u64,
}

/// [`command::DEVICE_GET_IRQ_INFO`] and its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct IrqInfo {
    /// Most bytes of the reply; in the reply, its bytes.
    pub argsz: u32,
    /// See [`irq`].
    pub flags: u32,
    /// Which kind.
    pub index: u32,
    /// How many interrupts of the kind there are.
    pub count: u32,
}

/// The first bytes of [`command::DEVICE_SET_IRQS`]; a byte for each interrupt may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct IrqSet {
    /// Bytes of the whole.
    pub argsz: u32,
    /// See [`irq`].
    pub flags: u32,
    /// Which kind.
    pub index: u32,
    /// The first interrupt that is meant.
    pub start: u32,
    /// How many are.
    pub count: u32,
}

/// The first bytes of [`command::REGION_READ`] and [`command::REGION_WRITE`], and of their replies; the bytes of the region follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct RegionAccess {
    /// Where it begins in the region.
    pub offset: u64,
    /// Which region.
    pub region: u32,
    /// Bytes.
    pub count: u32,
}
