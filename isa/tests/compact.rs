//! Compacted instructions: index tables, the way back, mixed streams.
//!
//! Mesa 22.3.6 `brw_eu_compact.c`, whose functions made the vectors in data/compact.hex; the head of
//! that file tells how. Its rewriting of types before compaction is not tested.

use isa::compact::{StreamError, UncompactError};
use isa::{Opcode, Verx10, compact, decode, decode_stream, uncompact};
use proptest::prelude::*;

const VECTORS: &str = include_str!("data/compact.hex");

struct Vector {
    generation: Verx10,
    short: [u32; 2],
    long: [u32; 4],
    /// What the long form compacts to.
    again: Option<[u32; 2]>,
}

fn vectors() -> Vec<Vector> {
    let mut vectors = Vec::new();
    for line in VECTORS.lines().filter(|line| !line.starts_with('#')) {
        let (generation, rest) = line.split_once(' ').unwrap();
        let words: Vec<&str> = rest.split(' ').collect();
        let hex = |at: usize| u32::from_str_radix(words[at], 16).unwrap();
        let short = [hex(0), hex(1)];
        vectors.push(Vector {
            generation: Verx10::from_times_ten(generation.parse().unwrap()),
            short,
            long: [hex(2), hex(3), hex(4), hex(5)],
            again: match words[6] {
                "=" => Some(short),
                "none" => None,
                _ => Some([hex(6), hex(7)]),
            },
        });
    }
    vectors
}

#[test]
fn vectors_expand_and_compact() {
    let vectors = vectors();
    assert_eq!(vectors.len(), 192);
    for vector in &vectors {
        let generation = vector.generation;
        assert_eq!(
            uncompact(generation, vector.short),
            Ok(vector.long),
            "{} {:08x?}",
            generation.times_ten(),
            vector.short
        );
        assert_eq!(
            compact(generation, vector.long),
            vector.again,
            "{} {:08x?}",
            generation.times_ten(),
            vector.long
        );
    }
}

#[test]
fn generations_share_tables() {
    // Ironlake has G45's, Haswell Ivybridge's, Skylake Broadwell's but for three sources.
    for vector in vectors() {
        let other = match vector.generation.times_ten() {
            45 => 50,
            70 => 75,
            _ => continue,
        };
        assert_eq!(
            uncompact(Verx10::from_times_ten(other), vector.short),
            Ok(vector.long)
        );
    }
}

// covers: 13.2-02
#[test]
fn what_has_no_compacted_form() {
    let mov = [0x2000_0001, 0];
    assert_eq!(
        uncompact(Verx10::from_times_ten(40), mov),
        Err(UncompactError::UnsupportedGeneration(
            Verx10::from_times_ten(40)
        ))
    );
    assert_eq!(
        uncompact(Verx10::from_times_ten(110), mov),
        Err(UncompactError::UnsupportedGeneration(
            Verx10::from_times_ten(110)
        ))
    );
    assert_eq!(
        uncompact(Verx10::from_times_ten(70), [1, 0]),
        Err(UncompactError::NotCompacted)
    );
    assert_eq!(
        uncompact(Verx10::from_times_ten(70), [0x3000_0001, 0]),
        Err(UncompactError::ReservedBits(0x1000_0000))
    );
    assert_eq!(
        uncompact(Verx10::from_times_ten(80), [0x2008_005b, 0]),
        Err(UncompactError::ReservedBits(0x0008_0000))
    );
    assert_eq!(
        uncompact(Verx10::from_times_ten(70), [0x2000_005b, 0]),
        Err(UncompactError::NoCompactedForm(0x5b))
    );
    assert_eq!(
        uncompact(Verx10::from_times_ten(60), [0x2000_007f, 0]),
        Err(UncompactError::UnknownOpcode(0x7f))
    );
    // The end of a thread: Mesa's urb write of gen7 send.expected has no short form either.
    let send = [0x0600_0031, 0x2000_3a60, 0x008d_0f60, 0x8a08_0017];
    for generation in [50, 60, 70, 75, 80, 90] {
        assert_eq!(compact(Verx10::from_times_ten(generation), send), None);
    }
    assert_eq!(compact(Verx10::from_times_ten(40), [1, 0, 0, 0]), None);
    assert_eq!(compact(Verx10::from_times_ten(100), [1, 0, 0, 0]), None);
}

#[test]
fn stream_of_both_sizes() {
    let generation = Verx10::from_times_ten(70);
    let vector = vectors()
        .into_iter()
        .find(|vector| vector.generation == generation && decode(generation, vector.long).is_ok())
        .unwrap();
    // nop, a compacted instruction, an unknown opcode, nop, and half of an instruction.
    let words: Vec<u32> = [
        &[0x7e, 0, 0, 0][..],
        &vector.short,
        &[0x7f, 0, 0, 0],
        &[0x2000_005b, 0],
        &[0x7e, 0, 0, 0],
        &[0x01, 0],
    ]
    .concat();
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.push(0);
    let items: Vec<_> = decode_stream(generation, &bytes).collect();
    let places: Vec<_> = items.iter().map(|item| (item.offset, item.size)).collect();
    assert_eq!(
        places,
        [(0, 16), (16, 8), (24, 16), (40, 8), (48, 16), (64, 9)]
    );
    assert_eq!(items[0].inst.unwrap().opcode, Opcode::Nop);
    assert_eq!(items[1].raw, vector.long);
    assert!(items[1].compacted() && !items[0].compacted());
    assert_eq!(
        items[1].inst,
        decode(generation, vector.long).map_err(StreamError::Decode)
    );
    assert!(matches!(items[2].inst, Err(StreamError::Decode(_))));
    assert_eq!(
        items[3].inst,
        Err(StreamError::Uncompact {
            kind: UncompactError::NoCompactedForm(0x5b),
            raw: [0x2000_005b, 0],
        })
    );
    assert_eq!(items[4].inst.unwrap().opcode, Opcode::Nop);
    assert_eq!(
        items[5].inst,
        Err(StreamError::Truncated {
            wanted: 16,
            left: 9
        })
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    /// What expands expands to something that decodes or not, and compacting loses nothing.
    #[test]
    fn any_short_words(raw in any::<[u32; 2]>(), pick in any::<u8>()) {
        for generation in isa::tables::Table::GENERATIONS {
            let rows: Vec<_> = isa::tables::Table::of(generation).unwrap().rows().collect();
            let hw = rows[usize::from(pick) % rows.len()].hw;
            let short = [raw[0] & !0x7f | u32::from(hw) | 1 << 29, raw[1]];
            let Ok(long) = uncompact(generation, short) else { continue };
            let _ = decode(generation, long);
            if let Some(again) = compact(generation, long) {
                prop_assert_eq!(uncompact(generation, again), Ok(long));
            }
        }
    }

    /// Any bytes are walked to their end.
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for generation in isa::tables::Table::GENERATIONS {
            let mut end = 0;
            for item in decode_stream(generation, &bytes) {
                prop_assert_eq!(item.offset, end);
                end += item.size;
            }
            prop_assert_eq!(end, bytes.len());
        }
    }
}
