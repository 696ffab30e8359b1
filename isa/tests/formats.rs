//! Formats, tables, errors and descriptors by hand-laid bits.
//!
//! PRM: volume 4, 13.2 (positions as in the public drivers), 2.6.2, 11.9. Whole kernels are tested
//! elsewhere.

use isa::error::OperandId;
use isa::inst::{AccessMode, Branch, Compression, CondMod, PredCtrl, SendDesc, ThreadCtrl};
use isa::message::{DataPortWriteDesc, MathDesc, MessageDesc, Sfid, UrbDesc};
use isa::operand::{Addr, RegFile, Region, Src, Type};
use isa::tables::{Table, gen40, gen45};
use isa::{DecodeErrorKind, EncodeError, Inst, Opcode, Verx10, decode, encode};

const GEN: Verx10 = Verx10::GEN40;
const G45: Verx10 = Verx10::from_times_ten(45);

/// `mov(8) g1<1>UD g2<8,8,1>UD`, align1.
const MOV: [u32; 4] = [0x0060_0001, 0x2020_0021, 0x008d_0040, 0];
/// `add(8) g1<1>UD g2<8,8,1>UD g3<8,8,1>UD`, align1.
const ADD: [u32; 4] = [0x0060_0040, 0x2020_0421, 0x008d_0040, 0x008d_0060];

fn kind(raw: [u32; 4]) -> DecodeErrorKind {
    let error = decode(GEN, raw).unwrap_err();
    assert_eq!(error.raw, raw);
    error.kind
}

/// `raw` with bits `hi:lo` of a word replaced.
fn with(mut raw: [u32; 4], word: usize, hi: u32, lo: u32, value: u32) -> [u32; 4] {
    let mask = u32::MAX >> (31 - (hi - lo));
    raw[word] = raw[word] & !(mask << lo) | (value & mask) << lo;
    raw
}

// covers: 13.2-01, 13.2.2-01, 13.2.2-02, 13.2.2-03, 13.2.2-05, 11.5-04, 11.8-02
#[test]
fn controls_of_the_first_word() {
    let get = |hi, lo, value| decode(GEN, with(MOV, 0, hi, lo, value)).unwrap();
    assert!(get(9, 9, 1).no_mask);
    assert!(get(10, 10, 1).no_dd_clr);
    assert!(get(11, 11, 1).no_dd_chk);
    assert_eq!(get(13, 12, 1).compression, Compression::SecHalf);
    assert_eq!(get(13, 12, 2).compression, Compression::Compressed);
    assert_eq!(get(15, 14, 1).thread_ctrl, ThreadCtrl::Atomic);
    assert_eq!(get(15, 14, 2).thread_ctrl, ThreadCtrl::Switch);
    assert_eq!(get(19, 16, 11).pred_ctrl, PredCtrl::All16h);
    assert!(get(20, 20, 1).pred_inv);
    for (code, size) in [(0, 1), (1, 2), (2, 4), (3, 8), (4, 16)] {
        assert_eq!(get(23, 21, code).exec_size, size);
    }
    assert_eq!(get(27, 24, 9).cond_mod, CondMod::U);
    assert!(get(30, 30, 1).debug_ctrl);
    assert!(get(31, 31, 1).saturate);
    let align16 = get(8, 8, 1);
    assert_eq!(align16.access, AccessMode::Align16);
    let flag = decode(GEN, with(MOV, 2, 25, 25, 1)).unwrap();
    assert_eq!(flag.flag_subreg, 1);
}

// covers: 13.2.3-04, 13.2.3-05, 13.2.4-03, 13.2.4-04
#[test]
fn indirect_operands_are_signed_and_in_words() {
    // Destination g[a0.3 - 512], source g[a0.7 + 511].
    let raw = with(
        with(with(MOV, 1, 31, 31, 1), 1, 28, 26, 3),
        1,
        25,
        16,
        0x200,
    );
    let raw = with(with(with(raw, 2, 15, 15, 1), 2, 12, 10, 7), 2, 9, 0, 0x1ff);
    let inst = decode(GEN, raw).unwrap();
    assert_eq!(
        inst.dst.addr,
        Addr::Indirect {
            subreg: 3,
            imm: -512
        }
    );
    assert_eq!(
        inst.src[0].addr,
        Addr::Indirect {
            subreg: 7,
            imm: 511
        }
    );
    let vxh = decode(GEN, with(raw, 2, 24, 21, 15)).unwrap();
    assert_eq!(
        vxh.src[0].region,
        Region {
            vstride: Region::VXH,
            width: 8,
            hstride: 1
        }
    );
    // Align16: six bits in units of 16 bytes.
    let raw = with(with(raw, 0, 8, 8, 1), 1, 25, 20, 0x3f);
    let raw = with(with(raw, 1, 19, 16, 5), 2, 9, 4, 0x1f);
    let inst = decode(GEN, raw).unwrap();
    assert_eq!(
        inst.dst.addr,
        Addr::Indirect {
            subreg: 3,
            imm: -16
        }
    );
    assert_eq!(inst.dst.writemask, 5);
    assert_eq!(
        inst.src[0].addr,
        Addr::Indirect {
            subreg: 7,
            imm: 496
        }
    );
    assert_eq!(encode(GEN, &inst), Ok(raw));
}

// covers: 10.2-02, 11.3.6-03, 13.2.3-06, 11.3.1-01
#[test]
fn reserved_encodings_are_errors() {
    use DecodeErrorKind as Kind;
    let (dst, src0, src1) = (OperandId::Dst, OperandId::Src0, OperandId::Src1);
    assert_eq!(kind(with(MOV, 0, 6, 0, 90)), Kind::UnknownOpcode(90));
    assert_eq!(kind(with(MOV, 0, 23, 21, 5)), Kind::ReservedExecSize(5));
    assert_eq!(kind(with(MOV, 0, 19, 16, 12)), Kind::ReservedPredCtrl(12));
    let align16 = with(with(MOV, 0, 8, 8, 1), 0, 19, 16, 8);
    assert_eq!(kind(align16), Kind::ReservedPredCtrl(8));
    assert_eq!(kind(with(MOV, 0, 27, 24, 10)), Kind::ReservedCondMod(10));
    assert_eq!(kind(with(MOV, 0, 13, 12, 3)), Kind::ReservedCompression(3));
    assert_eq!(kind(with(MOV, 0, 15, 14, 3)), Kind::ReservedThreadCtrl(3));
    assert_eq!(
        kind(with(MOV, 1, 1, 0, 3)),
        Kind::ReservedRegFile {
            operand: dst,
            code: 3
        }
    );
    assert_eq!(
        kind(with(MOV, 1, 6, 5, 2)),
        Kind::ReservedRegFile {
            operand: src0,
            code: 2
        }
    );
    assert_eq!(
        kind(with(ADD, 1, 11, 10, 2)),
        Kind::ReservedRegFile {
            operand: src1,
            code: 2
        }
    );
    assert_eq!(
        kind(with(MOV, 1, 4, 2, 6)),
        Kind::ReservedType {
            operand: dst,
            code: 6
        }
    );
    assert_eq!(
        kind(with(MOV, 1, 9, 7, 6)),
        Kind::ReservedType {
            operand: src0,
            code: 6
        }
    );
    assert_eq!(
        kind(with(ADD, 1, 14, 12, 6)),
        Kind::ReservedType {
            operand: src1,
            code: 6
        }
    );
    let uv = with(with(MOV, 1, 6, 5, 3), 1, 9, 7, 4);
    assert_eq!(
        kind(uv),
        Kind::ReservedType {
            operand: src0,
            code: 4
        }
    );
    assert_eq!(
        kind(with(MOV, 1, 30, 29, 0)),
        Kind::ReservedHstride {
            operand: dst,
            code: 0
        }
    );
    for code in 7..=15 {
        let raw = with(MOV, 2, 24, 21, code);
        assert_eq!(
            kind(raw),
            Kind::ReservedVstride {
                operand: src0,
                code
            }
        );
    }
    assert_eq!(
        kind(with(MOV, 2, 20, 18, 5)),
        Kind::ReservedWidth {
            operand: src0,
            code: 5
        }
    );
    assert_eq!(
        kind(with(ADD, 3, 20, 18, 7)),
        Kind::ReservedWidth {
            operand: src1,
            code: 7
        }
    );
    assert_eq!(kind(with(ADD, 1, 6, 5, 3)), Kind::ImmediateNotLast(src0));
    assert_eq!(
        decode(Verx10::from_times_ten(100), MOV).unwrap_err().kind,
        Kind::UnsupportedGeneration(Verx10::from_times_ten(100))
    );
    let error = decode(GEN, with(MOV, 0, 6, 0, 90)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown opcode 90 in 0060005a 20200021 008d0040 00000000"
    );
}

// covers: 13.2.5-03
#[test]
fn flow_control_fields() {
    // break with jump count -3 and pop count 2.
    let raw = [0x0060_0028, 0x3400_1c00, 0x0060_1400, 0x0002_fffd];
    let inst = decode(GEN, raw).unwrap();
    assert_eq!(inst.opcode, Opcode::Break);
    assert_eq!(
        inst.branch,
        Some(Branch {
            jump: -3,
            pop_or_uip: 2
        })
    );
    assert!(inst.is_flow_control());
    assert_eq!(inst.reserved, [0; 4]);
    // jmpi by register: no branch fields, the distance is src1.
    let raw = [0x0000_0220, 0x3400_1400, 0x0060_1400, 0x0000_00a0];
    let inst = decode(GEN, raw).unwrap();
    assert_eq!(
        (inst.opcode, inst.num_src, inst.branch),
        (Opcode::Jmpi, 2, None)
    );
    assert_eq!(inst.src[1].addr, Addr::Direct { nr: 5, subnr: 0 });
    // jmpi by immediate: 32 bits.
    let raw = [0x0000_0220, 0x3400_1c00, 0x0060_1400, 0xfffe_0000];
    let inst = decode(GEN, raw).unwrap();
    assert_eq!(
        inst.branch,
        Some(Branch {
            jump: -131_072,
            pop_or_uip: 0
        })
    );
    let mut other = inst;
    other.branch = Some(Branch {
        jump: 1,
        pop_or_uip: 0,
    });
    assert_eq!(encode(GEN, &other), Err(EncodeError::Format("branch")));
    assert!(!decode(GEN, MOV).unwrap().is_flow_control());
}

// covers: 13.2.2-04, 13.2.5-05, 11.3.4.4-08
#[test]
fn send_forms() {
    // The manual's example (2.6.2): send (16) r5 m3 r0 0x01110001.
    let raw = [0x0380_0031, 0x20a0_0c21, 0x008d_0000, 0x0111_0001];
    let inst = decode(GEN, raw).unwrap();
    assert_eq!(
        inst.send,
        Some(SendDesc {
            imm: Some(0x0111_0001),
            mrf: 3,
            ..SendDesc::default()
        })
    );
    assert_eq!((inst.num_src, inst.cond_mod), (1, CondMod::None));
    let desc = MessageDesc(0x0111_0001);
    assert_eq!(desc.sfid(), Some(Sfid::Math));
    assert_eq!(
        (desc.message_length(), desc.response_length(), desc.eot()),
        (1, 1, false)
    );
    assert_eq!(MathDesc(0x0111_0001).function(), 1);
    // Descriptor in a0.0<0;1,0>:ud.
    let raw = [0x0380_0031, 0x20a0_0021, 0x008d_0000, 0x0000_0200];
    let inst = decode(GEN, raw).unwrap();
    assert_eq!(
        inst.send,
        Some(SendDesc {
            imm: None,
            mrf: 3,
            ..SendDesc::default()
        })
    );
    assert_eq!(inst.num_src, 2);
    assert_eq!(inst.src[1].file, RegFile::Arf);
    assert_eq!(inst.src[1].addr, Addr::Direct { nr: 0x10, subnr: 0 });
    assert_eq!(inst.src[1].region, Region::SCALAR);
    let text = isa::print(GEN, &inst);
    assert!(
        text.contains("a0<0,1,0>UD") && text.contains("MsgDesc: indirect"),
        "{text}"
    );
}

#[test]
fn descriptors_of_a_captured_frame() {
    let urb = UrbDesc(0x8640_c400);
    assert_eq!((urb.opcode(), urb.offset(), urb.swizzle()), (0, 0, 1));
    assert!(urb.used() && urb.complete() && !urb.allocate());
    assert!(MessageDesc(urb.0).eot());
    let write = DataPortWriteDesc(0x85a0_4800);
    assert_eq!(write.message_type(), DataPortWriteDesc::RENDER_TARGET_WRITE);
    assert_eq!(
        (write.render_target_type(), write.binding_table_index()),
        (0, 0)
    );
    assert!(write.last_render_target() && !write.send_write_commit());
    for code in 0..16 {
        let sfid = Sfid::from_code(code);
        assert_eq!(sfid.map(Sfid::code), (code < 8).then_some(code));
    }
}

// covers: 13.2.2-05, 13.2.5-01
#[test]
fn undefined_bits_survive_and_stay_apart() {
    // Bits 29:28 of the first word, 15 of the second, 31:26 of the third, the missing source.
    let raw = [
        MOV[0] | 0x3000_0080,
        MOV[1] | 0x8000,
        MOV[2] | 0xfc00_0000,
        0xdead_beef,
    ];
    let inst = decode(GEN, raw).unwrap();
    assert_eq!(
        inst.reserved,
        [0x3000_0080, 0x8000, 0xfc00_0000, 0xdead_beef]
    );
    assert_eq!(encode(GEN, &inst), Ok(raw));
    let mut overlap = inst;
    overlap.reserved[0] |= 1;
    assert_eq!(encode(GEN, &overlap), Err(EncodeError::ReservedOverlap(0)));
}

#[test]
fn a_missing_source_takes_the_type_of_an_immediate() {
    let mut inst = Inst::blank(Opcode::Mov);
    inst.num_src = 1;
    inst.src[0] = Src {
        file: RegFile::Imm,
        ty: Type::F,
        imm: 0x3f80_0000,
        ..Src::NULL
    };
    let raw = encode(GEN, &inst).unwrap();
    assert_eq!(raw[1] >> 12 & 7, 7);
    assert_eq!(decode(GEN, raw), Ok(inst));
}

#[test]
fn encoder_refuses_what_has_no_code() {
    let inst = decode(GEN, ADD).unwrap();
    let refuse = |change: &dyn Fn(&mut Inst)| {
        let mut other = inst;
        change(&mut other);
        encode(GEN, &other).unwrap_err()
    };
    let operand = EncodeError::Operand;
    assert_eq!(
        refuse(&|i| i.opcode = Opcode::Mad),
        EncodeError::UnknownOpcode(Opcode::Mad)
    );
    assert_eq!(refuse(&|i| i.num_src = 1), EncodeError::Format("num_src"));
    assert_eq!(
        refuse(&|i| i.exec_size = 32),
        EncodeError::Control("execution size")
    );
    assert_eq!(
        refuse(&|i| i.exec_size = 3),
        EncodeError::Control("execution size")
    );
    assert_eq!(
        refuse(&|i| i.flag_subreg = 2),
        EncodeError::Control("flag subregister")
    );
    assert_eq!(
        refuse(&|i| i.pred_ctrl = PredCtrl::ReplX),
        EncodeError::Control("predicate control")
    );
    assert_eq!(
        refuse(&|i| i.dst.ty = Type::Df),
        operand(OperandId::Dst, "type")
    );
    assert_eq!(
        refuse(&|i| i.dst.hstride = 0),
        operand(OperandId::Dst, "horizontal stride")
    );
    assert_eq!(
        refuse(&|i| i.dst.writemask = 3),
        operand(OperandId::Dst, "write mask")
    );
    assert_eq!(
        refuse(&|i| i.dst.compr4 = true),
        operand(OperandId::Dst, "compr4")
    );
    assert_eq!(
        refuse(&|i| i.src[0].file = RegFile::Mrf),
        operand(OperandId::Src0, "register file")
    );
    assert_eq!(
        refuse(&|i| i.src[0].file = RegFile::Imm),
        operand(OperandId::Src0, "register file")
    );
    assert_eq!(
        refuse(&|i| i.src[1].ty = Type::Vf),
        operand(OperandId::Src1, "type")
    );
    assert_eq!(
        refuse(&|i| i.src[1].region.vstride = 64),
        operand(OperandId::Src1, "vertical stride")
    );
    assert_eq!(
        refuse(&|i| i.src[1].region.width = 3),
        operand(OperandId::Src1, "width")
    );
    let far = Addr::Indirect {
        subreg: 0,
        imm: 512,
    };
    assert_eq!(
        refuse(&|i| i.src[1].addr = far),
        operand(OperandId::Src1, "indirect address")
    );
    assert_eq!(
        encode(Verx10::from_times_ten(100), &inst),
        Err(EncodeError::UnsupportedGeneration(Verx10::from_times_ten(
            100
        )))
    );
}

/// G45 without `pln`.
static LATER: Table = Table::build(
    Verx10::from_times_ten(46),
    Some(&gen45::TABLE),
    &[Opcode::Pln],
    &[],
);

// covers: 13.3-08
#[test]
fn tables_import_and_look_up() {
    // PRM 14.2 lists 46 instructions; nop is one of them, illegal is not.
    assert_eq!(gen40::TABLE.rows().filter(|row| row.hw != 0).count(), 46);
    assert_eq!(Opcode::from_mnemonic(GEN, "dp4"), Some(Opcode::Dp4));
    assert_eq!(Opcode::from_mnemonic(GEN, "pln"), None);
    assert_eq!(Opcode::from_mnemonic(G45, "pln"), Some(Opcode::Pln));
    assert_eq!(Opcode::from_mnemonic(G45, "mov"), Some(Opcode::Mov));
    assert_eq!(Opcode::Break.mnemonic(), Some("break"));
    assert_eq!(Opcode::Mad.mnemonic(), Some("mad"));
    assert_eq!(
        gen45::TABLE.by_hw(90).map(|row| row.opcode),
        Some(Opcode::Pln)
    );
    assert!(Table::of(Verx10::from_times_ten(125)).is_none());
    for table in [&gen40::TABLE, &gen45::TABLE] {
        for row in table.rows() {
            assert_eq!(table.by_opcode(row.opcode), Some(row));
            assert_eq!(table.by_mnemonic(row.mnemonic), Some(row));
        }
    }
    assert_eq!(LATER.by_hw(90), None);
    assert_eq!(LATER.by_opcode(Opcode::Pln), None);
    assert!(LATER.by_opcode(Opcode::Add).is_some());
}

#[test]
fn compr4_exists_from_g45() {
    // add(16) m2 with bit 7 of the register number, compressed.
    let raw = [0x0080_2040, 0x3040_77be, 0x008d_0040, 0x008d_0080];
    let g45 = decode(G45, raw).unwrap();
    assert!(g45.dst.compr4);
    assert_eq!(g45.dst.addr, Addr::Direct { nr: 2, subnr: 0 });
    assert!(isa::print(G45, &g45).ends_with("{ align1 compr4 };"));
    let gen40 = decode(GEN, raw).unwrap();
    assert!(!gen40.dst.compr4);
    assert_eq!(gen40.dst.addr, Addr::Direct { nr: 0x82, subnr: 0 });
}
