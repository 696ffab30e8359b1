//! The register file: values of MMIO registers, by the rules of a device.
//!
//! Registers that a unit keeps elsewhere (page tables, counters) are the vendor's matter, which decodes
//! an offset before it comes here.

use std::fmt::Debug;

/// What the tables say of one register. Registers wider than 32 bits are dwords; an array has elements.
pub trait RegisterRules: Debug + 'static {
    /// Elements of an array, else 1.
    fn count(&self) -> u32;
    /// Dwords of one element.
    fn dwords(&self) -> u32;
    /// Value of a dword after reset.
    fn at_reset(&self, dword: u32) -> u32;
    /// What a read of a stored dword shows.
    fn read(&self, dword: u32, stored: u32) -> u32;
    /// Bits that a read clears.
    fn read_clears(&self, dword: u32) -> u32;
    /// Stored value of a dword after `new` was written over `old`.
    fn write(&self, dword: u32, old: u32, new: u32) -> u32;
}

/// The registers of a device: names, places and rules.
pub trait RegisterMap: Copy + Debug + 'static {
    /// Name of a register.
    type Id: Copy + Debug + PartialEq + Eq + 'static;
    /// Rules of a register.
    type Rules: RegisterRules;
    /// How many names there are, those of registers included that this device lacks.
    const IDS: usize;

    /// The number of a name, below [`IDS`](Self::IDS).
    fn number(id: Self::Id) -> usize;
    /// All registers of the device.
    fn all(self) -> impl Iterator<Item = (Self::Id, &'static Self::Rules)>;
    /// Register, element and dword at an offset of the BAR.
    fn lookup(self, offset: u32) -> Option<(Self::Id, u32, u32)>;
    /// What is known of a register; `None` when the device lacks it.
    fn rules(self, id: Self::Id) -> Option<&'static Self::Rules>;
}

/// A dword of a register: which one, which array element, which dword of it.
#[derive(Debug)]
pub struct Place<M: RegisterMap> {
    /// The register.
    pub id: M::Id,
    /// Element of a register array.
    pub index: u32,
    /// Dword of the element.
    pub dword: u32,
    /// What the device's tables say of the register.
    pub desc: &'static M::Rules,
}

#[expect(
    clippy::expl_impl_clone_on_copy,
    reason = "derived, they would ask the rules to be copied too"
)]
impl<M: RegisterMap> Clone for Place<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: RegisterMap> Copy for Place<M> {}

/// Values of all registers.
#[derive(Clone, Debug)]
pub struct RegFile<M> {
    /// The device's tables.
    map: M,
    /// First value of each register, by its number; the highest number for one that the device lacks.
    starts: Vec<u32>,
    values: Vec<u32>,
}

/// Register arrays larger than this live with their unit, not here (page tables).
const MAX_ELEMENTS: u32 = 64;

impl<M: RegisterMap> RegFile<M> {
    /// All registers of a device at their reset values.
    pub fn new(map: M) -> Self {
        let mut starts = vec![u32::MAX; M::IDS];
        let mut values = Vec::new();
        for (id, rules) in map.all() {
            if let Some(start) = starts.get_mut(M::number(id)) {
                *start = values.len() as u32;
            }
            for _ in 0..rules.count().min(MAX_ELEMENTS) {
                values.extend((0..rules.dwords()).map(|dword| rules.at_reset(dword)));
            }
        }
        RegFile {
            map,
            starts,
            values,
        }
    }

    /// The tables that the registers are of.
    pub fn tables(&self) -> M {
        self.map
    }

    /// What lies at an offset of the BAR.
    pub fn place(&self, offset: u32) -> Option<Place<M>> {
        let (id, index, dword) = self.map.lookup(offset)?;
        let desc = self.map.rules(id)?;
        Some(Place {
            id,
            index,
            dword,
            desc,
        })
    }

    fn slot(&self, place: Place<M>) -> Option<usize> {
        let desc = place.desc;
        if place.index >= desc.count().min(MAX_ELEMENTS) || place.dword >= desc.dwords() {
            return None;
        }
        let inside = place.index * desc.dwords() + place.dword;
        self.first(place.id).checked_add(inside as usize)
    }

    /// First dword of a register after reset.
    pub fn at_reset(&self, id: M::Id) -> u32 {
        self.map.rules(id).map_or(0, |rules| rules.at_reset(0))
    }

    /// Back to the reset values.
    pub fn reset(&mut self) {
        *self = RegFile::new(self.map);
    }

    /// First dword of a register as the unit that owns it sees it.
    pub fn get(&self, id: M::Id) -> u32 {
        let value = self.values.get(self.first(id));
        value.copied().unwrap_or(0)
    }

    /// First two dwords of a register, as the unit that owns it sees them.
    pub fn get64(&self, id: M::Id) -> u64 {
        let first = self.first(id);
        let dword = |at: Option<usize>| at.and_then(|at| self.values.get(at)).copied();
        let low = dword(Some(first)).unwrap_or(0);
        let high = dword(first.checked_add(1)).unwrap_or(0);
        u64::from(low) | u64::from(high) << 32
    }

    /// Sets the first two dwords, as the owning unit may.
    pub fn set64(&mut self, id: M::Id, value: u64) {
        let first = self.first(id);
        // CAST: the halves of 64 bits.
        let halves = [value as u32, (value >> 32) as u32];
        let places = self.values.iter_mut().skip(first);
        for (to, half) in places.zip(halves) {
            *to = half;
        }
    }

    /// Index of the first dword of a register; outside when the device lacks it.
    fn first(&self, id: M::Id) -> usize {
        self.starts
            .get(M::number(id))
            .map_or(usize::MAX, |start| *start as usize)
    }

    /// Stored dword at a place.
    pub fn stored(&self, place: Place<M>) -> u32 {
        self.slot(place)
            .and_then(|s| self.values.get(s))
            .copied()
            .unwrap_or(0)
    }

    /// Sets the first dword, as the owning unit may.
    pub fn set(&mut self, id: M::Id, value: u32) {
        let first = self.first(id);
        if let Some(to) = self.values.get_mut(first) {
            *to = value;
        }
    }

    /// Sets a stored dword, as the owning unit may.
    pub fn store(&mut self, place: Place<M>, value: u32) {
        if let Some(slot) = self.slot(place)
            && let Some(to) = self.values.get_mut(slot)
        {
            *to = value;
        }
    }

    /// What a bus read shows; clears bits that a read clears.
    pub fn bus_read(&mut self, place: Place<M>) -> u32 {
        let desc = place.desc;
        let stored = self.stored(place);
        let clears = desc.read_clears(place.dword);
        if clears != 0 {
            self.store(place, stored & !clears);
        }
        desc.read(place.dword, stored)
    }

    /// A bus write under the register's rules.
    pub fn bus_write(&mut self, place: Place<M>, value: u32) {
        let new = place.desc.write(place.dword, self.stored(place), value);
        self.store(place, new);
    }
}
