//! Where the points of one edge, or of one direction of the inside, lie.
//!
//! Microsoft's tessellator.cpp, `ComputeTessFactorContext`, `NumPointsForTessFactor`, `PlacePointIn1D`: half an edge has points
//! where the segments of the next smaller and of the next larger factor would have them, mixed by the fraction of the factor.

use crate::{MAXIMUM, ONE};

/// One half.
pub const HALF: u32 = ONE / 2;
const FRACTION: u32 = ONE - 1;

/// 1/n, rounded to the nearest of 16 fractional bits.
const fn reciprocal(n: u32) -> u32 {
    (ONE + n / 2) / n
}

/// The points from one end to the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Axis {
    /// An odd number of segments; the points of the two halves are then all of them, and else there is one in the middle.
    pub odd: bool,
    /// Points of a half.
    pub half: u32,
    /// The factor in 16 fractional bits.
    pub factor: u32,
    /// Behind this point of the half the mix is with the point before: a new one comes in there.
    split: u32,
    /// Lengths of a segment for the next smaller and next larger number of them.
    segments: [u32; 2],
    /// The share of the larger one.
    share: u32,
}

impl Axis {
    /// Of a factor from 1 to 64, an integer where the parity is that of an integer. An inside of one even segment is one of two.
    pub fn new(factor: f32, odd: bool) -> Self {
        // CAST: at most 64, in 16 fractional bits.
        let factor = (f64::from(factor) * f64::from(ONE)).round_ties_even() as u32;
        let factor = factor.clamp(ONE, MAXIMUM * ONE);
        let mut half = factor.div_ceil(2);
        if odd || half == HALF {
            half += HALF;
        }
        let floor = half / ONE;
        let ceil = half.div_ceil(ONE);
        let less = u32::from(odd);
        Axis {
            odd,
            half: ceil,
            factor,
            split: if ceil == floor {
                ceil + 1
            } else {
                split(floor - less)
            },
            segments: [floor, ceil].map(|n| reciprocal(2 * n - less)),
            share: half & FRACTION,
        }
    }

    /// Points, both ends included.
    pub fn points(&self) -> u32 {
        2 * self.half + u32::from(!self.odd)
    }

    /// The place of a point, counted from the end at 0.
    pub fn place(&self, point: u32) -> u32 {
        let (point, turned) = if point >= self.half {
            (2 * self.half - point - u32::from(self.odd), true)
        } else {
            (point, false)
        };
        if point == self.half {
            return HALF;
        }
        let smaller = point - u32::from(point > self.split);
        let [floor, ceil] = self.segments;
        let mix = smaller * floor * (ONE - self.share) + point * ceil * self.share;
        // At most a half, rounded.
        let place = (mix + HALF) / ONE;
        if turned { ONE - place } else { place }
    }
}

/// Which point of a half comes in when `floor` segments of it, at least one, become one more: the places behind all that a
/// power of two has, in their order. None of them lies before the first.
fn split(floor: u32) -> u32 {
    match floor.checked_ilog2() {
        None => 0,
        Some(log) => 2 * (floor - (1 << log)) + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::reciprocal;

    /// The reference's table of reciprocals in part.
    #[test]
    fn reciprocals_are_rounded() {
        let known = [
            (1, 0x10000),
            (3, 0x5555),
            (6, 0x2aab),
            (13, 0x13b1),
            (22, 0xba3),
            (40, 0x666),
            (49, 0x539),
            (63, 0x410),
            (64, 0x400),
        ];
        for (n, value) in known {
            assert_eq!(reciprocal(n), value, "1/{n}");
        }
    }
}
