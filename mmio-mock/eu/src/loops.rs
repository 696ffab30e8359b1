//! Stretches as loops over channels: for every host, in safe code.
//!
//! The operands of a step are at known places and there is nothing to decode any more, so that a step is a loop over its channels, of
//! which the compiler of Rust makes vectors.

mod compute;
mod doubles;
mod operand;
mod words;

use crate::stretch::{ByResult, Channels, Operation, Predicate, Registers, Step};
use operand::{Flat, Operands, flat};

/// A kernel's stretches.
#[derive(Debug)]
pub struct Kernel(Vec<Vec<Line>>);

impl Kernel {
    /// Whether there are loops for an instruction.
    #[must_use]
    pub fn takes(step: &Step) -> bool {
        !(step.operation.only_rounds() && step.truncate)
            && (step.truncate || step.accumulator.is_none() || step.operation.is_integer())
    }

    /// The loops of stretches; `None` when an instruction reads or writes what is no register.
    #[must_use]
    pub fn new(stretches: &[Vec<Step>]) -> Option<Kernel> {
        let known = |step: &Step| step.is_inside() && Kernel::takes(step);
        if !stretches.iter().flatten().all(known) {
            return None;
        }
        let one = |steps: &Vec<Step>| steps.iter().map(Line::of).collect();
        Some(Kernel(stretches.iter().map(one).collect()))
    }

    /// Runs a stretch, as [`Compiled::run`](crate::stretch::Compiled::run) does. Inlined into its callers, which can be compiled for hosts
    /// with wider vectors.
    #[inline(always)]
    pub fn run(
        &self,
        stretch: usize,
        registers: &mut Registers,
        channels: &mut Channels<'_>,
    ) -> u32 {
        let (Some(lines), Some(flat)) = (self.0.get(stretch), flat(registers)) else {
            return 0;
        };
        let mut leaves = 0;
        for line in lines {
            if line.operation == Operation::Leave {
                leaves += 1;
                if line.is_left(channels) {
                    return leaves;
                }
            } else {
                compute::run(line, flat, channels);
            }
        }
        0
    }
}

/// Sixteen channels.
const ALL: u32 = 0xffff;

/// A step with its operands at hand.
#[derive(Debug)]
struct Line {
    operation: Operation,
    wide: bool,
    truncate: bool,
    operands: Operands,
    /// The channels that it has, at their places in masks and flags.
    lanes: u32,
    /// Mask bit of its first channel.
    shift: u32,
    /// Channels execute that are masked off, too.
    unmasked: bool,
    predicate: Option<Predicate>,
    flag: usize,
    by_result: ByResult,
    saturate: bool,
    destination: Option<u16>,
    /// That of the second eight channels, where it does not follow.
    second: Option<u16>,
    accumulator: Option<u8>,
    /// Of a sum of dwords: whether the sources have signs.
    signed: [bool; 2],
}

impl Line {
    fn of(step: &Step) -> Line {
        Line {
            operation: step.operation,
            wide: step.wide,
            truncate: step.truncate,
            operands: Operands::of(step),
            lanes: u32::from(step.lanes) << step.shift & ALL,
            shift: u32::from(step.shift),
            unmasked: step.unmasked,
            predicate: step.predicate,
            flag: usize::from(step.flag & 1),
            by_result: step.by_result,
            saturate: step.saturate,
            destination: step.destination,
            second: step
                .destination
                .filter(|first| step.wide && first + 8 != step.second)
                .map(|_| step.second),
            accumulator: step.accumulator,
            signed: step.signed,
        }
    }

    /// The channels whose predicate is set.
    #[inline(always)]
    fn chosen(&self, channels: &Channels<'_>) -> u32 {
        let Some(predicate) = self.predicate else {
            return ALL;
        };
        u32::from(predicate.of(channels.flags[usize::from(predicate.flag & 1)]))
    }

    /// The channels that execute.
    #[inline(always)]
    fn executing(&self, channels: &Channels<'_>) -> u32 {
        let masked = if self.unmasked {
            u32::MAX
        } else {
            channels.enabled
        };
        masked & self.lanes
    }

    /// The channels that are written.
    #[inline(always)]
    fn written(&self, channels: &Channels<'_>) -> u32 {
        let executing = self.executing(channels);
        // There the predicate chooses and enables no channel.
        if self.operation == Operation::Select {
            executing
        } else {
            executing & self.chosen(channels)
        }
    }

    /// Whether a channel leaves, or none executes.
    #[inline(always)]
    fn is_left(&self, channels: &Channels<'_>) -> bool {
        let executing = self.executing(channels);
        executing == 0 || executing & self.chosen(channels) != 0
    }

    /// Writes a result to the channels of a mask.
    #[inline(always)]
    fn store<const N: usize>(&self, written: u32, result: &[u32; N], registers: &mut Flat) {
        let Some(first) = self.destination else {
            return;
        };
        if let Some(second) = self.second {
            self.store_apart(written, result, [first, second], registers);
            return;
        }
        let Some(to) = operand::dwords_mut::<N>(registers, first) else {
            return;
        };
        let written = written >> self.shift;
        if written & ALL >> (16 - N) == ALL >> (16 - N) {
            *to = *result;
            return;
        }
        let chosen = operand::lanes::<N>(written);
        for i in 0..N {
            to[i] = to[i] & !chosen[i] | result[i] & chosen[i];
        }
    }

    /// The same where the second eight channels go elsewhere.
    fn store_apart(&self, written: u32, result: &[u32], to: [u16; 2], registers: &mut Flat) {
        for (half, (first, result)) in (0..).zip(to.into_iter().zip(result.chunks_exact(8))) {
            let chosen = operand::lanes::<8>(written >> self.shift >> (8 * half));
            if let Some(to) = operand::dwords_mut::<8>(registers, first) {
                for i in 0..8 {
                    to[i] = to[i] & !chosen[i] | result[i] & chosen[i];
                }
            }
        }
    }

    /// Sets the flags of the channels that are written by bits, one for each channel of the step.
    #[inline(always)]
    fn set_flags(&self, bits: u32, channels: &mut Channels<'_>) {
        let to = self.executing(channels) & self.chosen(channels);
        let flag = &mut channels.flags[self.flag];
        let old = u32::from(*flag);
        // CAST: sixteen bits.
        *flag = (old & !to | bits << self.shift & to) as u16;
    }
}
