//! Conditional modifier, saturation, predicate and source modifiers by opcode.
//!
//! PRM: volume 4, 11.4, 11.7, 14.2; Baytrail PRM vol2 part 2 (instruction properties); lists of
//! opcodes from Mesa 22.3.6 brw_shader.cpp. Math has rules of its own.

use crate::inst::{CondMod, Opcode, PredCtrl};
use crate::operand::RegFile;

use super::context::{Context, is_flow};
use super::{Detail, Generations, Place, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule::inst(
        "condition-of-opcode",
        Generations::ALL,
        "Baytrail PRM vol2 part2 instruction properties; Mesa 22.3.6 brw_shader.cpp can_do_cmod",
        "the opcode has a conditional modifier",
        condition,
    ),
    Rule::inst(
        "saturate-of-opcode",
        Generations::ALL,
        "Baytrail PRM vol2 part2 instruction properties; Mesa 22.3.6 brw_shader.cpp can_do_saturate",
        "the opcode saturates",
        saturate,
    ),
    Rule::inst(
        "source-modifier-of-opcode",
        Generations::ALL,
        "Baytrail PRM vol2 part2 instruction properties; Mesa 22.3.6 brw_shader.cpp \
         can_do_source_mods",
        "the opcode has source modifiers",
        source_modifier,
    ),
    Rule::inst(
        "logic-absolute",
        Generations::since(80),
        "Mesa 22.3.6 brw_fs_copy_propagation.cpp (Broadwell PRM)",
        "a logic operation's source modifier is a bitwise not, without absolute value",
        logic_absolute,
    ),
    Rule::inst(
        "compare-condition",
        Generations::ALL,
        "PRM vol4 14.2.6, 14.2.7",
        "cmp and cmpn have a condition",
        compare_condition,
    ),
    Rule::inst(
        "condition-round",
        Generations::ALL,
        "PRM vol4 14.2.36; Mesa 22.3.6 brw_eu_emit.c",
        "the condition r belongs to the rounding opcodes up to 5.0",
        condition_round,
    ),
    Rule::inst(
        "select-condition",
        Generations::until(50),
        "Mesa 22.3.6 brw_fs_visitor.cpp emit_minmax",
        "sel takes a predicate; its condition comes with 6.0",
        select_condition,
    ),
    Rule::inst(
        "select-predicate",
        Generations::ALL,
        "PRM vol4 14.2.40; Mesa 22.3.6 brw_fs_visitor.cpp emit_minmax",
        "sel has a predicate or a condition, one of them",
        select_predicate,
    ),
    Rule::inst(
        "select-minimum",
        Generations::since(60),
        "Mesa 22.3.6 brw_eu_defines.h, brw_fs_visitor.cpp emit_minmax",
        "the condition of sel is l or ge",
        select_minimum,
    ),
];

fn logic(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Not)
}

fn bit_field(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Bfe
            | Opcode::Bfi1
            | Opcode::Bfi2
            | Opcode::Bfrev
            | Opcode::Cbit
            | Opcode::Fbh
            | Opcode::Fbl
    )
}

fn condition(cx: &Context<'_>) -> Option<Detail> {
    let opcode = cx.inst.opcode;
    // From Gen6 on `if` and `while` compare.
    let compares = matches!(opcode, Opcode::If | Opcode::While) && cx.has().embedded_compare;
    let without = bit_field(opcode)
        || (is_flow(opcode) && !compares)
        || matches!(opcode, Opcode::Wait | Opcode::Movi | Opcode::Math)
        || cx.is_send();
    (without && cx.inst.cond_mod != CondMod::None).then(|| Detail::new(Place::Instruction))
}

fn saturate(cx: &Context<'_>) -> Option<Detail> {
    let opcode = cx.inst.opcode;
    let without = bit_field(opcode)
        || logic(opcode)
        || is_flow(opcode)
        || cx.is_send()
        || matches!(
            opcode,
            Opcode::Addc | Opcode::Subb | Opcode::Cmp | Opcode::Cmpn | Opcode::Lzd | Opcode::Wait
        );
    (without && cx.inst.saturate).then(|| Detail::new(Place::Instruction))
}

fn source_modifier(cx: &Context<'_>) -> Option<Detail> {
    let opcode = cx.inst.opcode;
    if !bit_field(opcode) && !matches!(opcode, Opcode::Addc | Opcode::Subb) {
        return None;
    }
    modified(cx)
}

fn modified(cx: &Context<'_>) -> Option<Detail> {
    cx.registers()
        .find(|(_, src)| src.negate || src.abs)
        .map(|(place, _)| Detail::new(place))
}

fn logic_absolute(cx: &Context<'_>) -> Option<Detail> {
    if !logic(cx.inst.opcode) {
        return None;
    }
    cx.sources()
        .find(|(_, src)| src.abs && src.file != RegFile::Imm)
        .map(|(place, _)| Detail::new(place))
}

fn compare_condition(cx: &Context<'_>) -> Option<Detail> {
    let compares = matches!(cx.inst.opcode, Opcode::Cmp | Opcode::Cmpn);
    (compares && cx.inst.cond_mod == CondMod::None).then(|| Detail::new(Place::Instruction))
}

fn condition_round(cx: &Context<'_>) -> Option<Detail> {
    let rounds = matches!(
        cx.inst.opcode,
        Opcode::Rndu | Opcode::Rndd | Opcode::Rnde | Opcode::Rndz
    );
    let legal = rounds && cx.has().round_condition;
    (cx.computes() && cx.inst.cond_mod == CondMod::R && !legal)
        .then(|| Detail::new(Place::Instruction))
}

fn select_condition(cx: &Context<'_>) -> Option<Detail> {
    (cx.inst.opcode == Opcode::Sel && cx.inst.cond_mod != CondMod::None)
        .then(|| Detail::new(Place::Instruction))
}

fn select_predicate(cx: &Context<'_>) -> Option<Detail> {
    let predicate = cx.inst.pred_ctrl != PredCtrl::None;
    let condition = cx.inst.cond_mod != CondMod::None;
    (cx.inst.opcode == Opcode::Sel && predicate == condition)
        .then(|| Detail::new(Place::Instruction))
}

fn select_minimum(cx: &Context<'_>) -> Option<Detail> {
    let legal = matches!(cx.inst.cond_mod, CondMod::None | CondMod::L | CondMod::Ge);
    (cx.inst.opcode == Opcode::Sel && !legal).then(|| Detail::new(Place::Instruction))
}
