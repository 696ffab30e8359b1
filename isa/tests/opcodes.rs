//! Opcode numbers and reserved codes of every generation.
//!
//! Mesa 22.3.6 `brw_eu.c`, printed into data/opcodes.txt; PRM volume 4, 13.2 and later volumes for
//! the reserved codes. Types and controls are tested elsewhere.

use isa::error::OperandId;
use isa::tables::Table;
use isa::{DecodeErrorKind as Kind, Verx10, decode};

const OPCODES: &str = include_str!("data/opcodes.txt");

/// Where the tables differ from Mesa's: generation, number, ours and theirs.
const DIFFERENT: [(u8, u8, &str, &str); 3] = [
    // The Gen4 manual's list (PRM vol4 14.2) has no sendc.
    (40, 50, "", "sendc"),
    // Broadwell PRM volume 2a: goto's counterpart.
    (80, 47, "join", ""),
    (90, 47, "join", ""),
];

// covers: 13.3-01, 13.3-02, 13.3-03, 13.3-04, 13.3-05, 13.3-06, 13.3-07
#[test]
fn numbers_are_mesas() {
    let mut generations = 0;
    for line in OPCODES.lines().filter(|line| !line.starts_with('#')) {
        let (number, list) = line.split_once(' ').unwrap();
        let generation = Verx10::from_times_ten(number.parse().unwrap());
        let table = Table::of(generation).unwrap();
        for hw in 0..0x80_u8 {
            let prefix = format!("{hw}:");
            let theirs = list
                .split(' ')
                .find_map(|word| word.strip_prefix(prefix.as_str()))
                .unwrap_or("");
            let ours = table.by_hw(hw).map_or("", |row| row.mnemonic);
            let excused = DIFFERENT.contains(&(generation.times_ten(), hw, ours, theirs));
            assert!(
                ours == theirs || excused,
                "{} {hw}: {ours} {theirs}",
                generation.times_ten()
            );
            let raw = [u32::from(hw) | 0x0060_0000, 0x2020_0021, 0x008d_0040, 0];
            if ours.is_empty() {
                assert_eq!(
                    decode(generation, raw).unwrap_err().kind,
                    Kind::UnknownOpcode(hw)
                );
            } else {
                let row = table.by_hw(hw).unwrap();
                assert_eq!(table.by_opcode(row.opcode), Some(row));
                assert_eq!(table.by_mnemonic(row.mnemonic), Some(row));
            }
        }
        generations += 1;
    }
    assert_eq!(generations, 8);
}

fn kind(generation: u8, raw: [u32; 4]) -> Kind {
    decode(Verx10::from_times_ten(generation), raw)
        .unwrap_err()
        .kind
}

#[test]
fn reserved_codes_have_names() {
    // mov(8) g1<1>F g2<8,8,1>F.
    let mov = [0x0060_0001, 0x2020_03bd, 0x008d_0040, 0];
    let mov8 = [0x0060_0001, 0x2020_3ae8, 0x008d_0040, 0];
    let first = |bits: u32| [mov[0] | bits, mov[1], mov[2], mov[3]];
    for generation in [45, 50, 60, 70, 75] {
        assert!(decode(Verx10::from_times_ten(generation), mov).is_ok());
        assert_eq!(kind(generation, first(1 << 29)), Kind::Compacted);
        assert_eq!(
            kind(generation, first(3 << 14)),
            Kind::ReservedThreadCtrl(3)
        );
        assert_eq!(
            kind(generation, first(14 << 16)),
            Kind::ReservedPredCtrl(14)
        );
        assert_eq!(kind(generation, first(10 << 24)), Kind::ReservedCondMod(10));
        assert_eq!(kind(generation, first(7 << 21)), Kind::ReservedExecSize(7));
    }
    // 32 channels from Gen6 on.
    let wide = [mov[0] & !(7 << 21) | 5 << 21, mov[1], mov[2], mov[3]];
    assert_eq!(kind(50, wide), Kind::ReservedExecSize(5));
    assert_eq!(
        decode(Verx10::from_times_ten(60), wide).unwrap().exec_size,
        32
    );
    // Modes over 32 channels from Gen7 on.
    assert_eq!(kind(60, first(12 << 16)), Kind::ReservedPredCtrl(12));
    assert!(decode(Verx10::from_times_ten(70), first(12 << 16)).is_ok());
    // No compression code 3 before quarters.
    assert_eq!(kind(50, first(3 << 12)), Kind::ReservedCompression(3));
    assert_eq!(
        decode(Verx10::from_times_ten(60), first(3 << 12))
            .unwrap()
            .qtr_ctrl,
        3
    );
    let dst = OperandId::Dst;
    // Message registers end with Gen6, doubles begin with Gen7.
    let mrf = [mov[0], mov[1] ^ 3, mov[2], mov[3]];
    assert!(decode(Verx10::from_times_ten(60), mrf).is_ok());
    assert_eq!(
        kind(70, mrf),
        Kind::ReservedRegFile {
            operand: dst,
            code: 2
        }
    );
    let double = [mov[0], mov[1] & !(1 << 2), mov[2], mov[3]];
    assert_eq!(
        kind(60, double),
        Kind::ReservedType {
            operand: dst,
            code: 6
        }
    );
    assert!(decode(Verx10::from_times_ten(70), double).is_ok());
    for generation in [80, 90] {
        assert!(decode(Verx10::from_times_ten(generation), mov8).is_ok());
        let eleven = [mov8[0], mov8[1] & !(15 << 5) | 11 << 5, mov8[2], mov8[3]];
        assert_eq!(
            kind(generation, eleven),
            Kind::ReservedType {
                operand: dst,
                code: 11
            }
        );
        // add with a 64-bit immediate.
        let add = [0x0060_0040, mov8[1], 0x1200_0040 | 3 << 25, 0];
        assert_eq!(
            kind(
                generation,
                [add[0], add[1], add[2] & !(15 << 27) | 10 << 27, 0]
            ),
            Kind::ReservedType {
                operand: OperandId::Src1,
                code: 10
            }
        );
    }
    // math without a function, and with one of Gen8.
    let math = |function: u32| {
        [
            0x0060_0038 | function << 24,
            0x2020_77bd,
            0x008d_0040,
            0x008d_0060,
        ]
    };
    assert_eq!(kind(60, math(0)), Kind::ReservedMath(0));
    assert_eq!(kind(70, math(14)), Kind::ReservedMath(14));
    assert_eq!(
        decode(Verx10::from_times_ten(70), math(10)).unwrap().math,
        Some(10)
    );
    // mad in align1.
    assert_eq!(
        kind(70, [0x0060_005b, 0, 0, 0]),
        Kind::ReservedAccessMode(0)
    );
    for generation in [0, 41, 65, 100, 110, 120, 125, 255] {
        assert_eq!(
            kind(generation, mov),
            Kind::UnsupportedGeneration(Verx10::from_times_ten(generation))
        );
    }
}
