//! Decoding of destinations and of the sources of one- and two-source formats.
//!
//! PRM: volume 4, 13.2.3-13.2.4. Restrictions on regions are the validator's.

use super::{Kind, Reader};
use crate::encode;
use crate::error::OperandId;
use crate::inst::{AccessMode, Inst};
use crate::operand::{Addr, Dst, RegFile, Region, Src};
use crate::tables::codes;
use crate::tables::layout as at;
use crate::tables::layout::{At, Field, IndirectLayout, SrcLayout};

pub(super) fn basic<const V: u8>(nsrc: u8, from: &mut Reader, inst: &mut Inst) -> Result<(), Kind> {
    dst::<V>(inst.access, from, &mut inst.dst)?;
    inst.num_src = nsrc;
    let [first, second, _] = &mut inst.src;
    match nsrc {
        0 => Ok(()),
        1 => src::<V, 0>(inst.access, true, from, first),
        _ => {
            src::<V, 0>(inst.access, false, from, first)?;
            src::<V, 1>(inst.access, true, from, second)
        }
    }
}

#[inline]
pub(super) fn dst<const V: u8>(
    access: AccessMode,
    from: &mut Reader,
    dst: &mut Dst,
) -> Result<(), Kind> {
    let layout = &At::<V>::L.dst;
    let operand = OperandId::Dst;
    let code = from.get(layout.file);
    let file = codes::file(code);
    if file == RegFile::Imm || !At::<V>::F.mrf && file == RegFile::Mrf {
        return Err(Kind::ReservedRegFile { operand, code });
    }
    dst.file = file;
    let code = from.get(layout.ty);
    dst.ty = codes::reg_type::<V>(code).ok_or(Kind::ReservedType { operand, code })?;
    let align1 = access == AccessMode::Align1;
    dst.addr = if from.flag(layout.indirect) {
        indirect(&layout.ia, align1, from)
    } else {
        let mut nr = from.get(layout.nr) as u8;
        if At::<V>::F.compr4 && file == RegFile::Mrf {
            dst.compr4 = nr & encode::COMPR4_BIT != 0;
            nr &= !encode::COMPR4_BIT;
        }
        direct(nr, align1, layout.subnr, layout.subnr16, from)
    };
    if align1 {
        let code = from.get(layout.hstride);
        let hstride = codes::stride(code).filter(|&stride| stride != 0);
        dst.hstride = hstride.ok_or(Kind::ReservedHstride { operand, code })?;
    } else {
        dst.writemask = from.get(layout.writemask) as u8;
    }
    Ok(())
}

#[inline]
fn direct(nr: u8, align1: bool, bytes: Field, halves: Field, from: &mut Reader) -> Addr {
    let subnr = if align1 {
        from.get(bytes)
    } else {
        from.get(halves) * 16
    };
    Addr::Direct {
        nr,
        subnr: subnr as u8,
    }
}

#[inline]
fn indirect(layout: &IndirectLayout, align1: bool, from: &mut Reader) -> Addr {
    let low = if align1 {
        from.get(layout.imm)
    } else {
        from.get(layout.imm16) << 4
    };
    Addr::Indirect {
        subreg: from.get(layout.subreg) as u8,
        imm: displacement(low | from.get(layout.imm9) << 9),
    }
}

/// Sign of a ten-bit displacement.
pub(super) const fn displacement(bits: u32) -> i16 {
    (((bits << 22) as i32) >> 22) as i16
}

/// Source operand 0 or 1; only the last one may be an immediate.
#[inline]
pub(super) fn src<const V: u8, const INDEX: usize>(
    access: AccessMode,
    imm_allowed: bool,
    from: &mut Reader,
    src: &mut Src,
) -> Result<(), Kind> {
    let layout = &At::<V>::L.src[INDEX];
    let operand = source_id::<INDEX>();
    let file_code = from.get(layout.file);
    let code = from.get(layout.ty);
    src.file = codes::file(file_code);
    match src.file {
        RegFile::Mrf => Err(Kind::ReservedRegFile {
            operand,
            code: file_code,
        }),
        RegFile::Imm if !imm_allowed => Err(Kind::ImmediateNotLast(operand)),
        RegFile::Imm => {
            src.ty = codes::imm_type::<V>(code).ok_or(Kind::ReservedType { operand, code })?;
            if At::<V>::F.wide && src.ty.size() == 8 {
                // A 64-bit immediate covers the fields of source 1.
                if INDEX != 0 {
                    return Err(Kind::ReservedType { operand, code });
                }
                src.imm = from.wide();
            } else {
                src.imm = u64::from(from.get(at::IMM));
            }
            Ok(())
        }
        RegFile::Arf | RegFile::Grf => {
            src.ty = codes::reg_type::<V>(code).ok_or(Kind::ReservedType { operand, code })?;
            register(layout, operand, access, from, src)
        }
    }
}

const fn source_id<const INDEX: usize>() -> OperandId {
    if INDEX == 0 {
        OperandId::Src0
    } else {
        OperandId::Src1
    }
}

/// The payload of `send`: a message register too, on Gen6.
pub(super) fn payload<const V: u8>(
    access: AccessMode,
    from: &mut Reader,
    src: &mut Src,
) -> Result<(), Kind> {
    let layout = &At::<V>::L.src[0];
    if !At::<V>::F.payload_in_mrf || codes::file(from.peek(layout.file)) != RegFile::Mrf {
        return self::src::<V, 0>(access, false, from, src);
    }
    src.file = codes::file(from.get(layout.file));
    let code = from.get(layout.ty);
    let operand = OperandId::Src0;
    src.ty = codes::reg_type::<V>(code).ok_or(Kind::ReservedType { operand, code })?;
    register(layout, operand, access, from, src)
}

#[inline(always)]
fn register(
    layout: &SrcLayout,
    operand: OperandId,
    access: AccessMode,
    from: &mut Reader,
    src: &mut Src,
) -> Result<(), Kind> {
    let align1 = access == AccessMode::Align1;
    let is_indirect = from.flag(layout.indirect);
    src.addr = if is_indirect {
        indirect(&layout.ia, align1, from)
    } else {
        let nr = from.get(layout.nr) as u8;
        direct(nr, align1, layout.subnr, layout.subnr16, from)
    };
    let code = from.get(layout.vstride);
    let vstride = codes::vstride(code, is_indirect && align1)
        .ok_or(Kind::ReservedVstride { operand, code })?;
    let (mut width, mut hstride) = (4, 1);
    if align1 {
        let code = from.get(layout.width);
        width = codes::log2(code, 4).ok_or(Kind::ReservedWidth { operand, code })?;
        let code = from.get(layout.hstride);
        hstride = codes::stride(code).ok_or(Kind::ReservedHstride { operand, code })?;
    } else {
        src.swizzle = layout.swizzle.map(|channel| from.get(channel) as u8);
    }
    src.region = Region {
        vstride,
        width,
        hstride,
    };
    src.negate = from.flag(layout.negate);
    src.abs = from.flag(layout.abs);
    Ok(())
}
