//! What float operations compute in eight channels.

use super::operand::{SIGN, flushed};
use crate::eight::Eight;
use eu::stretch::{narrow, sum_toward_zero};

/// The NaN that is computed.
const NAN: u32 = 0x7fc0_0000;
/// From here on floats are whole numbers: 2^23.
const WHOLE: f32 = 8_388_608.0;
/// The float below 1.0.
const BELOW_ONE: f32 = 1.0 - f32::EPSILON / 2.0;

/// Results of eight channels.
pub(super) trait Floats {
    /// How many sources there are.
    const SOURCES: usize;
    /// The results have no denormals, and no NaN but the one that is computed, or one that is moved.
    const DONE: bool = false;

    fn of<E: Eight>(host: E, sources: [E::F; 3]) -> E::F;
}

macro_rules! floats {
    ($($name:ident($host:ident, $($source:ident),*): $compute:expr;)*) => {$(
        pub(super) struct $name;

        impl Floats for $name {
            const SOURCES: usize = [$(stringify!($source)),*].len();

            #[inline(always)]
            fn of<E: Eight>($host: E, sources: [E::F; 3]) -> E::F {
                let [$($source,)* ..] = sources;
                $compute
            }
        }
    )*};
}

/// Nothing is computed of what is moved.
pub(super) struct Move;

impl Floats for Move {
    const SOURCES: usize = 1;
    const DONE: bool = true;

    #[inline(always)]
    fn of<E: Eight>(_host: E, [a, ..]: [E::F; 3]) -> E::F {
        a
    }
}

floats! {
    Add(host, a, b): host.add_f(a, b);
    Multiply(host, a, b): host.mul_f(a, b);
    MultiplyAdd(host, a, b, c): host.fused_f(b, c, a);
    Floor(host, a): floor(host, a);
    NearestWhole(host, a): nearest_whole(host, a);
    Truncate(host, a): whole(host, a);
    Fraction(host, a): {
        let rest = host.sub_f(a, floor(host, a));
        let below = host.all_f(BELOW_ONE);
        host.select_f(host.less(below, rest), below, rest)
    };
    Inverse(host, a): host.div_f(host.all_f(1.0), a);
    SquareRoot(host, a): host.root_f(a);
    // CAST: rounded once.
    InverseRoot(host, a): one_by_one(host, [a, a], #[inline(always)] |a, _| (1.0 / f64::from(a).sqrt()) as f32);
}

/// What is computed of the floats of each channel.
#[inline(always)]
fn one_by_one<E: Eight>(host: E, [a, b]: [E::F; 2], of: impl Fn(f32, f32) -> f32) -> E::F {
    let [a, b] = [a, b].map(
        #[inline(always)]
        |of| host.array(host.bits(of)),
    );
    let mut out = [0; 8];
    for i in 0..8 {
        out[i] = of(f32::from_bits(a[i]), f32::from_bits(b[i])).to_bits();
    }
    host.float(host.load(&out))
}

/// Sums, truncated.
pub(super) struct AddTruncated;
/// Products, truncated.
pub(super) struct MultiplyTruncated;

impl Floats for AddTruncated {
    const SOURCES: usize = 2;
    const DONE: bool = true;

    #[inline(always)]
    fn of<E: Eight>(host: E, [a, b, _]: [E::F; 3]) -> E::F {
        let sum = host.add_f(a, b);
        // Below 2^-126 a sum is a denormal, or zero; what one of more than 2^127 lacks may be found by way of what there is not.
        if !is_plain(host, sum, 0x0080_0000, 0x7f00_0000) {
            return one_by_one(
                host,
                [a, b],
                #[inline(always)]
                |a, b| one_nan(narrow(sum_toward_zero(a.into(), b.into()))),
            );
        }
        // Knuth's two-sum.
        let part = host.sub_f(sum, a);
        let of_a = host.sub_f(a, host.sub_f(sum, part));
        let of_b = host.sub_f(b, part);
        toward_zero(host, sum, host.add_f(of_a, of_b))
    }
}

impl Floats for MultiplyTruncated {
    const SOURCES: usize = 2;
    const DONE: bool = true;

    #[inline(always)]
    fn of<E: Eight>(host: E, [a, b, _]: [E::F; 3]) -> E::F {
        let product = host.mul_f(a, b);
        // Below 2^-102 what a product lacks may have more digits than there are.
        if !(E::FUSES && is_plain(host, product, 0x0c80_0000, 0x7f80_0000)) {
            return one_by_one(
                host,
                [a, b],
                #[inline(always)]
                |a, b| one_nan(narrow(f64::from(a) * f64::from(b))),
            );
        }
        let less = host.xor(host.bits(product), host.all(SIGN));
        toward_zero(host, product, host.fused_f(a, b, host.float(less)))
    }
}

/// Whether all magnitudes are zero, or not below the first and below the second of two floats, in their bits.
#[inline(always)]
fn is_plain<E: Eight>(host: E, of: E::F, first: u32, second: u32) -> bool {
    let bits = host.bits(of);
    let twice = host.add(bits, bits);
    // The largest ones come first then, as signed numbers.
    let above = 0u32.wrapping_sub(2 * second);
    let last = 2 * first + above - 1;
    let turned = host.add(twice, host.all(above ^ SIGN));
    let good = host.more(turned, host.all(last ^ SIGN));
    host.mask(good) == 0xff || host.mask(host.or(good, host.equal(twice, host.all(0)))) == 0xff
}

/// Results one less in the last place where what they lack has the other sign.
#[inline(always)]
fn toward_zero<E: Eight>(host: E, result: E::F, lacks: E::F) -> E::F {
    let bits = host.bits(result);
    let sign = host.and(bits, host.all(SIGN));
    let lacks = host.float(host.xor(host.bits(lacks), sign));
    let beyond = host.less(lacks, host.all_f(0.0));
    host.float(host.add(bits, beyond))
}

/// A float's bits; of every NaN those of the one that is computed.
#[inline(always)]
fn one_nan(bits: u32) -> f32 {
    let float = f32::from_bits(bits);
    if float.is_nan() {
        f32::from_bits(NAN)
    } else {
        float
    }
}

/// A magnitude with the sign of another float.
#[inline(always)]
fn signed<E: Eight>(host: E, magnitude: E::F, of: E::F) -> E::F {
    let sign = host.all(SIGN);
    let magnitude = host.and_not(sign, host.bits(magnitude));
    host.float(host.or(magnitude, host.and(host.bits(of), sign)))
}

/// `near` where a float may have places behind the point, else the float.
#[inline(always)]
fn unless_whole<E: Eight>(host: E, near: E::F, a: E::F) -> E::F {
    let magnitude = host.float(host.and_not(host.all(SIGN), host.bits(a)));
    let small = host.less(magnitude, host.all_f(WHOLE));
    host.select_f(small, signed(host, near, a), a)
}

/// The whole number next to it toward zero.
#[inline(always)]
fn whole<E: Eight>(host: E, a: E::F) -> E::F {
    unless_whole(host, host.number(host.whole(a)), a)
}

#[inline(always)]
fn floor<E: Eight>(host: E, a: E::F) -> E::F {
    let whole = whole(host, a);
    let below = host.sub_f(whole, host.all_f(1.0));
    host.select_f(host.less(a, whole), below, whole)
}

/// All bits where the nearest whole number, or that toward zero, is one above the floor.
#[inline(always)]
pub(super) fn is_above_floor<E: Eight>(host: E, even: bool, a: E::F) -> E::I {
    let down = floor(host, a);
    if !even {
        let negative = host.less(a, host.all_f(0.0));
        return host.and_not(host.same(a, down), negative);
    }
    let rest = host.sub_f(a, down);
    let half = host.mul_f(down, host.all_f(0.5));
    let is_even = host.same(half, floor(host, half));
    let tie = host.same(rest, host.all_f(0.5));
    host.or(host.less(host.all_f(0.5), rest), host.and_not(is_even, tie))
}

#[inline(always)]
fn nearest_whole<E: Eight>(host: E, a: E::F) -> E::F {
    let magnitude = host.float(host.and_not(host.all(SIGN), host.bits(a)));
    let shift = host.all_f(WHOLE);
    let near = host.sub_f(host.add_f(magnitude, shift), shift);
    unless_whole(host, near, a)
}

/// What a float result still needs: the one NaN, no denormals, the range from 0 to 1.
#[inline(always)]
pub(super) fn finish<E: Eight>(host: E, saturate: bool, result: E::F) -> E::I {
    if saturate {
        // Of a NaN and a number the second one is the maximum, of two zeros, too.
        let above = host.max_f(result, host.all_f(0.0));
        return flushed(host, host.bits(host.min_f(above, host.all_f(1.0))));
    }
    let number = host.same(result, result);
    let bits = host.select(number, host.bits(result), host.all(NAN));
    flushed(host, bits)
}
