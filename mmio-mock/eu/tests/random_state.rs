//! Random instructions on random registers, flags and masks: no panic.
//!
//! PRM: volume 4, chapters 11 to 14; later generations by their tables. Every kernel runs in both
//! modes of the cache and must leave the same registers. `CRESTLINE_FUZZ_MILLIONS` is how many
//! million instructions each generation executes, `CRESTLINE_FUZZ_SEED` where it starts.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use eu::{
    Delivery, FloatMode, Grf, KernelCache, Masks, Message, NoObserver, Port, RunStats, Stop,
    Thread, ThreadInit, View,
};
use fastrand::Rng;
use isa::Verx10;
use isa::tables::Table;

/// Instructions of a kernel.
const WORDS: usize = 64;
/// Instructions executed of a kernel at most.
const BUDGET: u64 = 256;

/// Instructions of a generation in the normal suite.
const NORMAL: u64 = 200_000;

struct Words {
    words: Vec<[u32; 4]>,
    /// Answers of messages, from a seed of the kernel.
    answers: Rng,
}

impl Port for Words {
    type Fault = u32;

    fn fetch(&mut self, ip: u32) -> Result<[u32; 4], u32> {
        self.words.get(ip as usize / 16).copied().ok_or(ip)
    }

    fn send(&mut self, _: &Message<'_>, response: &mut [Grf]) -> Result<Delivery, u32> {
        for dword in response.iter_mut().flatten() {
            *dword = self.answers.u32(..);
        }
        Ok(match self.answers.u64(..16) {
            0 => Delivery::Dropped,
            1 => Delivery::Busy,
            _ => Delivery::Done,
        })
    }
}

/// A word that the decoder takes, most of the time; noise otherwise.
fn word(rng: &mut Rng, generation: Verx10, opcodes: &[u8]) -> [u32; 4] {
    let mut w = std::array::from_fn(|_| rng.u32(..));
    if rng.u64(..16) == 0 {
        return w;
    }
    for _ in 0..64 {
        w = std::array::from_fn(|_| rng.u32(..));
        let opcode = opcodes[rng.u64(..opcodes.len() as u64) as usize];
        w[0] = (w[0] & !0x7f) | u32::from(opcode);
        if isa::decode(generation, w).is_ok() {
            break;
        }
    }
    w
}

fn masks(rng: &mut Rng) -> Masks {
    let mut mask = || {
        if rng.u64(..2) == 0 {
            0xffff
        } else {
            rng.u32(..) as u16
        }
    };
    Masks {
        amask: mask(),
        imask: mask(),
        lmask: mask(),
        cmask: mask(),
        ims: std::array::from_fn(|_| mask()),
        lms: std::array::from_fn(|_| mask()),
        cms: std::array::from_fn(|_| mask()),
        imsd: mask() % 20,
        lmsd: mask() % 20,
    }
}

fn floatish(rng: &mut Rng) -> u32 {
    match rng.u64(..4) {
        0 => rng.u32(..) & 0x1ff,
        1 => (rng.u32(..) & 0x83ff_ffff) | 0x3c00_0000,
        _ => rng.u32(..),
    }
}

/// Everything a kernel starts from.
struct Start {
    init: ThreadInit,
    grf: Vec<Grf>,
    flag: [u16; 2],
    masks: Masks,
    answers: u64,
    /// Message registers from m16 on.
    more: Vec<Grf>,
    /// Channels from 16 on.
    high: u32,
}

fn start(rng: &mut Rng) -> Start {
    let line = |rng: &mut Rng| 16 * rng.u64(..WORDS as u64) as u32;
    Start {
        init: ThreadInit {
            ip: line(rng),
            sip: line(rng),
            dispatch_mask: u32::from(rng.u32(..) as u16),
            float_mode: if rng.u64(..2) == 0 {
                FloatMode::Alt
            } else {
                FloatMode::Ieee
            },
            single_program_flow: rng.u64(..4) == 0,
            illegal_opcode_exception: rng.u64(..4) == 0,
            mask_stack_exception: rng.u64(..4) == 0,
            software_exception: rng.u64(..4) == 0,
            breakpoint: rng.u64(..4) == 0,
            grf_count: 128,
            ..ThreadInit::default()
        },
        grf: (0..144)
            .map(|_| std::array::from_fn(|_| floatish(rng)))
            .collect(),
        flag: [rng.u32(..) as u16, rng.u32(..) as u16],
        masks: masks(rng),
        answers: rng.u64(..),
        more: (0..8)
            .map(|_| std::array::from_fn(|_| floatish(rng)))
            .collect(),
        high: rng.u32(..) & 0xffff_0000,
    }
}

/// Registers at the end, without the accumulator: an update that nobody read may be left out.
#[derive(Debug, PartialEq)]
struct End {
    stops: Vec<Stop<u32>>,
    grf: Vec<Grf>,
    mrf: Vec<Grf>,
    view: View,
    stats: RunStats,
}

/// Runs a kernel; what ends or stops it is stepped over, to reach the words behind.
fn execute(t: &mut Thread, cache: &mut KernelCache, words: &[[u32; 4]], s: &Start) -> End {
    let mut port = Words {
        words: words.to_vec(),
        answers: Rng::with_seed(s.answers),
    };
    t.prepare(cache.instructions());
    t.dispatch(&ThreadInit {
        dispatch_mask: s.init.dispatch_mask | s.high,
        ..s.init
    });
    t.grf_mut().copy_from_slice(&s.grf[..128]);
    let messages = s.grf[128..].iter().chain(&s.more);
    for (to, from) in t.mrf_mut().iter_mut().zip(messages) {
        *to = *from;
    }
    t.set_flag(s.flag);
    t.set_masks(s.masks);
    let mut budget = BUDGET;
    let mut stats = RunStats::default();
    let mut stops = Vec::new();
    while stops.len() < WORDS {
        let stop = t.run(cache, &mut port, &mut NoObserver, &mut budget, &mut stats);
        stops.push(stop);
        let ip = match stop {
            Stop::Budget => break,
            Stop::Busy | Stop::Observer => continue,
            Stop::Fault(_) => 16 * port.answers.u64(..WORDS as u64) as u32,
            _ => t.ip().wrapping_add(16),
        };
        if matches!(stop, Stop::Hung(_)) {
            // Registers of a dropped message are valid again.
            t.dispatch(&ThreadInit { ip, ..s.init });
        }
        t.set_ip(ip);
    }
    let mut view = t.view();
    (view.acc, view.acc_words) = ([0; 16], [0; 16]);
    End {
        stops,
        grf: t.grf().to_vec(),
        mrf: t.mrf().to_vec(),
        view,
        stats,
    }
}

fn env(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn run(generation: Verx10) {
    let goal = env("CRESTLINE_FUZZ_MILLIONS").map_or(NORMAL, |m| m * 1_000_000);
    let mut seed = env("CRESTLINE_FUZZ_SEED")
        .unwrap_or(0x5eed_0f02_57a7_e000)
        .wrapping_add(u64::from(generation.times_ten()));
    let opcodes: Vec<u8> = Table::of(generation)
        .unwrap()
        .rows()
        .map(|r| r.hw)
        .collect();
    let first = seed;
    let (mut executed, mut kernels) = (0, 0u64);
    while executed < goal {
        let mut rng = Rng::with_seed(seed);
        let words: Vec<_> = (0..WORDS)
            .map(|_| word(&mut rng, generation, &opcodes))
            .collect();
        let s = start(&mut rng);
        let mut threads = vec![Thread::new(); 2];
        let mut caches = [
            KernelCache::new(generation).unwrap(),
            KernelCache::general(generation).unwrap(),
        ];
        let ends: Vec<End> = threads
            .iter_mut()
            .zip(&mut caches)
            .map(|(t, c)| execute(t, c, &words, &s))
            .collect();
        assert!(
            ends[0] == ends[1],
            "{generation:?} CRESTLINE_FUZZ_SEED={}: fast {:x?}\ngeneral {:x?}",
            seed.wrapping_sub(u64::from(generation.times_ten())),
            ends[0],
            ends[1]
        );
        let before: u64 = executed;
        executed += ends[0].stats.instructions;
        if goal > NORMAL && before / NORMAL != executed / NORMAL {
            // For the bar of `cargo xtask fuzz`.
            println!(
                "progress: random_states_of_{} {executed}",
                generation.times_ten()
            );
        }
        kernels += 1;
        seed = rng.u64(..);
    }
    println!("{generation:?}: {executed} instructions in {kernels} kernels, seed {first}");
}

// covers: 11.3.2-05, 11.3.3-03, 11.3.4.2-02
#[test]
fn random_states_of_gen40() {
    run(Verx10::GEN40);
}

#[test]
fn random_states_of_g45() {
    run(Verx10::from_times_ten(45));
}

#[test]
fn random_states_of_ironlake() {
    run(Verx10::from_times_ten(50));
}

#[test]
fn random_states_of_sandy_bridge() {
    run(Verx10::from_times_ten(60));
}

#[test]
fn random_states_of_valleyview() {
    run(Verx10::from_times_ten(70));
}
