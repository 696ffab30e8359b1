//! Words: sums of pixel positions, flags as words, and integers in the accumulator.

use super::Line;
use super::operand::{self, Flat};
use crate::stretch::Channels;

/// Channels.
const N: usize = 16;

/// Sums of words, sixteen of them in eight dwords.
pub(super) fn add(line: &Line, registers: &mut Flat, channels: &mut Channels<'_>) {
    let mut sums = [0i32; N];
    for source in 0..2 {
        let values = line.operands.dwords::<N>(source, registers);
        let negative = line.operands.negative[source];
        for i in 0..N {
            // CAST: words as dwords with their sign.
            let value = values[i] as i32;
            sums[i] += if negative { -value } else { value };
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
    let Some(to) = operand::dwords_mut::<8>(registers, to) else {
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

/// The whole sums of dwords, in the lanes from one on.
pub(super) fn accumulate_sums<const CHANNELS: usize>(
    line: &Line,
    lane: u8,
    (a, b): (&[u32; CHANNELS], &[u32; CHANNELS]),
    channels: &mut Channels<'_>,
) {
    let at = usize::from(lane & 8);
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
    for i in 0..CHANNELS {
        if let Some(to) = channels.accumulator.lanes.get_mut(at + i) {
            *to = (whole(0, a[i]) + whole(1, b[i])) as u64;
        }
    }
    for half in 0..CHANNELS / 8 {
        channels.accumulator.float[(at / 8 + half) & 3] = false;
    }
}

/// A word becomes a flag register.
pub(super) fn set_flag(line: &Line, registers: &mut Flat, channels: &mut Channels<'_>) {
    if line.written(channels) == 0 {
        return;
    }
    let [word, ..] = line.operands.dwords::<8>(0, registers);
    // CAST: the word.
    channels.flags[line.flag] = word as u16;
}

/// A flag register becomes a word.
pub(super) fn get_flag(line: &Line, registers: &mut Flat, channels: &Channels<'_>) {
    if let Some(word) = line.destination
        && line.written(channels) != 0
    {
        let flags = channels.flags[line.flag];
        crate::grf::set_elem(registers, word.saturating_mul(2), 2, flags.into());
    }
}
