//! Numbers for things: the lowest free one from 1 on (the kernel's `idr`).
//!
//! A file's things are the driver's memory, which nobody charges to a client: so there is a bound.
use alloc::collections::{BTreeMap, BTreeSet};

use kernel::error::{Result, code::ENOSPC};

/// Largest number that an `idr` gives out.
const MAX: u32 = i32::MAX as u32;

/// Things by number, at most so many.
pub(crate) struct Handles<T, const MOST: u32 = MAX> {
    entries: BTreeMap<u32, T>,
    /// Free numbers below `fresh`.
    free: BTreeSet<u32>,
    /// No number from here on has been given out.
    fresh: u32,
}

impl<T, const MOST: u32> Default for Handles<T, MOST> {
    fn default() -> Self {
        Handles {
            entries: BTreeMap::new(),
            free: BTreeSet::new(),
            fresh: 1,
        }
    }
}

impl<T, const MOST: u32> Handles<T, MOST> {
    /// Adds a thing; `ENOSPC` when all numbers are taken, as `idr_alloc` says.
    pub(crate) fn insert(&mut self, thing: T) -> Result<u32> {
        let number = if let Some(number) = self.free.pop_first() {
            number
        } else if self.fresh > MOST {
            return Err(ENOSPC);
        } else {
            self.fresh += 1;
            self.fresh - 1
        };
        self.entries.insert(number, thing);
        Ok(number)
    }

    /// The thing of a number.
    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        self.entries.get(&number)
    }

    /// The thing of a number, to be changed.
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.entries.get_mut(&number)
    }

    /// Removes a thing.
    pub(crate) fn remove(&mut self, number: u32) -> Option<T> {
        let thing = self.entries.remove(&number);
        if thing.is_some() {
            self.free.insert(number);
        }
        if self.entries.is_empty() {
            self.free.clear();
            self.fresh = 1;
        }
        thing
    }

    /// The things in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.entries.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_number_is_taken() {
        let mut handles = Handles::<_>::default();
        for expected in 1..=5 {
            assert_eq!(handles.insert(expected), Ok(expected));
        }
        assert_eq!(handles.remove(2), Some(2));
        assert_eq!(handles.remove(4), Some(4));
        assert_eq!(handles.remove(4), None);
        assert_eq!(handles.insert(20), Ok(2));
        assert_eq!(handles.insert(40), Ok(4));
        assert_eq!(handles.insert(60), Ok(6));
        assert_eq!(handles.get(4), Some(&40));
        assert_eq!(handles.iter().count(), 6);
    }
    #[test]
    fn there_are_no_more_than_the_bound() {
        let mut handles = Handles::<_, 3>::default();
        for number in 1..=3 {
            assert_eq!(handles.insert(()), Ok(number));
        }
        for _ in 0..2 {
            assert_eq!(handles.insert(()), Err(ENOSPC));
        }
        assert_eq!(handles.remove(2), Some(()));
        assert_eq!(handles.insert(()), Ok(2));
        assert_eq!(handles.insert(()), Err(ENOSPC));
    }
}
