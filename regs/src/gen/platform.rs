//! The generations whose tables exist, and which device is which.
//! PRM vol1 device identification; ids from i915 i915_pciids.h.
//! Does not probe hardware.

use super::{gen40, gen45, gen50, gen60, gen70, rules70};
use crate::platform::{Device, Generation};

/// 965G and GM965.
pub static GEN40: Generation = Generation {
    name: "gen40",
    version: 40,
    address_bits: 32,
    registers: &gen40::REGISTERS,
    commands: &gen40::COMMANDS,
    structures: &gen40::STRUCTURES,
    formats: &gen40::SURFACE_FORMATS,
    command: gen40::command,
    lookup: gen40::lookup,
    register_desc: gen40::register_desc,
    command_desc: gen40::command_desc,
    rules: &[],
};

/// G45 and GM45.
pub static GEN45: Generation = Generation {
    name: "gen45",
    version: 45,
    address_bits: 32,
    registers: &gen45::REGISTERS,
    commands: &gen45::COMMANDS,
    structures: &gen45::STRUCTURES,
    formats: &gen45::SURFACE_FORMATS,
    command: gen45::command,
    lookup: gen45::lookup,
    register_desc: gen45::register_desc,
    command_desc: gen45::command_desc,
    rules: &[],
};

/// Ironlake.
pub static GEN50: Generation = Generation {
    name: "gen50",
    version: 50,
    address_bits: 32,
    registers: &gen50::REGISTERS,
    commands: &gen50::COMMANDS,
    structures: &gen50::STRUCTURES,
    formats: &gen50::SURFACE_FORMATS,
    command: gen50::command,
    lookup: gen50::lookup,
    register_desc: gen50::register_desc,
    command_desc: gen50::command_desc,
    rules: &[],
};

/// Sandy Bridge.
pub static GEN60: Generation = Generation {
    name: "gen60",
    version: 60,
    address_bits: 32,
    registers: &gen60::REGISTERS,
    commands: &gen60::COMMANDS,
    structures: &gen60::STRUCTURES,
    formats: &gen60::SURFACE_FORMATS,
    command: gen60::command,
    lookup: gen60::lookup,
    register_desc: gen60::register_desc,
    command_desc: gen60::command_desc,
    rules: &[],
};

/// ValleyView.
pub static GEN70: Generation = Generation {
    name: "gen70",
    version: 70,
    address_bits: 32,
    registers: &gen70::REGISTERS,
    commands: &gen70::COMMANDS,
    structures: &gen70::STRUCTURES,
    formats: &gen70::SURFACE_FORMATS,
    command: gen70::command,
    lookup: gen70::lookup,
    register_desc: gen70::register_desc,
    command_desc: gen70::command_desc,
    rules: &rules70::RULES,
};

/// All generations, oldest first.
pub static GENERATIONS: [&Generation; 5] = [&GEN40, &GEN45, &GEN50, &GEN60, &GEN70];

const fn device(
    pci: u16,
    code: &'static str,
    name: &'static str,
    generation: &'static Generation,
) -> Device {
    Device {
        pci,
        code,
        name,
        generation,
    }
}

/// All devices, by generation and id.
pub static DEVICES: [Device; 26] = [
    device(0x2972, "DevBW", "946GZ", &GEN40),
    device(0x2982, "DevBW", "G35", &GEN40),
    device(0x2992, "DevBW", "965Q", &GEN40),
    device(0x29a2, "DevBW", "965G", &GEN40),
    device(0x2a02, "DevCL", "GM965", &GEN40),
    device(0x2a12, "DevCL", "GME965", &GEN40),
    device(0x2a42, "DevCTG", "GM45", &GEN45),
    device(0x2e02, "DevELK", "IGD_E", &GEN45),
    device(0x2e12, "DevELK", "Q45", &GEN45),
    device(0x2e22, "DevELK", "G45", &GEN45),
    device(0x2e32, "DevELK", "G41", &GEN45),
    device(0x2e42, "DevELK", "B43", &GEN45),
    device(0x2e92, "DevELK", "B43.1", &GEN45),
    device(0x0042, "DevILK", "Ironlake Desktop", &GEN50),
    device(0x0046, "DevILK", "Ironlake Mobile", &GEN50),
    device(0x0102, "DevSNB", "Sandy Bridge Desktop GT1", &GEN60),
    device(0x0112, "DevSNB", "Sandy Bridge Desktop GT2", &GEN60),
    device(0x0122, "DevSNB", "Sandy Bridge Desktop GT2+", &GEN60),
    device(0x010a, "DevSNB", "Sandy Bridge Server GT1", &GEN60),
    device(0x0106, "DevSNB", "Sandy Bridge Mobile GT1", &GEN60),
    device(0x0116, "DevSNB", "Sandy Bridge Mobile GT2", &GEN60),
    device(0x0126, "DevSNB", "Sandy Bridge Mobile GT2+", &GEN60),
    device(0x0f30, "DevVLV", "ValleyView 0f30", &GEN70),
    device(0x0f31, "DevVLV", "ValleyView", &GEN70),
    device(0x0f32, "DevVLV", "ValleyView 0f32", &GEN70),
    device(0x0f33, "DevVLV", "ValleyView 0f33", &GEN70),
];
