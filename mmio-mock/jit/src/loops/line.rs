//! A step with its operands at hand: which channels it has, and where results go.

use super::operand::{self, Flat, Operands};
use crate::clean::Clean;
use crate::eight::Eight;
use eu::stretch::{ByResult, Channels, Operation, Predicate, Step};

/// A step.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) operation: Operation,
    pub(super) wide: bool,
    pub(super) truncate: bool,
    pub(super) operands: Operands,
    /// The channels that it has, at their places in masks and flags.
    lanes: u32,
    /// Mask bit of its first channel.
    pub(super) shift: u32,
    /// Channels execute that are masked off, too.
    unmasked: bool,
    predicate: Option<Predicate>,
    pub(super) flag: usize,
    pub(super) by_result: ByResult,
    pub(super) saturate: bool,
    pub(super) destination: Option<u16>,
    /// That of the second eight channels.
    second: u16,
    pub(super) accumulator: Option<u8>,
    /// Of a sum of dwords: whether the sources have signs.
    pub(super) signed: [bool; 2],
}

impl Line {
    /// A step, of which is known what dwords have no denormals in front of it.
    pub(super) fn of(step: &Step, clean: &Clean) -> Line {
        Line {
            operation: step.operation,
            wide: step.wide,
            truncate: step.truncate,
            operands: Operands::of(step, clean),
            lanes: u32::from(step.lanes) << step.shift,
            shift: u32::from(step.shift),
            unmasked: step.unmasked,
            predicate: step.predicate,
            flag: usize::from(step.flag & 3),
            by_result: step.by_result,
            saturate: step.saturate,
            destination: step.destination,
            second: step.second,
            accumulator: step.accumulator,
            signed: step.signed,
        }
    }

    /// The channels whose predicate is set.
    #[inline(always)]
    pub(super) fn chosen(&self, channels: &Channels<'_>) -> u32 {
        let Some(predicate) = self.predicate else {
            return u32::MAX;
        };
        let flags = predicate.of(channels.flags[usize::from(predicate.flag & 3)]);
        u32::from(flags) << (self.shift & 16)
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
    pub(super) fn written(&self, channels: &Channels<'_>) -> u32 {
        let executing = self.executing(channels);
        // There the predicate chooses and enables no channel.
        if self.operation.chooses() {
            executing
        } else {
            executing & self.chosen(channels)
        }
    }

    /// Whether a channel leaves, or none executes.
    #[inline(always)]
    pub(super) fn is_left(&self, channels: &Channels<'_>) -> bool {
        let executing = self.executing(channels);
        executing == 0 || executing & self.chosen(channels) != 0
    }

    /// Writes eight channels of a result where a mask has them.
    #[inline(always)]
    pub(super) fn store<E: Eight>(
        &self,
        host: E,
        (half, written): (u16, u32),
        result: E::I,
        registers: &mut Flat,
    ) {
        let Some(first) = self.destination else {
            return;
        };
        let first = if half == 0 { first } else { self.second };
        let Some(to) = operand::dwords_mut(registers, first) else {
            return;
        };
        let written = written >> self.shift >> (8 * half) & 0xff;
        if written == 0xff {
            host.store(result, to);
        } else {
            let old = host.load(to);
            host.store(host.select(host.chosen(written), result, old), to);
        }
    }

    /// Writes a result where a mask has its channels.
    #[inline(always)]
    pub(super) fn store_both<E: Eight>(
        &self,
        host: E,
        written: u32,
        [first, second]: [E::I; 2],
        registers: &mut Flat,
    ) {
        if self.wide {
            self.store(host, (1, written), second, registers);
        }
        self.store(host, (0, written), first, registers);
    }

    /// Sets the flags of the channels that are written by bits, one for each channel of the step.
    #[inline(always)]
    pub(super) fn set_flags(&self, bits: u32, channels: &mut Channels<'_>) {
        let to = (self.executing(channels) & self.chosen(channels)) >> (self.shift & 16);
        let flag = &mut channels.flags[self.flag];
        let old = u32::from(*flag);
        // CAST: sixteen bits.
        *flag = (old & !to | bits << (self.shift & 15) & to) as u16;
    }
}
