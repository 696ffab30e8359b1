//! Questions: parameters, queries, registers.
use kernel::error::code::{EFAULT, EINVAL, ENODEV};

use super::*;
use crate::intel::uapi::query::{Getparam, Query, QueryItem, RegRead};

#[test]
fn parameters() {
    let bench = Bench::new();
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
    assert_eq!(get(4), Ok(0x2a02));
    assert_eq!(get(6), Ok(16), "fence registers");
    assert_eq!(get(40), Ok(4), "MMAP_GTT_VERSION");
    assert_eq!(get(51), Ok(12_500_000));
    assert_eq!(get(54), Ok(5));
    for yes in [
        5, 8, 9, 12, 19, 25, 26, 30, 35, 37, 43, 44, 45, 48, 49, 50, 52, 53, 55, 56,
    ] {
        assert_eq!(get(yes), Ok(1), "{yes}");
    }
    for no in [7, 10, 11, 17, 18, 20, 22, 23, 27, 28, 31, 36, 38, 39, 41] {
        assert_eq!(get(no), Ok(0), "{no}");
    }
    for nothing in [1, 2, 3, 14, 33, 34, 42, 46, 47] {
        assert_eq!(get(nothing), Err(ENODEV), "{nothing}");
    }
    assert_eq!(get(57), Err(EINVAL));
    assert_eq!(get(0), Err(EINVAL));
    let mut arg = Getparam {
        param: 4,
        value: 0x10,
        hole: 0,
    };
    assert_eq!(bench.call(uapi::query::GETPARAM, &mut arg), Err(EFAULT));
}

/// Answer of one item: the length that comes back.
fn ask(bench: &Bench, item: QueryItem) -> i32 {
    let at = bench.process.memory.place(&item);
    let mut arg = Query {
        num_items: 1,
        flags: 0,
        items_ptr: at,
    };
    assert_eq!(bench.call(uapi::query::QUERY, &mut arg), Ok(0));
    bench.process.memory.get::<QueryItem>(at).unwrap().length
}

#[test]
fn queries_answer_by_length() {
    let bench = Bench::new();
    let item = |query_id, flags, length, data_ptr| QueryItem {
        query_id,
        length,
        flags,
        data_ptr,
    };
    let (enodev, einval, efault) = (-19, -22, -14);
    for none in [1, 5, 6] {
        assert_eq!(ask(&bench, item(none, 0, 0, 0)), enodev, "{none}");
    }
    assert_eq!(ask(&bench, item(1, 1, 0, 0)), einval);
    assert_eq!(ask(&bench, item(3, 1, 0, 0)), enodev);
    assert_eq!(ask(&bench, item(3, 0, 0, 0)), einval);
    assert_eq!(ask(&bench, item(7, 0, 0, 0)), einval);
    assert_eq!(ask(&bench, item(2, 0, 0, 0)), 16 + 56);
    assert_eq!(ask(&bench, item(4, 0, 0, 0)), 104);
    assert_eq!(ask(&bench, item(4, 1, 0, 0)), einval);
    assert_eq!(ask(&bench, item(4, 0, 103, 0)), einval);
    assert_eq!(ask(&bench, item(4, 0, 104, 0x10)), efault);
    let data = bench.process.memory.alloc(104);
    assert_eq!(ask(&bench, item(4, 0, 104, data)), 104);
    let words: [u64; 13] = bench.process.memory.get(data).unwrap();
    assert_eq!((words[0], words[2]), (1, 0), "one region, of system memory");
    assert!(words[3] > 0);
    assert_eq!(
        ask(&bench, item(4, 0, 104, data)),
        einval,
        "not zero any more"
    );
}

#[test]
fn query_itself_fails_for_bad_lists() {
    let bench = Bench::new();
    let query = |num_items, flags, items_ptr| {
        let mut arg = Query {
            num_items,
            flags,
            items_ptr,
        };
        bench.call(uapi::query::QUERY, &mut arg)
    };
    assert_eq!(query(0, 0, 0x10), Ok(0));
    assert_eq!(query(1, 0, 0x10), Err(EFAULT));
    assert_eq!(query(0, 1, 0), Err(EINVAL));
    let zero = bench.process.memory.place(&QueryItem::default());
    assert_eq!(query(1, 0, zero), Err(EINVAL));
}

#[test]
fn one_register_can_be_read() {
    let bench = Bench::new();
    bench.fake.set(0x2358, 0x1234);
    bench.fake.set(0x235c, 0x5);
    let read = |offset| {
        let mut arg = RegRead { offset, val: 0 };
        bench.call(uapi::query::REG_READ, &mut arg).map(|_| arg.val)
    };
    assert_eq!(read(0x2358), Ok(0x5_0000_1234));
    assert_eq!(read(0x2359), Ok(0x5_0000_1234));
    assert_eq!(read(0x235a), Err(EINVAL));
    assert_eq!(read(0x2030), Err(EINVAL));
}
