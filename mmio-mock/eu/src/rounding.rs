//! Rounding of float results where CR0 chooses the mode.
//!
//! PRM: Sandy Bridge volume 4 part 2, control register and rounding of floats; bits 5:4 as in Mesa 22.3.6
//! `brw_eu_defines.h` (`BRW_CR0_RND_MODE_MASK`). Single floats that are denormal become zero in every mode.

use crate::operand::may_be_nan;

/// Where a result goes that lies between two floats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// To the nearest, of two equally near to the even one.
    #[default]
    Nearest,
    /// Toward +infinity.
    Up,
    /// Toward -infinity.
    Down,
    /// Toward zero.
    Zero,
}

impl Rounding {
    /// The mode that CR0 asks for.
    pub(crate) const fn of(cr0: u32) -> Rounding {
        match cr0 >> 4 & 3 {
            0 => Rounding::Nearest,
            1 => Rounding::Up,
            2 => Rounding::Down,
            _ => Rounding::Zero,
        }
    }

    /// A result as single float bits.
    pub(crate) fn narrow(self, x: f64) -> u32 {
        let near = x as f32;
        let up = f64::from(near) < x;
        let down = f64::from(near) > x;
        let rounded = match self {
            Rounding::Up if up => near.next_up(),
            Rounding::Down if down => near.next_down(),
            Rounding::Zero if up && x < 0.0 => near.next_up(),
            Rounding::Zero if down && x > 0.0 => near.next_down(),
            _ => near,
        };
        flush(rounded.to_bits())
    }
}

/// Denormals become zeros of their sign.
#[inline(always)]
pub(crate) fn flush(bits: u32) -> u32 {
    let tiny = 0u32.wrapping_sub(u32::from(bits & 0x7f80_0000 == 0)) & 0x7fff_ffff;
    bits & !tiny
}

/// All lanes to the nearest; `None` when one may be NaN.
#[inline(always)]
pub(crate) fn nearest_all<const N: usize>(r: &[f64; N]) -> Option<[u32; N]> {
    let mut raw = [0; N];
    for i in 0..N {
        raw[i] = (r[i] as f32).to_bits();
    }
    for v in &mut raw {
        *v = flush(*v);
    }
    (!may_be_nan(r)).then_some(raw)
}

/// The sum of two floats, or of a product and a float, such that rounding it again gives what rounding the exact sum
/// once gives: of the two doubles beside an inexact sum, the odd one (S. Boldo, G. Melquiond, "Emulation of a FMA").
#[inline(always)]
pub(crate) fn sum_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // What the sum lacks (Knuth's two-sum); NaN when the sum is not finite.
    let part = sum - a;
    let lacks = (a - (sum - part)) + (b - part);
    let bits = sum.to_bits();
    let inexact = lacks != 0.0 && sum.is_finite() && bits & 1 == 0;
    // Away from zero is one more.
    let step = if (lacks > 0.0) == (sum > 0.0) {
        1
    } else {
        u64::MAX
    };
    f64::from_bits(if inexact {
        bits.wrapping_add(step)
    } else {
        bits
    })
}

/// The sum of two floats, such that cutting digits off gives what cutting them off the exact sum gives: of the two doubles beside an
/// inexact sum, the one toward zero.
#[inline(always)]
#[must_use]
pub fn sum_toward_zero(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // Knuth's two-sum, as above. What is lacking is no smaller than a denormal single: its product with the sum is no zero.
    let part = sum - a;
    let lacks = (a - (sum - part)) + (b - part);
    f64::from_bits(sum.to_bits() - u64::from(lacks * sum < 0.0))
}

/// An integer as a float, odd in its last place if it was inexact.
pub(crate) fn int_to_odd(v: i64) -> f64 {
    let magnitude = v.unsigned_abs();
    let drop = 64u32
        .saturating_sub(magnitude.leading_zeros())
        .saturating_sub(53);
    let mut kept = magnitude >> drop;
    if kept << drop != magnitude {
        kept |= 1;
    }
    let f = (kept << drop) as f64;
    if v < 0 { -f } else { f }
}

impl Rounding {
    /// A double, of which it is known what the exact number has beyond it, in this mode.
    fn settle(self, near: f64, lacks: f64) -> f64 {
        match self {
            Rounding::Up if lacks > 0.0 => near.next_up(),
            Rounding::Down if lacks < 0.0 => near.next_down(),
            Rounding::Zero if near > 0.0 && lacks < 0.0 => near.next_down(),
            Rounding::Zero if near < 0.0 && lacks > 0.0 => near.next_up(),
            _ => near,
        }
    }

    /// What an infinite result of finite numbers has beyond it.
    fn overflows(near: f64, operands: &[f64]) -> Option<f64> {
        let made = near.is_infinite() && operands.iter().all(|v| v.is_finite());
        made.then(|| -near.signum())
    }

    /// The sum of two doubles.
    pub(crate) fn sum(self, a: f64, b: f64) -> f64 {
        let near = a + b;
        if self == Rounding::Nearest {
            return near;
        }
        if near == 0.0 && a == -b && a != 0.0 {
            // Two that cancel have the sign of the mode (IEEE 754, 6.3).
            return if self == Rounding::Down { -0.0 } else { 0.0 };
        }
        let lacks = Rounding::overflows(near, &[a, b]).unwrap_or_else(|| two_sum(a, b).1);
        self.settle(near, lacks)
    }

    /// The product of two doubles.
    pub(crate) fn product(self, a: f64, b: f64) -> f64 {
        let near = a * b;
        if self == Rounding::Nearest {
            return near;
        }
        let lacks = Rounding::overflows(near, &[a, b]).unwrap_or_else(|| {
            // Below this what is lacking may be smaller than any number: larger ones lack as much in proportion.
            const SMALL: f64 = f64::from_bits(100 << 52);
            const LARGE: f64 = f64::from_bits((1023 + 600) << 52);
            let (low, high) = if a.abs() < b.abs() { (a, b) } else { (b, a) };
            if near.abs() < SMALL {
                (low * LARGE).mul_add(high, -(near * LARGE))
            } else {
                low.mul_add(high, -near)
            }
        });
        self.settle(near, lacks)
    }

    /// The product of two doubles and the sum with a third, rounded once.
    pub(crate) fn product_and_sum(self, a: f64, b: f64, c: f64) -> f64 {
        let near = a.mul_add(b, c);
        if self == Rounding::Nearest || !near.is_finite() {
            let over = Rounding::overflows(near, &[a, b, c]);
            return over.map_or(near, |lacks| self.settle(near, lacks));
        }
        // The product in two numbers, their sum with the third in three.
        let product = a * b;
        let rest = a.mul_add(b, -product);
        let (sum, second) = two_sum(product, c);
        let (small, last) = two_sum(second, rest);
        let (lacks, more) = two_sum(sum - near, small);
        let lacks = if lacks == 0.0 { more + last } else { lacks };
        self.settle(near, lacks)
    }
}

/// A sum, and what it lacks (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

#[cfg(test)]
mod tests;
