//! Instructions of the ValleyView manual: numbers, fields, properties, types.
//!
//! PRM: ValleyView volume 2 part 2 (add to brd). Places of fields are the manual's, counted from bit 0 of the first dword; numbers of
//! opcodes are those of Mesa 22.3.6 `brw_eu.c`.

use isa::inst::{CondMod, Inst, PredCtrl, ThreadCtrl, Verx10};
use isa::operand::Type;
use isa::validate::validate;

fn generation() -> Verx10 {
    Verx10::from_times_ten(70)
}

fn words(text: &str) -> [u32; 4] {
    let program = isa::parse::assemble(generation(), "text", text).expect(text);
    let words: Vec<u32> = program.dwords().collect();
    [words[0], words[1], words[2], words[3]]
}

fn inst(text: &str) -> Inst {
    isa::decode(generation(), words(text)).expect(text)
}

/// Bits `high` to `low` of an instruction.
fn field(words: [u32; 4], high: u32, low: u32) -> u32 {
    let all = words
        .iter()
        .rev()
        .fold(0u128, |all, word| all << 32 | u128::from(*word));
    (all >> low) as u32 & (u64::MAX >> (63 - (high - low))) as u32
}

fn broken(inst: &Inst) -> Vec<&'static str> {
    validate(generation(), inst)
        .map(|found| found.rule.name)
        .collect()
}

const SAMPLES: [(&str, u32, [bool; 4]); 10] = [
    // Predicate, condition, saturation, modifiers of sources.
    (
        "add(8) g10<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q };",
        0x40,
        [true; 4],
    ),
    (
        "addc(8) g10<1>UD g2<8,8,1>UD g3<8,8,1>UD { align1 1Q AccWrEnable };",
        0x4e,
        [true, true, false, false],
    ),
    (
        "asr(8) g10<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q };",
        0x0c,
        [true; 4],
    ),
    (
        "avg(8) g10<1>D g2<8,8,1>D g3<8,8,1>D { align1 1Q };",
        0x42,
        [true; 4],
    ),
    (
        "bfe(8) g10<1>D g2<4,4,1>D g3<4,4,1>D g4<4,4,1>D { align16 1Q };",
        0x18,
        [true, false, false, false],
    ),
    (
        "bfi1(8) g10<1>UD g2<8,8,1>UD g3<8,8,1>UD { align1 1Q };",
        0x19,
        [true, false, false, false],
    ),
    (
        "bfi2(8) g10<1>UD g2<4,4,1>UD g3<4,4,1>UD g4<4,4,1>UD { align16 1Q };",
        0x1a,
        [true, false, false, false],
    ),
    (
        "bfrev(8) g10<1>UD g2<8,8,1>UD { align1 1Q };",
        0x17,
        [true, false, false, false],
    ),
    (
        "brc(8) JIP: 16 UIP: 32 { align1 1Q switch };",
        0x23,
        [true, false, false, false],
    ),
    (
        "brd(8) JIP: 16 { align1 1Q switch };",
        0x21,
        [true, false, false, false],
    ),
];

// covers: V-0525, V-0526, V-0537, V-0538, V-0546, V-0547, V-0558, V-0559, V-0566, V-0567, V-0598, V-0599, V-0610, V-0611, V-0640, V-0641, V-0649, V-0650, V-0662, V-0663
#[test]
fn numbers_and_properties_are_the_manuals() {
    for (text, opcode, [predicate, condition, saturates, modifies]) in SAMPLES {
        let plain = inst(text);
        assert_eq!(field(words(text), 6, 0), opcode, "{text}");
        assert_eq!(broken(&plain), [""; 0], "{text}");
        let allowed = |change: &dyn Fn(&mut Inst)| {
            let mut changed = plain;
            change(&mut changed);
            broken(&changed).is_empty()
        };
        assert_eq!(
            allowed(&|i| i.pred_ctrl = PredCtrl::Normal),
            predicate,
            "{text}"
        );
        assert_eq!(allowed(&|i| i.cond_mod = CondMod::Nz), condition, "{text}");
        assert_eq!(allowed(&|i| i.saturate = true), saturates, "{text}");
        if plain.num_src > 0 {
            assert_eq!(allowed(&|i| i.src[0].negate = true), modifies, "{text}");
        }
    }
}

/// The types that the manual lists are legal, and some that it does not are not.
// covers: V-0527, V-0528, V-0529, V-0530, V-0539, V-0548, V-0560, V-0568, V-0569, V-0600, V-0601, V-0612, V-0613, V-0642
#[test]
fn types_are_the_manuals() {
    let text = |op: &str, dst: &str, src: &str| {
        let region = |ty: &str| match ty {
            "UB" | "B" => format!("<32,8,4>{ty}"),
            "UW" | "W" => format!("<16,8,2>{ty}"),
            _ => format!("<8,8,1>{ty}"),
        };
        // Bytes are computed as words, and results lie as far apart.
        let size = |ty: &str| match ty {
            "UB" | "B" => 1,
            "UW" | "W" => 2,
            _ => 4,
        };
        let stride = (size(src).max(2) / size(dst)).max(1);
        let src = region(src);
        format!("{op}(8) g10<{stride}>{dst} g2{src} g3{src} {{ align1 1Q }};")
    };
    let small = ["UB", "B", "UW", "W", "UD", "D"];
    for op in ["add", "asr", "avg"] {
        for dst in small {
            for src in small {
                let text = text(op, dst, src);
                assert_eq!(broken(&inst(&text)), [""; 0], "{text}");
            }
        }
    }
    for src in small.into_iter().chain(["F"]) {
        let text = text("add", "F", src);
        assert_eq!(broken(&inst(&text)), [""; 0], "{text}");
    }
    let doubles = "add(8) g10<1>DF g2<8,8,1>DF g3<8,8,1>DF { align1 1Q };";
    assert_eq!(broken(&inst(doubles)), [""; 0]);
    for (op, ty) in [("asr", Type::F), ("avg", Type::F)] {
        let mut wrong = inst(&text(op, "D", "D"));
        wrong.dst.ty = ty;
        assert!(!broken(&wrong).is_empty(), "{op}");
    }
    for (text, _, _) in SAMPLES {
        let plain = inst(text);
        let limited = ["addc", "bfe", "bfi1", "bfi2", "bfrev"];
        if !limited.iter().any(|op| text.starts_with(op)) {
            continue;
        }
        let mut wrong = plain;
        wrong.dst.ty = Type::F;
        for src in &mut wrong.src {
            src.ty = Type::F;
        }
        assert!(!broken(&wrong).is_empty(), "{text}");
        // The signed form is there where the manual has it.
        let mut signed = plain;
        signed.dst.ty = Type::D;
        for src in &mut signed.src {
            src.ty = Type::D;
        }
        let has = text.starts_with("bfe") || text.starts_with("bfi");
        assert_eq!(broken(&signed).is_empty(), has, "{text}");
    }
}

// covers: V-0542, V-0574, V-0575, V-0606, V-0616, V-0644, V-0655, V-0668
#[test]
fn restrictions_are_the_manuals() {
    let rules = |text: &str, change: fn(&mut Inst)| {
        let mut changed = inst(text);
        change(&mut changed);
        broken(&changed)
    };
    let accumulator = |i: &mut Inst| {
        i.dst.file = isa::operand::RegFile::Arf;
        i.dst.addr = isa::operand::Addr::Direct { nr: 0x20, subnr: 0 };
    };
    for (text, _, _) in SAMPLES {
        let none = ["addc", "bfi1", "bfrev"]
            .iter()
            .any(|op| text.starts_with(op));
        if none {
            assert!(!rules(text, accumulator).is_empty(), "{text}");
        }
        if text.starts_with("addc") {
            assert!(!rules(text, |i| i.acc_wr_ctrl = false).is_empty());
        }
        if text.starts_with("bfe") || text.starts_with("bfi2") {
            let file = |i: &mut Inst| i.src[1].file = isa::operand::RegFile::Arf;
            assert!(!rules(text, file).is_empty(), "{text}");
        }
        if text.starts_with("br") {
            let stays = |i: &mut Inst| i.thread_ctrl = ThreadCtrl::Normal;
            assert!(rules(text, stays).contains(&"flow-branch-switch"), "{text}");
        }
    }
}

/// Header in the first dword, controls of operands in the second, sources behind them.
// covers: V-0534, V-0535, V-0536, V-0543, V-0544, V-0545, V-0555, V-0556, V-0557, V-0563, V-0564, V-0565, V-0607, V-0608, V-0609, V-0646, V-0647, V-0648
#[test]
fn plain_instructions_have_their_parts_in_order() {
    let two = ["add", "addc", "asr", "avg", "bfi1"];
    for op in two.into_iter().chain(["bfrev"]) {
        let acc = if op == "addc" { " AccWrEnable" } else { "" };
        let text = |size: u32, dst: u32, first: u32, last: &str| {
            let one = op == "bfrev";
            let sources = if one {
                last.to_owned()
            } else {
                format!("g{first}<8,8,1>UD {last}")
            };
            words(&format!(
                "{op}({size}) g{dst}<1>UD {sources} {{ align1 1Q{acc} }};"
            ))
        };
        let plain = text(8, 10, 2, "g3<8,8,1>UD");
        let differs =
            |other: [u32; 4]| -> Vec<usize> { (0..4).filter(|n| plain[*n] != other[*n]).collect() };
        assert_eq!(differs(text(4, 10, 2, "g3<8,8,1>UD")), [0], "{op}");
        assert_eq!(differs(text(8, 11, 2, "g3<8,8,1>UD")), [1], "{op}");
        assert_eq!(field(plain, 60, 53), 10, "{op}");
        let last = if op == "bfrev" { 2 } else { 3 };
        assert_eq!(differs(text(8, 10, 2, "g4<8,8,1>UD")), [last], "{op}");
        if op != "bfrev" {
            assert_eq!(differs(text(8, 10, 6, "g3<8,8,1>UD")), [2], "{op}");
        }
        let imm = text(8, 10, 2, "0x12345678UD");
        assert_eq!(field(imm, 127, 96), 0x1234_5678, "{op}");
    }
}

// covers: V-0576, V-0577, V-0578, V-0579, V-0580, V-0581, V-0582, V-0583, V-0584, V-0585, V-0586, V-0587, V-0588, V-0589, V-0590, V-0591, V-0592, V-0593, V-0594, V-0595, V-0597
#[test]
fn fields_of_three_sources_in_bfe() {
    three_sources("bfe");
}

// covers: V-0618, V-0619, V-0620, V-0621, V-0622, V-0623, V-0624, V-0625, V-0626, V-0627, V-0628, V-0629, V-0630, V-0631, V-0632, V-0633, V-0634, V-0635, V-0636, V-0637, V-0639
#[test]
fn fields_of_three_sources_in_bfi2() {
    three_sources("bfi2");
}

fn three_sources(op: &str) {
    let text = |rest: &str| words(&format!("{op}(8) {rest} {{ align16 1Q }};"));
    let plain = text("g10.4<1>.xzUD g2<4,4,1>UD g3.1<0,1,0>UD g4<4,4,1>.wzyxUD");
    assert_eq!(field(plain, 63, 56), 10, "register of the destination");
    assert_eq!(field(plain, 55, 53), 4, "its subregister, in dwords");
    assert_eq!(field(plain, 52, 49), 0b0101, "channel enables");
    assert_eq!(field(plain, 45, 44), 0b10, "UD");
    assert_eq!(field(plain, 43, 42), 0b10, "UD");
    // A source: scalar, swizzle, subregister, register.
    for (first, nr, sub, replicated, swizzle) in
        [(64, 2, 0, 0, 0xe4), (85, 3, 1, 1, 0), (106, 4, 0, 0, 0x1b)]
    {
        assert_eq!(field(plain, first + 19, first + 12), nr);
        assert_eq!(field(plain, first + 11, first + 9), sub);
        assert_eq!(field(plain, first, first), replicated);
        if replicated == 0 {
            assert_eq!(field(plain, first + 8, first + 1), swizzle);
        }
    }
    for reserved in [127, 126, 105, 84, 48, 46, 41, 40, 39, 38, 37, 36, 35, 32] {
        assert_eq!(field(plain, reserved, reserved), 0, "bit {reserved}");
        let mut changed = plain;
        changed[reserved as usize / 32] |= 1 << (reserved % 32);
        // The operand's modifiers are decoded where others have them, and then not allowed.
        let refused =
            isa::decode(generation(), changed).map_or(true, |inst| !broken(&inst).is_empty());
        assert!(refused, "bit {reserved}");
    }
    for (ty, code) in [("D", 1), ("UD", 2)] {
        let typed = text(&format!(
            "g10<1>{ty} g2<4,4,1>{ty} g3<4,4,1>{ty} g4<4,4,1>{ty}"
        ));
        assert_eq!((field(typed, 45, 44), field(typed, 43, 42)), (code, code));
    }
    // `mad` has the types that are no integers, and modifiers.
    for (ty, code) in [("F", 0), ("DF", 3)] {
        let text = format!(
            "mad(8) g10<1>{ty} g2<4,4,1>{ty} -g3<4,4,1>{ty} (abs)g4<4,4,1>{ty} {{ align16 1Q }};"
        );
        let typed = words(&text);
        assert_eq!((field(typed, 45, 44), field(typed, 43, 42)), (code, code));
        // Negative is the upper of two bits.
        assert_eq!(field(typed, 41, 36), 0b01_10_00);
    }
    let mut nibble = inst(&format!(
        "{op}(4) g10<1>UD g2<4,4,1>UD g3<4,4,1>UD g4<4,4,1>UD {{ align16 2N }};"
    ));
    (nibble.flag_reg, nibble.flag_subreg) = (1, 1);
    let nibble = isa::encode(generation(), &nibble).expect("an instruction");
    assert_eq!(field(nibble, 47, 47), 1, "nibble control");
    assert_eq!(field(nibble, 34, 34), 1, "flag register");
    assert_eq!(field(nibble, 33, 33), 1, "its subregister");
}

// covers: V-0654, V-0656, V-0657, V-0658, V-0659, V-0660, V-0661, V-0667, V-0669, V-0671, V-0672, V-0673, V-0674, V-0675
#[test]
fn distances_of_branches_are_words_of_eight_bytes() {
    // A program of more instructions than it needs: a label is a distance.
    let program = |line: &str| {
        words(&format!(
            "{line} {{ align1 1Q switch }};
            nop {{ align1 1N }};
            L1: nop {{ align1 1N }};
            L2: nop {{ align1 1N }};"
        ))
    };
    let brc = program("(+f1.1) brc(8) JIP: L1 UIP: L2");
    assert_eq!((field(brc, 127, 112), field(brc, 111, 96)), (6, 4));
    let brd = program("(+f1.1) brd(8) JIP: L1");
    assert_eq!((field(brd, 127, 112), field(brd, 111, 96)), (0, 4));
    for (words, text) in [(brc, "brc"), (brd, "brd")] {
        let decoded = isa::decode(generation(), words).expect(text);
        assert_eq!((decoded.flag_reg, decoded.flag_subreg), (1, 1), "{text}");
        assert_eq!(
            (field(words, 90, 90), field(words, 89, 89)),
            (1, 1),
            "{text}"
        );
        assert_eq!(
            field(words, 127, 96),
            if text == "brc" { 6 << 16 | 4 } else { 4 }
        );
        let branch = decoded.branch.expect(text);
        assert_eq!(branch.jump, 4, "{text}");
    }
    // Back, and by a register.
    let back = isa::decode(
        generation(),
        [
            brc[0],
            brc[1],
            brc[2],
            (-6i32 as u32) << 16 | (-4i32 as u32 & 0xffff),
        ],
    );
    let branch = back.expect("brc").branch.expect("distances");
    assert_eq!((branch.jump, branch.pop_or_uip), (-4, -6));
    for op in ["brc", "brd"] {
        let by_register = inst(&format!("{op}(8) g3<0,1,0>D {{ align1 1Q switch }};"));
        assert_eq!((by_register.num_src, by_register.branch), (1, None), "{op}");
        assert_eq!(by_register.src[0].ty, Type::D);
    }
}
