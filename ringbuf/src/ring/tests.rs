//! Properties of the ring arithmetic, checked against a plain queue of bytes.
//!
//! The reference never computes modulo anything: it counts bytes written and read since the start.
//! Not covered: the tail register.
#![allow(clippy::unwrap_used, reason = "tests")]
extern crate std;
use super::*;
use proptest::prelude::*;
use std::vec::Vec;

#[test]
fn sizes_are_powers_of_two_of_whole_pages() {
    for bad in [0, 8, 2048, 4097, 3 * 4096, 1024 * 4096] {
        assert!(Ring::new(bad).is_err(), "{bad}");
    }
    for good in [4096, 8192, 512 * 4096] {
        assert_eq!(Ring::new(good).unwrap().space(), good - 64);
    }
}

#[test]
fn placements_wrap_behind_a_fill() {
    let mut ring = Ring::new(4096).unwrap();
    let first = ring.place(4000).unwrap();
    assert_eq!(
        first,
        Placement {
            fill: 0,
            start: 0,
            end: 4000
        }
    );
    ring.advance(&first);
    ring.set_head(4000).unwrap();
    let second = ring.place(104).unwrap();
    assert_eq!(
        second,
        Placement {
            fill: 96,
            start: 0,
            end: 104
        }
    );
    let exact = ring.place(96).unwrap();
    assert_eq!(
        exact,
        Placement {
            fill: 0,
            start: 4000,
            end: 0
        }
    );
}

#[test]
fn odd_and_oversized_requests_are_refused() {
    let ring = Ring::new(4096).unwrap();
    assert!(ring.place(4).is_err());
    assert!(ring.place(4096).is_err());
    assert!(ring.place(4040).is_err());
    assert!(ring.place(4032).is_ok());
}

#[test]
fn a_head_outside_the_written_part_is_refused() {
    let mut ring = Ring::new(4096).unwrap();
    let place = ring.place(64).unwrap();
    ring.advance(&place);
    assert!(ring.set_head(72).is_err());
    assert!(ring.set_head(4096).is_err());
    assert!(ring.set_head(64).is_ok());
    assert!(ring.set_head(56).is_err());
    assert!(ring.is_empty());
}

proptest! {
    #[test]
    fn ring_agrees_with_a_queue(
        pages in 0u32..4,
        steps in prop::collection::vec((1u32..600, 0u32..100), 1..200),
    ) {
        let size = 4096 << pages;
        let mut ring = Ring::new(size).unwrap();
        let (mut written, mut read) = (0u64, 0u64);
        let mut memory = std::vec![0u64; size as usize / 8];
        let mut expected: Vec<u64> = Vec::new();
        for (qwords, percent) in steps {
            let bytes = qwords * 8;
            if let Ok(place) = ring.place(bytes)
                && Ring::needed(&place, bytes) <= ring.space()
            {
                prop_assert_eq!(place.start % 8, 0);
                prop_assert!(place.start + bytes <= size);
                for at in 0..place.fill / 8 {
                    memory[(ring.emit() / 8 + at) as usize] = 0;
                    expected.push(0);
                }
                for at in 0..bytes / 8 {
                    let token = written + u64::from(at) + 1;
                    memory[(place.start / 8 + at) as usize] = token;
                    expected.push(token);
                }
                written += u64::from(place.fill + bytes);
                ring.advance(&place);
                prop_assert!(ring.is_valid_tail(ring.emit()));
            }
            // The hardware reads part of what is there, in order, and finds exactly what was written.
            let take = (written - read) / 8 * u64::from(percent) / 100;
            for at in 0..take {
                let index = (read / 8 + at) % u64::from(size / 8);
                prop_assert_eq!(memory[index as usize], expected[(read / 8 + at) as usize]);
            }
            read += take * 8;
            prop_assert!(ring.set_head((read % u64::from(size)) as u32).is_ok());
            // At least a cache line stays free, and the space is what the counters say.
            prop_assert!(written - read <= u64::from(size - CACHELINE));
            prop_assert_eq!(u64::from(ring.space()), u64::from(size - CACHELINE) - (written - read));
            prop_assert_eq!(ring.is_empty(), written == read);
        }
    }
}
