//! From a lowered instruction to a step of a stretch.
//!
//! Conditions are those under which the interpreter takes the handler that does what the step says. An instruction that
//! meets none is not taken on, and the interpreter runs it.

use super::places::{hazard, near};
use super::special::{all_lanes, product, special, words};
use super::{Bits, ByResult, Condition, Dot, Operand, Operation, Place, Predicate, Step};
use crate::decoded::{Decoded, DstKind, More, Num, Src, SrcKind};
use crate::exec;
use crate::r#gen::Rules;
use crate::grf::{DWORDS, GRF_COUNT};
use crate::math::Function;
use isa::Opcode;
use isa::inst::{CondMod, PredCtrl};

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
        && (matches!(d.shift, 0 | 16)
            || matches!(d.shift, 8 | 24) && !wide
            || d.shift % 8 == 4 && d.exec <= 4)
        && !(d.no_mask && d.no_cmask);
    if !known {
        return None;
    }
    let replicated = match d.pred {
        PredCtrl::None | PredCtrl::Normal => None,
        PredCtrl::ReplX => Some(0),
        PredCtrl::ReplY => Some(1),
        PredCtrl::ReplZ => Some(2),
        PredCtrl::ReplW => Some(3),
        _ => return None,
    };
    let predicate = (d.pred != PredCtrl::None).then_some(Predicate {
        flag: d.flag & 3,
        inverted: d.pred_inv,
        replicated,
    });
    let mut step = Step {
        operation: Operation::Copy,
        wide,
        lanes: d.lanes,
        shift: d.shift,
        unmasked: d.no_mask,
        predicate,
        flag: d.flag & 3,
        by_result: ByResult::No,
        saturate: d.saturate,
        truncate: !d.dst.round,
        destination: None,
        second: 0,
        accumulator: None,
        signed: [false; 2],
        sources: [NOWHERE; 3],
    };
    if let Some(step) = special(d, step, rules).or_else(|| product(d, step)) {
        let whole = step.operation == Operation::AddWords || !hazard(&step);
        return (step.is_inside() && knows_lanes(&step) && whole).then_some(step);
    }
    if let Some([first, second]) = destination(d)? {
        (step.destination, step.second) = (Some(first), second);
    }
    let (operation, count) = operation(d, rules)?;
    if operation == Operation::Leave && (predicate.is_none() || d.no_mask || d.lanes == 0) {
        return None;
    }
    step.operation = operation;
    step.by_result = by_result(d, operation)?;
    step.accumulator = accumulator(d, &step)?;
    let signs = matches!(operation, Operation::AddDwords | Operation::MultiplyDwords);
    if signs && step.accumulator.is_some() {
        step.signed = [0, 1].map(|source| d.src[source].num.range().0 < 0);
    }
    if operation == Operation::MultiplyDwords && step.accumulator.is_some() {
        // Unsigned dwords times signed words are neither a signed nor an unsigned product.
        let unsigned = d.src.iter().take(2).any(|s| s.num == Num::Ud);
        if unsigned && step.signed != [false; 2] {
            return None;
        }
        step.signed = [!unsigned; 2];
    }
    for (to, from) in step.sources.iter_mut().zip(&d.src).take(count.min(2)) {
        *to = operand(from, d.exec, operation == Operation::Plane)?;
    }
    if d.op == Opcode::Mov && operation == Operation::AddDwords {
        // A number less than nothing.
        step.sources[1].place = Place::Constant([0; 8]);
    }
    if operation == Operation::Plane {
        step.sources[1].place = Place::Vector(exec::planar(d, wide)?);
    }
    if count == 3 {
        step.sources[2] = third(d)?;
    }
    if operation.chooses() && step.predicate.is_none() {
        return None;
    }
    (step.is_inside() && knows_lanes(&step) && !hazard(&step)).then_some(step)
}

/// Channels from 16 on have no lanes of the accumulator, and those of the second half of a quarter none that are known here.
fn knows_lanes(step: &Step) -> bool {
    let reads = matches!(
        step.operation,
        Operation::Accumulate(_) | Operation::MultiplyHigh { .. }
    );
    let own = step.shift < 16 && step.shift % 8 == 0;
    own || step.accumulator.is_none() && !reads
}

/// The first dword of each eight channels of the result; `Some(None)` when it goes nowhere.
#[expect(
    clippy::option_option,
    reason = "whether it is known, and whether there is one"
)]
pub(super) fn destination(d: &Decoded) -> Option<Option<[u16; 2]>> {
    match &d.dst.kind {
        DstKind::Vec(first) => Some(Some([*first, first.saturating_add(8)])),
        DstKind::Null => Some(None),
        DstKind::Table(at) if d.dst.num.size() == 4 => {
            let lanes = usize::from(d.exec).min(16);
            let follows = |(lane, byte): (usize, &u16)| {
                let first = usize::from(at[lane & 8]);
                first % 4 == 0 && usize::from(*byte) == first + 4 * (lane & 7)
            };
            let whole = at.iter().take(lanes).enumerate().all(follows);
            let second = if lanes > 8 { at[8] } else { 0 };
            whole.then_some(Some([at[0] / 4, second / 4]))
        }
        DstKind::Table(_) | DstKind::Arf(..) | DstKind::Acc(..) | DstKind::Indirect(_) => None,
    }
}

/// Whether and where the accumulator is updated by more than what is overwritten unread.
#[expect(
    clippy::option_option,
    reason = "whether it is taken on, and whether there is one"
)]
pub(super) fn accumulator(d: &Decoded, step: &Step) -> Option<Option<u8>> {
    if !d.acc_write || d.acc_dead {
        return Some(None);
    }
    let known = match step.operation {
        Operation::Add
        | Operation::Multiply
        | Operation::Line
        | Operation::Accumulate(_)
        | Operation::Plane
        | Operation::Dot(_) => step.truncate,
        Operation::AddDwords | Operation::MultiplyDwords | Operation::MultiplyHigh { .. } => {
            !d.acc_word
        }
        Operation::AddWords | Operation::AddPart { .. } => true,
        _ => false,
    };
    (known && matches!(d.exec, 8 | 16)).then_some(Some(d.acc_lane & 8))
}

/// What an instruction computes, and of how many sources.
fn operation(d: &Decoded, rules: Rules) -> Option<(Operation, usize)> {
    let [a, b] = &d.src;
    let float = |s: &Src| s.fast_float;
    let floats = d.dst.num == Num::F && float(a);
    let word = |s: &Src| {
        let small = matches!(s.num, Num::Uw | Num::W | Num::Ub | Num::B);
        !s.abs && small && matches!(s.kind, SrcKind::Table(_))
    };
    let dword = |s: &Src| matches!(s.num, Num::D | Num::Ud);
    let constant = |s: &Src| matches!((s.num, &s.kind), (Num::Uw | Num::W, SrcKind::Imm(_)));
    let whole = |s: &Src| dword(s) && exec::plain(s);
    let into_dwords = into_dwords(d);
    // Words become floats beside a float.
    let mixed = d.dst.num == Num::F
        && (float(a) || word(a))
        && (float(b) || word(b))
        && (float(a) || float(b));
    let dwords = exec::dword::applies(d);
    // What sets flags or saturates beside its result is left to the interpreter, but for dwords.
    let plain = d.cond == CondMod::None;
    Some(match d.op {
        Opcode::Mov if exec::copy::applies(d) => (four_bytes(d, 1).then_some(Operation::Copy)?, 1),
        Opcode::Mov if exec::copy::applies_to_float(d) => {
            let signed = a.num == Num::D;
            (Operation::ToFloat { signed }, 1)
        }
        Opcode::Mov if plain && dword(a) && into_floats(d) && a.negate && !a.abs => {
            let signed = a.num == Num::D;
            (Operation::ToFloat { signed }, 1)
        }
        Opcode::Mov if plain && floats => (Operation::Move, 1),
        Opcode::Mov if plain && into_dwords && float(a) => {
            let signed = d.dst.num == Num::D;
            (Operation::ToDword { signed }, 1)
        }
        Opcode::Mov if into_dwords && word(a) && !a.negate => (Operation::Copy, 1),
        Opcode::Mov if into_dwords && dword(a) && a.negate && !a.abs => (Operation::AddDwords, 1),
        Opcode::Mov if into_dwords && a.num == Num::D && a.abs && !a.negate => {
            (Operation::Magnitude, 1)
        }
        Opcode::Mov if plain && d.dst.num == Num::F && word(a) => (Operation::Move, 1),
        Opcode::Sel if d.compare != CondMod::None => {
            if into_dwords && exec::plain(a) && exec::plain(b) && dword(a) && a.num == b.num {
                let condition = condition(d.compare).filter(|c| *c != Condition::Unordered)?;
                let signed = a.num == Num::D;
                return Some((Operation::SelectDwords { condition, signed }, 2));
            }
            let both = floats && float(b) && plain;
            let condition = both.then(|| condition(d.compare)).flatten()?;
            (Operation::SelectFloat(condition), 2)
        }
        Opcode::Sel if exec::copy::applies_sel(d) => {
            (four_bytes(d, 2).then_some(Operation::Select)?, 2)
        }
        Opcode::Sel if plain && floats && float(b) => (Operation::SelectFloats, 2),
        Opcode::Cmpn if float(a) && float(b) => (
            Operation::CompareFloatsOrNan(condition(d.cond)?),
            stored(d)?,
        ),
        Opcode::Cmp if float(a) && float(b) => {
            (Operation::CompareFloats(condition(d.cond)?), stored(d)?)
        }
        Opcode::Cmp if exec::dword::applies_cmp(d) => {
            let condition = condition(d.cond).filter(|c| *c != Condition::Unordered)?;
            let signed = a.num == Num::D;
            (Operation::CompareDwords { condition, signed }, stored(d)?)
        }
        Opcode::Add if plain && mixed => (Operation::Add, 2),
        Opcode::Mul if plain && mixed => (Operation::Multiply, 2),
        // Of two dwords the low word of one is taken.
        Opcode::Mul
            if into_dwords
                && (word(a) && (dword(b) || word(b) || constant(b))
                    || dword(a) && (word(b) || constant(b))) =>
        {
            let modified = [a, b].iter().any(|s| s.negate || s.abs);
            ((!modified).then_some(Operation::MultiplyDwords)?, 2)
        }
        Opcode::Mac if plain && floats && float(b) && !rules.rounds => {
            (Operation::Accumulate(d.acc_lane & 8), 2)
        }
        Opcode::Line if plain && floats && float(b) && exec::line_applies(a) => {
            (Operation::Line, 2)
        }
        Opcode::Dp2 | Opcode::Dp3 | Opcode::Dp4 | Opcode::Dph
            if plain && floats && float(b) && d.exec >= 4 =>
        {
            (Operation::Dot(dot(d.op)), 2)
        }
        Opcode::Lrp if plain && floats && float(b) && rules.rounds => (Operation::Interpolate, 3),
        Opcode::Mad if plain && floats && float(b) => (Operation::MultiplyAdd, 3),
        Opcode::Pln if plain && floats => (Operation::Plane, 2),
        Opcode::Rndd if plain && floats => (Operation::Floor, 1),
        Opcode::Rnde | Opcode::Rndz
            if floats && !rules.whole_rounds && matches!(d.cond, CondMod::None | CondMod::R) =>
        {
            let even = d.op == Opcode::Rnde;
            let rest = Operation::FloorAndRest { even };
            (if plain { Operation::Floor } else { rest }, 1)
        }
        Opcode::Rnde if plain && floats && rules.whole_rounds => (Operation::NearestWhole, 1),
        Opcode::Rndz if plain && floats && rules.whole_rounds => (Operation::Truncate, 1),
        Opcode::Frc if plain && floats && rules.whole_rounds => (Operation::Fraction, 1),
        Opcode::Math if plain && floats => math(d.function, float(b))?,
        Opcode::Math if plain && whole(a) && whole(b) && into_dwords => {
            let signed = a.num == Num::D;
            let remainder = match d.function? {
                Function::IntDivQuotient => false,
                Function::IntDivRemainder => true,
                _ => return None,
            };
            (Operation::Divide { remainder, signed }, 2)
        }
        Opcode::Bfrev
        | Opcode::Cbit
        | Opcode::Fbl
        | Opcode::Fbh
        | Opcode::Bfi1
        | Opcode::Bfi2
        | Opcode::Bfe
            if plain && into_dwords =>
        {
            let bits = bits(d.op, a.num == Num::D);
            let sources = bits.sources();
            let known = d.src.iter().take(sources).all(whole);
            (known.then_some(Operation::Bits(bits))?, sources)
        }
        Opcode::Not if dwords => (Operation::Not, 1),
        Opcode::And if dwords => (Operation::And, 2),
        Opcode::Or if dwords => (Operation::Or, 2),
        Opcode::Xor if dwords => (Operation::Xor, 2),
        Opcode::Shl if dwords => (Operation::ShiftLeft, 2),
        Opcode::Asr if dwords && a.num == Num::D => (Operation::ShiftSigned, 2),
        Opcode::Shr | Opcode::Asr if dwords => (Operation::ShiftRight, 2),
        Opcode::Add if dwords => (Operation::AddDwords, 2),
        Opcode::Break | Opcode::Cont | Opcode::Halt if d.compare == CondMod::None => {
            (Operation::Leave, 0)
        }
        _ => return None,
    })
}

/// Whether the results are dwords of registers, as they are.
fn into_dwords(d: &Decoded) -> bool {
    matches!(d.dst.num, Num::D | Num::Ud) && !matches!(d.dst.kind, DstKind::Acc(..)) && !d.saturate
}

/// Whether the results are floats of registers, as they are.
fn into_floats(d: &Decoded) -> bool {
    d.dst.num == Num::F && matches!(d.dst.kind, DstKind::Vec(_)) && !d.saturate && !d.acc_write
}

fn bits(op: Opcode, signed: bool) -> Bits {
    match op {
        Opcode::Bfrev => Bits::Reverse,
        Opcode::Cbit => Bits::Count,
        Opcode::Fbl => Bits::Lowest,
        Opcode::Fbh => Bits::Highest { signed },
        Opcode::Bfi1 => Bits::Ones,
        Opcode::Bfi2 => Bits::Insert,
        _ => Bits::Extract { signed },
    }
}

fn dot(op: Opcode) -> Dot {
    match op {
        Opcode::Dp2 => Dot::Two,
        Opcode::Dp3 => Dot::Three,
        Opcode::Dph => Dot::Homogeneous,
        _ => Dot::Four,
    }
}

/// The functions that a host has in vectors, and the others of floats; with how many sources.
fn math(function: Option<Function>, second: bool) -> Option<(Operation, usize)> {
    Some(match function? {
        Function::Inv => (Operation::Inverse, 1),
        Function::Sqrt => (Operation::SquareRoot, 1),
        Function::Rsq => (Operation::InverseRoot, 1),
        f if f.is_integer() => return None,
        f if f.operands() == 1 => (Operation::Extended(f), 1),
        f if second => (Operation::Extended(f), 2),
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
    if operation.sets_flags() {
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

/// `elsewhere`: a table is resolved by the caller.
pub(super) fn operand(s: &Src, exec: u8, elsewhere: bool) -> Option<Operand> {
    let place = match &s.kind {
        SrcKind::Vec(first) => Place::Vector(*first),
        SrcKind::Scalar(dword) => Place::Scalar(*dword),
        // CAST: words as dwords.
        SrcKind::Imm(values) => Place::Constant(values.map(|v| s.num.extend(v) as u32)),
        SrcKind::Table(_) if elsewhere => Place::Nowhere,
        SrcKind::Table(table) if s.num.size() == 4 => {
            let at = all_lanes(table, exec).map(|byte| byte / 4);
            near(&at).then_some(Place::Gather(at))?
        }
        SrcKind::Table(_) => return words(s, exec),
        SrcKind::Null | SrcKind::Arf(..) | SrcKind::Acc(_) | SrcKind::Indirect(_) => return None,
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
    let straight = third.swizzle == [0, 1, 2, 3];
    let lanes = if d.exec > 8 { 16 } else { 8 };
    let inside = usize::from(third.first) + lanes <= GRF_COUNT * DWORDS;
    let place = if third.scalar {
        Place::Scalar(third.first)
    } else if straight {
        Place::Vector(third.first)
    } else {
        // CAST: sixteen channels.
        let from = |lane: usize| (lane & !3) as u16 + u16::from(third.swizzle[lane & 3] & 3);
        Place::Gather(std::array::from_fn(|lane| {
            third.first.saturating_add(from(lane % lanes))
        }))
    };
    inside.then_some(Operand {
        place,
        negate: third.negate,
        absolute: third.abs,
    })
}
