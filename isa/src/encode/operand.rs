//! Encoding of destinations and of the sources of one- and two-source formats.
//!
//! PRM: volume 4, 13.2.3-13.2.4. Restrictions on regions are the validator's.

use super::{COMPR4_BIT, Words, bad};
use crate::error::{EncodeError, OperandId};
use crate::inst::{AccessMode, Inst};
use crate::operand::{Addr, Dst, RegFile, Src};
use crate::tables::OpcodeDesc;
use crate::tables::codes;
use crate::tables::layout as at;
use crate::tables::layout::{At, Field, IndirectLayout, SrcLayout};

pub(super) fn dst<const V: u8>(
    words: &mut Words,
    access: AccessMode,
    dst: &Dst,
) -> Result<(), EncodeError> {
    let layout = &At::<V>::L.dst;
    let error = |what| bad(OperandId::Dst, what);
    if dst.file == RegFile::Imm || !At::<V>::F.mrf && dst.file == RegFile::Mrf {
        return Err(error("register file"));
    }
    words.put(layout.file, codes::file_code(dst.file));
    words.put(
        layout.ty,
        codes::reg_type_code::<V>(dst.ty).ok_or(error("type"))?,
    );
    let align1 = access == AccessMode::Align1;
    let hstride = codes::stride_code(dst.hstride).filter(|code| (1..=3).contains(code));
    let hstride = hstride.ok_or(error("horizontal stride"))?;
    if align1 {
        words.put(layout.hstride, hstride);
    } else if hstride != 1 {
        return Err(error("horizontal stride"));
    }
    if align1 && dst.writemask != 0xf || dst.writemask > 0xf {
        return Err(error("write mask"));
    }
    match dst.addr {
        Addr::Direct { nr, subnr } => {
            let mut nr = nr;
            if dst.file == RegFile::Mrf && At::<V>::F.compr4 {
                if nr & COMPR4_BIT != 0 {
                    return Err(error("register number"));
                }
                nr |= if dst.compr4 { COMPR4_BIT } else { 0 };
            } else if dst.compr4 {
                return Err(error("compr4"));
            }
            words.put(layout.indirect, 0);
            words.put(layout.nr, u32::from(nr));
            subregister(words, align1, layout.subnr, layout.subnr16, subnr)
                .ok_or(error("subregister"))?;
        }
        Addr::Indirect { subreg, imm } => {
            if dst.compr4 {
                return Err(error("compr4"));
            }
            words.put(layout.indirect, 1);
            indirect(words, align1, &layout.ia, subreg, imm).ok_or(error("indirect address"))?;
        }
    }
    if !align1 {
        words.put(layout.writemask, u32::from(dst.writemask));
    }
    Ok(())
}

fn subregister(
    words: &mut Words,
    align1: bool,
    bytes: Field,
    halves: Field,
    subnr: u8,
) -> Option<()> {
    if align1 {
        words.put(bytes, u32::from(subnr));
        (subnr < 32).then_some(())
    } else {
        words.put(halves, u32::from(subnr / 16));
        (subnr == 0 || subnr == 16).then_some(())
    }
}

fn indirect(
    words: &mut Words,
    align1: bool,
    layout: &IndirectLayout,
    subreg: u8,
    imm: i16,
) -> Option<()> {
    words.put(layout.subreg, u32::from(subreg));
    let bits = i32::from(imm) as u32;
    if align1 {
        words.put(layout.imm, bits);
    } else {
        words.put(layout.imm16, bits >> 4);
    }
    words.put(layout.imm9, bits >> 9);
    let limit = layout.subreg.get(&[u32::MAX; 4]);
    (u32::from(subreg) <= limit && displacement_fits(imm, align1)).then_some(())
}

/// Ten bits with a sign; whole halves of a register in align16.
pub(super) fn displacement_fits(imm: i16, align1: bool) -> bool {
    (-512..512).contains(&imm) && (align1 || imm % 16 == 0)
}

pub(super) fn sources<const V: u8>(
    words: &mut Words,
    row: &OpcodeDesc,
    inst: &Inst,
) -> Result<(), EncodeError> {
    match row.nsrc {
        0 => Ok(()),
        1 => src::<V, 0>(words, inst.access, true, &inst.src[0]),
        _ => {
            src::<V, 0>(words, inst.access, false, &inst.src[0])?;
            src::<V, 1>(words, inst.access, true, &inst.src[1])
        }
    }
}

/// An immediate of two words.
pub(super) fn wide<const V: u8>(src: &Src) -> bool {
    At::<V>::F.wide && src.ty.size() == 8
}

const fn source_id<const INDEX: usize>() -> OperandId {
    if INDEX == 0 {
        OperandId::Src0
    } else {
        OperandId::Src1
    }
}

fn immediate<const V: u8, const INDEX: usize>(
    words: &mut Words,
    wide: bool,
    src: &Src,
) -> Result<(), EncodeError> {
    let layout = &At::<V>::L.src[INDEX];
    let operand = source_id::<INDEX>();
    let error = |what| bad(operand, what);
    words.put(layout.file, codes::file_code(src.file));
    words.put(
        layout.ty,
        codes::imm_type_code::<V>(src.ty).ok_or(error("type"))?,
    );
    if wide {
        if INDEX != 0 {
            return Err(error("type"));
        }
        words.put_word(2, src.imm as u32);
        words.put_word(3, (src.imm >> 32) as u32);
    } else {
        words.put(at::IMM, src.imm as u32);
        if src.imm >> 32 != 0 {
            return Err(error("immediate"));
        }
    }
    let plain = Src {
        imm: src.imm,
        ty: src.ty,
        file: RegFile::Imm,
        ..Src::NULL
    };
    if *src == plain {
        Ok(())
    } else {
        Err(error("immediate with register fields"))
    }
}

/// `dim` (Gen7.5): an immediate of two words, whatever its type.
pub(super) fn dim<const V: u8>(words: &mut Words, src: &Src) -> Result<(), EncodeError> {
    if src.file != RegFile::Imm {
        return Err(bad(OperandId::Src0, "register file"));
    }
    immediate::<V, 0>(words, true, src)
}

#[inline]
pub(super) fn src<const V: u8, const INDEX: usize>(
    words: &mut Words,
    access: AccessMode,
    imm_allowed: bool,
    src: &Src,
) -> Result<(), EncodeError> {
    let layout = &At::<V>::L.src[INDEX];
    let operand = source_id::<INDEX>();
    match src.file {
        RegFile::Imm if imm_allowed => {
            return immediate::<V, INDEX>(words, wide::<V>(src), src);
        }
        RegFile::Imm | RegFile::Mrf => return Err(bad(operand, "register file")),
        RegFile::Arf | RegFile::Grf => {}
    }
    register::<V>(words, layout, operand, access, src)
}

/// The payload of `send`: a message register too, on Gen6.
pub(super) fn payload<const V: u8>(
    words: &mut Words,
    access: AccessMode,
    src: &Src,
) -> Result<(), EncodeError> {
    let operand = OperandId::Src0;
    if src.file == RegFile::Imm || !At::<V>::F.payload_in_mrf && src.file == RegFile::Mrf {
        return Err(bad(operand, "register file"));
    }
    register::<V>(words, &At::<V>::L.src[0], operand, access, src)
}

#[inline(always)]
fn register<const V: u8>(
    words: &mut Words,
    layout: &SrcLayout,
    operand: OperandId,
    access: AccessMode,
    src: &Src,
) -> Result<(), EncodeError> {
    let error = |what| bad(operand, what);
    if src.imm != 0 {
        return Err(error("immediate"));
    }
    words.put(layout.file, codes::file_code(src.file));
    words.put(
        layout.ty,
        codes::reg_type_code::<V>(src.ty).ok_or(error("type"))?,
    );
    words.put(layout.negate, u32::from(src.negate));
    words.put(layout.abs, u32::from(src.abs));
    let align1 = access == AccessMode::Align1;
    let indirect_mode = matches!(src.addr, Addr::Indirect { .. });
    words.put(layout.indirect, u32::from(indirect_mode));
    match src.addr {
        Addr::Direct { nr, subnr } => {
            words.put(layout.nr, u32::from(nr));
            subregister(words, align1, layout.subnr, layout.subnr16, subnr)
                .ok_or(error("subregister"))?;
        }
        Addr::Indirect { subreg, imm } => {
            indirect(words, align1, &layout.ia, subreg, imm).ok_or(error("indirect address"))?;
        }
    }
    let code = codes::vstride_code(src.region.vstride, indirect_mode && align1);
    words.put(layout.vstride, code.ok_or(error("vertical stride"))?);
    if align1 {
        let code = codes::log2_code(src.region.width, 4).ok_or(error("width"))?;
        words.put(layout.width, code);
        let code = codes::stride_code(src.region.hstride).filter(|&code| code < 4);
        words.put(layout.hstride, code.ok_or(error("horizontal stride"))?);
        if src.swizzle != Src::XYZW {
            return Err(error("swizzle"));
        }
    } else {
        if src.region.width != 4 || src.region.hstride != 1 {
            return Err(error("region"));
        }
        for (field, channel) in layout.swizzle.into_iter().zip(src.swizzle) {
            if channel > 3 {
                return Err(error("swizzle"));
            }
            words.put(field, u32::from(channel));
        }
    }
    Ok(())
}
