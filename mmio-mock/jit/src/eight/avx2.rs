//! Eight numbers in the vectors of hosts with AVX2 and FMA.

#[allow(clippy::wildcard_imports, reason = "a host's instructions")]
use std::arch::x86_64::*;

use super::{Dwords, Eight, Loops};

/// A host that has AVX2 and FMA: there is one only where the host has been asked.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

impl Avx2 {
    /// `None` where the host lacks one of them.
    #[inline]
    #[must_use]
    pub fn new() -> Option<Self> {
        let has = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        has.then_some(Avx2(()))
    }

    /// Does work in its vectors.
    #[inline]
    pub fn run<L: Loops>(self, work: L) -> L::Out {
        #[target_feature(enable = "avx2,fma")]
        fn inside<L: Loops>(host: Avx2, work: L) -> L::Out {
            work.run(host)
        }
        // SAFETY: an `Avx2` says that the host has what the function needs.
        unsafe { inside(self, work) }
    }
}

/// Operations that are some instructions each.
macro_rules! operations {
    ($($name:ident($($a:ident: $ty:ty),*) -> $out:ty $body:block)*) => {$(
        #[inline(always)]
        fn $name(self, $($a: $ty),*) -> $out {
            #[inline]
            #[target_feature(enable = "avx2,fma")]
            fn inside($($a: $ty),*) -> $out $body
            // SAFETY: an `Avx2` says that the host has what the function needs.
            unsafe { inside($($a),*) }
        }
    )*};
}

impl Eight for Avx2 {
    type F = __m256;
    type I = __m256i;
    type D = __m256d;

    const FUSES: bool = true;

    operations! {
        load(from: &[u32; 8]) -> __m256i {
            // SAFETY: eight dwords are read, as many as there are, at any alignment.
            unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
        }
        store(from: __m256i, to: &mut [u32; 8]) -> () {
            // SAFETY: eight dwords are written, as many as there are, at any alignment.
            unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), from) }
        }
        all(of: u32) -> __m256i { _mm256_set1_epi32(of as i32) }
        all_f(of: f32) -> __m256 { _mm256_set1_ps(of) }
        bits(a: __m256) -> __m256i { _mm256_castps_si256(a) }
        float(a: __m256i) -> __m256 { _mm256_castsi256_ps(a) }
        add_f(a: __m256, b: __m256) -> __m256 { _mm256_add_ps(a, b) }
        sub_f(a: __m256, b: __m256) -> __m256 { _mm256_sub_ps(a, b) }
        mul_f(a: __m256, b: __m256) -> __m256 { _mm256_mul_ps(a, b) }
        div_f(a: __m256, b: __m256) -> __m256 { _mm256_div_ps(a, b) }
        fused_f(a: __m256, b: __m256, c: __m256) -> __m256 { _mm256_fmadd_ps(a, b, c) }
        root_f(a: __m256) -> __m256 { _mm256_sqrt_ps(a) }
        min_f(a: __m256, b: __m256) -> __m256 { _mm256_min_ps(a, b) }
        max_f(a: __m256, b: __m256) -> __m256 { _mm256_max_ps(a, b) }
        less(a: __m256, b: __m256) -> __m256i {
            _mm256_castps_si256(_mm256_cmp_ps::<_CMP_LT_OQ>(a, b))
        }
        at_most(a: __m256, b: __m256) -> __m256i {
            _mm256_castps_si256(_mm256_cmp_ps::<_CMP_LE_OQ>(a, b))
        }
        same(a: __m256, b: __m256) -> __m256i {
            _mm256_castps_si256(_mm256_cmp_ps::<_CMP_EQ_OQ>(a, b))
        }
        quotient(a: __m256, by: (f32, f32)) -> __m256 {
            // What a product with the inverse lacks is exact, and a fused sum rounds once (P. W. Markstein, "Computation of elementary
            // functions on the IBM RISC System/6000 processor", 1990).
            let (divisor, inverse) = (_mm256_set1_ps(by.0), _mm256_set1_ps(by.1));
            let near = _mm256_mul_ps(a, inverse);
            let rest = _mm256_fnmadd_ps(near, divisor, a);
            _mm256_fmadd_ps(rest, inverse, near)
        }
        whole(a: __m256) -> __m256i {
            // The instruction gives the lowest integer for all that has none.
            let cut = _mm256_cvttps_epi32(a);
            let beyond = _mm256_cmp_ps::<_CMP_GE_OQ>(a, _mm256_set1_ps(2_147_483_648.0));
            let number = _mm256_cmp_ps::<_CMP_ORD_Q>(a, a);
            let cut = _mm256_xor_si256(cut, _mm256_castps_si256(beyond));
            _mm256_and_si256(cut, _mm256_castps_si256(number))
        }
        number(a: __m256i) -> __m256 { _mm256_cvtepi32_ps(a) }
        firsts(a: __m256) -> [f32; 2] {
            [_mm256_cvtss_f32(a), _mm_cvtss_f32(_mm256_extractf128_ps::<1>(a))]
        }
        fours(a: [f32; 2]) -> __m256 { _mm256_set_m128(_mm_set1_ps(a[1]), _mm_set1_ps(a[0])) }
        add(a: __m256i, b: __m256i) -> __m256i { _mm256_add_epi32(a, b) }
        sub(a: __m256i, b: __m256i) -> __m256i { _mm256_sub_epi32(a, b) }
        mul(a: __m256i, b: __m256i) -> __m256i { _mm256_mullo_epi32(a, b) }
        and(a: __m256i, b: __m256i) -> __m256i { _mm256_and_si256(a, b) }
        and_not(a: __m256i, b: __m256i) -> __m256i { _mm256_andnot_si256(a, b) }
        or(a: __m256i, b: __m256i) -> __m256i { _mm256_or_si256(a, b) }
        xor(a: __m256i, b: __m256i) -> __m256i { _mm256_xor_si256(a, b) }
        shl(a: __m256i, by: u32) -> __m256i {
            _mm256_sll_epi32(a, _mm_cvtsi32_si128(by as i32))
        }
        shr(a: __m256i, by: u32) -> __m256i {
            _mm256_srl_epi32(a, _mm_cvtsi32_si128(by as i32))
        }
        shl_each(a: __m256i, by: __m256i) -> __m256i { _mm256_sllv_epi32(a, by) }
        sar_each(a: __m256i, by: __m256i) -> __m256i { _mm256_srav_epi32(a, by) }
        shr_each(a: __m256i, by: __m256i) -> __m256i { _mm256_srlv_epi32(a, by) }
        min(a: __m256i, b: __m256i) -> __m256i { _mm256_min_epi32(a, b) }
        max(a: __m256i, b: __m256i) -> __m256i { _mm256_max_epi32(a, b) }
        more(a: __m256i, b: __m256i) -> __m256i { _mm256_cmpgt_epi32(a, b) }
        equal(a: __m256i, b: __m256i) -> __m256i { _mm256_cmpeq_epi32(a, b) }
        select(mask: __m256i, a: __m256i, b: __m256i) -> __m256i {
            let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
            _mm256_castps_si256(_mm256_blendv_ps(b, a, _mm256_castsi256_ps(mask)))
        }
        mask(a: __m256i) -> u8 {
            // CAST: eight bits.
            _mm256_movemask_ps(_mm256_castsi256_ps(a)) as u8
        }
        chosen(bits: u32) -> __m256i {
            let each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let bits = _mm256_set1_epi32(bits.cast_signed());
            _mm256_cmpeq_epi32(_mm256_and_si256(bits, each), each)
        }
        pick(table: __m256i, at: __m256i) -> __m256i { _mm256_permutevar8x32_epi32(table, at) }
        look_up(table: &[f32; 256], at: __m256i) -> __m256 {
            let at = _mm256_and_si256(at, _mm256_set1_epi32(0xff));
            // SAFETY: every number is below that of entries, and not negative.
            unsafe { _mm256_i32gather_ps::<4>(table.as_ptr(), at) }
        }
        doubles(of: [f32; 4]) -> __m256d {
            let [a, b, c, d] = of;
            _mm256_cvtps_pd(_mm_setr_ps(a, b, c, d))
        }
        singles(of: __m256d) -> [f32; 4] {
            let mut out = [0.0; 4];
            // SAFETY: four singles are written, as many as there are, at any alignment.
            unsafe { _mm_storeu_ps(out.as_mut_ptr(), _mm256_cvtpd_ps(of)) };
            out
        }
        all_d(of: f64) -> __m256d { _mm256_set1_pd(of) }
        add_d(a: __m256d, b: __m256d) -> __m256d { _mm256_add_pd(a, b) }
        sub_d(a: __m256d, b: __m256d) -> __m256d { _mm256_sub_pd(a, b) }
        mul_d(a: __m256d, b: __m256d) -> __m256d { _mm256_mul_pd(a, b) }
        div_d(a: __m256d, b: __m256d) -> __m256d { _mm256_div_pd(a, b) }
        add_bits(a: __m256d, b: u64) -> __m256d {
            let b = _mm256_set1_epi64x(b.cast_signed());
            _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(a), b))
        }
        sub_bits(a: __m256d, b: __m256d) -> __m256d {
            let b = _mm256_castpd_si256(b);
            _mm256_castsi256_pd(_mm256_sub_epi64(_mm256_castpd_si256(a), b))
        }
        and_bits(a: __m256d, b: u64) -> __m256d {
            let b = _mm256_set1_epi64x(b.cast_signed());
            _mm256_castsi256_pd(_mm256_and_si256(_mm256_castpd_si256(a), b))
        }
        exponent_bits(a: __m256d, b: u64) -> __m256d {
            let a = _mm256_srli_epi64::<52>(_mm256_castpd_si256(a));
            _mm256_castsi256_pd(_mm256_or_si256(a, _mm256_set1_epi64x(b.cast_signed())))
        }
    }

    #[inline(always)]
    fn gather(self, from: Dwords<'_>, at: __m256i) -> __m256i {
        #[inline]
        #[target_feature(enable = "avx2,fma")]
        fn inside(from: Dwords<'_>, at: __m256i) -> __m256i {
            let at = _mm256_min_epu32(at, _mm256_set1_epi32(from.last().cast_signed()));
            // SAFETY: there is at least one dword, and every number is at most that of the last one, and not negative.
            unsafe { _mm256_i32gather_epi32::<4>(from.0.as_ptr().cast(), at) }
        }
        // SAFETY: an `Avx2` says that the host has what the function needs.
        unsafe { inside(from, at) }
    }

    #[inline(always)]
    fn of_four<const N: usize>(self, a: __m256) -> __m256 {
        #[inline]
        #[target_feature(enable = "avx2,fma")]
        fn inside<const N: usize>(a: __m256) -> __m256 {
            match N % 4 {
                0 => _mm256_permute_ps::<0x00>(a),
                1 => _mm256_permute_ps::<0x55>(a),
                2 => _mm256_permute_ps::<0xaa>(a),
                _ => _mm256_permute_ps::<0xff>(a),
            }
        }
        // SAFETY: an `Avx2` says that the host has what the function needs.
        unsafe { inside::<N>(a) }
    }
}
