//! Branch targets, nesting of blocks, the end of the kernel.
//!
//! PRM: volume 4, 2.6.8 and 14.2 (flow control). Whether every path ends the thread is not followed.

use alloc::vec::Vec;

use crate::inst::{Opcode, PredCtrl};

use super::super::send::ends_thread;
use super::super::{Detail, Generations, Place, Rule};
use super::{Code, Report};

pub(in super::super) const RULES: &[Rule] = &[
    Rule::kernel(
        "branch-target",
        Generations::ALL,
        "PRM vol4 14.2 (flow control)",
        "a branch leads to an instruction of the kernel",
        branch_target,
    ),
    Rule::kernel(
        "end-of-thread",
        Generations::ALL,
        "PRM vol4 2.6.8",
        "the last instruction ends the thread or jumps back",
        end_of_thread,
    ),
    Rule::kernel(
        "block-nesting",
        Generations::ALL,
        "PRM vol4 14.2.14, 14.2.15, 14.2.18, 14.2.19, 14.2.45",
        "if, else and endif pair up inside of each other, and up to 5.0 do and while",
        nesting,
    ),
    Rule::kernel(
        "block-exec-size",
        Generations::until(50),
        "PRM vol4 14.2.14, 14.2.15; Mesa 22.3.6 brw_eu_emit.c",
        "else and endif have the execution size of their if; while has the execution size of its do",
        exec_size,
    ),
    Rule::kernel(
        "loop-break",
        Generations::until(50),
        "PRM vol4 14.2.5, 14.2.8",
        "break and cont stand inside of a loop",
        loop_break,
    ),
];

/// Byte offsets that an instruction may jump to, by the field that says so.
pub(super) fn targets(
    code: &Code<'_>,
    index: usize,
) -> impl Iterator<Item = (&'static str, i64)> + use<> {
    let placed = code.placed.get(index);
    let has = code.has();
    let found = placed.and_then(|placed| {
        let inst = placed.inst;
        let branch = inst.branch?;
        if matches!(inst.opcode, Opcode::Call | Opcode::Ret) {
            return None;
        }
        let own = i64::from(placed.offset);
        let base = if inst.opcode == Opcode::Jmpi {
            let next = code.placed.get(index + 1);
            next.map_or(own + 16, |next| i64::from(next.offset))
        } else {
            own
        };
        let at = |distance: i32| base + i64::from(distance) * has.jump_unit;
        let uip = has.uip && branch.pop_or_uip != 0;
        Some([
            Some(("jump", at(branch.jump))),
            uip.then(|| ("UIP", at(branch.pop_or_uip))),
        ])
    });
    found.into_iter().flatten().flatten()
}

fn branch_target(code: &Code<'_>, report: &mut Report<'_>) {
    for (index, _) in code.insts() {
        for (name, target) in targets(code, index) {
            if code.find(target).is_none() {
                report.push(index, Detail::new(Place::Instruction).with(name, target));
            }
        }
    }
}

fn end_of_thread(code: &Code<'_>, report: &mut Report<'_>) {
    let padding = |opcode| matches!(opcode, Opcode::Nop | Opcode::Illegal);
    let Some((index, last)) = code.insts().rev().find(|(_, inst)| !padding(inst.opcode)) else {
        return;
    };
    let jumps = last.opcode == Opcode::Jmpi && last.pred_ctrl == PredCtrl::None;
    if !jumps && !ends_thread(code.has(), last) {
        report.push(index, Detail::new(Place::Instruction));
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    If,
    Iff,
    Else,
    Do,
}

/// Walks the blocks; `visit` sees each instruction with the block that it is about.
fn walk(code: &Code<'_>, mut visit: impl FnMut(usize, Event)) {
    let mut open: Vec<(Block, usize)> = Vec::new();
    let mut loops = 0_usize;
    for (index, inst) in code.insts() {
        let top = open.last().copied();
        match inst.opcode {
            Opcode::If => open.push((Block::If, index)),
            Opcode::Iff => open.push((Block::Iff, index)),
            Opcode::Else => match top {
                Some((Block::If, start)) => {
                    open.pop();
                    open.push((Block::Else, start));
                    visit(index, Event::Closes(start));
                }
                _ => visit(index, Event::Stray),
            },
            Opcode::Endif => match top {
                Some((Block::If | Block::Iff | Block::Else, start)) => {
                    open.pop();
                    visit(index, Event::Closes(start));
                }
                _ => visit(index, Event::Stray),
            },
            Opcode::Do => {
                open.push((Block::Do, index));
                loops += 1;
            }
            Opcode::While => match top {
                Some((Block::Do, start)) => {
                    open.pop();
                    loops -= 1;
                    visit(index, Event::Closes(start));
                }
                // From Gen6 on loops begin without an instruction.
                _ if code.has().uip => {}
                _ => visit(index, Event::Stray),
            },
            Opcode::Break | Opcode::Cont if loops == 0 => visit(index, Event::OutsideLoop),
            _ => {}
        }
    }
    for (_, start) in open {
        visit(start, Event::Open);
    }
}

enum Event {
    /// Belongs to the block that an instruction opened.
    Closes(usize),
    /// Belongs to no block.
    Stray,
    /// Leaves or goes on with a loop, but there is none.
    OutsideLoop,
    /// Opens a block that nothing closes.
    Open,
}

fn nesting(code: &Code<'_>, report: &mut Report<'_>) {
    walk(code, |index, event| {
        if matches!(event, Event::Stray | Event::Open) {
            report.push(index, Detail::new(Place::Instruction));
        }
    });
}

fn exec_size(code: &Code<'_>, report: &mut Report<'_>) {
    let size = |index: usize| {
        code.placed
            .get(index)
            .map_or(0, |placed| placed.inst.exec_size)
    };
    walk(code, |index, event| {
        if let Event::Closes(start) = event
            && size(start) != size(index)
        {
            let detail = Detail::new(Place::Instruction)
                .with("execution size", size(index))
                .with("of the block", size(start));
            report.push(index, detail);
        }
    });
}

fn loop_break(code: &Code<'_>, report: &mut Report<'_>) {
    walk(code, |index, event| {
        if matches!(event, Event::OutsideLoop) {
            report.push(index, Detail::new(Place::Instruction));
        }
    });
}
