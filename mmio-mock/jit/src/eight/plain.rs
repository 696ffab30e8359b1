//! Eight numbers one after another, on any host.

use std::array::from_fn;

use super::{Dwords, Eight};

/// A host without vectors that are of use.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

const fn ones(holds: bool) -> u32 {
    if holds { u32::MAX } else { 0 }
}

impl Eight for Plain {
    type F = [f32; 8];
    type I = [u32; 8];
    type D = [f64; 4];

    const FUSES: bool = false;

    #[inline(always)]
    fn load(self, from: &[u32; 8]) -> [u32; 8] {
        *from
    }
    #[inline(always)]
    fn store(self, from: [u32; 8], to: &mut [u32; 8]) {
        *to = from;
    }
    #[inline(always)]
    fn all(self, of: u32) -> [u32; 8] {
        [of; 8]
    }
    #[inline(always)]
    fn all_f(self, of: f32) -> [f32; 8] {
        [of; 8]
    }
    #[inline(always)]
    fn bits(self, a: [f32; 8]) -> [u32; 8] {
        a.map(f32::to_bits)
    }
    #[inline(always)]
    fn float(self, a: [u32; 8]) -> [f32; 8] {
        a.map(f32::from_bits)
    }
    #[inline(always)]
    fn add_f(self, a: [f32; 8], b: [f32; 8]) -> [f32; 8] {
        from_fn(|i| a[i] + b[i])
    }
    #[inline(always)]
    fn sub_f(self, a: [f32; 8], b: [f32; 8]) -> [f32; 8] {
        from_fn(|i| a[i] - b[i])
    }
    #[inline(always)]
    fn mul_f(self, a: [f32; 8], b: [f32; 8]) -> [f32; 8] {
        from_fn(|i| a[i] * b[i])
    }
    #[inline(always)]
    fn div_f(self, a: [f32; 8], b: [f32; 8]) -> [f32; 8] {
        from_fn(|i| a[i] / b[i])
    }
    #[inline(always)]
    fn fused_f(self, a: [f32; 8], b: [f32; 8], c: [f32; 8]) -> [f32; 8] {
        from_fn(|i| a[i].mul_add(b[i], c[i]))
    }
    #[inline(always)]
    fn root_f(self, a: [f32; 8]) -> [f32; 8] {
        a.map(f32::sqrt)
    }
    #[inline(always)]
    fn min_f(self, a: [f32; 8], b: [f32; 8]) -> [f32; 8] {
        from_fn(|i| if a[i] < b[i] { a[i] } else { b[i] })
    }
    #[inline(always)]
    fn max_f(self, a: [f32; 8], b: [f32; 8]) -> [f32; 8] {
        from_fn(|i| if a[i] > b[i] { a[i] } else { b[i] })
    }
    #[inline(always)]
    fn less(self, a: [f32; 8], b: [f32; 8]) -> [u32; 8] {
        from_fn(|i| ones(a[i] < b[i]))
    }
    #[inline(always)]
    fn at_most(self, a: [f32; 8], b: [f32; 8]) -> [u32; 8] {
        from_fn(|i| ones(a[i] <= b[i]))
    }
    #[inline(always)]
    fn same(self, a: [f32; 8], b: [f32; 8]) -> [u32; 8] {
        from_fn(|i| ones(a[i] == b[i]))
    }
    #[inline(always)]
    fn quotient(self, a: [f32; 8], (by, _): (f32, f32)) -> [f32; 8] {
        a.map(|a| a / by)
    }
    #[inline(always)]
    fn whole(self, a: [f32; 8]) -> [u32; 8] {
        // CAST: saturates, NaN gives 0; two's complement.
        a.map(|a| a as i32 as u32)
    }
    #[inline(always)]
    fn number(self, a: [u32; 8]) -> [f32; 8] {
        a.map(|a| a as i32 as f32)
    }
    #[inline(always)]
    fn of_four<const N: usize>(self, a: [f32; 8]) -> [f32; 8] {
        from_fn(|i| a[i / 4 * 4 + N % 4])
    }
    #[inline(always)]
    fn firsts(self, a: [f32; 8]) -> [f32; 2] {
        [a[0], a[4]]
    }
    #[inline(always)]
    fn fours(self, [a, b]: [f32; 2]) -> [f32; 8] {
        [a, a, a, a, b, b, b, b]
    }
    #[inline(always)]
    fn add(self, a: [u32; 8], b: [u32; 8]) -> [u32; 8] {
        from_fn(|i| a[i].wrapping_add(b[i]))
    }
    #[inline(always)]
    fn sub(self, a: [u32; 8], b: [u32; 8]) -> [u32; 8] {
        from_fn(|i| a[i].wrapping_sub(b[i]))
    }
    #[inline(always)]
    fn mul(self, a: [u32; 8], b: [u32; 8]) -> [u32; 8] {
        from_fn(|i| a[i].wrapping_mul(b[i]))
    }
    #[inline(always)]
    fn and(self, a: [u32; 8], b: [u32; 8]) -> [u32; 8] {
        from_fn(|i| a[i] & b[i])
    }
    #[inline(always)]
    fn and_not(self, a: [u32; 8], b: [u32; 8]) -> [u32; 8] {
        from_fn(|i| !a[i] & b[i])
    }
    #[inline(always)]
    fn or(self, a: [u32; 8], b: [u32; 8]) -> [u32; 8] {
        from_fn(|i| a[i] | b[i])
    }
    #[inline(always)]
    fn xor(self, a: [u32; 8], b: [u32; 8]) -> [u32; 8] {
        from_fn(|i| a[i] ^ b[i])
    }
    #[inline(always)]
    fn shl(self, a: [u32; 8], by: u32) -> [u32; 8] {
        a.map(|a| a.checked_shl(by).unwrap_or(0))
    }
    #[inline(always)]
    fn shr(self, a: [u32; 8], by: u32) -> [u32; 8] {
        a.map(|a| a.checked_shr(by).unwrap_or(0))
    }
    #[inline(always)]
    fn shl_each(self, a: [u32; 8], by: [u32; 8]) -> [u32; 8] {
        from_fn(|i| a[i].checked_shl(by[i]).unwrap_or(0))
    }
    #[inline(always)]
    fn sar_each(self, a: [u32; 8], by: [u32; 8]) -> [u32; 8] {
        from_fn(|i| (a[i] as i32 >> (by[i] & 31)) as u32)
    }
    #[inline(always)]
    fn shr_each(self, a: [u32; 8], by: [u32; 8]) -> [u32; 8] {
        from_fn(|i| a[i].checked_shr(by[i]).unwrap_or(0))
    }
    #[inline(always)]
    fn min(self, a: [u32; 8], b: [u32; 8]) -> [u32; 8] {
        from_fn(|i| (a[i] as i32).min(b[i] as i32) as u32)
    }
    #[inline(always)]
    fn max(self, a: [u32; 8], b: [u32; 8]) -> [u32; 8] {
        from_fn(|i| (a[i] as i32).max(b[i] as i32) as u32)
    }
    #[inline(always)]
    fn more(self, a: [u32; 8], b: [u32; 8]) -> [u32; 8] {
        from_fn(|i| ones(a[i] as i32 > b[i] as i32))
    }
    #[inline(always)]
    fn equal(self, a: [u32; 8], b: [u32; 8]) -> [u32; 8] {
        from_fn(|i| ones(a[i] == b[i]))
    }
    #[inline(always)]
    fn select(self, mask: [u32; 8], a: [u32; 8], b: [u32; 8]) -> [u32; 8] {
        from_fn(|i| if mask[i] >> 31 != 0 { a[i] } else { b[i] })
    }
    #[inline(always)]
    fn mask(self, a: [u32; 8]) -> u8 {
        // CAST: one bit.
        a.iter().rev().fold(0, |all, a| all << 1 | (a >> 31) as u8)
    }
    #[inline(always)]
    fn chosen(self, bits: u32) -> [u32; 8] {
        from_fn(|i| ones(bits >> i & 1 != 0))
    }
    #[inline(always)]
    fn pick(self, table: [u32; 8], at: [u32; 8]) -> [u32; 8] {
        at.map(|at| table[(at & 7) as usize])
    }
    #[inline(always)]
    fn gather(self, from: Dwords<'_>, at: [u32; 8]) -> [u32; 8] {
        // PANIC: no number is beyond the last.
        at.map(|at| u32::from_le_bytes(from.0[at.min(from.last()) as usize]))
    }
    #[inline(always)]
    fn look_up(self, table: &[f32; 256], at: [u32; 8]) -> [f32; 8] {
        at.map(|at| table[(at & 0xff) as usize])
    }
    #[inline(always)]
    fn doubles(self, of: [f32; 4]) -> [f64; 4] {
        of.map(f64::from)
    }
    #[inline(always)]
    fn singles(self, of: [f64; 4]) -> [f32; 4] {
        of.map(|of| of as f32)
    }
    #[inline(always)]
    fn all_d(self, of: f64) -> [f64; 4] {
        [of; 4]
    }
    #[inline(always)]
    fn add_d(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        from_fn(|i| a[i] + b[i])
    }
    #[inline(always)]
    fn sub_d(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        from_fn(|i| a[i] - b[i])
    }
    #[inline(always)]
    fn mul_d(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        from_fn(|i| a[i] * b[i])
    }
    #[inline(always)]
    fn div_d(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        from_fn(|i| a[i] / b[i])
    }
    #[inline(always)]
    fn add_bits(self, a: [f64; 4], b: u64) -> [f64; 4] {
        a.map(|a| f64::from_bits(a.to_bits().wrapping_add(b)))
    }
    #[inline(always)]
    fn sub_bits(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        from_fn(|i| f64::from_bits(a[i].to_bits().wrapping_sub(b[i].to_bits())))
    }
    #[inline(always)]
    fn and_bits(self, a: [f64; 4], b: u64) -> [f64; 4] {
        a.map(|a| f64::from_bits(a.to_bits() & b))
    }
    #[inline(always)]
    fn exponent_bits(self, a: [f64; 4], b: u64) -> [f64; 4] {
        a.map(|a| f64::from_bits(a.to_bits() >> 52 | b))
    }
}
