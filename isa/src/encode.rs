//! Encoder: an instruction to four words, for Gen4 and G45.
//!
//! PRM: volume 4, 13.2. Words that the format leaves undefined get the values Mesa 22.3.6 gives
//! them (`brw_eu_emit.c`), changed by `Inst::reserved`. Restrictions on operands are not checked.

use crate::codes;
use crate::decode::jump_distance;
use crate::error::{EncodeError, OperandId};
use crate::inst::{AccessMode, Inst, Opcode, Verx10};
use crate::layout as at;
use crate::layout::Field;
use crate::operand::{Addr, Dst, RegFile, Src, Type};
use crate::tables::{Format, OpcodeDesc, Table};

type Raw = [u32; 4];

/// Bit of an MRF number that asks for `compr4`.
pub(crate) const COMPR4_BIT: u8 = 0x80;

/// Whether message registers have the `compr4` bit.
pub(crate) const fn has_compr4(generation: Verx10) -> bool {
    generation.0 > Verx10::GEN40.0
}

/// The opcode table, if the generation has the Gen4 instruction format.
pub(crate) fn supported_table(generation: Verx10) -> Option<&'static Table> {
    if generation.0 < 50 {
        Table::of(generation)
    } else {
        None
    }
}

/// Encodes one instruction.
pub fn encode(generation: Verx10, inst: &Inst) -> Result<Raw, EncodeError> {
    let words = assemble(generation, inst)?;
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

/// How `raw` differs from the encoder's choice in bits that the format does not define.
pub(crate) fn undefined_bits(generation: Verx10, inst: &Inst, raw: &Raw) -> Raw {
    let words = assemble(generation, inst).unwrap_or_default();
    core::array::from_fn(|index| (raw[index] ^ words.raw[index]) & !words.defined[index])
}

/// Words under construction.
#[derive(Clone, Copy, Debug, Default)]
struct Words {
    raw: Raw,
    /// Bits that carry a field of the instruction.
    defined: Raw,
}

impl Words {
    fn put(&mut self, field: Field, value: u32) {
        self.suggest(field, value);
        self.defined[field.dword()] |= field.mask();
    }

    /// A value for bits that nothing reads.
    fn suggest(&mut self, field: Field, value: u32) {
        let word = &mut self.raw[field.dword()];
        *word = (*word & !field.mask()) | field.place(value);
    }

    fn put_signed(&mut self, field: Field, value: i32) -> bool {
        self.put(field, value as u32);
        field.get_signed(&self.raw) == value
    }
}

fn assemble(generation: Verx10, inst: &Inst) -> Result<Words, EncodeError> {
    let table =
        supported_table(generation).ok_or(EncodeError::UnsupportedGeneration(generation))?;
    let row = table
        .by_opcode(inst.opcode)
        .ok_or(EncodeError::UnknownOpcode(inst.opcode))?;
    check_format(row, inst)?;
    let mut words = Words::default();
    words.put(at::OPCODE, u32::from(row.hw));
    words.put(at::DEBUG_CTRL, u32::from(inst.debug_ctrl));
    if row.format != Format::Bare {
        controls(&mut words, inst)?;
    }
    match row.format {
        Format::Bare => {}
        Format::Basic | Format::Jump => {
            dst(&mut words, generation, inst.access, &inst.dst)?;
            sources(&mut words, row.nsrc, inst)?;
        }
        Format::Branch => branch(&mut words, inst)?,
        Format::LoopHead => loop_head(&mut words, inst),
        Format::Send => send(&mut words, generation, inst)?,
    }
    Ok(words)
}

fn check_format(row: &OpcodeDesc, inst: &Inst) -> Result<(), EncodeError> {
    let registers = inst.send.is_some_and(|send| send.imm.is_none());
    if inst.num_src != row.nsrc + u8::from(registers) {
        return Err(EncodeError::Format("num_src"));
    }
    if inst.send.is_some() != (row.format == Format::Send) {
        return Err(EncodeError::Format("send"));
    }
    let branch = match row.format {
        Format::Branch => inst.branch.is_some(),
        Format::Jump => {
            inst.branch.map(|branch| branch.jump) == jump_distance(&inst.src[1])
                && inst.branch.is_none_or(|branch| branch.pop_or_uip == 0)
        }
        _ => inst.branch.is_none(),
    };
    if !branch {
        return Err(EncodeError::Format("branch"));
    }
    if inst.acc_wr_ctrl {
        return Err(EncodeError::Control("accumulator write control"));
    }
    Ok(())
}

fn controls(words: &mut Words, inst: &Inst) -> Result<(), EncodeError> {
    words.put(
        at::ACCESS_MODE,
        u32::from(inst.access == AccessMode::Align16),
    );
    words.put(at::MASK_CTRL, u32::from(inst.no_mask));
    words.put(at::NO_DD_CLR, u32::from(inst.no_dd_clr));
    words.put(at::NO_DD_CHK, u32::from(inst.no_dd_chk));
    words.put(at::COMPRESSION, codes::compression_code(inst.compression));
    words.put(at::THREAD_CTRL, codes::thread_ctrl_code(inst.thread_ctrl));
    let code = codes::pred_ctrl_code(inst.access, inst.pred_ctrl)
        .ok_or(EncodeError::Control("predicate control"))?;
    words.put(at::PRED_CTRL, code);
    words.put(at::PRED_INV, u32::from(inst.pred_inv));
    let code = codes::log2_code(inst.exec_size, 4).ok_or(EncodeError::Control("execution size"))?;
    words.put(at::EXEC_SIZE, code);
    words.put(at::COND_MOD, codes::cond_mod_code(inst.cond_mod));
    words.put(at::SATURATE, u32::from(inst.saturate));
    if inst.flag_subreg > 1 {
        return Err(EncodeError::Control("flag subregister"));
    }
    words.put(at::FLAG_SUBREG, u32::from(inst.flag_subreg));
    Ok(())
}

fn dst(
    words: &mut Words,
    generation: Verx10,
    access: AccessMode,
    dst: &Dst,
) -> Result<(), EncodeError> {
    let error = |what| EncodeError::Operand(OperandId::Dst, what);
    if dst.file == RegFile::Imm {
        return Err(error("register file"));
    }
    words.put(at::DST_FILE, codes::file_code(dst.file));
    words.put(
        at::DST_TYPE,
        codes::reg_type_code(dst.ty).ok_or(error("type"))?,
    );
    let align1 = access == AccessMode::Align1;
    let hstride = codes::stride_code(dst.hstride).filter(|code| (1..=3).contains(code));
    let hstride = hstride.ok_or(error("horizontal stride"))?;
    if align1 {
        words.put(at::DST_HSTRIDE, hstride);
    } else {
        // Align16 ignores the stride; hardware documentation asks for 1.
        words.suggest(at::DST_HSTRIDE, 1);
        if hstride != 1 {
            return Err(error("horizontal stride"));
        }
    }
    if align1 && dst.writemask != 0xf || dst.writemask > 0xf {
        return Err(error("write mask"));
    }
    match dst.addr {
        Addr::Direct { nr, subnr } => {
            let compr4_capable = dst.file == RegFile::Mrf && has_compr4(generation);
            let mut nr = nr;
            if compr4_capable {
                if nr & COMPR4_BIT != 0 {
                    return Err(error("register number"));
                }
                nr |= if dst.compr4 { COMPR4_BIT } else { 0 };
            } else if dst.compr4 {
                return Err(error("compr4"));
            }
            words.put(at::DST_INDIRECT, 0);
            words.put(at::DST_NR, u32::from(nr));
            subregister(words, align1, at::DST_SUBNR, at::DST_SUBNR16, subnr)
                .ok_or(error("subregister"))?;
        }
        Addr::Indirect { subreg, imm } => {
            if dst.compr4 {
                return Err(error("compr4"));
            }
            words.put(at::DST_INDIRECT, 1);
            let fields = (at::DST_IA_IMM, at::DST_IA_IMM16, at::DST_IA_SUBREG);
            indirect(words, align1, fields, subreg, imm).ok_or(error("indirect address"))?;
        }
    }
    if !align1 {
        words.put(at::DST_WRITEMASK, u32::from(dst.writemask));
    }
    Ok(())
}

fn subregister(
    words: &mut Words,
    align1: bool,
    bytes: Field,
    halves: Field,
    subnr: u8,
) -> Option<()> {
    if align1 {
        words.put(bytes, u32::from(subnr));
        (subnr < 32).then_some(())
    } else {
        words.put(halves, u32::from(subnr / 16));
        (subnr == 0 || subnr == 16).then_some(())
    }
}

fn indirect(
    words: &mut Words,
    align1: bool,
    (bytes, halves, subregister): (Field, Field, Field),
    subreg: u8,
    imm: i16,
) -> Option<()> {
    words.put(subregister, u32::from(subreg));
    let imm = i32::from(imm);
    let fits = if align1 {
        words.put_signed(bytes, imm)
    } else {
        words.put_signed(halves, imm / 16) && imm % 16 == 0
    };
    (fits && subreg < 8).then_some(())
}

fn sources(words: &mut Words, nsrc: u8, inst: &Inst) -> Result<(), EncodeError> {
    match nsrc {
        0 => Ok(()),
        1 => {
            src(words, 0, inst.access, true, &inst.src[0])?;
            if inst.src[0].file == RegFile::Imm {
                // PRM 11.9: a missing src1 has the type of the immediate.
                words.suggest(at::SRC[1].ty, at::SRC[0].ty.get(&words.raw));
            }
            Ok(())
        }
        _ => {
            src(words, 0, inst.access, false, &inst.src[0])?;
            src(words, 1, inst.access, true, &inst.src[1])
        }
    }
}

fn src(
    words: &mut Words,
    index: usize,
    access: AccessMode,
    imm_allowed: bool,
    src: &Src,
) -> Result<(), EncodeError> {
    let (layout, operand) = match index {
        0 => (&at::SRC[0], OperandId::Src0),
        _ => (&at::SRC[1], OperandId::Src1),
    };
    let error = |what| EncodeError::Operand(operand, what);
    words.put(layout.file, codes::file_code(src.file));
    match src.file {
        RegFile::Imm if imm_allowed => {
            words.put(
                layout.ty,
                codes::imm_type_code(src.ty).ok_or(error("type"))?,
            );
            words.put(at::IMM, src.imm as u32);
            if src.imm >> 32 != 0 {
                return Err(error("immediate"));
            }
            let plain = Src {
                imm: src.imm,
                ty: src.ty,
                file: RegFile::Imm,
                ..Src::NULL
            };
            return if *src == plain {
                Ok(())
            } else {
                Err(error("immediate with register fields"))
            };
        }
        RegFile::Imm | RegFile::Mrf => return Err(error("register file")),
        RegFile::Arf | RegFile::Grf => {}
    }
    if src.imm != 0 {
        return Err(error("immediate"));
    }
    words.put(
        layout.ty,
        codes::reg_type_code(src.ty).ok_or(error("type"))?,
    );
    words.put(layout.negate, u32::from(src.negate));
    words.put(layout.abs, u32::from(src.abs));
    let align1 = access == AccessMode::Align1;
    let indirect_mode = matches!(src.addr, Addr::Indirect { .. });
    words.put(layout.indirect, u32::from(indirect_mode));
    match src.addr {
        Addr::Direct { nr, subnr } => {
            words.put(layout.nr, u32::from(nr));
            subregister(words, align1, layout.subnr, layout.subnr16, subnr)
                .ok_or(error("subregister"))?;
        }
        Addr::Indirect { subreg, imm } => {
            let fields = (layout.ia_imm, layout.ia_imm16, layout.ia_subreg);
            indirect(words, align1, fields, subreg, imm).ok_or(error("indirect address"))?;
        }
    }
    let code = codes::vstride_code(src.region.vstride, indirect_mode && align1);
    words.put(layout.vstride, code.ok_or(error("vertical stride"))?);
    if align1 {
        let code = codes::log2_code(src.region.width, 4).ok_or(error("width"))?;
        words.put(layout.width, code);
        let code = codes::stride_code(src.region.hstride).filter(|&code| code < 4);
        words.put(layout.hstride, code.ok_or(error("horizontal stride"))?);
        if src.swizzle != Src::XYZW {
            return Err(error("swizzle"));
        }
    } else {
        if src.region.width != 4 || src.region.hstride != 1 {
            return Err(error("region"));
        }
        for (field, channel) in layout.swizzle.into_iter().zip(src.swizzle) {
            if channel > 3 {
                return Err(error("swizzle"));
            }
            words.put(field, u32::from(channel));
        }
    }
    Ok(())
}

fn branch(words: &mut Words, inst: &Inst) -> Result<(), EncodeError> {
    let Some(branch) = inst.branch else {
        return Err(EncodeError::Format("branch"));
    };
    let align1 = inst.access == AccessMode::Align1;
    match inst.opcode {
        Opcode::Endif => operand_hint(words, align1, ARF_NULL, Type::D),
        _ => operand_hint(words, align1, ARF_IP, Type::Ud),
    }
    words.suggest(at::SRC[1].file, codes::file_code(RegFile::Imm));
    words.suggest(at::SRC[1].ty, codes::imm_type_code(Type::D).unwrap_or(0));
    if !words.put_signed(at::JUMP_COUNT, branch.jump) {
        return Err(EncodeError::Control("jump count"));
    }
    if !(0..=15).contains(&branch.pop_or_uip) {
        return Err(EncodeError::Control("pop count"));
    }
    words.put(at::POP_COUNT, branch.pop_or_uip as u32);
    Ok(())
}

/// Numbers in the architecture register file.
const ARF_NULL: u32 = 0;
const ARF_IP: u32 = 0xa0;

/// Operands of structured flow control. Nothing reads them; jumps name ip twice, `endif` and `do`
/// the null register, as Mesa does.
fn operand_hint(words: &mut Words, align1: bool, nr: u32, ty: Type) {
    let ty = codes::reg_type_code(ty).unwrap_or(0);
    words.suggest(at::DST_TYPE, ty);
    words.suggest(at::DST_NR, nr);
    words.suggest(at::DST_HSTRIDE, 1);
    if !align1 {
        words.suggest(at::DST_WRITEMASK, 0xf);
    }
    src_hint(words, 0, align1, nr, ty);
}

fn src_hint(words: &mut Words, index: usize, align1: bool, nr: u32, ty: u32) {
    let layout = &at::SRC[index & 1];
    words.suggest(layout.ty, ty);
    words.suggest(layout.nr, nr);
    let [rows, width, columns] = match (align1, nr) {
        (false, _) => {
            for (field, channel) in layout.swizzle.into_iter().zip(Src::XYZW) {
                words.suggest(field, u32::from(channel));
            }
            words.suggest(layout.vstride, 3);
            return;
        }
        (true, ARF_NULL) => [4, 3, 1],
        (true, _) => [3, 0, 0],
    };
    words.suggest(layout.vstride, rows);
    words.suggest(layout.width, width);
    words.suggest(layout.hstride, columns);
}

fn loop_head(words: &mut Words, inst: &Inst) {
    let align1 = inst.access == AccessMode::Align1;
    operand_hint(words, align1, ARF_NULL, Type::F);
    src_hint(
        words,
        1,
        align1,
        ARF_NULL,
        codes::reg_type_code(Type::F).unwrap_or(0),
    );
}

fn send(words: &mut Words, generation: Verx10, inst: &Inst) -> Result<(), EncodeError> {
    let Some(send) = inst.send else {
        return Err(EncodeError::Format("send"));
    };
    dst(words, generation, inst.access, &inst.dst)?;
    src(words, 0, inst.access, false, &inst.src[0])?;
    if send.mrf > 15 || inst.cond_mod != crate::inst::CondMod::None {
        return Err(EncodeError::Control("message register"));
    }
    words.put(at::BASE_MRF, u32::from(send.mrf));
    match send.imm {
        Some(imm) => {
            words.put(at::SRC[1].file, codes::file_code(RegFile::Imm));
            words.put(at::IMM, imm);
            Ok(())
        }
        None => src(words, 1, inst.access, false, &inst.src[1]),
    }
}
