//! The register file of an Intel device: that of `core`, over the tables of `regs`.
//!
//! PRM: volume 1 (register address maps); rules come from the tables.

use regs::desc::RegisterDesc;
use regs::ids::RegId;
use regs::platform::Generation;

use crate::core::bus::{self, RegisterMap, RegisterRules};

/// Values of all registers.
pub type RegFile = bus::RegFile<&'static Generation>;

/// A dword of a register.
pub type Place = bus::Place<&'static Generation>;

impl RegisterMap for &'static Generation {
    type Id = RegId;
    type Rules = RegisterDesc;
    const IDS: usize = RegId::ALL.len();

    fn number(id: RegId) -> usize {
        id as usize
    }
    fn all(self) -> impl Iterator<Item = (RegId, &'static RegisterDesc)> {
        self.registers.iter().map(|desc| (desc.id, *desc))
    }
    fn lookup(self, offset: u32) -> Option<(RegId, u32, u32)> {
        (self.lookup)(offset)
    }
    fn rules(self, id: RegId) -> Option<&'static RegisterDesc> {
        (self.register_desc)(id)
    }
}

impl RegisterRules for RegisterDesc {
    fn count(&self) -> u32 {
        self.count
    }
    fn dwords(&self) -> u32 {
        self.dwords()
    }
    fn at_reset(&self, dword: u32) -> u32 {
        self.reset_dword(dword)
    }
    fn read(&self, dword: u32, stored: u32) -> u32 {
        self.read(dword, stored)
    }
    fn read_clears(&self, dword: u32) -> u32 {
        self.rules(dword).rc
    }
    fn write(&self, dword: u32, old: u32, new: u32) -> u32 {
        self.write(dword, old, new)
    }
}
