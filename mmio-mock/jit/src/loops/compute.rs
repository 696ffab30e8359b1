//! What each operation computes, eight channels at a time.

mod one_by_one;

use super::doubles;
use super::line::Line;
use super::operand::Flat;
use super::singles::{
    self, Add, AddTruncated, Floats, Floor, Fraction, Inverse, InverseRoot, Move, Multiply,
    MultiplyAdd, MultiplyTruncated, NearestWhole, SquareRoot, Truncate, finish,
};
use super::words;
use crate::eight::{Eight, each};
use eu::stretch::{ByResult, Channels, Condition, Operation, narrow};

/// What a line computes with.
struct At<'a, 'b, E> {
    host: E,
    line: &'a Line,
    registers: &'a mut Flat,
    channels: &'a mut Channels<'b>,
}

/// Does a step. Inlined into what calls it, so that it is compiled for the host that the caller is compiled for.
#[inline(always)]
pub(super) fn run<E: Eight>(
    host: E,
    line: &Line,
    registers: &mut Flat,
    channels: &mut Channels<'_>,
) {
    let mut at = At {
        host,
        line,
        registers,
        channels,
    };
    match line.operation {
        Operation::Copy => at.of_dwords::<Copy>(),
        Operation::Select => at.select(),
        Operation::SelectFloats => at.select_floats(),
        Operation::Not => at.of_dwords::<Not>(),
        Operation::And => at.of_dwords::<And>(),
        Operation::Or => at.of_dwords::<Or>(),
        Operation::Xor => at.of_dwords::<Xor>(),
        Operation::ShiftLeft => at.of_dwords::<ShiftLeft>(),
        Operation::ShiftRight => at.of_dwords::<ShiftRight>(),
        Operation::ShiftSigned => at.of_dwords::<ShiftSigned>(),
        Operation::AddDwords => at.add_dwords(),
        Operation::CompareDwords { condition, signed } => at.compare_dwords(condition, signed),
        Operation::CompareFloats(condition) => at.compare_floats(condition),
        Operation::CompareFloatsOrNan(condition) => at.compare_or_nan(condition),
        Operation::FloorAndRest { even } => at.floor_and_rest(even),
        Operation::SelectFloat(condition) => at.select_float(condition),
        Operation::ToFloat { signed } if line.operands.negative[0] => {
            at.floats_of_negatives(signed);
        }
        Operation::ToFloat { signed } => match (signed, line.truncate) {
            (true, false) => at.of_dwords::<FromSigned>(),
            (true, true) => at.of_dwords::<FromSignedTruncated>(),
            (false, false) => at.of_dwords::<FromUnsigned>(),
            (false, true) => at.of_dwords::<FromUnsignedTruncated>(),
        },
        Operation::MultiplyDwords => {
            words::keep_products(host, line, at.registers, at.channels);
            at.of_dwords::<Multiplied>();
        }
        Operation::SelectDwords { condition, signed } => at.select_dwords(condition, signed),
        Operation::Magnitude => at.of_dwords::<Magnitude>(),
        Operation::AddPart { high } => at.add_part(high),
        Operation::AccumulateProduct { signed } => {
            words::accumulate_products(host, line, signed, at.registers, at.channels);
        }
        Operation::MultiplyHigh { lane, signed } => {
            words::multiply_high(host, line, (lane, signed), at.registers, at.channels);
        }
        Operation::Divide { remainder, signed } => at.divide(remainder, signed),
        Operation::Bits(bits) => at.of_bits(bits),
        Operation::ToDword { signed } => at.dwords_of_floats(signed),
        Operation::Move => at.of_floats::<Move>(),
        Operation::Add | Operation::Multiply if line.accumulator.is_some() => {
            doubles::doubles(host, line, at.registers, at.channels);
        }
        Operation::Line
        | Operation::Accumulate(_)
        | Operation::Interpolate
        | Operation::Dot(_)
        | Operation::Plane => doubles::doubles(host, line, at.registers, at.channels),
        Operation::AddWords => words::add(host, line, at.registers, at.channels),
        Operation::SetFlag => words::set_flag(host, line, at.registers, at.channels),
        Operation::GetFlag => words::get_flag(line, at.registers, at.channels),
        Operation::Extended(function) => {
            doubles::extended(host, function, line, at.registers, at.channels);
        }
        Operation::Add if line.truncate => at.of_floats::<AddTruncated>(),
        Operation::Add => at.of_floats::<Add>(),
        Operation::Multiply if line.truncate => at.of_floats::<MultiplyTruncated>(),
        Operation::Multiply => at.of_floats::<Multiply>(),
        Operation::MultiplyAdd => at.of_floats::<MultiplyAdd>(),
        Operation::Floor => at.of_floats::<Floor>(),
        Operation::NearestWhole => at.of_floats::<NearestWhole>(),
        Operation::Truncate => at.of_floats::<Truncate>(),
        Operation::Fraction => at.of_floats::<Fraction>(),
        Operation::Inverse => at.of_floats::<Inverse>(),
        Operation::SquareRoot => at.of_floats::<SquareRoot>(),
        Operation::InverseRoot => at.of_floats::<InverseRoot>(),
        Operation::Leave => {}
    }
}

/// Results of eight channels in dwords.
trait Dwords {
    /// How many sources there are.
    const SOURCES: usize;

    fn of<E: Eight>(host: E, a: E::I, b: E::I) -> E::I;
}

macro_rules! dwords {
    ($($name:ident($host:ident, $($source:ident),*): $compute:expr;)*) => {$(
        struct $name;

        impl Dwords for $name {
            const SOURCES: usize = [$(stringify!($source)),*].len();

            #[inline(always)]
            fn of<E: Eight>($host: E, a: E::I, b: E::I) -> E::I {
                let [$($source,)* ..] = [a, b];
                $compute
            }
        }
    )*};
}

dwords! {
    Copy(_host, a): a;
    Not(host, a): not(host, a);
    And(host, a, b): host.and(a, b);
    Or(host, a, b): host.or(a, b);
    Xor(host, a, b): host.xor(a, b);
    Multiplied(host, a, b): host.mul(a, b);
    // Of the lowest number the negative is itself.
    Magnitude(host, a): host.select(a, host.sub(host.all(0), a), a);
    ShiftLeft(host, a, b): host.shl_each(a, host.and(b, host.all(31)));
    ShiftRight(host, a, b): host.shr_each(a, host.and(b, host.all(31)));
    ShiftSigned(host, a, b): host.sar_each(a, host.and(b, host.all(31)));
    FromSigned(host, a): host.bits(host.number(a));
    // CAST: dwords with their sign, rounded once.
    FromSignedTruncated(host, a): each_dword(host, a, #[inline(always)] |a| narrow(f64::from(a as i32)));
    FromUnsigned(host, a): each_dword(host, a, #[inline(always)] |a| (a as f32).to_bits());
    FromUnsignedTruncated(host, a): each_dword(host, a, #[inline(always)] |a| narrow(f64::from(a)));
}

/// All bits the other way.
#[inline(always)]
fn not<E: Eight>(host: E, a: E::I) -> E::I {
    host.xor(a, host.all(u32::MAX))
}

#[inline(always)]
fn each_dword<E: Eight>(host: E, a: E::I, of: impl Fn(u32) -> u32) -> E::I {
    host.load(&each(&host.array(a), 0, of))
}

impl<E: Eight> At<'_, '_, E> {
    #[inline(always)]
    fn dwords(&self, source: usize, half: u16) -> E::I {
        let operands = &self.line.operands;
        operands.dwords(self.host, source, half, self.registers)
    }

    #[inline(always)]
    fn floats(&self, source: usize, half: u16) -> E::F {
        let operands = &self.line.operands;
        operands.floats(self.host, source, half, self.registers)
    }

    /// Stores what is computed of each half. All sources are read before a result is stored.
    #[inline(always)]
    fn halves(&mut self, of: impl Fn(&Self, u16) -> E::I) -> [E::I; 2] {
        let written = self.line.written(self.channels);
        let mut results = [of(self, 0); 2];
        if self.line.wide {
            results[1] = of(self, 1);
        }
        self.line
            .store_both(self.host, written, results, self.registers);
        results
    }

    /// The highest bits of the channels that there are.
    #[inline(always)]
    fn bits(&self, [first, second]: [E::I; 2]) -> u32 {
        let first = u32::from(self.host.mask(first));
        if self.line.wide {
            first | u32::from(self.host.mask(second)) << 8
        } else {
            first
        }
    }

    /// The same of dwords, and the flags that they set.
    #[inline(always)]
    fn settle(&mut self, of: impl Fn(&Self, u16) -> E::I) {
        let results = self.halves(of);
        if self.line.by_result == ByResult::No {
            return;
        }
        let zero = self.host.all(0);
        let zeros = each(
            &results,
            zero,
            #[inline(always)]
            |result| self.host.equal(result, zero),
        );
        let zeros = self.bits(zeros);
        let bits = match self.line.by_result {
            ByResult::NotZero => !zeros,
            ByResult::Zero | ByResult::No => zeros,
        };
        self.line.set_flags(bits, self.channels);
    }

    #[inline(always)]
    fn of_dwords<D: Dwords>(&mut self) {
        let (host, operands) = (self.host, &self.line.operands);
        let a = operands.both(host, 0, self.registers);
        let mut b = a;
        if D::SOURCES > 1 {
            b = operands.both(host, 1, self.registers);
        }
        self.settle(
            #[inline(always)]
            |at, half| {
                let half = usize::from(half & 1);
                D::of(at.host, a[half], b[half])
            },
        );
    }

    #[inline(always)]
    fn of_floats<F: Floats>(&mut self) {
        let (host, operands) = (self.host, &self.line.operands);
        let a = operands.both_floats(host, 0, self.registers);
        let (mut b, mut c) = (a, a);
        if F::SOURCES > 1 {
            b = operands.both_floats(host, 1, self.registers);
        }
        if F::SOURCES > 2 {
            c = operands.both_floats(host, 2, self.registers);
        }
        self.halves(
            #[inline(always)]
            |at, half| {
                let half = usize::from(half & 1);
                let result = F::of(at.host, [a[half], b[half], c[half]]);
                if F::DONE && !at.line.saturate {
                    at.host.bits(result)
                } else {
                    finish(at.host, at.line.saturate, result)
                }
            },
        );
    }

    #[inline(always)]
    fn dwords_of_floats(&mut self, signed: bool) {
        self.settle(
            #[inline(always)]
            |at, half| {
                let a = at.floats(0, half);
                if signed {
                    return at.host.whole(a);
                }
                each_dword(
                    at.host,
                    at.host.bits(a),
                    #[inline(always)]
                    // CAST: toward zero, within the range, NaN to 0.
                    |a| f32::from_bits(a) as u32,
                )
            },
        );
    }

    /// A word of each dword is replaced.
    #[inline(always)]
    fn add_part(&mut self, high: bool) {
        let negative = self.line.operands.negative;
        words::keep_sums_of_words(self.host, self.line, self.registers, self.channels);
        self.settle(
            #[inline(always)]
            |at, half| {
                let host = at.host;
                let signed = |n: usize| {
                    let a = at.dwords(n, half);
                    if negative[n] {
                        host.sub(host.all(0), a)
                    } else {
                        a
                    }
                };
                let sum = host.add(signed(0), signed(1));
                let (sum, mask) = if high {
                    (host.shl(sum, 16), host.all(0xffff_0000))
                } else {
                    (sum, host.all(0xffff))
                };
                let old = host.and_not(mask, at.dwords(2, half));
                host.or(old, host.and(sum, mask))
            },
        );
    }

    #[inline(always)]
    fn select_dwords(&mut self, condition: Condition, signed: bool) {
        self.settle(
            #[inline(always)]
            |at, half| {
                let first = at.compared_dwords(condition, signed, half);
                at.host
                    .select(first, at.dwords(0, half), at.dwords(1, half))
            },
        );
    }

    #[inline(always)]
    fn add_dwords(&mut self) {
        // A two's complement is all bits the other way, and one.
        let negative = self.line.operands.negative;
        let flip = negative.map(|negative| 0u32.wrapping_sub(u32::from(negative)));
        let more = flip[0].wrapping_add(flip[1]).wrapping_neg();
        if self.line.accumulator.is_some() {
            for half in 0..if self.line.wide { 2 } else { 1 } {
                let sources = [0, 1].map(|n| self.host.array(self.dwords(n, half)));
                words::accumulate_sums(self.line, half, sources, self.channels);
            }
        }
        let (host, operands) = (self.host, &self.line.operands);
        let a = operands.both(host, 0, self.registers);
        let b = operands.both(host, 1, self.registers);
        self.settle(
            #[inline(always)]
            |at, half| {
                let (host, half) = (at.host, usize::from(half & 1));
                let a = host.xor(a[half], host.all(flip[0]));
                let b = host.xor(b[half], host.all(flip[1]));
                host.add(host.add(a, b), host.all(more))
            },
        );
    }

    #[inline(always)]
    fn select(&mut self) {
        let chosen = self.line.chosen(self.channels) >> self.line.shift;
        self.settle(
            #[inline(always)]
            |at, half| {
                let chosen = at.host.chosen(chosen >> (8 * half));
                at.host
                    .select(chosen, at.dwords(0, half), at.dwords(1, half))
            },
        );
    }

    /// As `cmpn` compares: with NaN the first source is taken, the second being NaN.
    #[inline(always)]
    fn select_float(&mut self, condition: Condition) {
        self.halves(
            #[inline(always)]
            |at, half| {
                let (a, b) = (at.floats(0, half), at.floats(1, half));
                let first = at.compared_or_nan(condition, a, b);
                finish(at.host, at.line.saturate, at.host.select_f(first, a, b))
            },
        );
    }

    /// The predicate chooses.
    #[inline(always)]
    fn select_floats(&mut self) {
        let chosen = self.line.chosen(self.channels) >> self.line.shift;
        self.halves(
            #[inline(always)]
            |at, half| {
                let (a, b) = (at.floats(0, half), at.floats(1, half));
                let chosen = at.host.chosen(chosen >> (8 * half));
                finish(at.host, at.line.saturate, at.host.select_f(chosen, a, b))
            },
        );
    }

    /// A comparison that holds with NaN as the second source, but for that of inequality.
    #[inline(always)]
    fn compared_or_nan(&self, condition: Condition, a: E::F, b: E::F) -> E::I {
        let (nan, holds) = (self.is_nan(b), self.compared(condition, a, b));
        if condition == Condition::NotEqual {
            self.host.and_not(nan, holds)
        } else {
            self.host.or(holds, nan)
        }
    }

    #[inline(always)]
    fn compare_or_nan(&mut self, condition: Condition) {
        self.compare(
            #[inline(always)]
            |at, half| at.compared_or_nan(condition, at.floats(0, half), at.floats(1, half)),
        );
    }

    /// Floors, and flags where another rounding is one more.
    #[inline(always)]
    fn floor_and_rest(&mut self, even: bool) {
        let up = [0, u16::from(self.line.wide)].map(
            #[inline(always)]
            |half| singles::is_above_floor(self.host, even, self.floats(0, half)),
        );
        let bits = self.bits(up);
        self.of_floats::<Floor>();
        self.line.set_flags(bits, self.channels);
    }

    #[inline(always)]
    fn is_nan(&self, a: E::F) -> E::I {
        let host = self.host;
        not(host, host.same(a, a))
    }

    /// All bits where a comparison holds.
    #[inline(always)]
    fn compared(&self, condition: Condition, a: E::F, b: E::F) -> E::I {
        let host = self.host;
        match condition {
            Condition::Equal => host.same(a, b),
            Condition::NotEqual => not(host, host.same(a, b)),
            Condition::Greater => host.less(b, a),
            Condition::GreaterOrEqual => host.at_most(b, a),
            Condition::Less => host.less(a, b),
            Condition::LessOrEqual => host.at_most(a, b),
            Condition::Unordered => host.or(self.is_nan(a), self.is_nan(b)),
        }
    }

    #[inline(always)]
    fn compare(&mut self, of: impl Fn(&Self, u16) -> E::I) {
        let results = self.halves(of);
        let bits = self.bits(results);
        self.line.set_flags(bits, self.channels);
    }

    #[inline(always)]
    fn compare_floats(&mut self, condition: Condition) {
        self.compare(
            #[inline(always)]
            |at, half| at.compared(condition, at.floats(0, half), at.floats(1, half)),
        );
    }

    #[inline(always)]
    fn compare_dwords(&mut self, condition: Condition, signed: bool) {
        self.compare(
            #[inline(always)]
            |at, half| at.compared_dwords(condition, signed, half),
        );
    }

    /// All bits where a comparison of the sources holds.
    #[inline(always)]
    fn compared_dwords(&self, condition: Condition, signed: bool, half: u16) -> E::I {
        let host = self.host;
        // Unsigned order is the signed one with the sign the other way.
        let turn = host.all(if signed { 0 } else { 1 << 31 });
        let (a, b) = (self.dwords(0, half), self.dwords(1, half));
        let (a, b) = (host.xor(a, turn), host.xor(b, turn));
        match condition {
            Condition::Equal => host.equal(a, b),
            Condition::NotEqual => not(host, host.equal(a, b)),
            Condition::Greater => host.more(a, b),
            Condition::GreaterOrEqual => not(host, host.more(b, a)),
            Condition::Less => host.more(b, a),
            Condition::LessOrEqual => not(host, host.more(a, b)),
            Condition::Unordered => host.all(0),
        }
    }
}
