//! What user space is told and may do on Sandy Bridge.
//!
//! i915 of Linux 6.1: `i915_pci.c` (`GEN6_FEATURES`), `i915_getparam.c`, `i915_gem_execbuffer.c`, `i915_gem_domain.c`.
use kernel::error::code::{EINVAL, ENODEV, EPERM};

use super::*;
use crate::intel::tests::gen60::{device, finish, global_entry, process_entry};
use crate::intel::uapi::exec::{Object, Relocation};
use crate::intel::uapi::gem;
use crate::intel::uapi::query::{Getparam, Query, QueryItem, RegRead};

fn bench() -> Bench {
    let bench = Bench::on(device());
    bench.fake.on_write(Box::new(finish));
    bench
}

#[test]
fn parameters_are_those_of_the_generation() {
    let bench = bench();
    let get = |param| {
        let value = bench.process.memory.alloc(4);
        let mut arg = Getparam {
            param,
            value,
            hole: 0,
        };
        let outcome = bench.call(uapi::query::GETPARAM, &mut arg);
        outcome.map(|_| bench.process.memory.get::<i32>(value).unwrap())
    };
    assert_eq!(get(4), Ok(0x0126));
    assert_eq!(get(6), Ok(16), "fence registers");
    assert_eq!(get(51), Ok(12_500_000));
    // BLT, LLC, aliasing PPGTT.
    for yes in [11, 17, 18] {
        assert_eq!(get(yes), Ok(1), "{yes}");
    }
    // The decoder is not modelled (10); semaphores are the scheduler's (20), as Linux has had it since 5.9; secure batches end
    // with the generation before (23).
    for no in [7, 10, 20, 22, 23, 27, 28, 31, 36, 41] {
        assert_eq!(get(no), Ok(0), "{no}");
    }
    for nothing in [33, 34, 46, 47] {
        assert_eq!(get(nothing), Err(ENODEV), "{nothing}");
    }
}

/// A list of engines: their number, three unused dwords, 56 bytes for each that begin with class and instance.
#[test]
fn the_engines_are_listed_by_class() {
    let bench = bench();
    let data = bench.process.memory.place(&[0u8; 16 + 3 * 56]);
    let item = QueryItem {
        query_id: 2,
        length: 16 + 3 * 56,
        data_ptr: data,
        ..QueryItem::default()
    };
    let at = bench.process.memory.place(&item);
    let mut arg = Query {
        num_items: 1,
        flags: 0,
        items_ptr: at,
    };
    assert_eq!(bench.call(uapi::query::QUERY, &mut arg), Ok(0));
    assert_eq!(bench.process.memory.get::<u32>(data), Ok(3));
    let class = |index: u64| bench.process.memory.get::<u32>(data + 16 + index * 56);
    assert_eq!([0, 1, 2].map(class), [Ok(0), Ok(1), Ok(2)]);
}

/// Which ring's tail has moved.
fn moved(bench: &Bench) -> [bool; 3] {
    [0x2030, 0x1_2030, 0x2_2030].map(|tail| {
        let moved = bench.fake.peek(tail) != 0;
        bench.fake.set(tail, 0);
        moved
    })
}

#[test]
fn flags_choose_one_of_three_rings() {
    for (flags, expected) in [
        (0, Some([true, false, false])),
        (1, Some([true, false, false])),
        (2, Some([false, true, false])),
        (2 | 1 << 13, Some([false, true, false])),
        (3, Some([false, false, true])),
        (3 | 1 << 13, None),
        (4, None),
        (63, None),
        (1 | 1 << 8, None),
    ] {
        let bench = bench();
        let mut list = objects(&[bench.batch()]);
        let outcome = bench.exec_with(&mut list, |arg| arg.flags = flags);
        let refused = expected.is_none().then_some(EINVAL);
        assert_eq!(outcome.err(), refused, "{flags:#x}");
        assert_eq!(moved(&bench), expected.unwrap_or_default(), "{flags:#x}");
    }
    let bench = bench();
    let mut list = objects(&[bench.batch()]);
    let secure = bench.exec_with(&mut list, |arg| arg.flags |= 1 << 9);
    assert_eq!(secure.err(), Some(EPERM));
}

/// `eb_relocate_entry`: an erratum of the generation; `eb_pin_flags`: `EXEC_OBJECT_NEEDS_GTT`.
#[test]
fn objects_are_global_only_where_user_space_says_so() {
    let bench = bench();
    let (plain, global, stored, batch) = (
        bench.create(4096),
        bench.create(4096),
        bench.create(4096),
        bench.batch(),
    );
    let relocation = Relocation {
        target_handle: stored,
        offset: 8,
        presumed_offset: u64::MAX,
        read_domains: 0x10,
        write_domain: 0x10,
        ..Relocation::default()
    };
    let mut list = objects(&[plain, global, stored, batch]);
    list[1].flags = 1 << 1;
    list[3].relocs_ptr = bench.process.memory.place(&[relocation]);
    list[3].relocation_count = 1;
    bench.exec_with(&mut list, |_| ()).unwrap();
    let at = |object: &Object| object.offset as u32;
    let process = |object| process_entry(&bench.fake, 0x2000, at(object));
    let seen = list.iter().map(|object| {
        assert_eq!(process(object) & 7, 5, "valid, LLC");
        global_entry(&bench.fake, at(object)) == process(object)
    });
    assert_eq!(seen.collect::<Vec<_>>(), [false, true, true, false]);
}

/// `i915_gem_get_caching_ioctl`, `i915_gem_object_set_cache_level`.
#[test]
fn caching_is_in_the_entries() {
    let bench = bench();
    let (data, batch) = (bench.create(4096), bench.batch());
    let caching = |request, caching| {
        let mut arg = gem::Caching {
            handle: data,
            caching,
        };
        bench.call(request, &mut arg).map(|_| arg.caching)
    };
    let bits = || {
        let list = bench.exec(&[data, batch]).unwrap();
        process_entry(&bench.fake, 0x2000, list[0].offset as u32) & 7
    };
    assert_eq!(caching(gem::GET_CACHING, 9), Ok(1));
    assert_eq!(bits(), 5);
    for (wanted, answer, entry) in [(0, 0, 3), (1, 1, 5), (2, 0, 3)] {
        assert!(caching(gem::SET_CACHING, wanted).is_ok());
        assert_eq!(caching(gem::GET_CACHING, 9), Ok(answer));
        assert_eq!(bits(), entry);
    }
    assert_eq!(caching(gem::SET_CACHING, 3), Err(EINVAL));
}

/// Mesa's crocus reads TIMESTAMP with `I915_REG_READ_8B_WA`.
#[test]
fn the_timestamp_may_be_read() {
    let bench = bench();
    bench.fake.set(0x2358, 0x1234);
    bench.fake.set(0x235c, 0x5);
    let mut arg = RegRead {
        offset: 0x2359,
        ..RegRead::default()
    };
    assert_eq!(bench.call(uapi::query::REG_READ, &mut arg), Ok(0));
    assert_eq!(arg.val, 0x5_0000_1234);
}
