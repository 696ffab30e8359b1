//! Opcodes and operand types that a generation has.
//!
//! PRM: volume 4, 10.2 and 13.3; types of later generations from Mesa 22.3.6 brw_reg_type.c. Types
//! that a single opcode asks for are in `opcode`.

use crate::inst::Opcode;
use crate::operand::{RegFile, Type};
use crate::tables::lacks_type;

use super::context::Context;
use super::{Detail, Generations, Place, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule::inst(
        "opcode-of-generation",
        Generations::ALL,
        "PRM vol4 13.3; Mesa 22.3.6 brw_eu.c",
        "the generation has the opcode",
        opcode_of_generation,
    ),
    Rule::inst(
        "illegal-opcode",
        Generations::ALL,
        "PRM vol4 12.4.1",
        "`illegal` raises an exception and is no instruction of a kernel",
        illegal_opcode,
    ),
    Rule::inst(
        "reserved-bits",
        Generations::ALL,
        "PRM vol4 1.1.1, 13.2",
        "bits that the format does not define are as the encoder writes them",
        reserved_bits,
    ),
    Rule::inst(
        "type-of-generation",
        Generations::ALL,
        "PRM vol4 10.2; Mesa 22.3.6 brw_reg_type.c",
        "UV needs 6.0, DF 7.0, HF, Q and UQ 8.0",
        type_of_generation,
    ),
    Rule::inst(
        "vector-type-is-immediate",
        Generations::ALL,
        "PRM vol4 10.2.4, 10.2.5",
        "V, UV and VF are types of immediates only",
        vector_type,
    ),
    Rule::inst(
        "float-integer-mix",
        Generations::since(60),
        "Mesa 22.3.6 brw_eu_validate.c execution_type",
        "integer and float sources do not mix",
        float_integer_mix,
    ),
    Rule::inst(
        "float-dword-mix",
        Generations::until(50),
        "Mesa 22.3.6 brw_eu_emit.c brw_ADD, brw_MUL",
        "add and mul do not take a float and a doubleword source",
        float_dword_mix,
    ),
];

fn opcode_of_generation(cx: &Context<'_>) -> Option<Detail> {
    cx.inst
        .opcode
        .desc(cx.part.generation)
        .is_none()
        .then(|| Detail::new(Place::Instruction))
}

fn illegal_opcode(cx: &Context<'_>) -> Option<Detail> {
    (cx.inst.opcode == Opcode::Illegal).then(|| Detail::new(Place::Instruction))
}

fn reserved_bits(cx: &Context<'_>) -> Option<Detail> {
    let word = cx.inst.reserved.iter().position(|&bits| bits != 0)?;
    let bits = cx.inst.reserved[word];
    let detail = Detail::new(Place::Instruction);
    Some(detail.with("word", word as u32).with("bits", bits))
}

fn type_of_generation(cx: &Context<'_>) -> Option<Detail> {
    if !cx.computes() {
        return None;
    }
    let sources = cx.sources().map(|(place, src)| (place, src.ty));
    core::iter::once((Place::Dst, cx.inst.dst.ty))
        .chain(sources)
        .find_map(|(place, ty)| {
            let first = lacks_type(cx.part.generation, ty)?;
            Some(Detail::new(place).with("first generation", first))
        })
}

fn vector_type(cx: &Context<'_>) -> Option<Detail> {
    let vector = |ty| matches!(ty, Type::V | Type::Uv | Type::Vf);
    if cx.computes() && vector(cx.inst.dst.ty) {
        return Some(Detail::new(Place::Dst));
    }
    cx.registers()
        .find(|(_, src)| vector(src.ty))
        .map(|(place, _)| Detail::new(place))
}

fn float_integer_mix(cx: &Context<'_>) -> Option<Detail> {
    if !cx.has_regions() || cx.sources != 2 {
        return None;
    }
    let [first, second, _] = &cx.inst.src;
    (first.ty.is_float() != second.ty.is_float()).then(|| {
        let integer = if first.ty.is_float() {
            Place::Src1
        } else {
            Place::Src0
        };
        Detail::new(integer)
    })
}

fn float_dword_mix(cx: &Context<'_>) -> Option<Detail> {
    if !matches!(cx.inst.opcode, Opcode::Add | Opcode::Mul) || cx.sources != 2 {
        return None;
    }
    let dword = |ty| matches!(ty, Type::D | Type::Ud);
    let [first, second, _] = &cx.inst.src;
    let mixed =
        (first.ty.is_float() && dword(second.ty)) || (second.ty.is_float() && dword(first.ty));
    mixed.then(|| {
        Detail::new(if first.file == RegFile::Imm || dword(first.ty) {
            Place::Src0
        } else {
            Place::Src1
        })
    })
}
