//! Immediate operands.
//!
//! PRM: volume 4, 10.2.4, 10.2.5, 11.3.5; 64-bit immediates from Mesa 22.3.6 brw_eu_emit.c.
//! The jump distances of flow control are not operands here.

use crate::operand::{RegFile, Src, Type};

use super::context::Context;
use super::{Detail, Generations, Place, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule::inst(
        "immediate-last-source",
        Generations::ALL,
        "PRM vol4 11.3.5, 13.2.5",
        "only the last source is an immediate",
        last_source,
    ),
    Rule::inst(
        "immediate-byte",
        Generations::ALL,
        "PRM vol4 11.3.5; Mesa 22.3.6 brw_reg_type.c",
        "immediates are words, doublewords or wider",
        byte,
    ),
    Rule::inst(
        "immediate-word-copies",
        Generations::ALL,
        "PRM vol4 11.3.5; Mesa 22.3.6 brw_reg.h",
        "a word immediate stands in both halves of the doubleword",
        word_copies,
    ),
    Rule::inst(
        "immediate-modifier",
        Generations::ALL,
        "PRM vol4 13.2.5",
        "an immediate has no source modifier",
        modifier,
    ),
    Rule::inst(
        "immediate-qword",
        Generations::ALL,
        "Mesa 22.3.6 brw_eu_emit.c brw_set_src0, brw_set_src1",
        "64-bit immediates need 8.0 and stand alone",
        qword,
    ),
    Rule::inst(
        "vector-immediate-alignment",
        Generations::ALL,
        "PRM vol4 11.3.5; Mesa 22.3.6 brw_eu_validate.c",
        "a vector immediate needs a 16-byte aligned destination",
        vector_alignment,
    ),
    Rule::inst(
        "vector-immediate-word-stride",
        Generations::ALL,
        "PRM vol4 11.3.5; Mesa 22.3.6 brw_eu_validate.c",
        "V and UV need a destination stride of a word",
        vector_word,
    ),
    Rule::inst(
        "vector-immediate-dword-stride",
        Generations::ALL,
        "PRM vol4 11.3.5; Mesa 22.3.6 brw_eu_validate.c",
        "VF needs a destination stride of a doubleword",
        vector_dword,
    ),
];

fn immediates<'a>(cx: &Context<'a>) -> impl Iterator<Item = (Place, &'a Src)> + use<'a> {
    cx.sources().filter(|(_, src)| src.file == RegFile::Imm)
}

fn last_source(cx: &Context<'_>) -> Option<Detail> {
    let last = Place::SOURCES.get(cx.sources.checked_sub(1)?).copied();
    immediates(cx)
        .find(|&(place, _)| Some(place) != last)
        .map(|(place, _)| Detail::new(place))
}

fn byte(cx: &Context<'_>) -> Option<Detail> {
    immediates(cx)
        .find(|(_, src)| src.ty.size() == 1)
        .map(|(place, _)| Detail::new(place))
}

fn word_copies(cx: &Context<'_>) -> Option<Detail> {
    immediates(cx)
        .filter(|(_, src)| matches!(src.ty, Type::W | Type::Uw | Type::Hf))
        .find(|(_, src)| src.imm & 0xffff != src.imm >> 16)
        .map(|(place, src)| {
            Detail::new(place)
                .with("low", (src.imm & 0xffff) as u32)
                .with("high", (src.imm >> 16) as u32)
        })
}

fn modifier(cx: &Context<'_>) -> Option<Detail> {
    immediates(cx)
        .find(|(_, src)| src.negate || src.abs)
        .map(|(place, _)| Detail::new(place))
}

fn qword(cx: &Context<'_>) -> Option<Detail> {
    immediates(cx)
        .find(|(_, src)| src.ty.size() == 8 && (!cx.has().wide || cx.sources > 1))
        .map(|(place, _)| Detail::new(place).with("sources", cx.sources as u32))
}

/// The last source, if it is an immediate of one of these types.
fn vector(cx: &Context<'_>, types: &[Type]) -> bool {
    cx.has_regions()
        && immediates(cx)
            .last()
            .is_some_and(|(_, src)| types.contains(&src.ty))
}

fn vector_alignment(cx: &Context<'_>) -> Option<Detail> {
    let subnr = cx.dst_subnr()?;
    let vector = !cx.align16() && vector(cx, &[Type::V, Type::Uv, Type::Vf]);
    (vector && !subnr.is_multiple_of(16))
        .then(|| Detail::new(Place::Dst).with("byte offset", subnr))
}

fn stride(cx: &Context<'_>, types: &[Type], bytes: u32) -> Option<Detail> {
    let dst = &cx.inst.dst;
    let stride = u32::from(dst.hstride) * dst.ty.size() as u32;
    (vector(cx, types) && stride != bytes)
        .then(|| Detail::new(Place::Dst).with("stride bytes", stride))
}

fn vector_word(cx: &Context<'_>) -> Option<Detail> {
    stride(cx, &[Type::V, Type::Uv], 2)
}

fn vector_dword(cx: &Context<'_>) -> Option<Detail> {
    stride(cx, &[Type::Vf], 4)
}
