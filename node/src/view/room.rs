//! Which ranges of the memory of views are free.
//!
//! How many there are is the clients' choice: to take one and to give one back takes a few looks, however many there are.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::work;

/// Free ranges, no two of them side by side.
pub struct Room {
    /// Start, end.
    places: BTreeMap<usize, usize>,
    /// Length, start.
    lengths: BTreeSet<(usize, usize)>,
}

impl Room {
    /// So many bytes, all of them free.
    pub fn new(bytes: usize) -> Self {
        let mut room = Room {
            places: BTreeMap::new(),
            lengths: BTreeSet::new(),
        };
        room.insert(0, bytes);
        room
    }

    /// So many bytes of the smallest range that has them; of equal ones, of the first.
    pub fn take(&mut self, bytes: usize) -> Option<Range<usize>> {
        work::one();
        let &(length, start) = self.lengths.range((bytes, 0)..).next()?;
        self.remove(start);
        if length > bytes {
            self.insert(start + bytes, start + length);
        }
        Some(start..start + bytes)
    }

    /// Takes a range back.
    pub fn give(&mut self, range: &Range<usize>) {
        work::one();
        let (mut start, mut end) = (range.start, range.end);
        let before = self.places.range(..start).next_back();
        if let Some((&before, &stop)) = before
            && stop == start
        {
            self.remove(before);
            start = before;
        }
        if let Some(stop) = self.remove(end) {
            end = stop;
        }
        self.insert(start, end);
    }

    fn insert(&mut self, start: usize, end: usize) {
        self.places.insert(start, end);
        self.lengths.insert((end - start, start));
    }

    /// Takes out the range with this start; its end.
    fn remove(&mut self, start: usize) -> Option<usize> {
        let end = self.places.remove(&start)?;
        self.lengths.remove(&(end - start, start));
        Some(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_are_given_back_grow_together() {
        let mut room = Room::new(8);
        let all: Vec<_> = (0..4).filter_map(|_| room.take(2)).collect();
        assert_eq!(all, [0..2, 2..4, 4..6, 6..8]);
        assert_eq!(room.take(1), None);
        for part in [2, 0, 3] {
            room.give(&all[part]);
        }
        // The smallest that has the bytes.
        assert_eq!(room.take(2), Some(0..2));
        assert_eq!(room.take(3), Some(4..7));
        assert_eq!(room.take(2), None);
        room.give(&(0..2));
        room.give(&(4..7));
        room.give(&(2..4));
        assert_eq!(room.take(8), Some(0..8));
    }
}
