//! Text of jump distances: numbers, or labels inside a kernel.
//!
//! PRM: volume 4, 13.3 and 14.2; JIP and UIP of Gen6 on as in Mesa 22.3.6 `brw_disasm.c`. Mesa prints
//! numbers for Gen4 and Gen5 and for `jmpi`; labels there are an extension.

use super::{Line, Place, operand};
use crate::inst::{Inst, Opcode, Verx10};
use crate::operand::{RegFile, Type};

/// Which of the two distances an instruction has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) jump: bool,
    /// UIP, or before Gen6 the pop count.
    pub(super) second: bool,
}

pub(super) const fn shape(generation: Verx10, inst: &Inst) -> Shape {
    if inst.branch.is_none() {
        return Shape {
            jump: false,
            second: false,
        };
    }
    let has = generation.has();
    Shape {
        jump: has.uip || !matches!(inst.opcode, Opcode::Endif),
        second: match inst.opcode {
            Opcode::Endif => !has.uip,
            Opcode::Else => has.else_second,
            Opcode::If => has.if_uip,
            Opcode::Halt => has.halt_uip,
            Opcode::Break | Opcode::Cont | Opcode::Brc | Opcode::Goto => true,
            _ => false,
        },
    }
}

/// Bytes in a distance of one.
pub(super) const fn unit(generation: Verx10) -> i64 {
    generation.has().jump_unit
}

/// Structured flow control. A distance that the opcode does not use is shown when it is not zero.
pub(super) fn branch(line: &mut Line, generation: Verx10, inst: &Inst, place: &Place<'_>) {
    let Some(branch) = inst.branch else { return };
    let Shape { jump, second } = shape(generation, inst);
    let (jump, second) = (jump || branch.jump != 0, second || branch.pop_or_uip != 0);
    let old = !generation.has().uip;
    // Gen6 compares two sources when there is a condition.
    for index in 0..usize::from(inst.num_src) {
        line.pad(if index == 0 { 16 } else { 32 });
        operand::src(line, generation, inst, index);
    }
    if jump {
        line.pad(16);
        line.put(if old { "Jump: " } else { "JIP: " });
        target(line, generation, place, branch.jump);
    }
    if second && old {
        line.pad(if jump { 32 } else { 16 });
        line.fmt(format_args!("Pop: {}", branch.pop_or_uip));
    } else if second {
        line.pad(38);
        line.put("UIP: ");
        target(line, generation, place, branch.pop_or_uip);
    }
}

/// `call`, `brd` and `brc`: distances after the operands.
pub(super) fn distances(line: &mut Line, generation: Verx10, inst: &Inst, place: &Place<'_>) {
    let Some(branch) = inst.branch else { return };
    let Shape { jump, second } = shape(generation, inst);
    let second = second || branch.pop_or_uip != 0;
    if jump {
        line.pad(32);
        line.put("JIP: ");
        target(line, generation, place, branch.jump);
    }
    if second {
        line.pad(48);
        line.put("UIP: ");
        target(line, generation, place, branch.pop_or_uip);
    }
}

/// A label after Mesa's second space, or the number.
fn target(line: &mut Line, generation: Verx10, place: &Place<'_>, distance: i32) {
    let at = i64::from(place.offset) + i64::from(distance) * unit(generation);
    match place.labels.and_then(|labels| labels.number(at)) {
        Some(number) if generation.has().uip => line.fmt(format_args!(" LABEL{number}")),
        Some(number) => line.fmt(format_args!("LABEL{number}")),
        None => line.fmt(format_args!("{distance}")),
    }
}

/// Where an immediate `jmpi` goes, in bytes from its own start. The type has to be a doubleword: a
/// label does not say another one.
pub(super) fn jump_target(generation: Verx10, inst: &Inst, bytes: u32) -> Option<i64> {
    let index = &inst.src[1];
    let distance = inst.branch?.jump;
    (inst.opcode == Opcode::Jmpi
        && index.file == RegFile::Imm
        && matches!(index.ty, Type::D | Type::Ud)
        && !index.negate
        && !index.abs)
        .then(|| i64::from(bytes) + i64::from(distance) * unit(generation))
}

/// The label of an immediate `jmpi`, if it has one. An unsigned distance says so after the label.
pub(super) fn jump_label(
    line: &mut Line,
    generation: Verx10,
    inst: &Inst,
    place: &Place<'_>,
) -> bool {
    let size = if place.compacted { 8 } else { 16 };
    let number = place.labels.and_then(|labels| {
        let distance = jump_target(generation, inst, size)?;
        labels.number(i64::from(place.offset) + distance)
    });
    let Some(number) = number else { return false };
    line.fmt(format_args!("LABEL{number}"));
    if inst.src[1].ty == Type::Ud {
        line.put(" UD");
    }
    true
}
