//! Decoding of `send`, `sendc` and the split sends.
//!
//! PRM: volume 4, 13.2.5; Ironlake and later instruction formats; Mesa 22.3.6 `brw_inst.h` for the
//! split form. Bits of the Gen9 `send` that may extend the descriptor are read as the region of the
//! payload, as Mesa's text does.

use super::operand::{displacement, dst, payload, src};
use super::{Kind, Raw};
use crate::codes;
use crate::inst::{ExDesc, Inst, SendDesc};
use crate::layout as at;
use crate::layout::{At, split as split_at};
use crate::operand::{Addr, Dst, RegFile, Region, Src, Type};

pub(super) fn send<const V: u8>(raw: &Raw, inst: &mut Inst) -> Result<(), Kind> {
    let layout = At::<V>::L;
    inst.dst = dst::<V>(inst.access, raw)?;
    inst.src[0] = payload::<V>(inst.access, raw)?;
    inst.num_src = 1;
    let imm = codes::file(layout.src[1].file.get(raw)) == RegFile::Imm;
    if !imm {
        inst.src[1] = src::<V>(1, inst.access, false, raw)?;
        inst.num_src = 2;
    }
    inst.send = Some(SendDesc {
        imm: imm.then(|| at::IMM.get(raw)),
        mrf: if V < 60 {
            at::FUNCTION.get(raw) as u8
        } else {
            0
        },
        sfid: layout.sfid.get(raw) as u8,
        eot: layout.eot.flag(raw),
        ex_desc: ExDesc::None,
    });
    Ok(())
}

/// One-bit register files of the split send.
fn file(general: bool) -> RegFile {
    if general { RegFile::Grf } else { RegFile::Arf }
}

pub(super) fn split<const V: u8>(raw: &Raw, inst: &mut Inst) {
    let layout = At::<V>::L;
    let addr = if layout.dst.indirect.flag(raw) {
        let imm = split_at::DST_IA_IMM.get(raw) << 4 | split_at::DST_IA_IMM9.get(raw) << 9;
        Addr::Indirect {
            subreg: layout.dst.ia.subreg.get(raw) as u8,
            imm: displacement(imm),
        }
    } else {
        Addr::Direct {
            nr: layout.dst.nr.get(raw) as u8,
            subnr: split_at::DST_SUBNR16.get(raw) as u8 * 16,
        }
    };
    inst.dst = Dst {
        file: file(split_at::DST_FILE.flag(raw)),
        ty: Type::Ud,
        addr,
        ..Dst::NULL
    };
    let addr = if layout.src[0].indirect.flag(raw) {
        let imm = split_at::SRC0_IA_IMM.get(raw) << 4 | split_at::SRC0_IA_IMM9.get(raw) << 9;
        Addr::Indirect {
            subreg: layout.src[0].ia.subreg.get(raw) as u8,
            imm: displacement(imm),
        }
    } else {
        Addr::Direct {
            nr: layout.src[0].nr.get(raw) as u8,
            subnr: split_at::SRC0_SUBNR16.get(raw) as u8 * 16,
        }
    };
    inst.src[0] = Src {
        file: RegFile::Grf,
        addr,
        region: Region::VEC8,
        ..Src::NULL
    };
    inst.src[1] = Src {
        file: file(split_at::SRC1_FILE.flag(raw)),
        addr: Addr::Direct {
            nr: split_at::SRC1_NR.get(raw) as u8,
            subnr: 0,
        },
        region: Region::VEC8,
        ..Src::NULL
    };
    inst.num_src = 2;
    let ex_desc = if split_at::EX_DESC_REG.flag(raw) {
        // Counted in dwords.
        ExDesc::Reg(split_at::EX_DESC_SUBREG.get(raw) as u8 * 2)
    } else {
        ExDesc::Imm(split_at::EX_DESC_HIGH.get(raw) << 16 | split_at::EX_DESC_LOW.get(raw) << 6)
    };
    inst.send = Some(SendDesc {
        imm: (!split_at::DESC_REG.flag(raw)).then(|| at::IMM.get(raw)),
        mrf: 0,
        sfid: layout.sfid.get(raw) as u8,
        eot: layout.eot.flag(raw),
        ex_desc,
    });
}
