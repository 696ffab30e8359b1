//! What happens when the GTT or the memory is full.
use kernel::error::code::{EINTR, ENOSPC};

use super::*;

/// Ten of these fit the 128 MiB of GTT together with ring and batch, eleven do not.
const BIG: u64 = 12 << 20;

#[test]
fn the_least_recently_used_objects_make_room() {
    let bench = Bench::new();
    let batch = bench.batch();
    let big: Vec<u32> = (0..10).map(|_| bench.create(BIG)).collect();
    for handle in &big {
        bench.exec(&[*handle, batch]).unwrap();
    }
    let bound = |handle: u32| bench.file.object(handle).unwrap().address().is_some();
    assert!(big.iter().all(|handle| bound(*handle)));
    // The first is used again, so that the second is the oldest.
    bench.exec(&[big[0], batch]).unwrap();
    let more = bench.create(BIG);
    bench.exec(&[more, batch]).unwrap();
    assert!(bound(big[0]) && !bound(big[1]) && bound(big[2]));
    // What was evicted comes back, elsewhere if need be.
    let list = bench.exec(&[big[1], batch]).unwrap();
    assert!(bound(big[1]) && list[0].offset != 0);
    assert!(bound(batch));
}

#[test]
fn objects_that_are_gone_are_forgotten() {
    let bench = Bench::new();
    let batch = bench.batch();
    for _ in 0..3000 {
        let handle = bench.create(4096);
        bench.exec(&[handle, batch]).unwrap();
        bench.file.close_object(handle).unwrap();
    }
    bench.device.timeline().retire();
    assert!(bench.device.user().lru.len() <= 1026);
    assert_eq!(bench.device.user().lru.evictable().len(), 1);
    // The batch, and the image of the context that the engine is in.
    assert_eq!(bench.device.user().lru.len(), 2);
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let bench = Bench::new();
    let batch = bench.batch();
    let mut handles: Vec<u32> = (0..11).map(|_| bench.create(BIG)).collect();
    handles.push(batch);
    assert_eq!(bench.exec(&handles).err(), Some(ENOSPC));
    assert!(bench.exec(&handles[1..]).is_ok());
    let mut list = objects(&[batch]);
    (list[0].flags, list[0].pad_to_size) = (1 << 5, 128 << 20);
    assert_eq!(bench.exec_with(&mut list, |_| ()).err(), Some(ENOSPC));
}

#[test]
fn fragments_are_put_together() {
    let bench = Bench::new();
    let batch = bench.batch();
    // Fixed places that leave holes of less than 64 MiB.
    let small: Vec<u32> = (0..2).map(|_| bench.create(4096)).collect();
    for (handle, at) in small.iter().zip([40u64 << 20, 80 << 20]) {
        let mut list = objects(&[*handle, batch]);
        (list[0].flags, list[0].offset) = (1 << 4, at);
        bench.exec_with(&mut list, |_| ()).unwrap();
    }
    let mut list = objects(&[batch, small[0], small[1], batch]);
    list.remove(0);
    let big = bench.create(4096);
    list.insert(0, objects(&[big])[0]);
    (list[0].flags, list[0].pad_to_size) = (1 << 5, 100 << 20);
    bench.exec_with(&mut list, |_| ()).unwrap();
    assert_ne!(list[1].offset, 0, "all are somewhere");
}

#[test]
fn a_fixed_place_evicts_whoever_is_there() {
    let bench = Bench::new();
    let (first, second, batch) = (bench.create(8192), bench.create(4096), bench.batch());
    let at = |handle, offset: u64| {
        let mut list = objects(&[handle, batch]);
        (list[0].flags, list[0].offset) = (1 << 4, offset);
        bench.exec_with(&mut list, |_| ())
    };
    at(first, 0x100_0000).unwrap();
    at(second, 0x100_1000).unwrap();
    assert_eq!(bench.file.object(first).unwrap().address(), None);
    // The ring's own pages never give way.
    let top = 32768 * 4096 - 0x2000;
    assert_eq!(at(first, top).err(), Some(kernel::error::code::EINVAL));
    assert_eq!(at(second, top).err(), Some(ENOSPC));
}

#[test]
fn busy_objects_are_waited_for() {
    let bench = Bench::stuck();
    let batch = bench.batch();
    let big: Vec<u32> = (0..10).map(|_| bench.create(BIG)).collect();
    for handle in &big {
        bench.exec(&[*handle, batch]).unwrap();
    }
    let more = bench.create(BIG);
    bench.process.signal.store(true, Ordering::Relaxed);
    assert_eq!(bench.exec(&[more, batch]).err(), Some(EINTR));
    bench.process.signal.store(false, Ordering::Relaxed);
    let hws = u64::from(bench.fake.peek(0x2080));
    kernel::dma::DmaAllocator::write(&*bench.fake, hws + 0x100, &10u32.to_le_bytes()).unwrap();
    assert!(bench.exec(&[more, batch]).is_ok());
}
