//! Three-source instructions of Gen6 and later.
//!
//! PRM: Baytrail PRM vol2 part 2 bfe, bfi2; Mesa 22.3.6 brw_eu_emit.c brw_alu3 and brw_fs.cpp.
//! Align1 three-source forms begin with Gen10.

use crate::inst::Opcode;
use crate::operand::{RegFile, Type};

use super::context::{Context, is_indirect};
use super::{Detail, Generations, Place, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule::inst(
        "three-source-align16",
        Generations::between(60, 90),
        "Mesa 22.3.6 brw_eu_validate.c invalid_values",
        "three-source instructions are align16",
        align16,
    ),
    Rule::inst(
        "three-source-files",
        Generations::between(60, 90),
        "Baytrail PRM vol2 part2 bfe; Mesa 22.3.6 brw_eu_emit.c brw_alu3",
        "three-source instructions work on general registers; on 6.0 they also write messages",
        files,
    ),
    Rule::inst(
        "three-source-direct",
        Generations::since(60),
        "Mesa 22.3.6 brw_eu_emit.c brw_alu3",
        "three-source instructions have no indirect addressing",
        direct,
    ),
    Rule::inst(
        "three-source-types",
        Generations::between(60, 90),
        "Baytrail PRM vol2 part2 bfe; Mesa 22.3.6 brw_eu_emit.c brw_alu3",
        "types are F, D, UD, DF, or HF from 8.0 on, the sources of one type",
        types,
    ),
    Rule::inst(
        "three-source-exec-size",
        Generations::between(60, 70),
        "Mesa 22.3.6 brw_fs.cpp get_fpu_lowered_simd_width (Ivybridge PRM)",
        "three-source instructions have at most 8 channels of 32 bits",
        exec_size,
    ),
    Rule::inst(
        "three-source-lerp",
        Generations::since(60),
        "Mesa 22.3.6 brw_eu_emit.c brw_LRP",
        "lrp works on single floats",
        lerp,
    ),
];

fn align16(cx: &Context<'_>) -> Option<Detail> {
    (cx.has_three_sources() && !cx.align16()).then(|| Detail::new(Place::Instruction))
}

fn files(cx: &Context<'_>) -> Option<Detail> {
    if !cx.has_three_sources() {
        return None;
    }
    let legal = match cx.inst.dst.file {
        RegFile::Grf => true,
        RegFile::Mrf => cx.has().payload_in_mrf,
        _ => false,
    };
    if !legal {
        return Some(Detail::new(Place::Dst));
    }
    cx.sources()
        .find(|(_, src)| src.file != RegFile::Grf)
        .map(|(place, _)| Detail::new(place))
}

fn direct(cx: &Context<'_>) -> Option<Detail> {
    if !cx.has_three_sources() {
        return None;
    }
    if is_indirect(cx.inst.dst.addr) {
        return Some(Detail::new(Place::Dst));
    }
    cx.sources()
        .find(|(_, src)| is_indirect(src.addr))
        .map(|(place, _)| Detail::new(place))
}

fn types(cx: &Context<'_>) -> Option<Detail> {
    if !cx.has_three_sources() {
        return None;
    }
    let legal = |ty| match ty {
        Type::F | Type::D | Type::Ud | Type::Df => true,
        Type::Hf => cx.has().wide,
        _ => false,
    };
    if !legal(cx.inst.dst.ty) {
        return Some(Detail::new(Place::Dst));
    }
    let first = cx.inst.src[0].ty;
    // From 8.0 on F and HF mix, as two bits of the encoding say.
    let mixes = |ty| {
        cx.has().wide && matches!(ty, Type::F | Type::Hf) && matches!(first, Type::F | Type::Hf)
    };
    cx.sources()
        .find(|(_, src)| !legal(src.ty) || (src.ty != first && !mixes(src.ty)))
        .map(|(place, _)| Detail::new(place))
}

fn exec_size(cx: &Context<'_>) -> Option<Detail> {
    (cx.has_three_sources() && cx.exec_size() > 8).then(|| cx.at(Place::Instruction))
}

fn lerp(cx: &Context<'_>) -> Option<Detail> {
    if cx.inst.opcode != Opcode::Lrp {
        return None;
    }
    cx.sources()
        .find(|(_, src)| src.ty != Type::F)
        .map(|(place, _)| Detail::new(place))
}
