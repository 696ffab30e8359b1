//! Encoder: an instruction to four words.
//!
//! PRM: volume 4, 13.2. Words that the format leaves undefined get the values Mesa 22.3.6 gives
//! them (`brw_eu_emit.c`), changed by `Inst::reserved`. Restrictions on operands are not checked.

use crate::decode::jump_distance;
use crate::error::{EncodeError, OperandId};
use crate::inst::{Branch, Compression, CondMod, ExDesc, Inst, Verx10};
use crate::operand::{Addr, RegFile};
use crate::tables::codes;
use crate::tables::layout as at;
use crate::tables::layout::{At, Field};
use crate::tables::{Control28, Format, OpcodeDesc, Table, by_generation};

mod hint;
mod operand;
mod send;
mod three;

pub(crate) use hint::hints;
use operand::{dst, sources, src};

type Raw = [u32; 4];

/// Bit of an MRF number that asks for `compr4`.
pub(crate) const COMPR4_BIT: u8 = 0x80;

/// Encodes one instruction.
pub fn encode(generation: Verx10, inst: &Inst) -> Result<Raw, EncodeError> {
    let unsupported = Err(EncodeError::UnsupportedGeneration(generation));
    let words = by_generation!(generation, words(inst), unsupported)?;
    let mut raw = words.raw;
    for (index, word) in raw.iter_mut().enumerate() {
        let reserved = inst.reserved[index];
        if reserved & words.defined[index] != 0 {
            return Err(EncodeError::ReservedOverlap(index));
        }
        *word ^= reserved;
    }
    Ok(raw)
}

fn words<const V: u8>(inst: &Inst) -> Result<Words, EncodeError> {
    let generation = At::<V>::GENERATION;
    let row = Table::of(generation)
        .ok_or(EncodeError::UnsupportedGeneration(generation))?
        .by_opcode(inst.opcode)
        .ok_or(EncodeError::UnknownOpcode(inst.opcode))?;
    check_format::<V>(row, inst)?;
    assemble::<V>(row, inst)
}

/// Words under construction.
struct Words {
    raw: Raw,
    /// Bits that carry a field of the instruction.
    defined: Raw,
}

impl Words {
    #[inline(always)]
    fn put(&mut self, field: Field, value: u32) {
        let word = &mut self.raw[field.dword()];
        *word = (*word & !field.mask()) | field.place(value);
        self.defined[field.dword()] |= field.mask();
    }

    fn put_signed(&mut self, field: Field, value: i32) -> bool {
        self.put(field, value as u32);
        field.get_signed(&self.raw) == value
    }

    /// A whole word.
    fn put_word(&mut self, dword: usize, value: u32) {
        self.raw[dword & 3] = value;
        self.defined[dword & 3] = u32::MAX;
    }
}

fn assemble<const V: u8>(row: &OpcodeDesc, inst: &Inst) -> Result<Words, EncodeError> {
    let mut words = Words {
        raw: hints::<V>(row, inst),
        defined: [0; 4],
    };
    words.put(at::OPCODE, u32::from(row.hw));
    words.put(at::DEBUG_CTRL, u32::from(inst.debug_ctrl));
    if At::<V>::F.compacted {
        words.put(at::COMPACT, 0);
    }
    if row.format != Format::Bare {
        controls::<V>(row, &mut words, inst)?;
    }
    let words_mut = &mut words;
    match row.format {
        Format::Bare | Format::LoopHead => {}
        Format::Basic | Format::Math | Format::Jump => {
            dst::<V>(words_mut, inst.access, &inst.dst)?;
            sources::<V>(words_mut, row, inst)?;
        }
        Format::Dim => {
            dst::<V>(words_mut, inst.access, &inst.dst)?;
            operand::dim::<V>(words_mut, &inst.src[0])?;
        }
        Format::Branch => branch::<V>(words_mut, inst)?,
        Format::BranchCount => branch_count::<V>(words_mut, inst)?,
        Format::BranchJip | Format::BranchUip => {
            offsets::<V>(words_mut, inst, row.format == Format::BranchUip)?;
        }
        Format::BranchReg | Format::BranchReg2 | Format::Call => {
            branch_or_register::<V>(words_mut, inst, row.format)?;
        }
        Format::Send => send::send::<V>(words_mut, inst)?,
        Format::SendSplit => send::split::<V>(words_mut, inst)?,
        Format::Three => three::three::<V>(words_mut, inst)?,
    }
    Ok(words)
}

/// Parts of `Inst` that the opcode's format asks for or forbids.
fn check_format<const V: u8>(row: &OpcodeDesc, inst: &Inst) -> Result<(), EncodeError> {
    let wanted = match row.format {
        Format::Send => row.nsrc + u8::from(inst.send.is_some_and(|send| send.imm.is_none())),
        Format::BranchCount => 2 * u8::from(inst.cond_mod != CondMod::None),
        Format::BranchReg | Format::BranchReg2 | Format::Call => u8::from(inst.branch.is_none()),
        _ => row.nsrc,
    };
    if inst.num_src != wanted {
        return Err(EncodeError::Format("num_src"));
    }
    if inst.send.is_some() != matches!(row.format, Format::Send | Format::SendSplit) {
        return Err(EncodeError::Format("send"));
    }
    if inst.math.is_some() != (row.format == Format::Math) {
        return Err(EncodeError::Format("math"));
    }
    let branch = match row.format {
        Format::Branch | Format::BranchUip => inst.branch.is_some(),
        Format::BranchCount | Format::BranchJip => inst.branch.is_some_and(single),
        Format::BranchReg | Format::Call => inst.branch.is_none_or(single),
        Format::BranchReg2 => true,
        Format::Jump => {
            inst.branch.map(|branch| branch.jump) == jump_distance(&inst.src[1])
                && inst.branch.is_none_or(single)
        }
        _ => inst.branch.is_none(),
    };
    if !branch {
        return Err(EncodeError::Format("branch"));
    }
    if At::<V>::F.quarters && inst.compression != Compression::None {
        return Err(EncodeError::Format("compression control"));
    }
    if !At::<V>::F.quarters && inst.qtr_ctrl != 0 || inst.qtr_ctrl > 3 {
        return Err(EncodeError::Format("quarter control"));
    }
    if !At::<V>::F.nibbles && inst.nib_ctrl {
        return Err(EncodeError::Format("nibble control"));
    }
    let (ex, acc, branch) = match At::<V>::F.control28(row) {
        Control28::None => (false, false, false),
        Control28::MaskCtrlEx => (true, false, false),
        Control28::AccWrCtrl => (false, true, false),
        Control28::BranchCtrl => (false, false, true),
    };
    if inst.mask_ctrl_ex && !ex {
        return Err(EncodeError::Format("mask control extension"));
    }
    if inst.acc_wr_ctrl && !acc {
        return Err(EncodeError::Format("accumulator write control"));
    }
    if inst.branch_ctrl && !branch {
        return Err(EncodeError::Format("branch control"));
    }
    Ok(())
}

/// Jumps with one distance.
fn single(branch: Branch) -> bool {
    branch.pop_or_uip == 0
}

fn controls<const V: u8>(
    row: &OpcodeDesc,
    words: &mut Words,
    inst: &Inst,
) -> Result<(), EncodeError> {
    let layout = At::<V>::L;
    words.put(at::ACCESS_MODE, inst.access as u32);
    words.put(layout.mask_ctrl, u32::from(inst.no_mask));
    words.put(layout.no_dd_clr, u32::from(inst.no_dd_clr));
    words.put(layout.no_dd_chk, u32::from(inst.no_dd_chk));
    words.put(
        at::QTR_CTRL,
        if At::<V>::F.quarters {
            u32::from(inst.qtr_ctrl)
        } else {
            codes::compression_code(inst.compression)
        },
    );
    words.put(layout.nib_ctrl, u32::from(inst.nib_ctrl));
    words.put(at::THREAD_CTRL, codes::thread_ctrl_code(inst.thread_ctrl));
    let code = codes::pred_ctrl_code::<V>(inst.access, inst.pred_ctrl)
        .ok_or(EncodeError::Control("predicate control"))?;
    words.put(at::PRED_CTRL, code);
    words.put(at::PRED_INV, u32::from(inst.pred_inv));
    let code = codes::log2_code(inst.exec_size, At::<V>::F.max_exec)
        .ok_or(EncodeError::Control("execution size"))?;
    words.put(at::EXEC_SIZE, code);
    match row.format {
        Format::Send | Format::SendSplit => {}
        Format::Math => {
            let code = inst
                .math
                .and_then(|code| codes::math::<V>(u32::from(code)))
                .ok_or(EncodeError::Control("math function"))?;
            words.put(at::FUNCTION, u32::from(code));
        }
        _ => words.put(at::FUNCTION, codes::cond_mod_code(inst.cond_mod)),
    }
    if row.format != Format::Bare
        && matches!(row.format, Format::Send | Format::SendSplit | Format::Math)
        && inst.cond_mod != CondMod::None
    {
        return Err(EncodeError::Control("conditional modifier"));
    }
    words.put(at::SATURATE, u32::from(inst.saturate));
    if inst.flag_subreg > 1 {
        return Err(EncodeError::Control("flag subregister"));
    }
    if inst.flag_reg >= At::<V>::F.flag_registers {
        return Err(EncodeError::Control("flag register"));
    }
    let (reg, subreg) = match row.format {
        Format::Three => (layout.three.flag_reg, layout.three.flag_subreg),
        Format::Dim => {
            if inst.flag_reg != 0 || inst.flag_subreg != 0 {
                return Err(EncodeError::Control("flag register"));
            }
            (Field::NONE, Field::NONE)
        }
        _ => (layout.flag_reg, layout.flag_subreg),
    };
    words.put(reg, u32::from(inst.flag_reg));
    words.put(subreg, u32::from(inst.flag_subreg));
    match At::<V>::F.control28(row) {
        Control28::None => {}
        Control28::MaskCtrlEx => words.put(at::CONTROL28, u32::from(inst.mask_ctrl_ex)),
        Control28::AccWrCtrl => words.put(at::CONTROL28, u32::from(inst.acc_wr_ctrl)),
        Control28::BranchCtrl => words.put(at::CONTROL28, u32::from(inst.branch_ctrl)),
    }
    Ok(())
}

/// Gen4 and Gen5: jump count and pop count in the last word.
fn branch<const V: u8>(words: &mut Words, inst: &Inst) -> Result<(), EncodeError> {
    let branch = inst.branch.ok_or(EncodeError::Format("branch"))?;
    if !words.put_signed(at::JUMP_COUNT, branch.jump) {
        return Err(EncodeError::Control("jump count"));
    }
    if !(0..=15).contains(&branch.pop_or_uip) {
        return Err(EncodeError::Control("pop count"));
    }
    words.put(at::POP_COUNT, branch.pop_or_uip as u32);
    Ok(())
}

/// Gen6 `if`, `else`, `endif`, `while`: jump count in the place of the destination; a conditional
/// modifier compares the sources.
fn branch_count<const V: u8>(words: &mut Words, inst: &Inst) -> Result<(), EncodeError> {
    let branch = inst.branch.ok_or(EncodeError::Format("branch"))?;
    if inst.cond_mod != CondMod::None {
        src::<V, 0>(words, inst.access, false, &inst.src[0])?;
        src::<V, 1>(words, inst.access, true, &inst.src[1])?;
    }
    if words.put_signed(at::JUMP_COUNT6, branch.jump) {
        Ok(())
    } else {
        Err(EncodeError::Control("jump count"))
    }
}

fn offsets<const V: u8>(words: &mut Words, inst: &Inst, uip: bool) -> Result<(), EncodeError> {
    let branch = inst.branch.ok_or(EncodeError::Format("branch"))?;
    if !words.put_signed(at::jip::<V>(), branch.jump) {
        return Err(EncodeError::Control("JIP"));
    }
    if uip && !words.put_signed(at::uip::<V>(), branch.pop_or_uip) {
        return Err(EncodeError::Control("UIP"));
    }
    Ok(())
}

fn branch_or_register<const V: u8>(
    words: &mut Words,
    inst: &Inst,
    format: Format,
) -> Result<(), EncodeError> {
    let immediate = inst.branch.is_some();
    if format == Format::Call {
        dst::<V>(words, inst.access, &inst.dst)?;
    }
    if immediate {
        return offsets::<V>(words, inst, format == Format::BranchReg2);
    }
    if !At::<V>::F.wide_jumps {
        words.put(At::<V>::L.src[1].file, codes::file_code(RegFile::Arf));
    }
    let source = &inst.src[0];
    if source.file == RegFile::Arf && direct(source.addr).is_some_and(|(nr, _)| nr == 0) {
        // Null stands for immediates.
        return Err(bad(OperandId::Src0, "register"));
    }
    src::<V, 0>(words, inst.access, false, source)
}

/// Whether an operand is direct, with its register number.
fn direct(addr: Addr) -> Option<(u8, u8)> {
    match addr {
        Addr::Direct { nr, subnr } => Some((nr, subnr)),
        Addr::Indirect { .. } => None,
    }
}

/// Error about one operand.
const fn bad(operand: OperandId, what: &'static str) -> EncodeError {
    EncodeError::Operand(operand, what)
}

/// The extended descriptor belongs to the split send.
fn no_ex_desc(ex_desc: ExDesc) -> Result<(), EncodeError> {
    match ex_desc {
        ExDesc::None | ExDesc::Imm(0) => Ok(()),
        _ => Err(EncodeError::Control("extended descriptor")),
    }
}
