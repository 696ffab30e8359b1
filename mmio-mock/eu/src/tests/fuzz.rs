//! Random instruction words: no panic, always an end, nothing left to others.
//!
//! PRM: volume 4, 13.2.

use super::{Rng, TestPort};
use crate::r#gen::{GEN40, GEN45, GEN50, GEN60, GEN70};
use crate::{FloatMode, KernelCache, NoObserver, RunStats, Stop, Thread, ThreadInit};

/// Opcode numbers that mean something, so that most words get past the decoder.
const OPCODES: &[u32] = &[
    1, 2, 4, 5, 6, 7, 8, 9, 12, 16, 17, 19, 20, 23, 24, 25, 26, 32, 33, 34, 35, 36, 37, 38, 39, 40,
    41, 42, 44, 45, 46, 47, 48, 49, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79,
    80, 81, 84, 85, 87, 89, 90, 91, 92, 56,
];

#[test]
fn random_words_end_within_budget() {
    const SEED: u64 = 0x0dd0_5eed_1234_4321;
    println!("seed {SEED:#x}");
    let mut rng = Rng::with_seed(SEED);
    let mut executed = 0;
    let mut rounds = 0u64;
    let sets = [GEN40, GEN45, GEN50, GEN60, GEN70];
    let mut threads = sets.map(|set| (KernelCache::of(set), Thread::of(set)));
    while executed < 1_200_000 {
        let (cache, t) = &mut threads[rounds as usize % sets.len()];
        rounds += 1;
        let words: Vec<[u32; 4]> = (0..64)
            .map(|_| {
                let mut w: [u32; 4] = std::array::from_fn(|_| rng.u32(..));
                if rng.u64(..8) != 0 {
                    let op = OPCODES[rng.u64(..OPCODES.len() as u64) as usize];
                    w[0] = (w[0] & !0x7f) | op;
                    // Sizes and modifiers that exist.
                    w[0] &= !(1 << 23) & !(0x3 << 28);
                    if rng.u64(..2) == 0 {
                        w[0] &= !(0x1f << 16) & !(0xf << 24);
                        w[3] &= 0x001f_ffff;
                    }
                    if op == 34 || (36..=42).contains(&op) {
                        w[3] = (w[3] & 0x000f_0007) | if rng.u64(..2) == 0 { 0xfff0 } else { 0 };
                    }
                }
                w
            })
            .collect();
        let mut port = TestPort::new(words);
        port.fill = rng.u32(..);
        t.dispatch(&ThreadInit {
            ip: 16 * rng.u64(..64) as u32,
            sip: 16 * rng.u64(..64) as u32,
            dispatch_mask: u32::from(rng.u32(..) as u16),
            float_mode: if rng.u64(..2) == 0 {
                FloatMode::Ieee
            } else {
                FloatMode::Alt
            },
            single_program_flow: rng.u64(..4) == 0,
            illegal_opcode_exception: rng.u64(..2) == 0,
            mask_stack_exception: rng.u64(..2) == 0,
            software_exception: rng.u64(..2) == 0,
            breakpoint: rng.u64(..2) == 0,
            ..ThreadInit::default()
        });
        let view = t.view();
        let registers = t.grf().iter().chain(t.mrf()).flatten();
        assert!(
            registers
                .chain(&view.acc)
                .chain(&view.acc_words)
                .all(|&v| v == 0)
        );
        assert_eq!((view.flag, view.address), ([0; 2], [0; 8]));
        // Each kernel by itself decides which registers are cleared behind it.
        *cache = KernelCache::of(cache.instructions());
        let mut budget = 2000;
        let mut stats = RunStats::default();
        loop {
            let stop = t.run(cache, &mut port, &mut NoObserver, &mut budget, &mut stats);
            match stop {
                // Steps over what stops a thread for good, to reach the words behind it.
                Stop::Illegal(_) | Stop::Unimplemented(_) | Stop::Hung(_) | Stop::Wait(_)
                    if budget > 0 =>
                {
                    budget -= 1;
                    t.set_stale(0);
                    t.set_ip(t.ip().wrapping_add(16));
                }
                Stop::Fault(_) if budget > 0 => {
                    budget -= 1;
                    t.set_ip(16 * rng.u64(..64) as u32);
                }
                Stop::EndOfThread if budget > 0 => t.set_ip(t.ip().wrapping_add(16)),
                _ => break,
            }
        }
        assert!(budget == 0);
        executed += stats.instructions;
    }
    println!("{executed} instructions in {rounds} kernels");
}
