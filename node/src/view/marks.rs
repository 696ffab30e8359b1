//! Which objects may have a view: a look that takes no lock.
//!
//! Most objects of a submission have no view. Some of these share a mark with one that has; the map of views is asked then.

use std::sync::atomic::{AtomicU32, Ordering};

/// Marks: 16 KiB of them, so that some hundred views leave nearly all objects without.
const BITS: u32 = 12;

/// For each mark, how many objects with a view have it.
pub struct Marks(Box<[AtomicU32]>);

impl Marks {
    pub fn new() -> Self {
        Marks((0..1 << BITS).map(|_| AtomicU32::new(0)).collect())
    }

    /// The mark of an object's number: numbers are addresses, whose low bits are alike (Knuth, volume 3, 6.4).
    fn of(&self, key: usize) -> Option<&AtomicU32> {
        let spread = (key as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0.get((spread >> (u64::BITS - BITS)) as usize)
    }

    /// An object has a view from now on.
    pub fn add(&self, key: usize) {
        if let Some(mark) = self.of(key) {
            mark.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// The view of an object has ended. Called once for each [`add`](Self::add).
    pub fn remove(&self, key: usize) {
        if let Some(mark) = self.of(key) {
            mark.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Whether an object may have a view. False is certain.
    pub fn has(&self, key: usize) -> bool {
        self.of(key)
            .is_none_or(|mark| mark.load(Ordering::SeqCst) > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_stays_until_the_last_object_that_has_it_has_gone() {
        let marks = Marks::new();
        let keys: Vec<usize> = (0..3 << BITS).map(|n| 0x7f00_0000_0000 + 64 * n).collect();
        assert!(keys.iter().all(|key| !marks.has(*key)));
        for key in &keys {
            marks.add(*key);
        }
        let (kept, gone) = keys.split_at(1);
        for key in gone {
            marks.remove(*key);
        }
        assert!(kept.iter().all(|key| marks.has(*key)));
        // Every object but those that share the one mark.
        let count = gone.iter().filter(|key| marks.has(**key)).count();
        assert!(count < 20, "{count}");
        for key in kept {
            marks.remove(*key);
        }
        assert!(keys.iter().all(|key| !marks.has(*key)));
    }
}
