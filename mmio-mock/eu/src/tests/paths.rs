//! Fast paths against the general path on random instructions.
//!
//! PRM: volume 4, chapters 11 and 14. The general path itself is checked by the other tests.

use super::{Rng, TestPort, arf_src, dst, imm, run_in, thread};
use crate::{KernelCache, Thread};
use isa::inst::{AccessMode, Compression, CondMod, PredCtrl};
use isa::operand::{Addr, Dst, RegFile, Region, Src, Type};
use isa::{Inst, Opcode};
use proptest::prelude::*;

const OPS: [Opcode; 28] = [
    Opcode::Mov,
    Opcode::Sel,
    Opcode::Not,
    Opcode::And,
    Opcode::Or,
    Opcode::Xor,
    Opcode::Shr,
    Opcode::Shl,
    Opcode::Asr,
    Opcode::Cmp,
    Opcode::Cmpn,
    Opcode::Add,
    Opcode::Mul,
    Opcode::Avg,
    Opcode::Frc,
    Opcode::Rndu,
    Opcode::Rndd,
    Opcode::Rnde,
    Opcode::Rndz,
    Opcode::Mac,
    Opcode::Mach,
    Opcode::Lzd,
    Opcode::Dp4,
    Opcode::Dph,
    Opcode::Dp3,
    Opcode::Dp2,
    Opcode::Line,
    Opcode::Sad2,
];
const TYPES: [Type; 9] = [
    Type::F,
    Type::F,
    Type::F,
    Type::Ud,
    Type::D,
    Type::Uw,
    Type::W,
    Type::Ub,
    Type::B,
];
const CONDS: [CondMod; 10] = [
    CondMod::None,
    CondMod::Z,
    CondMod::Nz,
    CondMod::G,
    CondMod::Ge,
    CondMod::L,
    CondMod::Le,
    CondMod::R,
    CondMod::O,
    CondMod::U,
];

fn pick<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.u64(..of.len() as u64) as usize]
}

fn region(rng: &mut Rng) -> Region {
    match rng.u64(..4) {
        0 => Region::SCALAR,
        1 | 2 => Region::VEC8,
        _ => Region {
            vstride: pick(rng, &[0, 1, 2, 4, 8, 16, 32, Region::VXH]),
            width: pick(rng, &[1, 2, 4, 8, 16]),
            hstride: pick(rng, &[0, 1, 2, 4]),
        },
    }
}

fn source(rng: &mut Rng, align16: bool) -> Src {
    let ty = pick(rng, &TYPES);
    let mut s = match rng.u64(..12) {
        0 => imm(if ty.size() == 1 { Type::V } else { ty }, rng.u32(..)),
        1 => imm(Type::Vf, rng.u32(..)),
        2 => arf_src(
            pick(rng, &[0x20, 0x21, 0x30, 0x10, 0x00]),
            4 * rng.u64(..4) as u8,
            ty,
        ),
        3 => Src {
            addr: Addr::Indirect {
                subreg: rng.u64(..8) as u8,
                imm: rng.u64(..1024) as i16 - 512,
            },
            ..super::grf(0, 0, ty, Region::VEC8)
        },
        _ => super::grf(rng.u64(..131) as u8, rng.u64(..32) as u8, ty, Region::VEC8),
    };
    s.region = region(rng);
    if align16 {
        s.region = Region {
            vstride: pick(rng, &[0, 4]),
            width: 4,
            hstride: 1,
        };
        s.swizzle = std::array::from_fn(|_| rng.u64(..4) as u8);
    }
    s.negate = rng.u64(..4) == 0;
    s.abs = rng.u64(..4) == 0;
    s
}

fn instruction(rng: &mut Rng) -> Inst {
    let opcode = pick(rng, &OPS);
    let align16 = rng.u64(..3) == 0;
    let mut i = Inst::blank(opcode);
    if align16 {
        i.access = AccessMode::Align16;
    }
    i.exec_size = pick(rng, &[1, 2, 4, 8, 8, 8, 16, 16]);
    i.compression = match (i.exec_size, rng.u64(..3)) {
        (16, 0 | 1) => Compression::Compressed,
        (_, 2) => Compression::SecHalf,
        _ => Compression::None,
    };
    i.no_mask = rng.u64(..4) == 0;
    i.saturate = rng.u64(..4) == 0;
    i.cond_mod = if rng.u64(..2) == 0 {
        CondMod::None
    } else {
        pick(rng, &CONDS)
    };
    i.pred_ctrl = pick(
        rng,
        &[
            PredCtrl::None,
            PredCtrl::None,
            PredCtrl::Normal,
            PredCtrl::Any4h,
        ],
    );
    i.pred_inv = rng.u64(..2) == 0;
    i.flag_subreg = rng.u64(..2) as u8;
    i.dst = Dst {
        file: pick(
            rng,
            &[
                RegFile::Grf,
                RegFile::Grf,
                RegFile::Grf,
                RegFile::Mrf,
                RegFile::Arf,
            ],
        ),
        ty: pick(rng, &TYPES),
        addr: Addr::Direct {
            nr: rng.u64(..130) as u8,
            subnr: rng.u64(..32) as u8,
        },
        hstride: if align16 {
            1
        } else {
            pick(rng, &[1, 1, 1, 2, 4])
        },
        writemask: if align16 { rng.u64(..16) as u8 } else { 0xf },
        compr4: false,
    };
    if i.dst.file == RegFile::Arf {
        i.dst.addr = Addr::Direct {
            nr: pick(rng, &[0, 0x20, 0x21, 0x10, 0x30]),
            subnr: 0,
        };
    }
    i.num_src = if matches!(
        opcode,
        Opcode::Mov | Opcode::Not | Opcode::Frc | Opcode::Lzd
    ) {
        1
    } else {
        2
    };
    for n in 0..usize::from(i.num_src) {
        i.src[n] = source(rng, align16);
    }
    i
}

fn randomised(rng: &mut Rng) -> Thread {
    let mut t = thread();
    t.alt = rng.u64(..3) == 0;
    let large = rng.u64(..4) == 0;
    for r in t.grf_mut() {
        *r = std::array::from_fn(|_| match rng.u64(..8) {
            0 => rng.u32(..),
            1 => rng.u64(..300) as u32,
            2 => rng.u32(..) & 0x807f_ffff,
            // Products of these overflow.
            3 if large => (rng.u32(..) & 0x80ff_ffff) | 0x7e80_0000,
            _ => (rng.u32(..) & 0x83ff_ffff) | 0x3e00_0000,
        });
    }
    t.set_flag([rng.u32(..) as u16, rng.u32(..) as u16]);
    let mut masks = t.view().masks;
    masks.amask = if rng.u64(..2) == 0 {
        0xffff
    } else {
        rng.u32(..) as u16
    };
    t.set_masks(masks);
    t
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fast_equals_general(seed in 1u64..) {
        let mut rng = Rng::with_seed(seed);
        let code: Vec<Inst> = (0..12).map(|_| instruction(&mut rng)).collect();
        let mut fast = randomised(&mut rng);
        let mut general = fast.clone();
        let mut port = TestPort::new(Vec::new());
        for (n, inst) in code.iter().enumerate() {
            fast.set_ip(0);
            general.set_ip(0);
            let one = std::slice::from_ref(inst);
            let a = run_in(&mut KernelCache::new(isa::Verx10::GEN40).unwrap(), &mut fast, &mut port, one, 1);
            let b = run_in(&mut KernelCache::general(isa::Verx10::GEN40).unwrap(), &mut general, &mut port, one, 1);
            prop_assert_eq!(a, b);
            for r in 0..128 {
                let (a, b) = (fast.grf()[r], general.grf()[r]);
                prop_assert_eq!(a, b, "r{} after instruction {}: {:#?}", r, n, inst);
            }
            prop_assert_eq!(fast.mrf(), general.mrf(), "instruction {}: {:?}", n, inst);
            prop_assert_eq!(fast.view(), general.view(), "instruction {}: {:#?}", n, inst);
        }
    }

    /// Whole programs, where accumulator updates that the next instruction overwrites are left out.
    #[test]
    fn programs_agree(seed in 1u64..) {
        let mut rng = Rng::with_seed(seed);
        let code: Vec<Inst> = (0..24)
            .map(|_| match rng.u64(..3) {
                // What kernels are made of: the accumulator written, passed over, read.
                0 => Inst { exec_size: 16, ..instruction(&mut rng) },
                1 => Inst { opcode: pick(&mut rng, &[Opcode::Mac, Opcode::Mul, Opcode::Line, Opcode::Mov]), ..instruction(&mut rng) },
                _ => instruction(&mut rng),
            })
            .collect();
        let mut fast = randomised(&mut rng);
        let mut general = fast.clone();
        let mut port = TestPort::new(Vec::new());
        let count = code.len() as u64;
        fast.set_ip(0);
        general.set_ip(0);
        let a = run_in(&mut KernelCache::new(isa::Verx10::GEN40).unwrap(), &mut fast, &mut port, &code, count);
        let b = run_in(&mut KernelCache::general(isa::Verx10::GEN40).unwrap(), &mut general, &mut port, &code, count);
        prop_assert_eq!(a, b);
        prop_assert_eq!(fast.grf(), general.grf(), "{:#?}", code);
        prop_assert_eq!(fast.mrf(), general.mrf(), "{:#?}", code);
        prop_assert_eq!(fast.view(), general.view(), "{:#?}", code);
    }

    /// The first instructions of a pixel kernel: positions from packed words.
    #[test]
    fn words_agree(seed in 1u64..) {
        let mut rng = Rng::with_seed(seed);
        let mut code = Vec::new();
        for subnr in [8, 10] {
            let mut i = Inst::blank(Opcode::Add);
            i.exec_size = 16;
            i.num_src = 2;
            i.no_mask = rng.u64(..2) == 0;
            i.dst = Dst { file: RegFile::Grf, ty: pick(&mut rng, &[Type::Uw, Type::W]), addr: Addr::Direct { nr: subnr, subnr: 0 }, ..Dst::NULL };
            let fours = Region { vstride: 2, width: 4, hstride: 0 };
            i.src[0] = super::grf(rng.u64(..128) as u8, subnr, pick(&mut rng, &[Type::Uw, Type::W]), fours);
            i.src[1] = imm(Type::V, rng.u32(..));
            code.push(i);
            let mut i = Inst::blank(Opcode::Add);
            i.exec_size = pick(&mut rng, &[8, 16]);
            i.compression = if i.exec_size == 16 { Compression::Compressed } else { Compression::None };
            i.num_src = 2;
            i.dst = Dst { file: RegFile::Grf, ty: Type::F, addr: Addr::Direct { nr: 20 + subnr, subnr: 0 }, ..Dst::NULL };
            i.src[0] = super::grf(subnr, 0, Type::Uw, Region::VEC8);
            i.src[1] = Src { negate: true, ..super::grf(1, 0, Type::F, Region::SCALAR) };
            code.push(i);
        }
        let mut fast = randomised(&mut rng);
        let mut general = fast.clone();
        let mut port = TestPort::new(Vec::new());
        for n in 1..=code.len() {
            fast.set_ip(0);
            general.set_ip(0);
            let a = run_in(&mut KernelCache::new(isa::Verx10::GEN40).unwrap(), &mut fast, &mut port, &code[..n], n as u64);
            let b = run_in(&mut KernelCache::general(isa::Verx10::GEN40).unwrap(), &mut general, &mut port, &code[..n], n as u64);
            prop_assert_eq!(a, b);
            prop_assert_eq!(fast.grf(), general.grf(), "{:#?}", code);
            prop_assert_eq!(fast.view(), general.view(), "{:#?}", code);
        }
    }

    /// Pixels: packed bytes and words, direct and indirect, into words and the accumulator.
    #[test]
    fn packed_elements_agree(seed in 1u64..) {
        let mut rng = Rng::with_seed(seed);
        let code: Vec<Inst> = (0..8).map(|_| packed(&mut rng)).collect();
        let mut fast = randomised(&mut rng);
        for i in 0..8 {
            // Some near both ends of the registers.
            fast.a0[i] = pick(&mut rng, &[0, 8, 0xfe0, 0xff8, 640, 1111]) + rng.u64(..32) as u16;
        }
        let mut general = fast.clone();
        let mut port = TestPort::new(Vec::new());
        for n in 1..=code.len() {
            fast.set_ip(0);
            general.set_ip(0);
            let a = run_in(&mut KernelCache::new(isa::Verx10::GEN40).unwrap(), &mut fast, &mut port, &code[..n], n as u64);
            let b = run_in(&mut KernelCache::general(isa::Verx10::GEN40).unwrap(), &mut general, &mut port, &code[..n], n as u64);
            prop_assert_eq!(a, b);
            prop_assert_eq!(fast.grf(), general.grf(), "{:#?}", code);
            prop_assert_eq!(fast.mrf(), general.mrf(), "{:#?}", code);
            prop_assert_eq!(fast.view(), general.view(), "{:#?}", code);
        }
    }
}

/// A sum or difference of sixteen packed elements.
fn packed(rng: &mut Rng) -> Inst {
    let mut i = Inst::blank(pick(
        rng,
        &[
            Opcode::Add,
            Opcode::Shr,
            Opcode::Sad2,
            Opcode::Sada2,
            Opcode::Sada2,
        ],
    ));
    i.exec_size = 16;
    i.num_src = 2;
    i.no_mask = rng.u64(..2) == 0;
    i.pred_ctrl = pick(rng, &[PredCtrl::None, PredCtrl::None, PredCtrl::Normal]);
    i.dst = Dst {
        file: pick(rng, &[RegFile::Grf, RegFile::Grf, RegFile::Mrf]),
        ty: pick(rng, &[Type::Uw, Type::W]),
        addr: Addr::Direct {
            nr: rng.u64(..128) as u8,
            subnr: 0,
        },
        ..Dst::NULL
    };
    if rng.u64(..3) == 0 {
        i.dst.file = RegFile::Arf;
        i.dst.addr = Addr::Direct { nr: 0x20, subnr: 0 };
    }
    let row = Region {
        vstride: 16,
        width: 16,
        hstride: 1,
    };
    for n in 0..2 {
        let ty = pick(rng, &[Type::Ub, Type::Ub, Type::B, Type::Uw, Type::W]);
        let subnr = rng.u64(..32) as u8 / ty.size() as u8 * ty.size() as u8;
        i.src[n] = super::grf(rng.u64(..128) as u8, subnr, ty, row);
        if rng.u64(..3) == 0 {
            i.src[n].addr = Addr::Indirect {
                subreg: rng.u64(..8) as u8,
                imm: rng.u64(..1024) as i16 - 512,
            };
        }
        if n == 1 && rng.u64(..4) == 0 {
            let value = rng.u64(..0x1_0000) as u32;
            i.src[n] = imm(pick(rng, &[Type::Uw, Type::W]), value << 16 | value);
        }
    }
    i
}

/// Null registers tell no type, so that this `add` computes in words, whose last channels have accumulator lanes of their own.
#[test]
fn an_add_of_null_registers_updates_the_lanes_of_words() {
    let null = |ty| arf_src(0, 0, ty);
    let mut inst = instruction(&mut Rng::with_seed(1));
    inst.opcode = Opcode::Add;
    inst.access = AccessMode::Align1;
    (inst.no_mask, inst.saturate) = (true, false);
    (inst.pred_ctrl, inst.cond_mod) = (PredCtrl::None, CondMod::None);
    inst.exec_size = 16;
    inst.num_src = 2;
    inst.dst = dst(13, Type::Ud);
    (inst.src[0], inst.src[1]) = (null(Type::Ud), null(Type::F));
    for compression in [Compression::None, Compression::SecHalf] {
        inst.compression = compression;
        let views = [
            KernelCache::new(isa::Verx10::GEN40),
            KernelCache::general(isa::Verx10::GEN40),
        ]
        .map(|cache| {
            let mut t = thread();
            for lane in 0..32 {
                t.acc.set_int(lane, 7);
            }
            let mut port = TestPort::new(Vec::new());
            run_in(&mut cache.unwrap(), &mut t, &mut port, &[inst], 1);
            t.view()
        });
        assert_eq!(views[0], views[1], "{compression:?}");
        let written = |words: &[u32]| words.iter().filter(|&&word| word == 0).count();
        assert_eq!(
            (written(&views[0].acc), written(&views[0].acc_words)),
            (8, 8)
        );
    }
}
