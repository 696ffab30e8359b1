//! The range allocator against a bitmap of pages.
//!
//! The reference looks at single pages. Not covered: page table entries.
#![allow(clippy::unwrap_used, reason = "tests")]
extern crate std;
use super::*;
use proptest::prelude::*;
use std::string::ToString;
use std::vec::Vec;

#[test]
fn an_overlap_names_both() {
    let mut ranges = RangeAllocator::new(0, 0x10_0000);
    ranges.insert_at("ring", 0x4000, 0x2000).unwrap();
    let error = ranges.insert_at("object 3", 0x3000, 0x1001).unwrap_err();
    assert_eq!(
        error.to_string(),
        "object 3 at 0x3000..0x4001 overlaps ring at 0x4000..0x6000"
    );
    assert_eq!(Error::from(error), ENOSPC);
    assert!(ranges.insert_at("object 3", 0x3000, 0x1000).is_ok());
    let outside = ranges.insert_at("big", 0xf_f000, 0x1001).unwrap_err();
    assert_eq!(Error::from(outside), EINVAL);
    assert!(ranges.insert_at("max", u64::MAX, u64::MAX).is_err());
    assert!(ranges.insert_at("none", 0, 0).is_err());
}

proptest! {
    #[test]
    fn searches_agree_with_a_bitmap(
        steps in prop::collection::vec((0u8..4, 0u64..40, 1u64..9, 0u32..4), 1..80),
    ) {
        const PAGES: u64 = 48;
        let mut ranges = RangeAllocator::new(1, PAGES);
        let mut used = [false; PAGES as usize];
        let mut starts: Vec<(u64, u64)> = Vec::new();
        for (kind, at, size, align) in steps {
            let align = 1u64 << align;
            let free = |start: u64| {
                start + size <= PAGES && used[start as usize..(start + size) as usize].iter().all(|u| !u)
            };
            let fits = |start: &u64| *start >= 1 && start.is_multiple_of(align) && free(*start);
            let (expected, got) = match kind {
                0 => (free(at).then_some(at), ranges.insert_at("x", at, size)),
                1 => ((0..PAGES).find(fits), ranges.insert("x", size, align, Search::Low)),
                2 => ((0..PAGES).rev().find(fits), ranges.insert("x", size, align, Search::High)),
                _ => {
                    if !starts.is_empty() {
                        let (start, len) = starts.swap_remove(at as usize % starts.len());
                        prop_assert_eq!(ranges.remove(start), Some(start + len));
                        used[start as usize..(start + len) as usize].fill(false);
                    }
                    continue;
                }
            };
            prop_assert_eq!(got.ok(), expected);
            if let Some(start) = expected {
                used[start as usize..(start + size) as usize].fill(true);
                starts.push((start, size));
            }
        }
        prop_assert_eq!(ranges.len(), starts.len());
    }
}

/// Nodes of the tree that are looked at for `count` ranges of three pages in gaps of two, which none fits.
fn searched(count: u64, search: Search) -> u64 {
    let mut ranges = RangeAllocator::new(0, 5 * count + 100 * count);
    for number in 0..count {
        ranges.insert_at("x", 5 * number + 2, 3).unwrap();
    }
    let top = 105 * count;
    let mut insert = |number: u64| {
        let size = 3 + number % 5;
        if search == Search::High {
            // The gaps lie below what is looked through.
            ranges.insert_at("y", top - 8 * (number + 1), 1).unwrap();
        }
        ranges.insert("x", size, 1, search).unwrap();
    };
    crate::core::work::of(|| (0..count).for_each(&mut insert)).0
}

#[test]
fn searches_do_not_look_at_every_range() {
    for search in [Search::Low, Search::High] {
        let (once, twice) = (searched(2000, search), searched(4000, search));
        assert!(twice <= once * 5 / 2, "{search:?}: {once}, then {twice}");
    }
}

#[test]
fn a_copy_of_the_gaps_is_its_own() {
    let mut ranges = RangeAllocator::new(0, 100);
    ranges.insert_at("x", 10, 80).unwrap();
    let mut copy = ranges.gaps().clone();
    copy.give(10, 90);
    assert_eq!(copy.lowest(100, 1, 0), Some(0));
    assert_eq!(ranges.lowest(11, 1, 0), None);
    assert!(copy.take(40, 50) && !copy.take(45, 46));
    assert_eq!((copy.highest(40, 1, 0), ranges.taken()), (Some(60), 80));
    assert_eq!(ranges.starts_in(89, 95).collect::<Vec<_>>(), [10]);
    assert_eq!(ranges.starts_in(90, 95).count(), 0);
}
