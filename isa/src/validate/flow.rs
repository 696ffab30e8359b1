//! Flow control, waiting and the mask stack, one instruction at a time.
//!
//! PRM: volume 4, 11.3.4.12 and 14.2; Baytrail PRM vol2 part 2 brc, brd; Broxton PRM vol6, Special
//! Restrictions. Targets and nesting are rules of kernels.

use crate::inst::{AccessMode, Opcode, PredCtrl, ThreadCtrl};
use crate::operand::RegFile;

use super::context::{Context, arf, is_flow, is_null_dst};
use super::{Detail, Generations, Place, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule::inst(
        "flow-align1",
        Generations::since(90),
        "Broxton PRM vol6 Register Region Restrictions, Special Restrictions 1",
        "flow control is align1",
        flow_align1,
    ),
    Rule::inst(
        "flow-jump-ip",
        Generations::ALL,
        "PRM vol4 14.2.20; Mesa 22.3.6 brw_eu_emit.c brw_JMPI",
        "jmpi reads and writes ip",
        jump_ip,
    ),
    Rule::inst(
        "flow-jump-no-mask",
        Generations::until(75),
        "PRM vol4 14.2.20; Mesa 22.3.6 brw_eu_emit.c brw_JMPI",
        "jmpi ignores the channel masks: NoMask",
        jump_no_mask,
    ),
    Rule::inst(
        "flow-block-predicate",
        Generations::ALL,
        "PRM vol4 14.2.9, 14.2.14, 14.2.15; Mesa 22.3.6 brw_eu_emit.c",
        "do, else and endif have no predicate",
        block_predicate,
    ),
    Rule::inst(
        "flow-pop-count",
        Generations::until(50),
        "PRM vol4 13.2.5",
        "a branch pops at most 15 mask stack entries",
        pop_count,
    ),
    Rule::inst(
        "flow-branch-switch",
        Generations::between(70, 75),
        "Baytrail PRM vol2 part2 brc, brd",
        "brc and brd switch threads",
        branch_switch,
    ),
    Rule::inst(
        "flow-branch-null",
        Generations::since(70),
        "Baytrail PRM vol2 part2 brc, brd",
        "brc and brd have a null destination",
        branch_null,
    ),
    Rule::inst(
        "wait-register",
        Generations::ALL,
        "PRM vol4 11.3.4.12, 14.2.44",
        "wait names a notification register",
        wait_register,
    ),
    Rule::inst(
        "wait-exec-size",
        Generations::ALL,
        "PRM vol4 11.3.4.12; Mesa 22.3.6 brw_eu_emit.c brw_WAIT",
        "wait has one channel and no predicate",
        wait_exec_size,
    ),
];

fn flow_align1(cx: &Context<'_>) -> Option<Detail> {
    (is_flow(cx.inst.opcode) && cx.inst.access == AccessMode::Align16)
        .then(|| Detail::new(Place::Instruction))
}

fn jump_ip(cx: &Context<'_>) -> Option<Detail> {
    if cx.inst.opcode != Opcode::Jmpi {
        return None;
    }
    let dst = &cx.inst.dst;
    let ip = |file, addr| arf(file, addr) == Some(0xa0);
    if !ip(dst.file, dst.addr) {
        return Some(Detail::new(Place::Dst));
    }
    let src = &cx.inst.src[0];
    (cx.inst.num_src >= 2 && !ip(src.file, src.addr)).then(|| Detail::new(Place::Src0))
}

fn jump_no_mask(cx: &Context<'_>) -> Option<Detail> {
    (cx.inst.opcode == Opcode::Jmpi && !cx.inst.no_mask).then(|| Detail::new(Place::Instruction))
}

fn block_predicate(cx: &Context<'_>) -> Option<Detail> {
    let plain = matches!(cx.inst.opcode, Opcode::Do | Opcode::Else | Opcode::Endif);
    (plain && cx.inst.pred_ctrl != PredCtrl::None).then(|| Detail::new(Place::Instruction))
}

fn pop_count(cx: &Context<'_>) -> Option<Detail> {
    let count = cx.inst.branch?.pop_or_uip;
    (!(0..=15).contains(&count)).then(|| Detail::new(Place::Instruction).with("pop count", count))
}

fn branches(cx: &Context<'_>) -> bool {
    matches!(cx.inst.opcode, Opcode::Brc | Opcode::Brd)
}

fn branch_switch(cx: &Context<'_>) -> Option<Detail> {
    (branches(cx) && cx.inst.thread_ctrl != ThreadCtrl::Switch)
        .then(|| Detail::new(Place::Instruction))
}

fn branch_null(cx: &Context<'_>) -> Option<Detail> {
    (branches(cx) && !is_null_dst(&cx.inst.dst)).then(|| Detail::new(Place::Dst))
}

fn wait_register(cx: &Context<'_>) -> Option<Detail> {
    if cx.inst.opcode != Opcode::Wait {
        return None;
    }
    let src = &cx.inst.src[0];
    let named = src.file == RegFile::Arf
        && arf(src.file, src.addr).is_some_and(|nr| nr >> 4 == 9 && nr & 0xf < 3);
    (!named).then(|| Detail::new(Place::Src0))
}

fn wait_exec_size(cx: &Context<'_>) -> Option<Detail> {
    let legal = cx.exec_size() == 1 && cx.inst.pred_ctrl == PredCtrl::None;
    (cx.inst.opcode == Opcode::Wait && !legal).then(|| cx.at(Place::Instruction))
}
