//! Values for operand fields that an instruction does not read.
//!
//! PRM: volume 4, 11.9 (missing operands); Mesa 22.3.6 `brw_eu_emit.c` and `i965_gram.y` decide what
//! stands in the operands of flow control. Nothing here changes what the instruction does.

use super::Raw;
use super::operand::wide;
use crate::inst::{AccessMode, CondMod, Inst, Opcode};
use crate::operand::{RegFile, Src, Type};
use crate::tables::codes;
use crate::tables::layout::{At, Field};
use crate::tables::{Format, OpcodeDesc};

/// Numbers in the architecture register file.
const NULL: u32 = 0;
const IP: u32 = 0xa0;

/// Region codes: vertical stride, width, horizontal stride.
const SCALAR: [u32; 3] = [0, 0, 0];
const COLUMN: [u32; 3] = [3, 0, 0];
const PAIRS: [u32; 3] = [2, 1, 1];
const VEC8: [u32; 3] = [4, 3, 1];

/// Words of an instruction in which bits that the hardware does not read have been chosen.
struct Hints(Raw);

impl Hints {
    fn suggest(&mut self, field: Field, value: u32) {
        let word = &mut self.0[field.dword()];
        *word = (*word & !field.mask()) | field.place(value);
    }
}

/// Words to begin an instruction with: the fields of its format lie over them.
pub(crate) fn hints<const V: u8>(row: &OpcodeDesc, inst: &Inst) -> Raw {
    let mut hints = Hints([0; 4]);
    let words = &mut hints;
    match row.format {
        Format::Basic | Format::Math | Format::Jump | Format::Send | Format::Dim => {
            operand_hints::<V>(words, row, inst);
        }
        Format::Branch | Format::BranchCount | Format::BranchJip | Format::BranchUip => {
            branch::<V>(words, inst);
        }
        Format::BranchReg | Format::BranchReg2 | Format::Call => {
            if inst.branch.is_some() {
                branch::<V>(words, inst);
            } else {
                dst::<V>(words, inst, NULL, Type::D);
            }
        }
        Format::LoopHead => {
            operands::<V>(words, inst, NULL, Type::F, VEC8);
            source::<V>(words, inst, 1, NULL, Type::F, VEC8);
        }
        Format::Bare | Format::Three | Format::SendSplit => {}
    }
    hints.0
}

#[inline]
fn operand_hints<const V: u8>(words: &mut Hints, row: &OpcodeDesc, inst: &Inst) {
    if inst.access == AccessMode::Align16 {
        // The stride is ignored; hardware documentation asks for 1.
        words.suggest(At::<V>::L.dst.hstride, 1);
    }
    if row.nsrc != 1 || row.format == Format::Send {
        return;
    }
    if inst.opcode == Opcode::Wait {
        source::<V>(words, inst, 1, NULL, Type::F, VEC8);
    }
    if inst.src[0].file == RegFile::Imm && !wide::<V>(&inst.src[0]) {
        // PRM 11.9: a missing src1 has the type of the immediate.
        let code = codes::imm_type_code::<V>(inst.src[0].ty).unwrap_or(0);
        words.suggest(At::<V>::L.src[1].ty, code);
    }
}

/// Operands of structured flow control.
fn branch<const V: u8>(words: &mut Hints, inst: &Inst) {
    let has = At::<V>::F;
    if !has.uip {
        match inst.opcode {
            Opcode::Endif => operands::<V>(words, inst, NULL, Type::D, VEC8),
            _ => operands::<V>(words, inst, IP, Type::Ud, COLUMN),
        }
        immediate::<V>(words, 1, Type::D);
    } else if has.wide_jumps {
        match inst.opcode {
            Opcode::Endif => {}
            Opcode::Cont => dst::<V>(words, inst, IP, Type::Ud),
            _ => dst::<V>(words, inst, NULL, Type::D),
        }
        immediate::<V>(words, 0, Type::D);
        words.suggest(At::<V>::L.src[1].ty, code::<V>(Type::D));
    } else if has.jump_in_dst && counts(inst.opcode) {
        // The destination is "an immediate word"; the jump count covers its other half.
        words.suggest(At::<V>::L.dst.file, codes::file_code(RegFile::Imm));
        words.suggest(At::<V>::L.dst.ty, code::<V>(Type::W));
        let region = if inst.opcode == Opcode::If {
            SCALAR
        } else {
            VEC8
        };
        // A conditional modifier compares the sources.
        if inst.cond_mod == CondMod::None {
            source::<V>(words, inst, 0, NULL, Type::D, region);
            source::<V>(words, inst, 1, NULL, Type::D, region);
        }
    } else {
        jumps::<V>(words, inst);
    }
}

/// Gen6: the count of these is in the destination's place.
const fn counts(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::If | Opcode::Else | Opcode::Endif | Opcode::While
    )
}

/// Gen6 and Gen7, distances as immediate source 1.
fn jumps<const V: u8>(words: &mut Hints, inst: &Inst) {
    let (region, ty) = match inst.opcode {
        Opcode::If => (SCALAR, Type::W),
        Opcode::Else | Opcode::Endif | Opcode::While | Opcode::Brd => (VEC8, Type::W),
        Opcode::Call => (PAIRS, Type::W),
        _ => (VEC8, Type::D),
    };
    if inst.opcode == Opcode::Cont {
        operands::<V>(words, inst, IP, Type::Ud, COLUMN);
    } else {
        operands::<V>(words, inst, NULL, Type::D, region);
    }
    immediate::<V>(words, 1, ty);
}

fn operands<const V: u8>(words: &mut Hints, inst: &Inst, nr: u32, ty: Type, region: [u32; 3]) {
    dst::<V>(words, inst, nr, ty);
    source::<V>(words, inst, 0, nr, ty, region);
}

fn code<const V: u8>(ty: Type) -> u32 {
    codes::reg_type_code::<V>(ty).unwrap_or(0)
}

fn immediate<const V: u8>(words: &mut Hints, index: usize, ty: Type) {
    let layout = &At::<V>::L.src[index & 1];
    words.suggest(layout.file, codes::file_code(RegFile::Imm));
    words.suggest(layout.ty, code::<V>(ty));
}

fn dst<const V: u8>(words: &mut Hints, inst: &Inst, nr: u32, ty: Type) {
    let layout = &At::<V>::L.dst;
    words.suggest(layout.ty, code::<V>(ty));
    words.suggest(layout.nr, nr);
    words.suggest(layout.hstride, 1);
    if inst.access == AccessMode::Align16 {
        words.suggest(layout.writemask, 0xf);
    }
}

fn source<const V: u8>(
    words: &mut Hints,
    inst: &Inst,
    index: usize,
    nr: u32,
    ty: Type,
    [rows, width, columns]: [u32; 3],
) {
    let layout = &At::<V>::L.src[index & 1];
    words.suggest(layout.ty, code::<V>(ty));
    words.suggest(layout.nr, nr);
    if inst.access == AccessMode::Align16 {
        for (field, channel) in layout.swizzle.into_iter().zip(Src::XYZW) {
            words.suggest(field, u32::from(channel));
        }
        words.suggest(layout.vstride, rows.min(3));
        return;
    }
    // A column of one channel is a scalar.
    let scalar = width == 0 && inst.exec_size == 1;
    words.suggest(layout.vstride, if scalar { 0 } else { rows });
    words.suggest(layout.width, width);
    words.suggest(layout.hstride, if scalar { 0 } else { columns });
}
