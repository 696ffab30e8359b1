//! What the tables say of a generation and of a device.
//! PRM vol1 device identification. The rows are in `gen/platform.rs`.
//! Does not probe hardware.

use crate::check::Rule;
use crate::desc::{CommandDesc, RegisterDesc, StructDesc, SurfaceFormatDesc};
pub use crate::r#gen::platform::*;
use crate::ids::{CommandId, RegId};

/// Everything the tables say about one generation.
#[derive(Debug)]
pub struct Generation {
    /// Directory of its tables.
    pub name: &'static str,
    /// Version times ten: 40, 45, 50, 60.
    pub(crate) version: u8,
    /// Bits of a graphics address.
    pub address_bits: u8,
    /// All registers by rising offset.
    pub registers: &'static [&'static RegisterDesc],
    /// All commands by opcode.
    pub commands: &'static [&'static CommandDesc],
    /// All structures by name.
    pub structures: &'static [&'static StructDesc],
    /// All surface formats by code.
    pub formats: &'static [SurfaceFormatDesc],
    /// The command that a header starts.
    pub command: fn(u32) -> Option<&'static CommandDesc>,
    /// Register, array index and dword at an MMIO offset.
    pub lookup: fn(u32) -> Option<(RegId, u32, u32)>,
    /// A register of this generation, `None` when it has no such register.
    pub register_desc: fn(RegId) -> Option<&'static RegisterDesc>,
    /// A command of this generation, `None` when it has no such command.
    pub command_desc: fn(CommandId) -> Option<&'static CommandDesc>,
    /// What its manual asks of software; none where nobody has written the rules down.
    pub rules: &'static [Rule],
}

/// Generations are told apart by their version.
impl PartialEq for Generation {
    fn eq(&self, other: &Self) -> bool {
        self.version == other.version
    }
}

impl Eq for Generation {}

impl Generation {
    /// Its version times ten: for tables, rows and tests. Everything else asks the tables.
    #[must_use]
    pub const fn times_ten(&self) -> u8 {
        self.version
    }

    /// These tables under another version: for tests of what knows all versions that there are.
    #[must_use]
    pub const fn with_times_ten(&self, version: u8) -> Generation {
        Generation { version, ..*self }
    }

    /// The structure with the manual's name.
    pub fn structure(&self, name: &str) -> Option<&'static StructDesc> {
        let i = self
            .structures
            .binary_search_by(|s| s.name.cmp(name))
            .ok()?;
        self.structures.get(i).copied()
    }

    /// The register with the manual's name, in any case.
    pub fn register(&self, name: &str) -> Option<&'static RegisterDesc> {
        let mut registers = self.registers.iter().copied();
        registers.find(|r| r.name.eq_ignore_ascii_case(name))
    }
}

/// A device the tables cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Device {
    /// PCI device id; the vendor is 8086h.
    pub pci: u16,
    /// Name in the manual's errata notes: `DevBW` or `DevCL`, and in later manuals.
    pub code: &'static str,
    /// Product name.
    pub name: &'static str,
    /// Its tables.
    pub generation: &'static Generation,
}

/// Tables and device of a PCI device id.
pub fn of_device(pci: u16) -> Option<(&'static Generation, &'static Device)> {
    let device = DEVICES.iter().find(|d| d.pci == pci)?;
    Some((device.generation, device))
}
