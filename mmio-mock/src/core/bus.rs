//! The register file: storage of MMIO registers, with the tables' access rules.
//!
//! PRM: volume 1 (register address maps); rules come from the tables of `regs`.
//! Units that keep a register's value elsewhere (GTT, fences, counters) are served by `mmio`.

use regs::desc::RegisterDesc;
use regs::ids::RegId;
use regs::platform::Generation;

use crate::intel::interrupts::Registers;

/// A dword of a register: which one, which array element, which dword of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The register.
    pub id: RegId,
    /// Element of a register array.
    pub index: u32,
    /// Dword of the element.
    pub dword: u32,
    /// What the device's tables say of the register.
    pub desc: &'static RegisterDesc,
}

/// Values of all registers.
#[derive(Clone, Debug)]
pub struct RegFile {
    /// The device's tables.
    tables: &'static Generation,
    interrupts: &'static Registers,
    /// First value of each register, by `RegId as usize`; the highest number for one that the device lacks.
    starts: Vec<u32>,
    values: Vec<u32>,
}

/// Register arrays larger than this live with their unit, not here (the GTT).
const MAX_ELEMENTS: u32 = 64;

impl RegFile {
    /// All registers of a generation at their reset values.
    pub fn new(tables: &'static Generation, interrupts: &'static Registers) -> Self {
        let mut starts = vec![u32::MAX; RegId::ALL.len()];
        let mut values = Vec::new();
        for desc in tables.registers {
            starts[desc.id as usize] = values.len() as u32;
            for _ in 0..desc.count.min(MAX_ELEMENTS) {
                values.extend((0..desc.dwords()).map(|dword| desc.reset_dword(dword)));
            }
        }
        RegFile {
            tables,
            interrupts,
            starts,
            values,
        }
    }

    /// The tables that the registers are of.
    pub fn tables(&self) -> &'static Generation {
        self.tables
    }

    /// The device's interrupt registers.
    pub fn interrupts(&self) -> &'static Registers {
        self.interrupts
    }

    /// What lies at an offset of the BAR.
    pub fn place(&self, offset: u32) -> Option<Place> {
        let (id, index, dword) = (self.tables.lookup)(offset)?;
        let desc = (self.tables.register_desc)(id)?;
        Some(Place {
            id,
            index,
            dword,
            desc,
        })
    }

    fn slot(&self, place: Place) -> Option<usize> {
        let desc = place.desc;
        if place.index >= desc.count.min(MAX_ELEMENTS) || place.dword >= desc.dwords() {
            return None;
        }
        let inside = place.index * desc.dwords() + place.dword;
        self.first(place.id).checked_add(inside as usize)
    }

    /// First dword of a register after reset.
    pub fn at_reset(&self, id: RegId) -> u32 {
        (self.tables.register_desc)(id).map_or(0, |desc| desc.reset_dword(0))
    }

    /// Back to the reset values.
    pub fn reset(&mut self) {
        *self = RegFile::new(self.tables, self.interrupts);
    }

    /// First dword of a register as the unit that owns it sees it.
    pub fn get(&self, id: RegId) -> u32 {
        let value = self.values.get(self.first(id));
        value.copied().unwrap_or(0)
    }

    /// Index of the first dword of a register; outside when the device lacks it.
    fn first(&self, id: RegId) -> usize {
        self.starts
            .get(id as usize)
            .map_or(usize::MAX, |start| *start as usize)
    }

    /// Stored dword at a place.
    pub fn stored(&self, place: Place) -> u32 {
        self.slot(place)
            .and_then(|s| self.values.get(s))
            .copied()
            .unwrap_or(0)
    }

    /// Sets the first dword, as the owning unit may.
    pub fn set(&mut self, id: RegId, value: u32) {
        let first = self.first(id);
        if let Some(to) = self.values.get_mut(first) {
            *to = value;
        }
    }

    /// Sets a stored dword, as the owning unit may.
    pub fn store(&mut self, place: Place, value: u32) {
        if let Some(slot) = self.slot(place)
            && let Some(to) = self.values.get_mut(slot)
        {
            *to = value;
        }
    }

    /// What a bus read shows; clears bits that a read clears.
    pub fn bus_read(&mut self, place: Place) -> u32 {
        let desc = place.desc;
        let stored = self.stored(place);
        let clears = desc.rules(place.dword).rc;
        if clears != 0 {
            self.store(place, stored & !clears);
        }
        desc.read(place.dword, stored)
    }

    /// A bus write under the register's rules.
    pub fn bus_write(&mut self, place: Place, value: u32) {
        let new = place.desc.write(place.dword, self.stored(place), value);
        self.store(place, new);
    }
}
