//! Reservations: exactness, alignment, wrap fill, no trace of a dropped one.
//!
//! Expected memory contents are written out by hand. Not covered: the tail register.
#![allow(clippy::unwrap_used, reason = "tests")]
extern crate std;
use super::*;
use crate::r#gen::gen40::Commands;
use kernel::fake::Fake;
use kernel::platform::Platform;
use std::sync::Arc;

fn ring() -> RingBuffer {
    let platform: Arc<dyn Platform> = Fake::new(0x8086, 0x2a02);
    RingBuffer::new(CoherentAllocation::alloc_coherent(&platform, 1).unwrap()).unwrap()
}

#[test]
fn an_odd_count_is_padded_to_a_qword() {
    let mut ring = ring();
    ring.memory().write(0, &[0xff; 16]).unwrap();
    let mut room = ring.begin(3).unwrap();
    room.store_data_index(0x100, 0x1234);
    assert_eq!(room.remaining(), 0);
    let tail = room.commit().unwrap();
    assert_eq!(tail.offset(), 16);
    let words: Vec<u32> = (0..4)
        .map(|at| ring.memory().read32(at * 4).unwrap())
        .collect();
    assert_eq!(words, [0x1080_0001, 0x100, 0x1234, 0]);
}

#[test]
fn a_dropped_or_inexact_reservation_leaves_the_ring_alone() {
    let mut ring = ring();
    let mut room = ring.begin(2).unwrap();
    room.user_interrupt();
    drop(room);
    assert_eq!(ring.ring().emit(), 0);
    assert_eq!(ring.memory().read32(0), Ok(0));

    let mut room = ring.begin(2).unwrap();
    room.user_interrupt();
    assert_eq!(room.commit(), Err(EINVAL));

    let mut room = ring.begin(2).unwrap();
    room.emit(&[1, 2, 3, 4]);
    assert_eq!(room.commit(), Err(EINVAL));
    assert_eq!(ring.ring().emit(), 0);
    assert_eq!(ring.memory().read32(0), Ok(0));
}

#[test]
fn wrapping_fills_the_end_with_noops() {
    let mut ring = ring();
    ring.memory().write(0, &[0xff; 4096]).unwrap();
    let room = {
        let mut room = ring.begin(1000).unwrap();
        room.emit(&[0x0200_0000; 1000]);
        room
    };
    assert_eq!(room.commit().unwrap().offset(), 4000);
    assert!(matches!(ring.begin(100), Err(ENOSPC)));
    ring.set_head(4000).unwrap();
    let mut room = ring.begin(26).unwrap();
    room.emit(&[0x0100_0000; 26]);
    assert_eq!(room.commit().unwrap().offset(), 104);
    for at in (4000..4096).step_by(4) {
        assert_eq!(ring.memory().read32(at), Ok(0));
    }
    assert_eq!(ring.memory().read32(100), Ok(0x0100_0000));
    assert_eq!(ring.memory().read32(104), Ok(0x0200_0000));
}

#[test]
fn what_cannot_fit_an_empty_ring_is_an_error() {
    let mut ring = ring();
    assert!(matches!(ring.begin(1024), Err(EINVAL)));
    assert!(matches!(ring.begin(usize::MAX), Err(EINVAL)));
}
