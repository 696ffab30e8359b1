//! What each operation computes, in all channels.

use super::Line;
use super::doubles::doubles;
use super::operand::{Flat, lanes};
use crate::operand::narrow;
use crate::rounding::flush;
use crate::stretch::{ByResult, Channels, Condition, Operation};

/// The NaN that is computed.
const NAN: u32 = 0x7fc0_0000;
/// From here on floats are whole numbers: 2^23.
const WHOLE: f32 = 8_388_608.0;
/// The float below 1.0.
const BELOW_ONE: f32 = 1.0 - f32::EPSILON / 2.0;

/// Does a step. Inlined into what calls it, so that it is compiled for the hosts that the caller is compiled for.
#[inline(always)]
pub(super) fn run(line: &Line, registers: &mut Flat, channels: &mut Channels<'_>) {
    if line.wide {
        run_channels::<16>(line, registers, channels);
    } else {
        run_channels::<8>(line, registers, channels);
    }
}

#[inline(always)]
fn run_channels<const N: usize>(line: &Line, registers: &mut Flat, channels: &mut Channels<'_>) {
    let (l, r, c) = (line, registers, channels);
    match line.operation {
        Operation::Copy => of_dwords::<N, Copy>(l, r, c),
        Operation::Select => select::<N>(l, r, c),
        Operation::Not => of_dwords::<N, Not>(l, r, c),
        Operation::And => of_dwords::<N, And>(l, r, c),
        Operation::Or => of_dwords::<N, Or>(l, r, c),
        Operation::Xor => of_dwords::<N, Xor>(l, r, c),
        Operation::ShiftLeft => of_dwords::<N, ShiftLeft>(l, r, c),
        Operation::ShiftRight => of_dwords::<N, ShiftRight>(l, r, c),
        Operation::ShiftSigned => of_dwords::<N, ShiftSigned>(l, r, c),
        Operation::AddDwords => add_dwords::<N>(l, r, c),
        Operation::CompareDwords { condition, signed } => match condition {
            Condition::Equal => compare_dwords::<N, Equal>(signed, l, r, c),
            Condition::NotEqual => compare_dwords::<N, NotEqual>(signed, l, r, c),
            Condition::Greater => compare_dwords::<N, Greater>(signed, l, r, c),
            Condition::GreaterOrEqual => compare_dwords::<N, GreaterOrEqual>(signed, l, r, c),
            Condition::Less => compare_dwords::<N, Less>(signed, l, r, c),
            Condition::LessOrEqual => compare_dwords::<N, LessOrEqual>(signed, l, r, c),
            Condition::Unordered => compare_dwords::<N, Unordered>(signed, l, r, c),
        },
        Operation::CompareFloats(condition) => match condition {
            Condition::Equal => compare_floats::<N, Equal>(l, r, c),
            Condition::NotEqual => compare_floats::<N, NotEqual>(l, r, c),
            Condition::Greater => compare_floats::<N, Greater>(l, r, c),
            Condition::GreaterOrEqual => compare_floats::<N, GreaterOrEqual>(l, r, c),
            Condition::Less => compare_floats::<N, Less>(l, r, c),
            Condition::LessOrEqual => compare_floats::<N, LessOrEqual>(l, r, c),
            Condition::Unordered => compare_floats::<N, Unordered>(l, r, c),
        },
        Operation::SelectFloat(condition) => match condition {
            Condition::Equal => of_floats::<N, Chosen<Equal>>(l, r, c),
            Condition::NotEqual => of_floats::<N, ChosenUnequal>(l, r, c),
            Condition::Greater => of_floats::<N, Chosen<Greater>>(l, r, c),
            Condition::GreaterOrEqual => of_floats::<N, Chosen<GreaterOrEqual>>(l, r, c),
            Condition::Less => of_floats::<N, Chosen<Less>>(l, r, c),
            Condition::LessOrEqual => of_floats::<N, Chosen<LessOrEqual>>(l, r, c),
            Condition::Unordered => of_floats::<N, Chosen<Unordered>>(l, r, c),
        },
        Operation::ToFloat { signed } => match (signed, line.truncate) {
            (true, false) => of_dwords::<N, FromSigned>(l, r, c),
            (true, true) => of_dwords::<N, FromSignedTruncated>(l, r, c),
            (false, false) => of_dwords::<N, FromUnsigned>(l, r, c),
            (false, true) => of_dwords::<N, FromUnsignedTruncated>(l, r, c),
        },
        Operation::ToDword => to_dwords::<N>(l, r, c),
        Operation::Move => of_floats::<N, Move>(l, r, c),
        Operation::Add | Operation::Multiply if line.accumulator.is_some() => doubles::<N>(l, r, c),
        Operation::Line
        | Operation::Accumulate(_)
        | Operation::Interpolate
        | Operation::Dot(_)
        | Operation::Plane => doubles::<N>(l, r, c),
        Operation::AddWords => super::words::add(l, r, c),
        Operation::SetFlag => super::words::set_flag(l, r, c),
        Operation::GetFlag => super::words::get_flag(l, r, c),
        Operation::Extended(function) => super::doubles::extended::<N>(function, l, r, c),
        Operation::Add if line.truncate => of_floats::<N, AddTruncated>(l, r, c),
        Operation::Add => of_floats::<N, Add>(l, r, c),
        Operation::Multiply if line.truncate => of_floats::<N, MultiplyTruncated>(l, r, c),
        Operation::Multiply => of_floats::<N, Multiply>(l, r, c),
        Operation::MultiplyAdd => of_floats::<N, MultiplyAdd>(l, r, c),
        Operation::Floor => of_floats::<N, Floor>(l, r, c),
        Operation::NearestWhole => of_floats::<N, NearestWhole>(l, r, c),
        Operation::Truncate => of_floats::<N, Truncate>(l, r, c),
        Operation::Fraction => of_floats::<N, Fraction>(l, r, c),
        Operation::Inverse => of_floats::<N, Inverse>(l, r, c),
        Operation::SquareRoot => of_floats::<N, SquareRoot>(l, r, c),
        Operation::InverseRoot => of_floats::<N, InverseRoot>(l, r, c),
        Operation::Leave => {}
    }
}

/// A result in dwords.
trait OfDwords {
    fn one(a: u32, b: u32) -> u32;
}

/// A result in bits of a float, before what [`finish`] does.
trait OfFloats {
    /// How many sources it has.
    const SOURCES: usize;

    fn one(a: f32, b: f32, c: f32) -> u32;
}

macro_rules! dwords {
    ($($name:ident: $compute:expr;)*) => {
        $(
            struct $name;

            impl OfDwords for $name {
                #[inline(always)]
                fn one(a: u32, b: u32) -> u32 {
                    let compute: fn(u32, u32) -> u32 = $compute;
                    compute(a, b)
                }
            }
        )*
    };
}

// CAST: dwords as signed ones and back.
dwords! {
    Copy: |a, _| a;
    Not: |a, _| !a;
    And: |a, b| a & b;
    Or: |a, b| a | b;
    Xor: |a, b| a ^ b;
    ShiftLeft: |a, b| a << (b & 31);
    ShiftRight: |a, b| a >> (b & 31);
    ShiftSigned: |a, b| (a as i32 >> (b & 31)) as u32;
    FromSigned: |a, _| (a as i32 as f32).to_bits();
    FromSignedTruncated: |a, _| narrow(f64::from(a as i32));
    FromUnsigned: |a, _| (a as f32).to_bits();
    FromUnsignedTruncated: |a, _| narrow(f64::from(a));
}

macro_rules! floats {
    ($($name:ident, $sources:literal: $compute:expr;)*) => {
        $(
            struct $name;

            impl OfFloats for $name {
                const SOURCES: usize = $sources;

                #[inline(always)]
                fn one(a: f32, b: f32, c: f32) -> u32 {
                    let compute: fn(f32, f32, f32) -> u32 = $compute;
                    compute(a, b, c)
                }
            }
        )*
    };
}

floats! {
    Move, 1: |a, _, _| a.to_bits();
    Add, 2: |a, b, _| (a + b).to_bits();
    AddTruncated, 2: |a, b, _| narrow(f64::from(a) + f64::from(b));
    Multiply, 2: |a, b, _| (a * b).to_bits();
    MultiplyTruncated, 2: |a, b, _| narrow(f64::from(a) * f64::from(b));
    MultiplyAdd, 3: |a, b, c| b.mul_add(c, a).to_bits();
    Floor, 1: |a, _, _| floor(a).to_bits();
    NearestWhole, 1: |a, _, _| nearest_whole(a).to_bits();
    Truncate, 1: |a, _, _| whole(a).to_bits();
    Fraction, 1: |a, _, _| {
        let rest = a - floor(a);
        if BELOW_ONE < rest { BELOW_ONE } else { rest }.to_bits()
    };
    Inverse, 1: |a, _, _| (1.0 / a).to_bits();
    SquareRoot, 1: |a, _, _| a.sqrt().to_bits();
    // CAST: rounded once.
    InverseRoot, 1: |a, _, _| ((1.0 / f64::from(a).sqrt()) as f32).to_bits();
    ChosenUnequal, 2: |a, b, _| if a != b && !b.is_nan() { a } else { b }.to_bits();
}

/// The whole number next to it toward zero.
#[inline(always)]
fn whole(a: f32) -> f32 {
    // CAST: it has fewer than 24 bits, or another one is taken.
    let whole = (a as i32 as f32).copysign(a);
    if a.abs() < WHOLE { whole } else { a }
}

#[inline(always)]
fn floor(a: f32) -> f32 {
    let whole = whole(a);
    if whole > a { whole - 1.0 } else { whole }
}

#[inline(always)]
fn nearest_whole(a: f32) -> f32 {
    let near = (a.abs() + WHOLE - WHOLE).copysign(a);
    if a.abs() < WHOLE { near } else { a }
}

/// A comparison.
trait Test {
    fn ordered<T: PartialOrd>(a: &T, b: &T) -> bool;
}

macro_rules! tests {
    ($($name:ident: $test:expr;)*) => {
        $(
            struct $name;

            impl Test for $name {
                #[inline(always)]
                fn ordered<T: PartialOrd>(a: &T, b: &T) -> bool {
                    let test: fn(&T, &T) -> bool = $test;
                    test(a, b)
                }
            }
        )*
    };
}

tests! {
    Equal: |a, b| a == b;
    NotEqual: |a, b| a != b;
    Greater: |a, b| a > b;
    GreaterOrEqual: |a, b| a >= b;
    Less: |a, b| a < b;
    LessOrEqual: |a, b| a <= b;
    Unordered: |a, b| a.partial_cmp(b).is_none();
}

/// As `cmpn` compares: with NaN the first source is taken, the second being NaN.
struct Chosen<T>(T);

impl<T: Test> OfFloats for Chosen<T> {
    const SOURCES: usize = 2;

    #[inline(always)]
    fn one(a: f32, b: f32, _: f32) -> u32 {
        let first = T::ordered(&a, &b) || b.is_nan();
        if first { a } else { b }.to_bits()
    }
}

/// What a float result still needs: the one NaN, no denormals, the range from 0 to 1.
#[inline(always)]
pub(super) fn finish<const N: usize>(saturate: bool, raw: &mut [u32; N]) {
    if saturate {
        for raw in raw {
            let float = f32::from_bits(*raw);
            let above = if float > 0.0 { float } else { 0.0 };
            *raw = flush(if above < 1.0 { above } else { 1.0 }.to_bits());
        }
    } else {
        for raw in raw {
            let is_nan = *raw & 0x7fff_ffff > 0x7f80_0000;
            *raw = if is_nan { NAN } else { flush(*raw) };
        }
    }
}

#[inline(always)]
fn of_floats<const N: usize, C: OfFloats>(
    line: &Line,
    registers: &mut Flat,
    channels: &mut Channels<'_>,
) {
    let written = line.written(channels);
    let a = line.operands.floats::<N>(0, registers);
    let (mut b, mut c) = ([0.0; N], [0.0; N]);
    if C::SOURCES > 1 {
        b = line.operands.floats(1, registers);
    }
    if C::SOURCES > 2 {
        c = line.operands.floats(2, registers);
    }
    let mut result = [0; N];
    for i in 0..N {
        result[i] = C::one(a[i], b[i], c[i]);
    }
    finish(line.saturate, &mut result);
    line.store(written, &result, registers);
}

/// Stores dwords, and sets the flags by them.
#[inline(always)]
fn store<const N: usize>(
    line: &Line,
    result: &[u32; N],
    registers: &mut Flat,
    channels: &mut Channels<'_>,
) {
    line.store(line.written(channels), result, registers);
    match line.by_result {
        ByResult::No => {}
        ByResult::Zero => line.set_flags(zeros(result), channels),
        ByResult::NotZero => line.set_flags(!zeros(result), channels),
    }
}

/// A bit for each channel whose dword is zero.
#[inline(always)]
fn zeros<const N: usize>(dwords: &[u32; N]) -> u32 {
    let mut bits = 0;
    for (i, dword) in dwords.iter().enumerate() {
        bits |= u32::from(*dword == 0) << i;
    }
    bits
}

#[inline(always)]
fn of_dwords<const N: usize, C: OfDwords>(
    line: &Line,
    registers: &mut Flat,
    channels: &mut Channels<'_>,
) {
    let a = line.operands.dwords::<N>(0, registers);
    let b = line.operands.dwords::<N>(1, registers);
    let mut result = [0; N];
    for i in 0..N {
        result[i] = C::one(a[i], b[i]);
    }
    store(line, &result, registers, channels);
}

#[inline(always)]
fn to_dwords<const N: usize>(line: &Line, registers: &mut Flat, channels: &mut Channels<'_>) {
    let a = line.operands.floats::<N>(0, registers);
    let mut result = [0; N];
    for i in 0..N {
        // CAST: toward zero, within the range, NaN to 0.
        result[i] = a[i] as i32 as u32;
    }
    store(line, &result, registers, channels);
}

#[inline(always)]
fn add_dwords<const N: usize>(line: &Line, registers: &mut Flat, channels: &mut Channels<'_>) {
    // A two's complement is all bits the other way, and one.
    let flip = line
        .operands
        .negative
        .map(|negative| 0u32.wrapping_sub(u32::from(negative)));
    let more = flip[0].wrapping_add(flip[1]).wrapping_neg();
    let a = line.operands.dwords::<N>(0, registers);
    let b = line.operands.dwords::<N>(1, registers);
    let mut result = [0; N];
    for i in 0..N {
        let sum = (a[i] ^ flip[0]).wrapping_add(b[i] ^ flip[1]);
        result[i] = sum.wrapping_add(more);
    }
    if let Some(lane) = line.accumulator {
        super::words::accumulate_sums(line, lane, (&a, &b), channels);
    }
    store(line, &result, registers, channels);
}

#[inline(always)]
fn select<const N: usize>(line: &Line, registers: &mut Flat, channels: &mut Channels<'_>) {
    let a = line.operands.dwords::<N>(0, registers);
    let b = line.operands.dwords::<N>(1, registers);
    let chosen = lanes::<N>(line.chosen(channels) >> line.shift);
    let mut result = [0; N];
    for i in 0..N {
        result[i] = a[i] & chosen[i] | b[i] & !chosen[i];
    }
    store(line, &result, registers, channels);
}

/// Stores all bits of the channels where a comparison is true, and sets the flags by it.
#[inline(always)]
fn compare<const N: usize>(
    line: &Line,
    registers: &mut Flat,
    channels: &mut Channels<'_>,
    is: impl Fn(usize) -> bool,
) {
    let mut result = [0; N];
    for (i, result) in result.iter_mut().enumerate() {
        *result = 0u32.wrapping_sub(u32::from(is(i)));
    }
    line.store(line.written(channels), &result, registers);
    line.set_flags(!zeros(&result), channels);
}

#[inline(always)]
fn compare_floats<const N: usize, T: Test>(
    line: &Line,
    registers: &mut Flat,
    channels: &mut Channels<'_>,
) {
    let a = line.operands.floats::<N>(0, registers);
    let b = line.operands.floats::<N>(1, registers);
    compare::<N>(line, registers, channels, |i| T::ordered(&a[i], &b[i]));
}

#[inline(always)]
fn compare_dwords<const N: usize, T: Test>(
    signed: bool,
    line: &Line,
    registers: &mut Flat,
    channels: &mut Channels<'_>,
) {
    let a = line.operands.dwords::<N>(0, registers);
    let b = line.operands.dwords::<N>(1, registers);
    if signed {
        // CAST: as signed ones.
        let is = |i: usize| T::ordered(&(a[i] as i32), &(b[i] as i32));
        compare::<N>(line, registers, channels, is);
    } else {
        compare::<N>(line, registers, channels, |i| T::ordered(&a[i], &b[i]));
    }
}
