//! Descriptors as text: what Mesa prints, and every word back.
//!
//! PRM: volume 4, 2.6.2. Instructions are tested with the printer.

#![allow(clippy::unwrap_used, reason = "tests")]

use alloc::format;
use alloc::string::ToString;

use super::{Message, describe, parse};
use crate::inst::Verx10;

const GENERATIONS: [u8; 8] = [40, 45, 50, 60, 70, 75, 80, 90];

/// Text that Mesa 22.3.6 prints for a descriptor, after the unit's name; from its disassembler run
/// on the words, or from the rules of `brw_disasm.c` where it has no name for a code.
#[rustfmt::skip]
const MESA: &[(u8, u8, u32, &str)] = &[
    (40, 1, 0x0111_0001, "math MsgDesc: inv mlen 1 rlen 1"),
    (40, 1, 0x0121_00da, "math MsgDesc: pow sat signed scalar mlen 2 rlen 1"),
    (40, 2, 0x0218_0203, "sampler MsgDesc: (bti 3, sampler 2, msg_type 0, F) mlen 1 rlen 8"),
    (45, 2, 0x0218_3203, "sampler MsgDesc: (bti 3, sampler 2, msg_type 3, ) mlen 1 rlen 8"),
    (40, 4, 0x0412_4f01, "read MsgDesc: OWord Block Read MsgCtrl = 0x15 Surface = 1 mlen 1 rlen 2"),
    (45, 4, 0x0412_1701, "read MsgDesc: OWord Dual Block Read MsgCtrl = 0x7 Surface = 1 mlen 1 rlen 2"),
    (40, 5, 0x85a0_4800, "write MsgDesc: RT write SIMD16 LastRT Surface = 0 mlen 10 rlen 0"),
    (40, 6, 0x8640_c400, "urb MsgDesc: offset 0 urb_write interleave used complete mlen 4 rlen 0"),
    (50, 1, 0x0210_0001, "math MsgDesc: inv mlen 1 rlen 1"),
    (50, 2, 0x0888_a203, "sampler MsgDesc: resinfo SIMD4x2 Surface = 3 Sampler = 2 mlen 4 rlen 8"),
    (60, 5, 0x9409_9000, "render MsgDesc: RT write SIMD16 LastRT Surface = 0 mlen 10 rlen 0"),
    (60, 9, 0x0219_4302, "const MsgDesc: (bti 2, msg_ctrl 3, msg_type 10, write_commit 0) mlen 1 rlen 1"),
    (70, 6, 0x8608_c000, "urb MsgDesc: offset 0 write HWord interleave complete mlen 3 rlen 0"),
    (70, 2, 0x0842_7001, "sampler MsgDesc: ld SIMD8 Surface = 1 Sampler = 0 mlen 4 rlen 4"),
    (70, 10, 0x0210_c502, "data MsgDesc: (DC DWORD scattered read, bti 2, 5) mlen 1 rlen 1"),
    (70, 11, 0x0220_1045, "pixel interp MsgDesc: (persp, sample_position, 0x45) mlen 1 rlen 2"),
    (90, 6, 0x0a08_0027, "urb MsgDesc: offset 2 SIMD8 write mlen 5 rlen 0"),
    (90, 5, 0x1003_1400, "render MsgDesc: RT write SIMD8 LastRT Surface = 0 mlen 8 rlen 0"),
    (90, 12, 0x0401_8301, "dp data 1 MsgDesc: (DC typed atomic, Surface = 1, SIMD16, xor) mlen 2 rlen 0"),
    (90, 12, 0x0210_5e02, "dp data 1 MsgDesc: (untyped surface read, Surface = 2, SIMD16, Mask = 0xe) mlen 1 rlen 1"),
    (90, 12, 0x0c5f_412e, "dp data 1 MsgDesc: (DC A64 untyped atomic float op, Surface = 46, SIMD16, fmax) mlen 6 rlen 5"),
    (90, 12, 0x0405_40ff, "dp data 1 MsgDesc: (DC A64 oword block write, Surface = 255, owords = 1-low, aligned = 0) mlen 2 rlen 0") ,
    (90, 3, 0x0200_0004, "gateway MsgDesc: (barrier msg) mlen 1 rlen 0"),
    (90, 0, 0x0210_0000, "null MsgDesc:unsupported shared function ID 0 mlen 1 rlen 1"),
];

fn squeeze(text: &str) -> alloc::string::String {
    text.split_whitespace()
        .collect::<alloc::vec::Vec<_>>()
        .join(" ")
        .replace("( ", "(")
}

#[test]
fn texts_are_mesas() {
    for &(generation, sfid, desc, text) in MESA {
        let description = describe(Verx10::from_times_ten(generation), sfid, Some(desc), None);
        assert_eq!(
            squeeze(&format!("{description:#}")),
            squeeze(text),
            "{generation} {desc:08x}"
        );
    }
}

/// The same sequence each time.
fn words(count: u32) -> impl Iterator<Item = u32> {
    let mut random = fastrand::Rng::with_seed(0);
    (0..count).map(move |_| random.u32(..))
}

#[test]
fn every_word_comes_back() {
    for generation in GENERATIONS.map(Verx10::from_times_ten) {
        for sfid in 0..16_u8 {
            for word in words(600)
                .chain((0..32).map(|bit| 1 << bit))
                .chain([0, u32::MAX])
            {
                let desc = match generation.times_ten() {
                    0..50 => word & !0x8f00_0000 | u32::from(sfid) << 24,
                    _ => word & !0x8000_0000,
                };
                for ex_desc in [None, Some(word.rotate_left(7))] {
                    let text =
                        describe(generation, sfid, Some(desc | 1 << 31), ex_desc).to_string();
                    let message = Message {
                        sfid,
                        desc: Some(desc),
                        ex_desc,
                    };
                    assert_eq!(parse(generation, &text), Ok(message), "{text}");
                }
            }
        }
    }
}

#[test]
fn what_mesa_leaves_out_is_appended() {
    let text = |generation, sfid, desc| {
        describe(Verx10::from_times_ten(generation), sfid, Some(desc), None).to_string()
    };
    assert_eq!(
        text(70, 6, 0x8608_c000),
        "urb MsgDesc: offset 0 write HWord interleave complete mlen 3 rlen 0 header"
    );
    assert_eq!(
        text(40, 4, 0x0412_4f01),
        "read MsgDesc: OWord Block Read MsgCtrl = 0x15 Surface = 1 mlen 1 rlen 2 render_cache"
    );
    assert_eq!(
        text(70, 0, 0x0210_0003),
        "null MsgDesc:unsupported shared function ID 0 mlen 1 rlen 1 raw 0x00000003"
    );
    assert_eq!(
        text(70, 10, 0x0215_8903),
        "data MsgDesc: (scratch read DWord invalidate, offset 2307, size 0) mlen 1 rlen 1"
    );
}

/// One text serves the generations whose descriptors say that there is a header and those whose messages always have it.
#[test]
fn a_header_may_be_said_where_no_bit_says_it() {
    let text = "read MsgDesc: OWord Block Read MsgCtrl = 0x4 Surface = 1 mlen 1 rlen 4 header";
    let without = text.replace(" header", "");
    for version in [40, 45] {
        let parsed = parse(Verx10::from_times_ten(version), text);
        assert!(
            parsed.is_ok() && parsed == parse(Verx10::from_times_ten(version), &without),
            "{version}"
        );
    }
    let [with, without] = [text, &without].map(|text| {
        let parsed = parse(Verx10::from_times_ten(50), text).unwrap();
        parsed.desc.unwrap()
    });
    // Mesa brw_inst.h: brw_inst_header_present, bit 19 of the descriptor.
    assert_eq!(with, without | 1 << 19);
}

#[test]
fn a_single_notification_needs_no_number() {
    let parsed = |version, text| {
        parse(Verx10::from_times_ten(version), text)
            .unwrap()
            .desc
            .unwrap()
    };
    let text = "gateway MsgDesc: (forward msg) mlen 1 rlen 0 notify";
    // PRM vol4 7.1.1: bit 15.
    assert_eq!(parsed(40, text), 0x0310_8002);
    assert_eq!(parsed(50, text), 0x0200_8002);
    assert_eq!(parsed(50, &format!("{text} 2")), 0x0201_0002);
    assert!(parse(Verx10::from_times_ten(50), &format!("{text} x")).is_err());
}

#[test]
fn registers_hold_descriptors() {
    let text = describe(Verx10::from_times_ten(90), 2, None, Some(0x40)).to_string();
    assert_eq!(text, "sampler MsgDesc: indirect ex_mlen 1");
    assert_eq!(
        parse(Verx10::from_times_ten(90), &text),
        Ok(Message {
            sfid: 2,
            desc: None,
            ex_desc: Some(0x40)
        })
    );
}

#[test]
fn errors_say_where_and_what() {
    let error = |generation, text| {
        let error = parse(Verx10::from_times_ten(generation), text).unwrap_err();
        (error.offset, error.expected)
    };
    assert_eq!(error(40, "data MsgDesc: mlen 1 rlen 0"), (0, "SFID"));
    assert_eq!(error(70, "urb  offset 0"), (5, "MsgDesc:"));
    assert_eq!(
        error(70, "urb MsgDesc: offset 0 mlen 1 rlen 0"),
        (22, "urb opcode")
    );
    assert_eq!(
        error(70, "urb MsgDesc: offset 2048 write HWord"),
        (20, "a smaller number")
    );
    assert_eq!(
        error(70, "urb MsgDesc: offset 0 write HWord rlen 0"),
        (34, "mlen")
    );
    assert_eq!(error(70, "urb MsgDesc: offset x"), (20, "a decimal number"));
    assert_eq!(
        error(70, "urb MsgDesc: offset 0 write HWord mlen 1 rlen 0 used"),
        (48, "the end of the message")
    );
    assert_eq!(error(70, ""), (0, "SFID"));
}
