//! Eight numbers at a time, in the vectors of a host or one after another.
//!
//! Loops that are written for [`Eight`] give the same on every host: each operation is one of IEEE arithmetic or of integers, and none are contracted.

#[cfg(target_arch = "x86_64")]
#[allow(
    unsafe_code,
    reason = "functions for some hosts are called on one of these"
)]
mod avx2;
mod plain;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
pub use plain::Plain;

/// What a host does with eight numbers. Comparisons give all ones where they hold and zero elsewhere; none holds for a NaN.
pub trait Eight: Copy {
    /// Eight floats.
    type F: Copy;
    /// Eight integers of 32 bits.
    type I: Copy;
    /// Four doubles, or the bits of them.
    type D: Copy;

    /// Whether the host has an instruction for [`fused_f`](Eight::fused_f).
    const FUSES: bool;

    /// Integers from their places in memory.
    fn load(self, from: &[u32; 8]) -> Self::I;
    /// Integers to their places in memory.
    fn store(self, from: Self::I, to: &mut [u32; 8]);
    /// One integer eight times.
    fn all(self, of: u32) -> Self::I;
    /// One float eight times.
    fn all_f(self, of: f32) -> Self::F;
    /// The bits of floats.
    fn bits(self, a: Self::F) -> Self::I;
    /// The floats of bits.
    fn float(self, a: Self::I) -> Self::F;

    /// a + b
    fn add_f(self, a: Self::F, b: Self::F) -> Self::F;
    /// a - b
    fn sub_f(self, a: Self::F, b: Self::F) -> Self::F;
    /// a * b
    fn mul_f(self, a: Self::F, b: Self::F) -> Self::F;
    /// a / b
    fn div_f(self, a: Self::F, b: Self::F) -> Self::F;
    /// a * b + c, rounded once
    fn fused_f(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// Square roots.
    fn root_f(self, a: Self::F) -> Self::F;
    /// The smaller one; `b` where one is a NaN.
    fn min_f(self, a: Self::F, b: Self::F) -> Self::F;
    /// The larger one; `b` where one is a NaN.
    fn max_f(self, a: Self::F, b: Self::F) -> Self::F;
    /// a < b
    fn less(self, a: Self::F, b: Self::F) -> Self::I;
    /// a <= b
    fn at_most(self, a: Self::F, b: Self::F) -> Self::I;
    /// a = b
    fn same(self, a: Self::F, b: Self::F) -> Self::I;
    /// The quotient of floats and a constant, from the constant and the float nearest to its inverse. The nearest float to the quotient for the
    /// constants 2^n - 1 where no quotient is a denormal, or infinite.
    fn quotient(self, a: Self::F, by: (f32, f32)) -> Self::F;
    /// Floats as integers, as `as i32` makes them: towards zero, at the bounds what is beyond, and zero of a NaN.
    fn whole(self, a: Self::F) -> Self::I;
    /// The floats nearest to signed integers.
    fn number(self, a: Self::I) -> Self::F;
    /// Of each four floats, one four times.
    fn of_four<const N: usize>(self, a: Self::F) -> Self::F;
    /// The first of each four floats.
    fn firsts(self, a: Self::F) -> [f32; 2];
    /// Two floats, each four times.
    fn fours(self, a: [f32; 2]) -> Self::F;

    /// a + b, modulo 2^32
    fn add(self, a: Self::I, b: Self::I) -> Self::I;
    /// a - b, modulo 2^32
    fn sub(self, a: Self::I, b: Self::I) -> Self::I;
    /// a * b, modulo 2^32
    fn mul(self, a: Self::I, b: Self::I) -> Self::I;
    /// a and b
    fn and(self, a: Self::I, b: Self::I) -> Self::I;
    /// b and not a
    fn and_not(self, a: Self::I, b: Self::I) -> Self::I;
    /// a or b
    fn or(self, a: Self::I, b: Self::I) -> Self::I;
    /// a exclusive or b
    fn xor(self, a: Self::I, b: Self::I) -> Self::I;
    /// Bits moved up; zero from 32 on.
    fn shl(self, a: Self::I, by: u32) -> Self::I;
    /// Bits moved down; zero from 32 on.
    fn shr(self, a: Self::I, by: u32) -> Self::I;
    /// Bits moved up, each by a number of its own; zero from 32 on.
    fn shl_each(self, a: Self::I, by: Self::I) -> Self::I;
    /// Signed integers moved down, each by a number of its own below 32.
    fn sar_each(self, a: Self::I, by: Self::I) -> Self::I;
    /// Bits moved down, each by a number of its own; zero from 32 on.
    fn shr_each(self, a: Self::I, by: Self::I) -> Self::I;
    /// The smaller signed integer.
    fn min(self, a: Self::I, b: Self::I) -> Self::I;
    /// The larger signed integer.
    fn max(self, a: Self::I, b: Self::I) -> Self::I;
    /// a > b, as signed integers
    fn more(self, a: Self::I, b: Self::I) -> Self::I;
    /// a = b
    fn equal(self, a: Self::I, b: Self::I) -> Self::I;
    /// `a` where the highest bit of the mask is set, else `b`.
    fn select(self, mask: Self::I, a: Self::I, b: Self::I) -> Self::I;
    /// The highest bit of each, the first one's in bit 0.
    fn mask(self, a: Self::I) -> u8;
    /// All ones for each of eight bits that is set, the lowest one first.
    fn chosen(self, bits: u32) -> Self::I;
    /// Entries of a table by the lowest three bits of their numbers.
    fn pick(self, table: Self::I, at: Self::I) -> Self::I;
    /// Dwords by their numbers; the last one for numbers beyond.
    fn gather(self, from: Dwords<'_>, at: Self::I) -> Self::I;
    /// Entries of a table by their lowest eight bits.
    fn look_up(self, table: &[f32; 256], at: Self::I) -> Self::F;

    /// Singles as doubles.
    fn doubles(self, of: [f32; 4]) -> Self::D;
    /// Doubles as singles, rounded to the nearest.
    fn singles(self, of: Self::D) -> [f32; 4];
    /// One double four times.
    fn all_d(self, of: f64) -> Self::D;
    /// a + b
    fn add_d(self, a: Self::D, b: Self::D) -> Self::D;
    /// a - b
    fn sub_d(self, a: Self::D, b: Self::D) -> Self::D;
    /// a * b
    fn mul_d(self, a: Self::D, b: Self::D) -> Self::D;
    /// a / b
    fn div_d(self, a: Self::D, b: Self::D) -> Self::D;
    /// The bits of a plus `b`, modulo 2^64.
    fn add_bits(self, a: Self::D, b: u64) -> Self::D;
    /// The bits of a less those of b, modulo 2^64.
    fn sub_bits(self, a: Self::D, b: Self::D) -> Self::D;
    /// The bits of a that `b` has as well.
    fn and_bits(self, a: Self::D, b: u64) -> Self::D;
    /// The upper twelve bits of a as the lowest ones, and those of `b`.
    fn exponent_bits(self, a: Self::D, b: u64) -> Self::D;

    /// `a` where the highest bit of the mask is set, else `b`.
    #[inline(always)]
    fn select_f(self, mask: Self::I, a: Self::F, b: Self::F) -> Self::F {
        self.float(self.select(mask, self.bits(a), self.bits(b)))
    }

    /// The integers as an array.
    #[inline(always)]
    fn array(self, a: Self::I) -> [u32; 8] {
        let mut out = [0; 8];
        self.store(a, &mut out);
        out
    }
}

/// Little-endian dwords, of which there is at least one.
#[derive(Clone, Copy, Debug)]
pub struct Dwords<'a>(&'a [[u8; 4]]);

impl<'a> Dwords<'a> {
    /// A slice; a zero where it is empty. No more count than there are signed numbers.
    #[inline]
    #[must_use]
    pub fn new(of: &'a [[u8; 4]]) -> Self {
        let most = i32::MAX as usize;
        match of {
            [] => Dwords(&[[0; 4]]),
            of => Dwords(of.get(..most).unwrap_or(of)),
        }
    }

    /// The number of the last one.
    #[inline(always)]
    fn last(self) -> u32 {
        // CAST: a signed number that is not negative.
        (self.0.len() - 1) as u32
    }
}

/// What `f` makes of each entry; `start` is any value. Inlined, which `map` of arrays is not always: closures are to be marked so as well.
#[inline(always)]
pub fn each<T: Copy, U: Copy, const N: usize>(of: &[T; N], start: U, f: impl Fn(T) -> U) -> [U; N] {
    let mut out = [start; N];
    // By number: iterators of two arrays are functions of their own, which are not always inlined.
    let mut n = 0;
    while n < N {
        // PANIC: below the length of both.
        out[n] = f(of[n]);
        n += 1;
    }
    out
}

/// Work on eight numbers at a time.
pub trait Loops {
    /// What comes of it.
    type Out;

    /// Does it. Has to be inlined always, as all that it calls with `host`, closures included: only so it becomes the vectors of that host.
    fn run<E: Eight>(self, host: E) -> Self::Out;
}

/// Does work in the vectors of this host.
#[inline]
pub fn eight<L: Loops>(work: L) -> L::Out {
    #[cfg(target_arch = "x86_64")]
    if let Some(host) = Avx2::new() {
        return host.run(work);
    }
    work.run(Plain)
}

#[cfg(test)]
mod tests;
