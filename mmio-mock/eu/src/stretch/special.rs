//! Steps that are more than an operation and operands: words, flags, products.

use super::places::word_window;
use super::resolve::{accumulator, destination, operand};
use super::{Operand, Operation, Part, Place, Step};
use crate::decoded::{Decoded, DstKind, Num, Src, SrcKind};
use crate::exec;
use crate::r#gen::Rules;
use isa::Opcode;
use isa::inst::CondMod;

/// Moves of flags, and sums of words.
pub(super) fn special(d: &Decoded, mut step: Step, rules: Rules) -> Option<Step> {
    let whole = d.cond == CondMod::None && !d.saturate;
    let one = d.exec == 1 && d.lanes == 1 && step.predicate.is_none();
    let flag = |nr: u8, at: u16| {
        let second = rules.flag_registers > 1 && nr & 1 != 0;
        // CAST: 0 or 1.
        let sub = (nr >> 4 == 3 && matches!(at, 0 | 2)).then_some((at / 2) as u8)?;
        Some(if second { sub + 2 } else { sub })
    };
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
        Opcode::Add if whole && strided_words(d).is_some() => {
            let (first, high) = strided_words(d)?;
            step.operation = Operation::AddPart { high };
            (step.destination, step.second) = (Some(first), first.saturating_add(8));
            step.sources[0] = words(&d.src[0], d.exec)?;
            step.sources[1] = words(&d.src[1], d.exec)?;
            step.sources[2].place = Place::Vector(first);
            step.accumulator = accumulator(d, &step)?;
            Some(step)
        }
        Opcode::Add if whole && d.exec == 16 => {
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

/// The first dword of a destination of words that are one in each dword, and whether they are the upper ones.
fn strided_words(d: &Decoded) -> Option<(u16, bool)> {
    let DstKind::Table(at) = &d.dst.kind else {
        return None;
    };
    let words = matches!(d.dst.num, Num::Uw | Num::W) && d.exec > 1;
    let first = in_each_dword(at, d.exec).filter(|_| words)?;
    Some((first / 4, first % 4 == 2))
}

/// The first byte of elements that are at the same place of contiguous dwords.
fn in_each_dword(at: &[u16; 16], exec: u8) -> Option<u16> {
    let lanes = at.iter().take(usize::from(exec));
    let first = at[0];
    let follows = |(lane, byte): (u16, &u16)| *byte == first.saturating_add(4 * lane);
    (0..).zip(lanes).all(follows).then_some(first)
}

/// The product of dwords that is left in the accumulator, and the upper half of a whole one.
pub(super) fn product(d: &Decoded, mut step: Step) -> Option<Step> {
    let dword = |s: &Src| matches!(s.num, Num::D | Num::Ud) && exec::plain(s);
    let [a, b] = &d.src;
    let alike = dword(a) && dword(b) && a.num == b.num && matches!(d.dst.num, Num::D | Num::Ud);
    let plain = d.cond == CondMod::None && !d.saturate && !d.acc_word && matches!(d.exec, 8 | 16);
    if !alike || !plain {
        return None;
    }
    let signed = a.num == Num::D;
    match (d.op, &d.dst.kind) {
        (Opcode::Mul, DstKind::Acc(lanes, exec)) => {
            // What is written is no matter of masks.
            let first = lanes[0];
            let follows = |(n, lane): (u8, &u8)| *lane == first + n;
            let used = lanes.iter().take(usize::from(*exec));
            let own = !d.acc_write || d.acc_dead || d.acc_lane & 8 == first;
            if !(matches!(first, 0 | 8) && *exec == d.exec && own && (0..).zip(used).all(follows)) {
                return None;
            }
            step.operation = Operation::AccumulateProduct { signed };
            step.accumulator = Some(first);
        }
        (Opcode::Mach, _) => {
            let lane = d.acc_lane & 8;
            step.operation = Operation::MultiplyHigh { lane, signed };
            step.accumulator = accumulator(d, &step)?;
            if let Some([first, second]) = destination(d)? {
                (step.destination, step.second) = (Some(first), second);
            }
        }
        _ => return None,
    }
    for (to, from) in step.sources.iter_mut().zip(&d.src).take(2) {
        *to = operand(from, d.exec, false)?;
    }
    Some(step)
}

/// A source of words or bytes, or a constant of them as dwords.
pub(super) fn words(s: &Src, exec: u8) -> Option<Operand> {
    let signed = match s.num {
        Num::W | Num::B => true,
        Num::Uw | Num::Ub => false,
        _ => return None,
    };
    let place = match &s.kind {
        SrcKind::Table(at) => {
            let all = all_lanes(at, exec);
            let near = all.chunks_exact(8).all(|half| word_window(half).is_some());
            if s.num.size() == 2 && near {
                Place::Words { at: all, signed }
            } else {
                let first = in_each_dword(at, exec)?;
                Place::Part(Part {
                    first: first / 4,
                    // CAST: at most 24.
                    shift: 8 * (first % 4) as u8,
                    bits: 8 * s.num.size(),
                    signed,
                })
            }
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
pub(super) fn all_lanes(table: &[u16; 16], exec: u8) -> [u16; 16] {
    let first = table[0];
    let mut at = *table;
    for at in at.iter_mut().skip(usize::from(exec)) {
        *at = first;
    }
    at
}
