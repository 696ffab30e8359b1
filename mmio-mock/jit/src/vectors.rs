//! Loops over pixels in the widest vectors of the host.

/// Runs a function that was compiled twice: for hosts with AVX2 and FMA, and for any. It gives the same on both, since no numbers are
/// contracted or put into another order. Only what is inlined into `loops` is compiled so.
#[inline]
pub fn vectors<T>(loops: impl FnOnce() -> T) -> T {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        return with_avx2(loops);
    }
    loops()
}

/// Runs a function on hosts with AVX2 and FMA, and nothing on others: for loops that are quick with these instructions alone.
#[inline]
pub fn wide<T>(loops: impl FnOnce() -> T) -> Option<T> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        return Some(with_avx2(loops));
    }
    let _ = loops;
    None
}

#[cfg(target_arch = "x86_64")]
#[allow(
    unsafe_code,
    reason = "a function for some hosts is called on one of these"
)]
#[inline]
fn with_avx2<T>(loops: impl FnOnce() -> T) -> T {
    #[target_feature(enable = "avx2,fma")]
    fn wide<T>(loops: impl FnOnce() -> T) -> T {
        loops()
    }
    // SAFETY: both callers have asked the host for AVX2 and FMA, and nothing else is asked of it.
    unsafe { wide(loops) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_loops_give_the_same() {
        let numbers: [f32; 64] = std::array::from_fn(|i| i as f32 * 0.37 - 9.0);
        let blended = |from: &[f32; 64]| -> [u32; 64] {
            std::array::from_fn(|i| {
                let (a, b) = (from[i], from[63 - i]);
                (a + (b - a) * 0.3).to_bits() ^ (a as i32 as u32)
            })
        };
        let plain = blended(&numbers);
        assert_eq!(vectors(|| blended(&numbers)), plain);
        assert_eq!(vectors(|| vectors(|| blended(&numbers))), plain);
    }
}
