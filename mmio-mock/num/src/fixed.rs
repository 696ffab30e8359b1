//! Fixed point as state words and payloads use it (U4.1, S4.6, U8.3, S1.14 ...).
//!
//! PRM: volume 4 4.7 (formats `Un.m`, `Sn.m` of state fields).
//! Not modelled: fixed point wider than 32 bits.

/// An unsigned value with `frac` fraction bits (0..=31) as a float.
#[inline]
pub fn ufixed_to_f32(v: u32, frac: u32) -> f32 {
    v as f32 / (1u64 << frac) as f32
}

/// A two's complement field of `bits` bits (1..=32) with `frac` fraction bits as a float.
#[inline]
pub fn sfixed_to_f32(v: u32, bits: u32, frac: u32) -> f32 {
    crate::sign_extend(v, bits) as f32 / (1u64 << frac) as f32
}

/// A float as an unsigned field of `bits` bits (1..=32): nearest even, saturated, NaN is 0.
#[inline]
pub fn f32_to_ufixed(v: f32, bits: u32, frac: u32) -> u32 {
    let max = crate::norm::max_unsigned(bits) as f64;
    (v as f64 * (1u64 << frac) as f64)
        .round_ties_even()
        .clamp(0.0, max) as u32
}

/// A float as a two's complement field of `bits` bits (2..=32): nearest even, saturated, NaN is 0.
#[inline]
pub fn f32_to_sfixed(v: f32, bits: u32, frac: u32) -> u32 {
    let max = crate::norm::max_unsigned(bits - 1) as f64;
    let scaled = (v as f64 * (1u64 << frac) as f64).round_ties_even();
    scaled.clamp(-max - 1.0, max) as i32 as u32 & crate::norm::max_unsigned(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_the_manual() {
        // SAMPLER_STATE LOD bias S4.6: -16.0 is 0x400, 15.984375 is 0x3ff.
        assert_eq!(sfixed_to_f32(0x400, 11, 6), -16.0);
        assert_eq!(sfixed_to_f32(0x3ff, 11, 6), 15.984_375);
        assert_eq!(f32_to_sfixed(-16.0, 11, 6), 0x400);
        assert_eq!(f32_to_sfixed(99.0, 11, 6), 0x3ff);
        // SF_STATE point width U8.3: 0.125 is 1, 255.875 is 0x7ff.
        assert_eq!(ufixed_to_f32(0x7ff, 3), 255.875);
        assert_eq!(f32_to_ufixed(255.875, 11, 3), 0x7ff);
        assert_eq!(f32_to_ufixed(1e9, 11, 3), 0x7ff);
        assert_eq!(f32_to_ufixed(-1.0, 11, 3), 0);
        assert_eq!(f32_to_ufixed(f32::NAN, 11, 3), 0);
        // Ties go to even.
        assert_eq!(f32_to_ufixed(0.0625, 11, 3), 0);
        assert_eq!(f32_to_ufixed(0.1875, 11, 3), 2);
    }
}
