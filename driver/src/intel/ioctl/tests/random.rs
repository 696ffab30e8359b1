//! Random numbers and random arguments: nothing panics, nothing is left behind.
use fastrand::Rng;

use super::*;

/// Small numbers, numbers near the ends, anything.
fn interesting(random: &mut Rng, memory: u64) -> u64 {
    match random.u32(..8) {
        0 => 0,
        1 | 2 => random.u64(..5),
        3 => memory + random.u64(..4096),
        4 => random.u64(..0x10000),
        5 => u64::MAX - random.u64(..8),
        6 => 1 << random.u32(..64),
        _ => random.u64(..),
    }
}

#[test]
fn random_calls_do_no_harm() {
    let bench = Bench::primary();
    let memory = bench.process.memory.alloc(8192);
    let mut random = Rng::with_seed(0x1234_5678_9abc_def1);
    let mut done = 0;
    for _ in 0..20_000 {
        let all = TABLE.served().map(|row| row.request);
        let all: Vec<_> = all.chain(TABLE.refused().map(|row| row.request)).collect();
        let row = all[random.usize(..all.len())];
        let mut request = row.0;
        if random.u32(..16) == 0 {
            request ^= 1 << random.u32(..32);
        }
        for at in (0..128).step_by(4) {
            let value = interesting(&mut random, memory) as u32;
            let wide = interesting(&mut random, memory);
            let word = if random.bool() {
                u64::from(value)
            } else {
                wide
            };
            let bytes = word.to_le_bytes();
            UserMemory::write(&bench.process.memory, memory + at, &bytes).unwrap();
        }
        // Objects stay small enough for the platform, and waits end.
        if row == uapi::gem::CREATE {
            let size = random.u64(..0x8000).to_le_bytes();
            UserMemory::write(&bench.process.memory, memory, &size).unwrap();
        }
        bench.process.signal.store(true, Ordering::Relaxed);
        done += usize::from(ioctl(&bench.file, request, memory, &bench.process).is_ok());
    }
    assert!(done > 1000, "{done}");
    let Bench {
        device,
        file,
        process,
        ..
    } = bench;
    drop((file, process));
    assert!(device.wait_idle(kernel::time::Delta::ZERO).is_ok());
    assert_eq!(device.ggtt().bound(), 2);
}
