//! Forms of integer instructions: products, parts of dwords, minima, quotients.

use crate::kernels::{any_flag, ivy, pick, sandy, value};
use fastrand::Rng;
use isa::inst::{AccessMode, Compression, CondMod, PredCtrl};
use isa::operand::{Addr, Dst, RegFile, Region, Src, Type};
use isa::{Inst, Opcode, Verx10};

/// Words and bytes at one place of each dword.
const WORDS: Region = Region {
    vstride: 16,
    width: 8,
    hstride: 2,
};
const BYTES: Region = Region {
    vstride: 32,
    width: 8,
    hstride: 4,
};

fn place(rng: &mut Rng, subnr: u8) -> Addr {
    Addr::Direct {
        nr: 2 + rng.u8(..14),
        subnr,
    }
}

fn source(rng: &mut Rng, ty: Type) -> Src {
    let scalar = rng.u32(..4) == 0;
    let subnr = if scalar { 4 * rng.u8(..8) } else { 0 };
    Src {
        file: RegFile::Grf,
        ty,
        addr: place(rng, subnr),
        region: if scalar { Region::SCALAR } else { Region::VEC8 },
        ..Src::NULL
    }
}

/// A dword, or a constant where one may be.
fn dword(rng: &mut Rng, ty: Type, constant: bool) -> Src {
    if constant && rng.u32(..3) == 0 {
        return Src {
            file: RegFile::Imm,
            ty,
            imm: value(rng).into(),
            ..Src::NULL
        };
    }
    source(rng, ty)
}

/// A part of dwords, now and then packed ones or one for all channels.
fn part(rng: &mut Rng, bytes: bool) -> Src {
    let (ty, region, subnr) = if bytes {
        let ty = pick(rng, &[Type::Ub, Type::Ub, Type::B]);
        (ty, BYTES, rng.u8(..4))
    } else {
        let ty = pick(rng, &[Type::Uw, Type::Uw, Type::W]);
        (ty, WORDS, 2 * rng.u8(..2))
    };
    let mut s = source(rng, ty);
    s.region = match rng.u32(..8) {
        0 => Region::SCALAR,
        1 => Region::VEC8,
        _ => region,
    };
    s.addr = place(rng, subnr);
    s
}

fn blank(rng: &mut Rng, set: Verx10, opcode: Opcode) -> Inst {
    let mut i = Inst::blank(opcode);
    i.exec_size = pick(rng, &[8, 16, 16]);
    if i.exec_size == 16 && !sandy(set) {
        i.compression = Compression::Compressed;
    }
    if sandy(set) && rng.u32(..6) == 0 {
        i.qtr_ctrl = 2;
    }
    i.num_src = if opcode == Opcode::Mov { 1 } else { 2 };
    i.no_mask = rng.u32(..4) == 0;
    if rng.u32(..3) == 0 {
        i.pred_ctrl = PredCtrl::Normal;
        i.pred_inv = rng.bool();
        any_flag(rng, set, &mut i);
    }
    i.dst = Dst {
        file: RegFile::Grf,
        ty: pick(rng, &[Type::D, Type::Ud]),
        addr: place(rng, 0),
        hstride: 1,
        ..Dst::NULL
    };
    i
}

/// An instruction of one of these forms.
pub fn form(rng: &mut Rng, set: Verx10) -> Inst {
    match rng.u32(..9) {
        7 if ivy(set) => later(rng, set),
        8 => negative(rng, set),
        0 => {
            let mut i = blank(rng, set, Opcode::Mul);
            let ty = i.dst.ty;
            i.src[0] = part(rng, false);
            i.src[1] = dword(rng, ty, true);
            if i.src[1].file == RegFile::Grf && rng.bool() {
                i.src.swap(0, 1);
            }
            if rng.u32(..4) == 0 {
                i.cond_mod = pick(rng, &[CondMod::Z, CondMod::Nz]);
            }
            i
        }
        1 => {
            let mut i = blank(rng, set, Opcode::Add);
            i.dst.ty = pick(rng, &[Type::Uw, Type::W]);
            i.dst.hstride = 2;
            let subnr = 2 * rng.u8(..2);
            i.dst.addr = place(rng, subnr);
            i.src[0] = part(rng, false);
            i.src[1] = part(rng, false);
            i.src[0].negate = rng.u32(..4) == 0;
            i
        }
        2 => {
            let mut i = blank(rng, set, Opcode::Mov);
            let bytes = rng.bool();
            i.src[0] = part(rng, bytes);
            if rng.u32(..4) == 0 {
                i.cond_mod = pick(rng, &[CondMod::Z, CondMod::Nz, CondMod::L]);
            }
            i
        }
        3 => {
            let mut i = blank(rng, set, Opcode::Mov);
            i.dst.ty = Type::F;
            let bytes = rng.bool();
            i.src[0] = part(rng, bytes);
            i.src[0].negate = rng.u32(..4) == 0;
            i
        }
        4 if sandy(set) => {
            let mut i = blank(rng, set, Opcode::Sel);
            i.pred_ctrl = PredCtrl::None;
            i.cond_mod = pick(rng, &[CondMod::L, CondMod::Ge, CondMod::G, CondMod::Le]);
            let ty = i.dst.ty;
            i.src[0] = dword(rng, ty, false);
            i.src[1] = dword(rng, ty, true);
            i
        }
        5 if sandy(set) => {
            let mut i = blank(rng, set, Opcode::Math);
            i.exec_size = 8;
            i.math = Some(pick(rng, &[12, 13]));
            let ty = i.dst.ty;
            for s in &mut i.src[..2] {
                *s = dword(rng, ty, false);
                s.region = Region::VEC8;
                s.addr = place(rng, 0);
                s.negate = ivy(set) && rng.u32(..4) == 0;
            }
            i
        }
        _ => {
            let mut i = blank(rng, set, Opcode::Mov);
            i.src[0] = source(rng, i.dst.ty);
            i.src[0].negate = rng.bool();
            i.src[0].abs = rng.u32(..3) == 0;
            i
        }
    }
}

/// A number with the other sign that becomes a float.
fn negative(rng: &mut Rng, set: Verx10) -> Inst {
    let mut i = blank(rng, set, Opcode::Mov);
    i.src[0] = source(rng, i.dst.ty);
    i.src[0].negate = true;
    i.dst.ty = Type::F;
    i
}

/// Bit fields, carries, halves, doubles.
fn later(rng: &mut Rng, set: Verx10) -> Inst {
    use Opcode::{Addc, Bfe, Bfi1, Bfi2, Bfrev, Cbit, F16to32, F32to16, Fbh, Fbl, Subb};
    let opcode = pick(
        rng,
        &[
            Bfrev, Cbit, Fbl, Fbh, Bfi1, Bfi1, Bfe, Bfe, Bfe, Bfi2, Bfi2, Addc, Subb, F32to16,
            F16to32,
        ],
    );
    if rng.u32(..8) == 0 {
        return doubles(rng, set);
    }
    let mut i = blank(rng, set, opcode);
    i.num_src = match opcode {
        Bfi1 | Addc | Subb => 2,
        Bfe | Bfi2 => 3,
        _ => 1,
    };
    let ty = match opcode {
        Bfe | Bfi2 | Fbh | Bfi1 => i.dst.ty,
        _ => Type::Ud,
    };
    i.dst.ty = ty;
    let last = usize::from(i.num_src) - 1;
    for n in 0..=last {
        i.src[n] = dword(rng, ty, n == last && last < 2 && opcode != Fbh);
    }
    match opcode {
        Bfe | Bfi2 => {
            i.access = AccessMode::Align16;
            i.dst.writemask = pick(rng, &[15, 15, 15, 7, 2]);
            for s in &mut i.src {
                if s.region != Region::SCALAR {
                    s.region = Region::VEC4;
                }
                s.swizzle = pick(rng, &[[0, 1, 2, 3], [0, 1, 2, 3], [2; 4], [1, 0, 3, 2]]);
            }
        }
        Addc | Subb => i.acc_wr_ctrl = true,
        F32to16 => {
            i.src[0].ty = Type::F;
            i.dst.ty = Type::Uw;
            i.dst.hstride = 2;
        }
        F16to32 => {
            i.src[0] = part(rng, false);
            i.dst.ty = Type::F;
        }
        _ => {}
    }
    i
}

/// An instruction with doubles, of four channels.
fn doubles(rng: &mut Rng, set: Verx10) -> Inst {
    use Opcode::{Add, Cmp, Mov, Mul, Sel};
    let opcode = pick(rng, &[Mov, Add, Mul, Cmp, Sel]);
    let mut i = blank(rng, set, opcode);
    (i.exec_size, i.qtr_ctrl) = (8, rng.u8(..2));
    i.nib_ctrl = rng.bool();
    i.dst.ty = Type::Df;
    for s in i.src.iter_mut().take(usize::from(i.num_src)) {
        *s = source(rng, Type::Df);
        if s.region == Region::SCALAR {
            s.region.width = 2;
            s.region.hstride = 1;
            s.addr = place(rng, 8);
        }
        s.negate = rng.bool();
    }
    match opcode {
        Mov if rng.bool() => i.dst.ty = pick(rng, &[Type::F, Type::D]),
        Cmp => i.cond_mod = pick(rng, &[CondMod::L, CondMod::Nz]),
        Sel => (i.pred_ctrl, i.cond_mod) = (PredCtrl::None, CondMod::Ge),
        _ => {}
    }
    i
}

/// A product of dwords by way of the accumulator.
pub fn whole_product(rng: &mut Rng, set: Verx10) -> [Inst; 2] {
    let mut mul = blank(rng, set, Opcode::Mul);
    let ty = mul.dst.ty;
    mul.src[0] = dword(rng, ty, false);
    mul.src[1] = dword(rng, ty, true);
    mul.dst.file = RegFile::Arf;
    mul.dst.addr = Addr::Direct { nr: 0x20, subnr: 0 };
    if mul.exec_size == 8 && mul.qtr_ctrl == 0 && rng.u32(..3) == 0 {
        if sandy(set) {
            mul.qtr_ctrl = 1;
            mul.dst.addr = Addr::Direct { nr: 0x21, subnr: 0 };
        } else {
            mul.compression = Compression::SecHalf;
        }
    }
    let mut mach = mul;
    mach.opcode = Opcode::Mach;
    mach.dst.file = RegFile::Grf;
    mach.dst.addr = place(rng, 0);
    if rng.u32(..4) == 0 {
        mach.dst = Dst { ty, ..Dst::NULL };
    }
    mach.acc_wr_ctrl = sandy(set) && rng.u32(..4) != 0;
    [mul, mach]
}
