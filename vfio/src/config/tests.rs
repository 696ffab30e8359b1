//! The header and the capability, byte by byte.

use super::*;

const IDENTITY: Identity = Identity {
    pci: (0x8086, 0x2a02),
    revision: 0x0c,
    bars: [1 << 20, 0, 0, 0, 0, 0],
    config: &[(0x51, 2)],
};

fn dword(config: &Config, at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| config.read(at + i, false)))
}

fn write(config: &mut Config, at: usize, value: u32) {
    for (i, byte) in value.to_le_bytes().into_iter().enumerate() {
        config.write(at + i, byte, |_, value| value);
    }
}

/// `lspci -x` of a GM965: 8086:2a02, class 0300, revision 0c; its BARs are a megabyte of memory, 256 MiB of prefetchable memory and eight
/// bytes of I/O, those of memory with 64 bits; pin A; the first capability at 90h is that of messages.
#[test]
fn the_header_is_that_of_the_part() {
    let config = Config::new(&IDENTITY);
    assert_eq!(dword(&config, 0), 0x2a02_8086);
    assert_eq!(dword(&config, 8), 0x0300_000c);
    assert_eq!(dword(&config, 0x2c), 0x2a02_8086);
    assert_eq!(config.read(0x0e, false), 0, "one function, type 0");
    assert_eq!(config.read(0x3d, false), 1);
    assert_eq!(config.read(6, false), 0x10);
    assert_eq!(config.read(6, true), 0x18);
    assert_eq!(config.read(0x34, false), 0x90);
    assert_eq!(dword(&config, 0x90), 0x0000_0005);
    assert_eq!(config.read(0x51, false), 2);
    assert_eq!(config.read(256, false), 0xff);
}

/// PCI 3.0, 6.2.5.1: all ones are written, and what reads zero tells the size.
#[test]
fn base_addresses_tell_their_sizes() {
    let mut config = Config::new(&IDENTITY);
    for at in (0x10..0x28).step_by(4) {
        write(&mut config, at, u32::MAX);
    }
    let bars: Vec<u32> = (0x10..0x28)
        .step_by(4)
        .map(|at| dword(&config, at))
        .collect();
    assert_eq!(
        bars,
        [
            0xfff0_0004,
            0xffff_ffff,
            0xf000_000c,
            0xffff_ffff,
            0xffff_fff9,
            0
        ]
    );
    write(&mut config, 0x10, 0xfeb4_5678);
    assert_eq!(
        dword(&config, 0x10),
        0xfeb0_0004,
        "below a megabyte nothing"
    );
    assert_eq!(config.size(region::BAR2), 256 << 20);
    assert_eq!(config.size(1), 0, "the upper half is no region");
    assert_eq!(config.size(99), 0);
}

#[test]
fn the_command_register_has_its_bits_and_switches_the_pin_off() {
    let mut config = Config::new(&IDENTITY);
    write(&mut config, 4, 0x0000_ffff);
    assert_eq!(dword(&config, 4), 0x0010_0547);
    assert!(config.is_pin_off());
    write(&mut config, 4, 0x0006);
    assert!(!config.is_pin_off());
    assert_eq!(dword(&config, 4), 0x0010_0006);
}

#[test]
fn the_message_capability_takes_address_data_and_enable() {
    let mut config = Config::new(&IDENTITY);
    write(&mut config, 0x90, u32::MAX);
    assert_eq!(dword(&config, 0x90), 0x0001_0005);
    write(&mut config, 0x94, 0xfee0_1003);
    assert_eq!(dword(&config, 0x94), 0xfee0_1000);
    write(&mut config, 0x98, 0x0000_4041);
    assert_eq!(dword(&config, 0x98) & 0xffff, 0x4041);
}

#[test]
fn the_device_has_its_own_bytes_and_nobody_the_chipset_s() {
    let mut config = Config::new(&IDENTITY);
    let mut seen = Vec::new();
    for at in [0x00, 0x3d, 0x51, 0x90, 0xc0, 0xff, 0x100] {
        config.write(at, 5, |at, value| {
            seen.push((at, value));
            2
        });
    }
    assert_eq!(seen, [(0xc0, 5), (0xff, 5)]);
    assert_eq!(config.read(0xc0, false), 2);
    assert_eq!(config.read(0x51, false), 2);
    assert_eq!(config.read(0x3d, false), 1);
}
