//! Integer multiplication and the accumulating opcodes.
//!
//! PRM: volume 4, 11.3.4.5 and 14.2.23-14.2.28; later generations from Mesa 22.3.6. Sequences of
//! mul, mach and mov are not followed.

use crate::inst::{Inst, Opcode};
use crate::operand::Type;

use super::context::{Context, is_accumulator};
use super::{Detail, Generations, Place, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule::inst(
        "multiply-float-destination",
        Generations::ALL,
        "PRM vol4 14.2.28; Mesa 22.3.6 brw_eu_emit.c brw_MUL",
        "mul of doublewords gives no float",
        float_destination,
    ),
    Rule::inst(
        "multiply-accumulator",
        Generations::ALL,
        "Mesa 22.3.6 brw_eu_emit.c brw_MUL",
        "mul takes no accumulator",
        accumulator,
    ),
    Rule::inst(
        "multiply-dword-first",
        Generations::since(70),
        "Mesa 22.3.6 brw_fs_copy_propagation.cpp (Skylake PRM vol2a)",
        "in mul of a doubleword and a narrower integer the doubleword is source 0",
        dword_first,
    ),
    Rule::inst(
        "multiply-negated-unsigned",
        Generations::ALL,
        "PRM vol4 11.3.4.5; Broxton PRM vol6 Accumulator Registers",
        "a product of doublewords has no negated unsigned source, it would take 65 bits",
        negated_unsigned,
    ),
    Rule::inst(
        "multiply-high-types",
        Generations::ALL,
        "PRM vol4 14.2.24, 11.3.4.5",
        "mach takes and gives doublewords",
        high_types,
    ),
    Rule::inst(
        "multiply-high-accumulator",
        Generations::since(60),
        "Mesa 22.3.6 brw_fs_nir.cpp, brw_eu_util.c (AccWrEn with mach)",
        "mach writes the accumulator: AccWrEn",
        high_accumulator,
    ),
];

fn dword(ty: Type) -> bool {
    matches!(ty, Type::D | Type::Ud)
}

fn multiplies(inst: &Inst) -> bool {
    inst.opcode == Opcode::Mul
}

fn float_destination(cx: &Context<'_>) -> Option<Detail> {
    let integers = cx.sources().any(|(_, src)| dword(src.ty));
    (multiplies(cx.inst) && integers && cx.inst.dst.ty.is_float()).then(|| Detail::new(Place::Dst))
}

fn accumulator(cx: &Context<'_>) -> Option<Detail> {
    if !multiplies(cx.inst) {
        return None;
    }
    cx.sources()
        .find(|(_, src)| is_accumulator(src))
        .map(|(place, _)| Detail::new(place))
}

fn dword_first(cx: &Context<'_>) -> Option<Detail> {
    let [first, second, _] = &cx.inst.src;
    let narrow = !first.ty.is_float() && first.ty.size() < 4;
    (multiplies(cx.inst) && narrow && dword(second.ty)).then(|| Detail::new(Place::Src1))
}

fn negated_unsigned(cx: &Context<'_>) -> Option<Detail> {
    let [first, second, _] = &cx.inst.src;
    let applies = matches!(cx.inst.opcode, Opcode::Mul | Opcode::Mach | Opcode::Mac)
        && dword(first.ty)
        && dword(second.ty);
    if !applies {
        return None;
    }
    cx.registers()
        .find(|(_, src)| src.negate && src.ty == Type::Ud)
        .map(|(place, _)| Detail::new(place))
}

fn high_types(cx: &Context<'_>) -> Option<Detail> {
    if cx.inst.opcode != Opcode::Mach {
        return None;
    }
    if !dword(cx.inst.dst.ty) {
        return Some(Detail::new(Place::Dst));
    }
    // The second source may be a word, its upper half is then zero or the sign.
    cx.sources()
        .find(|(_, src)| src.ty.is_float() || src.ty.size() > 4)
        .map(|(place, _)| Detail::new(place))
}

fn high_accumulator(cx: &Context<'_>) -> Option<Detail> {
    (cx.inst.opcode == Opcode::Mach && !cx.inst.acc_wr_ctrl)
        .then(|| Detail::new(Place::Instruction))
}
