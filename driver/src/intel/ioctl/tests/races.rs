//! Calls of two threads at once: neither sees half of what the other does.
//!
//! The moments in which they could meet are short, so these find a fault by chance; they hold for every one that they meet.
use core::sync::atomic::{AtomicBool, AtomicU32};

use kernel::error::code::{EACCES, ENOENT};

use super::*;
use crate::core::mmap::Kind;
use crate::core::uapi::drm;
use crate::intel::uapi::gem;

const ROUNDS: u32 = 3000;

/// Runs `beside` again and again as long as `main` runs.
fn at_once(main: impl FnOnce(), beside: impl Fn() + Sync) {
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Acquire) {
                beside();
            }
        });
        main();
        is_done.store(true, Ordering::Release);
    });
}

#[test]
fn contents_that_are_needed_again_are_not_purged() {
    let bench = Bench::new();
    let purges = AtomicU32::new(0);
    let mut kept = 0;
    at_once(
        || {
            let mut handle = bench.create(4096);
            let advise = |handle, madv| {
                let mut arg = gem::Madvise {
                    handle,
                    madv,
                    retained: 0,
                };
                bench.call(gem::MADVISE, &mut arg).unwrap();
                arg.retained == 1
            };
            while kept < ROUNDS || purges.load(Ordering::Acquire) < 100 {
                let object = bench.file.object(handle).unwrap();
                // Without pages they would go at once.
                assert_eq!(object.read32(0), Ok(0));
                assert!(advise(handle, 1));
                if advise(handle, 0) {
                    kept += 1;
                    assert_eq!(object.read32(0), Ok(0));
                    assert!(advise(handle, 0));
                } else {
                    bench.file.close_object(handle).unwrap();
                    handle = bench.create(4096);
                }
            }
        },
        || {
            let lru = &bench.device.user().lru;
            let purged = bench.device.purge(lru.purges());
            purges.fetch_add(u32::from(purged), Ordering::Release);
        },
    );
}

#[test]
fn pages_that_a_purge_gives_back_are_there_for_all_who_wait() {
    let bench = Bench::new();
    let others = [bench.other(), bench.other()];
    for _ in 0..100 {
        bench.fake.set_room(usize::MAX);
        let unneeded: Vec<u32> = (0..32).map(|_| bench.create(4096)).collect();
        for handle in &unneeded {
            // What has no pages yet goes at once.
            let object = bench.file.object(*handle).unwrap();
            assert_eq!(object.read32(0), Ok(0));
            let mut arg = gem::Madvise {
                handle: *handle,
                madv: 1,
                retained: 0,
            };
            bench.call(gem::MADVISE, &mut arg).unwrap();
        }
        bench.fake.set_room(bench.fake.pages());
        std::thread::scope(|scope| {
            for other in &others {
                scope.spawn(|| {
                    let made = other.create(4096);
                    other.file.close_object(made).unwrap();
                });
            }
        });
        for handle in unneeded {
            bench.file.close_object(handle).unwrap();
        }
    }
}

#[test]
fn an_offset_is_not_for_an_object_whose_handles_are_closed() {
    let bench = Bench::new();
    let handle = bench.create(4096);
    let object = bench.file.object(handle).unwrap();
    let table = bench.device.mappings();
    let assign = || {
        let number = bench.file.number();
        (bench.file).offset(&object, |table| table.assign(&object, Kind::Wb, number))
    };
    let at = assign().unwrap();
    let resolve = || table.resolve_for(bench.file.number(), at, 4096).map(|_| ());
    assert_eq!(resolve(), Ok(()));
    bench.file.close_object(handle).unwrap();
    assert_eq!(resolve(), Err(EACCES));
    assert_eq!(assign(), Err(ENOENT));
}

#[test]
fn names_go_with_the_last_handle() {
    let bench = Bench::primary();
    let other = bench.other();
    let (handle, named) = (AtomicU32::new(0), AtomicU32::new(0));
    at_once(
        || {
            let mut rounds = 0;
            while rounds < ROUNDS || named.load(Ordering::Acquire) < 100 {
                let made = bench.create(4096);
                handle.store(made, Ordering::Release);
                bench.file.close_object(made).unwrap();
                rounds += 1;
            }
        },
        || {
            let mut arg = drm::GemFlink {
                handle: handle.load(Ordering::Acquire),
                name: 0,
            };
            let done = other.call_of(&bench.file, drm::GEM_FLINK, &mut arg);
            named.fetch_add(u32::from(done.is_ok()), Ordering::Release);
        },
    );
    assert_eq!(bench.device.user().names.lock().iter().count(), 0);
}

#[test]
fn an_object_that_is_opened_by_its_name_keeps_it() {
    let bench = Bench::primary();
    let other = bench.other();
    let name = AtomicU32::new(0);
    let opened = AtomicU32::new(0);
    at_once(
        || {
            let mut rounds = 0;
            while rounds < ROUNDS || opened.load(Ordering::Acquire) < 100 {
                let mut arg = drm::GemFlink {
                    handle: bench.create(4096),
                    name: 0,
                };
                bench.call(drm::GEM_FLINK, &mut arg).unwrap();
                name.store(arg.name, Ordering::Release);
                bench.file.close_object(arg.handle).unwrap();
                rounds += 1;
            }
        },
        || {
            let open = |name| {
                let mut arg = drm::GemOpen {
                    name,
                    ..Default::default()
                };
                let done = other.call(drm::GEM_OPEN, &mut arg);
                done.map(|_| arg.handle)
            };
            let name = name.load(Ordering::Acquire);
            if let Ok(first) = open(name) {
                opened.fetch_add(1, Ordering::Release);
                let second = open(name).unwrap();
                // Neither of its offsets goes with another handle.
                let object = other.file.object(second).unwrap();
                other.file.close_object(first).unwrap();
                let number = other.file.number();
                let table = bench.device.mappings();
                let at = other
                    .file
                    .offset(&object, |table| table.assign(&object, Kind::Wb, number));
                table.resolve_for(number, at.unwrap(), 4096).unwrap();
                drop(object);
                other.file.close_object(second).unwrap();
            }
        },
    );
    assert_eq!(bench.device.user().names.lock().iter().count(), 0);
}

#[test]
fn an_object_that_two_threads_import_has_one_handle() {
    let bench = Bench::new();
    let other = bench.other();
    for _ in 0..300 {
        let handle = bench.create(4096);
        let object = bench.file.object(handle).unwrap();
        let import = || other.file.import(&object).unwrap();
        let handles = std::thread::scope(|scope| {
            let both = [scope.spawn(import), scope.spawn(import)];
            both.map(|thread| thread.join().unwrap())
        });
        assert_eq!(handles[0], handles[1]);
        other.file.close_object(handles[0]).unwrap();
        bench.file.close_object(handle).unwrap();
        assert_eq!(object.state(|state| state.handles), 0);
    }
}

#[test]
fn an_offset_stays_while_another_handle_of_its_object_is_closed() {
    let bench = Bench::primary();
    let other = bench.other();
    let (name, at) = (AtomicU32::new(0), AtomicU32::new(0));
    let mut arg = drm::GemFlink {
        handle: bench.create(4096),
        name: 0,
    };
    bench.call(drm::GEM_FLINK, &mut arg).unwrap();
    name.store(arg.name, Ordering::Release);
    let open = |bench: &Bench| {
        let mut arg = drm::GemOpen {
            name: name.load(Ordering::Acquire),
            ..Default::default()
        };
        bench.call_of(&other.file, drm::GEM_OPEN, &mut arg).unwrap();
        arg.handle
    };
    at_once(
        || {
            for _ in 0..ROUNDS {
                let handle = open(&bench);
                other.file.close_object(handle).unwrap();
                at.fetch_add(1, Ordering::Release);
            }
        },
        || {
            let handle = open(&other);
            let mut arg = gem::MmapOffset {
                handle,
                flags: 1,
                ..Default::default()
            };
            other.call(gem::MMAP_OFFSET, &mut arg).unwrap();
            let table = bench.device.mappings();
            let found = table.resolve_for(other.file.number(), arg.offset, 4096);
            other.file.close_object(handle).unwrap();
            found.unwrap();
        },
    );
}
