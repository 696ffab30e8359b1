//! A thousand random families of threads: each completes, or hangs and says why.
//!
//! Kernels spawn only kernels behind their own and have no loops, so that every program comes to an end of some kind.
//! `CRESTLINE_MEDIA_SEED` runs one of them alone.

use std::fmt::Write as _;

use super::kernels::*;
use super::rig::*;
use crate::core::Ended;
use crate::core::Model;
use crate::intel::td::schedule::{Order, Schedule};

/// Programs of the test.
const PROGRAMS: u64 = 1000;
/// Kernels of a program.
const KERNELS_OF_ONE: u32 = 4;

/// splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, n: u32) -> u32 {
        (self.next() % u64::from(n)) as u32
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }
}

/// A message of any kind to the gateway or the spawner, with a payload that may mean something.
fn raw(random: &mut Random, eot: bool) -> String {
    let target = if random.one_in(2) { 3 } else { 7 };
    let control = match random.below(4) {
        0 => random.below(1 << 16),
        1 => random.below(4) | 1 << 15,
        2 => random.below(4),
        _ => random.below(32),
    };
    let length = if random.one_in(8) { random.below(4) } else { 1 };
    let mut text = "mov(8) m8<1>UD g0<8,8,1>UD { align1 };\n".to_owned();
    for _ in 0..random.below(4) {
        let (dword, value) = (random.below(8), random.next() as u32 >> random.below(32));
        let _ = writeln!(text, "mov(1) m8.{dword}<1>UD {value:#x}UD {{ align1 }};");
    }
    let descriptor = u32::from(eot) << 31 | target << 24 | length << 20 | control;
    text + &format!("send(8) 8 null<1>UD null<8,8,1>UD {descriptor:#x} {{ align1 }};\n")
}

/// One step of kernel `me`; a tame one neither waits nor sends what it should not.
fn act(random: &mut Random, me: u32, tame: bool) -> String {
    match random.below(12) {
        0..=2 if me + 1 < KERNELS_OF_ONE => {
            let place = random.below(20);
            let behind = 1 + random.below(KERNELS_OF_ONE - me - 1);
            let child = spawn(32, 31, place, behind, random.below(1 << 20));
            let requester = if me > 0 { 2 } else { 0 };
            let descriptor = format!("{:#010x}", 0x0710_0001 | requester);
            data(random.below(16), 0) + &child.replace("0x07100001", &descriptor)
        }
        3 => open(random.below(128), random.below(6)) + &address(30),
        4 | 5 => {
            let to = ["g0.3<0,1,0>UD", "g30<0,1,0>UD", "g1.7<0,1,0>UD"][random.below(3) as usize];
            let offset = random.below(32) * 4;
            forward(to, &format!("{offset}UD"), "g1<0,1,0>UD")
        }
        6 => {
            let to = random.below(8) << 24 | random.below(4) << 16 | KEY;
            forward(&format!("{to:#x}UD"), "0UD", "1UD")
        }
        7 if !tame && random.one_in(3) => wait(),
        8 if random.one_in(4) => close(),
        9 if !tame && random.one_in(2) => raw(random, false),
        10 if !tame || me == 0 => "mov(8) m1<1>UD g0<8,8,1>UD { align1 };\n\
             send(8) 1 null<1>UD null<8,8,1>UD 0x07100011 { align1 };\n"
            .to_owned(),
        _ => store_row(&format!("{}UD", random.below(64)), 0),
    }
}

/// A kernel that mostly does what it should, or always.
fn kernel(random: &mut Random, me: u32, tame: bool) -> String {
    let mut text = String::new();
    for _ in 0..random.below(8) {
        text += &act(random, me, tame);
    }
    text += &match if tame { 16 } else { random.below(16) } {
        0 => end(END_ROOT),
        1 => end(END_CHILD),
        2 => end(0x8010_0000),
        3 => raw(random, true),
        4 => String::new(),
        5 => end([0x8710_0010, 0x8710_0002][random.below(2) as usize]),
        _ if me == 0 => end(END_ROOT),
        _ => end(END_CHILD),
    };
    text
}

/// What became of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Result {
    ended: Ended,
    hung: Vec<String>,
    faults: Vec<String>,
    out: Vec<u32>,
}

fn run(seed: u64, schedule: Schedule) -> (Result, Rig) {
    let mut random = Random(seed);
    let tame = !random.one_in(3);
    let mut rig = Rig::new();
    rig.schedule(schedule);
    for me in 0..KERNELS_OF_ONE {
        let text = kernel(&mut random, me, tame);
        rig.kernel(&text, random.below(2));
    }
    if !tame && random.one_in(20) {
        rig.descriptor(random.below(4), 0x0100_0000, 0);
    }
    rig.begin(&Front {
        threads: 1 + random.below(if tame { 4 } else { 34 }),
        entries: 1 + random.below(6),
        units: if tame { 24 } else { 1 + random.below(24) },
        children: tame || !random.one_in(6),
        ..TREE
    });
    for _ in 0..=random.below(40) {
        // MEDIA_OBJECT: Thread Synchronization.
        let flags = u32::from(!tame && random.one_in(12)) << 24;
        let inline = vec![random.below(64); random.below(10) as usize];
        let number = if !tame && random.one_in(10) {
            random.below(5)
        } else {
            0
        };
        rig.object_with(number, &inline, flags, (0, 0));
    }
    let ended = rig.run_in(1 << 20);
    let result = Result {
        ended,
        hung: rig.device.hung_threads(),
        faults: rig.faults(),
        out: rig.peek(OUT, 64 * 8),
    };
    (result, rig)
}

fn schedule(seed: u64) -> Schedule {
    match seed % 5 {
        0 => Schedule::default(),
        1 => Schedule::new(Order::Descending),
        2 => Schedule::new(Order::Descending).with_turn(3),
        _ => Schedule::new(Order::Random(seed)),
    }
}

fn check(seed: u64) -> bool {
    let (result, mut rig) = run(seed, schedule(seed));
    let context = format!("seed {seed}, schedule {}: {result:#?}", schedule(seed));
    let completed = match result.ended {
        Ended::Idle => {
            assert!(
                rig.device.idle() && rig.device.running().is_empty(),
                "{context}"
            );
            assert!(result.hung.is_empty(), "{context}");
            true
        }
        Ended::Blocked => {
            assert!(!rig.device.idle(), "{context}");
            let said = !result.hung.is_empty() || !result.faults.is_empty();
            assert!(said, "no reason: {context}");
            false
        }
        Ended::Busy | Ended::Spins => panic!("no end: {context}"),
    };
    // Whatever happened, the device is as new after a reset.
    rig.device.reset();
    rig.ring();
    rig.kernel(&(store_row("99UD", 1) + &end(END_ROOT)), 0);
    rig.begin(&FLAT);
    for n in 0..3 {
        rig.object(KERNELS_OF_ONE, &[n + 5]);
    }
    rig.complete();
    assert!((5..8).contains(&rig.out(99)[0]), "{context}");
    completed
}

#[test]
fn every_program_completes_or_hangs_with_a_reason() {
    if let Some(seed) = std::env::var("CRESTLINE_MEDIA_SEED")
        .ok()
        .and_then(|s| s.parse().ok())
    {
        check(seed);
        return;
    }
    let completed = (0..PROGRAMS).filter(|&seed| check(seed)).count() as u64;
    // The generator is worth something only while both happen often.
    let both = PROGRAMS / 10..PROGRAMS * 9 / 10;
    assert!(
        both.contains(&completed),
        "{completed} of {PROGRAMS} programs completed"
    );
}

#[test]
fn a_program_and_a_schedule_give_one_result() {
    for seed in 0..50 {
        let one = run(seed, schedule(seed)).0;
        assert_eq!(one, run(seed, schedule(seed)).0, "seed {seed}");
    }
}
