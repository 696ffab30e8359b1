//! Encoding of `send`, `sendc` and the split sends.
//!
//! PRM: volume 4, 13.2.5; Mesa 22.3.6 `brw_inst.h` for the split form, whose operands have no types:
//! those of the instruction are not looked at.

use super::operand::{displacement_fits, dst, payload, src};
use super::{Words, bad, direct, no_ex_desc};
use crate::error::{EncodeError, OperandId};
use crate::inst::{ExDesc, Inst, SendDesc};
use crate::operand::{Addr, RegFile};
use crate::tables::codes;
use crate::tables::layout as at;
use crate::tables::layout::{At, Field, IndirectLayout, split as split_at};

pub(super) fn send<const V: u8>(words: &mut Words, inst: &Inst) -> Result<(), EncodeError> {
    let send = inst.send.ok_or(EncodeError::Format("send"))?;
    let layout = At::<V>::L;
    no_ex_desc(send.ex_desc)?;
    dst::<V>(words, inst.access, &inst.dst)?;
    payload::<V>(words, inst.access, &inst.src[0])?;
    if At::<V>::F.send_mrf {
        words.put(at::FUNCTION, u32::from(send.mrf));
    }
    if send.mrf > if At::<V>::F.send_mrf { 15 } else { 0 } {
        return Err(EncodeError::Control("message register"));
    }
    if send.imm.is_some() {
        words.put(layout.src[1].file, codes::file_code(RegFile::Imm));
    } else {
        src::<V, 1>(words, inst.access, false, &inst.src[1])?;
    }
    target::<V>(words, &send)
}

/// Target, descriptor and end of thread.
fn target<const V: u8>(words: &mut Words, send: &SendDesc) -> Result<(), EncodeError> {
    let layout = At::<V>::L;
    words.put(layout.sfid, u32::from(send.sfid));
    if send.sfid > if At::<V>::F.send_target { 15 } else { 0 } {
        return Err(EncodeError::Control("target"));
    }
    if !At::<V>::F.send_target && send.eot {
        return Err(EncodeError::Control("end of thread"));
    }
    match send.imm {
        // The descriptor's top bit is the end of thread.
        Some(imm) => words.put(at::IMM, imm | u32::from(send.eot) << 31),
        None => words.put(layout.eot, u32::from(send.eot)),
    }
    Ok(())
}

pub(super) fn split<const V: u8>(words: &mut Words, inst: &Inst) -> Result<(), EncodeError> {
    let send = inst.send.ok_or(EncodeError::Format("send"))?;
    let layout = At::<V>::L;
    let dst = OperandId::Dst;
    words.put(
        split_at::DST_FILE,
        file(inst.dst.file).ok_or(bad(dst, "register file"))?,
    );
    if inst.dst.hstride != 1 || inst.dst.writemask != 0xf || inst.dst.compr4 {
        return Err(bad(dst, "region"));
    }
    let fields = Address {
        indirect: layout.dst.indirect,
        nr: layout.dst.nr,
        subnr16: split_at::DST_SUBNR16,
        ia: IndirectLayout {
            imm16: split_at::DST_IA_IMM,
            imm9: split_at::DST_IA_IMM9,
            ..layout.dst.ia
        },
    };
    address(words, &fields, inst.dst.addr).ok_or(bad(dst, "address"))?;
    if inst.src[0].file != RegFile::Grf {
        return Err(bad(OperandId::Src0, "register file"));
    }
    let fields = Address {
        indirect: layout.src[0].indirect,
        nr: layout.src[0].nr,
        subnr16: split_at::SRC0_SUBNR16,
        ia: IndirectLayout {
            imm16: split_at::SRC0_IA_IMM,
            imm9: split_at::SRC0_IA_IMM9,
            ..layout.src[0].ia
        },
    };
    address(words, &fields, inst.src[0].addr).ok_or(bad(OperandId::Src0, "address"))?;
    let operand = OperandId::Src1;
    let code = file(inst.src[1].file).ok_or(bad(operand, "register file"))?;
    words.put(split_at::SRC1_FILE, code);
    let Some((nr, 0)) = direct(inst.src[1].addr) else {
        return Err(bad(operand, "address"));
    };
    words.put(split_at::SRC1_NR, u32::from(nr));
    if inst.src[..2]
        .iter()
        .any(|src| src.negate || src.abs || src.imm != 0)
    {
        return Err(bad(OperandId::Src0, "modifier"));
    }
    ex_desc(words, send.ex_desc)?;
    if send.mrf != 0 {
        return Err(EncodeError::Control("message register"));
    }
    words.put(split_at::DESC_REG, u32::from(send.imm.is_none()));
    target::<V>(words, &send)
}

fn ex_desc(words: &mut Words, ex_desc: ExDesc) -> Result<(), EncodeError> {
    let error = EncodeError::Control("extended descriptor");
    match ex_desc {
        ExDesc::None => return Err(error),
        ExDesc::Imm(imm) => {
            words.put(split_at::EX_DESC_REG, 0);
            words.put(split_at::EX_DESC_HIGH, imm >> 16);
            words.put(split_at::EX_DESC_LOW, imm >> 6);
            if imm & 0xfc3f != 0 {
                return Err(error);
            }
        }
        ExDesc::Reg(subreg) => {
            words.put(split_at::EX_DESC_REG, 1);
            words.put(split_at::EX_DESC_SUBREG, u32::from(subreg / 2));
            if subreg > 15 || subreg % 2 != 0 {
                return Err(error);
            }
        }
    }
    Ok(())
}

/// One-bit register files.
fn file(file: RegFile) -> Option<u32> {
    match file {
        RegFile::Arf => Some(0),
        RegFile::Grf => Some(1),
        _ => None,
    }
}

struct Address {
    indirect: Field,
    nr: Field,
    subnr16: Field,
    ia: IndirectLayout,
}

fn address(words: &mut Words, fields: &Address, addr: Addr) -> Option<()> {
    match addr {
        Addr::Direct { nr, subnr } => {
            words.put(fields.indirect, 0);
            words.put(fields.nr, u32::from(nr));
            words.put(fields.subnr16, u32::from(subnr / 16));
            (subnr == 0 || subnr == 16).then_some(())
        }
        Addr::Indirect { subreg, imm } => {
            let bits = i32::from(imm) as u32;
            words.put(fields.indirect, 1);
            words.put(fields.ia.subreg, u32::from(subreg));
            words.put(fields.ia.imm16, bits >> 4);
            words.put(fields.ia.imm9, bits >> 9);
            (subreg < 16 && displacement_fits(imm, false)).then_some(())
        }
    }
}
