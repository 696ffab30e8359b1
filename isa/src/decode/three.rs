//! Decoding of the three-source align16 format.
//!
//! PRM: Sandybridge volume 4 part 2 and Ivybridge volume 4 part 3, three-source instructions; Mesa
//! 22.3.6 `brw_inst.h`. The align1 form of Gen10 is not decoded.

use super::{Kind, Raw};
use crate::codes;
use crate::error::OperandId;
use crate::inst::{AccessMode, Inst};
use crate::layout::{At, SRC1_SUBNR_HIGH, ThreeSrcLayout};
use crate::operand::{Addr, Dst, RegFile, Region, Src, Type};

pub(super) fn three<const V: u8>(raw: &Raw, inst: &mut Inst) -> Result<(), Kind> {
    let layout = &At::<V>::L.three;
    if inst.access == AccessMode::Align1 {
        return Err(Kind::ReservedAccessMode(0));
    }
    let code = layout.dst_ty.get(raw);
    let operand = OperandId::Dst;
    let ty = codes::three_type::<V>(code).ok_or(Kind::ReservedType { operand, code })?;
    inst.dst = Dst {
        file: if layout.dst_mrf.flag(raw) {
            RegFile::Mrf
        } else {
            RegFile::Grf
        },
        ty,
        addr: Addr::Direct {
            nr: layout.dst_nr.get(raw) as u8,
            subnr: layout.dst_subnr.get(raw) as u8 * 4,
        },
        hstride: 1,
        writemask: layout.dst_writemask.get(raw) as u8,
        compr4: false,
    };
    let code = layout.src_ty.get(raw);
    let operand = OperandId::Src0;
    let ty = codes::three_type::<V>(code).ok_or(Kind::ReservedType { operand, code })?;
    let mixed = |half: bool| match (ty, half) {
        (Type::F | Type::Hf, true) => Type::Hf,
        (Type::F | Type::Hf, false) => Type::F,
        _ => ty,
    };
    let second = if V >= 80 {
        mixed(layout.src1_half.flag(raw))
    } else {
        ty
    };
    let third = if V >= 80 {
        mixed(layout.src2_half.flag(raw))
    } else {
        ty
    };
    inst.num_src = 3;
    inst.src[0] = src(&layout.src[0], ty, 0, raw);
    inst.src[1] = src(&layout.src[1], second, SRC1_SUBNR_HIGH.get(raw) << 2, raw);
    inst.src[2] = src(&layout.src[2], third, 0, raw);
    Ok(())
}

fn src(layout: &ThreeSrcLayout, ty: Type, high: u32, raw: &Raw) -> Src {
    let subnr = (layout.subnr.get(raw) | high) * 4 + layout.subnr_word.get(raw) * 2;
    let swizzle = layout.swizzle.get(raw);
    let replicate = layout.replicate.flag(raw);
    Src {
        file: RegFile::Grf,
        ty,
        addr: Addr::Direct {
            nr: layout.nr.get(raw) as u8,
            subnr: subnr as u8,
        },
        region: if replicate {
            Region::SCALAR
        } else {
            Region::VEC4
        },
        // A replicated channel is not selected from four.
        swizzle: if replicate {
            Src::XYZW
        } else {
            core::array::from_fn(|channel| (swizzle >> (2 * channel) & 3) as u8)
        },
        negate: layout.negate.flag(raw),
        abs: layout.abs.flag(raw),
        imm: 0,
    }
}
