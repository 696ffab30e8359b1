//! The filters of sample_8x8: eight taps across and down, and two.
//!
//! intel-vaapi-driver 2.4 i965_vpp_avs.c has the tables: phase n of 17 is n / 32 of a sample to the right (`avs_gen_coeffs_linear`), taps in
//! S1.6, the fourth that of the sample itself; those beyond one half are the same ones from the other side. Green is filtered by the first
//! tables and the others by the second, which have four taps. Where the adaptive filter is bypassed, a fixed level blends a smooth filter
//! with the sharp one in each direction (Intel media-driver, `bBypassXAdaptiveFilter`): 0 the smooth, 255 the sharp
//! (i965_post_processing.c, `default_sharpness_level`). That phases are the nearest ones is what the driver's correction of coordinates
//! rests on ("Gen7 AVS WA": places up to 5/256 below a sample are avoided, where the nearest phase is one past the last).

use eu::Grf;
use mem::Fault;

/// Phases of a table, from a whole sample to one half.
pub const PHASES: usize = 17;
/// Taps of a phase.
pub const TAPS: usize = 8;
/// Pixels of a block, across and down.
pub(super) const COLUMNS: usize = 16;
pub(super) const ROWS: usize = 4;

/// Steps of a phase in one sample.
const STEPS: i32 = 32;
/// One as taps have it.
const ONE: i32 = 64;
/// The sharp filter alone.
const SHARP: i32 = 255;
/// Samples to the left of the one that a place is at or behind.
const LEFT: i32 = 3;
/// Rows that four rows of pixels may look at.
const LINES: usize = ROWS * TAPS;

/// Taps of one phase, S1.6.
pub type Phase = [i8; TAPS];

/// What a sampler of sample_8x8 does.
#[derive(Clone, Debug)]
pub struct Scaler {
    /// Filters of green, then of the others; each across, then down.
    pub tables: [[[Phase; PHASES]; 2]; 2],
    /// How much of the sharp filter there is: 0 to 255.
    pub sharpness: u8,
    /// What state asks for that the model does not have.
    pub missing: Option<&'static str>,
}

/// What a pixel is made of in one direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taps {
    /// The first sample.
    first: i32,
    /// Weights in parts of `ONE * SHARP`.
    weights: [i32; TAPS],
}

/// Samples by column and row, of which any may be asked for.
pub(super) trait Texels {
    fn get(&mut self, x: i32, y: i32) -> Result<u8, Fault>;
}

impl Scaler {
    /// Of green or of the others, across (0) or down (1): what is at a place, in samples from the first one.
    pub(super) fn taps(&self, luma: bool, direction: usize, place: f64) -> Taps {
        // CAST: the caller bounds places.
        let steps = (place * f64::from(STEPS) + 0.5).floor() as i32;
        let (whole, phase) = (steps.div_euclid(STEPS), steps.rem_euclid(STEPS));
        let behind = phase > STEPS / 2;
        let near = if behind { STEPS - phase } else { phase };
        // PANIC: two tables of two directions; half the steps at most.
        let sharp = &self.tables[usize::from(!luma)][direction & 1][near as usize];
        let level = i32::from(self.sharpness);
        let weights = std::array::from_fn(|n| {
            // PANIC: taps from either end.
            let sharp = i32::from(sharp[if behind { TAPS - 1 - n } else { n }]);
            // CAST: eight taps.
            let smooth = match n as i32 - LEFT {
                0 => (STEPS - phase) * (ONE / STEPS),
                1 => phase * (ONE / STEPS),
                _ => 0,
            };
            smooth * (SHARP - level) + sharp * level
        });
        Taps {
            first: whole - LEFT,
            weights,
        }
    }
}

/// Samples of a row under the columns of a block, in parts of `ONE * SHARP`.
fn line(
    texels: &mut impl Texels,
    columns: &[Taps; COLUMNS],
    y: i32,
) -> Result<[i32; COLUMNS], Fault> {
    let mut line = [0; COLUMNS];
    for (sum, taps) in line.iter_mut().zip(columns) {
        for (x, weight) in (taps.first..).zip(taps.weights) {
            if weight != 0 {
                *sum += weight * i32::from(texels.get(x, y)?);
            }
        }
    }
    Ok(line)
}

/// A sum as 8.8, rounded to the nearest; what lies beyond is the nearest there is.
fn rounded(sum: i64) -> u16 {
    const PARTS: i64 = ((ONE * SHARP) as i64).pow(2);
    let value = (sum * 256 + PARTS / 2).div_euclid(PARTS);
    // CAST: sixteen bits.
    value.clamp(0, 0xffff) as u16
}

/// A channel of a block: rows of words.
pub(super) fn filter(
    texels: &mut impl Texels,
    columns: &[Taps; COLUMNS],
    rows: &[Taps; ROWS],
    answer: &mut [Grf],
) -> Result<(), Fault> {
    // Rows of pixels share rows of samples.
    let mut lines = [(0, [0; COLUMNS]); LINES];
    let mut known = 0;
    for (taps, answer) in rows.iter().zip(answer) {
        let mut sums = [0i64; COLUMNS];
        for (y, weight) in (taps.first..).zip(taps.weights) {
            if weight == 0 {
                continue;
            }
            // PANIC: as many as all rows have taps.
            let found = lines[..known].iter().position(|(at, _)| *at == y);
            let at = if let Some(at) = found {
                at
            } else {
                lines[known] = (y, line(texels, columns, y)?);
                known += 1;
                known - 1
            };
            for (sum, value) in sums.iter_mut().zip(lines[at].1) {
                *sum += i64::from(weight) * i64::from(value);
            }
        }
        for (dword, pair) in answer.iter_mut().zip(sums.as_chunks::<2>().0) {
            let [low, high] = pair.map(|sum| u32::from(rounded(sum)));
            *dword = low | high << 16;
        }
    }
    Ok(())
}
