//! Random words of every generation: no panic, and what decodes survives.
//!
//! PRM: volume 4, 13.2. A million words a generation, or as many as CRESTLINE_RANDOM_WORDS says; two
//! threads share the generations. Text is tested elsewhere.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use isa::tables::Table;
use isa::{Verx10, decode, encode};

/// Marsaglia's xorshift, 64 bits.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn words(&mut self) -> [u32; 4] {
        let (low, high) = (self.next(), self.next());
        [
            low as u32,
            (low >> 32) as u32,
            high as u32,
            (high >> 32) as u32,
        ]
    }
}

/// Words whose small enumerated fields are kept off their reserved codes, most of the time.
fn tame(raw: &mut [u32; 4], generation: Verx10, random: &mut Random) {
    let pick = random.next();
    // Compaction, thread control, predicate control, execution size, conditional modifier.
    raw[0] &= !(1 << 29 | 1 << 15 | 1 << 19 | 1 << 23 | 1 << 27);
    if generation.0 < 60 {
        raw[0] &= !(1 << 13);
    }
    let choose = |shift: u32, codes: &[u32]| codes[(pick >> shift & 0xff) as usize % codes.len()];
    let (dst, src0, src1) = (
        choose(0, &[0, 1, 1]),
        choose(8, &[0, 1, 1]),
        choose(16, &[0, 1, 1, 3]),
    );
    let types = [0, 1, 2, 3, 4, 5, 7];
    let (a, b, c) = (choose(24, &types), choose(32, &types), choose(40, &types));
    if generation.0 < 80 {
        raw[1] = raw[1] & !0x7fff | dst | a << 2 | src0 << 5 | b << 7 | src1 << 10 | c << 12;
    } else {
        raw[1] = raw[1] & !0x7ff8 | dst << 3 | a << 5 | src0 << 9 | b << 11;
        raw[2] = raw[2] & !(0x3f << 25) | src1 << 25 | c << 27;
    }
    // Strides and widths.
    raw[1] |= 1 << 29;
    raw[1] &= !(1 << 30);
    raw[2] &= !(1 << 24 | 1 << 20);
    if src1 != 3 {
        raw[3] &= !(1 << 24 | 1 << 20);
    }
}

fn check(generation: Verx10, raw: [u32; 4]) -> bool {
    let Ok(inst) = decode(generation, raw) else {
        return false;
    };
    assert_eq!(
        encode(generation, &inst),
        Ok(raw),
        "{} {inst:?}",
        generation.0
    );
    // Undefined bits aside, the instruction is its own image.
    let mut canonical = inst;
    canonical.reserved = [0; 4];
    let words = encode(generation, &canonical).expect("encodes");
    assert_eq!(
        decode(generation, words),
        Ok(canonical),
        "{} {raw:08x?}",
        generation.0
    );
    true
}

fn run(generation: Verx10, count: u64) -> [u64; 3] {
    let rows: Vec<_> = Table::of(generation).unwrap().rows().collect();
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ u64::from(generation.0));
    let mut decoded = [0; 3];
    for index in 0..count {
        let mut raw = random.words();
        let kind = (index % 3) as usize;
        if kind > 0 {
            let row = rows[random.next() as usize % rows.len()];
            raw[0] = raw[0] & !0x7f | u32::from(row.hw);
        }
        if kind > 1 {
            tame(&mut raw, generation, &mut random);
        }
        decoded[kind] += u64::from(check(generation, raw));
    }
    decoded
}

#[test]
fn what_decodes_survives() {
    let count = std::env::var("CRESTLINE_RANDOM_WORDS")
        .ok()
        .map_or(1_000_000, |text| text.parse().expect("a number"));
    let (first, second) = Table::GENERATIONS.split_at(4);
    std::thread::scope(|scope| {
        for half in [first, second] {
            scope.spawn(move || {
                for &generation in half {
                    let [any, assigned, tame] = run(generation, count);
                    println!(
                        "{}: {count} words, decoded {any} at random, {assigned} of assigned \
                         numbers, {tame} of likely fields",
                        generation.0
                    );
                    assert!(tame > count / 12, "{}: {tame}", generation.0);
                }
            });
        }
    });
}
