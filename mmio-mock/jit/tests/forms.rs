//! Forms of operands and operations that pixel and vertex kernels have.

use crate::kernels::{instruction, ivy, pick, sandy, source, value};
use fastrand::Rng;
use isa::inst::{AccessMode, Compression, CondMod, PredCtrl};
use isa::operand::{Addr, Dst, RegFile, Region, Src, Type};
use isa::{Inst, Opcode, Verx10};

fn register(rng: &mut Rng) -> Addr {
    Addr::Direct {
        nr: 2 + rng.u8(..14),
        subnr: 0,
    }
}

fn file(rng: &mut Rng, ty: Type, region: Region) -> Src {
    Src {
        file: RegFile::Grf,
        ty,
        addr: register(rng),
        region,
        ..Src::NULL
    }
}

/// An instruction of one of these forms.
pub fn form(rng: &mut Rng, set: Verx10) -> Inst {
    let mut i = match rng.u32(..10) {
        0 | 1 => align16(rng, set),
        2..=4 => sums(rng, set),
        5 => words(rng, set),
        6 => positions(rng, set),
        7 => flags(rng, set),
        8 if sandy(set) => math(rng, set),
        _ => regions(rng, set),
    };
    i.acc_wr_ctrl = sandy(set) && rng.u32(..16) == 0;
    // Message registers wait for nothing.
    i.no_dd_clr = i.dst.file == RegFile::Mrf && rng.u32(..4) == 0;
    i
}

/// Channels in fours, with swizzles and write masks.
pub fn align16(rng: &mut Rng, set: Verx10) -> Inst {
    let mut i = loop {
        let i = instruction(rng, set);
        if i.num_src < 3 && !matches!(i.opcode, Opcode::Math | Opcode::Pln) {
            break i;
        }
    };
    if rng.u32(..3) == 0 {
        i.opcode = pick(rng, &[Opcode::Dp2, Opcode::Dp3, Opcode::Dp4, Opcode::Dph]);
        (i.num_src, i.cond_mod) = (2, CondMod::None);
        i.dst.ty = Type::F;
        i.src[0] = source(rng, Type::F, false);
        i.src[1] = source(rng, Type::F, false);
    }
    i.access = AccessMode::Align16;
    i.exec_size = 8;
    i.compression = Compression::None;
    (i.qtr_ctrl, i.nib_ctrl) = (0, false);
    if let Addr::Direct { nr, .. } = i.dst.addr {
        i.dst.addr = Addr::Direct { nr, subnr: 0 };
    }
    let any = rng.u8(1..16);
    i.dst.writemask = pick(rng, &[15, 15, 7, 1, 2, 4, 8, any]);
    for s in &mut i.src {
        if s.file != RegFile::Grf {
            continue;
        }
        let vstride = pick(rng, &[4, 4, 0]);
        s.region = Region {
            vstride,
            width: 4,
            hstride: 1,
        };
        if let Addr::Direct { nr, .. } = s.addr {
            let subnr = if vstride == 0 { 16 * rng.u8(..2) } else { 0 };
            s.addr = Addr::Direct { nr, subnr };
        }
        s.swizzle = if rng.bool() {
            [rng.u8(..4); 4]
        } else {
            std::array::from_fn(|_| rng.u8(..4))
        };
    }
    if i.pred_ctrl == PredCtrl::Normal && rng.bool() {
        use PredCtrl::{AlignAny4h, ReplW, ReplX, ReplY, ReplZ};
        i.pred_ctrl = pick(rng, &[ReplX, ReplY, ReplZ, ReplW, AlignAny4h]);
    }
    i
}

/// Lines, products that are added up, planes: with results that stay in the accumulator.
fn sums(rng: &mut Rng, set: Verx10) -> Inst {
    use Opcode::{Add, Dp3, Line, Lrp, Mac, Mul, Pln};
    let mut i = loop {
        let i = instruction(rng, set);
        if i.opcode == Opcode::Mul {
            break i;
        }
    };
    i.opcode = pick(rng, &[Line, Line, Mac, Mac, Mac, Mul, Add, Pln, Dp3, Lrp]);
    if i.opcode == Lrp && !sandy(set) {
        i.opcode = Mac;
    }
    match i.opcode {
        Line | Pln => {
            let any = 4 * rng.u8(..8);
            let subnr = pick(rng, &[0, 16, any]);
            i.src[0] = file(rng, Type::F, Region::SCALAR);
            i.src[0].negate = rng.u32(..4) == 0;
            i.src[0].addr = Addr::Direct {
                nr: 2 + rng.u8(..14),
                subnr,
            };
            if i.opcode == Pln {
                i.src[1] = file(rng, Type::F, Region::VEC8);
            }
        }
        Lrp => {
            i.access = AccessMode::Align16;
            (i.exec_size, i.nib_ctrl) = (8, false);
            i.num_src = 3;
            i.dst.writemask = 15;
            for s in &mut i.src {
                *s = file(rng, Type::F, Region::VEC4);
                s.swizzle = pick(rng, &[[0, 1, 2, 3], [2; 4], [1, 0, 3, 2]]);
            }
        }
        _ => {}
    }
    if i.opcode != Lrp && rng.u32(..3) == 0 {
        i.dst = Dst {
            ty: Type::F,
            ..Dst::NULL
        };
    } else if rng.u32(..4) == 0 {
        message(rng, set, &mut i);
    }
    i
}

/// A message register as the destination.
fn message(rng: &mut Rng, set: Verx10, i: &mut Inst) {
    i.dst.file = RegFile::Mrf;
    i.dst.addr = Addr::Direct {
        nr: 1 + rng.u8(..8),
        subnr: 0,
    };
    i.dst.compr4 = i.exec_size == 16 && set.times_ten() > 40 && rng.bool();
}

/// Sums of sixteen words.
fn words(rng: &mut Rng, set: Verx10) -> Inst {
    let mut i = Inst::blank(Opcode::Add);
    i.exec_size = 16;
    i.num_src = 2;
    let ty = pick(rng, &[Type::Uw, Type::W]);
    i.dst = Dst {
        file: RegFile::Grf,
        ty,
        addr: register(rng),
        hstride: 1,
        ..Dst::NULL
    };
    let packed = Region {
        vstride: 16,
        width: 16,
        hstride: 1,
    };
    let fours = Region {
        vstride: 2,
        width: 4,
        hstride: 0,
    };
    let region = pick(rng, &[fours, packed]);
    i.src[0] = file(rng, ty, region);
    if let Addr::Direct { nr, .. } = i.src[0].addr {
        i.src[0].addr = Addr::Direct {
            nr,
            subnr: 2 * rng.u8(..8),
        };
    }
    i.src[1] = if rng.bool() {
        Src {
            file: RegFile::Imm,
            ty: Type::V,
            imm: u64::from(rng.u32(..)),
            ..Src::NULL
        }
    } else {
        file(rng, ty, packed)
    };
    if rng.u32(..3) == 0 {
        i.pred_ctrl = PredCtrl::Normal;
        i.pred_inv = rng.bool();
    }
    i.no_mask = rng.u32(..4) == 0;
    let _ = set;
    i
}

/// Words that become floats, alone or beside floats.
fn positions(rng: &mut Rng, set: Verx10) -> Inst {
    let mut i = Inst::blank(pick(rng, &[Opcode::Add, Opcode::Mul, Opcode::Mov]));
    i.exec_size = pick(rng, &[8, 16]);
    if i.exec_size == 16 && !sandy(set) {
        i.compression = Compression::Compressed;
    }
    i.num_src = if i.opcode == Opcode::Mov { 1 } else { 2 };
    i.dst = Dst {
        file: RegFile::Grf,
        ty: Type::F,
        addr: register(rng),
        hstride: 1,
        ..Dst::NULL
    };
    let ty = pick(rng, &[Type::Uw, Type::W]);
    i.src[0] = file(rng, ty, Region::VEC8);
    i.src[0].negate = rng.u32(..4) == 0;
    if let Addr::Direct { nr, .. } = i.src[0].addr {
        i.src[0].addr = Addr::Direct {
            nr,
            subnr: 16 * rng.u8(..2),
        };
    }
    if i.num_src == 2 {
        i.src[1] = source(rng, Type::F, true);
        if rng.bool() && i.src[1].file == RegFile::Grf {
            i.src.swap(0, 1);
        }
    }
    i.saturate = rng.u32(..6) == 0;
    if i.opcode == Opcode::Mov && rng.bool() {
        // Floats that become integers instead.
        i.dst.ty = pick(rng, &[Type::D, Type::D, Type::Ud]);
        i.src[0] = source(rng, Type::F, false);
        i.saturate = rng.u32(..6) == 0;
    }
    i
}

/// Flags as words.
fn flags(rng: &mut Rng, set: Verx10) -> Inst {
    let mut i = Inst::blank(Opcode::Mov);
    i.exec_size = 1;
    i.num_src = 1;
    i.no_mask = rng.bool();
    let flag = Addr::Direct {
        nr: 0x30 | u8::from(ivy(set) && rng.bool()),
        subnr: 2 * rng.u8(..2),
    };
    let word = Addr::Direct {
        nr: 2 + rng.u8(..14),
        subnr: 2 * rng.u8(..16),
    };
    i.dst = Dst {
        file: RegFile::Grf,
        ty: Type::Uw,
        addr: word,
        hstride: 1,
        ..Dst::NULL
    };
    i.src[0] = file(rng, Type::Uw, Region::SCALAR);
    match rng.u32(..3) {
        0 => {
            i.src[0].file = RegFile::Arf;
            i.src[0].addr = flag;
        }
        1 => {
            i.src[0].addr = word;
            i.dst.file = RegFile::Arf;
            i.dst.addr = flag;
        }
        _ => {
            i.dst.file = RegFile::Arf;
            i.dst.addr = flag;
            let word = u64::from(rng.u16(..));
            i.src[0] = Src {
                file: RegFile::Imm,
                ty: Type::Uw,
                imm: word | word << 16,
                ..Src::NULL
            };
        }
    }
    i
}

/// The functions that are called.
fn math(rng: &mut Rng, set: Verx10) -> Inst {
    let mut i = Inst::blank(Opcode::Math);
    i.exec_size = pick(rng, &[8, 16]);
    let function = pick(rng, &[2, 3, 6, 7, 9, 10]);
    i.math = Some(function);
    i.num_src = if function >= 9 { 2 } else { 1 };
    i.dst = Dst {
        file: RegFile::Grf,
        ty: Type::F,
        addr: register(rng),
        hstride: 1,
        ..Dst::NULL
    };
    for s in &mut i.src[..usize::from(i.num_src)] {
        let region = pick(rng, &[Region::VEC8, Region::VEC4]);
        *s = file(rng, Type::F, region);
        s.negate = ivy(set) && rng.bool();
        s.abs = ivy(set) && rng.u32(..4) == 0;
    }
    if i.num_src == 1 {
        // The format has two sources.
        i.num_src = 2;
        i.src[1] = Src {
            ty: Type::F,
            ..Src::NULL
        };
    }
    i.saturate = rng.u32(..6) == 0;
    i.no_mask = rng.u32(..4) == 0;
    if rng.u32(..3) == 0 {
        i.pred_ctrl = PredCtrl::Normal;
        i.pred_inv = rng.bool();
    }
    i
}

/// Dwords in other orders, and other destinations.
fn regions(rng: &mut Rng, set: Verx10) -> Inst {
    let mut i = loop {
        let i = instruction(rng, set);
        if i.num_src < 3 && !matches!(i.opcode, Opcode::Math | Opcode::Pln) {
            break i;
        }
    };
    let (a, b) = (pick(rng, &[8, 4, 2, 1]), pick(rng, &[0, 1, 2, 4]));
    for s in &mut i.src[..usize::from(i.num_src)] {
        if s.file == RegFile::Grf && rng.bool() {
            s.region = Region {
                vstride: pick(rng, &[8, 4, 2, 1, 0]),
                width: a.min(i.exec_size),
                hstride: if a == 1 { 0 } else { b },
            };
        }
    }
    if i.exec_size == 1 {
        (i.exec_size, i.nib_ctrl) = (2, false);
    } else if rng.bool() {
        message(rng, set, &mut i);
    }
    let _ = value(rng);
    i
}
