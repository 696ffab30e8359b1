//! Tests of the assembler: labels, declarations, mistakes and where they are shown.
//!
//! PRM: volume 4, 13.2-13.4 for the words. Corpora of whole programs are in `tests/`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::*;
use crate::operand::{Addr, RegFile, Region, Src, Type};

const GEN40: Verx10 = Verx10::GEN40;

fn program(text: &str) -> Assembled {
    assemble(GEN40, "x.asm", text).unwrap_or_else(|errors| panic!("{}", errors[0]))
}

fn one(text: &str) -> Inst {
    instruction(GEN40, text).unwrap_or_else(|error| panic!("{error}"))
}

/// First lines of the errors.
fn errors(generation: Verx10, text: &str) -> Vec<String> {
    match assemble(generation, "x.asm", text) {
        Ok(_) => panic!("{text} assembles"),
        Err(errors) => errors
            .iter()
            .map(|error| error.to_string().lines().next().unwrap().to_string())
            .collect(),
    }
}

fn imm(text: &str) -> (Type, u64) {
    let inst = one(&alloc::format!("mov(8) g1<1>F {text} {{ align1 }}"));
    (inst.src[0].ty, inst.src[0].imm)
}

#[test]
fn an_error_is_shown_as_compilers_show_it() {
    let text = "mov(8) g1<1>F g2<8,8,1>F { align1 };\n\tmov(8) g12<1>Z g2<8,8,1>F { align1 };\n";
    let errors = assemble(GEN40, "x.asm", text).unwrap_err();
    assert_eq!(errors.len(), 1);
    assert_eq!((errors[0].line, errors[0].column), (2, 15));
    assert_eq!(errors[0].token, "Z");
    assert_eq!(
        errors[0].to_string(),
        "x.asm:2:15: error: expected a type letter (F, D, UD, W, UW, B, UB, DF, HF, Q, UQ; \
         immediates also V, UV, VF), found 'Z'\n\
         \tmov(8) g12<1>Z g2<8,8,1>F { align1 };\n\
         \t             ^"
    );
}

#[test]
fn every_line_has_its_error() {
    let text = "\
mov(8) g1<1>F g2<8,8,1>F { align1 }
mov(9) g1<1>F g2<8,8,1>F { align1 };
frob(8) g1<1>F;
add(8) g1<3>F g2<8,8,1>F g3<8,8,1>F;
add(8) g1<1>F g128<8,8,1>F g3<8,8,1>F;
add(8) g1<1>F g2<8,8,1>F 1.5D;
mov(8) g1<1>F g2<8,8,1>F { align2 };
send(8) 2 g12<1>F g10<8,8,1>F 0x01110001
   frobnicate MsgDesc: inv { align1 };
mov(8) g1.8<1>F g2<8,8,1>F;
pln(8) g1<1>F g2<0,1,0>F g4<8,8,1>F;
mov(8) g1<1>V g2<8,8,1>F;
(+f1.0) mov(8) g1<1>F g2<8,8,1>F;
(+f0.1) cmp.z.f0.0(8) null<1>F g2<8,8,1>F g3<8,8,1>F;
mov(8) g1<1>F 0x1234567890D;
";
    let lines: Vec<String> = errors(GEN40, text)
        .iter()
        .map(|e| e.strip_prefix("x.asm:").unwrap().to_string())
        .collect();
    let starts = [
        "1:36: error: expected ';', found end of line",
        "2:5: error: expected an execution size (1, 2, 4, 8, 16 or 32), found '9'",
        "3:1: error: expected an instruction, a label or a directive, found 'frob'",
        "4:11: error: expected a destination stride (1, 2 or 4), found '3'",
        "5:15: error: there are 128 general registers, the last is 127",
        "6:26: error: a fraction is no D immediate",
        "7:28: error: expected an option (align1,",
        "9:4: error: expected a shared function (null,",
        "10:11: error: subregister 8 of type F is outside the register, the last is 7",
        "11:1: error: this generation has no instruction pln",
        "12:13: error: V, UV and VF are types of immediates",
        "13:3: error: this generation has one flag register, f0",
        "14:15: error: predicate and conditional modifier have to name the same flag",
        "15:15: error: the number does not fit the 32 bits of D",
    ];
    assert_eq!(lines.len(), starts.len(), "{lines:#?}");
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(start), "{line}\nis not\n{start}");
    }
}

#[test]
fn a_missing_semicolon_is_told_where_it_belongs() {
    for (first, column) in [
        ("mov(8) g1<1>F g2<8,8,1>F", 25),
        ("mov(8) g1<1>F g2<8,8,1>F // why", 25),
        ("mov(8) g1<1>F g2<8,8,1>F { align1 }", 36),
        ("nop", 4),
    ] {
        let text = alloc::format!("{first}\n\nmov(8) g1<1>F g2<8,8,1>F;\n");
        let found = errors(GEN40, &text);
        assert_eq!(found.len(), 1, "{found:#?}");
        let start = alloc::format!("x.asm:1:{column}: error: expected ';', found ");
        assert!(found[0].starts_with(&start), "{found:#?}");
    }
    let send = "send(8) 1 g10<1>F g2<8,8,1>F math MsgDesc: inv mlen 1 rlen 1\nnop;\n";
    let found = errors(GEN40, send);
    let start = "x.asm:1:61: error: expected ';' or options in braces, found end of line";
    assert!(found[0].starts_with(start), "{found:#?}");
}

#[test]
fn words_of_messages_are_listed_and_understood() {
    let before_and_behind = [
        ("math", "", " mlen 1 rlen 1"),
        ("read", "", " MsgCtrl = 0x0 Surface = 0 mlen 1 rlen 1"),
        ("urb", " offset 0", " mlen 1 rlen 0"),
        ("write", " RT write", " Surface = 0 mlen 1 rlen 0"),
    ];
    for generation in [
        GEN40,
        Verx10::from_times_ten(45),
        Verx10::from_times_ten(50),
    ] {
        for (unit, before, behind) in before_and_behind {
            let send = |word: &str| {
                alloc::format!(
                    "send(8) 1 g10<1>UD g2<8,8,1>UD {unit} MsgDesc:{before} {word}{behind};\n"
                )
            };
            let found = errors(generation, &send("frobnicate"));
            let words = found[0]
                .split_once('(')
                .unwrap()
                .1
                .split_once(')')
                .unwrap()
                .0;
            assert!(words.split(", ").count() > 1, "{found:#?}");
            for word in words.split(", ") {
                assemble(generation, "x.asm", &send(word)).unwrap();
            }
        }
    }
}

#[test]
fn errors_are_limited() {
    let text = "frob;\n".repeat(1000);
    assert_eq!(assemble(GEN40, "x", &text).unwrap_err().len(), MAX_ERRORS);
}

#[test]
fn labels_count_in_the_generations_unit() {
    // PRM vol4 13.3: Gen4 counts instructions, Ironlake halves of them; jmpi from the next one.
    let text = "\
        jmpi(1) END { align1 nomask };\n\
        TOP:\n\
        do(8) { align1 };\n\
        break(8) Jump: END Pop: 1 { align1 };\n\
        while(8) Jump: TOP { align1 };\n\
        END:\n";
    let distances = |generation| -> Vec<Option<i32>> {
        let program = assemble(generation, "x", text).unwrap();
        program.insts().map(|i| i.branch.map(|b| b.jump)).collect()
    };
    assert_eq!(distances(GEN40), [Some(3), None, Some(2), Some(-2)]);
    let program = program(text);
    assert_eq!(
        program.labels,
        [("END".to_string(), 64), ("TOP".to_string(), 16)]
    );
    assert_eq!(program.items[2].span, Span { line: 4, column: 1 });
    // jmpi's distance is an immediate.
    assert_eq!(program.items[0].words[3], 3);
    assert_eq!(program.items[2].words[3], 0x0001_0002);
}

#[test]
fn jmpi_takes_a_register_too() {
    let inst = one("jmpi(1) g2.1<0,1,0>D { align1 nomask }");
    assert_eq!(inst.branch, None);
    assert_eq!(inst.src[1].addr, Addr::Direct { nr: 2, subnr: 4 });
    assert_eq!(one("jmpi(1) -3D").branch.map(|b| b.jump), Some(-3));
}

#[test]
fn wrong_labels_are_errors() {
    assert_eq!(
        errors(GEN40, "A:\nA:\nwhile(8) Jump: B;\n"),
        [
            "x.asm:2:1: error: the label A stands twice",
            "x.asm:3:16: error: the label B is not defined",
        ]
    );
    let mut far = "A:\n".to_string();
    far += &"nop;\n".repeat(40_000);
    far += "while(8) Jump: A;\n";
    assert_eq!(
        errors(GEN40, &far),
        ["x.asm:40002:1: error: jump count has no encoding"]
    );
}

#[test]
fn registers_and_constants_have_names() {
    let text = "\
        .declare pos g10<8,8,1>F\n\
        .declare flags = g4.2<0,1,0>:UD   # a scalar\n\
        .define HALF 0.5F\n\
        .define MASK 0xff\n\
        .define BACK -2;\n\
        mul(8) pos+1 pos -HALF { align1 };\n\
        and(1) flags flags MASK:UD;\n\
        mov(8) pos.1<2>:UD g[a0.2 BACK]<0,1,0>UD;\n";
    let program = program(text);
    let insts: Vec<&Inst> = program.insts().collect();
    let expected = [
        "mul(8) g11<1>F g10<8,8,1>F -0.5F { align1 }",
        "and(1) g4.2<1>UD g4.2<0,1,0>UD 255UD",
        "mov(8) g10.1<2>UD g[a0.2 -2]<0,1,0>UD",
    ];
    for (inst, text) in insts.into_iter().zip(expected) {
        assert_eq!(*inst, one(text), "{text}");
    }
    for (text, error) in [
        (
            ".declare g12 g1",
            "x.asm:1:10: error: g12 is the name of a register or type",
        ),
        (
            ".declare UD g1",
            "x.asm:1:10: error: UD is the name of a register or type",
        ),
        (
            ".declare a g1\n.declare a g2",
            "x.asm:2:10: error: a is declared twice",
        ),
        (
            ".define a b",
            "x.asm:1:11: error: expected a number, found 'b'",
        ),
        (
            ".declare a g1 g2",
            "x.asm:1:15: error: expected the end of the line, found 'g2'",
        ),
        (
            ".dword 1 2 3",
            "x.asm:1:13: error: expected two or four words of an instruction, found end of text",
        ),
        (
            ".reg_count_total 8\nmov(8) g8<1>F 1F;",
            "x.asm:2:8: error: there are 8 general registers, the last is 7",
        ),
        (
            ".reg_count_total 0\nmov(8) g8<1>F 1F;",
            "x.asm:2:8: error: there are no general registers",
        ),
        (
            "mov(8) g8.18446744073709551615<1>F 1F;",
            "x.asm:1:11: error: subregister 18446744073709551615 of type F is outside the register, the last is 7",
        ),
        ("/* open", "x.asm:1:1: error: the comment has no end"),
    ] {
        assert_eq!(errors(GEN40, text), [error]);
    }
}

#[test]
fn immediates() {
    // IEEE 754 for the floats, PRM vol4 10.2.5 for the restricted ones.
    for (text, expected) in [
        ("0x3f800000F", (Type::F, 0x3f80_0000)),
        ("0x3f800000F /* 1F */", (Type::F, 0x3f80_0000)),
        ("1F", (Type::F, 0x3f80_0000)),
        ("-1.5F", (Type::F, 0xbfc0_0000)),
        ("1e-3:F", (Type::F, 0x3a83_126f)),
        ("-1D", (Type::D, 0xffff_ffff)),
        ("0xffffffffD", (Type::D, 0xffff_ffff)),
        ("4294967295UD", (Type::Ud, 0xffff_ffff)),
        ("-5W", (Type::W, 0xfffb_fffb)),
        ("0x00ffUW", (Type::Uw, 0x00ff_00ff)),
        ("0x76543210V", (Type::V, 0x7654_3210)),
        ("0x30VF", (Type::Vf, 0x30)),
        ("[1F, 0F, -0.25F, 31F]VF", (Type::Vf, 0x7f90_0030)),
        ("[0x30, 0, 1F, 0x7f]VF", (Type::Vf, 0x7f30_0030)),
    ] {
        assert_eq!(imm(text), expected, "{text}");
    }
}

#[test]
fn operands() {
    let inst = one(
        "add.sat.z.f0.1(8) g12.1<2>F -g10.3<8,4,2>F (abs)g[a0.4 -16]<VxH,1,0>F { align1 NoDDClr,NoDDChk switch compr }",
    );
    assert!(inst.saturate && inst.no_dd_clr && inst.no_dd_chk);
    assert_eq!(inst.flag_subreg, 1);
    assert_eq!(inst.dst.addr, Addr::Direct { nr: 12, subnr: 4 });
    assert_eq!(inst.dst.hstride, 2);
    let [first, second, _] = inst.src;
    assert!(first.negate && !first.abs);
    let region = |vstride, width, hstride| Region {
        vstride,
        width,
        hstride,
    };
    assert_eq!(first.region, region(8, 4, 2));
    assert!(!second.negate && second.abs);
    assert_eq!(
        second.addr,
        Addr::Indirect {
            subreg: 4,
            imm: -16
        }
    );
    assert_eq!(second.region, region(Region::VXH, 1, 0));
    // Other ways to write the same.
    assert_eq!(inst, one("(+f0.1) add.sat.z(8) r12.1 <2> :F ~r10.3<8;4,2>:F (abs)g[a0.4,-16]<1,0>F {align1 NoDDClr NoDDChk switch compr}").unpredicated());
    let inst = one("mov(8) g1<1>.xzF g2<4>.wF { align16 }");
    assert_eq!(inst.dst.writemask, 0b0101);
    assert_eq!(inst.src[0].swizzle, [3; 4]);
    assert_eq!(inst.src[0].region, region(4, 4, 1));
    for (name, nr) in [
        ("null", 0),
        ("a0", 0x10),
        ("acc1", 0x21),
        ("f0", 0x30),
        ("mask0", 0x40),
        ("ce0", 0x40),
        ("ms0", 0x50),
        ("msd0", 0x60),
        ("sr0", 0x70),
        ("cr0", 0x80),
        ("n1", 0x91),
        ("ip", 0xa0),
        ("tm0", 0xc0),
        ("ARF225", 225),
    ] {
        let inst = one(&alloc::format!(
            "mov(1) g1<1>UD {name}<0,1,0>UD {{ align1 }}"
        ));
        let expected = Src {
            file: RegFile::Arf,
            addr: Addr::Direct { nr, subnr: 0 },
            ..Src::NULL
        };
        assert_eq!(inst.src[0], expected, "{name}");
    }
    // There is one of each of these, and the printer knows no others.
    for name in ["null4<1>UD", "ip1<1>UD", "tdr1<1>UW"] {
        let text = alloc::format!("mov(1) {name} g1<0,1,0>UD {{ align1 }}");
        let errors = errors(GEN40, &text);
        assert!(errors[0].contains("1:8"), "{errors:?}");
    }
}

/// PRM vol4 2.6.2: on Gen4 the descriptor dword names the unit and carries EOT itself.
#[test]
fn descriptors_of_gen4_need_no_text() {
    let bare = one("send(8) 1 null<1>UD null<8,8,1>UD 0x80100000 { align1 }");
    let named = one("send(8) 1 null<1>UD null<8,8,1>UD null MsgDesc: mlen 1 rlen 0 { align1 EOT }");
    assert_eq!(bare, named);
    assert_eq!(bare.send.and_then(|send| send.imm), Some(0x8010_0000));
    let ilk = instruction(
        Verx10::from_times_ten(50),
        "send(8) 1 null<1>UD null<8,8,1>UD 0x80100000 { align1 }",
    );
    assert!(
        ilk.is_err(),
        "Ironlake has the unit outside of the descriptor"
    );
}

#[test]
fn what_would_be_lost_is_an_error() {
    for (text, what) in [
        ("mov(8) g1<1>F 1e999F { align1 }", "too large"),
        ("mov(8) g1<1>F 3F { align1 EOT }", "EOT belongs to a send"),
    ] {
        let error = instruction(Verx10::GEN40, text).expect_err(text);
        assert!(error.message.contains(what), "{error}");
    }
    // Largest single; a vertical stride of eight stays one, for the validator to see.
    assert_eq!(
        one("mov(8) g1<1>F 3.4028235e38F { align1 }").src[0].imm,
        0x7f7f_ffff
    );
    assert_eq!(
        one("mov(8) g1<1>F g2<8,8,1>F { align16 }").src[0]
            .region
            .vstride,
        8
    );
}

impl Inst {
    fn unpredicated(mut self) -> Inst {
        self.pred_ctrl = crate::inst::PredCtrl::None;
        self
    }
}

#[test]
fn raw_words_are_kept() {
    let program = program(".dword 0x00600001 0x212001ac 0x008d0120 0x00000000\nnop;\n");
    assert_eq!(program.items[0].inst(), None);
    assert_eq!(
        program.items[0].words(),
        [0x0060_0001, 0x2120_01ac, 0x008d_0120, 0]
    );
    assert_eq!(program.bytes().len(), 32);
}

#[test]
fn messages_are_symbols() {
    let number =
        one("send(8) 2 g12<1>F g10<8,8,1>F 0x01110001 math MsgDesc: inv mlen 1 rlen 1 { align1 }");
    let symbol = one("send(8) 2 g12<1>F g10<8,8,1>F math MsgDesc: inv mlen 1 rlen 1 { align1 }");
    assert_eq!(number, symbol);
    assert_eq!(number.send.unwrap().imm, Some(0x0111_0001));
    // The unit's name decides on Gen4, and the option sets the end of the thread.
    let end = one("send(8) 0 null<1>F g0<8,8,1>F 0x06404800 urb { align1 EOT }");
    assert_eq!(end.send.unwrap().imm, Some(0x8640_4800));
    let register = one(
        "send(8) 0 null<1>F g0<8,8,1>F a0<0,1,0>UD 0x00000200 urb MsgDesc: indirect { align1 }",
    );
    assert_eq!(register.send.unwrap().imm, None);
    assert_eq!(register.num_src, 2);
}
