//! Decoder: four words to an instruction.
//!
//! PRM: volume 4, 13.2; Ivybridge volume 4 part 3 (JIP, UIP, three sources); field positions in
//! `layout`. Compacted instructions are expanded first, by `compact`; a set compaction bit is an error.

use crate::encode;
use crate::error::{DecodeError, DecodeErrorKind, OperandId};
use crate::inst::{
    AccessMode, Branch, Compression, CondMod, Inst, Opcode, PredCtrl, ThreadCtrl, Verx10,
};
use crate::operand::{Dst, RegFile, Src, Type};
use crate::tables::codes;
use crate::tables::layout as at;
use crate::tables::layout::{At, Field};
use crate::tables::{Control28, Format, OpcodeDesc, Table, by_generation};

mod operand;
mod send;
mod three;

use operand::{basic, dst, src};

type Raw = [u32; 4];
type Kind = DecodeErrorKind;

/// Words that remember which of their bits a field was read from.
struct Reader {
    raw: Raw,
    defined: Raw,
}

impl Reader {
    /// A field of the instruction.
    #[inline(always)]
    fn get(&mut self, field: Field) -> u32 {
        self.defined[field.dword()] |= field.mask();
        field.get(&self.raw)
    }

    #[inline(always)]
    fn flag(&mut self, field: Field) -> bool {
        self.get(field) != 0
    }

    #[inline(always)]
    fn signed(&mut self, field: Field) -> i32 {
        self.defined[field.dword()] |= field.mask();
        field.get_signed(&self.raw)
    }

    /// A field that is not of this format, or is read again.
    #[inline(always)]
    fn peek(&self, field: Field) -> u32 {
        field.get(&self.raw)
    }

    /// The upper two words.
    fn wide(&mut self) -> u64 {
        self.defined[2] = u32::MAX;
        self.defined[3] = u32::MAX;
        u64::from(self.raw[3]) << 32 | u64::from(self.raw[2])
    }
}

/// Decodes one instruction. Any words are safe to pass; reserved encodings are errors.
pub fn decode(generation: Verx10, raw: Raw) -> Result<Inst, DecodeError> {
    let unsupported = Err(Kind::UnsupportedGeneration(generation));
    let mut inst = Inst::blank(Opcode::Illegal);
    match by_generation!(generation, fields(&raw, &mut inst), unsupported) {
        Ok(()) => Ok(inst),
        Err(kind) => Err(DecodeError { kind, raw }),
    }
}

fn fields<const V: u8>(raw: &Raw, inst: &mut Inst) -> Result<(), Kind> {
    let row = row::<V>(raw)?;
    let mut reader = Reader {
        raw: *raw,
        defined: [0; 4],
    };
    let from = &mut reader;
    from.get(at::OPCODE);
    inst.opcode = row.opcode;
    inst.debug_ctrl = from.flag(at::DEBUG_CTRL);
    if At::<V>::F.compacted && from.flag(at::COMPACT) {
        return Err(Kind::Compacted);
    }
    if row.format != Format::Bare {
        controls::<V>(row, from, inst)?;
    }
    match row.format {
        Format::Basic | Format::Math => basic::<V>(row.nsrc, from, inst)?,
        Format::Send => send::send::<V>(from, inst)?,
        Format::Three => three::three::<V>(from, inst)?,
        Format::Bare | Format::LoopHead => {}
        Format::Dim => dim::<V>(from, inst)?,
        Format::Jump => {
            basic::<V>(row.nsrc, from, inst)?;
            inst.branch = jump_distance(&inst.src[1]).map(|jump| Branch {
                jump,
                pop_or_uip: 0,
            });
        }
        Format::Branch => {
            inst.branch = Some(Branch {
                jump: from.signed(at::JUMP_COUNT),
                pop_or_uip: from.get(at::POP_COUNT) as i32,
            });
        }
        Format::BranchCount => {
            inst.branch = Some(Branch {
                jump: from.signed(at::JUMP_COUNT6),
                pop_or_uip: 0,
            });
            if inst.cond_mod != CondMod::None {
                inst.num_src = 2;
                let [first, second, _] = &mut inst.src;
                src::<V, 0>(inst.access, false, from, first)?;
                src::<V, 1>(inst.access, true, from, second)?;
            }
        }
        Format::BranchJip => inst.branch = Some(offsets::<V>(false, from)),
        Format::BranchUip => inst.branch = Some(offsets::<V>(true, from)),
        Format::BranchReg | Format::BranchReg2 | Format::Call => {
            branch_or_register::<V>(row.format, from, inst)?;
        }
        Format::SendSplit => send::split::<V>(from, inst),
    }
    let hints = encode::hints::<V>(row, inst);
    for index in 0..4 {
        inst.reserved[index] = (raw[index] ^ hints[index]) & !reader.defined[index];
    }
    Ok(())
}

fn row<const V: u8>(raw: &Raw) -> Result<&'static OpcodeDesc, Kind> {
    let hw = at::OPCODE.get(raw) as u8;
    let table =
        Table::of(At::<V>::GENERATION).ok_or(Kind::UnsupportedGeneration(At::<V>::GENERATION))?;
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
fn offsets<const V: u8>(uip: bool, from: &mut Reader) -> Branch {
    Branch {
        jump: from.signed(at::jip::<V>()),
        pop_or_uip: if uip { from.signed(at::uip::<V>()) } else { 0 },
    }
}

/// `brd`, `brc` and `call`: distances as immediates, or source 0 has them in a register. Source 0 is
/// null when there are immediates (Baytrail volume 2 part 2, brc), whether the file of the operand
/// over which they lie says so or not.
fn branch_or_register<const V: u8>(
    format: Format,
    from: &mut Reader,
    inst: &mut Inst,
) -> Result<(), Kind> {
    if format == Format::Call {
        dst::<V>(inst.access, from, &mut inst.dst)?;
    }
    let [first, second] = &At::<V>::L.src;
    let holder = if At::<V>::F.wide_jumps { first } else { second };
    let imm = codes::file(from.peek(holder.file)) == RegFile::Imm;
    let null =
        from.peek(first.file) == 0 && from.peek(first.indirect) == 0 && from.peek(first.nr) == 0;
    if imm || null {
        inst.branch = Some(offsets::<V>(format == Format::BranchReg2, from));
        return Ok(());
    }
    let code = from.get(holder.file);
    if !At::<V>::F.wide_jumps && code != 0 {
        let operand = OperandId::Src1;
        return Err(Kind::ReservedRegFile { operand, code });
    }
    inst.num_src = 1;
    src::<V, 0>(inst.access, false, from, &mut inst.src[0])
}

/// `dim` (Gen7.5): a double as the immediate in two words.
fn dim<const V: u8>(from: &mut Reader, inst: &mut Inst) -> Result<(), Kind> {
    let layout = &At::<V>::L.src[0];
    let operand = OperandId::Src0;
    dst::<V>(inst.access, from, &mut inst.dst)?;
    inst.num_src = 1;
    let code = from.get(layout.file);
    if codes::file(code) != RegFile::Imm {
        return Err(Kind::ReservedRegFile { operand, code });
    }
    let code = from.get(layout.ty);
    inst.src[0] = Src {
        file: RegFile::Imm,
        ty: codes::imm_type::<V>(code).ok_or(Kind::ReservedType { operand, code })?,
        imm: from.wide(),
        ..Src::NULL
    };
    Ok(())
}

fn controls<const V: u8>(row: &OpcodeDesc, from: &mut Reader, inst: &mut Inst) -> Result<(), Kind> {
    let layout = At::<V>::L;
    inst.access = if from.flag(at::ACCESS_MODE) {
        AccessMode::Align16
    } else {
        AccessMode::Align1
    };
    inst.no_mask = from.flag(layout.mask_ctrl);
    inst.no_dd_clr = from.flag(layout.no_dd_clr);
    inst.no_dd_chk = from.flag(layout.no_dd_chk);
    let code = from.get(at::QTR_CTRL);
    if At::<V>::F.quarters {
        inst.qtr_ctrl = code as u8;
    } else {
        inst.compression = codes::compression(code).ok_or(Kind::ReservedCompression(code))?;
    }
    inst.nib_ctrl = from.flag(layout.nib_ctrl);
    let code = from.get(at::THREAD_CTRL);
    inst.thread_ctrl = codes::thread_ctrl(code).ok_or(Kind::ReservedThreadCtrl(code))?;
    let code = from.get(at::PRED_CTRL);
    inst.pred_ctrl =
        codes::pred_ctrl::<V>(inst.access, code).ok_or(Kind::ReservedPredCtrl(code))?;
    inst.pred_inv = from.flag(at::PRED_INV);
    let code = from.get(at::EXEC_SIZE);
    inst.exec_size = codes::log2(code, At::<V>::F.max_exec).ok_or(Kind::ReservedExecSize(code))?;
    match row.format {
        Format::Send | Format::SendSplit => {}
        Format::Math => {
            let code = from.get(at::FUNCTION);
            inst.math = Some(codes::math::<V>(code).ok_or(Kind::ReservedMath(code))?);
        }
        _ => {
            let code = from.get(at::FUNCTION);
            inst.cond_mod = codes::cond_mod(code).ok_or(Kind::ReservedCondMod(code))?;
        }
    }
    inst.saturate = from.flag(at::SATURATE);
    match row.format {
        // The immediate of `dim` covers the flag fields.
        Format::Dim => {}
        Format::Three => {
            inst.flag_reg = from.get(layout.three.flag_reg) as u8;
            inst.flag_subreg = from.get(layout.three.flag_subreg) as u8;
        }
        _ => {
            inst.flag_reg = from.get(layout.flag_reg) as u8;
            inst.flag_subreg = from.get(layout.flag_subreg) as u8;
        }
    }
    match At::<V>::F.control28(row) {
        Control28::None => {}
        Control28::MaskCtrlEx => inst.mask_ctrl_ex = from.flag(at::CONTROL28),
        Control28::AccWrCtrl => inst.acc_wr_ctrl = from.flag(at::CONTROL28),
        Control28::BranchCtrl => inst.branch_ctrl = from.flag(at::CONTROL28),
    }
    Ok(())
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
