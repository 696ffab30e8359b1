//! The calls of VFIO: container, group, device, regions, interrupts, memory.
//!
//! Linux include/uapi/linux/vfio.h and `Documentation/driver-api/vfio.rst`; numbers and structures are those of the header.
#![allow(unsafe_code, reason = "ioctl takes pointers to structures")]

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, RawFd};

use nix::errno::Errno;
use nix::libc;

use super::Memory;

/// `_IO(';', 100 + n)`.
const fn call(number: u64) -> u64 {
    (b';' as u64) << 8 | (100 + number)
}

const GET_API_VERSION: u64 = call(0);
const CHECK_EXTENSION: u64 = call(1);
const SET_IOMMU: u64 = call(2);
const GROUP_GET_STATUS: u64 = call(3);
const GROUP_SET_CONTAINER: u64 = call(4);
const GROUP_GET_DEVICE_FD: u64 = call(6);
const DEVICE_GET_REGION_INFO: u64 = call(8);
const DEVICE_SET_IRQS: u64 = call(10);
const IOMMU_MAP_DMA: u64 = call(13);

const API_VERSION: i32 = 0;
const TYPE1_IOMMU: u64 = 1;
const GROUP_FLAGS_VIABLE: u32 = 1;
const REGION_INFO_FLAG_MMAP: u32 = 4;
const DMA_MAP_READ_WRITE: u32 = 3;
const IRQ_SET_DATA_NONE: u32 = 1;
const IRQ_SET_DATA_EVENTFD: u32 = 4;
const IRQ_SET_ACTION_UNMASK: u32 = 1 << 4;
const IRQ_SET_ACTION_TRIGGER: u32 = 1 << 5;
const INTX: u32 = 0;

#[repr(C)]
struct GroupStatus {
    argsz: u32,
    flags: u32,
}

#[repr(C)]
struct RegionInfo {
    argsz: u32,
    flags: u32,
    index: u32,
    cap_offset: u32,
    size: u64,
    offset: u64,
}

#[repr(C)]
struct DmaMap {
    argsz: u32,
    flags: u32,
    vaddr: u64,
    iova: u64,
    size: u64,
}

/// With one descriptor behind it.
#[repr(C)]
struct IrqSet {
    argsz: u32,
    flags: u32,
    index: u32,
    start: u32,
    count: u32,
    data: RawFd,
}

/// A part of a device's file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Region {
    /// Bytes.
    pub(crate) size: u64,
    /// Where it begins in the file.
    pub(crate) offset: u64,
    /// It can be mapped.
    pub(crate) maps: bool,
}

/// A device, with the container that holds its memory.
pub(crate) struct Device {
    file: File,
    // After the device, which has to be closed first.
    _group: File,
    container: File,
}

fn number(file: &File, request: u64, value: u64) -> io::Result<i32> {
    // SAFETY: this request takes a number.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), request, value) };
    Ok(Errno::result(answer)?)
}

fn block<T>(file: &File, request: u64, block: &mut T) -> io::Result<i32> {
    // SAFETY: this request takes the structure that its callers hand over, which says its size where the kernel writes to it.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), request, std::ptr::from_mut(block)) };
    Ok(Errno::result(answer)?)
}

/// Size of a structure, as its first field says it.
const fn argsz<T>() -> u32 {
    // CAST: some ten bytes.
    size_of::<T>() as u32
}

impl Device {
    /// Takes a device of a group, by its PCI address; `container` is `/dev/vfio/vfio`, `group` the group's file.
    pub(crate) fn open(container: File, group: File, address: &str) -> io::Result<Self> {
        if number(&container, GET_API_VERSION, 0)? != API_VERSION
            || number(&container, CHECK_EXTENSION, TYPE1_IOMMU)? == 0
        {
            return Err(io::Error::other(
                "not the interface of VFIO that is known here",
            ));
        }
        let mut status = GroupStatus {
            argsz: argsz::<GroupStatus>(),
            flags: 0,
        };
        block(&group, GROUP_GET_STATUS, &mut status)?;
        if status.flags & GROUP_FLAGS_VIABLE == 0 {
            return Err(io::Error::other(
                "a kernel driver holds another device of the group: all of a group belong to vfio-pci, or none",
            ));
        }
        let mut fd = container.as_raw_fd();
        block(&group, GROUP_SET_CONTAINER, &mut fd)?;
        number(&container, SET_IOMMU, TYPE1_IOMMU)?;
        let name = std::ffi::CString::new(address)?;
        // SAFETY: this request takes a string that ends with a zero.
        let fd = unsafe { libc::ioctl(group.as_raw_fd(), GROUP_GET_DEVICE_FD, name.as_ptr()) };
        let fd = Errno::result(fd)?;
        // SAFETY: the descriptor is new, and nobody else has it.
        let file = unsafe { File::from_raw_fd(fd) };
        Ok(Device {
            file,
            _group: group,
            container,
        })
    }

    /// The device's file, in which the regions lie.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// A region, by its index.
    pub(crate) fn region(&self, index: u32) -> io::Result<Region> {
        let mut info = RegionInfo {
            argsz: argsz::<RegionInfo>(),
            flags: 0,
            index,
            cap_offset: 0,
            size: 0,
            offset: 0,
        };
        block(&self.file, DEVICE_GET_REGION_INFO, &mut info)?;
        Ok(Region {
            size: info.size,
            offset: info.offset,
            maps: info.flags & REGION_INFO_FLAG_MMAP != 0,
        })
    }

    /// Shows memory to the device, from a bus address on, until the device is given back.
    pub(crate) fn map(&self, memory: &Memory, bus: u64) -> io::Result<()> {
        let mut map = DmaMap {
            argsz: argsz::<DmaMap>(),
            flags: DMA_MAP_READ_WRITE,
            vaddr: memory.address() as u64,
            iova: bus,
            size: memory.len() as u64,
        };
        block(&self.container, IOMMU_MAP_DMA, &mut map).map(drop)
    }

    /// Has interrupts counted by an eventfd.
    pub(crate) fn signal(&self, event: RawFd) -> io::Result<()> {
        let flags = IRQ_SET_DATA_EVENTFD | IRQ_SET_ACTION_TRIGGER;
        self.irq(flags, argsz::<IrqSet>(), event)
    }

    /// Lets the next interrupt come: the kernel masks the line at each.
    pub(crate) fn unmask(&self) -> io::Result<()> {
        let flags = IRQ_SET_DATA_NONE | IRQ_SET_ACTION_UNMASK;
        self.irq(flags, argsz::<IrqSet>() - argsz::<RawFd>(), -1)
    }

    fn irq(&self, flags: u32, argsz: u32, data: RawFd) -> io::Result<()> {
        let mut set = IrqSet {
            argsz,
            flags,
            index: INTX,
            start: 0,
            count: 1,
            data,
        };
        block(&self.file, DEVICE_SET_IRQS, &mut set).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes and numbers as a C compiler gives them for include/uapi/linux/vfio.h on x86-64.
    #[test]
    fn structures_and_numbers_are_those_of_the_header() {
        assert_eq!((argsz::<GroupStatus>(), argsz::<RegionInfo>()), (8, 32));
        assert_eq!((argsz::<DmaMap>(), argsz::<IrqSet>()), (32, 24));
        assert_eq!((GET_API_VERSION, IOMMU_MAP_DMA), (0x3b64, 0x3b71));
        assert_eq!((DEVICE_GET_REGION_INFO, DEVICE_SET_IRQS), (0x3b6c, 0x3b6e));
        assert_eq!(std::mem::offset_of!(RegionInfo, size), 16);
        assert_eq!(std::mem::offset_of!(IrqSet, data), 20);
    }
}
