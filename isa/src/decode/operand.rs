//! Decoding of destinations and of the sources of one- and two-source formats.
//!
//! PRM: volume 4, 13.2.3-13.2.4. Restrictions on regions are the validator's.

use super::{Kind, Raw};
use crate::codes;
use crate::encode;
use crate::error::OperandId;
use crate::inst::{AccessMode, Inst};
use crate::layout as at;
use crate::layout::{At, Field, IndirectLayout, SrcLayout};
use crate::operand::{Addr, Dst, RegFile, Region, Src};

pub(super) fn basic<const V: u8>(nsrc: u8, raw: &Raw, inst: &mut Inst) -> Result<(), Kind> {
    inst.dst = dst::<V>(inst.access, raw)?;
    inst.num_src = nsrc;
    match nsrc {
        0 => {}
        1 => inst.src[0] = src::<V>(0, inst.access, true, raw)?,
        _ => {
            inst.src[0] = src::<V>(0, inst.access, false, raw)?;
            inst.src[1] = src::<V>(1, inst.access, true, raw)?;
        }
    }
    Ok(())
}

pub(super) fn dst<const V: u8>(access: AccessMode, raw: &Raw) -> Result<Dst, Kind> {
    let layout = &At::<V>::L.dst;
    let operand = OperandId::Dst;
    let code = layout.file.get(raw);
    let file = codes::file(code);
    if file == RegFile::Imm || V >= 70 && file == RegFile::Mrf {
        return Err(Kind::ReservedRegFile { operand, code });
    }
    let code = layout.ty.get(raw);
    let ty = codes::reg_type::<V>(code).ok_or(Kind::ReservedType { operand, code })?;
    let align1 = access == AccessMode::Align1;
    let mut compr4 = false;
    let addr = if layout.indirect.flag(raw) {
        indirect(&layout.ia, align1, raw)
    } else {
        let mut nr = layout.nr.get(raw) as u8;
        if file == RegFile::Mrf && encode::has_compr4::<V>() {
            compr4 = nr & encode::COMPR4_BIT != 0;
            nr &= !encode::COMPR4_BIT;
        }
        direct(nr, align1, layout.subnr, layout.subnr16, raw)
    };
    let (hstride, writemask) = if align1 {
        let code = layout.hstride.get(raw);
        let hstride = codes::stride(code).filter(|&stride| stride != 0);
        (hstride.ok_or(Kind::ReservedHstride { operand, code })?, 0xf)
    } else {
        (1, layout.writemask.get(raw) as u8)
    };
    Ok(Dst {
        file,
        ty,
        addr,
        hstride,
        writemask,
        compr4,
    })
}

fn direct(nr: u8, align1: bool, bytes: Field, halves: Field, raw: &Raw) -> Addr {
    let subnr = if align1 {
        bytes.get(raw)
    } else {
        halves.get(raw) * 16
    };
    Addr::Direct {
        nr,
        subnr: subnr as u8,
    }
}

fn indirect(layout: &IndirectLayout, align1: bool, raw: &Raw) -> Addr {
    let low = if align1 {
        layout.imm.get(raw)
    } else {
        layout.imm16.get(raw) << 4
    };
    Addr::Indirect {
        subreg: layout.subreg.get(raw) as u8,
        imm: displacement(low | layout.imm9.get(raw) << 9),
    }
}

/// Sign of a ten-bit displacement.
pub(super) const fn displacement(bits: u32) -> i16 {
    (((bits << 22) as i32) >> 22) as i16
}

/// Source operand 0 or 1; only the last one may be an immediate.
pub(super) fn src<const V: u8>(
    index: usize,
    access: AccessMode,
    imm_allowed: bool,
    raw: &Raw,
) -> Result<Src, Kind> {
    let (layout, operand) = match index {
        0 => (&At::<V>::L.src[0], OperandId::Src0),
        _ => (&At::<V>::L.src[1], OperandId::Src1),
    };
    let file_code = layout.file.get(raw);
    let code = layout.ty.get(raw);
    match codes::file(file_code) {
        RegFile::Mrf => Err(Kind::ReservedRegFile {
            operand,
            code: file_code,
        }),
        RegFile::Imm if !imm_allowed => Err(Kind::ImmediateNotLast(operand)),
        RegFile::Imm => {
            let ty = codes::imm_type::<V>(code).ok_or(Kind::ReservedType { operand, code })?;
            // A 64-bit immediate covers the fields of source 1.
            let imm = match (V >= 80 && ty.size() == 8, index) {
                (false, _) => u64::from(at::IMM.get(raw)),
                (true, 0) => u64::from(raw[3]) << 32 | u64::from(raw[2]),
                (true, _) => return Err(Kind::ReservedType { operand, code }),
            };
            Ok(Src {
                file: RegFile::Imm,
                ty,
                imm,
                ..Src::NULL
            })
        }
        file @ (RegFile::Arf | RegFile::Grf) => {
            let ty = codes::reg_type::<V>(code).ok_or(Kind::ReservedType { operand, code })?;
            register(layout, operand, access, raw).map(|src| Src { file, ty, ..src })
        }
    }
}

/// The payload of `send`: a message register too, on Gen6.
pub(super) fn payload<const V: u8>(access: AccessMode, raw: &Raw) -> Result<Src, Kind> {
    let layout = &At::<V>::L.src[0];
    if V != 60 || codes::file(layout.file.get(raw)) != RegFile::Mrf {
        return src::<V>(0, access, false, raw);
    }
    let code = layout.ty.get(raw);
    let operand = OperandId::Src0;
    let ty = codes::reg_type::<V>(code).ok_or(Kind::ReservedType { operand, code })?;
    register(layout, operand, access, raw).map(|src| Src {
        file: RegFile::Mrf,
        ty,
        ..src
    })
}

fn register(
    layout: &SrcLayout,
    operand: OperandId,
    access: AccessMode,
    raw: &Raw,
) -> Result<Src, Kind> {
    let align1 = access == AccessMode::Align1;
    let is_indirect = layout.indirect.flag(raw);
    let addr = if is_indirect {
        indirect(&layout.ia, align1, raw)
    } else {
        let nr = layout.nr.get(raw) as u8;
        direct(nr, align1, layout.subnr, layout.subnr16, raw)
    };
    let code = layout.vstride.get(raw);
    let vstride = codes::vstride(code, is_indirect && align1)
        .ok_or(Kind::ReservedVstride { operand, code })?;
    let (width, hstride, swizzle) = if align1 {
        let code = layout.width.get(raw);
        let width = codes::log2(code, 4).ok_or(Kind::ReservedWidth { operand, code })?;
        let code = layout.hstride.get(raw);
        let hstride = codes::stride(code).ok_or(Kind::ReservedHstride { operand, code })?;
        (width, hstride, Src::XYZW)
    } else {
        (4, 1, layout.swizzle.map(|channel| channel.get(raw) as u8))
    };
    Ok(Src {
        addr,
        region: Region {
            vstride,
            width,
            hstride,
        },
        swizzle,
        negate: layout.negate.flag(raw),
        abs: layout.abs.flag(raw),
        ..Src::NULL
    })
}
