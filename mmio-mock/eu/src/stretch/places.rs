//! Where a step reads and writes: inside of the registers, and nothing twice.

use super::{Operand, Operation, Place, Step};
use crate::grf::{BYTES, DWORDS, TOTAL};

/// Dwords of the registers.
const DWORDS_TOTAL: usize = TOTAL * DWORDS;

/// Dwords that are permuted in one piece at most.
const WINDOW: u16 = 8;

/// Whether the dwords of each eight channels lie within eight.
pub(super) fn near(at: &[u16; 16]) -> bool {
    at.chunks_exact(8).all(|half| {
        let (low, high) = (half.iter().min(), half.iter().max());
        low.zip(high).is_some_and(|(low, high)| high - low < WINDOW)
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
        Place::Part(part) => {
            let first = usize::from(part.first) + channel;
            Some(first..first + 8)
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
            Place::Part(part) => {
                matches!(part.bits, 8 | 16) && part.shift % 8 == 0 && part.shift + part.bits <= 32
            }
            _ => true,
        };
        let place = |n: usize| step.sources[n].place != Place::Nowhere;
        let scalar = matches!(step.sources[0].place, Place::Scalar(_));
        let word = |n: usize| {
            matches!(
                step.sources[n].place,
                Place::Words { .. } | Place::Part(_) | Place::Constant(_)
            )
        };
        let flag_word = matches!(
            step.sources[0].place,
            Place::Words { .. } | Place::Constant(_)
        );
        let used = match step.operation {
            Operation::MultiplyAdd | Operation::Interpolate => place(0) && place(1) && place(2),
            Operation::Copy
            | Operation::Not
            | Operation::ToFloat { .. }
            | Operation::ToDword { .. }
            | Operation::Magnitude
            | Operation::Move
            | Operation::Floor
            | Operation::FloorAndRest { .. }
            | Operation::NearestWhole
            | Operation::Truncate
            | Operation::Fraction
            | Operation::Inverse
            | Operation::SquareRoot
            | Operation::InverseRoot => place(0),
            Operation::Bits(bits) => (0..bits.sources()).all(place),
            Operation::Extended(f) => place(0) && (f.operands() == 1 || place(1)),
            Operation::Plane => scalar && matches!(step.sources[1].place, Place::Vector(_)),
            Operation::Line => scalar && place(1),
            Operation::AddWords => step.wide && word(0) && word(1) && step.destination.is_some(),
            Operation::AddPart { .. } => {
                word(0) && word(1) && matches!(step.sources[2].place, Place::Vector(_))
            }
            Operation::AccumulateProduct { .. } => {
                place(0) && place(1) && step.accumulator.is_some() && step.destination.is_none()
            }
            Operation::MultiplyHigh { lane, .. } => {
                place(0) && place(1) && (lane == 0 || lane == 8 && !step.wide)
            }
            Operation::SetFlag => flag_word,
            Operation::GetFlag => step.destination.is_some(),
            Operation::Leave => true,
            _ => place(0) && place(1),
        };
        let lanes = step
            .accumulator
            .is_none_or(|lane| lane == 0 || lane == 8 && !step.wide);
        // Four channels do not reach the next eight.
        let nibble = step.shift % 8 == 0
            || step.shift % 8 == 4 && !step.wide && step.lanes <= 0xf && step.accumulator.is_none();
        used && lanes
            && nibble
            && step.sources.iter().all(even)
            && sources
                .chain(written)
                .chain(second)
                .all(|end| end <= DWORDS_TOTAL)
    }

    /// Which eights of the accumulator's lanes hold floats behind the step, one bit each, where those of `known` do before it, and four
    /// bits up which hold products of integers; `None` when it reads others.
    pub(crate) fn known_lanes(&self, known: u8) -> Option<u8> {
        let both = if self.wide { 3 } else { 1 };
        let eights = |lane: u8| both << (lane >> 3 & 1);
        let needs = match self.operation {
            Operation::Accumulate(lane) => eights(lane),
            Operation::MultiplyHigh { lane, .. } => eights(lane) << 4,
            _ => 0,
        };
        if known & needs != needs {
            return None;
        }
        let Some(lane) = self.accumulator else {
            return Some(known);
        };
        Some(match self.operation {
            Operation::AccumulateProduct { .. } | Operation::MultiplyHigh { .. } => {
                eights(lane) << 4
            }
            operation if operation.is_integer() => 0,
            _ => known & !(eights(lane) << 4) | eights(lane),
        })
    }
}

/// Whether the second eight channels read what the first eight write: all sources are read before.
pub(super) fn hazard(step: &Step) -> bool {
    let Some(first) = step.destination.map(usize::from).filter(|_| step.wide) else {
        return false;
    };
    let written = first..first + 8;
    let overlaps = |r: std::ops::Range<usize>| r.start < written.end && written.start < r.end;
    (0..3).any(|source| reads(step, source, 8).is_some_and(overlaps))
}
