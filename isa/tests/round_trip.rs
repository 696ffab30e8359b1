//! Random words: the decoder never panics and loses no bit.
//!
//! PRM: volume 4, 13.2. Which words are decodable is tested elsewhere.

use std::cell::Cell;

use isa::{Verx10, decode, encode, print};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

const G45: Verx10 = Verx10::from_times_ten(45);

/// Any words, with the opcode drawn from the assigned numbers most of the time.
fn words() -> impl Strategy<Value = [u32; 4]> {
    (any::<[u32; 4]>(), any::<u16>(), 0..4_u8).prop_map(|(mut raw, pick, plain)| {
        if plain != 0 {
            let rows: Vec<_> = isa::tables::gen45::TABLE.rows().collect();
            let row = rows[usize::from(pick) % rows.len()];
            raw[0] = raw[0] & !0x7f | u32::from(row.hw);
        }
        raw
    })
}

/// Words with every small enumerated field kept off its reserved codes.
fn tame_words() -> impl Strategy<Value = [u32; 4]> {
    (words(), any::<u16>()).prop_map(|(mut raw, files)| {
        raw[0] &= 0xf7bf_5fff & !(1 << 15);
        raw[0] &= !(1 << 19) & !(1 << 27);
        raw[1] &= !(1 << 3) & !(1 << 8) & !(1 << 13);
        raw[1] = raw[1] & !0xc63 | u32::from(files & 1) | u32::from(files >> 1 & 1) << 5;
        raw[1] |= [0, 1, 3][usize::from(files >> 2) % 3] << 10;
        raw[1] |= 1 << 29;
        raw[2] &= !(1 << 24) & !(1 << 20);
        if raw[1] >> 10 & 3 != 3 {
            raw[3] &= !(1 << 24) & !(1 << 20);
        }
        raw
    })
}

fn check(generation: Verx10, raw: [u32; 4]) -> Result<bool, TestCaseError> {
    let Ok(inst) = decode(generation, raw) else {
        return Ok(false);
    };
    prop_assert_eq!(encode(generation, &inst), Ok(raw));
    prop_assert!(print(generation, &inst).ends_with(';'));
    // Undefined bits aside, the instruction is its own image.
    let mut canonical = inst;
    canonical.reserved = [0; 4];
    let again = encode(generation, &canonical).map(|raw| decode(generation, raw));
    prop_assert_eq!(again, Ok(Ok(canonical)));
    Ok(true)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn any_words(raw in any::<[u32; 4]>()) {
        check(Verx10::GEN40, raw)?;
        check(G45, raw)?;
    }

    #[test]
    fn assigned_opcodes(raw in words()) {
        check(Verx10::GEN40, raw)?;
        check(G45, raw)?;
    }
}

#[test]
fn mostly_decodable() {
    // A fixed seed: the count below is a property of this sequence.
    let mut runner = TestRunner::new_with_rng(
        ProptestConfig::with_cases(20_000),
        TestRng::deterministic_rng(RngAlgorithm::ChaCha),
    );
    let decoded = Cell::new(0);
    runner
        .run(&tame_words(), |raw| {
            check(G45, raw)?;
            decoded.set(decoded.get() + u32::from(check(Verx10::GEN40, raw)?));
            Ok(())
        })
        .unwrap();
    assert!(
        decoded.get() > 8_000,
        "only {} of 20000 words decode",
        decoded.get()
    );
}

#[test]
fn every_opcode_number_decodes_or_is_unknown() {
    for hw in 0..0x80 {
        // Direct general registers, types UD, regions <0;1,0>, execution size 8.
        let raw = [0x0060_0000 | hw, 0x2020_0421, 0x0000_0040, 0x0000_0060];
        let known = isa::tables::gen40::TABLE.by_hw(hw as u8).is_some();
        match decode(Verx10::GEN40, raw) {
            Ok(inst) => {
                assert!(known);
                assert_eq!(encode(Verx10::GEN40, &inst), Ok(raw));
            }
            Err(error) => {
                assert!(!known, "{hw}: {error}");
                assert_eq!(error.kind, isa::DecodeErrorKind::UnknownOpcode(hw as u8));
                assert_eq!(error.raw, raw);
            }
        }
    }
}
