//! Decoder: four words to an instruction, for Gen4 and G45.
//!
//! PRM: volume 4, 13.2. Compaction and the formats of later generations are not decoded.

use crate::codes;
use crate::encode;
use crate::error::{DecodeError, DecodeErrorKind, OperandId};
use crate::inst::{
    AccessMode, Branch, Compression, CondMod, Inst, Opcode, PredCtrl, SendDesc, ThreadCtrl, Verx10,
};
use crate::layout as at;
use crate::layout::SrcLayout;
use crate::operand::{Addr, Dst, RegFile, Region, Src, Type};
use crate::tables::{Format, OpcodeDesc, Table};

type Raw = [u32; 4];
type Kind = DecodeErrorKind;

/// Decodes one instruction. Any words are safe to pass; reserved encodings are errors.
pub fn decode(generation: Verx10, raw: Raw) -> Result<Inst, DecodeError> {
    decode_fields(generation, &raw).map_err(|kind| DecodeError { kind, raw })
}

fn decode_fields(generation: Verx10, raw: &Raw) -> Result<Inst, Kind> {
    let table =
        encode::supported_table(generation).ok_or(Kind::UnsupportedGeneration(generation))?;
    let row = row(table, raw)?;
    let mut inst = Inst::blank(row.opcode);
    inst.debug_ctrl = at::DEBUG_CTRL.flag(raw);
    if row.format != Format::Bare {
        controls(row, raw, &mut inst)?;
    }
    let access = inst.access;
    match row.format {
        Format::Bare | Format::LoopHead => {}
        Format::Basic => basic(generation, row.nsrc, raw, &mut inst)?,
        Format::Jump => {
            basic(generation, row.nsrc, raw, &mut inst)?;
            inst.branch = jump_distance(&inst.src[1]).map(|jump| Branch {
                jump,
                pop_or_uip: 0,
            });
        }
        Format::Branch => {
            inst.branch = Some(Branch {
                jump: at::JUMP_COUNT.get_signed(raw),
                pop_or_uip: at::POP_COUNT.get(raw) as i32,
            });
        }
        Format::Send => {
            inst.dst = dst(generation, access, raw)?;
            inst.src[0] = src(0, access, false, raw)?;
            inst.num_src = 1;
            let mrf = at::BASE_MRF.get(raw) as u8;
            let imm = codes::file(at::SRC[1].file.get(raw)) == RegFile::Imm;
            if imm {
                inst.send = Some(SendDesc {
                    imm: Some(at::IMM.get(raw)),
                    mrf,
                    ..SendDesc::default()
                });
            } else {
                inst.src[1] = src(1, access, false, raw)?;
                inst.num_src = 2;
                inst.send = Some(SendDesc {
                    imm: None,
                    mrf,
                    ..SendDesc::default()
                });
            }
        }
    }
    inst.reserved = encode::undefined_bits(generation, &inst, raw);
    Ok(inst)
}

fn row(table: &'static Table, raw: &Raw) -> Result<&'static OpcodeDesc, Kind> {
    let hw = at::OPCODE.get(raw) as u8;
    table.by_hw(hw).ok_or(Kind::UnknownOpcode(hw))
}

/// Distance of a `jmpi` with an immediate: the immediate by its type.
pub(crate) fn jump_distance(src: &Src) -> Option<i32> {
    match (src.file, src.ty) {
        (RegFile::Imm, Type::W) => Some(i32::from(src.imm as i16)),
        (RegFile::Imm, Type::Uw) => Some(i32::from(src.imm as u16)),
        (RegFile::Imm, _) => Some(src.imm as i32),
        _ => None,
    }
}

fn controls(row: &OpcodeDesc, raw: &Raw, inst: &mut Inst) -> Result<(), Kind> {
    inst.access = if at::ACCESS_MODE.flag(raw) {
        AccessMode::Align16
    } else {
        AccessMode::Align1
    };
    inst.no_mask = at::MASK_CTRL.flag(raw);
    inst.no_dd_clr = at::NO_DD_CLR.flag(raw);
    inst.no_dd_chk = at::NO_DD_CHK.flag(raw);
    let code = at::COMPRESSION.get(raw);
    inst.compression = codes::compression(code).ok_or(Kind::ReservedCompression(code))?;
    let code = at::THREAD_CTRL.get(raw);
    inst.thread_ctrl = codes::thread_ctrl(code).ok_or(Kind::ReservedThreadCtrl(code))?;
    let code = at::PRED_CTRL.get(raw);
    inst.pred_ctrl = codes::pred_ctrl(inst.access, code).ok_or(Kind::ReservedPredCtrl(code))?;
    inst.pred_inv = at::PRED_INV.flag(raw);
    let code = at::EXEC_SIZE.get(raw);
    inst.exec_size = codes::log2(code, 4).ok_or(Kind::ReservedExecSize(code))?;
    if row.format != Format::Send {
        let code = at::COND_MOD.get(raw);
        inst.cond_mod = codes::cond_mod(code).ok_or(Kind::ReservedCondMod(code))?;
    }
    inst.saturate = at::SATURATE.flag(raw);
    inst.flag_subreg = at::FLAG_SUBREG.get(raw) as u8;
    Ok(())
}

fn basic(generation: Verx10, nsrc: u8, raw: &Raw, inst: &mut Inst) -> Result<(), Kind> {
    inst.dst = dst(generation, inst.access, raw)?;
    inst.num_src = nsrc;
    for index in 0..usize::from(nsrc).min(2) {
        let last = index + 1 == usize::from(nsrc);
        inst.src[index] = src(index, inst.access, last, raw)?;
    }
    Ok(())
}

fn dst(generation: Verx10, access: AccessMode, raw: &Raw) -> Result<Dst, Kind> {
    let operand = OperandId::Dst;
    let code = at::DST_FILE.get(raw);
    let file = codes::file(code);
    if file == RegFile::Imm {
        return Err(Kind::ReservedRegFile { operand, code });
    }
    let code = at::DST_TYPE.get(raw);
    let ty = codes::reg_type(code).ok_or(Kind::ReservedType { operand, code })?;
    let align1 = access == AccessMode::Align1;
    let mut compr4 = false;
    let addr = if at::DST_INDIRECT.flag(raw) {
        let imm = if align1 {
            at::DST_IA_IMM.get_signed(raw)
        } else {
            at::DST_IA_IMM16.get_signed(raw) * 16
        };
        Addr::Indirect {
            subreg: at::DST_IA_SUBREG.get(raw) as u8,
            imm: imm as i16,
        }
    } else {
        let mut nr = at::DST_NR.get(raw) as u8;
        if file == RegFile::Mrf && encode::has_compr4(generation) {
            compr4 = nr & encode::COMPR4_BIT != 0;
            nr &= !encode::COMPR4_BIT;
        }
        let subnr = if align1 {
            at::DST_SUBNR.get(raw)
        } else {
            at::DST_SUBNR16.get(raw) * 16
        };
        Addr::Direct {
            nr,
            subnr: subnr as u8,
        }
    };
    let (hstride, writemask) = if align1 {
        let code = at::DST_HSTRIDE.get(raw);
        let hstride = codes::stride(code).filter(|&stride| stride != 0);
        (hstride.ok_or(Kind::ReservedHstride { operand, code })?, 0xf)
    } else {
        (1, at::DST_WRITEMASK.get(raw) as u8)
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

fn src(index: usize, access: AccessMode, imm_allowed: bool, raw: &Raw) -> Result<Src, Kind> {
    let (layout, operand) = match index {
        0 => (&at::SRC[0], OperandId::Src0),
        _ => (&at::SRC[1], OperandId::Src1),
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
            let ty = codes::imm_type(code).ok_or(Kind::ReservedType { operand, code })?;
            Ok(Src {
                file: RegFile::Imm,
                ty,
                imm: u64::from(at::IMM.get(raw)),
                ..Src::NULL
            })
        }
        file @ (RegFile::Arf | RegFile::Grf) => {
            let ty = codes::reg_type(code).ok_or(Kind::ReservedType { operand, code })?;
            register(layout, operand, access, raw).map(|src| Src { file, ty, ..src })
        }
    }
}

fn register(
    layout: &SrcLayout,
    operand: OperandId,
    access: AccessMode,
    raw: &Raw,
) -> Result<Src, Kind> {
    let align1 = access == AccessMode::Align1;
    let indirect = layout.indirect.flag(raw);
    let addr = if indirect {
        let imm = if align1 {
            layout.ia_imm.get_signed(raw)
        } else {
            layout.ia_imm16.get_signed(raw) * 16
        };
        Addr::Indirect {
            subreg: layout.ia_subreg.get(raw) as u8,
            imm: imm as i16,
        }
    } else {
        let subnr = if align1 {
            layout.subnr.get(raw)
        } else {
            layout.subnr16.get(raw) * 16
        };
        Addr::Direct {
            nr: layout.nr.get(raw) as u8,
            subnr: subnr as u8,
        }
    };
    let code = layout.vstride.get(raw);
    let vstride =
        codes::vstride(code, indirect && align1).ok_or(Kind::ReservedVstride { operand, code })?;
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

impl Inst {
    /// An instruction with every control at its default, null operands and execution size 1.
    pub const fn blank(opcode: Opcode) -> Inst {
        Inst {
            opcode,
            access: AccessMode::Align1,
            no_mask: false,
            no_dd_clr: false,
            no_dd_chk: false,
            compression: Compression::None,
            qtr_ctrl: 0,
            nib_ctrl: false,
            thread_ctrl: ThreadCtrl::Normal,
            pred_ctrl: PredCtrl::None,
            pred_inv: false,
            flag_reg: 0,
            flag_subreg: 0,
            exec_size: 1,
            cond_mod: CondMod::None,
            math: None,
            saturate: false,
            acc_wr_ctrl: false,
            branch_ctrl: false,
            mask_ctrl_ex: false,
            debug_ctrl: false,
            dst: Dst::NULL,
            src: [Src::NULL; 3],
            num_src: 0,
            send: None,
            branch: None,
            reserved: [0; 4],
        }
    }
}
