//! Decoder: four words to an instruction.
//!
//! PRM: volume 4, 13.2; Ivybridge volume 4 part 3 (JIP, UIP, three sources); field positions in
//! `layout`. Compacted instructions are expanded first, by `compact`; a set compaction bit is an error.

use crate::codes;
use crate::encode;
use crate::error::{DecodeError, DecodeErrorKind, OperandId};
use crate::inst::{
    AccessMode, Branch, Compression, CondMod, Inst, Opcode, PredCtrl, ThreadCtrl, Verx10,
};
use crate::layout as at;
use crate::layout::At;
use crate::operand::{Dst, RegFile, Src, Type};
use crate::tables::{Format, OpcodeDesc, Table};

mod operand;
mod send;
mod three;

use operand::{basic, dst, src};

type Raw = [u32; 4];
type Kind = DecodeErrorKind;

/// Calls a function that is generic over the generation.
macro_rules! by_generation {
    ($generation:expr, $function:ident ( $($arg:expr),* ), $otherwise:expr) => {
        match $generation.0 {
            40 => $function::<40>($($arg),*),
            45 => $function::<45>($($arg),*),
            50 => $function::<50>($($arg),*),
            60 => $function::<60>($($arg),*),
            70 => $function::<70>($($arg),*),
            75 => $function::<75>($($arg),*),
            80 => $function::<80>($($arg),*),
            90 => $function::<90>($($arg),*),
            _ => $otherwise,
        }
    };
}
pub(crate) use by_generation;

/// Decodes one instruction. Any words are safe to pass; reserved encodings are errors.
pub fn decode(generation: Verx10, raw: Raw) -> Result<Inst, DecodeError> {
    let unsupported = Err(Kind::UnsupportedGeneration(generation));
    by_generation!(generation, fields(&raw), unsupported).map_err(|kind| DecodeError { kind, raw })
}

fn fields<const V: u8>(raw: &Raw) -> Result<Inst, Kind> {
    let row = row::<V>(raw)?;
    let mut inst = Inst::blank(row.opcode);
    inst.debug_ctrl = at::DEBUG_CTRL.flag(raw);
    if V >= 45 && at::COMPACT.flag(raw) {
        return Err(Kind::Compacted);
    }
    if row.format != Format::Bare {
        controls::<V>(row, raw, &mut inst)?;
    }
    match row.format {
        Format::Bare | Format::LoopHead => {}
        Format::Basic | Format::Math => basic::<V>(row.nsrc, raw, &mut inst)?,
        Format::Dim => dim::<V>(raw, &mut inst)?,
        Format::Jump => {
            basic::<V>(row.nsrc, raw, &mut inst)?;
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
        Format::BranchCount => {
            inst.branch = Some(Branch {
                jump: at::JUMP_COUNT6.get_signed(raw),
                pop_or_uip: 0,
            });
            if inst.cond_mod != CondMod::None {
                inst.num_src = 2;
                inst.src[0] = src::<V>(0, inst.access, false, raw)?;
                inst.src[1] = src::<V>(1, inst.access, true, raw)?;
            }
        }
        Format::BranchJip | Format::BranchUip => {
            inst.branch = Some(offsets::<V>(row.format == Format::BranchUip, raw));
        }
        Format::BranchReg | Format::BranchReg2 | Format::Call => {
            branch_or_register::<V>(row.format, raw, &mut inst)?;
        }
        Format::Send => send::send::<V>(raw, &mut inst)?,
        Format::SendSplit => send::split::<V>(raw, &mut inst),
        Format::Three => three::three::<V>(raw, &mut inst)?,
    }
    inst.reserved = encode::undefined_bits::<V>(row, &inst, raw);
    Ok(inst)
}

fn row<const V: u8>(raw: &Raw) -> Result<&'static OpcodeDesc, Kind> {
    let hw = at::OPCODE.get(raw) as u8;
    let table = Table::of(Verx10(V)).ok_or(Kind::UnsupportedGeneration(Verx10(V)))?;
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

/// JIP and UIP: 16 bits each until Gen7, a word each from Gen8 on.
fn offsets<const V: u8>(uip: bool, raw: &Raw) -> Branch {
    let (jip, other) = if V >= 80 {
        (raw[3] as i32, raw[2] as i32)
    } else {
        (
            i32::from(raw[3] as u16 as i16),
            i32::from((raw[3] >> 16) as i16),
        )
    };
    Branch {
        jump: jip,
        pop_or_uip: if uip { other } else { 0 },
    }
}

/// `brd`, `brc` and `call`: distances as immediates, or source 0 has them in a register.
fn branch_or_register<const V: u8>(format: Format, raw: &Raw, inst: &mut Inst) -> Result<(), Kind> {
    if format == Format::Call {
        inst.dst = dst::<V>(inst.access, raw)?;
    }
    let holder = &At::<V>::L.src[usize::from(V < 80)];
    if codes::file(holder.file.get(raw)) == RegFile::Imm {
        inst.branch = Some(offsets::<V>(format == Format::BranchReg2, raw));
    } else {
        inst.num_src = 1;
        inst.src[0] = src::<V>(0, inst.access, false, raw)?;
    }
    Ok(())
}

/// `dim` (Gen7.5): a double as the immediate in two words.
fn dim<const V: u8>(raw: &Raw, inst: &mut Inst) -> Result<(), Kind> {
    let layout = &At::<V>::L.src[0];
    let operand = OperandId::Src0;
    inst.dst = dst::<V>(inst.access, raw)?;
    inst.num_src = 1;
    let code = layout.file.get(raw);
    if codes::file(code) != RegFile::Imm {
        return Err(Kind::ReservedRegFile { operand, code });
    }
    let code = layout.ty.get(raw);
    inst.src[0] = Src {
        file: RegFile::Imm,
        ty: codes::imm_type::<V>(code).ok_or(Kind::ReservedType { operand, code })?,
        imm: u64::from(raw[3]) << 32 | u64::from(raw[2]),
        ..Src::NULL
    };
    Ok(())
}

fn controls<const V: u8>(row: &OpcodeDesc, raw: &Raw, inst: &mut Inst) -> Result<(), Kind> {
    let layout = At::<V>::L;
    inst.access = if at::ACCESS_MODE.flag(raw) {
        AccessMode::Align16
    } else {
        AccessMode::Align1
    };
    inst.no_mask = layout.mask_ctrl.flag(raw);
    inst.no_dd_clr = layout.no_dd_clr.flag(raw);
    inst.no_dd_chk = layout.no_dd_chk.flag(raw);
    let code = at::QTR_CTRL.get(raw);
    if V >= 60 {
        inst.qtr_ctrl = code as u8;
    } else {
        inst.compression = codes::compression(code).ok_or(Kind::ReservedCompression(code))?;
    }
    inst.nib_ctrl = layout.nib_ctrl.flag(raw);
    let code = at::THREAD_CTRL.get(raw);
    inst.thread_ctrl = codes::thread_ctrl(code).ok_or(Kind::ReservedThreadCtrl(code))?;
    let code = at::PRED_CTRL.get(raw);
    inst.pred_ctrl =
        codes::pred_ctrl::<V>(inst.access, code).ok_or(Kind::ReservedPredCtrl(code))?;
    inst.pred_inv = at::PRED_INV.flag(raw);
    let code = at::EXEC_SIZE.get(raw);
    inst.exec_size = codes::log2(code, max_exec::<V>()).ok_or(Kind::ReservedExecSize(code))?;
    let code = at::FUNCTION.get(raw);
    match row.format {
        Format::Send | Format::SendSplit => {}
        Format::Math => {
            inst.math = Some(codes::math::<V>(code).ok_or(Kind::ReservedMath(code))?);
        }
        _ => inst.cond_mod = codes::cond_mod(code).ok_or(Kind::ReservedCondMod(code))?,
    }
    inst.saturate = at::SATURATE.flag(raw);
    match row.format {
        // The immediate of `dim` covers the flag fields.
        Format::Dim => {}
        Format::Three => {
            inst.flag_reg = layout.three.flag_reg.get(raw) as u8;
            inst.flag_subreg = layout.three.flag_subreg.get(raw) as u8;
        }
        _ => {
            inst.flag_reg = layout.flag_reg.get(raw) as u8;
            inst.flag_subreg = layout.flag_subreg.get(raw) as u8;
        }
    }
    let control = at::CONTROL28.flag(raw);
    match control28::<V>(row) {
        Control28::None => {}
        Control28::MaskCtrlEx => inst.mask_ctrl_ex = control,
        Control28::AccWrCtrl => inst.acc_wr_ctrl = control,
        Control28::BranchCtrl => inst.branch_ctrl = control,
    }
    Ok(())
}

/// Logarithm of the widest execution size.
pub(crate) const fn max_exec<const V: u8>() -> u32 {
    if V >= 60 { 5 } else { 4 }
}

/// What bit 28 of the first word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control28 {
    None,
    MaskCtrlEx,
    AccWrCtrl,
    BranchCtrl,
}

/// Mesa 22.3.6 `brw_inst.h` and `brw_disasm.c` (`has_branch_ctrl`).
pub(crate) const fn control28<const V: u8>(row: &OpcodeDesc) -> Control28 {
    match V {
        0..=44 => Control28::None,
        45..=59 => Control28::MaskCtrlEx,
        _ if V >= 80 && matches!(row.opcode, Opcode::If | Opcode::Else | Opcode::Goto) => {
            Control28::BranchCtrl
        }
        _ => Control28::AccWrCtrl,
    }
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
