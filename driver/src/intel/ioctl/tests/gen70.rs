//! What user space is told and may do on ValleyView.
//!
//! i915 of Linux 6.1: `i915_pci.c` (`vlv_info`), `i915_getparam.c`, `i915_gem_execbuffer.c`, `i915_gem_domain.c`.
use kernel::error::code::{EINVAL, ENODEV, ENOMEM, EPERM};

use super::*;
use crate::intel::tests::gen70::{device, dword, finish, global_entry, process_entry, ring};
use crate::intel::uapi::exec::Relocation;
use crate::intel::uapi::gem;
use crate::intel::uapi::query::{Getparam, Query, QueryItem, RegRead};

const LRI: u32 = 0x1100_0001;
const END: u32 = 0x0500_0000;

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
    assert_eq!(get(4), Ok(0x0f31));
    assert_eq!(get(6), Ok(16), "fence registers");
    assert_eq!(get(28), Ok(10), "version of the command parser");
    assert_eq!(get(35), Ok(2), "engines are reset one by one");
    assert_eq!(get(51), Ok(12_500_000));
    // BLT, aliasing PPGTT.
    for yes in [11, 18] {
        assert_eq!(get(yes), Ok(1), "{yes}");
    }
    // LLC (17), secure batches (23), a coherent aperture (52).
    for no in [7, 10, 17, 20, 22, 23, 27, 31, 36, 41, 52] {
        assert_eq!(get(no), Ok(0), "{no}");
    }
    for nothing in [33, 34, 46, 47] {
        assert_eq!(get(nothing), Err(ENODEV), "{nothing}");
    }
}

#[test]
fn engines_are_listed_and_topology_is_not() {
    let bench = bench();
    let ask = |query_id, length| {
        let data = bench.process.memory.place(&[0u8; 16 + 3 * 56]);
        let item = QueryItem {
            query_id,
            length,
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
        (bench.process.memory.get::<i32>(at + 8).unwrap(), data)
    };
    let (length, data) = ask(2, 16 + 3 * 56);
    assert_eq!(length, 16 + 3 * 56);
    assert_eq!(bench.process.memory.get::<u32>(data), Ok(3));
    assert_eq!(ask(1, 0).0, ENODEV.to_errno());
}

#[test]
fn vebox_is_none_of_its_rings() {
    for (flags, refused) in [
        (0, None),
        (1, None),
        (2, None),
        (3, None),
        (4, Some(EINVAL)),
        (1 | 1 << 9, Some(EPERM)),
    ] {
        let bench = bench();
        let mut list = objects(&[bench.batch()]);
        let outcome = bench.exec_with(&mut list, |arg| arg.flags = flags);
        assert_eq!(outcome.err(), refused, "{flags:#x}");
    }
}

/// `HAS_SNOOP`: `i915_gem_set_caching_ioctl`; entries as `byt_pte_encode`.
#[test]
fn caches_are_looked_into_when_user_space_says_so() {
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
        process_entry(&bench.fake, list[0].offset as u32) & 7
    };
    assert_eq!(caching(gem::GET_CACHING, 9), Ok(0));
    assert_eq!(bits(), 3);
    for (wanted, answer, entry) in [(1, 1, 7), (0, 0, 3), (1, 1, 7), (2, 0, 3)] {
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

/// The dwords of the ring of an engine behind the first MI_BATCH_BUFFER_START, that included.
fn started(bench: &Bench, engine: usize) -> Vec<u32> {
    let words = ring(&bench.fake, engine);
    let first = words.iter().rposition(|word| *word == 0x1880_0000);
    let first = first.or_else(|| words.iter().rposition(|word| *word == 0x1880_0100));
    words[first.unwrap()..].to_vec()
}

/// Runs a batch of these words with this length; the dwords that start it.
fn run(bench: &Bench, flags: u64, words: &[u32], length: u32) -> Result<Vec<u32>> {
    let batch = bench.create(4096);
    bench.write(batch, 0, words);
    let mut list = objects(&[batch]);
    bench.exec_with(&mut list, |arg| {
        arg.batch_len = length;
        arg.flags = flags;
    })?;
    let engine = [0, 0, 1, 2][flags as usize & 3];
    let mut words = started(bench, engine);
    words.push(list[0].offset as u32);
    Ok(words)
}

/// `eb_parse`.
#[test]
fn batches_run_as_copies_with_privileges() {
    let bench = bench();
    let words = run(&bench, 1, &[LRI, 0x5280, 7, END], 16).unwrap();
    let copy = words[1];
    assert_eq!(words[..4], [0x1880_0000, copy, 0x1880_0100, copy + 16]);
    let at = |offset| dword(&bench.fake, copy + offset);
    assert_eq!([0, 4, 8, 12, 16].map(at), [LRI, 0x5280, 7, END, END]);
    assert_ne!(copy, *words.last().unwrap());
    // The client's own object is in its space alone, the copy in both.
    assert_eq!(global_entry(&bench.fake, *words.last().unwrap()) & 1, 0);
    assert_eq!(
        global_entry(&bench.fake, copy),
        process_entry(&bench.fake, copy)
    );
}

/// Forbidden commands: user space is not told (version 8 of the parser), and the device leaves them out.
#[test]
fn forbidden_commands_are_left_to_the_device() {
    for bad in [
        [LRI, 0x2030, 0, END],
        [0x1240_0001, 0x5280, 0x1000, END],
        [0x1880_0000, 0x1000, 0, END],
        [0x0100_0000, 0, 0, END],
    ] {
        let bench = bench();
        let words = run(&bench, 1, &bad, 16).unwrap();
        let (copy, batch) = (words[1], *words.last().unwrap());
        let at = |offset| dword(&bench.fake, copy + offset);
        assert_eq!(
            [at(0), at(16), at(20)],
            [END, 0x1880_0100, batch],
            "{bad:x?}"
        );
    }
}

/// What the parser cannot read is an error of the call, on all engines.
#[test]
fn batches_that_cannot_be_read_are_refused() {
    let bench = bench();
    for flags in [1, 2, 3] {
        for bad in [
            [0xffff_ffff, 0, 0, END],
            // No end; a command longer than the batch.
            [0, 0, 0, 0],
            [0x1000_003f, 0, 0, END],
        ] {
            assert_eq!(run(&bench, flags, &bad, 16).err(), Some(EINVAL), "{bad:x?}");
        }
        // The end is behind the length that is given.
        let late = [0, 0, END, 0];
        assert_eq!(run(&bench, flags, &late, 8).err(), Some(EINVAL));
        assert!(run(&bench, flags, &late, 16).is_ok());
    }
    // Nothing has been queued by what was refused.
    assert!(bench.device.is_idle());
}

/// `eb_use_cmdparser`: without a length nothing is looked at, and the batch runs without privileges.
#[test]
fn batches_without_a_length_are_not_looked_at() {
    let bench = bench();
    let words = run(&bench, 1, &[0xffff_ffff, 0, 0, END], 0).unwrap();
    assert_eq!(words[..2], [0x1880_0100, *words.last().unwrap()]);
    assert_ne!(words[2], 0x1880_0100);
}

/// A batch that begins inside of its object, with relocations: the copy has the addresses.
#[test]
fn the_copy_is_made_when_addresses_are_known() {
    let bench = bench();
    let (data, batch) = (bench.create(4096), bench.create(8192));
    bench.write(batch, 4096, &[0x1000_0002, 0, 0, 7, END, 0]);
    let relocation = Relocation {
        target_handle: data,
        offset: 4096 + 8,
        presumed_offset: u64::MAX,
        read_domains: 0x2,
        write_domain: 0x2,
        ..Relocation::default()
    };
    let mut list = objects(&[data, batch]);
    list[1].relocs_ptr = bench.process.memory.place(&[relocation]);
    list[1].relocation_count = 1;
    bench
        .exec_with(&mut list, |arg| {
            arg.batch_start_offset = 4096;
            arg.batch_len = 24;
        })
        .unwrap();
    let copy = started(&bench, 0)[1];
    assert_eq!(dword(&bench.fake, copy + 8), list[0].offset as u32);
    assert_eq!(dword(&bench.fake, copy + 16), END);
}

/// More than the driver looks through.
#[test]
fn batches_beyond_a_length_are_refused() {
    let bench = bench();
    let batch = bench.create(8 << 20);
    bench.write(batch, 0, &[END, 0]);
    let mut list = objects(&[batch]);
    let outcome = bench.exec_with(&mut list, |arg| arg.batch_len = 8 << 20);
    assert_eq!(outcome.err(), Some(ENOMEM));
}

/// `i915_reset_gen7_sol_offsets`: `I915_EXEC_GEN7_SOL_RESET`, of the render engine alone.
#[test]
fn offsets_of_stream_output_are_reset_before_the_batch() {
    let bench = bench();
    run(&bench, 1 | 1 << 8, &[END, 0], 8).unwrap();
    let words = ring(&bench.fake, 0);
    let first = words.iter().position(|word| *word == 0x1100_0007).unwrap();
    let expected = [
        0x1100_0007,
        0x5280,
        0,
        0x5284,
        0,
        0x5288,
        0,
        0x528c,
        0,
        0,
        0x1880_0000,
    ];
    assert_eq!(words[first..first + 11], expected);
    for ring in [2, 3] {
        let outcome = run(&bench, ring | 1 << 8, &[END, 0], 8);
        assert_eq!(outcome.err(), Some(EINVAL));
    }
}

/// Whatever is in a batch, the call ends, and the device is idle behind it.
#[test]
fn hostile_batches_leave_the_device_idle() {
    let bench = bench();
    let batch = bench.create(4096);
    let mut state = 7_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(99);
        (state >> 33) as u32
    };
    for round in 0..200_u64 {
        let words: Vec<u32> = (0..64)
            .map(|_| match next() % 3 {
                0 => next() << 23,
                1 => next(),
                _ => END,
            })
            .collect();
        bench.write(batch, 0, &words);
        let mut list = objects(&[batch]);
        let outcome = bench.exec_with(&mut list, |arg| {
            arg.batch_len = 8 * (1 + next() % 32);
            arg.flags = 1 + round % 3;
        });
        assert!(matches!(outcome, Ok(_) | Err(EINVAL)), "{outcome:?}");
    }
    assert!(bench.device.is_idle());
}
