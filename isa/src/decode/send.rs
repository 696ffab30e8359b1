//! Decoding of `send`, `sendc` and the split sends.
//!
//! PRM: volume 4, 13.2.5; Ironlake and later instruction formats; Mesa 22.3.6 `brw_inst.h` for the
//! split form. Bits of the Gen9 `send` that may extend the descriptor are read as the region of the
//! payload, as Mesa's text does.

use super::operand::{displacement, dst, payload, src};
use super::{Kind, Reader};
use crate::inst::{ExDesc, Inst, SendDesc};
use crate::operand::{Addr, Dst, RegFile, Region, Src, Type};
use crate::tables::codes;
use crate::tables::layout as at;
use crate::tables::layout::{At, split as split_at};

pub(super) fn send<const V: u8>(from: &mut Reader, inst: &mut Inst) -> Result<(), Kind> {
    let layout = At::<V>::L;
    dst::<V>(inst.access, from, &mut inst.dst)?;
    payload::<V>(inst.access, from, &mut inst.src[0])?;
    inst.num_src = 1;
    let imm = codes::file(from.get(layout.src[1].file)) == RegFile::Imm;
    if !imm {
        src::<V, 1>(inst.access, false, from, &mut inst.src[1])?;
        inst.num_src = 2;
    }
    inst.send = Some(SendDesc {
        imm: imm.then(|| from.get(at::IMM)),
        mrf: if At::<V>::F.send_mrf {
            from.get(at::FUNCTION) as u8
        } else {
            0
        },
        sfid: from.get(layout.sfid) as u8,
        eot: from.flag(layout.eot),
        ex_desc: ExDesc::None,
    });
    Ok(())
}

/// One-bit register files of the split send.
fn file(general: bool) -> RegFile {
    if general { RegFile::Grf } else { RegFile::Arf }
}

pub(super) fn split<const V: u8>(from: &mut Reader, inst: &mut Inst) {
    let layout = At::<V>::L;
    let addr = if from.flag(layout.dst.indirect) {
        let imm = from.get(split_at::DST_IA_IMM) << 4 | from.get(split_at::DST_IA_IMM9) << 9;
        Addr::Indirect {
            subreg: from.get(layout.dst.ia.subreg) as u8,
            imm: displacement(imm),
        }
    } else {
        Addr::Direct {
            nr: from.get(layout.dst.nr) as u8,
            subnr: from.get(split_at::DST_SUBNR16) as u8 * 16,
        }
    };
    inst.dst = Dst {
        file: file(from.flag(split_at::DST_FILE)),
        ty: Type::Ud,
        addr,
        ..Dst::NULL
    };
    let addr = if from.flag(layout.src[0].indirect) {
        let imm = from.get(split_at::SRC0_IA_IMM) << 4 | from.get(split_at::SRC0_IA_IMM9) << 9;
        Addr::Indirect {
            subreg: from.get(layout.src[0].ia.subreg) as u8,
            imm: displacement(imm),
        }
    } else {
        Addr::Direct {
            nr: from.get(layout.src[0].nr) as u8,
            subnr: from.get(split_at::SRC0_SUBNR16) as u8 * 16,
        }
    };
    inst.src[0] = Src {
        file: RegFile::Grf,
        addr,
        region: Region::VEC8,
        ..Src::NULL
    };
    inst.src[1] = Src {
        file: file(from.flag(split_at::SRC1_FILE)),
        addr: Addr::Direct {
            nr: from.get(split_at::SRC1_NR) as u8,
            subnr: 0,
        },
        region: Region::VEC8,
        ..Src::NULL
    };
    inst.num_src = 2;
    let ex_desc = if from.flag(split_at::EX_DESC_REG) {
        // Counted in dwords.
        ExDesc::Reg(from.get(split_at::EX_DESC_SUBREG) as u8 * 2)
    } else {
        ExDesc::Imm(from.get(split_at::EX_DESC_HIGH) << 16 | from.get(split_at::EX_DESC_LOW) << 6)
    };
    inst.send = Some(SendDesc {
        imm: (!from.flag(split_at::DESC_REG)).then(|| from.get(at::IMM)),
        mrf: 0,
        sfid: from.get(layout.sfid) as u8,
        eot: from.flag(layout.eot),
        ex_desc,
    });
}
