//! The register file: storage of MMIO registers, with the tables' access rules.
//!
//! PRM: volume 1 (register address maps); rules come from the tables of `regs`.
//! Units that keep a register's value elsewhere (GTT, fences, counters) are served by `mmio`.

use regs::desc::RegisterDesc;
use regs::gen40::{self, RegId};

/// A dword of a register: which one, which array element, which dword of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The register.
    pub id: RegId,
    /// Element of a register array.
    pub index: u32,
    /// Dword of the element.
    pub dword: u32,
}

/// What lies at an offset of the BAR.
pub fn place(offset: u32) -> Option<Place> {
    gen40::lookup(offset).map(|(id, index, dword)| Place { id, index, dword })
}

/// Values of all registers.
#[derive(Clone, Debug)]
pub struct RegFile {
    /// First value of each register, by `RegId as usize`.
    first: Vec<u32>,
    values: Vec<u32>,
}

/// Register arrays larger than this live with their unit, not here (the GTT).
const MAX_ELEMENTS: u32 = 64;

impl Default for RegFile {
    fn default() -> Self {
        Self::new()
    }
}

impl RegFile {
    /// All registers at their reset values.
    pub fn new() -> Self {
        let mut first = vec![0; RegId::ALL.len()];
        let mut values = Vec::new();
        for &id in RegId::ALL {
            first[id as usize] = values.len() as u32;
            let desc = id.desc();
            for _ in 0..desc.count.min(MAX_ELEMENTS) {
                values.extend((0..desc.dwords()).map(|dword| desc.reset_dword(dword)));
            }
        }
        RegFile { first, values }
    }

    fn slot(&self, place: Place) -> Option<usize> {
        let desc = place.id.desc();
        if place.index >= desc.count.min(MAX_ELEMENTS) || place.dword >= desc.dwords() {
            return None;
        }
        let first = *self.first.get(place.id as usize)?;
        Some((first + place.index * desc.dwords() + place.dword) as usize)
    }

    /// Back to the reset values.
    pub fn reset(&mut self) {
        *self = RegFile::new();
    }

    /// First dword of a register as the unit that owns it sees it.
    pub fn get(&self, id: RegId) -> u32 {
        self.stored(Place {
            id,
            index: 0,
            dword: 0,
        })
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
        self.store(
            Place {
                id,
                index: 0,
                dword: 0,
            },
            value,
        );
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
        let desc: &RegisterDesc = place.id.desc();
        let stored = self.stored(place);
        let clears = desc.rules(place.dword).rc;
        if clears != 0 {
            self.store(place, stored & !clears);
        }
        desc.read(place.dword, stored)
    }

    /// A bus write under the register's rules.
    pub fn bus_write(&mut self, place: Place, value: u32) {
        let new = place
            .id
            .desc()
            .write(place.dword, self.stored(place), value);
        self.store(place, new);
    }
}
