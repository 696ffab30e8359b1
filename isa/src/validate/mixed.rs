//! Half and single floats in one operation.
//!
//! PRM: Broxton PRM vol6, Special Restrictions for Handling Mixed Mode Float Operations. As in
//! Mesa 22.3.6 brw_eu_validate.c, three-source instructions are not looked at.

use crate::inst::Opcode;
use crate::operand::{Addr, RegFile, Type};

use super::context::{Context, is_accumulator, is_indirect, is_packed_dst};
use super::{Detail, Generations, Place, Rule};

const SINCE: Generations = Generations::since(80);
const CITE: &str = "Broxton PRM vol6 Register Region Restrictions 7; Mesa 22.3.6 brw_eu_validate.c";

pub(super) const RULES: &[Rule] = &[
    Rule::inst(
        "mixed-float-indirect",
        SINCE,
        CITE,
        "mixed float sources are direct",
        indirect,
    ),
    Rule::inst(
        "mixed-float-exec-size",
        SINCE,
        CITE,
        "mixed float into single floats has at most 8 channels",
        exec_size,
    ),
    Rule::inst(
        "mixed-float-packed-exec-size",
        SINCE,
        CITE,
        "mixed float into packed half floats has at most 8 channels",
        packed_exec_size,
    ),
    Rule::inst(
        "mixed-float-packed-alignment",
        SINCE,
        CITE,
        "mixed float into packed half floats has a 16-byte aligned destination",
        packed_alignment,
    ),
    Rule::inst(
        "mixed-float-align16-stride",
        SINCE,
        CITE,
        "align16 mixed float has packed sources, vertical stride 4",
        align16_stride,
    ),
    Rule::inst(
        "mixed-float-align16-exec-size",
        SINCE,
        CITE,
        "align16 mixed float has at most 8 channels",
        align16_exec_size,
    ),
    Rule::inst(
        "mixed-float-align16-accumulator",
        SINCE,
        CITE,
        "align16 mixed float reads no accumulator",
        align16_accumulator,
    ),
    Rule::inst(
        "mixed-float-math-stride",
        SINCE,
        CITE,
        "align1 mixed float math has strided half float sources",
        math_stride,
    ),
    Rule::inst(
        "mixed-float-accumulator-offset",
        SINCE,
        CITE,
        "with a packed half float destination an accumulator source starts at its register",
        accumulator_offset,
    ),
    Rule::inst(
        "mixed-float-accumulator-stride",
        SINCE,
        CITE,
        "with an accumulator source a half float destination has stride 2",
        accumulator_stride,
    ),
];

fn indirect(cx: &Context<'_>) -> Option<Detail> {
    if !cx.is_mixed_float() {
        return None;
    }
    cx.registers()
        .find(|(_, src)| is_indirect(src.addr))
        .map(|(place, _)| Detail::new(place))
}

fn exec_size(cx: &Context<'_>) -> Option<Detail> {
    (cx.is_mixed_float() && cx.exec_size() > 8 && cx.inst.dst.ty == Type::F)
        .then(|| cx.at(Place::Instruction))
}

/// Mixed float in align1 with half floats packed in the destination.
fn packs(cx: &Context<'_>) -> bool {
    let dst = &cx.inst.dst;
    cx.is_mixed_float() && !cx.align16() && dst.ty == Type::Hf && dst.hstride == 1
}

fn packed_exec_size(cx: &Context<'_>) -> Option<Detail> {
    let packed = is_packed_dst(cx.exec_size(), cx.inst.dst.hstride);
    (packs(cx) && packed && cx.exec_size() > 8).then(|| cx.at(Place::Instruction))
}

fn packed_alignment(cx: &Context<'_>) -> Option<Detail> {
    let offset = match cx.inst.dst.addr {
        Addr::Direct { subnr, .. } => i64::from(subnr),
        Addr::Indirect { imm, .. } => i64::from(imm),
    };
    (packs(cx) && offset % 16 != 0).then(|| Detail::new(Place::Dst).with("byte offset", offset))
}

fn align16_stride(cx: &Context<'_>) -> Option<Detail> {
    if !cx.is_mixed_float() || !cx.align16() {
        return None;
    }
    cx.sources()
        .find(|(_, src)| src.file == RegFile::Imm || src.region.vstride != 4)
        .map(|(place, src)| Detail::new(place).with("vertical stride", src.region.vstride))
}

fn align16_exec_size(cx: &Context<'_>) -> Option<Detail> {
    (cx.is_mixed_float() && cx.align16() && cx.exec_size() > 8).then(|| cx.at(Place::Instruction))
}

fn align16_accumulator(cx: &Context<'_>) -> Option<Detail> {
    (cx.is_mixed_float() && cx.align16() && cx.reads_accumulator())
        .then(|| Detail::new(Place::Instruction))
}

fn math_stride(cx: &Context<'_>) -> Option<Detail> {
    if !cx.is_mixed_float() || cx.align16() || cx.inst.opcode != Opcode::Math {
        return None;
    }
    cx.sources()
        .find(|(_, src)| src.ty == Type::Hf && src.region.hstride <= 1)
        .map(|(place, src)| Detail::new(place).with("stride", src.region.hstride))
}

fn accumulator_offset(cx: &Context<'_>) -> Option<Detail> {
    if !packs(cx) {
        return None;
    }
    cx.registers()
        .filter(|(_, src)| is_accumulator(src) && matches!(src.ty, Type::F | Type::Hf))
        .find_map(|(place, src)| match src.addr {
            Addr::Direct { subnr, .. } if subnr != 0 => {
                Some(Detail::new(place).with("byte offset", subnr))
            }
            _ => None,
        })
}

fn accumulator_stride(cx: &Context<'_>) -> Option<Detail> {
    let dst = &cx.inst.dst;
    let applies = cx.is_mixed_float() && !cx.align16() && dst.ty == Type::Hf;
    (applies && cx.reads_accumulator() && dst.hstride != 2)
        .then(|| Detail::new(Place::Dst).with("stride", dst.hstride))
}
