//! The math instruction of Gen6 and later.
//!
//! PRM: facts from Mesa 22.3.6 brw_eu_emit.c gfx6_math, brw_fs.cpp and brw_eu_validate.c. Math on
//! Gen4 and 5 is a message, see `message`.

use crate::inst::Opcode;
use crate::operand::{RegFile, Type};

use super::context::{Context, is_in, is_scalar};
use super::{Detail, Generations, Place, Rule};

const EMIT: &str = "Mesa 22.3.6 brw_eu_emit.c gfx6_math";

pub(super) const RULES: &[Rule] = &[
    Rule::inst(
        "math-function",
        Generations::since(60),
        "Mesa 22.3.6 brw_eu_defines.h",
        "the function is one of the generation",
        function,
    ),
    Rule::inst(
        "math-grf",
        Generations::since(60),
        EMIT,
        "math works on general registers; from 8.0 on source 1 may be an immediate",
        grf,
    ),
    Rule::inst(
        "math-destination-stride",
        Generations::between(60, 75),
        EMIT,
        "math has a packed destination",
        destination_stride,
    ),
    Rule::inst(
        "math-source-stride",
        Generations::between(60, 60),
        EMIT,
        "math has packed sources",
        source_stride,
    ),
    Rule::inst(
        "math-source-modifier",
        Generations::between(60, 60),
        EMIT,
        "math ignores source modifiers",
        source_modifier,
    ),
    Rule::inst(
        "math-divide-modifier",
        Generations::since(70),
        "Mesa 22.3.6 brw_eu_validate.c (Broadwell PRM vol2a, page 442)",
        "integer division has no source modifiers",
        divide_modifier,
    ),
    Rule::inst(
        "math-types",
        Generations::since(60),
        EMIT,
        "integer division takes doublewords, other functions floats, half floats from 9.0 on",
        math_types,
    ),
    Rule::inst(
        "math-exec-size",
        Generations::between(60, 60),
        "Mesa 22.3.6 brw_fs.cpp get_lowered_simd_width",
        "math has at most 8 channels",
        exec_size,
    ),
    Rule::inst(
        "math-divide-exec-size",
        Generations::since(60),
        "Mesa 22.3.6 brw_fs.cpp get_lowered_simd_width",
        "integer division has at most 8 channels",
        divide_exec_size,
    ),
    Rule::inst(
        "math-align1",
        Generations::between(60, 60),
        "Mesa 22.3.6 brw_vec4.cpp can_reswizzle",
        "math is an align1 instruction",
        align1,
    ),
];

fn function_of(cx: &Context<'_>) -> Option<u8> {
    cx.inst.math.filter(|_| cx.inst.opcode == Opcode::Math)
}

fn divides(cx: &Context<'_>) -> bool {
    matches!(function_of(cx), Some(11..=13))
}

fn is_math(cx: &Context<'_>) -> bool {
    cx.inst.opcode == Opcode::Math
}

fn function(cx: &Context<'_>) -> Option<Detail> {
    let function = function_of(cx)?;
    (!is_in(cx.has().math_functions, u32::from(function)))
        .then(|| Detail::new(Place::Instruction).with("function", function))
}

fn grf(cx: &Context<'_>) -> Option<Detail> {
    if !is_math(cx) {
        return None;
    }
    if cx.inst.dst.file != RegFile::Grf {
        return Some(Detail::new(Place::Dst));
    }
    cx.sources()
        .find(|&(place, src)| match src.file {
            RegFile::Grf => false,
            RegFile::Imm => place == Place::Src0 || !cx.has().wide,
            _ => true,
        })
        .map(|(place, _)| Detail::new(place))
}

fn destination_stride(cx: &Context<'_>) -> Option<Detail> {
    let stride = cx.inst.dst.hstride;
    (is_math(cx) && stride != 1).then(|| Detail::new(Place::Dst).with("stride", stride))
}

fn source_stride(cx: &Context<'_>) -> Option<Detail> {
    if !is_math(cx) || cx.align16() {
        return None;
    }
    cx.registers()
        .find(|(_, src)| src.region.hstride != 1 && !(cx.exec_size() == 1 && is_scalar(src.region)))
        .map(|(place, src)| Detail::new(place).with("stride", src.region.hstride))
}

fn modified(cx: &Context<'_>) -> Option<Detail> {
    cx.sources()
        .find(|(_, src)| src.negate || src.abs)
        .map(|(place, _)| Detail::new(place))
}

fn source_modifier(cx: &Context<'_>) -> Option<Detail> {
    if is_math(cx) { modified(cx) } else { None }
}

fn divide_modifier(cx: &Context<'_>) -> Option<Detail> {
    if divides(cx) { modified(cx) } else { None }
}

fn math_types(cx: &Context<'_>) -> Option<Detail> {
    if !is_math(cx) {
        return None;
    }
    let integer = divides(cx);
    cx.sources()
        .find(|(_, src)| match src.ty {
            Type::D | Type::Ud => !integer,
            Type::F => integer,
            Type::Hf => integer || !cx.has().half_words,
            _ => true,
        })
        .map(|(place, _)| Detail::new(place))
}

fn exec_size(cx: &Context<'_>) -> Option<Detail> {
    (is_math(cx) && cx.exec_size() > 8).then(|| cx.at(Place::Instruction))
}

fn divide_exec_size(cx: &Context<'_>) -> Option<Detail> {
    (divides(cx) && cx.exec_size() > 8).then(|| cx.at(Place::Instruction))
}

fn align1(cx: &Context<'_>) -> Option<Detail> {
    (is_math(cx) && cx.align16()).then(|| Detail::new(Place::Instruction))
}
