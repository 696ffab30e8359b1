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
    let written = line.written(channels) >> line.shift;
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
    half: u16,
    [a, b]: [[u32; 8]; 2],
    channels: &mut Channels<'_>,
) {
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
    let sums = std::array::from_fn(|i| whole(0, a[i]) + whole(1, b[i]));
    keep(line, half, sums, channels);
}

/// The sums of words of a step for channels in dwords, where the accumulator keeps them: those of the channels from 8 on sixteen lanes
/// behind.
pub(super) fn keep_sums_of_words<E: Eight>(
    host: E,
    line: &Line,
    registers: &Flat,
    channels: &mut Channels<'_>,
) {
    let Some(lane) = line.accumulator else {
        return;
    };
    for half in 0..if line.wide { 2 } else { 1 } {
        let signed = |n: usize| {
            let values = whole(host, line, (n, half), true, registers);
            values.map(|value| {
                if line.operands.negative[n] {
                    -value
                } else {
                    value
                }
            })
        };
        let (a, b) = (signed(0), signed(1));
        let at = usize::from(lane & 8) + 16 * usize::from(half);
        for i in 0..8 {
            // CAST: with its sign.
            channels.accumulator.lanes[(at + i) & 31] = (a[i] + b[i]) as u64;
        }
        channels.accumulator.float[(at / 8) & 3] = false;
    }
}

/// The whole products of a step, where the accumulator keeps them.
pub(super) fn keep_products<E: Eight>(
    host: E,
    line: &Line,
    registers: &Flat,
    channels: &mut Channels<'_>,
) {
    if line.accumulator.is_none() {
        return;
    }
    for half in 0..if line.wide { 2 } else { 1 } {
        let [a, b] = [0, 1].map(|n| whole(host, line, (n, half), line.signed[n], registers));
        let products = std::array::from_fn(|i| a[i].wrapping_mul(b[i]));
        keep(line, half, products, channels);
    }
}

/// What `mul` takes of a dword: its low word, or the whole of a negative number that a signed word holds.
fn low(value: i64) -> i64 {
    if (-0x8000..0).contains(&value) {
        value
    } else {
        value & 0xffff
    }
}

/// Eight dwords of a source, with their sign.
#[inline(always)]
fn whole<E: Eight>(
    host: E,
    line: &Line,
    (source, half): (usize, u16),
    signed: bool,
    registers: &Flat,
) -> [i64; 8] {
    let dwords = host.array(line.operands.dwords(host, source, half, registers));
    dwords.map(|dword| {
        if signed {
            // CAST: with its sign.
            i64::from(dword as i32)
        } else {
            dword.into()
        }
    })
}

/// Products of low words and dwords, in the accumulator.
pub(super) fn accumulate_products<E: Eight>(
    host: E,
    line: &Line,
    signed: bool,
    registers: &Flat,
    channels: &mut Channels<'_>,
) {
    for half in 0..if line.wide { 2 } else { 1 } {
        let [a, b] = [0, 1].map(|n| whole(host, line, (n, half), signed, registers));
        let products = std::array::from_fn(|i| low(a[i]).wrapping_mul(b[i]));
        keep(line, half, products, channels);
    }
}

/// The upper halves of whole products, with the accumulator's part of them.
pub(super) fn multiply_high<E: Eight>(
    host: E,
    line: &Line,
    (lane, signed): (u8, bool),
    registers: &mut Flat,
    channels: &mut Channels<'_>,
) {
    let written = line.written(channels);
    let mut results = [[0; 8]; 2];
    for (half, result) in (0..if line.wide { 2 } else { 1 }).zip(&mut results) {
        let [a, b] = [0, 1].map(|n| whole(host, line, (n, half), signed, registers));
        let at = usize::from(lane & 8) + 8 * usize::from(half);
        let mut sums = [0i64; 8];
        for i in 0..8 {
            // CAST: the lane as an integer.
            let before = channels.accumulator.lanes[(at + i) & 31] as i64;
            sums[i] = before.wrapping_add((a[i] - low(a[i])).wrapping_mul(b[i]));
            // CAST: the upper half.
            result[i] = (sums[i] >> 32) as u32;
        }
        keep(line, half, sums, channels);
    }
    let [first, second] = &results;
    let results = [host.load(first), host.load(second)];
    line.store_both(host, written, results, registers);
}

/// Puts integers into the accumulator, where the step does.
fn keep(line: &Line, half: u16, integers: [i64; 8], channels: &mut Channels<'_>) {
    let Some(lane) = line.accumulator else {
        return;
    };
    let at = usize::from(lane & 8) + 8 * usize::from(half);
    for (i, integer) in integers.into_iter().enumerate() {
        if let Some(to) = channels.accumulator.lanes.get_mut(at + i) {
            // CAST: with its sign.
            *to = integer as u64;
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
