//! Restrictions that notes on Sandy Bridge name, each broken once and kept once.
//!
//! PRM: Sandy Bridge volume 4 part 2. The notes are docs/coverage/gen6.items, sections 9 to 13.

use isa::inst::{Inst, Verx10};
use isa::operand::Type;
use isa::validate::validate;

fn generation() -> Verx10 {
    Verx10::from_times_ten(60)
}

fn inst(text: &str) -> Inst {
    let program = isa::parse::assemble(generation(), "text", text);
    let words: Vec<u32> = program.expect(text).dwords().collect();
    isa::decode(generation(), [words[0], words[1], words[2], words[3]]).expect(text)
}

/// The rule is broken by one, and by nothing of the other.
fn breaks(rule: &str, broken: &Inst, kept: &Inst) {
    let names = |inst: &Inst| -> Vec<&str> {
        validate(generation(), inst)
            .map(|found| found.rule.name)
            .collect()
    };
    let found = names(broken);
    assert!(found.contains(&rule), "{rule}: {found:?}");
    let found = names(kept);
    assert!(found.is_empty(), "{rule} kept: {found:?}");
}

// covers: S-0133, S-0134, S-0135
#[test]
fn immediates() {
    let kept = inst("mov(8) g2<1>W 5W { align1 1Q };");
    let mut byte = kept;
    byte.src[0].ty = Type::B;
    breaks("immediate-byte", &byte, &kept);
    // The word stands in both halves.
    assert_eq!(kept.src[0].imm, 0x0005_0005);
    let mut half = kept;
    half.src[0].imm = 5;
    breaks("immediate-word-copies", &half, &kept);
    for (text, ty) in [
        ("mov(8) g2<1>W 0x76543210V { align1 1Q };", Type::V),
        ("mov(8) g2<1>F 0x30303030VF { align1 1Q };", Type::Vf),
    ] {
        let vector = inst(text);
        assert_eq!(vector.src[0].ty, ty);
        breaks("immediate-byte", &byte, &vector);
    }
}

// covers: S-0141, S-0142, S-0143
#[test]
fn regions() {
    let kept = inst("mov(8) g2<1>F g4<8,8,1>F { align1 1Q };");
    breaks(
        "destination-two-registers",
        &inst("mov(16) g2<4>F g4<8,8,1>F { align1 1H };"),
        &kept,
    );
    // As many rows as the execution size has widths.
    breaks(
        "region-exec-size-width",
        &inst("mov(4) g2<1>F g4<8,8,1>F { align1 1N };"),
        &kept,
    );
}

// covers: S-0148
#[test]
fn integers_and_floats_do_not_mix() {
    breaks(
        "float-integer-mix",
        &inst("add(8) g2<1>F g4<8,8,1>F g5<8,8,1>D { align1 1Q };"),
        &inst("add(8) g2<1>F g4<8,8,1>F g5<8,8,1>F { align1 1Q };"),
    );
}

// covers: S-0145, S-0162
#[test]
fn align16_has_two_vertical_strides() {
    let kept = inst("mov(8) g2<1>F g4<4>F { align16 1Q };");
    let mut broken = kept;
    broken.src[0].region.vstride = 2;
    breaks("align16-vertical-stride", &broken, &kept);
    breaks(
        "align16-vertical-stride",
        &broken,
        &inst("mov(8) g2<1>F g4<0>F { align16 1Q };"),
    );
}

// covers: S-0180, S-0181, S-0189
#[test]
fn urb_messages_have_a_header() {
    // A captured vertex kernel ends so.
    let text = "send(8) null<1>F m1<4>F 0x8a08c400
        urb MsgDesc: offset 0 urb_write interleave used complete mlen 5 rlen 0 { align16 1Q EOT };";
    let kept = inst(text);
    let mut broken = kept;
    let send = broken.send.as_mut().unwrap();
    send.imm = send.imm.map(|desc| desc & !(1 << 19));
    breaks("urb-header", &broken, &kept);
    // Bits 18:16 and 12 mean nothing there: the text has them as they are.
    for bit in [12, 16, 17, 18] {
        let text = isa::message::describe(generation(), 6, Some(0x0a08_c400 | 1 << bit), None);
        let raw = format!("raw {:#010x}", 1_u32 << bit);
        assert!(text.to_string().ends_with(&raw), "{text}");
    }
}
