//! Encoding of the three-source align16 format.
//!
//! PRM: Sandybridge volume 4 part 2 and Ivybridge volume 4 part 3, three-source instructions; Mesa
//! 22.3.6 `brw_inst.h`. The align1 form of Gen10 is not encoded.

use super::{Words, bad, direct};
use crate::error::{EncodeError, OperandId};
use crate::inst::{AccessMode, Inst};
use crate::operand::{RegFile, Region, Src, Type};
use crate::tables::codes;
use crate::tables::layout::{At, SRC1_SUBNR_HIGH, ThreeSrcLayout};

pub(super) fn three<const V: u8>(words: &mut Words, inst: &Inst) -> Result<(), EncodeError> {
    let layout = &At::<V>::L.three;
    if inst.access == AccessMode::Align1 {
        return Err(EncodeError::Control("access mode"));
    }
    let error = |what| bad(OperandId::Dst, what);
    let mrf = match inst.dst.file {
        RegFile::Grf => 0,
        RegFile::Mrf if At::<V>::F.mrf => 1,
        _ => return Err(error("register file")),
    };
    words.put(layout.dst_mrf, mrf);
    if inst.dst.hstride != 1 || inst.dst.compr4 {
        return Err(error("region"));
    }
    if inst.dst.writemask > 0xf {
        return Err(error("write mask"));
    }
    words.put(layout.dst_writemask, u32::from(inst.dst.writemask));
    let (nr, subnr) = direct(inst.dst.addr).ok_or(error("address"))?;
    words.put(layout.dst_nr, u32::from(nr));
    words.put(layout.dst_subnr, u32::from(subnr / 4));
    if subnr % 4 != 0 || subnr > 28 {
        return Err(error("subregister"));
    }
    let code = codes::three_type_code::<V>(inst.dst.ty).ok_or(error("type"))?;
    words.put(layout.dst_ty, code);
    let ty = inst.src[0].ty;
    let code = codes::three_type_code::<V>(ty);
    words.put(layout.src_ty, code.ok_or(bad(OperandId::Src0, "type"))?);
    if At::<V>::F.wide && matches!(ty, Type::F | Type::Hf) {
        words.put(layout.src1_half, u32::from(inst.src[1].ty == Type::Hf));
        words.put(layout.src2_half, u32::from(inst.src[2].ty == Type::Hf));
    }
    let operands = [OperandId::Src0, OperandId::Src1, OperandId::Src2];
    for (index, operand) in operands.into_iter().enumerate() {
        let high = if index == 1 { 4 } else { 8 };
        let source = &inst.src[index];
        let mixed = At::<V>::F.wide
            && matches!(ty, Type::F | Type::Hf)
            && matches!(source.ty, Type::F | Type::Hf);
        if source.ty != ty && !mixed {
            return Err(bad(operand, "type"));
        }
        src::<V>(words, &layout.src[index], operand, high, source)?;
    }
    Ok(())
}

fn src<const V: u8>(
    words: &mut Words,
    layout: &ThreeSrcLayout,
    operand: OperandId,
    high: u32,
    src: &Src,
) -> Result<(), EncodeError> {
    let error = |what| bad(operand, what);
    if src.file != RegFile::Grf || src.imm != 0 {
        return Err(error("register file"));
    }
    let (nr, subnr) = direct(src.addr).ok_or(error("address"))?;
    words.put(layout.nr, u32::from(nr));
    let dword = u32::from(subnr / 4);
    words.put(layout.subnr, dword);
    if high == 4 {
        words.put(SRC1_SUBNR_HIGH, dword >> 2);
    }
    words.put(layout.subnr_word, u32::from(subnr / 2 % 2));
    let unit = if At::<V>::F.half_words { 2 } else { 4 };
    if subnr % unit != 0 || subnr > 31 {
        return Err(error("subregister"));
    }
    let replicate = match src.region {
        Region::SCALAR => 1,
        Region::VEC4 => 0,
        _ => return Err(error("region")),
    };
    words.put(layout.replicate, replicate);
    words.put(layout.negate, u32::from(src.negate));
    words.put(layout.abs, u32::from(src.abs));
    if replicate == 1 {
        // Nothing reads the channel selects of a replicated source.
        return if src.swizzle == Src::XYZW {
            Ok(())
        } else {
            Err(error("swizzle"))
        };
    }
    let mut swizzle = 0;
    for (index, &channel) in src.swizzle.iter().enumerate() {
        if channel > 3 {
            return Err(error("swizzle"));
        }
        swizzle |= u32::from(channel) << (2 * index);
    }
    words.put(layout.swizzle, swizzle);
    Ok(())
}
