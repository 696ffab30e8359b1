//! The tree for /sys: what the device says of itself on the bus.
//!
//! Values of the Mobile Intel 965 Express datasheet, and of a ThinkPad T61 as lspci and /sys show it.

use std::fs;
use std::path::Path;

use crate::support;

#[test]
fn the_bus_shows_a_gm965() {
    let (node, _) = support::start();
    let environment = node.environment();
    let slot = Path::new(&environment[1].1).join("sys/bus/pci/devices/0000:00:02.0");
    let config = fs::read(slot.join("config")).unwrap();
    assert_eq!(config.len(), 256);
    let word = |at: usize| u32::from_le_bytes(config[at..at + 4].try_into().unwrap());
    assert_eq!(word(0x00), 0x2a02_8086);
    assert_eq!(word(0x08), 0x0300_000c, "VGA, revision 0Ch");
    // 64-bit memory of 1 MiB, 64-bit prefetchable memory of 256 MiB, ports.
    assert_eq!([0x10, 0x18, 0x20].map(|at| word(at) & 0xf), [0x4, 0xc, 0x1]);
    assert_eq!([0x14, 0x1c, 0x24].map(word), [0; 3]);
    // The capabilities: MSI at 90h, power management at D0h, no more.
    assert_eq!((word(4) >> 20 & 1, config[0x34]), (1, 0x90));
    assert_eq!((config[0x90], config[0x91]), (0x05, 0xd0));
    assert_eq!((config[0xd0], config[0xd1]), (0x01, 0x00));

    let text = fs::read_to_string(slot.join("resource")).unwrap();
    let lines: Vec<Vec<u64>> = text
        .lines()
        .map(|line| {
            let numbers = line.split(' ').map(|word| {
                assert_eq!(word.len(), 18, "{line}");
                u64::from_str_radix(word.strip_prefix("0x").unwrap(), 16).unwrap()
            });
            numbers.collect()
        })
        .collect();
    assert_eq!(lines.len(), 13);
    let size = |line: usize| lines[line][1] - lines[line][0] + 1;
    assert_eq!([0, 2, 4].map(size), [1 << 20, 256 << 20, 8]);
    // IORESOURCE_MEM, _PREFETCH, _IO of linux/ioport.h.
    let flags = [0, 2, 4].map(|line| lines[line][2] & 0x2300);
    assert_eq!(flags, [0x200, 0x2200, 0x100]);
    for line in [0, 2, 4] {
        let register = word(0x10 + line * 4) & !0xf;
        assert_eq!(lines[line][0] & 0xffff_ffff, u64::from(register));
    }
    for line in [1, 3, 5, 7, 12] {
        assert_eq!(lines[line], [0; 3]);
    }
    assert_eq!(
        lines[6],
        [0xc_0000, 0xd_ffff, 0x212],
        "the shadow of the ROM"
    );
    let irq = fs::read_to_string(slot.join("irq")).unwrap();
    assert_eq!(irq.trim(), config[0x3c].to_string());
}
