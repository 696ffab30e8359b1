//! Groups of families that may be of one making, which take turns in the line.
//!
//! A program can begin many families of processes. What it begins so has something in common, which a newcomer lacks that has
//! nothing to do with it: a group has one turn before a newcomer and not one for each of its families. i915 has nothing like it.
use alloc::collections::BTreeMap;

/// Which group a process belongs to, in numbers whose meaning the caller knows: the wide one, and a narrow one within
/// it. Equal numbers mean the same group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Group {
    /// What programs may have in common that have nothing to do with one another.
    pub wide: u64,
    /// What one program alone can hand on to others.
    pub narrow: u64,
}

impl Group {
    /// That of a process that shares it with no other.
    #[must_use]
    pub fn of_one(number: u64) -> Self {
        Group {
            wide: number,
            narrow: 0,
        }
    }

    /// The wide group, and the narrow one.
    fn keys(self) -> [(u64, Option<u64>); 2] {
        [(self.wide, None), (self.wide, Some(self.narrow))]
    }
}

struct Entry {
    /// Processes of the group in the line.
    count: usize,
    /// Number of its last turn; before the first, that of its coming.
    last: u64,
}

/// The turns of the groups that have processes in the line. A group that comes is behind those that are there.
#[derive(Default)]
pub(crate) struct Rota {
    entries: BTreeMap<(u64, Option<u64>), Entry>,
    /// The last number given.
    number: u64,
}

impl Rota {
    /// A process has come into the line.
    pub(crate) fn enter(&mut self, group: Group) {
        self.number += 1;
        for key in group.keys() {
            let last = self.number;
            let new = || Entry { count: 0, last };
            self.entries.entry(key).or_insert_with(new).count += 1;
        }
    }

    /// A process has left the line.
    pub(crate) fn leave(&mut self, group: Group) {
        for key in group.keys() {
            if let Some(entry) = self.entries.get_mut(&key) {
                entry.count -= 1;
                if entry.count == 0 {
                    self.entries.remove(&key);
                }
            }
        }
    }

    /// A new family of the group has its turn.
    pub(crate) fn take_turn(&mut self, group: Group) {
        self.number += 1;
        for key in group.keys() {
            if let Some(entry) = self.entries.get_mut(&key) {
                entry.last = self.number;
            }
        }
    }

    /// Its place among the groups, the next first: of the wide group, and of the narrow one in it.
    pub(crate) fn place(&self, group: Group) -> [u64; 2] {
        let last = |key| self.entries.get(&key).map_or(0, |entry| entry.last);
        group.keys().map(last)
    }

    /// Whether no group has processes in the line.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
