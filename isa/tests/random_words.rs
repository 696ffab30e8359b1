//! Random words of every generation: decoded, encoded, printed, validated, read.
//!
//! PRM: volume 4, 13.2. `CRESTLINE_FUZZ_MILLIONS` million words a generation, 100,000 without it;
//! `CRESTLINE_FUZZ_SEED` is the start. Which words decode is tested elsewhere.

use std::time::Instant;

use isa::compact::{compact, uncompact};
use isa::tables::Table;
use isa::validate::validate;
use isa::{Verx10, decode, encode, parse, print};

use crate::gen4asm_oracle::random::Random;

/// Words of a generation in the normal suite.
const NORMAL: u64 = 100_000;

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().expect("a number"))
}

/// What became of the words.
#[derive(Default)]
struct Counts {
    words: u64,
    valid: u64,
    reserved: u64,
    violating: u64,
    violations: u64,
    printed: u64,
    assembled: u64,
    expanded: u64,
    compacted: u64,
}

/// A quarter of the words is as it comes. The others have an opcode of the generation, and the more
/// of these bits are cleared the fewer reserved codes are left.
fn word(random: &mut Random, opcodes: &[u8]) -> [u32; 4] {
    let mut raw = [(); 4].map(|()| random.word());
    let tame = random.below(4);
    if tame > 0 {
        raw[0] = raw[0] & !0x2000_007f | u32::from(random.pick(opcodes));
    }
    if tame > 1 {
        // Thread control 3, predicates, conditions and execution sizes above the highest.
        raw[0] &= !(1 << 15 | 1 << 19 | 1 << 27 | 1 << 23);
    }
    if tame > 2 {
        // Vertical strides above 32.
        raw[2] &= !(1 << 24);
        raw[3] &= !(1 << 24);
    }
    raw
}

fn check(generation: Verx10, raw: [u32; 4], counts: &mut Counts) {
    let Ok(inst) = decode(generation, raw) else {
        return;
    };
    counts.valid += 1;
    assert_eq!(encode(generation, &inst), Ok(raw), "{raw:08x?}");
    if inst.reserved != [0; 4] {
        counts.reserved += 1;
        let canonical = isa::Inst {
            reserved: [0; 4],
            ..inst
        };
        let again = encode(generation, &canonical).map(|raw| decode(generation, raw));
        assert_eq!(again, Ok(Ok(canonical)), "{raw:08x?}");
    }
    let violations = validate(generation, &inst).count() as u64;
    counts.violations += violations;
    counts.violating += u64::from(violations != 0);
    let text = print(generation, &inst);
    counts.printed += text.len() as u64;
    assert!(text.ends_with(';'), "{raw:08x?} {text}");
    // The text of undefined combinations may say too little, and be refused.
    let back = parse::instruction(generation, &text).map(|inst| encode(generation, &inst));
    counts.assembled += u64::from(matches!(back, Ok(Ok(_))));
}

/// The first half as a compacted instruction.
fn check_compacted(generation: Verx10, raw: [u32; 4], counts: &mut Counts) {
    let Ok(expanded) = uncompact(generation, [raw[0] | 1 << 29, raw[1]]) else {
        return;
    };
    counts.expanded += 1;
    // Fields that the opcode does not read may not be what a compactor would take.
    if let Some(small) = compact(generation, expanded) {
        counts.compacted += 1;
        assert_eq!(uncompact(generation, small), Ok(expanded), "{raw:08x?}");
    }
    check(generation, expanded, counts);
}

fn run(version: u8) {
    let generation = Verx10::from_times_ten(version);
    let words = number("CRESTLINE_FUZZ_MILLIONS").map_or(NORMAL, |millions| millions * 1_000_000);
    let seed = number("CRESTLINE_FUZZ_SEED").unwrap_or(1);
    let mut random = Random::new(seed * 100 + u64::from(version));
    let opcodes: Vec<u8> = Table::of(generation)
        .unwrap()
        .rows()
        .map(|row| row.hw)
        .collect();
    let mut counts = Counts::default();
    let started = Instant::now();
    while counts.words < words {
        let raw = word(&mut random, &opcodes);
        counts.words += 1;
        if words > NORMAL && counts.words.is_multiple_of(NORMAL) {
            // For the bar of `cargo xtask fuzz`.
            println!("progress: random_words_{version} {}", counts.words);
        }
        check(generation, raw, &mut counts);
        if random.one_in(4) {
            check_compacted(generation, raw, &mut counts);
        }
    }
    println!(
        "generation {version}: {} words and {} expanded ones ({} compacted again), {} valid ({} with reserved bits), all \
         encoded again; {} violate {} rules; {} MB printed, {} read back; seed {seed}, {:.1} s",
        counts.words,
        counts.expanded,
        counts.compacted,
        counts.valid,
        counts.reserved,
        counts.violating,
        counts.violations,
        counts.printed / 1_000_000,
        counts.assembled,
        started.elapsed().as_secs_f64()
    );
    assert!(counts.valid > words / 20);
}

/// One test a generation, so that they run beside one another.
macro_rules! generations {
    ($($name:ident $version:literal)*) => {
        $(
            #[test]
            fn $name() {
                run($version);
            }
        )*
    };
}

generations! {
    random_words_40 40
    random_words_45 45
    random_words_50 50
    random_words_60 60
    random_words_70 70
    random_words_75 75
    random_words_80 80
    random_words_90 90
}
