//! Arguments of other sizes and directions than those of the table.
//!
//! drm_ioctl of Linux 6.1: the number alone says which call it is; what comes in is the caller's size, filled up with
//! zeros; what goes out is the caller's size, in the directions that caller and table have in common.
use kernel::error::code::{EFAULT, EINVAL};

use super::*;
use crate::core::ioctl::table::find;
use crate::core::uapi::drm::GetCap;
use crate::intel::uapi::gem::{Create, MMAP, Mmap};

const DIRECTIONS: u32 = 3 << 30;
const SIZE: u32 = 0x3fff << 16;

fn resized(request: Request, size: u32) -> Request {
    Request(request.0 & !SIZE | size << 16)
}

#[test]
fn no_two_rows_share_a_number() {
    let mut numbers: Vec<u32> = TABLE.served().map(|row| row.request.number()).collect();
    numbers.extend(TABLE.refused().map(|row| row.request.number()));
    let count = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    // drm_ioctls and i915_ioctls of Linux 6.1 have so many rows.
    assert_eq!((numbers.len(), count), (165, 165));
}

/// GEM_MMAP had no flags once: libdrm_intel still sends 32 bytes.
#[test]
fn a_mapping_without_flags_is_one_with_none() {
    let bench = Bench::new();
    let handle = bench.create(8192);
    let mut whole = Mmap {
        handle,
        size: 8192,
        ..Default::default()
    };
    assert_eq!(bench.call(MMAP, &mut whole), Ok(0));
    let short: [u64; 4] = [u64::from(handle), 0, 8192, 0];
    // Something behind the structure that would be an unknown flag.
    let at = bench
        .process
        .memory
        .place(&[short[0], short[1], short[2], short[3], u64::MAX]);
    let outcome = ioctl(&bench.file, resized(MMAP, 32).0, at, &bench.process);
    assert_eq!(outcome, Ok(0));
    let told: [u64; 5] = bench.process.memory.get(at).unwrap();
    assert_eq!(told, [short[0], 0, 8192, whole.addr_ptr, u64::MAX]);
    // With them, they count.
    assert_eq!(ioctl(&bench.file, MMAP.0, at, &bench.process), Err(EINVAL));
    // Without a size there is nothing to be mapped.
    assert_eq!(
        ioctl(&bench.file, resized(MMAP, 16).0, at, &bench.process),
        Err(EINVAL)
    );
}

/// Every call, with every size from nothing to twice its own, in all directions, at the end of what can be accessed.
#[test]
fn every_call_takes_every_size() {
    const END: u64 = 4096;
    let bench = Bench::primary();
    bench.process.signal.store(true, Ordering::Relaxed);
    let area = bench.process.memory.alloc(512);
    let all: Vec<Request> = (TABLE.served().map(|row| row.request))
        .chain(TABLE.refused().map(|row| row.request))
        .collect();
    for row in all {
        for size in 0..=row.size() as u32 * 2 {
            for direction in 0..4 {
                let request = resized(Request(row.0 & !DIRECTIONS | direction << 30), size);
                // Zeros are harmless to all of them.
                let len = size as usize;
                let mut before = [0x5a_u8; 512];
                before[..len].fill(0);
                UserMemory::write(&bench.process.memory, area, &before).unwrap();
                let outcome = ioctl(&bench.file, request.0, area, &bench.process);
                let after: [u8; 512] = bench.process.memory.get(area).unwrap();
                assert_eq!(
                    after[len..],
                    before[len..],
                    "{:#010x} writes behind",
                    request.0
                );
                if !request.both(row, Request::OUT) {
                    assert_eq!(after, before, "{:#010x} writes at all", request.0);
                }
                assert_ne!(outcome, Err(EFAULT), "{:#010x}", request.0);
                // What is neither read nor written may lie anywhere.
                let nowhere = ioctl(&bench.file, request.0, END - 1, &bench.process);
                let copies = size > 0 && row.0 & request.0 & DIRECTIONS != 0;
                if copies {
                    assert_eq!(nowhere, Err(EFAULT), "{:#010x}", request.0);
                }
            }
        }
    }
}

#[test]
fn directions_are_those_that_both_have() {
    let bench = Bench::new();
    let at = bench.process.memory.place(&Create {
        size: 4096,
        ..Default::default()
    });
    let create = uapi::gem::CREATE.0;
    // Nothing comes in: an object of no size.
    let outcome = ioctl(&bench.file, create & !Request::IN, at, &bench.process);
    assert_eq!(outcome, Err(EINVAL));
    UserMemory::write(&bench.process.memory, at, &4096_u64.to_le_bytes()).unwrap();
    // Nothing goes out: an object that nobody knows.
    let outcome = ioctl(&bench.file, create & !Request::OUT, at, &bench.process);
    assert_eq!(outcome, Ok(0));
    let told: Create = bench.process.memory.get(at).unwrap();
    assert_eq!((told.handle, bench.create(4096)), (0, 2));
    assert!(find(&TABLE, uapi::gem::CREATE.number()).is_some());
    // A capability of which only the half is asked for.
    let mut arg = GetCap {
        capability: 5,
        value: 7,
    };
    let short = resized(uapi::drm::GET_CAP, 8);
    assert_eq!(bench.call(short, &mut arg), Ok(0));
    assert_eq!(
        arg,
        GetCap {
            capability: 5,
            value: 7
        }
    );
}
