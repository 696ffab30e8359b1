//! Words: sums of pixel positions, flags as words, and integers in the accumulator.

use super::line::Line;
use super::operand::{self, Flat};
use crate::eight::Eight;
use eu::stretch::Channels;

/// Channels.
const N: usize = 16;

/// Sums of words, sixteen of them in eight dwords.
pub(super) fn add<E: Eight>(
    host: E,
    line: &Line,
    registers: &mut Flat,
    channels: &mut Channels<'_>,
) {
    let mut sums = [0i32; N];
    for source in 0..2 {
        let negative = line.operands.negative[source];
        for (half, sums) in (0..).zip(sums.chunks_exact_mut(8)) {
            let values = host.array(line.operands.dwords(host, source, half, registers));
            for (sum, value) in sums.iter_mut().zip(values) {
                // CAST: words as dwords with their sign.
                let value = value as i32;
                *sum += if negative { -value } else { value };
            }
        }
    }
    if let Some(lane) = line.accumulator {
        let at = usize::from(lane & 8);
        for (i, sum) in sums.iter().enumerate() {
            let place = at + i + (i & 8);
            if let Some(to) = channels.accumulator.lanes.get_mut(place) {
                // CAST: with its sign.
                *to = i64::from(*sum) as u64;
            }
        }
        channels.accumulator.float[at / 8] = false;
        channels.accumulator.float[(at / 8 + 2) & 3] = false;
    }
    let written = line.written(channels);
    let Some(to) = line.destination else {
        return;
    };
    let Some(to) = operand::dwords_mut(registers, to) else {
        return;
    };
    for (i, to) in to.iter_mut().enumerate() {
        let keep = |channel: usize| 0xffff * (!written >> channel & 1);
        let keep = keep(2 * i) | keep(2 * i + 1) << 16;
        // CAST: the low words.
        let pair = sums[2 * i] as u32 & 0xffff | (sums[2 * i + 1] as u32) << 16;
        *to = *to & keep | pair & !keep;
    }
}

/// The whole sums of dwords of eight channels, in the lanes from one on.
pub(super) fn accumulate_sums(
    line: &Line,
    lane: u8,
    half: u16,
    [a, b]: [[u32; 8]; 2],
    channels: &mut Channels<'_>,
) {
    let at = usize::from(lane & 8) + 8 * usize::from(half);
    let whole = |source: usize, value: u32| {
        let value = if line.signed[source] {
            // CAST: with its sign.
            i64::from(value as i32)
        } else {
            i64::from(value)
        };
        if line.operands.negative[source] {
            -value
        } else {
            value
        }
    };
    for i in 0..8 {
        if let Some(to) = channels.accumulator.lanes.get_mut(at + i) {
            *to = (whole(0, a[i]) + whole(1, b[i])) as u64;
        }
    }
    channels.accumulator.float[(at / 8) & 3] = false;
}

/// A word becomes a flag register.
pub(super) fn set_flag<E: Eight>(
    host: E,
    line: &Line,
    registers: &mut Flat,
    channels: &mut Channels<'_>,
) {
    if line.written(channels) == 0 {
        return;
    }
    let [word, ..] = host.array(line.operands.dwords(host, 0, 0, registers));
    // CAST: the word.
    channels.flags[line.flag] = word as u16;
}

/// A flag register becomes a word.
pub(super) fn get_flag(line: &Line, registers: &mut Flat, channels: &Channels<'_>) {
    if let Some(word) = line.destination
        && line.written(channels) != 0
        && let Some(to) = registers.get_mut(usize::from(word) / 2)
    {
        let shift = 16 * (u32::from(word) & 1);
        *to = *to & !(0xffff << shift) | u32::from(channels.flags[line.flag]) << shift;
    }
}
