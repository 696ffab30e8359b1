//! The devices of a node: how many, their minor numbers, their places.
//!
//! drm_drv.c (`drm_minor_alloc`). Every device has a PCI domain to itself and is there where integrated devices are, at 00:02.0;
//! so no device of the machine is at the same place, but for the first.

/// Most devices of a node.
pub const MOST: usize = 8;
/// Major number of DRM devices.
pub const MAJOR: u32 = 226;
/// What the minor number of a render node has more than that of the primary node.
pub const RENDER: u32 = 128;

/// A device's place on the bus, `DDDD:00:02.0`, and that of its bus, `pciDDDD:00`.
pub const SLOTS: [(&str, &str); MOST] = [
    ("0000:00:02.0", "pci0000:00"),
    ("0001:00:02.0", "pci0001:00"),
    ("0002:00:02.0", "pci0002:00"),
    ("0003:00:02.0", "pci0003:00"),
    ("0004:00:02.0", "pci0004:00"),
    ("0005:00:02.0", "pci0005:00"),
    ("0006:00:02.0", "pci0006:00"),
    ("0007:00:02.0", "pci0007:00"),
];

/// A device's entries in `/dev`: of the render node, of the primary node.
pub const NODES: [[&str; 2]; MOST] = [
    ["/dev/dri/renderD128", "/dev/dri/card0"],
    ["/dev/dri/renderD129", "/dev/dri/card1"],
    ["/dev/dri/renderD130", "/dev/dri/card2"],
    ["/dev/dri/renderD131", "/dev/dri/card3"],
    ["/dev/dri/renderD132", "/dev/dri/card4"],
    ["/dev/dri/renderD133", "/dev/dri/card5"],
    ["/dev/dri/renderD134", "/dev/dri/card6"],
    ["/dev/dri/renderD135", "/dev/dri/card7"],
];
