//! From a lowered instruction to a step of a stretch.
//!
//! Conditions are those under which the interpreter takes the handler that does what the step says. An instruction that
//! meets none is not taken on, and the interpreter runs it.

use super::{ByResult, Condition, Operand, Operation, Place, Predicate, Step};
use crate::decoded::{Decoded, DstKind, More, Num, Src, SrcKind};
use crate::exec;
use crate::r#gen::Rules;
use crate::grf::{DWORDS, GRF_COUNT, TOTAL};
use crate::math::Function;
use isa::Opcode;
use isa::inst::{CondMod, PredCtrl};

/// Dwords of the registers.
const DWORDS_TOTAL: usize = TOTAL * DWORDS;

const NOWHERE: Operand = Operand {
    place: Place::Nowhere,
    negate: false,
    absolute: false,
};

/// The step that an instruction is, when a compiler may take it on. Accumulator updates that are dead are left out, so
/// the caller sees to it that nobody looks between two instructions.
pub(crate) fn step(d: &Decoded, rules: Rules) -> Option<Step> {
    let wide = d.exec > 8;
    let known = !d.empty
        && !d.rare
        && d.weight <= 2
        && (d.shift == 0 || d.shift == 8 && !wide)
        && !(d.no_mask && d.no_cmask)
        && (!d.acc_write || d.acc_dead);
    if !known {
        return None;
    }
    let predicate = match d.pred {
        PredCtrl::None => None,
        PredCtrl::Normal => Some(Predicate {
            flag: d.flag & 1,
            inverted: d.pred_inv,
        }),
        _ => return None,
    };
    let destination = match d.dst.kind {
        DstKind::Vec(first) => Some(first),
        DstKind::Null => None,
        DstKind::Table(_) | DstKind::Arf(..) | DstKind::Acc(..) | DstKind::Indirect(_) => {
            return None;
        }
    };
    let (operation, count) = operation(d, rules)?;
    if operation == Operation::Leave && (predicate.is_none() || d.no_mask || d.lanes == 0) {
        return None;
    }
    let mut step = Step {
        operation,
        wide,
        lanes: d.lanes,
        shift: d.shift,
        unmasked: d.no_mask,
        predicate,
        flag: d.flag & 1,
        by_result: ByResult::No,
        saturate: d.saturate,
        truncate: !d.dst.round,
        destination,
        sources: [NOWHERE; 3],
    };
    step.by_result = by_result(d, operation)?;
    for (to, from) in step.sources.iter_mut().zip(&d.src).take(count.min(2)) {
        *to = operand(from)?;
    }
    if operation == Operation::Plane {
        step.sources[1].place = Place::Vector(exec::planar(d, wide)?);
    }
    if count == 3 {
        step.sources[2] = third(d)?;
    }
    if operation == Operation::Select && step.predicate.is_none() {
        return None;
    }
    (step.is_inside() && !hazard(&step)).then_some(step)
}

/// What an instruction computes, and of how many sources.
fn operation(d: &Decoded, rules: Rules) -> Option<(Operation, usize)> {
    let [a, b] = &d.src;
    let float = |s: &Src| s.fast_float;
    let floats = d.dst.num == Num::F && float(a);
    let dwords = exec::dword::applies(d);
    // What sets flags or saturates beside its result is left to the interpreter, but for dwords.
    let plain = d.cond == CondMod::None;
    Some(match d.op {
        Opcode::Mov if exec::copy::applies(d) => (four_bytes(d, 1).then_some(Operation::Copy)?, 1),
        Opcode::Mov if exec::copy::applies_to_float(d) => {
            let signed = a.num == Num::D;
            (Operation::ToFloat { signed }, 1)
        }
        Opcode::Mov if plain && floats => (Operation::Move, 1),
        Opcode::Sel if d.compare != CondMod::None => {
            let both = floats && float(b) && plain;
            let condition = both.then(|| condition(d.compare)).flatten()?;
            (Operation::SelectFloat(condition), 2)
        }
        Opcode::Sel if exec::copy::applies_sel(d) => {
            (four_bytes(d, 2).then_some(Operation::Select)?, 2)
        }
        Opcode::Cmp if float(a) && float(b) => {
            (Operation::CompareFloats(condition(d.cond)?), stored(d)?)
        }
        Opcode::Cmp if exec::dword::applies_cmp(d) => {
            let condition = condition(d.cond).filter(|c| *c != Condition::Unordered)?;
            let signed = a.num == Num::D;
            (Operation::CompareDwords { condition, signed }, stored(d)?)
        }
        Opcode::Add if plain && floats && float(b) => (Operation::Add, 2),
        Opcode::Mul if plain && floats && float(b) => (Operation::Multiply, 2),
        Opcode::Mad if plain && floats && float(b) => (Operation::MultiplyAdd, 3),
        Opcode::Pln if plain && floats && rules.rounds => (Operation::Plane, 2),
        Opcode::Rndd if plain && floats => (Operation::Floor, 1),
        Opcode::Rnde if plain && floats && rules.whole_rounds => (Operation::NearestWhole, 1),
        Opcode::Rndz if plain && floats && rules.whole_rounds => (Operation::Truncate, 1),
        Opcode::Frc if plain && floats && rules.whole_rounds => (Operation::Fraction, 1),
        Opcode::Math if plain && floats => (math(d.function)?, 1),
        Opcode::Not if dwords => (Operation::Not, 1),
        Opcode::And if dwords => (Operation::And, 2),
        Opcode::Or if dwords => (Operation::Or, 2),
        Opcode::Xor if dwords => (Operation::Xor, 2),
        Opcode::Shl if dwords => (Operation::ShiftLeft, 2),
        Opcode::Asr if dwords && a.num == Num::D => (Operation::ShiftSigned, 2),
        Opcode::Shr | Opcode::Asr if dwords => (Operation::ShiftRight, 2),
        Opcode::Add if dwords => (Operation::AddDwords, 2),
        Opcode::Break | Opcode::Cont | Opcode::Halt
            if rules.paths && d.compare == CondMod::None =>
        {
            (Operation::Leave, 0)
        }
        _ => return None,
    })
}

/// The functions that a host has in vectors, too.
fn math(function: Option<Function>) -> Option<Operation> {
    Some(match function? {
        Function::Inv => Operation::Inverse,
        Function::Sqrt => Operation::SquareRoot,
        Function::Rsq => Operation::InverseRoot,
        _ => return None,
    })
}

/// The sources of a comparison whose result goes nowhere or to dwords as it is: four bytes of ones or zeros.
fn stored(d: &Decoded) -> Option<usize> {
    let nowhere = matches!(d.dst.kind, DstKind::Null);
    (!d.saturate && (nowhere || d.dst.num.size() == 4)).then_some(2)
}

/// Whether the elements that move as they are have four bytes.
fn four_bytes(d: &Decoded, sources: usize) -> bool {
    d.dst.num.size() == 4 && d.src.iter().take(sources).all(|s| s.num.size() == 4)
}

fn by_result(d: &Decoded, operation: Operation) -> Option<ByResult> {
    if matches!(
        operation,
        Operation::CompareDwords { .. } | Operation::CompareFloats(_)
    ) {
        return Some(ByResult::No);
    }
    match d.cond {
        CondMod::None => Some(ByResult::No),
        CondMod::Z => Some(ByResult::Zero),
        CondMod::Nz => Some(ByResult::NotZero),
        _ => None,
    }
}

fn condition(c: CondMod) -> Option<Condition> {
    Some(match c {
        CondMod::Z => Condition::Equal,
        CondMod::Nz => Condition::NotEqual,
        CondMod::G => Condition::Greater,
        CondMod::Ge => Condition::GreaterOrEqual,
        CondMod::L => Condition::Less,
        CondMod::Le => Condition::LessOrEqual,
        CondMod::U => Condition::Unordered,
        CondMod::None | CondMod::R | CondMod::O => return None,
    })
}

fn operand(s: &Src) -> Option<Operand> {
    let place = match s.kind {
        SrcKind::Vec(first) => Place::Vector(first),
        SrcKind::Scalar(dword) => Place::Scalar(dword),
        SrcKind::Imm(values) => Place::Constant(values),
        // What `pln` has there is resolved by the caller.
        SrcKind::Table(_) if s.num == Num::F => Place::Nowhere,
        SrcKind::Null
        | SrcKind::Table(_)
        | SrcKind::Arf(..)
        | SrcKind::Acc(_)
        | SrcKind::Indirect(_) => return None,
    };
    Some(Operand {
        place,
        negate: s.negate,
        absolute: s.abs,
    })
}

fn third(d: &Decoded) -> Option<Operand> {
    let More::Third(third) = &d.more else {
        return None;
    };
    let straight = third.scalar || third.swizzle == [0, 1, 2, 3];
    let lanes = if d.exec > 8 { 16 } else { 8 };
    let inside = usize::from(third.first) + lanes <= GRF_COUNT * DWORDS;
    let place = if third.scalar {
        Place::Scalar(third.first)
    } else {
        Place::Vector(third.first)
    };
    (straight && inside).then_some(Operand {
        place,
        negate: third.negate,
        absolute: third.abs,
    })
}

/// The dwords that a source takes up for the channels from `channel` on, eight of them.
pub(crate) fn reads(step: &Step, source: usize, channel: usize) -> Option<std::ops::Range<usize>> {
    let plane = step.operation == Operation::Plane;
    // PANIC: there are three.
    match step.sources[source].place {
        Place::Vector(first) if plane => {
            let first = usize::from(first) + 2 * channel;
            Some(first..first + 16)
        }
        Place::Vector(first) => {
            let first = usize::from(first) + channel;
            Some(first..first + 8)
        }
        Place::Scalar(dword) => {
            let dword = usize::from(dword);
            Some(dword..dword + if plane { 4 } else { 1 })
        }
        Place::Nowhere | Place::Constant(_) => None,
    }
}

impl Step {
    /// Whether every place lies in the registers, and every source that is used is somewhere.
    #[must_use]
    pub fn is_inside(&self) -> bool {
        let step = self;
        let last = if step.wide { 8 } else { 0 };
        let sources = (0..3).filter_map(|source| reads(step, source, last));
        let written = step.destination.map(|first| usize::from(first) + last + 8);
        let place = |n: usize| step.sources[n].place != Place::Nowhere;
        let used = match step.operation {
            Operation::MultiplyAdd => place(0) && place(1) && place(2),
            Operation::Copy
            | Operation::Not
            | Operation::ToFloat { .. }
            | Operation::Move
            | Operation::Floor
            | Operation::NearestWhole
            | Operation::Truncate
            | Operation::Fraction
            | Operation::Inverse
            | Operation::SquareRoot
            | Operation::InverseRoot => place(0),
            Operation::Plane => matches!(step.sources[0].place, Place::Scalar(_)) && place(1),
            Operation::Leave => true,
            _ => place(0) && place(1),
        };
        used && sources
            .map(|r| r.end)
            .chain(written)
            .all(|end| end <= DWORDS_TOTAL)
    }
}

/// Whether the second eight channels read what the first eight write: all sources are read before.
fn hazard(step: &Step) -> bool {
    let Some(first) = step.destination.map(usize::from).filter(|_| step.wide) else {
        return false;
    };
    let written = first..first + 8;
    let overlaps = |r: std::ops::Range<usize>| r.start < written.end && written.start < r.end;
    (0..3).any(|source| reads(step, source, 8).is_some_and(overlaps))
}
