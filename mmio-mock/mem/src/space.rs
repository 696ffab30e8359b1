//! Address spaces: the global one, and those of processes.
//!
//! A space is a name. What its addresses mean is in tables: the global GTT, or what [`Memory::set_tables`] was told.
//!
//! [`Memory::set_tables`]: crate::Memory::set_tables

use std::fmt;
use std::num::NonZeroU8;
use std::ops::{Deref, DerefMut};

use crate::Memory;

/// The number of a process's address space, as the device counts them: one for each engine of generations 6 and 7,
/// one for each VM context of other vendors. Which process it is for changes when tables are set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Process(NonZeroU8);

impl Process {
    /// Space `n` of processes, 0 to 254; `None` above.
    #[must_use]
    pub const fn new(n: u8) -> Option<Self> {
        match NonZeroU8::new(n.wrapping_add(1)) {
            Some(number) => Some(Process(number)),
            None => None,
        }
    }

    /// The first one.
    pub const FIRST: Process = Process(NonZeroU8::MIN);

    /// Its number, 0 to 254.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0.get() - 1
    }
}

/// The address space that an access belongs to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Space {
    /// The one of the global GTT.
    #[default]
    Global,
    /// One of a process.
    Process(Process),
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Space::Global => write!(f, "the global space"),
            Space::Process(process) => write!(f, "space {}", process.number()),
        }
    }
}

/// Memory whose accesses belong to a space, until this value goes: then they belong to the space before again.
#[derive(Debug)]
pub struct Entered<'a> {
    memory: &'a mut Memory,
    before: Space,
    trusted: bool,
}

impl Entered<'_> {
    /// Whether accesses may write guarded pages ([`Memory::guard_pages`]), until this value goes.
    #[inline]
    pub fn trust(&mut self, trusted: bool) {
        self.memory.set_trusted(trusted);
    }
}

impl Memory {
    /// Lets the accesses through the value that comes back belong to `space`. Without it they belong to
    /// [`Space::Global`].
    #[inline]
    pub fn enter(&mut self, space: Space) -> Entered<'_> {
        let before = self.switch(space);
        let trusted = self.is_trusted();
        Entered {
            memory: self,
            before,
            trusted,
        }
    }
}

impl Drop for Entered<'_> {
    #[inline]
    fn drop(&mut self) {
        self.memory.switch(self.before);
        self.memory.set_trusted(self.trusted);
    }
}

impl Deref for Entered<'_> {
    type Target = Memory;
    #[inline]
    fn deref(&self) -> &Memory {
        self.memory
    }
}

impl DerefMut for Entered<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Memory {
        self.memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_to_254() {
        assert_eq!(Process::new(0), Some(Process::FIRST));
        assert_eq!(Process::new(254).map(Process::number), Some(254));
        assert_eq!(Process::new(255), None);
        assert_eq!(size_of::<Space>(), 1);
    }
}
