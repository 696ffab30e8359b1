//! From a lowered instruction to a step of a stretch.
//!
//! Conditions are those under which the interpreter takes the handler that does what the step says. An instruction that
//! meets none is not taken on, and the interpreter runs it.

use super::{ByResult, Condition, Dot, Operand, Operation, Place, Predicate, Step};
use crate::decoded::{Decoded, DstKind, More, Num, Src, SrcKind};
use crate::exec;
use crate::r#gen::Rules;
use crate::grf::{BYTES, DWORDS, GRF_COUNT, TOTAL};
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
        flag: d.flag & 1,
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
        flag: d.flag & 1,
        by_result: ByResult::No,
        saturate: d.saturate,
        truncate: !d.dst.round,
        destination: None,
        second: 0,
        accumulator: None,
        signed: [false; 2],
        sources: [NOWHERE; 3],
    };
    if let Some(step) = special(d, step) {
        return step.is_inside().then_some(step);
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
    if operation == Operation::AddDwords && step.accumulator.is_some() {
        step.signed = [0, 1].map(|source| d.src[source].num == Num::D);
    }
    for (to, from) in step.sources.iter_mut().zip(&d.src).take(count.min(2)) {
        *to = operand(from, d.exec, operation == Operation::Plane)?;
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

/// The first dword of each eight channels of the result; `Some(None)` when it goes nowhere.
#[expect(
    clippy::option_option,
    reason = "whether it is known, and whether there is one"
)]
fn destination(d: &Decoded) -> Option<Option<[u16; 2]>> {
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
fn accumulator(d: &Decoded, step: &Step) -> Option<Option<u8>> {
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
        Operation::AddDwords => !d.acc_word,
        Operation::AddWords => true,
        _ => false,
    };
    (known && matches!(d.exec, 8 | 16)).then_some(Some(d.acc_lane & 8))
}

/// Moves of flags, and sums of words.
fn special(d: &Decoded, mut step: Step) -> Option<Step> {
    let whole = d.cond == CondMod::None && !d.saturate;
    let one = d.exec == 1 && d.lanes == 1 && step.predicate.is_none();
    let flag = |nr: u8, at: u16| (nr >> 4 == 3 && matches!(at, 0 | 2)).then_some((at / 2) as u8);
    match d.op {
        Opcode::Mov if one && exec::copy::applies(d) && d.dst.num.size() == 2 => {
            match (&d.dst.kind, &d.src[0].kind) {
                (DstKind::Arf(nr, to), SrcKind::Table(_) | SrcKind::Imm(_)) => {
                    step.flag = flag(*nr, to[0])?;
                    step.operation = Operation::SetFlag;
                    step.sources[0] = words(&d.src[0], d.exec)?;
                }
                (DstKind::Table(to), SrcKind::Arf(nr, from)) => {
                    step.flag = flag(*nr, from[0])?;
                    step.operation = Operation::GetFlag;
                    step.destination = Some(to[0] / 2);
                }
                _ => return None,
            }
            Some(step)
        }
        Opcode::Add if whole && d.exec == 16 && d.shift == 0 => {
            let fast = exec::word::applies(d) || exec::packed::applies(d);
            let DstKind::Table(to) = &d.dst.kind else {
                return None;
            };
            if !fast || !to[0].is_multiple_of(4) {
                return None;
            }
            step.operation = Operation::AddWords;
            step.destination = Some(to[0] / 4);
            step.sources[0] = words(&d.src[0], d.exec)?;
            step.sources[1] = words(&d.src[1], d.exec)?;
            step.accumulator = accumulator(d, &step)?;
            Some(step)
        }
        _ => None,
    }
}

/// A source of words, or a constant of them as dwords.
fn words(s: &Src, exec: u8) -> Option<Operand> {
    let signed = match s.num {
        Num::W => true,
        Num::Uw => false,
        _ => return None,
    };
    let place = match &s.kind {
        SrcKind::Table(at) => {
            let at = all_lanes(at, exec);
            Place::Words { at, signed }
        }
        // CAST: as a dword.
        SrcKind::Imm(values) => Place::Constant(values.map(|v| s.num.extend(v) as u32)),
        _ => return None,
    };
    (!s.abs).then_some(Operand {
        place,
        negate: s.negate,
        absolute: false,
    })
}

/// The places of an instruction's lanes; others are where the first one is.
fn all_lanes(table: &[u16; 16], exec: u8) -> [u16; 16] {
    let first = table[0];
    let mut at = *table;
    for at in at.iter_mut().skip(usize::from(exec)) {
        *at = first;
    }
    at
}

/// What an instruction computes, and of how many sources.
fn operation(d: &Decoded, rules: Rules) -> Option<(Operation, usize)> {
    let [a, b] = &d.src;
    let float = |s: &Src| s.fast_float;
    let floats = d.dst.num == Num::F && float(a);
    let word = |s: &Src| {
        !s.abs && matches!(s.num, Num::Uw | Num::W) && matches!(s.kind, SrcKind::Table(_))
    };
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
        Opcode::Mov if plain && floats => (Operation::Move, 1),
        Opcode::Mov if plain && !d.saturate && d.dst.num == Num::D && float(a) => {
            (Operation::ToDword, 1)
        }
        Opcode::Mov if plain && d.dst.num == Num::F && word(a) => (Operation::Move, 1),
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
        Opcode::Add if plain && mixed => (Operation::Add, 2),
        Opcode::Mul if plain && mixed => (Operation::Multiply, 2),
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
        Opcode::Rnde if plain && floats && rules.whole_rounds => (Operation::NearestWhole, 1),
        Opcode::Rndz if plain && floats && rules.whole_rounds => (Operation::Truncate, 1),
        Opcode::Frc if plain && floats && rules.whole_rounds => (Operation::Fraction, 1),
        Opcode::Math if plain && floats => math(d.function, float(b))?,
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

/// Dwords that are permuted in one piece at most.
const WINDOW: u16 = 8;

/// Whether the dwords of each eight channels lie within eight.
fn near(at: &[u16; 16]) -> bool {
    at.chunks_exact(8).all(|half| {
        let (low, high) = (half.iter().min(), half.iter().max());
        low.zip(high).is_some_and(|(low, high)| high - low < WINDOW)
    })
}

/// `elsewhere`: a table is resolved by the caller.
fn operand(s: &Src, exec: u8, elsewhere: bool) -> Option<Operand> {
    let place = match &s.kind {
        SrcKind::Vec(first) => Place::Vector(*first),
        SrcKind::Scalar(dword) => Place::Scalar(*dword),
        SrcKind::Imm(values) => Place::Constant(*values),
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

/// The dwords that a source takes up for the channels from `channel` on, eight of them.
pub(crate) fn reads(step: &Step, source: usize, channel: usize) -> Option<std::ops::Range<usize>> {
    let plane = step.operation == Operation::Plane;
    let equation = plane || step.operation == Operation::Line;
    // PANIC: there are three.
    match &step.sources[source].place {
        Place::Vector(first) if plane => {
            let first = usize::from(*first) + 2 * channel;
            Some(first..first + 16)
        }
        Place::Vector(first) => {
            let first = usize::from(*first) + channel;
            Some(first..first + 8)
        }
        Place::Scalar(dword) => {
            let dword = usize::from(*dword);
            Some(dword..dword + if equation { 4 } else { 1 })
        }
        Place::Gather(at) => {
            let half = at.iter().skip(channel).take(8);
            let low = half.clone().min().map_or(0, |at| usize::from(*at));
            let high = half.max().map_or(0, |at| usize::from(*at));
            Some(low..high + 1)
        }
        Place::Words { at, .. } => {
            let half = at.iter().skip(channel).take(8);
            let low = half.clone().min().map_or(0, |at| usize::from(*at));
            let high = half.max().map_or(0, |at| usize::from(*at));
            Some(low / 4..high / 4 + 1)
        }
        Place::Nowhere | Place::Constant(_) => None,
    }
}

/// The first dword that is loaded for eight channels, which lie within eight dwords.
#[must_use]
pub fn window(at: &[u16]) -> u16 {
    let low = at.iter().min().copied().unwrap_or(0);
    low.min((DWORDS_TOTAL - DWORDS) as u16)
}

/// The first byte of the sixteen that are loaded for the words of eight channels; `None` where they do not lie so near.
#[must_use]
pub fn word_window(at: &[u16]) -> Option<u16> {
    let low = at.iter().min().copied().unwrap_or(0) & !1;
    let high = at.iter().max().copied().unwrap_or(0);
    let low = low.min((TOTAL * BYTES - 16) as u16);
    (high - low <= 14).then_some(low)
}

impl Step {
    /// Whether every place lies in the registers, and every source that is used is somewhere.
    #[must_use]
    pub fn is_inside(&self) -> bool {
        let step = self;
        let last = if step.wide { 8 } else { 0 };
        let sources = (0..3).flat_map(|source| [0, last].map(|at| reads(step, source, at)));
        let sources = sources.flatten().map(|r| r.end);
        let written = step.destination.map(|first| match step.operation {
            Operation::GetFlag => usize::from(first) / 2 + 1,
            _ => usize::from(first) + 8,
        });
        let separate = !matches!(step.operation, Operation::GetFlag | Operation::AddWords);
        let second =
            (step.wide && separate && written.is_some()).then_some(usize::from(step.second) + 8);
        let even = |operand: &Operand| match &operand.place {
            Place::Words { at, .. } => {
                let near = at.chunks_exact(8).all(|half| word_window(half).is_some());
                near && at.iter().all(|at| at % 2 == 0)
            }
            Place::Gather(at) => near(at),
            _ => true,
        };
        let place = |n: usize| step.sources[n].place != Place::Nowhere;
        let scalar = matches!(step.sources[0].place, Place::Scalar(_));
        let word = |n: usize| {
            matches!(
                step.sources[n].place,
                Place::Words { .. } | Place::Constant(_)
            )
        };
        let used = match step.operation {
            Operation::MultiplyAdd | Operation::Interpolate => place(0) && place(1) && place(2),
            Operation::Copy
            | Operation::Not
            | Operation::ToFloat { .. }
            | Operation::ToDword
            | Operation::Move
            | Operation::Floor
            | Operation::NearestWhole
            | Operation::Truncate
            | Operation::Fraction
            | Operation::Inverse
            | Operation::SquareRoot
            | Operation::InverseRoot => place(0),
            Operation::Extended(f) => place(0) && (f.operands() == 1 || place(1)),
            Operation::Plane => scalar && matches!(step.sources[1].place, Place::Vector(_)),
            Operation::Line => scalar && place(1),
            Operation::AddWords => step.wide && word(0) && word(1) && step.destination.is_some(),
            Operation::SetFlag => word(0),
            Operation::GetFlag => step.destination.is_some(),
            Operation::Leave => true,
            _ => place(0) && place(1),
        };
        let lanes = step
            .accumulator
            .is_none_or(|lane| lane == 0 || lane == 8 && !step.wide);
        used && lanes
            && step.sources.iter().all(even)
            && sources
                .chain(written)
                .chain(second)
                .all(|end| end <= DWORDS_TOTAL)
    }

    /// Which eights of the accumulator's lanes hold floats behind the step, one bit each, where those of `known` do before it;
    /// `None` when it reads others.
    pub(crate) fn float_lanes(&self, known: u8) -> Option<u8> {
        let both = if self.wide { 3 } else { 1 };
        if let Operation::Accumulate(lane) = self.operation
            && known & both << (lane / 8 & 1) != both << (lane / 8 & 1)
        {
            return None;
        }
        let Some(lane) = self.accumulator else {
            return Some(known);
        };
        Some(match self.operation {
            operation if operation.is_integer() => 0,
            _ => known | both << (lane / 8 & 1),
        })
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
