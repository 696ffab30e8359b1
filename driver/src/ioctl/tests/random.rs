//! Random numbers and random arguments: nothing panics, nothing is left behind.
use super::*;

/// xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Small numbers, numbers near the ends, anything.
    fn interesting(&mut self, memory: u64) -> u64 {
        let any = self.next();
        match self.next() % 8 {
            0 => 0,
            1 | 2 => any % 5,
            3 => memory + any % 4096,
            4 => any % 0x10000,
            5 => u64::MAX - any % 8,
            6 => 1 << (any % 64),
            _ => any,
        }
    }
}

#[test]
fn random_calls_do_no_harm() {
    let bench = Bench::primary();
    let memory = bench.process.memory.alloc(8192);
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut done = 0;
    for _ in 0..20_000 {
        let all = ROWS.iter().map(|row| row.request);
        let all: Vec<_> = all.chain(REFUSED.iter().map(|row| row.request)).collect();
        let row = all[random.next() as usize % all.len()];
        let mut request = row.0;
        if random.next().is_multiple_of(16) {
            request ^= 1 << (random.next() % 32);
        }
        for at in (0..128).step_by(4) {
            let value = random.interesting(memory) as u32;
            let wide = random.interesting(memory);
            let word = if random.next().is_multiple_of(2) {
                u64::from(value)
            } else {
                wide
            };
            let bytes = word.to_le_bytes();
            UserMemory::write(&bench.process.memory, memory + at, &bytes).unwrap();
        }
        // Objects stay small enough for the platform, and waits end.
        if row == uapi::gem::CREATE {
            let size = (random.next() % 0x8000).to_le_bytes();
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
