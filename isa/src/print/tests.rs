//! Text of instructions of the later generations, built by hand.
//!
//! PRM: volume 4, 13.4. Expected lines are what Mesa 22.3.6 prints for the instruction; half floats
//! and the labels of Gen4 are our own.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Code, KernelItem, print, print_kernel};
use crate::inst::{AccessMode, Branch, CondMod, ExDesc, Inst, Opcode, PredCtrl, SendDesc, Verx10};
use crate::operand::{Addr, Dst, RegFile, Region, Src, Type};

const fn inst(opcode: Opcode, exec_size: u8) -> Inst {
    Inst {
        exec_size,
        ..Inst::blank(opcode)
    }
}

const fn dst(file: RegFile, nr: u8, ty: Type) -> Dst {
    Dst {
        file,
        ty,
        addr: Addr::Direct { nr, subnr: 0 },
        ..Dst::NULL
    }
}

const fn grf(nr: u8, ty: Type) -> Src {
    Src {
        file: RegFile::Grf,
        ty,
        addr: Addr::Direct { nr, subnr: 0 },
        region: Region::VEC8,
        ..Src::NULL
    }
}

const fn imm(ty: Type, imm: u64) -> Src {
    Src {
        file: RegFile::Imm,
        ty,
        imm,
        ..Src::NULL
    }
}

fn unary(opcode: Opcode, exec_size: u8, to: Dst, from: Src) -> Inst {
    Inst {
        dst: to,
        src: [from, Src::NULL, Src::NULL],
        num_src: 1,
        ..inst(opcode, exec_size)
    }
}

fn binary(opcode: Opcode, exec_size: u8, to: Dst, first: Src, second: Src) -> Inst {
    Inst {
        dst: to,
        src: [first, second, Src::NULL],
        num_src: 2,
        ..inst(opcode, exec_size)
    }
}

const GEN60: Verx10 = Verx10::from_times_ten(60);
const GEN70: Verx10 = Verx10::from_times_ten(70);
const GEN90: Verx10 = Verx10::from_times_ten(90);

#[test]
fn math_names_its_function() {
    let null = Src {
        region: Region::VEC8,
        ty: Type::F,
        ..Src::NULL
    };
    let g4 = dst(RegFile::Grf, 4, Type::F);
    let inv = Inst {
        math: Some(1),
        ..binary(Opcode::Math, 8, g4, grf(2, Type::F), null)
    };
    assert_eq!(
        print(GEN60, &inv),
        "math inv(8)     g4<1>F          g2<8,8,1>F      null<8,8,1>F    { align1 1Q };"
    );
    let pow = Inst {
        math: Some(10),
        saturate: true,
        qtr_ctrl: 2,
        ..binary(Opcode::Math, 16, g4, grf(2, Type::F), grf(6, Type::F))
    };
    assert!(
        print(GEN60, &pow).ends_with(
            ".sat pow(16) g4<1>F         g2<8,8,1>F      g6<8,8,1>F      { align1 2H };"
        )
    );
}

#[test]
fn three_sources_spell_their_region() {
    let source = |nr, region| Src {
        region,
        ..grf(nr, Type::F)
    };
    let vec4 = Region {
        vstride: 4,
        width: 4,
        hstride: 1,
    };
    let mad = Inst {
        access: AccessMode::Align16,
        dst: Dst {
            writemask: 3,
            ..dst(RegFile::Grf, 4, Type::F)
        },
        src: [
            source(2, vec4),
            Src {
                negate: true,
                addr: Addr::Direct { nr: 3, subnr: 4 },
                ..source(3, Region::SCALAR)
            },
            Src {
                abs: true,
                swizzle: [1; 4],
                ..source(5, vec4)
            },
        ],
        num_src: 3,
        ..inst(Opcode::Mad, 8)
    };
    assert_eq!(
        print(GEN60, &mad),
        "mad(8)          g4<1>.xyF       g2<4,4,1>F      -g3.1<0,1,0>F   (abs)g5<4,4,1>.yF { align16 1Q };"
    );
}

#[test]
fn controls_of_gen7() {
    let add = Inst {
        no_mask: true,
        no_dd_clr: true,
        no_dd_chk: true,
        qtr_ctrl: 2,
        pred_ctrl: PredCtrl::Any8h,
        pred_inv: true,
        flag_reg: 1,
        flag_subreg: 1,
        cond_mod: CondMod::L,
        saturate: true,
        acc_wr_ctrl: true,
        dst: Dst {
            hstride: 2,
            ..dst(RegFile::Grf, 4, Type::Ud)
        },
        src: [
            Src {
                addr: Addr::Direct { nr: 2, subnr: 12 },
                region: Region {
                    vstride: 8,
                    width: 4,
                    hstride: 2,
                },
                ..grf(2, Type::Ud)
            },
            imm(Type::Ud, 0x1234),
            Src::NULL,
        ],
        num_src: 2,
        ..inst(Opcode::Add, 16)
    };
    assert_eq!(
        print(GEN70, &add),
        "(-f1.1.any8h) add.sat.l.f1.1(16) g4<2>UD g2.3<8,4,2>UD 0x00001234UD \
         { align1 WE_all NoDDClr,NoDDChk 2H AccWrEnable };"
    );
    let sel = Inst {
        cond_mod: CondMod::Ge,
        ..binary(
            Opcode::Sel,
            8,
            dst(RegFile::Grf, 2, Type::F),
            grf(3, Type::F),
            grf(4, Type::F),
        )
    };
    assert_eq!(
        print(GEN60, &sel),
        "sel.ge(8)       g2<1>F          g3<8,8,1>F      g4<8,8,1>F      { align1 1Q };"
    );
}

#[test]
fn channel_groups() {
    let group = |generation, exec_size, qtr_ctrl, nib_ctrl| {
        let mov = Inst {
            qtr_ctrl,
            nib_ctrl,
            ..unary(
                Opcode::Mov,
                exec_size,
                dst(RegFile::Grf, 4, Type::F),
                grf(2, Type::F),
            )
        };
        let text = print(generation, &mov);
        let words: Vec<&str> = text.split_whitespace().rev().skip(1).collect();
        String::from(words[0])
    };
    for (exec_size, quarter, nibble, text) in [
        (4, 1, false, "3N"),
        (1, 0, false, "1N"),
        (8, 3, false, "4Q"),
        (8, 1, true, "4N"),
        (16, 0, false, "1H"),
        (16, 2, false, "2H"),
        (32, 0, false, "align1"),
    ] {
        assert_eq!(group(GEN70, exec_size, quarter, nibble), text);
    }
}

#[test]
fn indirect_operands_and_registers() {
    let mov = unary(
        Opcode::Mov,
        8,
        Dst {
            addr: Addr::Direct { nr: 6, subnr: 2 },
            ..dst(RegFile::Grf, 6, Type::Uw)
        },
        Src {
            addr: Addr::Indirect { subreg: 4, imm: 32 },
            region: Region {
                vstride: Region::VXH,
                width: 1,
                hstride: 0,
            },
            ..grf(0, Type::Uw)
        },
    );
    assert_eq!(
        print(GEN70, &mov),
        "mov(8)          g6.1<1>UW       g[a0.4 32]<VxH,1,0>UW           { align1 1Q };"
    );
    let control = unary(
        Opcode::Mov,
        1,
        dst(RegFile::Arf, 0x80, Type::Ud),
        imm(Type::Ud, 0x12),
    );
    assert_eq!(
        print(GEN90, &control),
        "mov(1)          cr0<1>UD        0x00000012UD                    { align1 1N };"
    );
}

#[test]
fn immediates_of_later_generations() {
    let text = |ty, value| {
        let mov = unary(Opcode::Mov, 8, dst(RegFile::Grf, 4, ty), imm(ty, value));
        let text = print(GEN90, &mov);
        String::from(text[32..].trim_end_matches("{ align1 1Q };").trim_end())
    };
    assert_eq!(
        text(Type::Uq, 0x0123_4567_89ab_cdef),
        "0x0123456789abcdefUQ"
    );
    assert_eq!(
        text(Type::Df, 0x3ff8_0000_0000_0000),
        "0x3ff8000000000000DF /* 1.5DF */"
    );
    assert_eq!(text(Type::Uv, 0x7654_3210), "0x76543210UV");
    assert_eq!(text(Type::Hf, 0x3c00_3c00), "0x3c00HF");
    assert_eq!(text(Type::W, 0xfffe_fffe), "-2W");
}

#[test]
fn bitwise_not_of_logic() {
    let and = |generation| {
        let first = Src {
            negate: true,
            ..grf(2, Type::Ud)
        };
        let g4 = dst(RegFile::Grf, 4, Type::Ud);
        print(
            generation,
            &binary(Opcode::And, 8, g4, first, grf(3, Type::Ud)),
        )
    };
    assert_eq!(
        and(GEN90),
        "and(8)          g4<1>UD         ~g2<8,8,1>UD    g3<8,8,1>UD     { align1 1Q };"
    );
    assert!(and(GEN70).contains(" -g2"));
}

#[test]
fn sends_of_later_generations() {
    let send = Inst {
        send: Some(SendDesc {
            imm: Some(0x8a08_0007),
            sfid: 6,
            eot: true,
            ..SendDesc::default()
        }),
        ..unary(
            Opcode::Send,
            8,
            dst(RegFile::Arf, 0, Type::Uw),
            grf(113, Type::Ud),
        )
    };
    assert!(print(GEN90, &send).ends_with(
        "send(8)         null<1>UW       g113<8,8,1>UD   0x8a080007\n                            \
         urb MsgDesc: offset 0 SIMD8 write mlen 5 rlen 0 { align1 1Q EOT };"
    ));
    let sends = Inst {
        qtr_ctrl: 1,
        send: Some(SendDesc {
            imm: Some(0x0401_9301),
            sfid: 12,
            ex_desc: ExDesc::Imm(0x40),
            ..SendDesc::default()
        }),
        ..binary(
            Opcode::Sends,
            8,
            Dst::NULL,
            grf(2, Type::Ud),
            grf(4, Type::Ud),
        )
    };
    assert!(print(GEN90, &sends).ends_with(
        "sends(8)        nullUD          g2UD            g4UD            \
         0x04019301                0x00000040\n                            \
         dp data 1 MsgDesc: (DC typed atomic, Surface = 1, SIMD8, xor) \
         mlen 2 ex_mlen 1 rlen 0 { align1 2Q };"
    ));
}

fn kernel(generation: Verx10, kernel: &[(u32, Inst)]) -> String {
    print_kernel(
        generation,
        kernel
            .iter()
            .enumerate()
            .map(|(index, (size, inst))| KernelItem {
                offset: kernel[..index].iter().map(|(size, _)| size).sum(),
                compacted: *size == 8,
                code: Code::Inst(inst),
            }),
    )
}

fn flow(opcode: Opcode, jump: i32, pop_or_uip: i32) -> Inst {
    Inst {
        branch: Some(Branch { jump, pop_or_uip }),
        ..inst(opcode, 8)
    }
}

#[test]
fn labels_stand_at_targets() {
    // Numbered as Mesa does: UIP before JIP, in the order of the text.
    let text = kernel(
        GEN60,
        &[
            (16, flow(Opcode::If, 4, 0)),
            (16, flow(Opcode::Break, 2, 6)),
            (16, flow(Opcode::Endif, 4, 0)),
            (16, flow(Opcode::While, -6, 0)),
            (16, inst(Opcode::Nop, 1)),
        ],
    );
    assert_eq!(
        text,
        "\nLABEL2:\n\
         if(8)           JIP:  LABEL0                                    { align1 1Q };\n\
         break(8)        JIP:  LABEL0          UIP:  LABEL1              { align1 1Q };\n\
         \nLABEL0:\n\
         endif(8)        JIP:  LABEL1                                    { align1 1Q };\n\
         while(8)        JIP:  LABEL2                                    { align1 1Q };\n\
         \nLABEL1:\n\
         nop                                                             ;\n"
    );
}

#[test]
fn labels_of_gen4_and_distances_that_have_none() {
    let jump = Inst {
        src: [Src::NULL, imm(Type::D, 1), Src::NULL],
        num_src: 2,
        branch: Some(Branch {
            jump: 1,
            pop_or_uip: 0,
        }),
        no_mask: true,
        ..inst(Opcode::Jmpi, 1)
    };
    let text = kernel(
        Verx10::from_times_ten(40),
        &[
            (16, jump),
            (16, flow(Opcode::Else, 2, 1)),
            (16, flow(Opcode::Endif, 0, 1)),
            (16, flow(Opcode::While, -9, 0)),
        ],
    );
    assert_eq!(
        text,
        "jmpi(1)         LABEL0                                          { align1 nomask };\n\
         else(8)         Jump: LABEL1    Pop: 1                          { align1 };\n\
         \nLABEL0:\n\
         endif(8)        Pop: 1                                          { align1 };\n\
         \nLABEL1:\n\
         while(8)        Jump: -9                                        { align1 };\n"
    );
}

#[test]
fn compacted_instructions_say_so_and_count_half() {
    let text = kernel(
        GEN70,
        &[(16, flow(Opcode::Endif, 3, 0)), (8, inst(Opcode::Nop, 1))],
    );
    assert_eq!(
        text,
        "endif(8)        JIP:  LABEL0                                    { align1 1Q };\n\
         nop                                                             ;\n\
         \nLABEL0:\n"
    );
}
