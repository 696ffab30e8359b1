//! What the device says of itself on the PCI bus: resources, configuration space.
//!
//! Mobile Intel 965 Express Chipset Family Datasheet (316273), chapter 8: "Integrated Graphics Device Registers", and
//! pci-sysfs.c for the form of the files. The places are those that a firmware chooses. Not modelled: registers of the
//! chipset in configuration space but those that a driver reads, and the files through which Linux lets programs map a resource.

use std::fmt::Write as _;

use mmio_mock::intel::r#gen::DeviceInfo;

/// A range that the device answers to.
struct Bar {
    /// Number of the first register; one of 64 bits takes the next as well.
    number: usize,
    start: u64,
    /// Bytes; 0 for those of the registers, which the device's row has.
    size: u64,
    /// The low bits of the register: I/O (1), 64 bits (4), prefetchable (8).
    bits: u32,
    /// Linux' flags (ioport.h): `IORESOURCE_IO`, `_MEM`, `_PREFETCH`, `_SIZEALIGN`, `_MEM_64`, and those bits.
    flags: u64,
}

/// GTTMMADR (registers, then the GTT), GMADR (the aperture), IOBAR.
const BARS: [Bar; 3] = [
    Bar {
        number: 0,
        start: 0xf800_0000,
        size: 0,
        bits: 0x4,
        flags: 0x14_0204,
    },
    Bar {
        number: 2,
        start: 0xe000_0000,
        size: 256 << 20,
        bits: 0xc,
        flags: 0x14_220c,
    },
    Bar {
        number: 4,
        start: 0x1800,
        size: 8,
        bits: 0x1,
        flags: 0x4_0101,
    },
];
/// The firmware's copy of the expansion ROM (`IORESOURCE_ROM_SHADOW`), which is that of the device that boots.
const ROM: [u64; 3] = [0xc_0000, 0xd_ffff, 0x212];
/// Lines of the file: six registers, the ROM, and six of virtual functions.
const LINES: usize = 13;
/// Capabilities: message-signalled interrupts, power management.
const MSI: usize = 0x90;
const POWER: usize = 0xd0;

/// The interrupt of a device.
pub(super) fn irq(device: usize) -> u8 {
    // CAST: there are few devices.
    16 + device as u8
}

impl Bar {
    fn bytes(&self, info: &DeviceInfo) -> u64 {
        match self.size {
            0 => info.bar_bytes.into(),
            size => size,
        }
    }
}

/// Where a range of a device begins: memory of further devices lies 4 GiB further up each, as their numbers do.
fn start(bar: &Bar, device: usize) -> u64 {
    let step = if bar.bits & 1 == 0 { 1 << 32 } else { bar.size };
    bar.start + step * device as u64
}

/// The file `resource`: start, end and flags of each.
pub(super) fn resources(device: usize, info: &DeviceInfo) -> String {
    let mut lines = [[0; 3]; LINES];
    for bar in &BARS {
        if let Some(line) = lines.get_mut(bar.number) {
            let start = start(bar, device);
            *line = [start, start + bar.bytes(info) - 1, bar.flags];
        }
    }
    // Only of the device that boots.
    if device == 0 {
        lines[6] = ROM;
    }
    lines
        .iter()
        .fold(String::new(), |mut text, [start, end, flags]| {
            // Writing into a string does not fail.
            let _ = writeln!(text, "{start:#018x} {end:#018x} {flags:#018x}");
            text
        })
}

/// Configuration space.
pub(super) fn config_space(number: usize, info: &DeviceInfo) -> [u8; 256] {
    let mut bytes = [0; 256];
    let mut put = |at: usize, value: &[u8]| {
        if let Some(to) = bytes.get_mut(at..at + value.len()) {
            to.copy_from_slice(value);
        }
    };
    let (vendor, device) = (info.pci.0.to_le_bytes(), info.pci.1.to_le_bytes());
    put(0x00, &vendor);
    put(0x02, &device);
    // I/O, memory and bus master are on; there are capabilities, and fast transactions back to back.
    put(0x04, &0x0007_u16.to_le_bytes());
    put(0x06, &0x0090_u16.to_le_bytes());
    put(0x08, &[info.revision, 0x00, 0x00, 0x03]);
    for bar in &BARS {
        let value = start(bar, number) | u64::from(bar.bits);
        let len = if bar.bits & 4 == 0 { 4 } else { 8 };
        put(
            0x10 + bar.number * 4,
            value.to_le_bytes().get(..len).unwrap_or_default(),
        );
    }
    put(0x2c, &vendor);
    put(0x2e, &device);
    put(0x34, &[MSI as u8]);
    put(0x3c, &[irq(number), 1]);
    put(MSI, &[0x05, POWER as u8]);
    // Version 3, a driver has to initialise it.
    put(POWER, &[0x01, 0x00, 0x23, 0x00]);
    for (at, value) in info.config {
        put(usize::from(*at), &[*value]);
    }
    bytes
}
