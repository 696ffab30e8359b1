//! Execution size, channel groups and flag registers.
//!
//! PRM: volume 4, 11.3.4.6 and 13.2.2; Gen7 and later from Mesa 22.3.6 brw_fs.cpp and brw_inst.h,
//! Broxton PRM vol6 Register Region Restrictions. Masks of the thread are not known here.

use crate::inst::{CondMod, Opcode, PredCtrl};

use super::context::Context;
use super::{Detail, Generations, Place, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule::inst(
        "exec-size",
        Generations::ALL,
        "PRM vol4 13.2.2; Mesa 22.3.6 brw_eu_defines.h",
        "the execution size is 1, 2, 4, 8 or 16 channels; 32 from 6.0 on",
        exec_size,
    ),
    Rule::inst(
        "exec-size-bytes",
        Generations::since(90),
        "Broxton PRM vol6 Register Region Restrictions 1.1",
        "execution size times the largest element is at most 64 bytes",
        exec_size_bytes,
    ),
    Rule::inst(
        "simd32-condition",
        Generations::between(60, 75),
        "Mesa 22.3.6 brw_fs.cpp get_fpu_lowered_simd_width (Ivybridge PRM)",
        "32 channels have no conditional modifier",
        simd32_condition,
    ),
    Rule::inst(
        "simd32-ternary-condition",
        Generations::since(80),
        "Mesa 22.3.6 brw_fs.cpp get_fpu_lowered_simd_width (Broadwell PRM)",
        "32 channels of a three-source instruction have no conditional modifier",
        simd32_ternary,
    ),
    Rule::inst(
        "quarter-alignment",
        Generations::since(60),
        "Mesa 22.3.6 brw_inst.h qtr_control",
        "the first channel group is a multiple of the execution size",
        quarter_alignment,
    ),
    Rule::inst(
        "nibble-exec-size",
        Generations::since(70),
        "Mesa 22.3.6 brw_inst.h nib_control",
        "the second half of a quarter is for at most four channels, masks apart",
        nibble_exec_size,
    ),
    Rule::inst(
        "flag-register",
        Generations::until(60),
        "PRM vol4 11.3.4.6",
        "f0 is the only flag register",
        flag_register,
    ),
    Rule::inst(
        "flag-subregister-simd32",
        Generations::since(60),
        "Mesa 22.3.6 brw_fs.cpp flag_mask",
        "32 channels take a whole flag register",
        flag_simd32,
    ),
];

fn exec_size(cx: &Context<'_>) -> Option<Detail> {
    let legal = matches!(cx.inst.exec_size, 1 | 2 | 4 | 8 | 16)
        || (cx.inst.exec_size == 32 && cx.has().max_exec == 5);
    (!legal).then(|| cx.at(Place::Instruction))
}

fn exec_size_bytes(cx: &Context<'_>) -> Option<Detail> {
    if !cx.has_regions() {
        return None;
    }
    let sources = cx.registers().map(|(_, src)| src.ty.size() as u32);
    let largest = sources.fold(cx.inst.dst.ty.size() as u32, u32::max);
    (cx.exec_size() * largest > 64)
        .then(|| cx.at(Place::Instruction).with("element bytes", largest))
}

fn has_condition(cx: &Context<'_>) -> bool {
    cx.computes() && cx.inst.cond_mod != CondMod::None
}

fn simd32_condition(cx: &Context<'_>) -> Option<Detail> {
    (has_condition(cx) && cx.exec_size() == 32).then(|| cx.at(Place::Instruction))
}

fn simd32_ternary(cx: &Context<'_>) -> Option<Detail> {
    (has_condition(cx) && cx.exec_size() == 32 && cx.has_three_sources())
        .then(|| cx.at(Place::Instruction))
}

fn quarter_alignment(cx: &Context<'_>) -> Option<Detail> {
    let quarters = cx.exec_size().div_ceil(8).max(1);
    let quarter = cx.inst.qtr_ctrl;
    (!u32::from(quarter).is_multiple_of(quarters))
        .then(|| cx.at(Place::Instruction).with("quarter", quarter))
}

fn nibble_exec_size(cx: &Context<'_>) -> Option<Detail> {
    // A double may take two channels.
    let doubles = cx.inst.dst.ty.size() == 8 || cx.is_double();
    let most = if cx.has().split_doubles && doubles {
        8
    } else {
        4
    };
    let too_many = cx.exec_size() > most;
    (cx.inst.nib_ctrl && too_many && !cx.inst.no_mask).then(|| cx.at(Place::Instruction))
}

/// Whether the flag register field means something.
fn uses_flags(cx: &Context<'_>) -> bool {
    let condition = has_condition(cx) && cx.inst.opcode != Opcode::Sel;
    cx.inst.pred_ctrl != PredCtrl::None || condition
}

fn flag_register(cx: &Context<'_>) -> Option<Detail> {
    (uses_flags(cx) && cx.inst.flag_reg != 0)
        .then(|| Detail::new(Place::Instruction).with("flag register", cx.inst.flag_reg))
}

fn flag_simd32(cx: &Context<'_>) -> Option<Detail> {
    (uses_flags(cx) && cx.exec_size() == 32 && cx.inst.flag_subreg != 0).then(|| {
        cx.at(Place::Instruction)
            .with("subregister", cx.inst.flag_subreg)
    })
}
