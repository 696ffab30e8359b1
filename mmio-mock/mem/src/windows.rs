//! Windows: where physical addresses of a guest lie in the block.
//!
//! A guest's memory has holes and lies at any address, and behind an IOMMU each page has an address of its own. A window is
//! a range of physical addresses that lie in one stretch of the block; they do not overlap.

use std::collections::BTreeMap;

/// A range of physical addresses that lie one after another in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Index of its first byte.
    pub index: usize,
    /// Bytes.
    pub bytes: u64,
    /// A device may write them.
    pub writable: bool,
}

/// Where a byte lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index of the byte.
    pub index: usize,
    /// Bytes from there to the end of its window.
    pub left: u64,
    /// A device may write it.
    pub writable: bool,
}

/// The windows, by their first address.
#[derive(Clone, Debug, Default)]
pub struct Windows(BTreeMap<u64, Window>);

impl Windows {
    /// Where a physical address lies; `None` outside all windows.
    #[inline]
    pub fn place(&self, at: u64) -> Option<Place> {
        let (&first, window) = self.0.range(..=at).next_back()?;
        let inside = at - first;
        let left = window.bytes.checked_sub(inside).filter(|left| *left > 0)?;
        Some(Place {
            index: window.index.checked_add(usize::try_from(inside).ok()?)?,
            left,
            writable: window.writable,
        })
    }

    /// Whether a range meets a window.
    pub fn meets(&self, first: u64, bytes: u64) -> bool {
        let Some(last) = bytes.checked_sub(1).and_then(|n| first.checked_add(n)) else {
            return bytes > 0;
        };
        let below = self.0.range(..=last).next_back();
        below.is_some_and(|(&at, window)| at + (window.bytes - 1) >= first)
    }

    /// Adds a window; `false`, and nothing changes, when it is empty, passes the end of addresses, or meets another one.
    pub fn add(&mut self, first: u64, window: Window) -> bool {
        if window.bytes == 0 || self.meets(first, window.bytes) {
            return false;
        }
        self.0.insert(first, window);
        true
    }

    /// Takes the window away that has exactly this range.
    pub fn remove(&mut self, first: u64, bytes: u64) -> Option<Window> {
        if self.0.get(&first)?.bytes != bytes {
            return None;
        }
        self.0.remove(&first)
    }

    /// Takes all windows away.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(index: usize, bytes: u64) -> Window {
        Window {
            index,
            bytes,
            writable: true,
        }
    }

    #[test]
    fn addresses_are_found_inside_and_nowhere_else() {
        let mut windows = Windows::default();
        assert!(windows.add(0x10_0000, window(0x4000, 0x2000)));
        assert!(windows.add(u64::MAX - 0xfff, window(0x9000, 0x1000)));
        assert_eq!(windows.place(0xf_ffff), None);
        let place = |index, left| {
            Some(Place {
                index,
                left,
                writable: true,
            })
        };
        assert_eq!(windows.place(0x10_0000), place(0x4000, 0x2000));
        assert_eq!(windows.place(0x10_1fff), place(0x5fff, 1));
        assert_eq!(windows.place(0x10_2000), None);
        assert_eq!(windows.place(u64::MAX), place(0x9fff, 1));
    }

    #[test]
    fn windows_do_not_overlap_and_go_as_they_came() {
        let mut windows = Windows::default();
        assert!(windows.add(0x2000, window(0, 0x2000)));
        for (first, bytes) in [
            (0x2000, 0x1000),
            (0x1000, 0x1001),
            (0x3fff, 1),
            (0, u64::MAX),
            (0x5000, 0),
        ] {
            assert!(!windows.add(first, window(0x8000, bytes)), "{first:#x}");
        }
        assert!(!windows.add(u64::MAX, window(0, 2)), "past the end");
        assert!(windows.add(0x1000, window(0x8000, 0x1000)));
        assert!(windows.add(0x4000, window(0x9000, 0x1000)));
        assert_eq!(windows.remove(0x2000, 0x1000), None);
        assert_eq!(windows.remove(0x2000, 0x2000), Some(window(0, 0x2000)));
        assert_eq!(windows.remove(0x2000, 0x2000), None);
        assert_eq!(windows.len(), 2);
        windows.clear();
        assert!(windows.is_empty());
    }
}
