//! Decoding of the three-source align16 format.
//!
//! PRM: Sandybridge volume 4 part 2 and Ivybridge volume 4 part 3, three-source instructions; Mesa
//! 22.3.6 `brw_inst.h`. The align1 form of Gen10 is not decoded.

use super::{Kind, Reader};
use crate::error::OperandId;
use crate::inst::{AccessMode, Inst};
use crate::operand::{Addr, Dst, RegFile, Region, Src, Type};
use crate::tables::codes;
use crate::tables::layout::{At, SRC1_SUBNR_HIGH, ThreeSrcLayout};

pub(super) fn three<const V: u8>(from: &mut Reader, inst: &mut Inst) -> Result<(), Kind> {
    let layout = &At::<V>::L.three;
    if inst.access == AccessMode::Align1 {
        return Err(Kind::ReservedAccessMode(0));
    }
    let code = from.get(layout.dst_ty);
    let operand = OperandId::Dst;
    let ty = codes::three_type::<V>(code).ok_or(Kind::ReservedType { operand, code })?;
    inst.dst = Dst {
        file: if from.flag(layout.dst_mrf) {
            RegFile::Mrf
        } else {
            RegFile::Grf
        },
        ty,
        addr: Addr::Direct {
            nr: from.get(layout.dst_nr) as u8,
            subnr: from.get(layout.dst_subnr) as u8 * 4,
        },
        hstride: 1,
        writemask: from.get(layout.dst_writemask) as u8,
        compr4: false,
    };
    let code = from.get(layout.src_ty);
    let operand = OperandId::Src0;
    let ty = codes::three_type::<V>(code).ok_or(Kind::ReservedType { operand, code })?;
    let (mut second, mut third) = (ty, ty);
    if At::<V>::F.wide && ty.is_float() && ty != Type::Df {
        let mixed = |half: bool| if half { Type::Hf } else { Type::F };
        second = mixed(from.flag(layout.src1_half));
        third = mixed(from.flag(layout.src2_half));
    }
    inst.num_src = 3;
    let high = from.get(SRC1_SUBNR_HIGH) << 2;
    inst.src[0] = src(&layout.src[0], ty, 0, from);
    inst.src[1] = src(&layout.src[1], second, high, from);
    inst.src[2] = src(&layout.src[2], third, 0, from);
    Ok(())
}

#[inline(always)]
fn src(layout: &ThreeSrcLayout, ty: Type, high: u32, from: &mut Reader) -> Src {
    let subnr = (from.get(layout.subnr) | high) * 4 + from.get(layout.subnr_word) * 2;
    let replicate = from.flag(layout.replicate);
    let mut swizzle = Src::XYZW;
    if !replicate {
        let bits = from.get(layout.swizzle);
        swizzle = core::array::from_fn(|channel| (bits >> (2 * channel) & 3) as u8);
    }
    Src {
        file: RegFile::Grf,
        ty,
        addr: Addr::Direct {
            nr: from.get(layout.nr) as u8,
            subnr: subnr as u8,
        },
        region: if replicate {
            Region::SCALAR
        } else {
            Region::VEC4
        },
        // A replicated channel is not selected from four.
        swizzle,
        negate: from.flag(layout.negate),
        abs: from.flag(layout.abs),
        imm: 0,
    }
}
